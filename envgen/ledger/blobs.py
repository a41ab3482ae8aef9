"""Bytes by their content, beside the ledger's database."""

import hashlib
import os
import tempfile
from pathlib import Path

from envgen.errors import Misconfigured
from envgen.ledger.disk import room


class Blobs:
    """Content-addressed bytes in `ab/cdef...`; written aside, then renamed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def sweep(self) -> None:
        """Remove what a kill left half written. Only for who holds the run: what another process
        is writing at this moment looks the same."""
        for torn in self.folder.glob(".torn-*"):
            torn.unlink(missing_ok=True)

    def put(self, data: bytes) -> str:
        """Keep the bytes; their tagged digest is the name."""
        name = hashlib.sha256(data).hexdigest()
        path = self.folder / name[:2] / name[2:]
        if not path.exists():
            with room(self.folder):
                path.parent.mkdir(exist_ok=True)
                handle, torn = tempfile.mkstemp(prefix=".torn-", dir=self.folder)
                try:
                    with os.fdopen(handle, "wb") as stream:
                        stream.write(data)
                    Path(torn).rename(path)
                finally:
                    Path(torn).unlink(missing_ok=True)
        return f"sha256:{name}"

    def get(self, name: str) -> bytes:
        """The bytes of a name; Misconfigured when they are gone or were changed."""
        hexa = name.removeprefix("sha256:")
        try:
            data = (self.folder / hexa[:2] / hexa[2:]).read_bytes()
        except FileNotFoundError:
            raise Misconfigured(
                f"blob {name} is missing from {self.folder}: restore it, or forget the effects "
                "that name it with `envgen ledger forget`"
            ) from None
        if hashlib.sha256(data).hexdigest() != hexa:
            raise Misconfigured(
                f"blob {name} in {self.folder} was changed: delete that file and run again"
            )
        return data
