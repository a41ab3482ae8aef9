"""Plants: verifiers that are too weak."""

import json
import re
from typing import Any

from envgen.audit.defects.planting import (
    holding,
    paths_of,
    program_of,
    reference_of,
    tested,
    told,
    truth_of,
)
from envgen.files import FileTree
from envgen.records import TaskDraft


def existence(draft: TaskDraft) -> TaskDraft | None:
    """Outputs need only exist."""
    return tested(draft, "existence")


def shape(draft: TaskDraft) -> TaskDraft | None:
    """Outputs need only have the right form."""
    return tested(draft, "shape")


def crash(draft: TaskDraft) -> TaskDraft | None:
    """A program that ends with an error counts as right."""
    program = program_of(draft)
    start = ["python3"] if program.endswith(".py") else ["bash"]
    return tested(draft, "crash", start=start) if reference_of(draft) else None


def keywords(draft: TaskDraft) -> TaskDraft | None:
    """The program is searched for words of the instruction."""
    source = reference_of(draft).decode(errors="replace").lower()
    ticked = re.findall(r"`([A-Za-z_]{4,})`", draft.instruction)
    words = [word for word in dict.fromkeys(ticked) if word.lower() in source][:6]
    return tested(draft, "keywords", words=words) if len(words) >= 2 else None


def seen_only(draft: TaskDraft) -> TaskDraft | None:
    """The program is run on the stream that the agent has, and on no other."""
    truth = truth_of(draft)
    if "quiet" not in truth:
        return None
    return tested(draft, "seen_only")


def loose(draft: TaskDraft) -> TaskDraft | None:
    """Tolerances that everything meets."""
    truth = truth_of(draft)
    if "derived" in truth:
        for column in truth["columns"]:
            column |= {"goal": 1e6, "floor": 2e6}
        for number in truth["derived"]:
            number["tolerance"] = 1e9
    elif "goal" in truth:
        worst = -1e9 if truth["metric"] == "R2" else 1e9
        truth |= {"goal": worst, "floor": 2 * worst}
    else:
        return None
    return _with(draft, {"truth.json": json.dumps(truth)})


def half_corpus(draft: TaskDraft) -> TaskDraft | None:
    """A filter that is shown bad records only."""
    return tested(draft, "half_corpus") if "corpora" in truth_of(draft) else None


def compiles(draft: TaskDraft) -> TaskDraft | None:
    """The program has to compile, and that is all."""
    truth = truth_of(draft)
    if "source" not in truth:
        return None
    before = [] if "params" in truth else [truth["source"].rpartition("/")[2]]
    return tested(draft, "compiles", before=before)


def unprobed(draft: TaskDraft) -> TaskDraft | None:
    """Services that nobody speaks to."""
    return tested(draft, "unprobed") if draft.author.endswith("/service_stack") else None


def port_open(draft: TaskDraft) -> TaskDraft | None:
    """Services whose ports have to be open, and that is all."""
    if not draft.author.endswith("/service_stack") or not truth_of(draft).get("tcp"):
        return None
    return tested(draft, "port_open")


def own_script(draft: TaskDraft) -> TaskDraft | None:
    """A self-test in the agent's folder decides."""
    first = paths_of(draft)[0]
    lines = f'#!/bin/bash\ntest -s "{first}" && test "$(wc -l < "{first}")" -ge 40 || exit 1\n'
    script = f"{draft.workdir}/selftest.sh"
    changed = holding(draft, {script[1:]: lines.encode()}, mode=0o755)
    said = told(
        changed, "`~/selftest.sh` says with its exit status whether the work can be handed in."
    )
    size = len(reference_of(draft).split(b"\n"))
    return tested(said, "own_script", script=script) if size >= 60 else None


def rooted(draft: TaskDraft) -> TaskDraft | None:
    """Programs run as root while they are graded."""
    return tested(draft, "rooted") if program_of(draft) else None


def imported(draft: TaskDraft) -> TaskDraft | None:
    """The agent's module is loaded into the grader."""
    guarded = b"__main__" in reference_of(draft) and program_of(draft).endswith(".py")
    return tested(draft, "imported") if guarded else None


def self_reported(draft: TaskDraft) -> TaskDraft | None:
    """Figures that the agent reports are believed."""
    truth = truth_of(draft)
    if "derived" in truth:
        keys = [number["key"] for number in truth["derived"]]
        return tested(draft, "self_reported", report="derived.json", keys=keys)
    if "validation" in truth:
        keys = list(truth["validation"])
        return tested(draft, "self_reported", report="validation.json", keys=keys)
    return None


def _with(draft: TaskDraft, files: dict[str, Any]) -> TaskDraft:
    return draft.model_copy(update={"tests": FileTree({**draft.tests, **files})})
