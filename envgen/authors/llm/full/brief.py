"""The form of the first call: what a task is, before any of its files are written."""

import re
from typing import Self

from pydantic import Field, model_validator

from envgen.authors.fixtures.parts import Part
from envgen.bases import PACKAGE

MOST_FILES = 16
_OPEN = re.compile(
    r"/(home/agent|opt|srv|data|var/log/[a-z0-9_-]+|etc/[a-z][a-z0-9._-]*)/[A-Za-z0-9._/-]+"
)
_LINE = re.compile(r"[^\x00-\x1f\x7f]*")


class FileNote(Part):
    """One file that is to be written."""

    path: str = Field(max_length=150)
    """Absolute path."""
    purpose: str = Field(max_length=600)
    """What is in it."""


class Brief(Part):
    """What a task is. Bounded everywhere; nothing has a default."""

    title: str = Field(min_length=4, max_length=100)
    goal: str = Field(min_length=40, max_length=6000)
    truth: str = Field(min_length=20, max_length=8000)
    files: tuple[FileNote, ...] = Field(max_length=MOST_FILES)
    tables: bool
    packages: tuple[str, ...] = Field(max_length=6)
    setup: tuple[str, ...] = Field(max_length=8)
    absent: tuple[str, ...] = Field(max_length=12)
    tools: tuple[str, ...] = Field(max_length=12)
    secrets: tuple[str, ...] = Field(max_length=12)
    agent_seconds: int = Field(ge=30, le=3600)
    verify_seconds: int = Field(ge=20, le=600)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for path in [file.path for file in self.files]:
            if not _OPEN.fullmatch(path) or ".." in path:
                raise ValueError(f"{path!r} is not a place for a file of the environment")
        for path in self.absent:
            if not path.startswith("/home/agent/") or ".." in path:
                raise ValueError(f"{path!r}: the agent works below /home/agent only")
        if odd := [p for p in self.packages if not PACKAGE.fullmatch(p)]:
            raise ValueError(f"{odd[0]!r} is not the name of a Debian package")
        if odd := [c for c in self.setup if not _LINE.fullmatch(c) or len(c) > 1000]:
            raise ValueError(f"{odd[0][:60]!r} is not one short line")
        if odd := [t for t in self.tools if not re.fullmatch(r"[A-Za-z0-9._+-]{1,40}", t)]:
            raise ValueError(f"{odd[0]!r} is not the name of a program")
        if odd := [s for s in self.secrets if len(s) < 8]:
            raise ValueError(f"the secret {odd[0]!r} is too short to be looked for")
        if not _LINE.fullmatch(self.title):
            raise ValueError("the title is one plain line")
        return self
