"""Which line of which file decides each setting.

`files`: path below the folder of settings -> text. `rules`: order of the sources, which of several
lines wins, and what the machine is.
"""

from collections.abc import Iterator
from typing import Any


def read(
    rules: dict[str, Any], files: dict[str, str], path: str
) -> Iterator[tuple[str, str, str, int]]:
    """(key, value, path, line number) of each line that applies, in their order."""
    on = True
    for number, line in enumerate(files.get(path, "").splitlines(), 1):
        line = line.split("#")[0].strip()
        if line.startswith("["):
            on = applies(rules, line.strip("[]").split())
        elif on and line.startswith("include "):
            yield from read(rules, files, plain(f"{path}/../{line[8:].strip()}"))
        elif on and "=" in line:
            key, _, value = line.partition("=")
            yield key.strip().lower(), value.strip(), path, number


def plain(path: str) -> str:
    """The path without `..` in it."""
    parts: list[str] = []
    for part in path.split("/"):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def applies(rules: dict[str, Any], words: list[str]) -> bool:
    if words == ["all"] or not rules.get("sections", True):
        return True
    kind, value = words
    if kind == "role":
        return bool(value == rules["role"])
    version = tuple(map(int, value.split(".")))
    return bool(rules["version"] >= version if kind == "since" else rules["version"] < version)


def sources(rules: dict[str, Any], files: dict[str, str]) -> list[str]:
    """Paths in the order in which they are read."""
    folder = [
        p for p in files if p.startswith("conf.d/") and p.endswith(".conf") and p[7] not in "._"
    ]
    parts = {
        "folder": sorted(folder, reverse=rules["reverse"]),
        "host": [f"hosts/{rules['host']}.conf"],
        "local": ["local.conf"],
    }
    return [path for part in rules["order"] for path in parts[part]]


def deciding(rules: dict[str, Any], files: dict[str, str]) -> dict[str, tuple[str, str, int]]:
    """key -> (value, path, line number)."""
    found: dict[str, tuple[str, str, int]] = {}
    for path in sources(rules, files):
        for key, value, where, number in read(rules, files, path):
            if key not in found or rules["last"]:
                found[key] = value, where, number
    return found
