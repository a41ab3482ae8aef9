"""Which CPUs a container gets: a pair that it may take for all there are."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CpuSets:
    """Leases of CPU pairs, so that two CPUs are two for every runtime."""

    def __init__(self, cpus: int) -> None:
        pairs: list[tuple[int, ...]] = [(i, i + 1) for i in range(0, cpus - 1, 2)] or [(0,)]
        self._holders = dict.fromkeys(pairs, 0)
        self._cpus = cpus
        self._lock = threading.Lock()

    @contextmanager
    def lease(self, wanted: int) -> Iterator[str]:
        """The least used pair, or one of it, or the first of all CPUs, as the engine writes it."""
        if wanted > 2:
            yield f"0-{min(wanted, self._cpus) - 1}"
            return
        with self._lock:
            pair = min(self._holders, key=lambda pair: self._holders[pair])
            self._holders[pair] += 1
        try:
            yield ",".join(str(cpu) for cpu in pair[:wanted])
        finally:
            with self._lock:
                self._holders[pair] -= 1
