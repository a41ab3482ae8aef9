"""What a run is made of, as its folder and settings tell: specs that were drawn, or an import."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envgen import axes
from envgen.authors import imports
from envgen.authors.imports.python import House
from envgen.config import ImportConfig, RunConfig
from envgen.errors import Misconfigured
from envgen.pipeline import Item, Items
from envgen.records import Rejection, TaskDraft
from envgen.runs import RunFolder


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


def items_of(folder: RunFolder, settings: RunConfig) -> Items:
    """The items of a run that was started.

    Raises:
        Misconfigured: its specs or the imported folder cannot be read, or both are there.
    """
    if settings.imports.source is None:
        return axes.read_specs(folder.specs)
    if folder.specs.exists():
        raise Misconfigured(f"run {folder.path.name!r} has specs already: use another --run")
    return imported(settings.imports)


def imported(wanted: ImportConfig) -> Imported:
    """The tasks that a configuration names. Misconfigured says what cannot be read, or be meant."""
    kind, source = imports.parse(wanted.source or "")
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
    options = imports.Options(wanted.base_map, wheels, wanted.grading)
    imports.check(kind, source, options)
    return Imported(kind, source, options)


def find(items: Items, slug: str) -> Item:
    """The item with a name. Misconfigured when there is none any more."""
    for item in items:
        if item.slug == slug:
            return item
    raise Misconfigured(f"what the run is made of no longer holds {slug}: it was changed since")
