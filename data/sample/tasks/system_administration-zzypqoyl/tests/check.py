"""Judges a rule file by hidden packets on both sides of the edges of every statement."""

import base64
import zlib
from collections.abc import Iterable
from typing import Any, Dict

from verifiers import Check, Task, adversarial_corpus

MOST_BYTES = 20_000


def checks(task: Task) -> Iterable[Check]:
    """One check a statement; a file that is no rule file, or too long, earns nothing."""
    truth = task.truth
    fwsim: Dict[str, Any] = {}
    exec(zlib.decompress(base64.b64decode(truth["fwsim"])), fwsim)
    text = task.read_text(truth["file"], limit=MOST_BYTES)
    rules, why = [], task.why(truth["file"])
    try:
        rules = fwsim["parsed"](text or "")
    except ValueError:
        why = "it holds something that is no rule"
    most = truth["most"]
    if len(rules) > most:
        why = f"{len(rules)} rules where {most} are allowed"
    yield Check("a rule file", float(bool(rules) and len(rules) <= most), why, must=True)
    for name, corpus in truth["corpora"].items():
        yield from adversarial_corpus.grade_batch(
            name,
            lambda samples: [fwsim["verdict"](rules, s.decode()) == "allow" for s in samples],
            [one.encode() for one in corpus["allow"]],
            [one.encode() for one in corpus["deny"]],
        )
