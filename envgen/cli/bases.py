"""The images that tasks stand on."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from envgen.cli.options import DEFAULT_DATA, Config, Data, Json, Sets
from envgen.cli.work import print_json, say, settings_of, with_kit
from envgen.plural import many

if TYPE_CHECKING:
    from envgen.kit import Kit
    from envgen.pipeline import Stop


def build(
    names: Annotated[
        list[str] | None, typer.Argument(help="Bases; all when none is named.")
    ] = None,
    data: Data = DEFAULT_DATA,
    config: Config = None,
    sets: Sets = None,
) -> None:
    """Build bases, and the root image before them (pulled, or bootstrapped from packages)."""
    from envgen import bases

    wanted = names or list(bases.names())
    for name in wanted:
        bases.recipe(name)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        return [await kit.bases.get(name) for name in wanted]

    for base in with_kit(settings_of(config, sets), data / "base-builds", work):
        say(f"{base.recipe.name}: {base.ref}, {many(len(base.lock.splitlines()), 'package')}")


def list_bases(as_json: Json = False) -> None:
    """List the bases and the packages that each names."""
    from envgen import bases

    found = {name: list(bases.contents(name)) for name in bases.names()}
    if as_json:
        print_json(found)
    else:
        for name, packages in found.items():
            typer.echo(f"{name}: {' '.join(packages)}")
