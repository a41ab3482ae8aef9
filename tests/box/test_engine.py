"""The engine: parity rules, typed errors, and nothing left behind by cancelled or killed jobs."""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from envgen.config import EngineConfig, RunConfig
from envgen.errors import EngineDown, Fault, ImageMissing, Misconfigured
from envgen.files import FileTree
from envgen.kit import open_kit
from envgen.ledger import Blobs
from envgen.records import ImageRequest, Job
from envgen.sandbox.daemon import connect
from envgen.sandbox.docker import Docker
from envgen.sandbox.owner import Owner
from envgen.sandbox.selftest import Rule, failures, rules
from tests.box.conftest import Bench

pytestmark = pytest.mark.box

BROKEN_SOCKETS = pytest.mark.filterwarnings("ignore::ResourceWarning")
"""The SDK drops sockets that broke, and leaves closing them to the collector."""

RULES = rules(os.cpu_count() or 1)


def job_of(bench: Bench, *command: str, **fields: Any) -> Job:
    base = bench.do(bench.kit.bases.get("data_querying"))
    return Job(image=base.content, image_ref=base.ref, command=command, **fields)


def holding(bench: Bench, text: str) -> list[str]:
    """Containers, running or not, whose command has the text."""
    found = bench.kit.sandbox.engine.client.api.containers(all=True)
    return [container["Id"] for container in found if text in container["Command"]]


def wait_for(what: Callable[[], Any], seconds: float = 20) -> Any:
    deadline = time.monotonic() + seconds
    while not (seen := what()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return seen


# -- parity --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_rule_holds(bench: Bench, rule: Rule) -> None:
    base = bench.do(bench.kit.bases.get("data_querying"))
    job = Job(**({"image": base.content, "image_ref": base.ref} | rule.job))
    assert rule.judge(bench.do(bench.kit.sandbox.engine.run(job))) == ""


def test_a_broken_rule_is_named_with_what_was_seen(bench: Bench) -> None:
    base = bench.do(bench.kit.bases.get("data_querying"))
    wrong = Rule("the moon is made of cheese", {"command": ("/bin/false",)}, lambda r: "it is not")
    found = bench.do(failures(bench.kit.sandbox.engine, base, [wrong]))
    assert found == {"the moon is made of cheese": "it is not"}


# -- typed errors --------------------------------------------------------------------------------


def test_a_missing_image_is_weather_and_is_never_pulled(bench: Bench) -> None:
    engine = bench.kit.sandbox.engine
    before = {image.id for image in engine.client.images.list()}
    job = Job(image="none", image_ref="debian:bookworm-none", command=("/bin/true",))
    with pytest.raises(ImageMissing, match="no longer has the image"):
        bench.do(engine.run(job))
    assert not engine.client.images.list(name="debian:bookworm-none")
    assert {image.id for image in engine.client.images.list()} >= before


@BROKEN_SOCKETS
@pytest.mark.parametrize(
    "url", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:9", "nonsense", "http+unix://x"]
)
def test_a_wrong_address_says_what_to_do(url: str, tmp_path: Path, do: Callable[..., Any]) -> None:
    async def opening() -> None:
        async with open_kit(RunConfig(engine=EngineConfig(url=url)), tmp_path):
            raise AssertionError("it opened")

    with pytest.raises(Misconfigured) as caught:
        do(opening())
    assert f"answers at {url}: start Docker or Podman" in str(caught.value)
    assert "make engine" in str(caught.value)
    gc.collect()


def test_a_build_that_fails_is_a_fault_with_the_tail_of_its_log(bench: Bench) -> None:
    base = bench.do(bench.kit.bases.get("data_querying"))
    request = ImageRequest(
        parent=base.content,
        parent_ref=base.ref,
        dockerfile="RUN seq 20000; echo the reason is 4711 >&2; exit 9\n",
        context=FileTree(),
    )
    with pytest.raises(Fault) as caught:
        bench.do(bench.kit.sandbox.engine.build(request))
    assert caught.value.code == "build:failed"
    assert "returned a non-zero code: 9" in caught.value.detail
    assert "the reason is 4711" in caught.value.detail
    assert len(caught.value.detail) < 80_000


class Relay:
    """A socket before the engine's own, which can be cut like a daemon that dies."""

    def __init__(self, path: Path) -> None:
        self.url = f"unix://{path}"
        self._behind = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")[7:]
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                near = self._listener.accept()[0]
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._behind)
            self._open += [near, far]
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=ends, daemon=True).start()

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65_536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def cut(self) -> None:
        """No more connections, and the open ones break."""
        for end in (self._listener, *self._open):
            with suppress(OSError):  # it was closed already
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Relay]:
    made = Relay(tmp_path / "relay.sock")
    yield made
    made.cut()


@BROKEN_SOCKETS
def test_a_daemon_that_dies_is_down_and_its_container_is_swept_later(
    bench: Bench, relay: Relay, tmp_path: Path
) -> None:
    job = job_of(bench, "/bin/sleep", "51413", seconds=120)
    engine = Docker(relay.url, Blobs(tmp_path / "b"), 2, "dying")

    async def cut_off() -> None:
        running = asyncio.ensure_future(engine.run(job))
        await asyncio.to_thread(wait_for, lambda: holding(bench, "51413"))
        await asyncio.sleep(1)
        relay.cut()
        with pytest.raises(EngineDown):
            await running
        with pytest.raises(EngineDown, match="does not answer"):
            await engine.run(job)

    bench.do(cut_off())
    engine.close()
    Docker(None, Blobs(tmp_path / "b"), 2, "next").close()
    assert holding(bench, "51413") == []
    gc.collect()


@BROKEN_SOCKETS
def test_a_socket_that_hangs_up_is_no_engine(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "rude.sock"))
        listener.listen(8)

        def hang_up() -> None:
            while True:
                try:
                    listener.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=hang_up, daemon=True).start()
        with pytest.raises(Misconfigured, match=r"no container engine answers at unix://.*rude"):
            connect(f"unix://{tmp_path}/rude.sock")
        listener.shutdown(socket.SHUT_RDWR)
    gc.collect()


# -- nothing is left behind ----------------------------------------------------------------------


def test_a_cancelled_job_ends_at_once_and_leaves_no_container(bench: Bench) -> None:
    job = job_of(bench, "/bin/sleep", "51414", seconds=300)

    async def cancelled() -> float:
        running = asyncio.ensure_future(bench.kit.sandbox.engine.run(job))
        assert await asyncio.to_thread(wait_for, lambda: holding(bench, "51414"))
        started = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return time.monotonic() - started

    assert bench.do(cancelled()) < 15
    assert holding(bench, "51414") == []


def test_a_job_that_waits_for_its_turn_is_never_started_when_cancelled(
    bench: Bench, tmp_path: Path
) -> None:
    engine = Docker(None, Blobs(tmp_path / "b"), 1, "narrow")
    first_job = job_of(bench, "/bin/sleep", "51415")
    second_job = job_of(bench, "/bin/sleep", "51416")

    async def cancelled() -> None:
        first = asyncio.ensure_future(engine.run(first_job))
        await asyncio.to_thread(wait_for, lambda: holding(bench, "51415"))
        second = asyncio.ensure_future(engine.run(second_job))
        await asyncio.sleep(0.1)
        second.cancel()
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)

    bench.do(cancelled())
    engine.close()
    assert holding(bench, "5141") == []


def test_status_is_a_fact_and_no_container_stays(bench: Bench) -> None:
    for command, status, code in (("exit 7", "done", 7), ("sleep 51417", "timeout", None)):
        job = job_of(bench, "/bin/sh", "-c", command, seconds=2)
        result = bench.do(bench.kit.sandbox.engine.run(job))
        assert (result.status, result.exit_code) == (status, code)
        assert holding(bench, command) == []


def test_two_who_remove_one_container_do_not_disturb_each_other(bench: Bench) -> None:
    containers = bench.kit.sandbox.engine.containers
    ref = bench.do(bench.kit.bases.get("data_querying")).ref
    for _ in range(3):
        made = containers.api.create_container(ref, ["sleep", "1000"])["Id"]
        containers.api.start(made)
        with ThreadPoolExecutor(8) as many:
            assert list(many.map(containers.remove, [made] * 8)) == [None] * 8
        assert wait_for(
            lambda made=made: not containers.api.containers(all=True, filters={"id": made})
        )


def test_a_new_owner_is_never_taken_for_a_dead_one() -> None:
    done = threading.Event()

    def tidy() -> None:
        while not done.is_set():
            Owner.forget_dead()

    tidying = [threading.Thread(target=tidy) for _ in range(2)]
    for thread in tidying:
        thread.start()
    try:
        for _ in range(200):
            owner = Owner()
            assert Owner.alive(owner.name)
            owner.release()
            assert not Owner.alive(owner.name)
    finally:
        done.set()
        for thread in tidying:
            thread.join()


RUNNER = """
import asyncio, sys
from pathlib import Path
from envgen.files import FileTree
from envgen.ledger import Blobs
from envgen.records import ImageRequest, Job
from envgen.sandbox.docker import Docker
folder, ref, what = sys.argv[1:]
engine = Docker(None, Blobs(Path(folder)), 2, "killed")
if what == "job":
    job = Job(image="x", image_ref=ref, command=("/bin/sleep", "51418"), seconds=300)
    asyncio.run(engine.run(job))
else:
    request = ImageRequest(
        parent="x", parent_ref=ref, dockerfile="RUN sleep 51419\\n", context=FileTree()
    )
    asyncio.run(engine.build(request))
"""


@pytest.fixture
def runner(bench: Bench, tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts another process that runs a long job, or a build with a long step."""
    ref = bench.do(bench.kit.bases.get("data_querying")).ref
    started: list[subprocess.Popen[bytes]] = []

    def start(what: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", RUNNER, str(tmp_path / "other"), ref, what]
        started.append(subprocess.Popen(command))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_killed_process_is_swept_up_after_and_a_living_one_is_left_alone(
    bench: Bench, runner: Callable[[str], subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    process = runner("job")
    held = wait_for(lambda: holding(bench, "51418"))
    assert len(held) == 1
    Docker(None, Blobs(tmp_path / "b"), 1, "other").close()
    assert holding(bench, "51418") == held
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert holding(bench, "51418") == held  # nobody was there to remove it
    Docker(None, Blobs(tmp_path / "b"), 1, "next").close()
    assert holding(bench, "51418") == []


def test_a_killed_build_ends_with_its_client(
    bench: Bench, runner: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    process = runner("build")
    assert wait_for(lambda: holding(bench, "51419"))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert wait_for(lambda: not holding(bench, "51419"))
