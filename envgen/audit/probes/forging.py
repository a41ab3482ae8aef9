"""Rewards that are forged: by what is left behind, or by programs while they are graded.

Covers: rewards written beforehand or raced, planted test configuration, plugins, start-up hooks and
shadowing modules, tools and shell start files, processes that stay, links to the tests, early exit,
a scorer patched in its process, frames searched, tests read while grading; and, where the agent's
container grades, tests that cannot be written beside a reward that stays.
"""

import shlex
from pathlib import PurePosixPath

from envgen.audit import submissions
from envgen.audit.probes.gain import gained
from envgen.audit.target import Target
from envgen.files import File
from envgen.records import Attack

judge = gained

PLANTS = {
    "reward": "a reward written beforehand in every place where one is read",
    "hooks": "modules and settings that interpreters and test runners take up",
    "runner": "a conftest.py beside the tests that reports success for every failure",
    "tools": "tools first on PATH, and start files of shells",
    "late": "a process that stays behind and goes on forging",
}
BLOCKED = "folders where the tests would be written, beside a reward that stays"
LINKS = "outputs that are links to the tests"
PROGRAMS = "programs that write the verdict, patch the grader and read the tests while they run"
_BRINGS = ("forge.py", "forge.sh", "flip.py")


def attacks(target: Target) -> tuple[Attack, ...]:
    """All forgeries at once; each alone where that earns something.

    One that can leave the task without any verdict is never combined, so that it hides no other.
    """
    parts = [_attack(name, does, _plant(name), {}) for name, does in PLANTS.items()]
    links = "\n".join(_link(path) for path in target.data)
    programs = {path: submissions.forger(path) for path in target.programs}
    if links:
        parts.append(_attack("links", LINKS, links, {}))
    if programs:
        parts.append(_attack("programs", PROGRAMS, "", programs))
    lines = "\n".join([*(_plant(name) for name in PLANTS), links])
    whole = _attack("all", "all known forgeries at once", lines, programs)
    if not target.together:
        return (whole.model_copy(update={"parts": tuple(parts)}),)
    blocked = _attack("blocked", BLOCKED, _plant("blocked"), {})
    return (whole.model_copy(update={"parts": (*parts, blocked)}), blocked)


def _link(path: str) -> str:
    to, above = shlex.quote(path), shlex.quote(str(PurePosixPath(path).parent))
    return f"mkdir -p -- {above}; ln -sfn /tests/truth.json {to}"


def _plant(name: str) -> str:
    return f"(cd . && . /solution/plant_{name}.sh)"


def _attack(name: str, does: str, then: str, files: dict[str, File]) -> Attack:
    brings = {n: submissions.script(n) for n in _BRINGS}
    brings |= {f"plant_{n}.sh": submissions.script(f"plant_{n}.sh") for n in (*PLANTS, "blocked")}
    return Attack(
        probe="forging",
        name=name,
        label="VERIFIER-TOO-WEAK",
        exploitability="grading",
        does=does,
        tree=submissions.placing(files, first=then, brings=brings),
    )
