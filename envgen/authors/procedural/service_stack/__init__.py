"""A small stack of daemons, handed over broken, that must come up cold from one start script.

Four kinds of stack speak RESP, HTTP, SMTP, DNS, a line protocol and UDP; the vendor's programs are
in the image, the configuration and the start script are the agent's. Graded through the protocols,
with fresh values that pass through several services and survive a hard stop.
"""

import json
import random
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import File, FileTree
from envgen.records import InitialState, Limits, TaskSpec

from .documents import Stack
from .faults import Handover, hand_over
from .stacks import HOME, draw_stack

MATERIAL = Material(__file__)
PROGRAMS = {
    "links": ("store", "links", "gate"),
    "jobs": ("store", "jobs", "worker", "gate"),
    "mail": ("zones", "mail", "boxes", "gate"),
    "meters": ("store", "meter", "board", "gate"),
}
NAMES = {
    "links": "link shortener",
    "jobs": "text job queue",
    "mail": "mail intake",
    "meters": "telemetry board",
}
WRONG = ("stub_health", "no_restart", "ports_only", "static_answers")


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """One stack, its faults, and what it must do in the end."""
    stack = draw_stack(rng)
    intricate = spec.task_complexity == "intricate"
    found, faults = hand_over(
        stack, rng.randrange(8, 10) if intricate else rng.randrange(5, 7), rng
    )
    words = _words(spec, stack, found, intricate)
    return Composition(
        title=f"Bring up a {NAMES[stack.kind]}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=_environment(stack, found, words),
        tests=FileTree(
            {
                "check.py": MATERIAL.text("check.py"),
                "talk.py": MATERIAL.text("talk.py"),
                f"checks_{stack.kind}.py": MATERIAL.text(f"checks_{stack.kind}.py"),
                "truth.json": json.dumps(_truth(stack, words, faults, rng), indent=1),
            }
        ),
        solution=_solution("solve.sh", stack, words),
        wrong={name: _solution(f"wrong/{name}/solve.sh", stack, words) for name in WRONG},
        valid={"supervisor": _solution("valid/supervisor/solve.sh", stack, words)},
        base="system_administration",
        initial=InitialState(
            present=(
                f"{HOME}/start.sh",
                f"/srv/{stack.vendor}/README.md",
                *(f"/srv/{stack.vendor}/{p}.py" for p in PROGRAMS[stack.kind]),
            ),
            absent=(f"{HOME}/healthd.py", f"{HOME}/stackcheck"),
            tools=("python3", "curl", "nc", "ss"),
        ),
        limits=Limits(agent_seconds=900, verify_seconds=240),
    )


def _words(spec: TaskSpec, stack: Stack, found: Handover, intricate: bool) -> dict[str, Any]:
    probed = [s.name for s in stack.services if s.name != "gate"]
    return {
        "who": introduced(spec.persona),
        "kind": stack.kind,
        "what": NAMES[stack.kind],
        "vendor": f"/srv/{stack.vendor}",
        "home": HOME,
        "f": stack.facts,
        "services": stack.services,
        "probed": probed,
        "programs": PROGRAMS[stack.kind],
        "documents": stack.documents,
        "folders": stack.folders,
        "found": found,
        "two_languages": spec.language == "multi",
        "intricate": intricate,
        "password": stack.documents["store.secret"].data[0] if stack.kind != "mail" else "",
    }


def _environment(stack: Stack, found: Handover, words: dict[str, Any]) -> FileTree:
    home, vendor = HOME.lstrip("/"), f"srv/{stack.vendor}"
    files: dict[str, File | bytes | str] = {
        f"{vendor}/{name}.py": MATERIAL.text(f"vendor/{name}.py")
        for name in ("base", *PROGRAMS[stack.kind])
    }
    files[f"{vendor}/README.md"] = MATERIAL.render("vendor/README.md.j2", **words)
    for path, document in found.documents.items():
        files[f"{home}/{path}"] = File(document.text().encode(), document.mode)
    start = MATERIAL.render("handed_start.sh.j2", **words)
    files[f"{home}/start.sh"] = File(start.encode(), 0o755)
    for name, lines in found.logs.items():
        files[f"{home}/log/{name}.log"] = "".join(f"{line}\n" for line in lines)
    for path, text in found.left_over.items():
        files[f"{home}/{path}"] = text
    return FileTree(files)


def _truth(
    stack: Stack, words: dict[str, Any], faults: tuple[str, ...], rng: random.Random
) -> dict[str, Any]:
    return {
        "kind": stack.kind,
        "home": HOME,
        "facts": stack.facts,
        "password": words["password"],
        "probed": words["probed"],
        "two_languages": words["two_languages"],
        "tcp": sorted([s.port for s in stack.services if s.port] + [stack.facts["health"]]),
        "udp": sorted(s.udp_port for s in stack.services if s.udp_port),
        "frozen": _frozen(stack, rng),
        "faults": faults,
        "salt": rng.randrange(1 << 62),
    }


def _frozen(stack: Stack, rng: random.Random) -> dict[str, Any]:
    """The service that is stopped in its tracks, found by its port."""
    name = rng.choice(stack.freezable)
    service = next(s for s in stack.services if s.name == name)
    table = "tcp" if service.port else "udp"
    return {"name": name, "table": table, "port": service.port or service.udp_port}


def _solution(script: str, stack: Stack, words: dict[str, Any]) -> FileTree:
    tree = {
        "solve.sh": MATERIAL.render(script, **words),
        "healthd.py": MATERIAL.render("healthd.py.j2", **words),
        "stackcheck": MATERIAL.render("stackcheck.j2", **words),
        "start.sh": MATERIAL.render("start.sh.j2", **words),
    }
    if script.startswith("wrong/"):
        tree["reference.sh"] = MATERIAL.render("solve.sh", **words)
    if not script.startswith("valid/"):
        tree["edit.py"] = MATERIAL.text("edit.py")
    else:
        words = {
            **words,
            "files_json": _moved(stack),
            "probe_table": repr(_probes(stack, words["password"])),
        }
        tree["healthd.py"] = MATERIAL.render("valid/supervisor/healthd.py.j2", **words)
        tree["supervise.py"] = MATERIAL.render("valid/supervisor/supervise.py.j2", **words)
    if "static_answers" in script:
        tree["static.py"] = MATERIAL.render("wrong/static_answers/static.py.j2", **words)
    return FileTree(tree)


def _probes(stack: Stack, password: str) -> dict[str, tuple[int, bytes, bytes]]:
    """Service -> port (negative: UDP), what to send, what to find; for the valid alternative."""
    facts = stack.facts
    login, ping = f"AUTH {password}\r\n".encode(), b"GET /ping HTTP/1.0\r\n\r\n"
    name = b"".join(bytes([len(p)]) + p.encode() for p in facts.get("domain", "").split("."))
    query = b"\0\7\1\0\0\1" + bytes(6) + name + b"\0\0\x0f\0\1"
    known = {
        "store": (facts.get("store", 0), login + b"PING\r\n", b"PONG"),
        "worker": (
            facts.get("store", 0),
            login + f"EXISTS {facts.get('heartbeat')}\r\n".encode(),
            b":1",
        ),
        "zones": (-facts.get("dns", 0), query, b""),
        "mail": (facts.get("smtp", 0), b"", b"220"),
        "meter": (facts.get("query", 0), b"PING\n", b"PONG"),
    }
    return {
        s.name: known.get(s.name, (facts["api"], ping, b"pong"))
        for s in stack.services
        if s.name != "gate"
    }


def _moved(stack: Stack) -> str:
    """All configuration but the store's secret, as it reads from the folder `live`."""
    moved = {}
    for path, document in stack.documents.items():
        if path != "store.secret":
            text = document.text()
            for name in ("zones", "boxes", "aliases", "tokens"):
                text = text.replace(f"{HOME}/{name}", f"{HOME}/live/{name}")
            moved[path] = [text.splitlines(), document.mode]
    return json.dumps(moved)


FAMILY = Family(
    name="service_stack",
    realises={
        "domain": frozenset({"system_administration"}),
        "skill_type": frozenset({"service_configuration"}),
        "skills": frozenset(
            {
                "port_management",
                "service_startup",
                "config_repair",
                "health_checking",
                "protocol_debugging",
                "log_inspection",
            }
        ),
        "language": frozenset({"python", "multi"}),
        "task_complexity": frozenset({"complex", "intricate"}),
        "command_complexity": frozenset({"bash_code_services"}),
        "verifier": frozenset({"multi_protocol"}),
        "fixture": frozenset({"multi_service"}),
    },
    compose=compose,
)
