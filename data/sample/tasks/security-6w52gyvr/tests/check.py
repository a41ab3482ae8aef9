"""Has fresh requests signed by the one program, and a hidden stream judged by the other."""

import json
from collections.abc import Iterable
from typing import List, Optional, Sequence

import scheme  # type: ignore[import-not-found]
import traffic  # type: ignore[import-not-found]

from verifiers import Check, Task, adversarial_corpus

SIGNED, GOOD = 10, 24


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    yield Check("sign.sh", _signing(task), weight=3)
    arrived = traffic.stream(
        task.rng("stream"), truth["rules"], truth["keys"], truth["kinds"], GOOD
    )
    answers = _judged(task, arrived)

    def verdicts(samples: Sequence[bytes]) -> List[Optional[bool]]:
        return [answers[int(sample)] for sample in samples]

    good = [b"%d" % n for n, one in enumerate(arrived) if not one[2]]
    for kind in truth["kinds"]:
        bad = [b"%d" % n for n, one in enumerate(arrived) if one[2] == kind]
        yield from adversarial_corpus.grade_batch(f"verify.py: {kind}", verdicts, good, bad)


def _signing(task: Task) -> float:
    """The share of requests that come back as they must, byte for byte."""
    truth, rng, right = task.truth, task.rng("signing"), 0
    for _ in range(SIGNED):
        text, keyid = scheme.draw_request(rng), rng.choice(sorted(truth["keys"]))
        secret, nonce = f"{rng.getrandbits(160):040x}", f"{rng.getrandbits(48):012x}"
        when = scheme.START + rng.randrange(-scheme.DAY, scheme.DAY)
        wanted = scheme.signed(text, truth["rules"], keyid, secret, when, nonce)
        argv = ["bash", f"{truth['folder']}/sign.sh", keyid, secret, str(when), nonce]
        outcome = task.run(argv, stdin=text.encode(), timeout=10)
        right += outcome.ok and outcome.stdout == wanted.encode()
    return right / SIGNED


def _judged(task: Task, arrived: "list[tuple[int, str, str]]") -> List[Optional[bool]]:
    lines = "".join(json.dumps({"at": at, "request": text}) + "\n" for at, text, _ in arrived)
    argv = ["python3", f"{task.truth['folder']}/verify.py"]
    outcome = task.run(argv, stdin=lines.encode(), timeout=30)
    words = {task.truth["yes"]: True, task.truth["no"]: False}
    given = outcome.text.split("\n")
    if not outcome.ok or given.pop() != "" or len(given) != len(arrived):
        return [None] * len(arrived)
    return [words.get(word) for word in given]
