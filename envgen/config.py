"""RunConfig: the one configuration class, from a YAML file and `--set a.b=c`."""

import os
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from envgen.errors import Misconfigured
from envgen.writing import write_whole


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class SampleConfig(_Group):
    """What is asked for."""

    n: int = Field(12, ge=1, le=10_000_000)
    """How many specs."""
    seed: int = Field(0, ge=0, lt=2**63)
    """Seed of the sampler; the first k of n specs are the k specs of the same seed."""
    preset: str = "balanced"
    """Name of a preset in `axes/presets.yaml`."""
    axes: str | None = None
    """Folder with axis files to use in place of the shipped ones."""


class AuthorConfig(_Group):
    """Who turns specs into drafts."""

    name: Literal["procedural", "llm"] = "procedural"
    """`procedural`: families of tasks written as code; no model, no network. `llm`: a language
    model writes each task."""
    profile: Literal["full", "small"] = "full"
    """`full`: the model writes everything. `small`: for models of one or two billion parameters,
    which are asked for less at once; only specs that this profile can realise are drawn."""
    mend_rounds: int = Field(2, ge=0, le=10)
    """Times that what a gate saw goes back to the model before its task is rejected."""
    families: tuple[str, ...] = ()
    """Only these procedural families; empty = all. The llm author is shown examples of them."""
    model: str | None = Field(None, pattern=r"^(gemini|openai|own):\S+$")
    """The model that writes tasks: `gemini:NAME`, or `openai:NAME` for OpenAI and every server that
    speaks its format; `own:NAME` is what `envgen selfgen` calls the weights that it trains."""


class LongPrice(_Group):
    """What a model costs where the question is long, in US dollars per million tokens."""

    over: int = Field(ge=1)
    """Tokens of the question, cached ones included, from beyond which all of a call costs so."""
    input: float = Field(ge=0)
    cached: float | None = Field(None, ge=0)
    output: float = Field(ge=0)


class Price(_Group):
    """What a model costs, in US dollars per million tokens."""

    input: float = Field(ge=0)
    """The question."""
    cached: float | None = Field(None, ge=0)
    """The part of the question that the provider had cached; none = as the rest of it."""
    output: float = Field(ge=0)
    """The answer, thinking included."""
    long: LongPrice | None = None
    """What it costs where the question is long; none = the same."""
    batch: float = Field(1.0, ge=0, le=1)
    """Factor on all three in the batch lane."""
    batch_cached: float | None = Field(None, ge=0, le=1)
    """Another factor on what was cached, in the batch lane."""
    flex: float = Field(1.0, ge=0, le=1)
    """Factor on all three in the flex lane."""


class LlmConfig(_Group):
    """How models are asked; keys come from the environment."""

    base_url: str | None = None
    """Address of a server of one's own, such as `http://127.0.0.1:8000/v1`; none = the provider."""
    requests_per_minute: int | None = Field(None, ge=1)
    """Most requests a minute to one model; none = no limit but the provider's."""
    tokens_per_minute: int | None = Field(None, ge=1)
    """Most tokens a minute, question and answer together; none = no limit but the provider's."""
    in_flight: int = Field(64, ge=1, le=10_000)
    """Most calls at once to one model; halves when the provider asks for patience."""
    seconds: float = Field(600, gt=0, le=86_400)
    """Most seconds of one call, from sending to the last byte."""
    budget: float | None = Field(None, ge=0)
    """Most dollars of the whole run, earlier starts included; the run stops before it."""
    no_budget: bool = False
    """Spend without limit, also on models whose price is not known."""
    prices: dict[str, Price] | str = Field(default_factory=dict)
    """Prices by model (`openai:NAME: {input: 0, output: 0}`), or a YAML file of them; they win over
    `data/prices.yaml`."""
    lane: Literal["online", "flex", "batch"] = "online"
    """`flex`: slower and cheaper, where the provider has it. `batch`: first drafts and critics wait
    up to a day for half the price."""
    hedge_hours: float = Field(24, gt=0)
    """After so long without a result, what waits in a batch is asked online."""


class EngineConfig(_Group):
    """The container engine and what runs on it at once."""

    url: str | None = None
    """Address of a Docker or Podman socket; none = DOCKER_HOST, then the usual sockets."""
    containers: int = Field(max(2, 2 * (os.cpu_count() or 1)), ge=1, le=1024)
    """Containers and builds at once."""
    in_flight: int = Field(64, ge=1, le=10_000)
    """Tasks in work at once; bounds memory, not containers."""


class GateConfig(_Group):
    """How hard the gates look."""

    repeats: int = Field(2, ge=1, le=20)
    """Times that the reference's grade is repeated under other conditions."""


class AuditConfig(_Group):
    """How built tasks are audited, and what a finding means for them."""

    policy: Literal["strict", "proven", "report"] = "proven"
    """`strict`: what is proven or suspected rejects; `proven`: what is proven rejects, what is only
    suspected is noted; `report`: nothing rejects."""
    probes: bool = True
    """Run attacks, alternatives and repetitions in containers; else only the rules look."""
    noise: float = Field(0.15, ge=0, lt=1)
    """Reward above the untouched container's that wrong work may earn: graded checks pay a little
    for the mere form of an answer: a header line, files that agree with each other."""
    critic: str | None = Field(None, pattern=r"^(gemini|openai|own):\S+$")
    """The model that reads each task and says what is wrong with it: `gemini:NAME`, or
    `openai:NAME`; none = no critic. What it says is executed before it counts."""
    critic_profile: Literal["full", "small"] = "full"
    """`small`: for models of one or two billion parameters, which are shown less."""
    critic_agrees: bool = False
    """Ask twice, in different words: what only one of the two says is noted, and no finding, unless
    its exploit works."""


class AgentConfig(_Group):
    """How an agent works on a task, and who plays it."""

    model: str | None = Field(None, pattern=r"^(gemini|openai|own|scripted):\S+$")
    """The policy: `gemini:NAME`, `openai:NAME` (with llm.base_url for a server of one's own), or
    `scripted:reference` and `scripted:nothing`, which need no model."""
    tools: Literal["blocks", "calls"] = "blocks"
    """How a command is written: `blocks`: between fences, which every model can; `calls`: as the
    provider's own tool calls."""
    steps: int = Field(64, ge=1, le=1000)
    """Most turns of an episode."""
    tokens: int = Field(65_536, ge=1)
    """Most tokens that the policy samples in an episode, thinking included."""
    turn_tokens: int = Field(8192, ge=1)
    """Most tokens of one turn."""
    seconds: int | None = Field(None, ge=1, le=86_400)
    """Most seconds of an episode, from the moment that it has its sandbox; none = what the task
    gives its agent."""
    command_seconds: int = Field(120, ge=1, le=3600)
    """Most seconds of one command."""
    mistakes: int = Field(8, ge=0, le=1000)
    """Turns in a row without a command that are answered; one more ends the episode."""
    output_chars: int = Field(10_000, ge=200)
    """Most characters of an output that the agent sees."""
    thinking: Literal["keep", "strip"] = "keep"
    """Whether earlier thinking stays in the history that the model is sent."""
    temperature: float = Field(1.0, ge=0, le=2)
    """Of sampling."""
    top_p: float = Field(1.0, gt=0, le=1)
    """Of sampling."""


class RepairConfig(_Group):
    """How tasks that the audit flags are repaired."""

    rounds: int = Field(4, ge=1, le=20)
    """Times that mechanical repairs are built and audited before a task is given up; a model has as
    many of its own."""
    model: str | None = Field(None, pattern=r"^(gemini|openai|own):\S+$")
    """The model that repairs where mechanical repairs do not help, asked as `author.profile` says
    (in the small one it only adds checks); none = mechanical ones alone."""


class ExportConfig(_Group):
    """How kept tasks are written."""

    org: str = Field("envgen", pattern=r"^[a-z0-9][a-z0-9-]*$")
    """First part of a task's name in Harbor."""
    network: Literal["compose", "toml", "public"] = "compose"
    """Where a Harbor folder says that there is no network: in compose files (plain Docker obeys
    them offline), in task.toml (every provider, but Docker needs a registry for it), or nowhere."""


class TrainConfig(_Group):
    """How a policy is trained; the defaults are those of the TMax recipe."""

    model: str | None = None
    """Folder of the model to begin with, as transformers writes it."""
    steps: int = Field(500, ge=1)
    """Optimiser steps in all."""
    seed: int = Field(0, ge=0, lt=2**31)
    """Of the order of tasks, and of sampling where the trainer itself samples."""
    group: int = Field(32, ge=2, le=1024)
    """Rollouts of one task that are compared with each other."""
    groups: int = Field(8, ge=1, le=1024)
    """Groups in a batch, which is one optimiser step."""
    reward: Literal["passed", "graded"] = "passed"
    """`passed`: 1 for a task that is wholly solved, else 0. `graded`: the verifier's reward."""
    loss: Literal["tv", "kl", "clip"] = "tv"
    """`tv`, `kl`: DPPO by that divergence. `clip`: GRPO, as a baseline."""
    delta: float = Field(0.1, gt=0)
    """Radius of DPPO's trust region; for `kl`, 0.05 is usual."""
    clip: tuple[float, float] = (0.2, 0.272)
    """How far below and above 1 GRPO lets the ratio go."""
    cap: float | None = Field(None, gt=0)
    """Most that the ratio may weigh; none = as it is, which is the recipe."""
    beta: float = Field(0, ge=0)
    """Weight of the KL to the model of the beginning; with 0 no reference model is loaded."""
    learning_rate: float = Field(1e-6, gt=0)
    """Constant, of AdamW."""
    weight_decay: float = Field(0, ge=0)
    """Of AdamW."""
    clip_norm: float = Field(1.0, gt=0)
    """Most that the gradient's norm may be."""
    temperature: float = Field(1.0, gt=0, le=2)
    """Of sampling, in the sampler and in the loss alike; nothing is cut from the distribution."""
    context: int = Field(67_584, ge=16)
    """Most tokens of an episode: prompt, turns and what the terminal said."""
    stale: int = Field(4, ge=0)
    """A group with a token that is older than so many steps is dropped."""
    ahead: int = Field(4, ge=1)
    """Batches of groups in work or waiting at once."""
    alarm_seconds: float = Field(3600, gt=0)
    """A run without a batch for so long ends with the reason."""
    micro_tokens: int = Field(16_384, ge=1)
    """Most tokens that go through the model at once, padding included."""
    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    """Of the sampler and of the trainer's body; both heads compute in float32."""
    lora_rank: int = Field(0, ge=0)
    """Train adapters of this rank in place of all weights; 0 = all weights."""
    gradient_checkpointing: bool = False
    """Compute activations twice rather than keep them."""
    device: str = "cpu"
    """Where the trainer computes, as torch names it: `cpu`, `cuda:0`; with several ranks `cuda` is
    each one's own."""
    sampler: Literal["vllm", "server", "transformers"] = "vllm"
    """`vllm`: an engine in this process. `server`: one over HTTP, at `server`. `transformers`: for
    machines without vLLM; one batch at a time."""
    sampler_memory: float = Field(0.5, gt=0, lt=1)
    """Share of a GPU's memory that the engine in this process takes; the rest is the trainer's."""
    server: str | None = None
    """Address of a vLLM server for `sampler: server`."""
    most_gap: float = Field(0.05, gt=0)
    """The run refuses to start where logprobs of sampler and trainer differ by more, in the mean
    over tokens; bfloat16 is within a few hundredths, float32 within 1e-4 at every token."""
    only: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Train on tasks with these values: axis or column of the manifest to values."""
    pass_rates: tuple[float, float] = (0.0, 1.0)
    """Train on tasks whose measured pass rate (`envgen eval`) lies between these two; a task that
    was not measured counts as one half."""
    rejected: bool = False
    """Train also on tasks that the policy of their audit rejects."""
    easiest_first: bool = False
    """Order tasks by measured pass rate, then by `task_complexity`, in place of shuffling them."""
    held_out: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tasks with these values are never trained on, and evaluated instead."""
    eval_every: int = Field(10, ge=1)
    """Steps between evaluations of the held-out tasks."""
    eval_attempts: int = Field(4, ge=1, le=1024)
    """Episodes of each held-out task in an evaluation."""
    save_every: int = Field(10, ge=1)
    """Steps between checkpoints."""
    keep: int = Field(2, ge=1)
    """Checkpoints that stay."""


class RunConfig(_Group):
    """Everything that decides the outcome of a run; saved with it, resolved."""

    sample: SampleConfig = Field(default_factory=SampleConfig)
    author: AuthorConfig = Field(default_factory=AuthorConfig)
    engine: EngineConfig = Field(default_factory=EngineConfig)
    llm: LlmConfig = Field(default_factory=LlmConfig)
    gates: GateConfig = Field(default_factory=GateConfig)
    audit: AuditConfig = Field(default_factory=AuditConfig)
    repair: RepairConfig = Field(default_factory=RepairConfig)
    agent: AgentConfig = Field(default_factory=AgentConfig)
    export: ExportConfig = Field(default_factory=ExportConfig)
    train: TrainConfig = Field(default_factory=TrainConfig)


def load(file: Path | None, sets: list[str], **flags: dict[str, Any]) -> RunConfig:
    """Defaults, then the file, then `--set a.b=c`, then command line flags.

    Raises:
        Misconfigured: unreadable file, unknown key or wrong value, each named.
    """
    tree = _read(file) if file else {}
    for item in sets:
        path, equals, value = item.partition("=")
        if not equals:
            raise Misconfigured(f"--set {item!r}: write it as group.key=value")
        _put(tree, path.split("."), _value(item, value))
    for group, values in flags.items():
        for key, value in values.items():
            if value is not None:
                _put(tree, [group, key], value)
    try:
        return RunConfig.model_validate(tree)
    except ValidationError as error:
        raise Misconfigured(_first(error, file)) from None


def save(config: RunConfig, path: Path) -> None:
    """Write the resolved configuration, so that a run can be repeated from it."""
    write_whole(path, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))


def _read(file: Path) -> dict[str, Any]:
    try:
        tree = yaml.safe_load(file.read_text())
    except FileNotFoundError:
        raise Misconfigured(f"configuration file {file} does not exist") from None
    except (OSError, UnicodeDecodeError, RecursionError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise Misconfigured(f"configuration file {file} cannot be read: {reason}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise Misconfigured(f"configuration file {file}: the top level must be a mapping of groups")
    return tree


def _value(item: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (RecursionError, yaml.YAMLError):
        raise Misconfigured(f"--set {item!r}: the value is not YAML") from None


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        inner = tree.setdefault(part, {})
        if not isinstance(inner, dict):
            raise Misconfigured(f"{'.'.join(path)}: {part} is a value, not a group")
        tree = inner
    tree[path[-1]] = value


def _first(error: ValidationError, file: Path | None) -> str:
    item = error.errors()[0]
    where = ".".join(str(part) for part in item["loc"]) or "the configuration"
    source = f" (file {file} and command line)" if file else ""
    if item["type"] == "extra_forbidden":
        return f"unknown key {where}{source}; known here: {', '.join(_known(item['loc'][:-1]))}"
    return f"{where}: {item['msg']}, got {item['input']!r}{source}"


def _known(path: tuple[int | str, ...]) -> list[str]:
    model: Any = RunConfig
    for part in path:
        field = model.model_fields.get(part)
        if field is None:
            return []
        model = field.annotation
    return list(model.model_fields)
