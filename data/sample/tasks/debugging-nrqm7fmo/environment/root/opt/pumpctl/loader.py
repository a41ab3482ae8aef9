"""pumpctl 2.3: settings. `loader.py show [FOLDER]` prints those that are in force."""

import sys
from pathlib import Path

VERSION = (2, 3)
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else "/home/agent/pumpctl")


def word(name):
    return (FOLDER / name).read_text().strip()


def applies(words):
    if words == ["all"]:
        return True
    kind, value = words
    if kind == "role":
        return value == word("ROLE")
    asked = tuple(int(part) for part in value.split("."))
    return VERSION >= asked if kind == "since" else VERSION < asked


def entries(path):
    if not path.is_file():
        return
    on = True
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if line.startswith("["):
            on = applies(line.strip("[]").split())
        elif on and line.startswith("include "):
            yield from entries(path.parent / line[8:].strip())
        elif on and "=" in line:
            key, _, value = line.partition("=")
            yield key.strip().lower(), value.strip(), path, number


def sources():
    yield FOLDER / "hosts" / f"{word('HOST')}.conf"
    found = [p.name for p in (FOLDER / "conf.d").glob("*.conf") if p.name[0] not in "._"]
    yield from (FOLDER / "conf.d" / name for name in sorted(found, reverse=True))
    yield FOLDER / "local.conf"


settings = {}
for source in sources():
    for key, value, path, number in entries(source):
        if key not in settings:
            settings[key] = value
for key in sorted(settings):
    print(f"{key}={settings[key]}")
