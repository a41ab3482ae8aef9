"""A service that answers questions about a network stored in SQLite, over HTTP."""

import base64
import json
import random
import zlib
from pathlib import Path
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import HOME, InitialState, TaskSpec

from . import nets

MATERIAL = Material(__file__)
GRAPH = (Path(__file__).parent / "graph.py").read_text()
FLAWS: dict[str, dict[str, Any]] = {
    "all_states": {"states": False},
    "other_sides": {},
    "wildcards": {"like": True},
    "read_once": {"fresh": False},
}


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    scenario = {**rng.choice(nets.SCENARIOS)}
    scenario["words"] = rng.sample(scenario["words"], len(scenario["words"]))
    rules = {
        "open": scenario["states"][0], "states": True, "both": rng.random() < 0.5, "fresh": True,
        "like": False, "large": spec.task_complexity == "complex",
        "port": rng.randrange(7000, 9900),
        "key": rng.choice(("steps", "within", "radius")), "text": rng.choice(("text", "q", "part")),
        "program": rng.choice(("answer.py", "serve.py", "netd.py")),
        "database": rng.choice(("net.sql", "network.sql", "graph.sql")),
    }  # fmt: skip
    things, links = nets.rows(rng, scenario, rng.randrange(40, 60))
    lives = [nets.rows(rng, scenario, size) for size in (50, 70)]
    words = {"s": scenario, "r": rules, "who": introduced(spec.persona), "some": list(things)[3]}
    truth = {
        "rules": rules, "scenario": scenario,
        "lives": [_packed(json.dumps([t, n])) for t, n in lives],
        "schema": nets.schema(scenario),
    }  # fmt: skip
    flaws = FLAWS | {"other_sides": {"both": not rules["both"]}}
    path = f"{HOME.lstrip('/')}/{rules['database']}"
    return Composition(
        title=f"Questions about the {scenario['links']} of {scenario['of']}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({path: nets.dump(scenario, things, links)}),
        tests=FileTree({
            "check.py": MATERIAL.text("check.py"),
            "graph.py": GRAPH,
            "truth.json": json.dumps(truth),
        }),
        solution=FileTree({
            "solve.sh": MATERIAL.render("solve.sh.j2", **words),
            str(rules["program"]): MATERIAL.render("service.py.j2", **words),
        }),
        wrong={name: _by_graph(scenario, rules | flaw) for name, flaw in flaws.items()},
        valid={"in_memory": _by_graph(scenario, rules)},
        base="data_querying",
        initial=InitialState(
            present=(f"/{path}",),
            absent=(f"{HOME}/{rules['program']}",),
            tools=("python3", "sqlite3", "curl"),
        ),
    )  # fmt: skip


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _by_graph(scenario: dict[str, Any], rules: dict[str, Any]) -> FileTree:
    """One file that reads all rows and answers from memory."""
    program = MATERIAL.render(
        "valid/service.py.j2", graph=GRAPH, rules=repr(rules), scenario=repr(scenario)
    )
    return FileTree({
        "solve.sh": f"#!/bin/bash\nset -eu\ncp /solution/{rules['program']} .\n",
        str(rules["program"]): program,
    })  # fmt: skip


FAMILY = Family(
    name="graph_service",
    realises={
        "domain": frozenset({"data_querying"}),
        "skill_type": frozenset({"graph_queries"}),
        "skills": frozenset({
            "recursive_queries", "path_finding", "neighbourhood_expansion", "cycle_reporting",
            "parameterised_queries",
        }),
        "language": frozenset({"python"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code_services"}),
        "verifier": frozenset({"multi_protocol"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
