"""Samples that fill in a form: of each next token, only those that a JSON Schema allows.

For what a model writes as an author, a critic or a repairer. What is trained on is never sampled
so, for its log-probabilities would be of another distribution than the policy's.
"""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from envgen.agent import Sampling
from envgen.errors import Misconfigured
from envgen.llm.schema import spelled

EXACT: Any = {"whitespace_flexible": False}
"""JSON in one spelling: where blanks are free, a model may write them until it is cut."""


@dataclass
class Forms:
    """Forms in the tokens of a model's folder.

    Attributes:
        folder: of the model, with its tokenizer.
        ids: of its vocabulary, padding included.
    """

    folder: Path
    ids: int
    _tokenizers: dict[int, Any] = field(default_factory=dict)

    def form(self, sampling: Sampling) -> "Form":
        """A form to be filled in. Misconfigured when the schema cannot be held to."""
        from llguidance import LLMatcher

        end = sampling.ends[0]
        if end not in self._tokenizers:
            self._tokenizers[end] = self._of(end)
        schema = spelled(str(sampling.schema))
        grammar = LLMatcher.grammar_from_json_schema(schema, defaults=EXACT)
        matcher = LLMatcher(self._tokenizers[end], grammar)
        if error := matcher.get_error():
            raise Misconfigured(f"a schema that samples cannot be held to: {error[:300]}")
        return Form(matcher, self.ids)

    def _of(self, end: int) -> Any:
        from llguidance.hf import from_tokenizer

        return from_tokenizer(self._tokenizer, n_vocab=self.ids, eos_token=end)

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self.folder, local_files_only=True)


@dataclass
class Form:
    """One sample that fills in a form."""

    matcher: Any
    ids: int

    def allowed(self, device: Any) -> Tensor:
        """[ids] of bool: what may come next; where the form is full, its end alone."""
        packed = torch.frombuffer(bytearray(self.matcher.compute_bitmask()), dtype=torch.uint8)
        places = torch.arange(8, dtype=torch.uint8)
        bits = (packed[:, None] >> places) & 1
        return bits.flatten()[: self.ids].bool().to(device)

    def take(self, token: int) -> None:
        """What was drawn."""
        self.matcher.consume_token(token)
