"""Requests signed by a shell script and judged by a Python service: two programs that must agree.

Rules are drawn: what is signed in which order, derived keys, time windows, withdrawn keys, replays.
"""

import json
import random
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, TaskSpec

from . import scheme

MATERIAL = Material(__file__)
WRONG = ("no_memory", "no_window", "any_key", "trusting", "suspicious")
MODERATE = ("body changed", "query changed", "too old", "replayed", "key withdrawn", "no signature")
MORE = (
    "from the future", "key out of its time", "header changed", "method changed", "cut signature",
)  # fmt: skip
OPENINGS = (
    "Somebody opened our gates from a parked car by sending an old request again.",
    "An audit found that our boxes send their password with every request.",
    "The last release signs requests, but nobody can say what exactly.",
    "Two suppliers read our signing rules differently, and nothing works any more.",
    "We have to sign what our boxes send before the new law comes into force.",
)  # fmt: skip
"""Why it has to be done."""


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """Rules, keys and one signed example; six kinds of bad requests (moderate) or eleven."""
    complex_ = spec.task_complexity == "complex"
    rules, keys = scheme.draw_rules(rng, complex_), scheme.draw_keys(rng)
    keyid = next(iter(keys))
    when, nonce = scheme.START - rng.randrange(9, 90_000), f"{rng.getrandbits(48):012x}"
    plain = scheme.draw_request(rng)
    example = scheme.signed(plain, rules, keyid, keys[keyid]["secret"], when, nonce)
    yes, no = rng.choice((("accept", "refuse"), ("ok", "bad"), ("pass", "stop"), ("200", "401")))
    words: dict[str, Any] = {
        "who": introduced(spec.persona),
        "complex": complex_, "r": rules, "between": repr(rules["between"]),
        "shell_between": "\n" if rules["between"] == "\n" else "|", "yes": yes, "no": no,
        "folder": rng.choice(("gates", "meters", "boxes", "pumps", "signing")),
        "texts": _texts(rules), "example_key": keyid, "example_when": when,
        "example_nonce": nonce, "opening": rng.choice(OPENINGS),
    }  # fmt: skip
    truth = {"rules": rules, "keys": keys, "kinds": [*MODERATE, *(MORE if complex_ else ())],
             "yes": yes, "no": no, "folder": words["folder"]}  # fmt: skip
    table = ["keyid,secret,from,to,withdrawn"]
    for name, key in keys.items():
        gone = "yes" if key["withdrawn"] else "no"
        table.append(f"{name},{key['secret']},{key['from']},{key['to']},{gone}")
    home = f"home/agent/{words['folder']}"
    given = {"SIGNING.md": MATERIAL.render("signing.md.j2", **words), "example.txt": example,
             "keys.csv": "".join(f"{line}\n" for line in table)}  # fmt: skip
    ways = [*WRONG, "raw_query"] if rules["sorted"] else list(WRONG)
    return Composition(
        title="Signed requests, made in Bash and judged in Python",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({f"{home}/{name}": text for name, text in given.items()}),
        tests=FileTree({"check.py": MATERIAL.text("check.py"),
                        "scheme.py": MATERIAL.text("../scheme.py"),
                        "traffic.py": MATERIAL.text("traffic.py"),
                        "truth.json": json.dumps(truth)}),
        solution=_solution(words, ""),
        wrong={way: _solution(words, way) for way in ways},
        valid={"pure_bash": _solution(words, "pure_bash")},
        base="security",
        initial=InitialState(
            present=tuple(f"/{home}/{name}" for name in given),
            absent=(f"/{home}/sign.sh", f"/{home}/verify.py"),
            tools=("python3", "openssl", "bash", "jq"),
        ),
    )  # fmt: skip


def _texts(rules: dict[str, Any]) -> dict[str, str]:
    names = ", ".join(f"`{name}`" for name in rules["headers"])
    query = "what follows the first `?` of the target (every target has one)"
    if rules["sorted"]:
        query += ", its pieces between `&` sorted by their bytes and joined by `&` again"
    return {
        "method": "method: in upper case.",
        "path": "path: the target up to its first `?`.",
        "query": f"query: {query}.",
        "headers": f"fields: {names} in this order, each as `name:value` with the name in lower "
        "case, joined by `;`. Names are found without regard to case; spaces at the ends of a "
        "value go, and runs of spaces become one. A field that is missing has an empty value.",
        "body": f"body: its {rules['hash'].upper()} in lower-case hex.",
        "time": "time stamp: in digits.",
        "nonce": "nonce: as it is.",
    }


def _solution(words: dict[str, Any], way: str) -> FileTree:
    verify = MATERIAL.render("verify.py.j2", way=way, **words)
    if way in ("trusting", "suspicious"):
        word = words["yes" if way == "trusting" else "no"]
        verify = f"import sys\n\nfor line in sys.stdin:\n    print({word!r})\n"
    sign = "valid/sign.sh.j2" if way == "pure_bash" else "sign.sh.j2"
    return FileTree({
        "solve.sh": MATERIAL.render("solve.sh.j2", **words),
        "verify.py": verify,
        "sign.sh": MATERIAL.render(sign, way=way, **words),
    })  # fmt: skip


FAMILY = Family(
    name="signed_requests",
    realises={
        "domain": frozenset({"security"}),
        "skill_type": frozenset({"cryptography_use"}),
        "skills": frozenset({
            "signature_verification", "key_derivation", "secret_rotation", "nonce_reuse_detection",
            "encoding_awareness", "request_forgery_checks",
        }),
        "language": frozenset({"multi"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"adversarial_corpus"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
