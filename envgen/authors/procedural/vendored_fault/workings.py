"""A package with some of its faults: files, answers, and requests that tell it apart."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from .packages import Fault, Package

ROOT = Path(__file__).parent / "task" / "packages"
TEXTS, LINES = 12, 5
"""Hidden inputs of each kind, and requests in each."""
DRAWN, ENOUGH = 1200, TEXTS * LINES
Answer = Callable[[str], str]


class Unlucky(Exception):
    """Too few of the drawn requests meet a fault."""


def sources(package: Package, faults: Sequence[Fault] = (), pick: str = "bad") -> dict[str, str]:
    """Module -> text, with each of the faults planted (or mended in other words)."""
    files = {name: (ROOT / package.name / f"{name}.py").read_text() for name in package.modules}
    for fault in faults:
        text = files[fault.module]
        if text.count(fault.good) != 1:
            raise ValueError(f"{package.name}: not there once: {fault.good}")
        files[fault.module] = text.replace(fault.good, getattr(fault, pick))
    return files


def flat(files: dict[str, str]) -> str:
    """All modules as one text, without their imports of each other."""
    lines = [line for text in files.values() for line in text.split("\n")]
    return "\n".join(line for line in lines if not line.startswith("from ."))


def answering(files: dict[str, str]) -> Answer:
    """The `serve` of a package; a crash is an answer too."""
    space: dict[str, object] = {"__name__": "package"}
    exec(compile(flat(files), "package", "exec"), space)
    serve = space["serve"]
    assert callable(serve)

    def answer(line: str) -> str:
        try:
            return str(serve(line))
        except Exception as error:  # noqa: BLE001  a fault may crash; that shows, too
            return f"crash {type(error).__name__}"

    return answer


def meeting(
    rng: random.Random, package: Package, faults: Sequence[Fault]
) -> tuple[list[list[str]], list[str]]:
    """Requests that each fault alone gets wrong, by fault; and some that all together get right."""
    right = answering(sources(package))
    alone = [answering(sources(package, [fault])) for fault in faults]
    broken = answering(sources(package, faults))
    shown: list[list[str]] = [[] for _ in faults]
    sound: list[str] = []
    drawn: set[str] = set()
    for _ in range(DRAWN):
        line = package.request(rng)
        if line in drawn:
            continue
        drawn.add(line)
        wanted, got = right(line), broken(line)
        if got == wanted and len(sound) < ENOUGH:
            sound.append(line)
        for one, lines in zip(alone, shown, strict=True):
            if got != wanted and len(lines) < TEXTS + 4 and one(line) != wanted:
                lines.append(line)
        if len(sound) == ENOUGH and all(len(lines) == TEXTS + 4 for lines in shown):
            return shown, sound
    raise Unlucky


def texts(rng: random.Random, telling: Sequence[str], sound: Sequence[str]) -> list[str]:
    """Inputs for the program: one telling request in each, among sound ones."""
    made = []
    for line in telling[:TEXTS]:
        lines = [line, *rng.sample(sound, LINES - 1)]
        rng.shuffle(lines)
        made.append("".join(f"{one}\n" for one in lines))
    return made
