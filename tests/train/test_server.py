"""A vLLM server over HTTP, as far as the trainer speaks with it, played by a loopback server."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from envgen.agent import Sampling
from envgen.config import TrainConfig
from envgen.errors import Misconfigured, SamplerDown
from envgen.train import vllm_engine

Do = Callable[[Coroutine[Any, Any, Any]], Any]
Answer = Callable[[str, dict[str, Any]], tuple[int, Any]]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """The address of a server that answers so."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = answer(self.path, body)
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Vllm:
    """Remembers what it was asked; samples 5, 6, 9 across an exchange of weights."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.choice: dict[str, Any] = {
            "token_ids": [5, 6, 9],
            "logprobs": {"content": [{"logprob": b} for b in (-0.5, -1.0, -1.5)]},
            "weight_versions": [
                {"version": "3", "start": 0, "end": 2},
                {"version": "4", "start": 2, "end": 3},
            ],
        }

    def __call__(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        self.asked.append((path, body))
        return 200, {"choices": [self.choice]} if path == "/inference/v1/generate" else {}


def sample(address: str, do: Do, folder: Path, schema: str | None = None) -> Any:
    async def main() -> Any:
        config = TrainConfig(sampler="server", server=address)
        async with vllm_engine.server(config, folder, 3) as engine:
            return await engine.sample((1, 2), Sampling(8, 0.7, (9,), schema))

    return do(main())


def test_weights_are_exchanged_before_anything_is_sampled(tmp_path: Path, do: Do) -> None:
    vllm = Vllm()
    with serving(vllm) as address:
        found = sample(address, do, tmp_path)
    assert found == ((5, 6, 9), (-0.5, -1.0, -1.5), (3, 3, 4))
    *exchange, (path, body) = vllm.asked
    assert exchange == [
        ("/pause?mode=keep&clear_cache=true", {}),
        ("/collective_rpc", {"method": "exchange_weights", "args": [str(tmp_path)]}),
        ("/update_weight_version", {"new_version": "3"}),
        ("/resume", {}),
    ]
    assert (path, body["token_ids"]) == ("/inference/v1/generate", [1, 2])
    wanted = body["sampling_params"]
    assert (wanted["max_tokens"], wanted["temperature"], wanted["stop_token_ids"]) == (8, 0.7, [9])
    assert (wanted["top_p"], wanted["top_k"], wanted["logprobs"]) == (1.0, 0, 0)
    assert "structured_outputs" not in wanted


def test_a_form_is_asked_for_without_what_servers_trip_over(tmp_path: Path, do: Do) -> None:
    vllm = Vllm()
    with serving(vllm) as address:
        sample(address, do, tmp_path, '{"type": "string", "maxLength": 9}')
    asked = vllm.asked[-1][1]["sampling_params"]["structured_outputs"]
    assert asked == {"json": '{"type": "string"}'}


@pytest.mark.parametrize(
    "change",
    [
        {"weight_versions": None},
        {"weight_versions": []},
        {"weight_versions": [{"version": "3", "start": 0, "end": 2}]},
        {"weight_versions": [{"version": "new", "start": 0, "end": 3}]},
        {"logprobs": None},
        {"logprobs": {"content": []}},
        {"token_ids": None},
    ],
)
def test_another_form_of_answer_is_no_sample(
    tmp_path: Path, do: Do, change: dict[str, Any]
) -> None:
    vllm = Vllm()
    vllm.choice |= change
    with serving(vllm) as address, pytest.raises(SamplerDown):
        sample(address, do, tmp_path)


def test_a_server_without_the_endpoints_is_told_what_it_needs(tmp_path: Path, do: Do) -> None:
    with (
        serving(lambda path, body: (404, {"detail": "Not Found"})) as address,
        pytest.raises(SamplerDown, match=r"404.*VLLM_SERVER_DEV_MODE=1"),
    ):
        sample(address, do, tmp_path)


def test_a_server_that_is_gone_is_named(tmp_path: Path, do: Do) -> None:
    with serving(Vllm()) as address:
        pass
    with pytest.raises(SamplerDown, match=f"{address} is gone"):
        sample(address, do, tmp_path)
    with pytest.raises(Misconfigured, match=r"train\.server"):
        asyncio.run(vllm_engine.server(TrainConfig(), tmp_path, 0).__aenter__())
