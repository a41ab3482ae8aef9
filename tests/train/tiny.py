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
