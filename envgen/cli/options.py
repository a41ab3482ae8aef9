"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Run = Annotated[str, typer.Option("--run", help="Name of the run.")]
Data = Annotated[Path, typer.Option("--data", help="Folder that holds runs/NAME.")]
Config = Annotated[Path | None, typer.Option("--config", help="YAML file with settings.")]
Sets = Annotated[list[str] | None, typer.Option("--set", help="group.key=value; may be repeated.")]
Number = Annotated[int | None, typer.Option("--n", help="How many specs.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the sampler.")]
Preset = Annotated[str | None, typer.Option("--preset", help="Preset in axes/presets.yaml.")]
Axes = Annotated[str | None, typer.Option("--axes", help="Folder with axis files of your own.")]
Author = Annotated[
    str | None, typer.Option("--author", help="Who writes the tasks: procedural or llm.")
]
Model = Annotated[
    str | None, typer.Option("--model", help="gemini:NAME or openai:NAME, for --author llm.")
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="A server of your own, e.g. http://host:8000/v1.")
]
Budget = Annotated[float | None, typer.Option("--budget", help="Most dollars of the whole run.")]
NoBudget = Annotated[
    bool | None, typer.Option("--no-budget", help="Spend without limit, at any price.")
]
Profile = Annotated[
    str | None,
    typer.Option("--author-profile", help="full, or small for models of one or two billion."),
]
Critic = Annotated[
    str | None,
    typer.Option("--critic", help="gemini:NAME or openai:NAME: a model that reads each task."),
]
CriticProfile = Annotated[
    str | None,
    typer.Option("--critic-profile", help="full, or small for models of one or two billion."),
]
Import = Annotated[
    str | None,
    typer.Option("--import", help="KIND:FOLDER of others' tasks: harbor, tmax or endless."),
]
BaseMap = Annotated[
    list[str] | None,
    typer.Option("--base-map", help="IMAGE=BASE[+package]... of an import; may be repeated."),
]
Wheels = Annotated[
    Path | None, typer.Option("--wheels", help="Folder of wheels for what an import's pip wants.")
]
FetchWheels = Annotated[
    bool | None, typer.Option("--fetch-wheels", help="Let pip fill that folder from its index.")
]
Grading = Annotated[
    str | None,
    typer.Option("--grading", help="fresh (our own), or shared; as the makers do by default."),
]
Registry = Annotated[
    str, typer.Option("--registry", help="HOST/PREFIX or HOST:PORT/PREFIX of a registry.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
DEFAULT_DATA = Path("data")
