"""A spec as a light tuple, and the name that follows from its content."""

import hashlib
from base64 import b32encode
from typing import NamedTuple

from envgen.digest import canonical
from envgen.records import TaskSpec


class Row(NamedTuple):
    """A spec for walks of millions; fields and order as in `TaskSpec` and `specs.parquet`."""

    seed: int
    index: int  # type: ignore[assignment]  # the field's name, not tuple.index
    slug: str
    domain: str
    skill_type: str
    skills: tuple[str, ...]
    persona: str
    language: str
    task_complexity: str
    command_complexity: str
    verifier: str
    fixture: str
    catalogue: str


SLUG = Row._fields.index("slug")


def slug_of(row: Row | TaskSpec) -> str:
    """The name of a spec: its domain and eight base32 characters of the SHA-256 of its content.

    The content is the canonical JSON list of every field but the slug, in the order of `Row`.
    """
    fields = row if isinstance(row, Row) else [getattr(row, name) for name in Row._fields]
    content = canonical([*fields[:SLUG], *fields[SLUG + 1 :]])
    return f"{row.domain}-{b32encode(hashlib.sha256(content).digest()[:5]).decode().lower()}"


def spec_of(row: Row) -> TaskSpec:
    """The row as a record."""
    return TaskSpec(**row._asdict())
