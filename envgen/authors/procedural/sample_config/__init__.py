"""Stripped programs that hide where they call home: take their configurations out.

Blocks have decoys and older editions beside them; complex tasks ask for a tool that does dumps too.
"""

import json
import random
from typing import Any

from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, TaskSpec

from . import blocks

MATERIAL = Material(__file__)
WRONG = ("any_block", "first_block", "no_default", "only_xor")
HEADER = "sample,host,port,path,minutes,until"
OPENINGS = (
    "A mail filter caught a wave of attachments last night.",
    "Three of our hosts talk to somebody, and the proxy log shows only half of it.",
    "A partner sent us what they found on a build server.",
    "I have to hand a block list to the network team before noon.",
    "The sandbox did not get these to talk, so their data will have to.",
)  # fmt: skip
FAMILIES = ("greylatch", "mothwing", "saltpan", "tinwhistle", "rookery", "undertow", "quillback")


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """Two samples and two ways of hiding (moderate), or five samples and four ways (complex)."""
    complex_ = spec.task_complexity == "complex"
    campaign = _campaign(rng, 4 if complex_ else 2)
    count = 5 if complex_ else 2
    names = sorted({f"{rng.getrandbits(32):08x}.bin" for _ in range(count)})
    family = rng.choice(FAMILIES)
    recipe: dict[str, str] = {}
    rows: list[str] = []
    for name in names:
        data, config = blocks.draw_sample(rng, campaign, not rows)
        rows += blocks.rows(name, config, campaign)
        recipe[f"{name}.c"] = MATERIAL.render(
            "sample.c.j2", data=", ".join(map(str, data)), routines=rng.randrange(3, 9),
            factor=rng.randrange(101, 999, 2), banner=f"svc-{blocks.name(rng)}",
        )  # fmt: skip
    recipe["make.sh"] = "".join(
        f"gcc -O1 -s -Wl,--build-id=none -o /out/{name} {name}.c\n" for name in names
    )
    magic = bytes.fromhex(campaign["magic"])
    words: dict[str, Any] = {
        "who": introduced(spec.persona),
        "complex": complex_, "c": campaign, "samples": names, "family": family,
        "folder": f"{family}-{rng.randrange(10, 99)}", "header": HEADER,
        "table": rng.choice(("indicators.csv", "callers.csv", "blocklist.csv")),
        "opening": rng.choice(OPENINGS), "pattern": "".join(f"\\x{b:02x}" for b in magic),
    }  # fmt: skip
    truth = {"header": HEADER, "rows": rows, "table": words["table"], "campaign": campaign,
             "dumps": 6 if complex_ else 0, "salt": rng.getrandbits(60)}  # fmt: skip
    home = f"home/agent/{words['folder']}"
    return Composition(
        title=f"Configurations of {family} samples",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({f"{home}/FORMAT.md": MATERIAL.render("format.md.j2", **words)}),
        recipes=(Recipe("tools", FileTree(recipe), ("bash", "-eu", "make.sh"), home),),
        tests=FileTree({"check.py": MATERIAL.text("check.py"),
                        "blocks.py": MATERIAL.text("../blocks.py"),
                        "truth.json": json.dumps(truth, indent=1)}),
        solution=_solution(words, ""),
        wrong={way: _solution(words, way) for way in WRONG},
        valid={"pieces": _solution(words, "pieces")},
        base="software_engineering",
        initial=InitialState(
            present=(f"/{home}/FORMAT.md", *(f"/{home}/{name}" for name in names)),
            absent=(f"/home/agent/{words['table']}", "/home/agent/extract.py"),
            tools=("python3", "objdump", "strings", "xxd"),
        ),
        secrets=(rows[0],),
    )  # fmt: skip


def _campaign(rng: random.Random, ways: int) -> dict[str, Any]:
    """What all samples of a family have in common."""
    types = rng.sample(range(1, 200), 5)
    return {
        "magic": "".join(f"{rng.randrange(129, 256):02x}" for _ in range(4)),
        "big": rng.random() < 0.5, "step": rng.randrange(3, 60),
        # The plain XOR alone would not tell who reads on from who does not.
        "versions": sorted({1, 2, 3, 4} if ways == 4 else rng.sample([2, 3, 4], ways)),
        "types": dict(zip(("host", "port", "path", "minutes", "until"), types, strict=True)),
        "usual": rng.choice((443, 8080, 8443, 80)), "defanged": rng.random() < 0.5,
    }  # fmt: skip


def _solution(words: dict[str, Any], way: str) -> FileTree:
    return FileTree({
        "solve.sh": MATERIAL.render("solve.sh.j2", **words),
        "extract.py": MATERIAL.render("extract.py.j2", way=way, **words),
    })  # fmt: skip


FAMILY = Family(
    name="sample_config",
    realises={
        "domain": frozenset({"security"}),
        "skill_type": frozenset({"binary_analysis"}),
        "skills": frozenset({
            "string_extraction", "unpacking", "indicator_extraction", "artefact_carving",
            "pattern_matching",
        }),
        "language": frozenset({"c", "python"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"exact_text"}),
        "fixture": frozenset({"stripped_binary"}),
    },
    compose=compose,
)  # fmt: skip
