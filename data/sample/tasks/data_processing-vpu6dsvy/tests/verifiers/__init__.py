"""The verifier kit: what a task's hidden `check.py` is written with.

Standard library only, Python 3.9 and later, copied into every task as `/tests/verifiers/`. It never
imports envgen and is never installed: another package owns this name on the index.
"""

from __future__ import annotations

from . import adversarial_corpus, exact_text, fuzz_equivalence, metric_threshold, multi_protocol
from .checks import Check, Verdict, VerifierError, combine
from .process import Outcome
from .task import Task

__all__ = [
    "Check",
    "Outcome",
    "Task",
    "Verdict",
    "VerifierError",
    "adversarial_corpus",
    "combine",
    "exact_text",
    "fuzz_equivalence",
    "metric_threshold",
    "multi_protocol",
]
