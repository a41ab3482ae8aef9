"""From findings to one label and a verdict. Policies are data; nothing is stored twice."""

from dataclasses import dataclass

from envgen.records import AuditReport, Finding, Label


@dataclass(frozen=True)
class Policy:
    """What counts for the label, and whether a label other than CLEAN rejects."""

    suspected: bool
    rejects: bool


POLICIES = {
    "strict": Policy(suspected=True, rejects=True),
    "proven": Policy(suspected=False, rejects=True),
    "report": Policy(suspected=True, rejects=False),
}

ORDER: tuple[Label, ...] = (
    "ANSWER-LEAK",
    "TASK-TRIVIAL",
    "VERIFIER-TOO-WEAK",
    "INSTR-VERIFIER-MISMATCH",
    "INSTR-ENV-MISMATCH",
    "INSTR-AMBIGUOUS",
    "OTHER",
)
"""Of equally severe labels the first one is primary: it names what has to be mended first."""


def counted(report: AuditReport, policy: str) -> tuple[Finding, ...]:
    """The findings that make the label, worst first; a privileged one never does."""
    chosen = POLICIES[policy]
    findings = (
        f
        for f in report.findings
        if f.exploitability != "privileged" and (f.proven or chosen.suspected)
    )
    return tuple(sorted(findings, key=_rank))


def label(report: AuditReport, policy: str) -> Label:
    """The primary label: of the worst proven finding, else of the worst suspected one that the
    policy counts, else CLEAN."""
    found = counted(report, policy)
    return found[0].label if found else "CLEAN"


def secondary(report: AuditReport, policy: str) -> tuple[Label, ...]:
    """The other labels that the findings have, worst first, each once."""
    first = label(report, policy)
    return tuple(dict.fromkeys(f.label for f in counted(report, policy) if f.label != first))


def rejected(report: AuditReport, policy: str) -> bool:
    """Whether the task is refused."""
    return refuses(policy, label(report, policy))


def refuses(policy: str, label: str) -> bool:
    """Whether a policy refuses a task with this label of its own."""
    return POLICIES[policy].rejects and label != "CLEAN"


def _rank(finding: Finding) -> tuple[bool, int, int, str]:
    return (
        not finding.proven,
        -finding.severity,
        ORDER.index(finding.label),
        finding.code,
    )
