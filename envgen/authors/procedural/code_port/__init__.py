"""A small tool in Go, Rust or C++ that has to be had in Python, wrap-around and all.

The sources are given, no compiler is; the port is compared with the tool on fresh lines.
"""

import json
import random
from collections.abc import Callable
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, Limits, TaskSpec

from .commands import STATEFUL, UNKNOWN, WORDS, draw_kinds, draw_numbers

MATERIAL = Material(__file__)
LANGUAGES = {
    "go": {"name": "Go", "ending": "go", "helper": "", "wide": "int32\\|uint"},
    "rust": {"name": "Rust", "ending": "rs", "helper": "text.rs", "wide": "wrapping"},
    "cpp": {"name": "C++", "ending": "cpp", "helper": "text.h", "wide": "int32_t\\|uint"},
}
TOOLS = ("relay", "abacus", "pocketd", "tally", "spool", "codec", "ratchet", "sieve", "gauge")
WAYS = ("no_wrap", "floor", "characters")
EXAMPLES = 3
RUN = "\n\nsys.stdout.buffer.write(answers(sys.stdin.buffer.read()))\n"


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """A tool of four commands (moderate) or seven (complex)."""
    complex_ = spec.task_complexity == "complex"
    kinds = draw_kinds(rng, 7 if complex_ else 4)
    commands = dict(zip(rng.sample(WORDS, len(kinds)), kinds, strict=True))
    numbers = {word: draw_numbers(kind, rng) for word, kind in commands.items()}
    lang = LANGUAGES[spec.language]
    words: dict[str, Any] = {
        "who": introduced(spec.persona),
        "complex": complex_, "commands": commands, "numbers": numbers,
        "stateful": STATEFUL, "unknown": rng.choice(UNKNOWN), "tool": rng.choice(TOOLS),
        "lang": {**lang, "files": len(commands) + 1 + bool(lang["helper"])},
        "features": [f"{word}.{lang['ending']}" for word in commands],
        "examples": EXAMPLES, "opening": rng.randrange(3),
    }  # fmt: skip
    oracle = program(words, "")
    tool, home = words["tool"], f"home/agent/{words['tool']}"
    examples = _examples(words, oracle, rng)
    fewer = {**words, "commands": dict(list(commands.items())[1:])}
    wrong = {way: program(words, way) for way in WAYS}
    wrong |= {"one_less": program(fewer, ""), "recorded": _recorded(examples)}
    return Composition(
        title=f"{lang['name']} tool {tool} in Python",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({
            **{f"{home}/src/{path}": text for path, text in sources(words).items()},
            **{f"{home}/examples/{path}": data for path, data in examples.items()},
        }),
        tests=FileTree({
            "check.py": MATERIAL.text("check.py"),
            "lines.py": MATERIAL.text("lines.py"),
            "oracle.py": oracle,
            "truth.json": json.dumps({"file": f"{tool}.py", "commands": commands,
                                      "salt": rng.getrandbits(60)}),
        }),
        solution=_solution(words, oracle + RUN),
        wrong={name: _solution(words, text + RUN) for name, text in wrong.items()},
        valid={"ctypes": _solution(words, program(words, "ctypes") + RUN)},
        base="software_engineering",
        initial=InitialState(
            present=(f"/{home}/src/main.{lang['ending']}", f"/{home}/examples/1.in"),
            absent=(f"/home/agent/{tool}.py",),
            tools=("python3",),
        ),
        limits=Limits(verify_seconds=240),
    )  # fmt: skip


def sources(words: dict[str, Any]) -> dict[str, str]:
    """The tool as it is handed out."""
    ending, helper = words["lang"]["ending"], words["lang"]["helper"]
    files = {f"main.{ending}": MATERIAL.render(f"main.{ending}.j2", **words)}
    for word, kind in words["commands"].items():
        numbers = words["numbers"][word]
        text = MATERIAL.render(f"feature.{ending}.j2", kind=kind, word=word, p=numbers)
        files[f"{word}.{ending}"] = text.lstrip("\n")
    return files | ({helper: MATERIAL.text(helper)} if helper else {})


def program(words: dict[str, Any], way: str) -> str:
    """The tool in Python; `way` is "" for right, else a way to be wrong, or another right one."""
    features = [
        MATERIAL.render("feature.py.j2", kind=kind, word=word, p=words["numbers"][word])
        for word, kind in words["commands"].items()
    ]
    ends = (MATERIAL.render(name, way=way, **words) for name in ("helpers.py.j2", "main.py.j2"))
    first, last = ends
    return "import sys\n" + "\n".join((first, *features, last))


def _examples(words: dict[str, Any], oracle: str, rng: random.Random) -> dict[str, bytes]:
    """Conversations and their answers."""
    answers: Callable[[bytes], bytes] = _running(oracle)["answers"]
    script = _running(MATERIAL.text("lines.py"))["script"]
    files = {}
    for number in range(1, EXAMPLES + 1):
        said: bytes = script(rng, words["commands"], 24)
        plain = [line for line in said.split(b"\n") if line.isascii() and len(line) < 24]
        files[f"{number}.in"] = b"".join(line + b"\n" for line in plain if line)
        files[f"{number}.out"] = answers(files[f"{number}.in"])
    return files


def _running(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "part"}
    exec(text, space)
    return space


def _recorded(examples: dict[str, bytes]) -> str:
    """A program that knows the answers to the conversations, line by line."""
    known: dict[bytes, bytes] = {}
    for path, data in examples.items():
        if path.endswith(".in"):
            given = examples[path.replace(".in", ".out")].split(b"\n")
            known |= dict(zip(data.split(b"\n"), given, strict=False))
    return (
        f"import sys\n\nKNOWN = {known!r}\n\n\ndef answers(data):\n"
        '    return b"".join(KNOWN.get(one, b"0") + b"\\n" for one in data.splitlines())\n'
    )


def _solution(words: dict[str, Any], text: str) -> FileTree:
    return FileTree({"solve.sh": MATERIAL.render("solve.sh.j2", **words), "port.py": text})


FAMILY = Family(
    name="code_port",
    realises={
        "domain": frozenset({"software_engineering"}),
        "skill_type": frozenset({"language_interoperation"}),
        "skills": frozenset({
            "code_translation", "binary_serialisation", "subprocess_bridges", "checksum_design",
            "byte_level_reasoning", "cli_design",
        }),
        "language": frozenset({"go", "rust", "cpp"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"fuzz_equivalence"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
