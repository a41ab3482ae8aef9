"""Runs the program with the mended package on fresh requests, and the test on packages of ours."""

from __future__ import annotations

import base64
import difflib
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from verifiers import Check, Outcome, Task, VerifierError, fuzz_equivalence

SOURCE_LIMIT = 200_000


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    home, place = truth["app"], f"{truth['place']}/{truth['package']}"
    names = [n for n in task.listing(f"{home}/{place}", deep=True) if n.endswith(".py")][:50]
    given = {n: unpacked(text) for n, text in truth["given"].items()}
    mine = {n: task.read(f"{home}/{place}/{n}", limit=SOURCE_LIMIT) or b"" for n in names}
    folder = task.scratch(laid(truth, mine))

    def program(stdin: bytes) -> Outcome:
        return task.run(["python3", "main.py"], stdin=stdin, cwd=folder, timeout=5)

    space: dict[str, Any] = {"__name__": "oracle"}
    exec(unpacked(truth["oracle"]), space)
    serve = space["serve"]

    def oracle(text: bytes) -> bytes:
        return "".join(f"{serve(line)}\n" for line in text.decode().split("\n")[:-1]).encode()

    mended = []
    for number, texts in enumerate(truth["faults"], start=1):
        inputs = [text.encode() for text in texts]
        check = fuzz_equivalence.grade(f"requests {number}", program, oracle, inputs, weight=2.0)
        mended.append(check.score)
        yield check
    inputs = [text.encode() for text in truth["sound"]]
    kept = fuzz_equivalence.grade("other requests", program, oracle, inputs)
    yield kept._replace(score=kept.score * max(mended))
    changed = sum(lines_changed(given.get(n, b""), mine.get(n, b"")) for n in {*given, *mine})
    same = task.read(f"{home}/main.py") == unpacked(truth["main"])
    small = changed <= truth["most"] and same
    said = f"{changed} lines changed" + ("" if same else ", and the program")
    yield Check("a small change", float(small) * max(mended), said)
    yield tested(task)


def tested(task: Task) -> Check:
    """Whether the test passes with the right package, and fails with each fault alone."""
    truth = task.truth
    text = task.read(f"{truth['app']}/tests/test_vendored.py", limit=SOURCE_LIMIT)
    if not text:
        return Check("test", 0.0, "missing or empty", 2.0)

    def status(tree: Mapping[str, str]) -> bool:
        package = {name: unpacked(source) for name, source in tree.items()}
        folder = task.scratch({**laid(truth, package), "tests/test_vendored.py": text})
        outcome = task.run(["python3", "tests/test_vendored.py"], cwd=folder, timeout=20)
        if outcome.timed_out or outcome.error:
            return False
        return outcome.code == 0

    if not status(truth["right"]):
        return Check("test", 0.0, "it does not pass where the package is right", 2.0)
    found = sum(not status(tree) for tree in truth["alone"])
    count = len(truth["alone"])
    if not count:
        raise VerifierError("no fault to be found")
    return Check("test", found / count, f"it finds {found} of {count} faults", 2.0)


def laid(truth: Mapping[str, Any], package: Mapping[str, bytes]) -> dict[str, bytes]:
    """The program and a package, as they lie in the program's folder."""
    place = f"{truth['place']}/{truth['package']}"
    files = {f"{place}/{name}": data for name, data in package.items()}
    return {**files, "main.py": unpacked(truth["main"])}


def lines_changed(old: bytes, new: bytes) -> int:
    """Lines added, removed or changed; a changed one counts once."""
    before, after = old.split(b"\n"), new.split(b"\n")
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
