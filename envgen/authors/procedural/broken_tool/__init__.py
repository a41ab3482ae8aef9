"""A small tool with planted faults: mend it so that it does what its README says."""

import base64
import json
import random
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from envgen.authors.procedural.broken_tool import night
from envgen.authors.procedural.broken_tool.kinds import KINDS
from envgen.authors.procedural.broken_tool.model import (
    Fault,
    Kind,
    Params,
    runner,
    swap,
    with_params,
)
from envgen.authors.procedural.broken_tool.night import Evidence, Job, Tool
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, Limits, TaskSpec

MATERIAL = Material(__file__)
ENDINGS = {"python": "py", "c": "c"}
SLACK = 2
"""Lines that a reproduction may have more than ours."""
TRIES = 60


@dataclass(frozen=True)
class Case:
    """One kind of tool with its faults, and all that follows from them."""

    kind: Kind
    language: str
    params: Params
    faults: tuple[Fault, ...]
    python: str
    source: str
    tool: Tool
    evidence: Evidence
    edits: list[tuple[str, str]]

    @property
    def broken(self) -> str:
        return night.planted(self.source, self.faults, self.language)


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """One tool with one fault (moderate), or with two or three (complex)."""
    case = _draw(
        rng, spec.language, 1 if spec.task_complexity == "moderate" else rng.choice((2, 3))
    )
    texts = [group.pop(0) for group in case.evidence.faults]
    good = [case.evidence.sound.pop(0) for _ in range(night.SAMPLES)]
    jobs = night.jobs_of(rng, case.tool, [*texts, *good[:2]])
    failed, repro = jobs[: len(texts)], night.shrunk(texts[0], case.tool)
    words = _words(spec, case, failed, len(repro) + SLACK, rng)
    home, source = f"home/agent/{words['tool']}", str(words["source"])
    samples = {
        f"{home}/samples/{number:02d}.{end}": made(text)
        for number, text in enumerate(good, start=1)
        for end, made in (("in", str), ("out", case.tool.right))
    }
    rng.shuffle(jobs)
    seen = {text: case.tool.right(text) for text in [*texts, *good]}
    readme = MATERIAL.render(f"readme/{case.kind.name}.md.j2", **words)
    files = {
        f"{home}/{source}": case.broken,
        f"{home}/README.md": readme,
        f"{home}/ISSUE.md": MATERIAL.render("issue.md.j2", **words),
        f"{home}/logs/{words['log']}": night.log_of(rng, jobs),
        **samples,
    }
    return Composition(
        title=f"Wrong output of {words['tool']}, which {case.kind.about}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree(files),
        tests=FileTree(
            {"check.py": MATERIAL.text("check.py"), "truth.json": _truth(case, words, good)}
        ),
        solution=_reference(case, words),
        wrong=_wrong(case, words, repro, seen),
        valid={"other_words": _given(words, _other(case), repro)},
        base="debugging",
        initial=InitialState(
            present=tuple(f"/{path}" for path in files),
            absent=(f"/{home}/repro.in",),
            tools=("python3",) if spec.language == "python" else ("gcc",),
        ),
        secrets=(case.evidence.faults[0][0],),
        limits=Limits(verify_seconds=300),
    )


# -- drawing ----------------------------------------------------------------------------------


def _draw(rng: random.Random, language: str, count: int) -> Case:
    """A case whose faults can be planted together and show in enough inputs."""
    kind = rng.choice([kind for kind in KINDS if language in kind.languages])
    params = kind.draw_params(rng)
    python = _source(kind, "python", params)
    source = _source(kind, language, params)
    fitting = [fault for fault in kind.faults if language in fault.spots]
    for _ in range(TRIES):
        faults = tuple(rng.sample(fitting, count))
        try:
            edits = night.edits(source, faults, language)
            tool = night.tool_of(python, faults)
            evidence = night.collect(rng, kind, params, tool)
        except (ValueError, night.Unlucky):
            continue
        if not _whole_lines_first(evidence):
            continue
        return Case(kind, language, params, faults, python, source, tool, evidence, edits)
    raise ValueError(f"{kind.name}: no faults fit")


def _source(kind: Kind, language: str, params: Params) -> str:
    text = MATERIAL.text(f"tools/{kind.name}.{ENDINGS[language]}")
    return with_params(text, language, params)


def _whole_lines_first(evidence: Evidence) -> bool:
    """Inputs for log and samples end with one line feed: put such first, if there are enough."""
    needed = [(group, 1) for group in evidence.faults] + [(evidence.sound, night.SAMPLES)]
    for group, count in needed:
        group.sort(key=lambda text: not text.endswith("\n") or text.endswith("\n\n"))
        if any(not text.endswith("\n") or text.endswith("\n\n") for text in group[:count]):
            return False
    return True


def _words(
    spec: TaskSpec, case: Case, failed: list[Job], repro_lines: int, rng: random.Random
) -> dict[str, object]:
    kind, name = case.kind, rng.choice(case.kind.names)
    ending = ENDINGS[spec.language]
    line, got, wanted = failed[0].difference()
    program = spec.language == "c"
    return {
        "spec": spec, "who": introduced(spec.persona),
        "p": case.params, "tool": name, "source": f"{name}.{ending}",
        "ending": ending, "about": kind.about, "owner": rng.choice(kind.owners),
        "opening": rng.randrange(3), "faults": len(case.faults), "repro_lines": repro_lines,
        "log": rng.choice(("nightly.log", "night.log", "batch.log", "jobs.log")),
        "title": rng.choice(("Wrong results", f"{name} prints wrong output", "Output not as in "
                             "README", f"{name}: results differ")),
        "symptom": case.faults[0].symptom, "job": failed[0].name, "jobs": [j.name for j in failed],
        "line": line, "got": got, "wanted": wanted, "limit": _limit(case),
        "original": "/tmp/original" if program else "python3 /tmp/original.py",
        "mended": "/tmp/mended" if program else f"python3 {name}.py",
    }  # fmt: skip


def _limit(case: Case) -> str:
    cents = case.params.get("LIMIT", 0)
    return f"{int(str(cents)) / 100:.2f}"


# -- tests and solutions ----------------------------------------------------------------------


def _truth(case: Case, words: Mapping[str, object], samples: list[str]) -> str:
    """Sources are packed: most of their lines stand in the image as well, rightly."""
    truth = {
        "source": f"{words['tool']}/{words['source']}",
        "repro": f"{words['tool']}/repro.in",
        "repro_lines": words["repro_lines"],
        "oracle": _packed(case.python),
        "right": _packed(case.source),
        "broken": _packed(case.broken),
        "faults": [group[: night.PER_FAULT] for group in case.evidence.faults],
        "sound": [*samples, *case.evidence.sound[: night.SOUND]],
    }
    return json.dumps(truth) + "\n"


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _reference(case: Case, words: Mapping[str, object]) -> FileTree:
    fixes = {
        f"fix-{number}.json": json.dumps({"old": old, "new": new}) + "\n"
        for number, (old, new) in enumerate(case.edits, start=1)
    }
    return FileTree({
        "solve.sh": MATERIAL.render("solve.sh.j2", **words),
        "edit.py": MATERIAL.text("edit.py"),
        "shrink.py": MATERIAL.text("shrink.py"),
        **fixes,
    })  # fmt: skip


def _other(case: Case) -> str:
    """The source mended in other words than ours."""
    source = case.source
    for fault in case.faults:
        spot = fault.spots[case.language]
        source = swap(source, spot.good, spot.other)
    return source


def _given(words: Mapping[str, object], program: str | None, repro: list[str] | None) -> FileTree:
    files = {
        "solve.sh": MATERIAL.render(
            "given.sh.j2", **words, replaced=program is not None, repro=repro is not None
        )
    }
    if program is not None:
        files[str(words["source"])] = program
    if repro is not None:
        files["repro.in"] = "".join(line + "\n" for line in repro)
    return FileTree(files)


def _wrong(
    case: Case, words: Mapping[str, object], repro: list[str], seen: Mapping[str, str]
) -> dict[str, FileTree]:
    wrong = {
        "untouched": _given(words, None, repro),
        "special_case": _given(words, _special_case(case, seen), repro),
        "other_mistake": _given(words, _other_mistake(case), repro),
        "no_reproduction": _given(words, case.source, None),
    }
    if len(case.faults) > 1:
        left = night.planted(case.source, case.faults[-1:], case.language)
        wrong["one_left"] = _given(words, left, repro)
    return wrong


def _special_case(case: Case, seen: Mapping[str, str]) -> str:
    """A tool that knows the answers to all inputs that were handed out."""
    if case.language == "c":
        quoted = [[json.dumps(text) for text in pair] for pair in seen.items()]
        return MATERIAL.render("wrong/special_case/main.c.j2", seen=quoted)
    old = "    sys.stdout.write(run(sys.stdin.read()))\n"
    new = "    text = sys.stdin.read()\n    sys.stdout.write(KNOWN.get(text) or run(text))\n"
    return swap(case.broken, old, f"    KNOWN = {dict(seen)!r}\n{new}")


def _other_mistake(case: Case) -> str:
    """All planted faults mended, and another one made that shows in the hidden inputs."""
    hidden = [text for group in (*case.evidence.faults, case.evidence.sound) for text in group]
    for fault in case.kind.faults:
        if fault in case.faults or case.language not in fault.spots:
            continue
        run = runner(night.planted(case.python, [fault], "python"))
        if any(run(text) != case.tool.right(text) for text in hidden):
            return night.planted(case.source, [fault], case.language)
    raise ValueError("no other mistake shows")


FAMILY = Family(
    name="broken_tool",
    realises={
        "domain": frozenset({"debugging"}),
        "skill_type": frozenset({"fault_localisation"}),
        "skills": frozenset({
            "log_reading", "minimal_reproduction", "boundary_conditions", "patch_writing",
            "regression_checking", "code_reading",
        }),
        "language": frozenset({"python", "c"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"fuzz_equivalence"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
