"""The numbers of the made-up run, and what of a text is shown."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from envgen.config import RunConfig
from envgen.records import TaskDraft
from envgen.report import Report, report
from envgen.report.facts import KEPT, Kills, Mix, Outcome, Probe, Refusal, Step, Task
from envgen.runs import RunFolder
from envgen.tables import report_tables
from envgen.web.measures import spending, weight
from envgen.web.site import Site
from envgen.web.tables import only
from envgen.web.tasklist import task_list
from envgen.web.visible import Cut, cut, file_text, size, visible
from tests.web import made


def test_the_funnel_and_its_reasons(found: Report) -> None:
    assert found.funnel[0] == Step("specs", 0, 18)
    lost = {step.step: step.lost for step in found.funnel if step.lost}
    assert lost == {"reference": 2, "repair": 1}
    assert found.funnel[-1] == Step(KEPT, 0, 15)
    assert found.reasons == {"reference:fails": 2, "ANSWER-LEAK": 1}
    assert [r.detail for r in found.rejections] == ["reward 0.5; [31mred]0;title2J"] * 3


def test_the_balance_before_and_after(found: Report) -> None:
    counts = {(v.axis, v.value): (v.before, v.after) for v in found.balance.values}
    assert sum(c[0] for key, c in counts.items() if key[0] == "domain") == 18
    assert sum(c[1] for key, c in counts.items() if key[0] == "domain") == 15
    assert counts["domain", "data_querying"] == (2, 2)
    assert counts["domain/verifier", "data_querying/exact_text"] == (2, 2)
    assert found.balance.before["domain"] == 1.0 > found.balance.after["domain"]


def test_labels_are_proven_or_suspected(found: Report) -> None:
    assert found.audit and found.audit.audited == 15
    mix = {m.label: m for m in found.audit.labels}
    assert mix["CLEAN"] == Mix("CLEAN", 12, 0, 0)
    assert mix["VERIFIER-TOO-WEAK"] == Mix("VERIFIER-TOO-WEAK", 3, 3, 0)
    assert mix["INSTR-AMBIGUOUS"] == Mix("INSTR-AMBIGUOUS", 0, 0, 4)
    assert found.audit.refused == 2  # of the weak ones one was repaired


def test_attacks_and_mutants(found: Report) -> None:
    assert found.audit
    probes = {p.probe: p for p in found.audit.probes}
    assert probes["filling"] == Probe("filling", 18, 3, 3, 15, 3)
    assert probes["forging"] == Probe("forging", 15, 0, 0, 15, 0)
    kills = {k.verifier: k for k in found.audit.kills}
    assert kills["exact_text"] == Kills("exact_text", 5, 40, 1, 1)
    assert sum(k.mutants for k in kills.values()) == 15 * 8


def test_repairs_by_label_and_way(found: Report) -> None:
    assert found.repairs
    assert found.repairs.labels == (Outcome("VERIFIER-TOO-WEAK", 4, 3),)
    assert found.repairs.ways == (Outcome("pinned", 4, 3),)
    assert found.repairs.refusals == (Refusal("other attacks: emptying:cut pays N", 1),)


def test_episodes_are_told_by_axis(found: Report) -> None:
    small = next(e for e in found.evaluations if e["model"] == "openai:small")
    assert small["pass_at"][0] == 18 / 60
    assert small["by_axis"]["verifier"]["exact_text"]["tasks_played"] == 5
    assert "tasks" not in small


def test_everything_has_its_origin(found: Report) -> None:
    facts = {(p.what, p.value): p.tasks for p in found.provenance}
    assert facts["specs", "18 of preset balanced, seed 2026"] is None
    assert facts["author", "procedural/golden"] == 2
    (manifest,) = (p.value for p in found.provenance if p.what == "manifest.parquet")
    data = Path(found.manifest).read_bytes()
    assert manifest == f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_the_files_of_the_report(found: Report, folder: RunFolder) -> None:
    written = json.loads((folder.path / "report.json").read_text())
    assert written["repairs"]["labels"][0]["accepted"] == 3
    assert "tasks" not in written
    assert folder.report.read_text().startswith("<!doctype html>")


def test_the_terminal_has_labels_attacks_and_repairs(
    found: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    report_tables(found)
    lines = [line.split() for line in capsys.readouterr().out.replace("│", " ").splitlines()]
    assert ["INSTR-AMBIGUOUS", "0", "0", "4"] in lines
    assert ["filling", "18", "3", "3"] in lines
    assert ["VERIFIER-TOO-WEAK", "4", "3"] in lines


def test_a_long_list_is_in_the_page_once() -> None:
    tasks = [Task(f"<b>{n}", step=KEPT, label="CLEAN", seconds=n / 3) for n in range(5_000)]
    made = task_list(tasks, "/task/")
    assert (len(made.rows), made.total) == (200, 5_000)
    assert "<" not in made.data and "&" not in made.data
    data = json.loads(made.data)
    fields = {field["name"]: field for field in data["fields"]}
    assert fields["task"]["values"][-1] == "<b>4999"
    assert (fields["label"]["words"], set(fields["label"]["values"])) == (["CLEAN"], {0})
    assert fields["seconds"]["values"][1] == 0.3
    assert "kill_rate" not in fields  # nothing was measured


def test_a_choice_is_a_query() -> None:
    assert only({"step": ["build", "kept"], "code": "a&b=\u202e"}) == (
        "step=build&step=kept&code=a%26b%3D%E2%80%B9U%2B202E%E2%80%BA"
    )


def test_spreads_count_every_kept_task(found: Report) -> None:
    (table, largest) = weight(found).tables
    assert sum(int(row[1].sort or 0) for row in table.rows) == found.kept
    assert largest.rows[0][2].text == "692.9 kB"
    seconds = next(t for t in spending(found).tables if t.caption == "Seconds of kept tasks")
    assert seconds.rows[0][1].only == only({"seconds": "0..1", "step": "kept"})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("caf\u00e9 \u4f60\u597d \u05d0", "caf\u00e9 \u4f60\u597d \u05d0"),
        ("\x00\x1b\x7f\r", "‹U+0000›‹U+001B›‹U+007F›‹U+000D›"),
        ("\u202e\u2067\u200b\ufeff\u00ad", "‹U+202E›‹U+2067›‹U+200B›‹U+FEFF›‹U+00AD›"),
        ("\u2028\u2029\u0085", "‹U+2028›‹U+2029›‹U+0085›"),
        ("\ud800\ue000", "‹U+D800›‹U+E000›"),
        ("a\U000e0061\U000e0101\u3164", "a‹U+E0061›‹U+E0101›‹U+3164›"),
        ("e" + "\u0301" * 6, "e" + "\u0301" * 4 + "‹U+0301›" * 2),
    ],
)
def test_what_cannot_be_seen_is_marked(text: str, shown: str) -> None:
    assert visible(text) == shown
    visible(text).encode()


def test_long_texts_are_cut_and_say_so() -> None:
    assert cut("abc", 3) == Cut("abc")
    assert cut("abcd", 3) == Cut("abc", "the first 3 of 4 characters are shown")


FIRST = "the first 1,000 characters of {} kB are shown"


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"text", Cut("text")),
        (b"", Cut("")),
        (b"\xff\xfe", Cut("", "binary: not shown")),
        (b"a\0b", Cut("", "binary: not shown")),
        (b"a" * 3000, Cut("a" * 1000, FIRST.format("3.0"))),
        ("a€".encode() * 2000, Cut("a€" * 500, FIRST.format("8.0"))),
        (b"a" * 3999 + "€".encode(), Cut("a" * 1000, FIRST.format("4.0"))),
        (b"a" * 5000 + b"\xff", Cut("a" * 1000, FIRST.format("5.0"))),
    ],
)  # fmt: skip
def test_files_are_text_or_are_not_shown(data: bytes, shown: Cut) -> None:
    assert file_text(data, 1000) == shown


def test_sizes_in_words() -> None:
    assert [size(n) for n in (0, 999, 1000, 24_810, 2.5e6, 3e12)] == [
        "0 B", "999 B", "1.0 kB", "24.8 kB", "2.5 MB", "3000.0 GB",
    ]  # fmt: skip


def test_one_of_everything_is_said_in_the_singular(
    golden: TaskDraft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made.single(RunFolder(tmp_path / "run"), golden)
    measured = report(folder, RunConfig())
    site = Site(folder, measured)
    name = measured.tasks[0].task
    pages = [site.answer(path)[1].html for path in (("",), ("task", name))]
    text = " ".join(re.sub(r"<[^>]*>", " ", page) for page in pages)
    report_tables(measured)
    text = " ".join((text + capsys.readouterr().out).split())
    for said in (
        "1 task kept of 1", "1 task was audited", "of 1 mutant ", "0 of 1 task, in 1 attempt.",
        "the first 1 of 1 task, not sorted", "1 finding, 1 trial ", "1 episode ", "1 row ",
    ):  # fmt: skip
        assert said in text
    kinds = "tasks|files|trials|findings|mutants|episodes|attempts|calls|tokens|turns|rows|repairs"
    assert re.findall(rf"\b1 (?:[a-z]+ )?(?:{kinds})\b.*", text) == []
