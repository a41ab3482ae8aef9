"""What a run is made of, as its folder tells: specs that were drawn, or the tasks of an import."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from envgen import axes
from envgen.authors import imports
from envgen.authors.imports.python import House
from envgen.errors import Misconfigured
from envgen.pipeline import Item, Items
from envgen.records import Rejection, TaskDraft
from envgen.runs import RunFolder
from envgen.writing import write_whole


class Import(BaseModel):
    """What a run of tasks that others made is made of, as its folder keeps it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    """The form of their folders: `harbor`, `tmax` or `endless`."""
    folder: str
    """Absolute."""
    base_map: tuple[tuple[str, str], ...] = ()
    """Images, and the `BASE` or `BASE+package+package` that stands for each."""
    wheels: str | None = None
    """Folder of wheels for what pip installs; None = only what Debian has."""
    fetch_wheels: bool = False
    """Let pip ask its index for what that folder lacks."""
    grading: Literal["fresh", "shared"] | None = None
    """`fresh`: by our own protocol; `shared`: where the agent worked; None = as its maker does."""


@dataclass(frozen=True)
class Imported:
    """The tasks in somebody's folder, read anew whenever they are gone through."""

    kind: str
    folder: Path
    options: imports.Options

    def __len__(self) -> int:
        return imports.count(self.kind, self.folder)

    def __iter__(self) -> Iterator[TaskDraft | Rejection]:
        return imports.read(self.kind, self.folder, self.options)


def imported(wanted: Import) -> Imported:
    """The tasks that are meant. Misconfigured says what of it cannot be read, or be meant."""
    wheels = None
    if wanted.wheels is not None:
        wheels = House(Path(wanted.wheels), wanted.fetch_wheels)
        if not (wheels.fetch or wheels.folder.is_dir()):
            raise Misconfigured(
                f"{wheels.folder} is not a folder of wheels: name another, or let --fetch-wheels "
                "fill it"
            )
    elif wanted.fetch_wheels:
        raise Misconfigured("--fetch-wheels needs a folder for them: add --wheels DIR")
    options = imports.Options(dict(wanted.base_map), wheels, wanted.grading)
    imports.check(wanted.kind, Path(wanted.folder), options)
    return Imported(wanted.kind, Path(wanted.folder), options)


def start(folder: RunFolder, wanted: Import) -> Imported:
    """Note in a run's folder, which is held, that it is of these tasks.

    Raises:
        Misconfigured: they cannot be read, or the run has specs.
    """
    found = imported(wanted)
    if folder.specs.exists():
        raise Misconfigured(f"run {folder.path.name!r} is of specs: use another --run to import")
    write_whole(folder.imported, wanted.model_dump_json(indent=1) + "\n")
    return found


def items_of(folder: RunFolder) -> Items:
    """The items of a run that was started. Misconfigured when they cannot be read."""
    if not folder.imported.exists():
        return axes.read_specs(folder.specs)
    try:
        return imported(Import.model_validate_json(folder.imported.read_bytes()))
    except ValidationError:
        raise Misconfigured(f"{folder.imported} is damaged: import the tasks again") from None


def find(items: Items, slug: str) -> Item:
    """The item with a name. Misconfigured when there is none any more."""
    for item in items:
        if item.slug == slug:
            return item
    raise Misconfigured(f"what the run is made of no longer holds {slug}: it was changed since")
