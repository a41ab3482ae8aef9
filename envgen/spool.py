"""Rows by index on disk, until all are there."""

import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path

from envgen.export import parquet


class Spool:
    """Rows by index, on disk in a file without a name: memory stays flat and nothing is left."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the spool
        self._places: dict[int, int] = {}

    def add(self, index: int, row: parquet.Row) -> None:
        self._places[index] = self._file.seek(0, 2)
        pickle.dump(row, self._file)

    def rows(self) -> Iterator[parquet.Row]:
        for index in sorted(self._places):
            self._file.seek(self._places[index])
            yield pickle.load(self._file)

    def close(self) -> None:
        self._file.close()
