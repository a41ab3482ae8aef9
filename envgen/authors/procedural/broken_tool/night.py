"""What a tool with faults does: which inputs show which fault, and the log of a night."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from envgen.authors.procedural.broken_tool.model import Fault, Kind, Params, runner, swap

Run = Callable[[str], str]
DRAWS = 700
PER_FAULT, SOUND, SAMPLES = 9, 6, 3


class Unlucky(Exception):
    """These faults cannot be told apart, or hardly show: take others."""


@dataclass
class Evidence:
    """Inputs by what they show. Those of a fault show that fault, alone where that can be had."""

    faults: list[list[str]]
    sound: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Tool:
    """The tool without faults, with each of them, and with all of them; as Python functions."""

    right: Run
    single: tuple[Run, ...]
    broken: Run


def planted(source: str, faults: Sequence[Fault], language: str) -> str:
    """The source with all these faults. ValueError when two of them need the same place."""
    for fault in faults:
        spot = fault.spots[language]
        source = swap(source, spot.good, spot.bad)
    return source


def edits(source: str, faults: Sequence[Fault], language: str) -> list[tuple[str, str]]:
    """Changes, old text and new, that mend the faults one by one in the order of planting.

    ValueError when that does not lead back to the source: the faults are entangled.
    """
    states = [source]
    for fault in faults:
        states.append(planted(states[-1], [fault], language))
    text, out = states[-1], []
    for fault in faults:
        spot = fault.spots[language]
        old, new = _in_context(text, source, spot.bad, spot.good)
        text = swap(text, old, new)
        out.append((old, new))
    if text != source:
        raise ValueError("faults are entangled")
    return out


def _in_context(text: str, source: str, bad: str, good: str) -> tuple[str, str]:
    """The change with as much of what stands before it as makes it unique."""
    if bad and text.count(bad) == 1:
        return bad, good
    before = source[: source.index(good)]
    for size in range(1, len(before)):
        if text.count(before[-size:] + bad) == 1:
            return before[-size:] + bad, before[-size:] + good
    raise ValueError("nothing to hold on to")


def tool_of(source: str, faults: Sequence[Fault]) -> Tool:
    single = tuple(runner(planted(source, [fault], "python")) for fault in faults)
    return Tool(runner(source), single, runner(planted(source, faults, "python")))


def collect(rng: random.Random, kind: Kind, params: Params, tool: Tool) -> Evidence:
    """Draw inputs until there are enough of each sort."""
    found = Evidence([[] for _ in tool.single])
    shared: list[list[str]] = [[] for _ in tool.single]
    outputs: set[str] = set()
    for _ in range(DRAWS):
        text = kind.draw_input(rng, params)
        if rng.random() < 0.25:  # short ones, or some faults would show in all of them
            text = "".join(text.splitlines(keepends=True)[: rng.randint(1, 3)])
        wanted = tool.right(text)
        if text.strip() and wanted not in outputs:
            outputs.add(wanted)
            _sort(text, wanted, tool, found, shared)
        if len(found.sound) >= SOUND + SAMPLES and min(map(len, found.faults)) >= PER_FAULT:
            break
    for own, other in zip(found.faults, shared, strict=True):
        own += other[: max(0, PER_FAULT - len(own))]
    if len(found.sound) < SAMPLES + 3 or min(map(len, found.faults)) < PER_FAULT:
        raise Unlucky
    return found


def _sort(text: str, wanted: str, tool: Tool, found: Evidence, shared: list[list[str]]) -> None:
    wrong = tool.broken(text) != wanted
    if not wrong and len(found.sound) >= SOUND + SAMPLES:
        return
    shown = [place for place, run in enumerate(tool.single) if run(text) != wanted]
    if not wrong and not shown:
        found.sound.append(text)
    if wrong:
        where = found.faults if len(shown) == 1 else shared
        for place in shown:
            where[place].append(text)


def shrunk(text: str, tool: Tool) -> list[str]:
    """Lines of an input on which the tool is still wrong when no line more can be left out."""
    lines, shorter = text.split("\n")[:-1], True
    while shorter:
        shorter = False
        for place in range(len(lines) - 1, -1, -1):
            rest = lines[:place] + lines[place + 1 :]
            joined = "".join(line + "\n" for line in rest)
            if rest and tool.broken(joined) != tool.right(joined):
                lines, shorter = rest, True
    return lines


@dataclass(frozen=True)
class Job:
    """One run of the tool in the night."""

    name: str
    text: str
    got: str
    wanted: str

    def difference(self) -> tuple[int, str, str]:
        """Number of the first line that is wrong, what it is, and what it should be."""
        got, wanted = self.got.split("\n")[:-1], self.wanted.split("\n")[:-1]
        for place in range(max(len(got), len(wanted))):
            one = got[place] if place < len(got) else "(nothing)"
            two = wanted[place] if place < len(wanted) else "(nothing)"
            if one != two:
                return place + 1, one, two
        return 0, "", ""


def jobs_of(rng: random.Random, tool: Tool, texts: Sequence[str]) -> list[Job]:
    numbers = rng.sample(range(10, 99), len(texts))
    return [
        Job(f"job-{number}", text, tool.broken(text), tool.right(text))
        for number, text in zip(numbers, texts, strict=True)
    ]


def log_of(rng: random.Random, jobs: Sequence[Job]) -> str:
    """The lines of all jobs, each in its own order, mixed."""
    queues = [_lines_of(job) for job in jobs]
    clock, out = rng.randrange(2 * 3600, 4 * 3600), []
    while any(queues):
        queue = rng.choice([one for one in queues if one])
        for _ in range(min(len(queue), rng.randint(1, 3))):
            clock += rng.choice((0, 0, 0, 1, 2))
            hours, seconds = divmod(clock, 3600)
            out.append(f"{hours:02d}:{seconds // 60:02d}:{seconds % 60:02d} {queue.pop(0)}")
    return "\n".join(out) + "\n"


def _lines_of(job: Job) -> list[str]:
    out = [f"{job.name} < {line}" for line in job.text.split("\n")[:-1]]
    out += [f"{job.name} > {line}" for line in job.got.split("\n")[:-1]]
    line, _, wanted = job.difference()
    verdict = f"output line {line} should be: {wanted}" if line else "as it should be"
    return [*out, f"{job.name} ! {verdict}"]
