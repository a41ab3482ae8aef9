"""What is trained on and what is held out: rows of a manifest, with their images in the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envgen.agent import Chat, Policy
from envgen.agent.episode import Player, play_of
from envgen.axes import AXES
from envgen.config import AgentConfig, TrainConfig
from envgen.errors import Misconfigured
from envgen.export import parquet
from envgen.export.unpack import AUDITED, refused
from envgen.grade import image_request
from envgen.kit import Kit
from envgen.ledger import Use, key_of
from envgen.plural import many
from envgen.records import Image, Play, TaskDraft
from envgen.submission import check_gradable

_SIMPLE = ("short", "moderate", "complex", "intricate")
"""Values of `task_complexity`, in order."""
COLUMNS = (*AXES, "author", "label", "base", "task")
"""Of the manifest, to choose tasks by."""
_LATER = (*AUDITED, "pass_at_k")
"""Columns that audits and evaluations fill in; older manifests lack them."""
UNMEASURED = 0.5


@dataclass(frozen=True)
class Tasks:
    """Tasks by name, in the order of training, and those that are only evaluated."""

    training: tuple[str, ...]
    held_out: tuple[str, ...]
    known: Mapping[str, tuple[TaskDraft, Image]]
    refused: int
    """Left out, for the policy of their audit rejects them."""


async def tasks_of(manifest: Path, settings: TrainConfig, kit: Kit) -> Tasks:
    """The tasks of a manifest that the settings want.

    Raises:
        Misconfigured: a column that is not there, nothing left, or an image that the engine lacks.
    """
    for name in (*settings.only, *settings.held_out):
        if name not in COLUMNS:
            raise Misconfigured(f"train: no column {name!r} to choose by: {', '.join(COLUMNS)}")
    asked = dict.fromkeys(["task", "task_complexity", *settings.only, *settings.held_out])
    columns = [name for name in asked if name not in _LATER]
    everything = list(parquet.read(manifest, columns, _LATER))
    rows = [row for row in everything if settings.rejected or not refused(row)]
    left_out = len(everything) - len(rows)
    held = [row for row in rows if any(_hits(row, settings.held_out))]
    names = {row["task"] for row in held}
    wanted = [
        row
        for row in rows
        if row["task"] not in names
        and all(_hits(row, settings.only))
        and settings.pass_rates[0] <= _pass_rate(row) <= settings.pass_rates[1]
    ]
    if not wanted:
        raise Misconfigured(
            f"train: no task of {manifest} is left to train on: {many(len(everything), 'task')}, "
            f"{left_out} of them rejected by the policy of their audit, {len(held)} of them held "
            "out; see train.rejected, train.only, train.pass_rates and train.held_out"
        )
    if settings.easiest_first:
        wanted.sort(key=_difficulty)
    names |= {row["task"] for row in wanted}
    known = {
        row["task"]: await _ready(row, manifest, kit)
        for row in parquet.read(manifest, ["task", "archive", "archive_sha256"])
        if row["task"] in names
    }
    training = tuple(row["task"] for row in wanted)
    return Tasks(training, tuple(row["task"] for row in held), known, left_out)


def probes(tasks: Tasks, chat: Chat, agent: AgentConfig) -> list[tuple[int, ...]]:
    """First prompts of a few tasks, to compare sampler and trainer on."""
    chosen = [tasks.known[name] for name in tasks.training[:4]]
    return [
        chat.opening(play_of(draft, image, Player("probe", agent, _nobody), 0).opening)
        for draft, image in chosen
    ]


def _nobody(play: Play) -> Policy:
    raise AssertionError("a probe plays nothing")


async def _ready(row: parquet.Row, manifest: Path, kit: Kit) -> tuple[TaskDraft, Image]:
    """A task with its image, which is not built here: what was proven is what is trained on."""
    draft = parquet.draft_of(row)
    check_gradable(draft)
    base = await kit.bases.get(draft.environment.base, draft.environment.packages)
    request = image_request(draft, base)
    if kit.sandbox.ledger.knows(key_of("image", request)):
        _, image = await kit.sandbox.image(request, Use(draft.slug, "train"))
        if kit.sandbox.engine.has(image):
            return draft, image
    raise Misconfigured(
        f"the engine does not have the image of task {draft.slug}: `envgen run` builds and proves "
        f"the tasks of a run again; or leave the task out (train.only), or of {manifest} use one "
        "that was made here"
    )


def _hits(row: parquet.Row, where: Mapping[str, Sequence[str]]) -> list[bool]:
    """For each column, whether the row has one of the wanted values."""
    return [
        not set(row[name] if isinstance(row[name], list) else [row[name]]).isdisjoint(values)
        for name, values in where.items()
    ]


def _pass_rate(row: parquet.Row) -> float:
    measured = row.get("pass_at_k") or []
    attempts = sum(each["attempts"] for each in measured)
    return sum(each["passes"] for each in measured) / attempts if attempts else UNMEASURED


def _difficulty(row: parquet.Row) -> tuple[float, int]:
    complexity = row["task_complexity"]
    place = _SIMPLE.index(complexity) if complexity in _SIMPLE else len(_SIMPLE)
    return -_pass_rate(row), place
