"""Lets the program judge hidden records: acceptable ones, and ones with a single fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from verifiers import Check, Task, adversarial_corpus


def checks(task: Task) -> Iterable[Check]:
    """Both corpora in one run."""
    truth = task.truth
    source = task.read(truth["program"], limit=1 << 20)
    if truth["language"] == "bash":
        bash = source is not None and not re.search(rb"python|perl", source, re.IGNORECASE)
        yield Check("written in Bash", float(bash))
    clean = [line.encode() for line in truth["clean"]]
    malicious = [line.encode() for line in truth["malicious"]]

    def verdicts(samples: Sequence[bytes]) -> list[Any]:
        if source is None:
            return []
        name = truth["program"]
        start = "/bin/bash" if truth["language"] == "bash" else "/usr/bin/python3"
        data = b"".join(sample + b"\n" for sample in samples)
        outcome: Any = task.run([start, name], stdin=data, files={name: source}, timeout=20)
        said = {b"accept": True, b"reject": False}
        return [said.get(line.strip()) for line in outcome.stdout.splitlines()]

    yield from adversarial_corpus.grade_batch("hidden records", verdicts, clean, malicious)
