"""Corpora for others: write a data set, and check one."""

import tempfile
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envgen.cli.options import DEFAULT_DATA, Config, Data, Json, Registry, Run, Sets
from envgen.cli.work import again, leave, print_json, say, settings_of, with_kit
from envgen.errors import Misconfigured
from envgen.plural import many

if TYPE_CHECKING:
    from envgen.kit import Kit
    from envgen.pipeline import Stop


def dataset(
    folder: Annotated[Path, typer.Argument(help="Folder of the data set; is replaced.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    manifest: Annotated[
        Path | None, typer.Option("--from", help="A manifest in place of a run's.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="What the card calls it.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also tasks that their audit rejects.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a data set for publication: sharded Parquet, index, card, checksums."""
    from envgen import runs
    from envgen.publish import dataset as datasets

    source = manifest or runs.known(data, run).manifest
    done = datasets.write(source, folder, name or folder.resolve().name, everything=everything)
    if as_json:
        print_json(vars(done))
        return
    say(f"{many(done.written, 'task')} in {many(done.shards, 'file')} below {folder}")
    if done.refused:
        more = many(done.refused, "more is", "more are")
        say(f"{more} rejected by the audit, and left out (see --all)")
    say(f"canary: {done.canary}")
    say(f"SHA-256 of its checksums: {done.checksum} (publish it elsewhere as well)")


def images(
    registry: Registry,
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    manifest: Annotated[
        Path | None, typer.Option("--from", help="A manifest in place of a run's.")
    ] = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Push the images of a manifest's tasks to a registry, and list their digests beside it.

    Where others have that list and the registry, nothing is built:
    `envgen build --from MANIFEST --registry HOST/PREFIX`.
    """
    from envgen import runs
    from envgen.export import parquet
    from envgen.publish import images as pushing

    place = pushing.place_of(registry)
    source = manifest or runs.known(data, run).manifest
    rows = list(parquet.read(source, pushing.NEEDED))
    pushed: list[pushing.Pushed] = []

    async def work(kit: "Kit", stop: "Stop") -> None:
        async with aclosing(pushing.push(rows, place, kit)) as done:
            async for one in done:
                pushed.append(one)
                state = one.trouble or one.images[-1].digest
                say(f"{len(pushed)}/{len(rows)} {one.task}: {state}")
                if stop.drain:
                    return

    with tempfile.TemporaryDirectory(prefix="envgen-push-") as own:
        with_kit(settings_of(config, sets), Path(own), work)
    target = source.with_name(pushing.NAME)
    count = pushing.write(target, [image for one in pushed for image in one.images])
    lost = [one.task for one in pushed if one.trouble]
    if as_json:
        print_json({"list": str(target), "images": count, "not_pushed": lost})
    say(f"{many(count, 'image')} in {place}, bases included; their digests are in {target}")
    leave(1 if lost else 0 if len(pushed) == len(rows) else 3)


def verify(
    folder: Annotated[Path, typer.Argument(help="Folder of a data set.")],
    rebuild: Annotated[
        int, typer.Option("--rebuild", min=0, help="Build so many of its tasks anew.")
    ] = 0,
    data: Data = DEFAULT_DATA,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Check every byte and row of a data set; with --rebuild, prove some of its tasks again.

    Ends with 1 when anything is not as it was published; the file is named.
    """
    from envgen.digest import digest, short
    from envgen.publish import verify as verifying
    from envgen.publish.checksums import NAME, sha256

    if not folder.is_dir():
        raise Misconfigured(f"{folder} is not a folder: name the one that holds {NAME}")
    found = list(verifying.verify(folder))
    for trouble in found:
        say(f"{trouble.file}: {trouble.reason}")
    listed = sha256(folder / NAME)
    if as_json and (found or not rebuild):
        print_json({"checksum": listed, "trouble": [trouble._asdict() for trouble in found]})
    if found:
        say(f"{many(len(found), 'fault')}: this is not what was published")
        leave(1)
    say(f"every byte and row is as it was published; SHA-256 of its checksums: {listed}")
    if rebuild:
        rows = verifying.sample(folder, rebuild)
        own = f"dataset-{short(digest(str(folder.resolve())))}"
        again(rows, own, data, settings_of(config, sets), as_json)
