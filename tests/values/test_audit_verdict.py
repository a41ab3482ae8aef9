"""One label and a verdict out of findings, under each policy."""

from itertools import permutations

import pytest

from envgen.audit.verdict import ORDER, POLICIES, label, rejected, secondary
from envgen.records import AuditReport, Exploitability, Finding, Label


def finding(
    label: Label, severity: int = 3, proven: bool = True, needs: Exploitability = "rollout"
) -> Finding:
    return Finding(
        label=label,
        code=f"x:{label}",
        severity=severity,
        message="",
        soundness="accepts-wrong",
        exploitability=needs,
        proof=("sha256:1",) if proven else (),
    )


def report(*findings: Finding) -> AuditReport:
    return AuditReport(
        task="", image="", slug="", baseline=0, tiers=(), findings=findings, trials=()
    )


LEAK, WEAK = finding("ANSWER-LEAK"), finding("VERIFIER-TOO-WEAK")
SUSPECTED = finding("INSTR-AMBIGUOUS", proven=False)
LOW = finding("OTHER", severity=1)
PRIVILEGED = finding("VERIFIER-TOO-WEAK", needs="privileged")

VERDICTS: list[tuple[tuple[Finding, ...], str, str, bool]] = [
    ((), "strict", "CLEAN", False),
    ((SUSPECTED,), "strict", "INSTR-AMBIGUOUS", True),
    ((SUSPECTED,), "proven", "CLEAN", False),
    ((SUSPECTED,), "report", "INSTR-AMBIGUOUS", False),
    ((SUSPECTED, LOW), "strict", "OTHER", True),  # what is proven stands first
    ((LOW, WEAK), "proven", "VERIFIER-TOO-WEAK", True),  # then what is worse
    ((WEAK, LEAK), "proven", "ANSWER-LEAK", True),  # then what is to be mended first
    ((WEAK,), "report", "VERIFIER-TOO-WEAK", False),
    ((PRIVILEGED,), "strict", "CLEAN", False),
]


@pytest.mark.parametrize(("findings", "policy", "wanted", "out"), VERDICTS)
def test_label_and_verdict(
    findings: tuple[Finding, ...], policy: str, wanted: str, out: bool
) -> None:
    assert (label(report(*findings), policy), rejected(report(*findings), policy)) == (wanted, out)


def test_the_order_of_findings_changes_nothing() -> None:
    found = (LEAK, WEAK, LOW, SUSPECTED)
    verdicts = {
        (label(report(*order), "strict"), secondary(report(*order), "strict"))
        for order in permutations(found)
    }
    assert verdicts == {("ANSWER-LEAK", ("VERIFIER-TOO-WEAK", "OTHER", "INSTR-AMBIGUOUS"))}


def test_every_label_but_clean_has_its_rank() -> None:
    assert {*ORDER, "CLEAN"} == set(Label.__args__)  # type: ignore[attr-defined]
    assert len(ORDER) == 7


def test_only_the_report_policy_never_rejects() -> None:
    worst = report(LEAK, WEAK, SUSPECTED)
    assert [name for name in POLICIES if not rejected(worst, name)] == ["report"]
