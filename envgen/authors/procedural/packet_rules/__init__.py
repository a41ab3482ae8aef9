"""A packet filter after a renumbering: a policy in words, and a rule file that must keep it.

Judged by hidden packets on both sides of the edges of every statement.
"""

import ipaddress
import json
import random
import zlib
from base64 import b64encode

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import File, FileTree
from envgen.records import InitialState, TaskSpec

from . import packets
from .network import Site, draw_site
from .policy import REPLIES, Statement, Writer, around, draw_policy, ordered

MATERIAL = Material(__file__)
FOLDER = "home/agent/fw"
WRONG = ("all_pass", "all_stop", "no_exceptions", "replies_first", "old_numbers", "no_ports")
SAMPLES = 6


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """A site, a policy of three (short) or six statements besides replies, and packets."""
    short = spec.task_complexity == "short"
    site = draw_site(rng, rng.randrange(3, 5) if short else rng.randrange(5, 7))
    writer = Writer(site, rng)
    statements = draw_policy(writer, 3 if short else 6)
    known = Site(site.inside, site.zones, {**site.hosts, **writer.guests}, site.services,
                 site.former)  # fmt: skip
    rules = ordered(statements)
    corpora = _corpora(statements, known, rng)
    samples = _samples(corpora, rng)
    name = rng.choice(("edge", "core", "border", "north", "wing-b"))
    most = len(rules) * 2 + 6
    words = {"who": introduced(spec.persona),
             "short": short, "statements": statements, "inside": site.inside,
             "filter": name, "most": most, "former": site.former,
             "opening": rng.randrange(3)}  # fmt: skip
    tool = _plain("../packets.py") + "\n\n" + _plain("fwsim_main.py")
    old = known.old_rules([r for r in rules if "any" not in r] + ["deny from any to any"])
    texts = {**known.texts(rng), "POLICY.md": MATERIAL.render("policy.md.j2", **words),
             "samples.txt": samples, f"{name}.old": old}  # fmt: skip
    wrong = {
        "all_pass": ["allow from any to any"],
        "all_stop": ["deny from any to any"],
        "no_exceptions": ordered(tuple(_without(s) for s in statements)),
        "replies_first": [r for r in rules if "established" in r or r.startswith("deny")],
        "old_numbers": old.splitlines(),
        "no_ports": [rule.split(" port ")[0] for rule in rules],
    }
    return Composition(
        title=f"Packet filter {name} after the renumbering",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({
            **{f"{FOLDER}/{path}": text for path, text in texts.items()},
            f"{FOLDER}/fwsim": File(f"#!/usr/bin/env python3\n{tool}".encode(), 0o755),
        }),
        tests=FileTree({
            "check.py": MATERIAL.text("check.py"),
            "truth.json": json.dumps({"file": f"fw/{name}.fw", "most": most, "corpora": corpora,
                                      "fwsim": packed(MATERIAL.text("../packets.py"))}),
        }),
        solution=_solution(words, rules),
        wrong={label: _solution(words, wrong[label]) for label in WRONG},
        valid={"halves": _solution(words, _halves(rules))},
        base="system_administration",
        initial=InitialState(
            present=tuple(f"/{FOLDER}/{path}" for path in (*texts, "fwsim")),
            absent=(f"/{FOLDER}/{name}.fw",),
            tools=("python3",),
        ),
        secrets=(f"{rules[0]}\n{rules[1]}",),
    )  # fmt: skip


def packed(program: str) -> str:
    """A program that the image holds as well: nothing of the tests may be read there."""
    return b64encode(zlib.compress(program.encode())).decode()


def _plain(name: str) -> str:
    """A program's text without what its first lines say to our own tools."""
    lines = MATERIAL.text(name).splitlines(True)
    return "".join(line for line in lines if not line.startswith(("# mypy:", "# ruff:")))


def _solution(words: dict[str, object], rules: list[str]) -> FileTree:
    text = "".join(f"{rule}\n" for rule in rules)
    return FileTree({"solve.sh": MATERIAL.render("solve.sh.j2", **words), "rules.fw": text})


def _without(statement: Statement) -> Statement:
    kept = tuple(r for r in statement.rules if r not in statement.exceptions)
    return Statement(statement.name, statement.text, kept, statement.place)


def _halves(rules: list[str]) -> list[str]:
    """The same policy: networks in two halves, and an explicit end."""
    out = []
    for rule in rules:
        words = rule.split()
        place = words.index("from") + 1
        if "/" in words[place] and rule.startswith("allow"):
            for half in ipaddress.IPv4Network(words[place]).subnets():
                out.append(" ".join([*words[:place], str(half), *words[place + 1 :]]))
        else:
            out.append(rule)
    return [*out, "deny from any to any"]


def _corpora(
    statements: tuple[Statement, ...], site: Site, rng: random.Random
) -> dict[str, dict[str, list[str]]]:
    """For each statement the packets around its rules, by what becomes of them."""
    rules = packets.parsed("\n".join(ordered(statements)))
    found: dict[str, dict[str, list[str]]] = {}
    for statement in statements:
        sides: dict[str, dict[str, None]] = {"allow": {}, "deny": {}}
        for _ in range(8 if statement.place == REPLIES else 3):
            for rule in statement.rules:
                for one in around(rule, site, rng):
                    sides[packets.verdict(rules, one)][one] = None
        found[statement.name] = {side: sorted(ones) for side, ones in sides.items()}
    return found


def _samples(corpora: dict[str, dict[str, list[str]]], rng: random.Random) -> str:
    """A few of the packets with what must become of them."""
    known = [
        f"{one} {side}\n" for sides in corpora.values() for side in sides for one in sides[side]
    ]
    return "".join(sorted(rng.sample(sorted(set(known)), SAMPLES)))


FAMILY = Family(
    name="packet_rules",
    realises={
        "domain": frozenset({"system_administration"}),
        "skill_type": frozenset({"network_operation"}),
        "skills": frozenset({
            "firewall_rules", "routing_diagnosis", "name_resolution", "port_management",
            "config_repair",
        }),
        "language": frozenset({"bash", "any"}),
        "task_complexity": frozenset({"short", "moderate"}),
        "command_complexity": frozenset({"bash"}),
        "verifier": frozenset({"adversarial_corpus"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
