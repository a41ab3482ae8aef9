"""What a vLLM worker can do for the trainer, in its own process: exchange its weights.

Named to vLLM by `worker_extension_cls`; imports nothing of envgen.
"""

from typing import Any


class Exchange:
    """Mixed into vLLM's worker, whose methods it uses."""

    reload_weights: Any
    model_runner: Any

    def exchange_weights(self, folder: str) -> None:
        """Load a checkpoint in place.

        On CPU a head that is tied to the embeddings keeps a packed copy of the old weights through
        a reload (seen with vLLM 0.32, without any error): it is packed anew.
        """
        self.reload_weights(weights_path=folder)
        model = self.model_runner.get_model()
        head = getattr(model, "lm_head", None)
        if head is not None and getattr(model.config, "tie_word_embeddings", False):
            head.quant_method.process_weights_after_loading(head)
