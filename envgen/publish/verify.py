"""Whether a data set is what was published: every byte, every row, and tasks built anew."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from envgen.authors.imports.folder import printable
from envgen.digest import digest
from envgen.errors import Misconfigured
from envgen.export import parquet
from envgen.publish import checksums, dataset
from envgen.publish.checksums import Trouble
from envgen.rebuild import NEEDED


def verify(folder: Path) -> Iterator[Trouble]:
    """What is wrong with a data set; rows are looked at only where every byte is right.

    Raises:
        Misconfigured: the folder is no data set of envgen.
    """
    found = list(checksums.check(folder))
    yield from found
    if not found:
        yield from _rows(folder)


def shards(folder: Path) -> list[Path]:
    """The shards of a data set, in order. Misconfigured when there is none."""
    found = parquet.parts(folder)
    if found == [folder]:
        raise Misconfigured(f"{folder} is no data set of envgen: it has no data/train-*.parquet")
    return found


def sample(folder: Path, count: int) -> list[parquet.Row]:
    """Some rows to build anew: those whose drafts have the smallest digests, so always the same."""
    drafts = [row["draft"] for path in shards(folder) for row in dataset.read(path, ["draft"])]
    chosen = set(sorted(drafts, key=lambda draft: digest(["sample", draft]))[:count])
    rows = (row for path in shards(folder) for row in dataset.read(path, [*NEEDED, "draft"]))
    return [row for row in rows if row["draft"] in chosen]


def _rows(folder: Path) -> Iterator[Trouble]:
    """Whether each row's folder is the task that it names, and the index says the same."""
    paths = shards(folder)
    names = [*NEEDED, "draft", "canary"]
    for path in paths:
        for row in dataset.read(path, names):
            try:
                draft = parquet.draft_of(row)
            except Misconfigured as error:
                yield _trouble(path, folder, str(error))
                continue
            if draft.digest != row["draft"] or draft.slug != row["task"]:
                yield _trouble(path, folder, f"{row['task']} names another task than it holds")
    index = sorted((folder / "index").glob("train-*.parquet"))
    told = (row for path in index for row in dataset.read(path))
    wanted = dataset.index_rows(paths)
    if any(one != other for one, other in zip_longest(told, wanted)):
        yield Trouble("index", "it does not say what the data says")


def _trouble(path: Path, folder: Path, reason: str) -> Trouble:
    return Trouble(path.relative_to(folder).as_posix(), printable(reason))
