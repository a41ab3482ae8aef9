"""Models of a hundred thousand weights, made in a second."""

import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

WIDTH, LAYERS = 64, 2


def model(folder: Path, vocabulary: int = 64, *, tied: bool = False, seed: int = 0) -> Path:
    """A random Qwen3 in a folder, as transformers writes it; returns the folder."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=4096,
        tie_word_embeddings=tied,
        initializer_range=0.1,
        bos_token_id=None,
        eos_token_id=None,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)
    return folder


CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
FORGETFUL = CHATML.replace(
    "{{ m.content }}", "{{ m.content.split('</think>')[-1] if not loop.last else m.content }}"
)
"""Takes earlier thinking out, as some published templates do."""
OPENED = CHATML.replace("assistant\n{% endif", "assistant\n<think>\n{% endif")


def tokenizer(folder: Path, template: str = CHATML) -> Path:
    """A byte-level BPE with a chat template, beside the model; returns the folder."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(["user assistant system What is there? I look. exit 0 Do it."], trainer)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>")
    wrapped.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    wrapped.chat_template = template
    wrapped.save_pretrained(folder)
    return folder
