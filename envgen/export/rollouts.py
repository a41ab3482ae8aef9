"""`rollouts/NAME.parquet`: one row an episode, flat columns beside the whole episode as JSON.

One file for each model and way of playing; a row is replaced when its episode is evaluated again.
From these files `pass_at_k` of the manifest is derived, and everything that is said of episodes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from envgen.agent.passes import curve
from envgen.agent.prefix import reuse
from envgen.axes import AXES
from envgen.digest import digest, digest_bytes, short
from envgen.export import parquet, schema
from envgen.records import BuiltTask, Episode, Flag

SCHEMA = "1"
FLAT = (
    "task",
    "draft",
    "image",
    *AXES,
    "model",
    "settings",
    "sample",
    "ending",
    "fault",
    "invalid",
    "reward",
    "passed",
    "turns",
    "mistakes",
    "input_tokens",
    "output_tokens",
    "thinking_tokens",
    "reused_tokens",
    "seconds",
    "flags",
    "keys",
)
"""All columns but the episode itself."""


def way(settings: str) -> str:
    """Eight characters that name the settings of episodes (`Play.settings`) for good."""
    return short(digest_bytes(settings.encode()), 8)


def name_of(model: str, settings: str) -> str:
    """The file of a model and a way of playing."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")[:80]
    return f"{plain}-{settings}-{short(digest(model), 4)}.parquet"


def row(task: BuiltTask, episode: Episode, flags: Sequence[Flag]) -> parquet.Row:
    """An episode as one row."""
    played, score, spec = episode.trajectory, episode.score, task.draft.spec
    turns = played.turns if played else ()
    axes = {axis: getattr(spec, axis) if spec else None for axis in AXES}
    return {
        "task": episode.slug,
        "draft": episode.play.task,
        "image": episode.play.image,
        **axes | {"skills": list(spec.skills) if spec else None},
        "model": episode.play.model,
        "settings": way(episode.play.settings),
        "sample": episode.play.sample,
        "ending": played.ending if played else None,
        "fault": episode.fault,
        "invalid": score.invalid if score else "",
        "reward": score.reward if score else None,
        "passed": episode.passed,
        "turns": len(turns),
        "mistakes": sum(bool(turn.mistake) for turn in turns),
        "input_tokens": sum(turn.usage.input for turn in turns),
        "output_tokens": sum(turn.usage.output for turn in turns),
        "thinking_tokens": sum(turn.usage.thinking for turn in turns),
        "reused_tokens": reuse(turns).served,
        "seconds": played.seconds if played else 0.0,
        "flags": [flag.model_dump() for flag in flags],
        "keys": list(episode.keys),
        "episode": episode.model_dump_json(),
    }


def write(path: Path, rows: Iterable[parquet.Row], new: set[tuple[str, int]]) -> int:
    """Write episodes of one model; how many are in the file then.

    Args:
        path: the file, of which the rows of other episodes stay.
        rows: of the new ones.
        new: their (task, sample).
    """
    path.parent.mkdir(exist_ok=True)
    old = read(path) if path.exists() else iter(())
    kept = (r for r in old if (r["task"], r["sample"]) not in new)
    return parquet.write_rows(path, (r for part in (kept, rows) for r in part), columns())


def read(
    path: Path, columns: list[str] | None = None, task: str | None = None
) -> Iterator[parquet.Row]:
    """Rows of a file, or those of a task. Misconfigured when it is none of ours."""
    again = "delete it, and run `envgen eval` again"
    return parquet.read_own(path, "rollouts", SCHEMA, again, columns, task)


def files(folder: Path) -> list[Path]:
    """All files of a run, in the order of their names."""
    return sorted(folder.glob("*.parquet"))


def episodes(path: Path) -> Iterator[Episode]:
    """The episodes of a file."""
    return (Episode.model_validate_json(row["episode"]) for row in read(path, ["episode"]))


def valid(row: parquet.Row) -> bool:
    """Whether an episode counts: it has a verdict."""
    return row["reward"] is not None


def measured(rows: Sequence[parquet.Row]) -> parquet.Row:
    """What the episodes of one task and one way of playing come to, as the manifest has it."""
    counted = [row for row in rows if valid(row)]
    passes = sum(bool(row["passed"]) for row in counted)
    rewards = [float(row["reward"]) for row in counted]
    return {
        "model": rows[0]["model"],
        "settings": rows[0]["settings"],
        "attempts": len(counted),
        "passes": passes,
        "invalid": sum(bool(row["invalid"]) for row in rows),
        "faults": sum(bool(row["fault"]) for row in rows),
        "reward": sum(rewards) / len(rewards) if rewards else None,
        "pass_at": list(curve(len(counted), passes)),
    }


Played = dict[tuple[str, str], list[parquet.Row]]


def measures(folder: Path) -> Played:
    """What a run's episodes come to, by draft and content of the image: a row for each way of
    playing it."""
    found: Played = {}
    columns = ["draft", "image", "model", "settings", "passed", "reward", "invalid", "fault"]
    for path in files(folder):
        tasks: Played = {}
        for played in read(path, columns):
            tasks.setdefault((played["draft"], played["image"]), []).append(played)
        for key, rows in tasks.items():
            found.setdefault(key, []).append(measured(rows))
    return found


def note_manifest(manifest: Path, folder: Path) -> None:
    """Put `pass_at_k` into the rows whose task and image were played."""
    found = measures(folder)

    def noted() -> Iterator[parquet.Row]:
        for row in parquet.read(manifest):
            image = digest([row["base_content"], row["layers"]])
            known = found.get((row["draft"], image))
            yield row | {"schema_version": schema.SCHEMA, "pass_at_k": known}

    parquet.write_manifest(manifest, noted())


def columns() -> Any:
    """The schema of a file of episodes, its version in the metadata."""
    import pyarrow as pa

    text, count = pa.string(), pa.int64()
    flag = pa.struct([("code", text), ("turn", count), ("detail", text)])
    kinds = {
        "skills": pa.list_(text),
        "reward": pa.float64(),
        "passed": pa.bool_(),
        "seconds": pa.float64(),
        "flags": pa.list_(flag),
        "keys": pa.list_(text),
        **dict.fromkeys(("sample", "turns", "mistakes"), count),
        **{name: count for name in FLAT if name.endswith("_tokens")},
    }
    fields = [(name, kinds.get(name, text)) for name in (*FLAT, "episode")]
    return pa.schema(fields, metadata={"envgen.rollouts_version": SCHEMA})
