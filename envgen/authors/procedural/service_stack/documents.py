"""Configuration files as values, so that they can be right, broken and rendered."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Document:
    """A file of the stack: `kind` is ini, json, env or lines.

    `data` is section -> key -> value for ini, key -> value for json and env, and a list of lines
    otherwise. `mode` are its permission bits; `damage` is text put in as it is at the end.
    """

    kind: str
    data: Any
    mode: int = 0o644
    damage: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The content of the file."""
        body = "".join(line + "\n" for line in self._lines())
        return body + "".join(line + "\n" for line in self.damage)

    def words(self) -> list[str]:
        """KEY=VALUE words for an editing command; an ini key has its section before it."""
        if self.kind == "ini":
            return [
                f"{section}.{key}={value}"
                for section, keys in self.data.items()
                for key, value in keys.items()
            ]
        if self.kind == "json":
            return [f"{key}={json.dumps(value)}" for key, value in self.data.items()]
        return [f"{key}={value}" for key, value in self.data.items()]

    def _lines(self) -> list[str]:
        if self.kind == "json":
            return json.dumps(self.data, indent=2).splitlines()
        if self.kind == "env":
            return [f"{key}={value}" for key, value in self.data.items()]
        if self.kind == "lines":
            return list(self.data)
        out: list[str] = []
        for section, keys in self.data.items():
            out += ([""] if out else []) + [f"[{section}]"]
            out += [f"{key} = {value}" for key, value in keys.items()]
        return out


@dataclass(frozen=True)
class Service:
    """A program of the vendor and how it is started and asked."""

    name: str
    config: str
    port: int = 0
    """0: it does not listen (the worker)."""
    udp_port: int = 0


@dataclass
class Stack:
    """A whole stack in its right state, and the words and numbers that the texts need."""

    kind: str
    vendor: str
    services: list[Service]
    documents: dict[str, Document]
    facts: dict[str, Any]
    freezable: tuple[str, ...]
    """Services of which one is frozen when the health page is judged."""
    folders: tuple[str, ...]
    later: dict[str, Any] = field(default_factory=dict)
    """Parts of the right state that are new, so that the handed-over one lacks them."""
