"""A name service to write: DNS from a zone file, and HTTP through which it changes.

Graded from a cold start through both protocols, with fresh names that outlast a hard stop.
"""

import json
import random
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, Limits, TaskSpec

from .zone import draw_zone, questions

MATERIAL = Material(__file__)
WRONG = ("forgetful", "dead_letters", "plain", "open_door", "ports_only")
TOLD = ("dns", "http", "noun", "stats", "header", "zone", "folder")
FEATURES = ("alias", "wildcard", "reverse")
STORIES = (
    ("A branch office loses its link to head office now and then, and its names.", "branch"),
    ("Our lab network is cut off from the company's name servers for good.", "lab"),
    ("The old name server is a machine that nobody dares to touch.", "names"),
    ("A trade fair needs names on its own network for four days.", "fair"),
    ("The ship's network has to resolve its own names at sea.", "ship"),
    ("Scripts change our names all day, and the server we have takes minutes to reload.", "zone"),
)  # fmt: skip
DOMAINS = ("harbor", "quarry", "atelier", "meadow", "foundry", "orchard", "viaduct", "lantern")


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """One zone; two of the particular features (moderate) or all (complex)."""
    complex_ = spec.task_complexity == "complex"
    features = list(FEATURES) if complex_ else rng.sample(FEATURES, rng.choice((1, 2)))
    domain = f"{rng.choice(DOMAINS)}.{rng.choice(('lan', 'internal', 'home', 'intra'))}"
    zone = draw_zone(rng, domain, rng.randrange(7, 11), "wildcard" in features)
    opening, folder = rng.choice(STORIES)
    ports = rng.sample(range(5300, 9900), 2)
    words: dict[str, Any] = {
        "who": introduced(spec.persona), "complex": complex_, "features": features, "zone": domain,
        "folder": folder, "opening": opening, "file": f"{domain.split('.')[0]}.zone",
        "dns": ports[0], "http": ports[1], "noun": rng.choice(("records", "names", "entries")),
        "stats": rng.choice(("stats", "counts", "questions")),
        "header": rng.choice(("X-Key", "X-Door", "X-Secret", "X-Token")),
    }  # fmt: skip
    key = f"{rng.getrandbits(64):016x}"
    plain = [label for label, kind in zone.records if kind == "A" and label.isalpha()]
    # The removed name must have nothing but its A: then it is gone.
    removed = rng.choice([one for one in plain if (one, "AAAA") not in zone.records])
    changed = rng.choice([one for one in plain if one != removed])
    truth = {
        **{name: words[name] for name in TOLD},
        "key": key, "changed": changed, "removed": removed, "start": f"{folder}/start.sh",
        "questions": questions(zone, features, rng), "salt": rng.getrandbits(60),
    }  # fmt: skip
    home = f"home/agent/{folder}"
    return Composition(
        title=f"Name service for {domain}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({f"{home}/{words['file']}": zone.text(rng), f"{home}/key": f"{key}\n"}),
        tests=FileTree({"check.py": MATERIAL.text("check.py"),
                        "truth.json": json.dumps(truth, indent=1)}),
        solution=_solution(words, ""),
        wrong={way: _solution(words, way) for way in WRONG},
        valid={"loop": _solution(words, "loop")},
        base="system_administration",
        initial=InitialState(
            present=(f"/{home}/{words['file']}", f"/{home}/key"),
            absent=(f"/{home}/start.sh",),
            tools=("python3", "curl"),
        ),
        limits=Limits(verify_seconds=240),
    )  # fmt: skip


PORTS_ONLY = """import socket
doors = [socket.socket(socket.AF_INET, kind) for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM)]
doors[0].bind(("127.0.0.1", {dns}))
doors[1].bind(("127.0.0.1", {http}))
doors[1].listen()
while True:
    door, _ = doors[1].accept()
    door.recv(4096)
    door.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}")
    door.close()
"""


def _solution(words: dict[str, Any], way: str) -> FileTree:
    server = MATERIAL.render("server.py.j2", way=way, **words)
    script = MATERIAL.render("solve.sh.j2", **words)
    if way == "ports_only":
        server = PORTS_ONLY.format(**words)
        script = "\n".join(line for line in script.splitlines() if "ask.py" not in line) + "\n"
    return FileTree({"solve.sh": script, "server.py": server, "ask.py": MATERIAL.text("ask.py")})


FAMILY = Family(
    name="name_service",
    realises={
        "domain": frozenset({"system_administration"}),
        "skill_type": frozenset({"service_configuration"}),
        "skills": frozenset({
            "port_management", "service_startup", "protocol_debugging", "name_resolution",
            "graceful_shutdown",
        }),
        "language": frozenset({"python"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code_services"}),
        "verifier": frozenset({"multi_protocol"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
