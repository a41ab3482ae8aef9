"""Defects of known kinds, planted by code into clean procedural tasks: what an auditor must find.

A plant takes a clean draft and gives one with the defect, or None where the kind does not fit. The
probes see neither the plant nor its label: they get the built task like any other.
"""

from collections.abc import Callable
from typing import NamedTuple

from envgen.audit.defects import leaks, mismatch, others, weak
from envgen.records import Label, TaskDraft

ALL = (
    "archive_recovery", "binary_twin", "broken_tool", "feed_cleaning", "holdout_forecast",
    "input_gate", "ledger_reports", "service_stack", "strip_chart",
)  # fmt: skip
PROGRAMS = ("feed_cleaning", "input_gate", "ledger_reports", "holdout_forecast")
FIGURES = ("strip_chart", "holdout_forecast")
TABLES = ("strip_chart", "holdout_forecast", "input_gate")


class Kind(NamedTuple):
    """A kind of defect, its true label, and the families that it is planted into."""

    name: str
    label: Label
    families: tuple[str, ...]
    plant: Callable[[TaskDraft], TaskDraft | None]
    own_task: bool = False
    """The plant makes another task of it, for which the family's alternatives are none."""


_WEAK: Label = "VERIFIER-TOO-WEAK"
_UNEQUAL: Label = "INSTR-VERIFIER-MISMATCH"
KINDS = (
    Kind("existence", _WEAK, ALL, weak.existence),
    Kind("shape", _WEAK, ("archive_recovery", *PROGRAMS, "strip_chart"), weak.shape),
    Kind("crash-passes", _WEAK, ("feed_cleaning", "input_gate", "holdout_forecast"), weak.crash),
    Kind("keywords", _WEAK, PROGRAMS, weak.keywords),
    Kind("seen-only", _WEAK, ("feed_cleaning",), weak.seen_only),
    Kind("loose", _WEAK, FIGURES, weak.loose),
    Kind("half-corpus", _WEAK, ("input_gate",), weak.half_corpus),
    Kind("compiles-only", _WEAK, ("broken_tool", "binary_twin"), weak.compiles),
    Kind("unprobed-service", _WEAK, ("service_stack",), weak.unprobed),
    Kind("own-script", _WEAK, ("feed_cleaning", "ledger_reports", "input_gate"), weak.own_script),
    Kind("runs-as-root", _WEAK, ("feed_cleaning", "input_gate", "ledger_reports"), weak.rooted),
    Kind("imports-work", _WEAK, ("input_gate", "holdout_forecast"), weak.imported),
    Kind("self-reported", _WEAK, FIGURES, weak.self_reported),
    Kind("answer-file", "ANSWER-LEAK", TABLES, leaks.answer_file),
    Kind("answer-packed", "ANSWER-LEAK", TABLES, leaks.answer_packed),
    Kind("reference-left", "ANSWER-LEAK", PROGRAMS[:3], leaks.reference_left),
    Kind("generator-left", "ANSWER-LEAK", TABLES, leaks.generator_left),
    Kind("layer-only", "ANSWER-LEAK", TABLES, leaks.layer_only),
    Kind("binary-left", "ANSWER-LEAK", ("binary_twin",), leaks.binary_left),
    Kind("renamed-output", _UNEQUAL, (*PROGRAMS, "strip_chart", "archive_recovery"),
         mismatch.renamed),
    Kind("spelling", _UNEQUAL, PROGRAMS, mismatch.spelling),
    Kind("layout", _UNEQUAL, FIGURES, mismatch.layout),
    Kind("missing-input", "INSTR-ENV-MISMATCH", ALL, mismatch.missing_input),
    Kind("missing-tool", "INSTR-ENV-MISMATCH", ALL, mismatch.missing_tool),
    Kind("paid-for-nothing", "TASK-TRIVIAL", ALL, others.paid),
    Kind("copied-input", "TASK-TRIVIAL", ("archive_recovery", "broken_tool", "input_gate",
         "ledger_reports", "service_stack"), others.copied, own_task=True),
    Kind("sorted-input", "TASK-TRIVIAL", ("archive_recovery", "broken_tool", "input_gate",
         "ledger_reports", "service_stack"), others.sorted_lines, own_task=True),
    Kind("date-bomb", "OTHER", ALL, others.date_bomb),
    Kind("port-open", _WEAK, ("service_stack",), weak.port_open),
    Kind("git-pack", "ANSWER-LEAK", TABLES, leaks.git_pack),
    Kind("figures-as-text", _UNEQUAL, FIGURES, mismatch.figures_as_text),
)  # fmt: skip
