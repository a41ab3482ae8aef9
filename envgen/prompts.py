"""Templates to text. A variable that a template needs and does not get is an error."""

from functools import cache
from pathlib import Path

import jinja2


@cache
def _environment(folder: Path) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # text for a model or an agent, never for a browser
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: Path, **values: object) -> str:
    """The text of a template file.

    Raises:
        jinja2.UndefinedError: the template names a variable that is not in `values`.
    """
    return _environment(template.parent).get_template(template.name).render(**values)
