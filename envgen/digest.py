"""Identity is content: canonical JSON and a tagged digest of it."""

import hashlib
import json
from typing import Any

ALGORITHM = "sha256"
_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical(value: Any) -> bytes:
    """The one JSON text of a value: sorted keys, no spaces, UTF-8, NaN refused."""
    return _CANONICAL.encode(value).encode()


def digest_bytes(data: bytes) -> str:
    """`sha256:` and the hex digest of the bytes."""
    return f"{ALGORITHM}:{hashlib.sha256(data).hexdigest()}"


def digest(value: Any) -> str:
    """The tagged digest of a JSON value; the tag lets the form change without ambiguity."""
    return digest_bytes(canonical(value))


def short(tagged: str, length: int = 12) -> str:
    """The first hex characters of a tagged digest, for names that people read."""
    return tagged.removeprefix(f"{ALGORITHM}:")[:length]
