"""Corpora as a whole: what they share with benchmarks, what repeats in them, how they compare."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envgen.cli.options import DEFAULT_DATA, Data, Json, Run
from envgen.cli.work import leave, print_json, say
from envgen.errors import Misconfigured

if TYPE_CHECKING:
    from envgen.corpus.overlap import Overlap, Summary
    from envgen.corpus.sources import Source, Texts

SHOWN = 20
"""Findings that the terminal shows; --json has all."""
From = Annotated[
    Path | None,
    typer.Option("--from", help="A manifest, data set or folder of tasks in place of a run."),
]
Reject = Annotated[bool, typer.Option("--reject", help="End with 1 when anything is found.")]


def overlap(
    against: Annotated[
        list[Path], typer.Option("--against", help="Benchmark: tasks or text; may be repeated.")
    ],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    place: From = None,
    sizes: Annotated[
        list[int] | None, typer.Option("--n", help="Words in a row; 13 and 8 unless told.")
    ] = None,
    parts: Annotated[
        list[str] | None, typer.Option("--part", help="instruction, tests, solution; all of them.")
    ] = None,
    reject: Reject = False,
    as_json: Json = False,
) -> None:
    """Find words in a row that tasks share with benchmarks (contamination).

    With --reject, a shared run of as many words as the greatest --n ends with 1.
    """
    from envgen.corpus import overlap as overlaps
    from envgen.corpus.sources import PARTS, Source

    wanted = sorted(set(sizes or overlaps.SIZES))
    if not 2 <= wanted[0] <= wanted[-1] <= 100:
        raise Misconfigured("--n: words in a row, from 2 to 100")
    chosen = tuple(dict.fromkeys(_parts(parts or PARTS)))
    index = overlaps.Index(wanted)
    sources = [Source(path, plain=True) for path in against]
    for source in sources:
        for text in source.texts():
            index.add(str(source.place), text)
    corpus, count = _source(data, run, place), 0

    def counted() -> "Iterator[Texts]":
        nonlocal count
        for task in corpus.texts():
            count += 1
            yield task

    found = list(overlaps.overlaps(counted(), index, chosen))
    told = overlaps.summary(found, count, wanted, chosen)
    for source in (corpus, *sources):
        _left_out(str(source.place), source.left_out)
    if as_json:
        rows = [o._asdict() | {"share": o.share} for o in found]
        print_json({"tasks": count, "summary": told, "overlaps": rows})
    else:
        _print_overlaps(found, told)
    leave(1 if reject and any(o.n == wanted[-1] for o in found) else 0)


def duplicates(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    place: From = None,
    part: Annotated[
        str, typer.Option("--part", help="What is compared: instruction, tests, solution or all.")
    ] = "instruction",
    threshold: Annotated[
        float, typer.Option("--threshold", help="Likeness from 0.5 to 1; 1 = the same words.")
    ] = 0.8,
    reject: Reject = False,
    as_json: Json = False,
) -> None:
    """Find tasks that nearly repeat an earlier one of the same corpus."""
    from envgen.corpus import duplicates as alike
    from envgen.terminal import printed

    _parts([part], also=("all",))
    corpus = _source(data, run, place)
    found = alike.duplicates(corpus.texts(), threshold, part)
    _left_out(str(corpus.place), corpus.left_out)
    if as_json:
        pairs = [pair._asdict() for pair in found.pairs]
        told = {"tasks": found.tasks, "threshold": threshold, "part": part, "rate": found.rate}
        print_json({**told, "pairs": pairs})
    else:
        printed(
            f"{part} at least {threshold:g} alike an earlier task's",
            ("tasks", "alike", "share"),
            [(str(found.tasks), str(len(found.pairs)), f"{found.rate:.4f}")],
        )
        shown = [(p.task, p.of, f"{p.alike:.4f}") for p in found.pairs[:SHOWN]]
        if shown:
            printed("most alike", ("task", "repeats", "alike"), shown)
    leave(1 if reject and found.pairs else 0)


def compare(
    corpora: Annotated[
        list[str], typer.Argument(help="Runs by name; manifests, data sets, task folders by path.")
    ],
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Show corpora side by side: size, balance, difficulty, labels, near-duplicates, lengths."""
    from envgen.corpus.compare import compared, side_by_side
    from envgen.terminal import printed

    found = [compared(name, _place(data, name)) for name in corpora]
    for one in found:
        _left_out(one.name, one.left_out)
    if as_json:
        print_json([one._asdict() for one in found])
        return
    for title, rows in side_by_side(found):
        printed(title, ("", *(one.name for one in found)), rows)


def _source(data: Path, run: str, place: Path | None) -> "Source":
    """A corpus that is named by its path, or as a run."""
    from envgen import runs
    from envgen.corpus.sources import Source

    if place is not None:
        return Source(place)
    manifest = runs.known(data, run).manifest
    if not manifest.is_file():
        raise Misconfigured(f"run {run!r} has no manifest: `envgen run` makes the tasks first")
    return Source(manifest)


def _place(data: Path, name: str) -> Path:
    """Where a corpus lies: a run of this name, else this path."""
    from envgen import runs
    from envgen.corpus.sources import MEANT

    run = runs.folder_of(data, name) if runs.NAME.fullmatch(name) else None
    if run and run.manifest.is_file():
        return run.manifest
    try:
        Path(name).stat()
    except OSError as error:
        raise Misconfigured(
            f"{name} is neither a run with a manifest in {data}, nor a path ({error.strerror}): "
            + MEANT
        ) from None
    return Path(name)


def _print_overlaps(found: "Sequence[Overlap]", told: "Sequence[Summary]") -> None:
    from envgen.terminal import printed

    rows = [
        (str(r["n"]), r["part"], str(r["tasks"]), f"{r['share']:.4f}", f"{r['most']:.4f}",
         str(r["longest"]))
        for r in told
    ]  # fmt: skip
    printed(
        "tasks that share words in a row with a benchmark",
        ("n", "part", "tasks", "of all tasks", "most of a task", "longest"),
        rows,
    )
    first = sorted(found, key=lambda o: (-o.n, -o.longest, o.task, o.part))[:SHOWN]
    shown = [
        (f"{o.task}/{o.file}", str(o.n), f"{o.shared} of {o.windows}", str(o.longest), o.against,
         o.words[:100])
        for o in first
    ]  # fmt: skip
    if shown:
        printed("longest", ("where", "n", "shared", "longest", "against", "words"), shown)


def _parts(parts: Sequence[str], also: Sequence[str] = ()) -> Sequence[str]:
    from envgen.corpus.sources import PARTS

    known = (*PARTS, *also)
    if odd := [part for part in parts if part not in known]:
        raise Misconfigured(f"--part {odd[0]}: there are {', '.join(known)}")
    return parts


def _left_out(name: str, told: Sequence[str]) -> None:
    for one in told[:SHOWN]:
        say(f"{name}: left out {one}")
    if (more := len(told) - SHOWN) > 0:
        say(f"{name}: left out {more} more")
