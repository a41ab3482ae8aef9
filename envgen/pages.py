"""Pages on the terminal: one finding, episode, repair or dead letter, to be judged by a person."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from envgen.plural import many
from envgen.tables import played_table
from envgen.terminal import clean, printed

if TYPE_CHECKING:
    from envgen.letters import Letter
    from envgen.records import AuditReport, Episode, Flag, Trial

MOST_LINES = 16
"""Lines of each file of an attack that its page shows."""


def audit_page(report: "AuditReport", instruction: str) -> None:
    """Everything that a person needs to judge the findings of one task."""
    from envgen.export.audits import finding_id

    out = Console()
    _lines(out, f"{report.slug}\n\n{instruction.strip()}\n")
    printed("tiers", ("tier", "", "note"),
           [(t.name, "ran" if t.ran else "did not run", t.note) for t in report.tiers])  # fmt: skip
    for found in report.findings:
        kind = "PROVEN" if found.proven else "suspected"
        places = ", ".join(f"{p.file}:{p.line}" if p.line else p.file for p in found.places)
        _lines(
            out,
            f"\n{kind} {found.label}  {finding_id(report, found)}  {found.code}\n"
            f"  {found.message}\n  {found.soundness}; needs {found.exploitability}; {places}",
        )
        for trial in report.trials:
            if f"{trial.probe}:{trial.name}" == found.trial:
                _lines(out, _trial_text(trial))
    rows = [
        (t.probe, t.name[:60], "" if t.reward is None else f"{t.reward:g}", t.note[:100])
        for t in report.trials
    ]
    printed("everything that was tried", ("probe", "name", "reward", "what the grader said"), rows)


def _lines(out: Console, text: str) -> None:
    """Text as it is: what is too long for the terminal is not broken, so that it can be copied."""
    out.print(Text(clean(text)), soft_wrap=True)


def _trial_text(trial: "Trial") -> str:
    lines = [f"  reward {trial.reward}: {trial.note}"]
    lines += [f"  receipt: envgen ledger show {key}" for key in trial.keys]
    script = trial.tree["solve.sh"].data.decode(errors="replace") if trial.tree else ""
    for name in sorted(trial.tree, key=lambda n: (n != "solve.sh", n)):
        if name == "solve.sh" or name.startswith("files/") or f"/solution/{name}" in script:
            text = trial.tree[name].data.decode(errors="replace").rstrip().split("\n")
            lines += [f"  {name}:", *(f"    {line[:160]}" for line in text[:MOST_LINES])]
            if len(text) > MOST_LINES:
                lines.append(f"    ... and {many(len(text) - MOST_LINES, 'line')} more")
    return "\n".join(lines)


def episode_page(episode: "Episode", flags: Sequence["Flag"]) -> None:
    """One trajectory, turn by turn."""
    out, score = Console(), episode.score
    for message in episode.play.opening:
        out.rule(Text(message.role))
        _lines(out, message.text)
    turns = episode.trajectory.turns if episode.trajectory else ()
    for number, turn in enumerate(turns, 1):
        tokens = f"{turn.usage.input} + {turn.usage.output} tokens"
        out.rule(Text(f"turn {number}: {tokens}, {turn.seconds:.1f} s"))
        _lines(out, turn.text)
        for call in turn.calls:
            _lines(out, f"[{clean(call.name)}] {call.arguments}")
        if turn.shown:
            out.rule(Text("what it was told"), characters=".")
            _lines(out, turn.shown)
    out.rule(Text("the end"))
    if episode.fault:
        _lines(out, f"a fault of the infrastructure: {episode.fault}")
    if episode.trajectory and score:
        verdict = f"invalid: {score.invalid}" if score.invalid else f"reward {score.reward:g}"
        _lines(out, f"{episode.trajectory.ending} {episode.trajectory.detail}; {verdict}")
        rows = [(c.name, f"{c.score:g}", c.detail[:160]) for c in score.checks]
        printed("checks", ("check", "score", "detail"), rows)
    if flags:
        rows = [(f.code, str(f.turn or ""), f.detail) for f in flags]
        printed("worth a look", ("flag", "turn", "detail"), rows)


def repair_page(row: Mapping[str, Any]) -> None:
    """One task's repair: what was found, what was changed, what holds, for each attempt."""
    out = Console()
    name = row["task"] if row["repaired"] == row["task"] else f"{row['task']} -> {row['repaired']}"
    end = row["label_after"] or f"refused: {row['reason']}"
    _lines(out, f"{name}: {row['label_before']} -> {end}\n")
    for number, attempt in enumerate(row["trail"], 1):
        said = "ACCEPTED" if attempt.accepted else f"refused: {attempt.refused}"
        _lines(out, f"attempt {number}, {'+'.join(attempt.ways) or 'nothing tried'}: {said}\n")
        _lines(out, "\n".join(f"  found: {line}" for line in attempt.diagnosis[:8]))
        _lines(out, "\n".join(f"  {line}" for line in attempt.changed))
        if attempt.diff:
            _lines(out, f"\n{attempt.diff.rstrip()}")
        marks = {True: "holds", False: "FAILS", None: "-"}
        lines = [
            (marks[c.holds], c.name, c.told, f"{c.proof[0][:19]} ..." if c.proof else "")
            for c in attempt.matrix
        ]
        if lines:
            printed("what has to hold", ("", "criterion", "executed", "first receipt"), lines)
    played_table([row])


def letter_page(found: "Letter") -> None:
    """One dead letter with all its answers, as they came."""
    console = Console(soft_wrap=True)
    for title, text in (
        (f"{found.task}: {found.code}, {many(found.retries, 'retry', 'retries')}", found.detail),
        *((f"{a.step}, {a.completion.finish}, {a.key}", a.completion.text) for a in found.answers),
    ):
        console.rule(Text(clean(title)))
        console.print(Text(clean(text)))
