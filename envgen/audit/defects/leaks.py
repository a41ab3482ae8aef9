"""Plants: answers that lie in the image. They pass the leak scan, which was told of no secret."""

import base64
import gzip
import hashlib
import struct
import zlib

from envgen.audit.defects.planting import (
    holding,
    program_of,
    reference_of,
    truth_of,
)
from envgen.records import TaskDraft

PLACE = "var/lib/refresh"


def answers_of(draft: TaskDraft) -> dict[str, bytes]:
    """Right contents by file name, as far as the tests know them."""
    truth = truth_of(draft)
    if "derived" in truth:
        columns = truth["columns"]
        rows = zip(truth["times"], *(c["values"] for c in columns), strict=True)
        head = ",".join([truth["time_column"], *(c["name"] for c in columns)])
        lines = [head, *(",".join(f"{value:g}" if n == 0 else str(value)
                                  for n, value in enumerate(row)) for row in rows)]  # fmt: skip
        return {"trace.csv": ("\n".join(lines) + "\n").encode()}
    if "holdout_truth" in truth:
        pairs = zip(truth["holdout_ids"], truth["holdout_truth"], strict=True)
        lines = [f"row_id,{truth['target']}", *(f"{name},{value}" for name, value in pairs)]
        return {"predictions.csv": ("\n".join(lines) + "\n").encode()}
    if "report" in truth:
        return {"old_filter.csv": ("\n".join(truth["report"]) + "\n").encode()}
    return {}


def answer_file(draft: TaskDraft) -> TaskDraft | None:
    """The right file, forgotten in a folder that nobody speaks of."""
    answers = answers_of(draft)
    files = {f"{PLACE}/{name}": data for name, data in answers.items()}
    return holding(draft, files) if files else None


def answer_packed(draft: TaskDraft) -> TaskDraft | None:
    """The same, compressed."""
    answers = answers_of(draft)
    files = {f"{PLACE}/{name}.gz": gzip.compress(data, mtime=0) for name, data in answers.items()}
    return holding(draft, files) if files else None


def git_pack(draft: TaskDraft) -> TaskDraft | None:
    """The right file in the history of a repository, packed as `git gc` leaves it."""
    answers = answers_of(draft)
    body = b"".join(_object(data) for data in answers.values())
    pack = b"PACK" + struct.pack(">II", 2, len(answers)) + body
    pack += hashlib.sha1(pack, usedforsecurity=False).digest()
    name = hashlib.sha1(body, usedforsecurity=False).hexdigest()
    place = f"{draft.workdir[1:]}/.git/objects/pack/pack-{name}.pack"
    return holding(draft, {place: pack}) if answers else None


def _object(data: bytes) -> bytes:
    """A blob as packs hold it: kind 3 and size, seven bits at a time after the first four."""
    size, head = len(data) >> 4, [0x30 | len(data) & 15]
    while size:
        head[-1] |= 0x80
        head.append(size & 127)
        size >>= 7
    return bytes(head) + zlib.compress(data)


def reference_left(draft: TaskDraft) -> TaskDraft | None:
    """The reference's program, encoded for a deployment."""
    source = reference_of(draft)
    name = program_of(draft).rpartition("/")[2]
    if not source:
        return None
    return holding(draft, {f"opt/deploy/{name}.b64": base64.encodebytes(source)})


def generator_left(draft: TaskDraft) -> TaskDraft | None:
    """A program that writes the right files when it is run."""
    answers = answers_of(draft)
    if not answers:
        return None
    packed = {n: base64.b64encode(zlib.compress(data)).decode() for n, data in answers.items()}
    text = (
        "import base64, zlib\n"
        f"for name, data in {packed!r}.items():\n"
        "    with open(name, 'wb') as file:\n"
        "        file.write(zlib.decompress(base64.b64decode(data)))\n"
    )
    return holding(draft, {"opt/fixtures/make_fixtures.py": text.encode()})


def layer_only(draft: TaskDraft) -> TaskDraft | None:
    """The right file, removed by set-up: an earlier layer still holds it."""
    answers = answers_of(draft)
    files = {f"{draft.workdir[1:]}/.work/{name}": data for name, data in answers.items()}
    return holding(draft, files, setup=("rm -rf .work",)) if files else None


def binary_left(draft: TaskDraft) -> TaskDraft | None:
    """The original program stays where it is while the copy of it is graded."""
    return draft.model_copy(update={"hide": ()}) if draft.hide else None
