"""One job, one container: everything goes in before it starts, and comes out after it stopped."""

import tarfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException
from typing import Any

import requests
from docker.api import APIClient
from docker.errors import APIError, NotFound
from docker.types import CancellableStream, LogConfig, Ulimit
from docker.utils.socket import SocketError
from urllib3.exceptions import HTTPError

from envgen.ledger import Blobs
from envgen.records import AGENT_UID, Job, JobResult, Opening, Put, Status
from envgen.sandbox import archive, parity
from envgen.sandbox.daemon import API_SECONDS, LABEL, OWNER_LABEL, is_timeout
from envgen.sandbox.tail import Tail

KEEPER_UID = 65534
"""Whose process keeps a sandbox alive."""
WATCH_SECONDS = 2
OUTPUT_BYTES = 64 * 1024
OPEN_FILES = 16_384
PROCESSES = 16_384
"""Of one uid over the whole host, as the kernel counts it; a container's own cap is `pids`. Both
are said because Podman's defaults are more than an unprivileged host allows."""


class Containers:
    """Runs jobs on a daemon.

    Args:
        api: the SDK's low-level client.
        blobs: where captured bytes go.
        cpus: CPUs of the engine's host.
        quota: whether the engine can limit a container's disk by itself; else we watch it.
        owner: name that our containers are labelled with.
    """

    def __init__(self, api: APIClient, blobs: Blobs, cpus: int, quota: bool, owner: str) -> None:
        self.api = api
        self.blobs = blobs
        self.owner = owner
        self._quota = quota
        self._cpus = _CpuSets(cpus)

    def run(self, job: Job, cancelled: threading.Event | None = None) -> JobResult:
        """Run one job to its end; the container is gone afterwards, whatever happened.

        Args:
            job: what to run.
            cancelled: nobody wants the result any more; ends the job early.
        """
        restore = self.blobs.get(job.restore) if job.restore else None
        started = time.time()
        with self.container(job, restore) as name:
            status, code, output = self.execute(name, job, cancelled)
            captured, too_large = self.capture(name, job.capture, job.capture_mb, started)
            collected = self._collect(name, job)
        if too_large and status == "done":
            status = "outputs"
        return JobResult(
            status=status, exit_code=code, output=output, captured=captured, collected=collected
        )

    @contextmanager
    def container(self, job: Job, restore: bytes | None = None) -> Iterator[str]:
        """A created container with everything in it, not started; removed whatever happens."""
        with self._cpus.lease(job.cpus) as cpus:
            name = self._create(job, cpus, job.command, job.uid)
            try:
                self._fill(name, job.puts, restore)
                yield name
            finally:
                self.remove(name)

    @contextmanager
    def sandbox(self, opening: Opening, name: str) -> Iterator[str]:
        """A running container that does nothing by itself and ends after the opening's seconds.

        What keeps it alive belongs to another user than the agent, who cannot end it.

        Args:
            opening: what it is.
            name: nobody else's; so that it is found when the engine's answer is lost.
        """
        command = ("/bin/sleep", str(opening.seconds))
        with self._cpus.lease(opening.cpus) as cpus:
            try:
                made = self._create(opening, cpus, command, KEEPER_UID, name)
                self._fill(made, opening.puts, None)
                self.api.start(made)
                yield made
            finally:
                self.remove(name)

    def beside(self, name: str, opening: Opening, command: Sequence[str], seconds: int) -> bool:
        """Run a command as root among the processes of another container; whether it exits with 0.

        Args:
            name: the other container.
            opening: what that is; its image is used.
            command: may signal processes, and nothing else that the agent may not.
            seconds: its limit.
        """
        host = self.api.create_host_config(
            network_mode="none",
            pid_mode=f"container:{name}",
            mem_limit="64m",
            cap_drop=["ALL"],
            cap_add=["KILL"],
            security_opt=["no-new-privileges"],
            log_config=LogConfig(type="none"),
        )
        made = self.api.create_container(
            image=opening.image_ref,
            command=list(command),
            entrypoint=[],
            user="0:0",
            labels={LABEL: "job", OWNER_LABEL: self.owner},
            host_config=host,
        )["Id"]
        try:
            self.api.start(made)
            return int(self.api.wait(made, timeout=seconds)["StatusCode"]) == 0
        except (requests.ReadTimeout, requests.ConnectionError) as error:
            if not is_timeout(error):
                raise
            return False
        finally:
            self.remove(made)

    def _fill(self, name: str, puts: Iterable[Put], restore: bytes | None) -> None:
        data = archive.bundle(puts, restore)
        if len(data) > 1024:
            self.api.put_archive(name, "/", data)

    def _create(
        self,
        job: Job | Opening,
        cpus: str,
        command: Sequence[str],
        user: int,
        name: str | None = None,
    ) -> str:
        root = job.uid != AGENT_UID
        host = self.api.create_host_config(
            network_mode="none",
            init=True,
            mem_limit=f"{job.memory_mb}m",
            memswap_limit=f"{job.memory_mb}m",
            pids_limit=job.pids,
            cpuset_cpus=cpus,
            cap_drop=["ALL"],
            cap_add=list(parity.GRADER_CAPABILITIES) if root else None,
            security_opt=["no-new-privileges"],
            extra_hosts={parity.HOSTNAME: "127.0.0.1"},
            shm_size="64m",
            ulimits=[
                Ulimit(name="core", soft=0, hard=0),
                Ulimit(name="nofile", soft=OPEN_FILES, hard=OPEN_FILES),
                Ulimit(name="nproc", soft=PROCESSES, hard=PROCESSES),
                Ulimit(name="fsize", soft=job.disk_mb << 20, hard=job.disk_mb << 20),
            ],
            storage_opt={"size": f"{job.disk_mb}m"} if self._quota else None,
            log_config=LogConfig(type="none"),
        )
        created = self.api.create_container(
            image=job.image_ref,
            command=list(command),
            name=name,
            entrypoint=[],
            user=f"{user}:{user}",
            working_dir=job.cwd,
            hostname=parity.HOSTNAME,
            environment=parity.environment(job.uid, job.cpus) | dict(job.env),
            labels={LABEL: "job", OWNER_LABEL: self.owner},
            host_config=host,
        )
        return str(created["Id"])

    def execute(
        self, name: str, job: Job, cancelled: threading.Event | None = None
    ) -> tuple[Status, int | None, str]:
        """Start, watch and wait: (status, exit code, head and tail of the output)."""
        tail = Tail(OUTPUT_BYTES)
        stream = self.api.attach(name, stdout=True, stderr=True, stream=True, logs=False)
        reader = threading.Thread(target=_drain, args=(stream, tail), daemon=True)
        reader.start()
        try:
            self.api.start(name)
            status = self._wait(name, job, cancelled or threading.Event())
            reader.join(5)
        finally:
            _close(stream)
        state = self.api.inspect_container(name)["State"]
        code = int(state["ExitCode"])
        if state.get("OOMKilled") and status == "done" and code != 0:
            status = "memory"  # with code 0 it was a child, and the job went on without it
        return status, None if status == "timeout" else code, tail.text()

    def _wait(self, name: str, job: Job, cancelled: threading.Event) -> Status:
        """Wait for the main process in slices, looking at clock and disk between them."""
        deadline = time.monotonic() + job.seconds
        while (left := deadline - time.monotonic()) > 0 and not cancelled.is_set():
            try:
                self.api.wait(name, timeout=max(1, round(min(left, WATCH_SECONDS))))
            except (requests.ReadTimeout, requests.ConnectionError) as error:
                if not is_timeout(error):
                    raise
                if self.disk_full(name, job.disk_mb):
                    return self._kill(name, "disk")
                continue
            return "disk" if self.disk_full(name, job.disk_mb) else "done"
        return self._kill(name, "timeout")

    def _kill(self, name: str, status: Status) -> Status:
        try:
            self.api.kill(name)
            self.api.wait(name, timeout=API_SECONDS)
        except APIError:
            pass  # it ended by itself in the meantime
        return status

    def disk_full(self, name: str, limit_mb: int) -> bool:
        """Whether a container has written more than it may."""
        found = self.api.containers(all=True, size=True, filters={"id": name})
        return any(over_limit(one, limit_mb << 20) for one in found)

    def archive(self, name: str, path: str, limit: int) -> bytes:
        """What the engine reads at a path of a container; TooLarge over `limit` bytes."""
        chunks, _ = self.api.get_archive(name, path)
        return archive.capped(chunks, limit)

    def capture(
        self, name: str, folders: tuple[str, ...], limit_mb: int, started: float
    ) -> tuple[str | None, bool]:
        """Folders of a stopped container as a blob; and whether they are over the cap.

        Args:
            name: the container.
            folders: absolute paths.
            limit_mb: the cap, for all of them together.
            started: the container's start, in seconds since 1970.
        """
        if not folders:
            return None, False
        limit = limit_mb << 20
        entries: list[tuple[tarfile.TarInfo, bytes]] = []
        try:
            for folder in folders:
                try:
                    data = self.archive(name, folder, limit)
                except NotFound:
                    continue  # the agent removed it: it is graded as absent
                limit -= len(data)  # one cap for all folders together
                entries += archive.normalised(folder, data, started, limit_mb << 20)
        except archive.TooLarge:
            return None, True
        return self.blobs.put(archive.packed(entries)), False

    def _collect(self, name: str, job: Job) -> tuple[tuple[str, str], ...]:
        if job.collect is None:
            return ()
        try:
            return archive.texts(self.archive(name, job.collect, 8 << 20))
        except (NotFound, archive.TooLarge):
            return ()

    def remove(self, name: str) -> None:
        """Remove a container in whatever state it is.

        Returns as well when somebody else, such as another run that sweeps, is removing it.
        """
        try:
            self.api.remove_container(name, force=True, v=True)
        except NotFound:
            pass
        except APIError as error:
            if "already in progress" not in str(error.explanation):
                raise


def over_limit(listed: dict[str, Any], limit: int) -> bool:
    """Whether a container, as the engine lists it, has written more than `limit` bytes.

    A size that the engine cannot tell (below 0: folders too deep to be walked) is over: what cannot
    be measured cannot be capped.
    """
    size = int(listed.get("SizeRw") or 0)
    return size < 0 or size > limit


def _drain(stream: Iterable[bytes], tail: Tail) -> None:
    """Read a stream to its end, always; a connection that breaks or is closed is an end too."""
    with suppress(OSError, ValueError, AttributeError, HTTPException, HTTPError, SocketError):
        for chunk in stream:
            tail.write(chunk)


def _close(stream: "CancellableStream[bytes]") -> None:
    """Close what `attach` opened: the SDK shuts the socket but leaves its file open."""
    with suppress(OSError):
        stream.close()
    stream._response.close()  # type: ignore[attr-defined]


class _CpuSets:
    """Leases of CPU pairs, so that two CPUs are two for every runtime."""

    def __init__(self, cpus: int) -> None:
        pairs: list[tuple[int, ...]] = [(i, i + 1) for i in range(0, cpus - 1, 2)] or [(0,)]
        self._holders = dict.fromkeys(pairs, 0)
        self._cpus = cpus
        self._lock = threading.Lock()

    @contextmanager
    def lease(self, wanted: int) -> Iterator[str]:
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
