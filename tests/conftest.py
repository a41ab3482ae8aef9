"""What all tests share: an engine that answers, an event loop, kits, and no way to a provider."""

import asyncio
import ipaddress
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings

from envgen import bases
from envgen.build import GATES
from envgen.config import RunConfig
from envgen.errors import Misconfigured
from envgen.kit import Bases, Kit, open_kit
from envgen.ledger import Ledger
from envgen.records import BaseImage, BuiltTask, Evidence, Image, TaskDraft
from envgen.sandbox import Recorded
from envgen.sandbox.scripted import Scripted

settings.register_profile("envgen", deadline=None)  # how fast a machine is, is no property
settings.load_profile("envgen")

T = TypeVar("T")
Do = Callable[[Coroutine[Any, Any, T]], T]


@cache
def engine_trouble() -> str:
    """Why no container engine can be used; empty when one answers."""
    from envgen.sandbox.daemon import connect

    try:
        connect(None).close()
    except Misconfigured as error:
        return str(error)
    return ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("box") and (trouble := engine_trouble()):
        pytest.skip(trouble)


PROVIDERS = ("GOOGLE_", "GEMINI_", "OPENAI_")
guarded: list[str] = []
"""The test that may reach nothing but this machine, if one is running."""


def _local_only(event: str, arguments: tuple[Any, ...]) -> None:
    if guarded and event in ("socket.connect", "socket.getaddrinfo"):
        address = arguments[1] if event == "socket.connect" else arguments[0]
        host = address[0] if isinstance(address, tuple) else address
        if not _is_local(host.decode() if isinstance(host, bytes) else host):
            raise RuntimeError(f"{guarded[0]} wants to reach {host}")


def _is_local(host: str | None) -> bool:
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return host in (None, "localhost") or host.startswith("/")


sys.addaudithook(_local_only)


@pytest.fixture(autouse=True)
def no_real_request(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Tests of models have no keys, no proxies, and no way off this machine."""
    if "llm" not in request.path.name:
        yield
        return
    for name in list(os.environ):
        if name.startswith(PROVIDERS) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    guarded.append(request.node.name)
    try:
        yield
    finally:
        guarded.clear()


@pytest.fixture(scope="session")
def do() -> Iterator[Do[Any]]:
    """`do(coroutine)` on the one loop of the session, which kits of any scope share."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture
def kit(tmp_path: Path, do: Do[Any]) -> Iterator[Kit]:
    """A kit on the real engine, with a ledger of its own."""
    yield from opened(tmp_path / "run", do)


def opened(folder: Path, do: Do[Any], **options: Any) -> Iterator[Kit]:
    """A kit on the real engine; closed after use, and its images removed."""
    stack = AsyncExitStack()
    kit = do(stack.enter_async_context(open_kit(RunConfig(), folder, **options)))
    try:
        yield kit
    finally:
        kit.sandbox.engine.keep_only(set())
        do(stack.aclose())


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Kit]:
    """A kit on the scripted engine."""
    ledger = Ledger(tmp_path / "scripted")
    engine = Scripted(ledger.blobs)
    yield Kit(RunConfig(), Recorded(engine, ledger), Bases(engine))
    ledger.close()


@pytest.fixture(scope="session")
def golden() -> TaskDraft:
    """A small hand-written draft that keeps every rule of lint."""
    text = (Path(__file__).parent / "values" / "golden_draft.json").read_text()
    return TaskDraft.model_validate_json(text)


@pytest.fixture(scope="session")
def built(golden: TaskDraft) -> BuiltTask:
    """The same, proven, without an engine: with receipts by hand."""
    recipe = bases.recipe("data_querying", ("jq",))
    return BuiltTask(
        draft=golden,
        image=Image(
            content="sha256:c0", layers="sha256:1a", ref="envgen/task:4e", engine_id="sha256:e1",
            bytes_added=4321, entries="sha256:e2", config="{}",
        ),
        base=BaseImage(recipe=recipe, content="sha256:ba", ref="r", lock="jq=1\npython3=3\n"),
        evidence=tuple(Evidence(gate=gate, keys=("sha256:01",), summary="ok") for gate in GATES),
        baseline=0.25,
        repeats=2,
    )  # fmt: skip


Done = subprocess.CompletedProcess[str]
COMMAND = [sys.executable, "-m", "envgen.cli"]


@pytest.fixture
def envgen(tmp_path: Path) -> Callable[..., Done]:
    """`envgen(*words, **environment)` in a process of its own, in `tmp_path`."""

    def run(*words: str, **environment: str) -> Done:
        return subprocess.run(
            [*COMMAND, *words], cwd=tmp_path, env=os.environ | environment,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    return run
