"""Pages of the site that code writes: `mkdocs.yml` names this file as a hook.

Each function below returns one page under `reference/` as Markdown. They say what is there now, so
that no list of options, columns or axis values is kept by hand.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args, get_origin

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel

from envgen import axes, prompts
from envgen.audit.probes import PROBES
from envgen.audit.verdict import ORDER, POLICIES
from envgen.authors import procedural
from envgen.cli import app
from envgen.config import RunConfig
from envgen.export import audits, repairs, rollouts, schema
from envgen.share import share

Lines = Iterator[str]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """mkdocs calls this when it has gathered the pages of `docs/`."""
    for name, page in PAGES.items():
        content = "\n".join(page()) + "\n"
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def commands() -> Lines:
    """Every command with its arguments and options."""
    yield "# Commands\n"
    yield "Options stand as `envgen COMMAND --help` prints them.\n"
    yield from _command("envgen", typer.main.get_command(app))


def _command(name: str, command: Any) -> Lines:
    below = getattr(command, "commands", {})
    if name != "envgen":
        yield f"## `{name}`\n"
        yield f"{_joined(command.help)}\n"
        yield from _table(("", "", "default"), (_parameter(p) for p in command.params))
    for title, one in sorted(below.items()):
        yield from _command(f"{name} {title}", one)


def _parameter(found: Any) -> tuple[str, str, str]:
    option = found.opts[0].startswith("-")
    names = ", ".join(f"`{o}`" for o in (*found.opts, *found.secondary_opts))
    plain = found.default is None or found.default is False or callable(found.default)
    default = "" if plain or found.default in ((), [], "") else f"`{found.default}`"
    name = names if option else f"`{found.name.upper()}`"
    return name, _joined(found.help), "required" if found.required else default


def configuration() -> Lines:
    """Every setting, by group."""
    yield "# Settings\n"
    yield "`--config FILE` is a YAML file of these groups; `--set group.key=value` sets one.\n"
    for name, field in RunConfig.model_fields.items():
        yield f"## `{name}`\n"
        group = field.annotation
        if not (isinstance(group, type) and issubclass(group, BaseModel)):
            yield f"{_joined(field.description)}\n"
            continue
        yield f"{_joined(inspect.getdoc(group))}\n"
        rows = (
            (f"`{name}.{key}`", _kind(one.annotation), _default(one), _joined(one.description))
            for key, one in group.model_fields.items()
        )
        yield from _table(("setting", "is", "default", ""), rows)


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return f"`{name.replace('envgen.config.', '')}`"


def _default(field: Any) -> str:
    value = field.get_default(call_default_factory=True)
    return "" if value is None else f"`{value}`"


def labels() -> Lines:
    """The eight labels, in the words in which a critic is told of them, and the policies."""
    yield "# Labels\n"
    yield prompts.render(share("prompts") / "critic_labels.md.j2", labels=ORDER).split("\n", 1)[1]
    yield "\nOf findings that are equally severe the first of these makes the primary label: "
    yield ", ".join(f"`{label}`" for label in ORDER) + ".\n"
    rows = (
        (f"`{name}`", "yes" if p.suspected else "no", "yes" if p.rejects else "no")
        for name, p in POLICIES.items()
    )
    yield from _table(("policy", "suspicions count", "a label rejects"), rows)


def attacks() -> Lines:
    """What each family of attacks covers."""
    yield "# Attacks\n"
    yield "In this order, until one passes: what stands above knows less of the task.\n"
    for probe in PROBES:
        module = inspect.getmodule(probe.attacks)
        yield f"## `{probe.name}`\n"
        yield f"{inspect.getdoc(module)}\n"


def axis_values() -> Lines:
    """The shipped values of the nine axes."""
    catalogue = axes.load()
    yield "# Axis values\n"
    yield "`--axes DIR` takes others; these are the shipped ones.\n"
    for axis in axes.AXES:
        yield f"## `{axis}`\n"
        rows = ((f"`{one.name}`", of, one.text) for of, one in _values(catalogue, axis))
        yield from _table(("value", "of", ""), rows)


def _values(catalogue: axes.Catalogue, axis: str) -> Iterator[tuple[str, axes.Value]]:
    """Values, and what they belong to."""
    if axis in catalogue.flat:
        yield from (("", value) for value in catalogue.flat[axis])
    elif axis == "skills":
        for domain, kinds in catalogue.skills.items():
            for kind, values in kinds.items():
                yield from ((f"`{domain}`, `{kind}`", value) for value in values)
    else:
        for domain, values in getattr(catalogue, axis).items():
            yield from ((f"`{domain}`", value) for value in values)


def families() -> Lines:
    """The procedural families and the axis values that each honours."""
    yield "# Procedural families\n"
    for family in procedural.chosen():
        yield f"## `{family.name}`\n"
        yield f"{inspect.getdoc(inspect.getmodule(family.compose))}\n"
        rows = (
            (axis, ", ".join(f"`{value}`" for value in sorted(values)))
            for axis, values in family.realises.items()
        )
        yield from _table(("axis", "values"), rows)


def columns() -> Lines:
    """Columns and Arrow types of every Parquet file of a run."""
    yield "# Columns\n"
    yield "What the columns of the first two files mean: [The manifest](../manifest.md).\n"
    files = {
        "manifest.parquet": schema.manifest(),
        "rejections.parquet": schema.rejections(),
        "audit.parquet": audits.columns(),
        "repair.parquet": repairs.columns(),
        "rollouts/*.parquet": rollouts.columns(),
    }
    for name, found in files.items():
        yield f"## `{name}`\n"
        yield from _table(("column", "type"), ((f"`{f.name}`", f"`{f.type}`") for f in found))


PAGES: dict[str, Callable[[], Lines]] = {
    "commands": commands,
    "configuration": configuration,
    "labels": labels,
    "attacks": attacks,
    "axes": axis_values,
    "families": families,
    "columns": columns,
}


def _table(head: tuple[str, ...], rows: Any) -> Lines:
    cells = [head, ("---",) * len(head), *rows]
    if len(cells) == 2:
        return
    for row in cells:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""


def _joined(text: str | None) -> str:
    return " ".join((text or "").split())
