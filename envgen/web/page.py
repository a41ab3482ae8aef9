"""Templates to pages that hold all they need, and the policy that keeps a browser from more.

Whatever a template prints goes through `visible` and is escaped: only `Markup` of our own is not.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from envgen.plural import many
from envgen.web.visible import count, figure, size, visible

TEMPLATES = Path(__file__).parent / "templates"


class Page(NamedTuple):
    """A page, and the Content-Security-Policy that it is served under; the same stands in it."""

    html: str
    policy: str


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "bytes": size,
        "figure": figure,
        "count": count,
        "many": many,
        "segment": _segment,
    }
    return environment


def _segment(value: str) -> str:
    """A name as one part of a path."""
    return quote(value, safe="", errors="replace")


def _seen(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def page(template: str, **values: object) -> Page:
    """A page from a template.

    Raises:
        jinja2.UndefinedError: the template names a variable that is not in `values`.
    """
    style, script = _file("style.css"), _file("tables.js")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {_hash(script)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    html = _environment().get_template(template).render(
        **values, style=Markup(style), script=Markup(script), policy=policy
    )  # fmt: skip
    return Page(html, policy)


@cache
def _file(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
