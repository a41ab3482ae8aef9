"""Does what the instruction names exist? Every path and tool is looked for in a fresh container."""

import re
import shlex

from envgen.audit import captured, naming
from envgen.audit.workbench import Workbench
from envgen.plural import many
from envgen.records import AGENT_UID, HOME, Finding, Job, Key, Place, Trial

_TOOLS = """
apache2 awk bc bunzip2 bzip2 cargo clang cmake cron curl dig docker fd ffmpeg file find flock g++
gawk gcc gdb git go grep gunzip gzip iconv java jq less ltrace lua make mawk mysql nc ncat netcat
nginx ninja nmap node npm objdump openssl parallel patch perl php pip psql python3 rabbitmqctl
readelf redis-cli redis-server rg ripgrep ruby rsync rustc sed socat sox sqlite3 ss ssh strace
strings systemctl tar tcpdump tesseract tmux tshark unzip valgrind vim wget xmllint xxd xz yq zip
zsh zstd
"""
TOOLS = frozenset(_TOOLS.split())
MODULES = {"pillow": "PIL"} | {
    name: name for name in ("numpy", "pandas", "scipy", "flask", "requests", "matplotlib")
}
_GIVEN = r"\b(installed|available|at hand|provided|on (the|this) machine|comes with|you have)\b"
_DENIED = re.compile(r"\b(neither|nor|not|no|without|never|cannot|must not)\b", re.I)
_EXAMPLE = re.compile(r"such as|for example|e\.g\.|for instance|will be|would be", re.I)


async def resolved(bench: Workbench) -> tuple[tuple[Finding, ...], tuple[Trial, ...]]:
    """What is named and not there, each with the receipt of the look."""
    text, maker = bench.target.instruction, bench.task.draft.foreign
    paths: list[str] = []
    if bench.outputs:  # else it cannot be told what is given from what is to be made
        made = captured.paths(bench.kit.sandbox.blobs.get(bench.outputs))
        paths = [p for p in given_paths(text, bench.target.home) if p not in made]
    tools = given_tools(text)
    if not paths and not tools:
        return (), ()
    tests = [f"test -e {shlex.quote(p)} || echo {shlex.quote(f'path {p}')}" for p in paths]
    tests += [f"{_lookup(t)} || echo {shlex.quote(f'tool {t}')}" for t in tools]
    job = Job(
        image=bench.task.image.content,
        image_ref=bench.task.image.ref,
        command=("/bin/bash", "-c", "\n".join([*tests, "true"])),
        uid=maker.agent_uid if maker else AGENT_UID,
        env=maker.env + maker.agent_env if maker else (),
        cwd=bench.target.workdir,
        seconds=60,
    )
    key, done = await bench.kit.sandbox.run(job, bench.use("resolving"))
    missing = [line for line in done.output.splitlines() if line.startswith(("path ", "tool "))]
    sought = f"{many(len(paths), 'path')} and {many(len(tools), 'tool')}"
    trial = Trial(
        probe="resolving",
        name="names",
        does=f"{sought} looked for in a fresh container",
        keys=(key,),
        reward=None,
        passed=False,
        note="; ".join(missing)[:500] or "all there",
    )
    return tuple(_finding(line, text, key) for line in missing), (trial,)


def given_paths(text: str, home: str = HOME) -> tuple[str, ...]:
    """Absolute paths that the text speaks of as there: examples and what is to be made left out."""
    examples = " ".join(s for s in naming.statements(text, _EXAMPLE.pattern))
    return tuple(
        path
        for path in naming.paths(text, home)
        if not path.startswith("/tmp/") and path not in naming.paths(examples, home)
    )


def given_tools(text: str) -> tuple[str, ...]:
    """Tools and modules that the text says are there."""
    found = (
        word
        for sentence in naming.statements(text, _GIVEN)
        if not _DENIED.search(sentence)
        for word in re.findall(r"[A-Za-z][\w+-]*", sentence)
        if (word in TOOLS and _as_tool(word, sentence)) or word.casefold() in MODULES
    )
    return tuple(dict.fromkeys(found))


def _as_tool(word: str, sentence: str) -> bool:
    """English words among the tools' names count only in backticks."""
    english = {"file", "find", "go", "make", "node", "patch", "less", "parallel", "cron"}
    return word not in english or f"`{word}`" in sentence


def _lookup(tool: str) -> str:
    if tool.casefold() in MODULES:
        return f"python3 -c 'import {MODULES[tool.casefold()]}' 2> /dev/null"
    alias = {"ripgrep": "rg"}.get(tool, tool)
    return f"command -v {shlex.quote(alias)} > /dev/null"


def _finding(line: str, text: str, key: Key) -> Finding:
    kind, _, name = line.partition(" ")
    shown = name.replace(f"{HOME}/", "~/")
    place = max(text.find(name), text.find(shown), 0)
    return Finding(
        label="INSTR-ENV-MISMATCH",
        code=f"resolving:{kind}",
        severity=2,
        message=f"the instruction speaks of the {kind} {name} as given, and it is not there",
        soundness="unknown",
        exploitability="rollout",
        places=(Place(file="instruction.md", line=text.count("\n", 0, place) + 1),),
        trial="resolving:names",
        proof=(key,),
    )
