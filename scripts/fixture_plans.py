"""Plans of all seven kinds, drawn from a seed: what `try_fixtures.py` makes."""

from random import Random
from typing import Any

from fixture_programs import C_HEADER, C_PROBE, C_SOURCE, FRONT, GO, PYTHON_PACKAGE, STORE, C

WORDS = (
    "delivery invoice washer bolt pump valve north basin reading total amount customer street "
    "order quantity blue filter sensor harbour clerk station weekly pressure market garden window"
)
SPEECH = (
    "please call the office before noon; the meeting starts at seven; open the second door; "
    "the water level is rising; turn left at the station; your order is ready; "
    "the password has changed; three boxes are missing; send the report tomorrow; "
    "nobody answered the telephone"
)
Plan = dict[str, Any]


def plans(kind: str, count: int, seed: int = 0) -> list[Plan]:
    """`count` different plans of a kind."""
    return [DRAWN[kind](Random(f"{kind} {seed} {n}"), n) for n in range(count)]


def _phrase(rng: Random, words: int) -> str:
    return " ".join(rng.choice(WORDS.split()).capitalize() for _ in range(words))


def _money(rng: Random) -> str:
    return f"{rng.randint(100, 99999) / 100:.2f}"


def _image(rng: Random, n: int) -> Plan:
    style = ("document", "scan", "chart")[n % 3]
    plan: Plan = {
        "kind": "image", "file": f"{style}.png", "style": style, "title": _phrase(rng, 3),
        "lines": [], "chart": "none", "points": [], "noise": 0, "skew": 0,
    }  # fmt: skip
    if style == "chart":
        most = rng.choice((9, 120, 5000))
        names = rng.sample("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 12)  # noqa: SIM905
        points = [{"label": m, "value": rng.randint(0, most)} for m in names[: rng.randint(3, 12)]]
        points[0]["value"] = most
        return {**plan, "chart": rng.choice(("bars", "line")), "points": points}
    lines = [
        f"{_phrase(rng, rng.randint(1, 2))} | {rng.randint(1, 999)} | {_money(rng)}"
        for _ in range(rng.randint(4, 24))
    ]
    if style == "scan":
        plan |= {"noise": rng.randint(1, 10), "skew": rng.randint(-25, 25)}
    return {**plan, "lines": lines}


def _audio(rng: Random, n: int) -> Plan:
    sounds = []
    for _ in range(rng.randint(2, 5)):
        sort = rng.choice(("speech", "tone", "dtmf"))
        one: Plan = {"sound": sort, "text": "", "hertz": 0, "milliseconds": 0}
        if sort == "speech":
            one["text"] = rng.choice(SPEECH.split("; "))
        elif sort == "dtmf":
            one["text"] = "".join(rng.choice("0123456789*#ABCD") for _ in range(rng.randint(3, 12)))
        else:
            one |= {"hertz": rng.randint(200, 4000), "milliseconds": rng.randint(200, 3000)}
        sounds.append(one)
    return {
        "kind": "audio", "file": "tape.wav", "sounds": sounds, "gap": rng.randint(400, 1500),
        "hiss": rng.randint(0, 10),
    }  # fmt: skip


def _video(rng: Random, n: int) -> Plan:
    events, length = [], rng.randint(80, 300)
    for shows in ("red", "green", "blue", "yellow", "caption"):
        at = rng.randint(0, 30)
        while (end := at + rng.randint(2, 40)) < length - 20:
            text = f"{_phrase(rng, 1)} {rng.randint(1, 99)}".upper() if shows == "caption" else ""
            events.append({"shows": shows, "text": text, "start": at, "length": end - at})
            at = end + rng.randint(2, 60)
    events.append({"shows": "flash", "text": "", "start": length - 15, "length": rng.randint(2, 9)})
    return {"kind": "video", "file": "film.mp4", "length": length, "events": events[-38:]}


def _binary(rng: Random, n: int) -> Plan:
    numbers = {
        "base": rng.randint(2, 16),
        "factor": rng.randrange(3, 999, 2),
        "start": rng.randrange(9999),
        "weight": rng.randint(1, 99),
        "status": rng.randint(1, 9),
    }
    language = "go" if n % 5 == 4 else "c"
    words = rng.sample(WORDS.split(), 3)
    calls: list[Plan] = [{"arguments": [word], "stdin": ""} for word in words]
    calls += [{"arguments": [], "stdin": f"{_phrase(rng, 3)}\n"} for _ in range(2)]
    return {
        "kind": "stripped_binary", "file": "tally", "language": language, "calls": calls,
        "source": (GO if language == "go" else C).format(**numbers),
    }  # fmt: skip


def _package(rng: Random, n: int) -> Plan:
    name, step = f"{rng.choice(WORDS.split())}kit", rng.choice((5, 10, 25, 50))
    plan: Plan = {
        "kind": "vendored_package", "name": name, "version": f"{rng.randint(0, 3)}.{n}.1",
        "about": "A small helper for amounts and checks.",
    }  # fmt: skip
    if n % 3 == 2:
        files = {f"{name}.h": C_HEADER, f"src/{name}.c": C_SOURCE}
        edit = ("bit < 8", "bit < 7") if n % 2 else ("0xa001u", "0x8005u")
        return plan | {
            "language": "c",
            "files": [
                {"path": p, "text": t.format(name=name, step=step)} for p, t in files.items()
            ],
            "defect": _edit(f"src/{name}.c", *edit),
            "probe": C_PROBE.format(name=name),
        }
    edits = (("(cents + step // 2)", "cents"), ("place % len(parts)", "-1 - place % len(parts)"),
             ("total * share // whole", "round(total * share / whole)"))  # fmt: skip
    return plan | {
        "language": "python",
        "files": [
            {"path": "__init__.py", "text": "from .money import rounded, split\n"},
            {"path": "money.py", "text": PYTHON_PACKAGE.format(step=step)},
        ],
        "defect": _edit("money.py", *edits[n % 2]),
        "probe": f"from {name} import rounded, split\n\n"
        "print(split(1000, (1, 1, 1)), [rounded(n) for n in range(0, 99, 7)])\n",
    }


def _edit(path: str, before: str, after: str) -> Plan:
    summary = f"It says {after!r} where {before!r} is right."
    return {"path": path, "before": before, "after": after, "summary": summary}


def _services(rng: Random, n: int) -> Plan:
    ports = rng.sample(range(2000, 30000), 4)
    fronts = [f"{rng.choice(WORDS.split())}_{place}" for place in range(rng.randint(1, 3))]
    services = [{"name": "store", "run": ["python3", "store.py", "store.json"], "port": ports[0],
                 "speaks": "tcp", "ready": ""}]  # fmt: skip
    files = [{"path": "store.py", "text": STORE}, {"path": "front.py", "text": FRONT},
             {"path": "store.json", "text": f'{{"port": {ports[0]}}}\n'}]  # fmt: skip
    for name, port in zip(fronts, ports[1:], strict=False):
        services.append({"name": name, "run": ["python3", "front.py", f"etc/{name}.json"],
                         "port": port, "speaks": "http", "ready": "/health"})  # fmt: skip
        files.append(
            {"path": f"etc/{name}.json", "text": f'{{"port": {port}, "store": {ports[0]}}}\n'}
        )
    wrong = _edit(f"etc/{fronts[0]}.json", f'"store": {ports[0]}', f'"store": {ports[0] + 1}')
    return {
        "kind": "multi_service",
        "services": services,
        "files": files,
        "faults": [wrong][: n % 2],
    }


def _text(rng: Random, n: int) -> Plan:
    holds = ("integer", "cents", "choice", "date", "time", "name", "code")
    columns: list[Plan] = [
        {"name": "id", "holds": "serial", "low": rng.randint(1, 9999), "high": 0, "choices": []}
    ]
    for sort in rng.sample(holds, rng.randint(2, 6)):
        numbers = {"low": rng.randint(-900, 0), "high": rng.randint(1, 90_000)}
        choices = [*rng.sample(WORDS.split(), 4), "two words", 'say "hi", then go']
        columns.append({
            "name": f"{sort}_column", "holds": sort,
            **(numbers if sort in ("integer", "cents") else {"low": 0, "high": 0}),
            "choices": choices if sort == "choice" else [],
        })  # fmt: skip
    form = ("csv", "tsv", "jsonl", "log")[n % 4]
    table = {
        "path": f"data/table.{form}", "form": form, "rows": rng.randint(1, 3000),
        "columns": columns, "missing": rng.randint(0, 20), "repeated": rng.randint(0, 20),
        "damaged": rng.randint(0, 10),
    }  # fmt: skip
    note = {"path": "README.txt", "text": f"{_phrase(rng, 8)}.\n"}
    return {"kind": "text_only", "files": [note], "tables": [table]}


DRAWN = {
    "text_only": _text,
    "image": _image,
    "audio": _audio,
    "video": _video,
    "stripped_binary": _binary,
    "vendored_package": _package,
    "multi_service": _services,
}
