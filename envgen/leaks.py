"""The leak scan: are bytes of tests, solution or truth in the image, in any layer?

Pure: looks at the build context, at the bytes that set-up made, and at configuration and history,
which together are all that the task's layers hold (see `sandbox/images.py`).
"""

import base64
import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import cache

from envgen import dockerfile
from envgen.files import File
from envgen.grade import verifier_kit
from envgen.ledger import Blobs
from envgen.records import Image, TaskDraft

MIN_LINE = 32
"""Shorter lines (imports, braces, common calls) stand everywhere and prove nothing."""
CODE, CODE_LINES = (".py", ".sh", ".c"), 4
"""Programs, and how many of their lines must be found: fewer are idioms that anybody writes."""
MIN_FILE = 16
_INFLATE_LIMIT = 32 << 20
"""Bytes that are unpacked of one file, all of its members together."""


def leaks(draft: TaskDraft, image: Image, blobs: Blobs) -> list[str]:
    """What of the hidden side stands in the image, one sentence each; empty when nothing does."""
    hidden = {f"tests/{p}": f for p, f in draft.tests.items()}
    hidden |= {f"solution/{p}": f for p, f in draft.solution.items()}
    whole = {f.sha256: path for path, f in hidden.items() if len(f.data) >= MIN_FILE}
    lines = _lines(*(f.data for f in hidden.values()))
    public = _kit_lines() | _lines(draft.instruction.encode())
    plain = [form for secret in draft.secrets for form in _plain(secret.encode())]
    coded = [form for secret in draft.secrets for form in _coded(secret.encode())]
    found = [
        f"{where} is {whole[sha]}" for where, sha in _hashes(draft, image, blobs) if sha in whole
    ]
    for where, data in _contents(draft, image, blobs):
        for view in _views(data):
            joined = view.translate(None, b"\r\n")  # encoders break their lines
            if any(form in view for form in plain) or any(form in joined for form in coded):
                found.append(f"{where} holds a secret")
            held = {line for line in lines & _lines(view) if len(line) >= MIN_LINE} - public
            found += [f"{where} holds a line of {path}" for path in _told(held, hidden)]
    return found


def _lines(*texts: bytes) -> set[bytes]:
    return {line for text in texts for line in map(bytes.strip, text.split(b"\n"))}


@cache
def _kit_lines() -> frozenset[bytes]:
    return frozenset(_lines(*(file.data for file in verifier_kit().values())))


def _told(held: set[bytes], hidden: dict[str, File]) -> list[str]:
    """The hidden files that lines found in the image give away.

    One line of data does. Programs on both sides share idioms, so of a program it takes several.
    """
    counts = Counter(
        next(path for path, file in hidden.items() if line in _lines(file.data)) for line in held
    )
    return sorted(p for p, n in counts.items() if n >= (CODE_LINES if p.endswith(CODE) else 1))


def _plain(secret: bytes) -> Iterator[bytes]:
    """A secret as it is, and reversed."""
    yield from (secret, secret[::-1])


def _coded(secret: bytes) -> Iterator[bytes]:
    """A secret as hex, and the characters that it alone decides in base64, at each offset."""
    yield secret.hex().encode()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + secret)
        yield encoded[4 if offset else 0 : (offset + len(secret)) // 3 * 4]


def _hashes(draft: TaskDraft, image: Image, blobs: Blobs) -> Iterator[tuple[str, str]]:
    for path, file in dockerfile.context(draft).items():
        yield f"build context {path}", file.sha256
    for entry in json.loads(blobs.get(image.entries)):
        if entry["kind"] == "f":
            yield entry["path"], entry["sha256"]


def _contents(draft: TaskDraft, image: Image, blobs: Blobs) -> Iterator[tuple[str, bytes]]:
    for path, file in dockerfile.context(draft).items():
        yield f"build context {path}", file.data
    listed = json.loads(blobs.get(image.entries))
    if image.extra:
        paths = {entry.get("sha256"): entry["path"] for entry in listed}
        with tarfile.open(fileobj=io.BytesIO(blobs.get(image.extra)), mode="r:") as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isreg() else None
                if stream is not None:
                    yield paths[member.name], stream.read()
    yield "the image's configuration", image.config.encode()
    names = [f"{entry['path']}\n{entry.get('target', '')}" for entry in listed]
    yield "a name or a link in the image", "\n".join(names).encode(errors="surrogateescape")


def _views(data: bytes) -> Iterator[bytes]:
    """The bytes, and what is packed in them, one level deep."""
    yield data
    try:
        if data[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                yield packed.read(_INFLATE_LIMIT)
        elif data[:3] == b"BZh":
            with bz2.BZ2File(io.BytesIO(data)) as bzip:
                yield bzip.read(_INFLATE_LIMIT)
        elif data[:6] == b"\xfd7zXZ\0":
            with lzma.LZMAFile(io.BytesIO(data)) as xz:
                yield xz.read(_INFLATE_LIMIT)
        elif data[:4] == b"PK\x03\x04":
            with zipfile.ZipFile(io.BytesIO(data)) as folder:
                left = _INFLATE_LIMIT
                for name in folder.namelist()[:1000]:
                    with folder.open(name) as member:
                        inflated = member.read(left)
                    left -= len(inflated)
                    yield inflated
    except (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, RuntimeError):
        return  # not what its first bytes say: the raw view has been looked at
