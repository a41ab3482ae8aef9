"""`envgen doctor`: what a run needs, checked by doing it."""

import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from envgen import bases
from envgen.config import RunConfig
from envgen.errors import Misconfigured, Weather
from envgen.ledger import Blobs
from envgen.sandbox.selftest import BASE, MORE, failures, rules

MIN_FREE_GB = 5


class Finding(NamedTuple):
    what: str
    ok: bool
    detail: str = ""


async def examine(settings: RunConfig, data: Path) -> list[Finding]:
    """Engine, disk, root image, and every parity rule, in this order; stops where it must."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            engine = _engine(settings, Path(folder))
        except (Misconfigured, Weather) as error:
            return [Finding("a container engine answers", False, str(error)), _disk(data)]
        try:
            findings = [Finding("a container engine answers", True, engine.description)]
            findings.append(_disk(data))
            findings += await _rules(engine)
        finally:
            engine.close()
    return findings


async def _rules(engine: Any) -> list[Finding]:
    try:
        base = await engine.base(bases.recipe(BASE))
    except (Misconfigured, Weather) as error:
        return [Finding(f"base {BASE}", False, str(error))]
    wanted = rules(engine.cpus)
    broken = await failures(engine, base, wanted)
    names = [*(rule.name for rule in wanted), *MORE]
    return [Finding(name, name not in broken, broken.get(name, "")) for name in names]


def _engine(settings: RunConfig, folder: Path) -> Any:
    from envgen.sandbox.docker import Docker
    from envgen.terminal import say

    return Docker(settings.engine.url, Blobs(folder / "blobs"), 2, "doctor", say=say)


def _disk(data: Path) -> Finding:
    place = next(p for p in (data, *data.resolve().parents) if p.exists())
    free = shutil.disk_usage(place).free >> 30
    mend = "" if free >= MIN_FREE_GB else ": free some space, or use --data on another disk"
    return Finding("disk space", free >= MIN_FREE_GB, f"{free} GB free at {place}{mend}")
