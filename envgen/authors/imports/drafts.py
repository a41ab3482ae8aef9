"""What all formats share on the last steps from a folder to a draft."""

import json
import math
import re
from typing import Any, Literal

from pydantic import ValidationError

from envgen.authors.imports.container import Finished
from envgen.errors import Fault
from envgen.files import FileTree
from envgen.records import AGENT_UID, Foreign, Limits, TaskDraft

MOST_TITLE = 160
_PLACES = re.compile(
    rb"(?<![\w.-])/(?:home/[a-z][\w-]*|app|data|workspace|opt/[\w.-]+|srv/[\w.-]+)(?=[/\"'\s]|$)"
)
_BOUNDS = {
    "agent_seconds": (1, 7200),
    "verify_seconds": (1, 1800),
    "build_seconds": (1, 3600),
    "memory_mb": (64, 65536),
    "cpus": (1, 64),
    "disk_mb": (1, 65536),
}


def limits(notes: list[str], **wanted: Any) -> Limits:
    """Limits within what we allow; a change is noted.

    Raises:
        Fault: something that is no number.
    """
    kept: dict[str, int] = {}
    for name, value in wanted.items():
        if value is None:
            continue
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            raise Fault("import:limits", f"{name} is {value!r}")
        low, high = _BOUNDS[name]
        kept[name] = min(max(math.ceil(value), low), high)
        if kept[name] != value and value == int(value):
            notes.append(f"limits: {name} is {kept[name]}, not {value}")
    return Limits(**kept)


def draft(
    *,
    origin: str,
    title: str,
    instruction: str,
    finished: Finished,
    tests: FileTree,
    solution: FileTree,
    workdir: str,
    outputs: tuple[str, ...],
    limits: Limits,
    grading: Literal["fresh", "shared"],
    notes: list[str],
    **maker: Any,
) -> TaskDraft:
    """A draft of what was read. Raises Fault where no draft can hold it."""
    clean = instruction.replace("\r\n", "\n")
    if clean != instruction:
        notes.append("instruction: its line ends were those of Windows")
    try:
        return TaskDraft(
            spec=None,
            origin=origin,
            author=f"imports/{origin.partition(':')[0]}",
            title=_title(title or clean),
            instruction=clean,
            environment=finished.environment,
            tests=tests,
            solution=solution,
            workdir=workdir,
            outputs=_outermost(outputs),
            limits=limits,
            foreign=Foreign(
                steps=finished.steps,
                env=finished.env,
                grading=grading,
                notes=tuple(dict.fromkeys([*finished.notes, *notes])),
                **maker,
            ),
        )
    except ValidationError as error:
        raise Fault("import:record", " ".join(str(error).split())[:400]) from None


def spoken_of(tests: FileTree) -> tuple[str, ...]:
    """The folders that tests speak of and that can carry over, homes first."""
    found = {place for file in tests.values() for place in _PLACES.findall(file.data)}
    names = {place.decode() for place in found}
    return tuple(sorted(names, key=lambda place: (not place.startswith("/home/"), place)))


def agent_env(uid: int, name: str, home: str) -> tuple[tuple[str, str], ...]:
    """What a container engine sets for the agent's account."""
    user = name if uid == AGENT_UID else "root"
    return (("HOME", home), ("LOGNAME", user), ("USER", user))


def json_object(text: str, name: str) -> dict[str, Any]:
    """A JSON object of a task's folder."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Fault("import:json", f"{name}: {error}") from None
    if not isinstance(value, dict):
        raise Fault("import:json", f"{name} is not an object")
    return value


def _title(text: str) -> str:
    line = next((one.strip(" #") for one in text.splitlines() if one.strip(" #")), "imported task")
    plain = re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in line)).strip()
    return plain if len(plain) <= MOST_TITLE else f"{plain[:MOST_TITLE]}..."


def _outermost(folders: tuple[str, ...]) -> tuple[str, ...]:
    found = {folder.rstrip("/") or "/" for folder in folders}
    return tuple(
        sorted(f for f in found if not any(o != f and f"{f}/".startswith(f"{o}/") for o in found))
    )
