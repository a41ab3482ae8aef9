"""Runs and their folders: replay, order, tidiness, locks, and what a bug leaves."""

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from envgen import axes, report, runs
from envgen.errors import EngineRefused, Misconfigured
from envgen.export import parquet
from envgen.kit import Bases, Kit
from envgen.pipeline import GIVE_UP, Stop
from envgen.records import Job, JobResult, TaskSpec
from envgen.report.facts import Spread, Step
from envgen.runs import RunFolder
from envgen.sandbox.scripted import Scripted, verdict

Do = Callable[[Awaitable[Any]], Any]
MakeKit = Callable[..., Kit]
PASSES = JobResult(status="done", exit_code=0, output="", collected=verdict(1.0))


def finish(do: Do, folder: Path, specs: list[TaskSpec], kit: Kit) -> runs.Tally:
    return do(runs.finish(RunFolder(folder), specs, kit, Stop()))  # type: ignore[no-any-return]


def written(folder: Path) -> dict[str, bytes]:
    """Everything that is derived: manifest, rejections, task folders."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.name.startswith("ledger.sqlite")
        and "blobs" not in path.parts
    }


def test_a_run_again_asks_the_engine_for_nothing_and_ends_in_the_same_bytes(
    tmp_path: Path, make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    def judge(step: str, base: str) -> JobResult | None:
        return PASSES if (step, base) == ("noop", "data_querying") else None

    kit = make_kit(judge)
    engine = kit.sandbox.engine
    assert isinstance(engine, Scripted)
    tally = finish(do, tmp_path / "run", specs, kit)
    assert (tally.kept, tally.rejected["noop"]) == (6, 6)
    before = written(tmp_path / "run")
    engine.asked.clear()
    again = finish(do, tmp_path / "run", specs, Kit(kit.config, kit.sandbox, Bases(engine)))
    assert again == tally
    assert (engine.asked["build"], engine.asked["run"]) == (0, 0)
    assert engine.asked["base"] == 2  # one for each family; listed anew in every process
    assert written(tmp_path / "run") == before


def test_what_is_derived_comes_back_from_the_ledger(
    tmp_path: Path, make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit()
    finish(do, tmp_path / "run", specs[:4], kit)
    before = written(tmp_path / "run")
    for name in before:
        (tmp_path / "run" / name).unlink()
    kit.sandbox.engine.asked.clear()  # type: ignore[attr-defined]
    finish(do, tmp_path / "run", specs[:4], kit)
    assert written(tmp_path / "run") == before
    assert kit.sandbox.engine.asked["run"] == 0  # type: ignore[attr-defined]


def test_a_torn_task_folder_is_written_again(
    tmp_path: Path, make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit()
    finish(do, tmp_path / "run", specs[:1], kit)
    before = written(tmp_path / "run")
    folder = tmp_path / "run" / "tasks" / specs[0].slug
    aside = folder.with_name(f".{folder.name}.part")
    folder.rename(aside)  # as if killed just before the rename
    (aside / "task.toml").unlink()
    finish(do, tmp_path / "run", specs[:1], kit)
    assert written(tmp_path / "run") == before


def test_the_hash_seed_of_the_process_changes_no_byte(
    tmp_path: Path, specs: list[TaskSpec]
) -> None:
    axes.write_specs(tmp_path / "specs.parquet", (row(spec) for spec in specs))
    script = Path(__file__).with_name("replay.py")

    def ran(name: str, seed: str) -> str:
        return subprocess.run(
            [sys.executable, str(script), str(tmp_path / name), str(tmp_path / "specs.parquet")],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True, timeout=120,
        ).stdout  # fmt: skip

    first = ran("one/run", "1")
    assert first.splitlines()[-1] == "6 6 0 0"
    assert ran("two/run", "2") == first
    assert ran("one/run", "3") == first  # recalled


def row(spec: TaskSpec) -> axes.Row:
    return axes.Row(**{name: getattr(spec, name) for name in axes.Row._fields})


def test_rows_are_in_the_order_of_the_specs_whatever_ends_first(
    tmp_path: Path, make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    """The engine answers the first specs last."""

    class Reversed(Scripted):
        async def build(self, request: Any) -> Any:
            self.asked["waits"] += 1
            await asyncio.sleep(0.01 * (12 - self.asked["waits"]))
            return await super().build(request)

    kit = make_kit()
    kit.sandbox.engine = kit.bases.engine = Reversed(kit.sandbox.blobs)
    order: list[int] = []
    do(
        runs.finish(
            RunFolder(tmp_path / "run"), specs, kit, Stop(), lambda tally: order.append(tally.kept)
        )
    )
    found = list(parquet.read(tmp_path / "run" / "manifest.parquet", ["index", "task"]))
    assert [row["index"] for row in found] == list(range(12))
    assert [row["task"] for row in found] == [spec.slug for spec in specs]
    assert order == list(range(1, 13))


def test_a_bug_is_kept_where_it_can_be_found_and_gone_once_it_is_mended(
    tmp_path: Path, make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    def broken(job: Job) -> JobResult:
        raise ZeroDivisionError("surprise")

    kit = make_kit()
    engine = kit.sandbox.engine
    assert isinstance(engine, Scripted)
    sound, engine.script = engine.script, broken
    tally = finish(do, tmp_path / "run", specs[:2], kit)
    assert (tally.bugs, tally.done) == (2, 2)
    crashes = sorted((tmp_path / "run" / "crashes").iterdir())
    assert [path.name for path in crashes] == sorted(f"{spec.slug}.txt" for spec in specs[:2])
    assert "ZeroDivisionError: surprise" in crashes[0].read_text()
    engine.script = sound
    assert finish(do, tmp_path / "run", specs[:2], kit).kept == 2
    assert not (tmp_path / "run" / "crashes").exists()


def test_weather_leaves_tasks_unfinished_and_the_next_run_takes_them_up(
    tmp_path: Path, make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    class Storm(EngineRefused):
        retryable = False

    def refused(job: Job) -> JobResult:
        raise Storm("500")

    kit = make_kit(sets=("engine.in_flight=1",))
    engine = kit.sandbox.engine
    assert isinstance(engine, Scripted)
    sound, engine.script = engine.script, refused
    tally = finish(do, tmp_path / "run", specs, kit)
    assert (tally.unfinished, tally.done, tally.total) == (GIVE_UP, GIVE_UP, 12)
    assert tally.last_trouble == "engine_refused: 500"
    assert list(parquet.read(tmp_path / "run" / "manifest.parquet")) == []
    engine.script, engine.asked["build"] = sound, 0
    assert finish(do, tmp_path / "run", specs, kit).kept == 12
    assert engine.asked["build"] == 4  # the others were built before the weather came


def test_a_finished_run_holds_nothing_that_its_manifest_does_not_name(
    tmp_path: Path, make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit()
    engine = kit.sandbox.engine
    assert isinstance(engine, Scripted)
    finish(do, tmp_path / "run", specs[:4], kit)
    (tmp_path / "run" / "tasks" / ".old.part").mkdir()
    finish(do, tmp_path / "run", specs[:2], kit)
    tasks = tmp_path / "run" / "tasks"
    names = sorted(path.name for path in tasks.iterdir())
    assert names == sorted(["dataset.toml", *(spec.slug for spec in specs[:2])])
    assert len([tag for tag in engine.images if "/base:" not in tag]) == 2
    listing = tomllib.loads((tasks / "dataset.toml").read_text())
    assert [task["name"] for task in listing["tasks"]] == sorted(
        f"envgen/{spec.slug}" for spec in specs[:2]
    )


def test_a_base_that_is_not_as_locked_ends_the_run_with_one_sentence(
    tmp_path: Path, make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit()
    locked = Kit(kit.config, kit.sandbox, Bases(kit.sandbox.engine, tmp_path / "locks"))
    finish(do, tmp_path / "run", specs[:2], locked)
    for lock in (tmp_path / "locks").iterdir():
        assert lock.read_text() == "python3=3\n"
        lock.write_text("python3=2\n")
    again = Kit(kit.config, kit.sandbox, Bases(kit.sandbox.engine, tmp_path / "locks"))
    with pytest.raises(Misconfigured, match=r"differs from its lock in 2 lines \(first: python3=2"):
        finish(do, tmp_path / "run", specs[:2], again)


def test_drafts_are_written_and_the_authors_rejections_counted(
    tmp_path: Path, make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    odd = specs[1].model_copy(update={"domain": "elsewhere", "slug": "elsewhere-1"})
    folder = RunFolder(tmp_path / "run")
    tally = do(runs.draft_all(folder, [specs[0], odd], make_kit(), Stop()))
    assert (tally.drafted, tally.kept, tally.rejected) == (1, 0, {"author": 1})
    assert (tally.done, tally.unfinished, tally.bugs) == (2, 0, 0)
    assert [path.name for path in (tmp_path / "run" / "drafts").iterdir()] == [specs[0].slug]


# -- folders -----------------------------------------------------------------------------------

BAD_NAMES = ["", ".", "..", "a/b", "../up", "/abs", "a b", "a\nb", "-x", ".hidden", "é", "x" * 65]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_no_run_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(Misconfigured, match="a run's name has letters, digits"):
        runs.folder_of(tmp_path, name)


def test_an_unknown_run_is_named_beside_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"no run 'x' in .*: start one with `envgen run`"):
        runs.known(tmp_path, "x")
    (tmp_path / "runs" / "demo").mkdir(parents=True)
    with pytest.raises(Misconfigured, match=r"no run 'x' in .*: there are demo"):
        runs.known(tmp_path, "x")
    assert runs.known(tmp_path, "demo").manifest == tmp_path / "runs/demo/manifest.parquet"


def test_a_run_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    again = runs.held(folder)
    with runs.held(folder), pytest.raises(Misconfigured, match="in use by another process"), again:
        pass
    with runs.held(folder):
        pass


# -- report ------------------------------------------------------------------------------------


def test_the_report_tells_what_became_of_the_specs(
    tmp_path: Path, make_kit: MakeKit, do: Do
) -> None:
    def judge(step: str, base: str) -> JobResult | None:
        if (step, base) == ("initial", "data_querying"):
            return JobResult(status="done", exit_code=1, output="\x1b[31mmissing\nnow")
        return None

    kit = make_kit(judge)
    folder = RunFolder(tmp_path / "run")
    settings = kit.config.model_copy(
        update={"sample": kit.config.sample.model_copy(update={"n": 12})}
    )
    runs.draw(folder, settings, "procedural")
    specs = axes.read_specs(folder.specs)
    tally = finish(do, folder.path, specs, kit)
    found = report.report(folder, settings)
    lost = tally.rejected["initial"]
    assert lost == 6
    assert found.funnel[0] == Step("specs", 0, 12)
    assert {row.step: row.lost for row in found.funnel}["initial"] == lost
    assert found.funnel[-1] == Step("kept", 0, 12 - lost)
    assert found.reasons == {"initial:fails": lost}
    assert {r.detail for r in found.rejections} == {"done: [31mmissing now"}
    assert found.baseline == Spread(0.0, 0.0, 0.0)
    assert found.balance.before["domain"] == round(2 / 9, 4)
    assert found.balance.after["domain"] == round(1 / 9, 4)
    counts = {v.value: (v.before, v.after) for v in found.balance.values if v.axis == "domain"}
    assert {n: c for n, c in counts.items() if c[0]} == {
        "data_querying": (6, 0), "file_operations": (6, 6),
    }  # fmt: skip
    assert len(counts) == 9
    steps = {(row.kind, row.step) for row in found.seconds}
    assert ("image", "build") in steps
    assert ("job", "determinism") in steps
    written = json.loads(json.dumps(report.as_json(found)))
    assert written["funnel"][-1] == {"step": "kept", "lost": 0, "left": 12 - lost}
    assert "tasks" not in written


def test_the_report_of_a_run_that_has_nothing_yet(tmp_path: Path, make_kit: MakeKit) -> None:
    folder = RunFolder(tmp_path / "run")
    kit = make_kit()
    found = report.report(folder, kit.config)
    assert found.funnel[-1] == Step("kept", 0, 0)
    assert (found.reasons, found.image_bytes, found.audit, found.repairs) == ({}, None, None, None)
