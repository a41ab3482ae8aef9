"""Every record of envgen: frozen values without ids, times, cost or host paths.

Equal content means equal digest. The flow is TaskSpec -> TaskDraft -> BuiltTask -> AuditReport ->
ManifestRow, with Rejection as the other normal ending; Request and Completion are one question to a
model, Job and JobResult one sandbox run, Opening and Observation a session of many commands.
"""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from envgen.digest import canonical, digest_bytes, short
from envgen.files import FileTree

Key = str
"""A ledger key: the tagged digest of a whole request. It is the receipt of what was executed."""

AGENT_UID = 1000
HOME = "/home/agent"


class Record(BaseModel):
    """Frozen, and strict about its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False)

    @cached_property
    def identity(self) -> str:
        """Canonical JSON of the content; file trees stand in it by their digest."""
        return canonical(self.model_dump(mode="json", context={"identity": True})).decode()

    @cached_property
    def digest(self) -> str:
        """Tagged digest of the identity."""
        return digest_bytes(self.identity.encode())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values, whose digest is its own."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("identity", None)
        copied.__dict__.pop("digest", None)
        return copied


# -- what a task should be ---------------------------------------------------------------------


class TaskSpec(Record):
    """The nine axis values of one task, and where they were drawn."""

    seed: int
    index: int
    domain: str
    skill_type: str
    skills: tuple[str, ...]
    persona: str
    language: str
    task_complexity: str
    command_complexity: str
    verifier: str
    fixture: str
    catalogue: str
    """Digest of the axis catalogue."""
    slug: str
    """Domain and eight digest characters: the task's name (see `axes.slug_of`)."""


# -- what an author makes ----------------------------------------------------------------------


class Limits(Record):
    """What a task may use. Seconds are wall clock; MB are 2**20 bytes."""

    agent_seconds: int = Field(600, ge=1, le=7200)
    verify_seconds: int = Field(120, ge=1, le=1800)
    build_seconds: int = Field(300, ge=1, le=3600)
    memory_mb: int = Field(1024, ge=64, le=65536)
    cpus: Annotated[int, Field(ge=1, le=64)] = 2
    pids: int = Field(256, ge=16, le=4096)
    disk_mb: int = Field(512, ge=1, le=65536)
    outputs_mb: int = Field(32, ge=1, le=1024)


class Environment(Record):
    """What the image holds on top of a base, from which the Dockerfile is rendered."""

    base: str
    """Name of a base in `data/bases/`."""
    packages: tuple[str, ...] = ()
    """Debian packages that the base lacks; they come as a shared package set."""
    files: FileTree = FileTree()
    """Paths seen from `/`. Those below workdir or outputs belong to the agent, others to root."""
    setup: tuple[str, ...] = ()
    """One-line shell commands run at build time, as the agent, in workdir, without network."""


class InitialState(Record):
    """What the instruction promises about the untouched container; checked by execution."""

    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    """Each is run as the agent and must exit 0."""


class BuildStep(Record):
    """One step of a stranger's container definition; run as root builds it, in its order."""

    files: tuple[str, ...] = ()
    """Paths of `Environment.files` that it lays down before it runs anything."""
    owner: str = "0:0"
    """Of those files: names or numbers, as in `COPY --chown`."""
    run: str = ""
    """Shell text; empty when the step only lays down files."""
    shell: tuple[str, ...] = ("/bin/sh",)
    """What reads the text, with its options."""
    user: str = "root"
    cwd: str = "/"
    env: tuple[tuple[str, str], ...] = ()


class Foreign(Record):
    """What only an imported task has: how its maker builds and grades it."""

    steps: tuple[BuildStep, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    """Variables of the image, for the agent and the tests."""
    agent_env: tuple[tuple[str, str], ...] = ()
    """More of them, for the agent alone."""
    test_env: tuple[tuple[str, str], ...] = ()
    """More of them, for the tests alone."""
    agent_uid: Literal[0, 1000] = 0
    verifier_uid: Literal[0, 1000] = 0
    grading: Literal["fresh", "shared"]
    """`fresh`: outputs carry over into a new container. `shared`: the tests run where the agent
    worked, beside whatever it left running; a form that can be forged."""
    verdict: Literal["file", "status"] = "file"
    """Where the reward is: in the log folder, or the exit status of the tests (0 or 1)."""
    stale: bool = False
    """The maker's harness does not remove reward files before the tests (`shared` only)."""
    initial: FileTree = FileTree()
    """pytest files about the untouched container; empty when the maker has none."""
    notes: tuple[str, ...] = ()
    """What the import changed, guessed or left out, one sentence each."""


class TaskDraft(Record):
    """The waist of the system: every author ends here, every later step starts here."""

    spec: TaskSpec | None
    """None for an imported task; then `origin` says where it came from."""
    origin: str = ""
    author: str
    """Who made it, e.g. `procedural/strip_chart`."""
    revision: int = 0
    parent: str | None = None
    """Digest of the draft that this one repairs."""
    title: str
    instruction: str
    environment: Environment
    initial: InitialState = InitialState()
    tests: FileTree
    """`check.py`, `truth.json` and data; the verifier kit is added when grading."""
    solution: FileTree
    """`solve.sh` and what it needs; run as the agent."""
    workdir: str = HOME
    outputs: tuple[str, ...] = (HOME,)
    """Folders that carry over to grading."""
    hide: tuple[str, ...] = ()
    """Paths removed from the grading container before any candidate runs."""
    secrets: tuple[str, ...] = ()
    """Literal truths that must not be found in the image, in any layer."""
    limits: Limits = Limits()
    foreign: Foreign | None = None
    """Of imported tasks only. It is left out where it is None: the identity of all others is as
    old as they are."""

    @model_serializer(mode="wrap")
    def _without_nothing(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        if fields.get("foreign", self) is None:
            del fields["foreign"]
        return fields

    @property
    def slug(self) -> str:
        if self.spec is not None:
            return self.spec.slug
        return f"import-{short(self.digest, 8)}"


# -- one question to a model -------------------------------------------------------------------


class ToolCall(Record):
    """A function that a model wants called, as it wrote it."""

    ref: str
    """The provider's name for this call, by which it is answered."""
    name: str
    arguments: str
    """JSON text, or what was meant as such."""


class Message(Record):
    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant."""
    answers: str = ""
    """Of a tool: the `ref` of the call that it answers."""

    @model_serializer(mode="wrap")
    def _without_nothing(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Plain messages keep the identity that they had before there were tools."""
        fields: dict[str, Any] = handler(self)
        return {n: v for n, v in fields.items() if v or n in ("role", "text")}


class Request(Record):
    """One question to a model, as a value: the same request is asked, and paid, once."""

    model: str
    """Provider and name, e.g. `gemini:NAME`, `openai:NAME`."""
    messages: tuple[Message, ...]
    answer_schema: str | None = None
    """JSON text of the JSON Schema that the answer is asked to satisfy, its fields in the order in
    which they should be filled in. A wish: whoever asks validates what comes back."""
    temperature: float = Field(1.0, ge=0, le=2)
    top_p: float = Field(1.0, gt=0, le=1)
    tools: str | None = None
    """JSON text of the functions that it may call: a list of names, descriptions, parameters."""
    max_tokens: int = Field(8192, ge=1)
    """Most tokens that are billed as output, thinking included."""
    seed: int | None = None
    sample: int = 0
    """Makes another answer to the same question a request of its own."""
    nudge: int = Field(0, ge=0, exclude=True)
    """How often a degenerate answer made it ask again, with another seed and temperature; not part
    of the identity."""
    urgent: bool = Field(default=False, exclude=True)
    """Not for a batch: somebody waits. How an answer is fetched is no part of the identity."""
    echo: str = Field(default="", exclude=True)
    """A text that any right answer holds, and no other, such as the prompt's nonce: an answer in a
    batch without it is somebody else's. The prompt names it, so the identity need not."""
    as_is: bool = Field(default=False, exclude=True)
    """A policy's turn: an answer counts also when it runs in circles, and is not asked for anew."""

    @model_serializer(mode="wrap")
    def _without_nothing(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Questions without tools keep the identity that they had before there were any."""
        fields: dict[str, Any] = handler(self)
        if fields.get("tools", self) is None:
            del fields["tools"]
        return fields


class Usage(Record):
    """Tokens as they are billed, whatever the provider calls them."""

    input: int = 0
    """All tokens of the question, the cached ones included."""
    cached: int = 0
    """Those of `input` that the provider had cached."""
    output: int = 0
    """All tokens billed as output, thinking included."""
    thinking: int = 0
    """Those of `output` that are not part of the answer."""


Finish = Literal["stop", "length", "refused", "blocked", "degenerate"]


class Completion(Record):
    """What a model answered: a fact about the request, whether or not the answer is of use."""

    text: str
    finish: Finish
    """`length`: cut, or the question alone is too long. `refused`: by the model. `blocked`: by the
    provider. `degenerate`: it ran in circles until it was cut, each time that it was asked."""
    usage: Usage
    """Nothing but zeros when the server did not say."""
    model: str
    """The exact model that says it answered."""
    calls: tuple[ToolCall, ...] = ()
    """The functions that it wants called."""
    thinking: str = ""
    """What it thought, where the server tells it apart from the answer."""


# -- one sandbox run ---------------------------------------------------------------------------


class BaseRecipe(Record):
    """A base, or a package set on top of one, as Dockerfile lines below the root image."""

    name: str
    lines: str


class BaseImage(Record):
    """A base that the engine holds."""

    recipe: BaseRecipe
    content: str
    """Content digest: of the recipe, and of every installed package with its version."""
    ref: str
    """The engine's name for it."""
    lock: str
    """Lines `package=version`, sorted."""


class ImageRequest(Record):
    """A build as a value: the same request gives the same content."""

    parent: str
    """Content digest of the parent image."""
    parent_ref: str = Field(exclude=True)
    """The engine's name for the parent; not part of the identity."""
    dockerfile: str
    """Everything below FROM, in the classic subset."""
    context: FileTree
    seconds: int = 300
    limit_mb: int = 512
    """Most bytes that the layers may add."""


class Image(Record):
    """A built image, by its content."""

    content: str
    """Content digest: of the parent and of the layers."""
    layers: str
    """Digest of path, mode, owner and hash of every entry that the task's layers add."""
    ref: str
    """The engine's name for it, made from the digest of the request."""
    engine_id: str
    """Engine-local id: the only field that differs between two builds of the same content."""
    bytes_added: int
    extra: str | None = None
    """Blob: tar of added files whose bytes are not in the build context."""
    entries: str
    """Blob: JSON listing of everything that the layers add over the parent."""
    config: str
    """Environment, labels, command lines and history, as text for the leak scan."""


class Built(Record):
    """What a build came to: an image, or the fault of the task that prevents one."""

    image: Image | None = None
    code: str = ""
    detail: str = ""


class Put(Record):
    """A tree put into a container before it starts."""

    target: str
    tree: FileTree
    uid: int = 0
    mode: int = 0o755
    """Permission bits of the target folder."""


class Job(Record):
    """One container, one command, as a value."""

    image: str
    """Content digest."""
    image_ref: str = Field(exclude=True)
    """The engine's name for it; not part of the identity."""
    command: tuple[str, ...]
    uid: int = AGENT_UID
    cwd: str = "/"
    env: tuple[tuple[str, str], ...] = ()
    puts: tuple[Put, ...] = ()
    restore: str | None = None
    """Blob: captured outputs, unpacked below `/.outputs`."""
    capture: tuple[str, ...] = ()
    """Folders taken out of the stopped container by the engine."""
    collect: str | None = None
    """A folder whose small text files are returned."""
    seconds: int = 60
    memory_mb: int = 1024
    cpus: int = 2
    pids: int = 256
    disk_mb: int = 512
    capture_mb: int = 32
    attempt: int = 0
    """Makes a repetition a request of its own."""


Status = Literal["done", "timeout", "memory", "disk", "outputs"]


class JobResult(Record):
    """What one run did. Facts only: no seconds, no host."""

    status: Status
    exit_code: int | None
    output: str
    """Head and tail of stdout and stderr together."""
    captured: str | None = None
    """Blob: deterministic tar of the captured folders."""
    collected: tuple[tuple[str, str], ...] = ()

    @property
    def ok(self) -> bool:
        return self.status == "done" and self.exit_code == 0

    def file(self, name: str) -> str | None:
        return dict(self.collected).get(name)


class Opening(Record):
    """A sandbox that commands will be run in, as a value: what an agent works in."""

    image: str
    """Content digest."""
    image_ref: str = Field(exclude=True)
    """The engine's name for it; not part of the identity."""
    uid: int = AGENT_UID
    cwd: str = HOME
    env: tuple[tuple[str, str], ...] = ()
    puts: tuple[Put, ...] = ()
    seconds: int = 3600
    """Most seconds that the sandbox lives; then it ends by itself, whatever became of us."""
    memory_mb: int = 1024
    cpus: int = 2
    pids: int = 256
    disk_mb: int = 512
    capture_mb: int = 32
    output_bytes: int = 32 * 1024
    """Most that is kept of one command's output, head and tail together."""


End = Literal["done", "timeout", "shell", "memory", "disk", "processes", "over"]
"""How a command ended.

`done`: its shell came to the end of it, or left by `exit`. `timeout`: killed at its limit. `shell`:
its shell went away without a word (`exec`, `kill -9 $$`); the state from before it goes on.
`memory`: something was killed for want of memory. `disk`: killed, the sandbox had written more than
it may. `processes`: no process could be started any more; all were killed. `over`: the sandbox
itself has ended by what the agent did; nothing can be run in it any more.
"""


class Observation(Record):
    """What a command in a session came to: all that the agent gets to see of it.

    Only what the agent caused is an observation; infrastructure trouble is raised as Weather.
    """

    output: str
    """Head and tail of stdout and stderr together, valid text; a line says what was left out."""
    exit_code: int | None
    """None when the command was killed or its shell went away."""
    end: End = "done"
    seconds: float = 0.0
    cut: int = 0
    """Bytes of output that were left out."""

    @property
    def timed_out(self) -> bool:
        return self.end == "timeout"

    @property
    def over(self) -> bool:
        """Nothing can be run any more: capture, and grade what is there."""
        return self.end == "over"


# -- verdicts ----------------------------------------------------------------------------------


class CheckResult(Record):
    name: str
    score: float = Field(ge=0, le=1)
    weight: float = 1.0
    must: bool = False
    detail: str = ""


class Score(Record):
    """Three-valued: passed, failed, or invalid. A grader that did not run is never a 0."""

    reward: float | None = Field(default=None, ge=0, le=1)
    checks: tuple[CheckResult, ...] = ()
    invalid: str = ""
    """Reason code and detail when there is no verdict."""

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.reward is None) == (not self.invalid):
            raise ValueError("a score has a reward or a reason why not, and never both")
        return self

    @property
    def passed(self) -> bool:
        """Strict: everything was right."""
        return self.reward == 1.0


class Evidence(Record):
    """The receipt of one gate."""

    gate: str
    keys: tuple[Key, ...]
    summary: str


class BuiltTask(Record):
    """A draft that passed every gate. Nothing else can be exported."""

    draft: TaskDraft
    image: Image
    base: BaseImage
    evidence: tuple[Evidence, ...]
    baseline: float
    """Reward of the untouched container."""
    repeats: int
    """Times that the reference's grade was repeated, identically, under other conditions."""


class Rejection(Record):
    """A normal ending: which task, at which step, why, and the receipts."""

    spec: TaskSpec | None
    slug: str
    step: str
    code: str
    detail: str
    proof: tuple[Key, ...] = ()


# -- audit -------------------------------------------------------------------------------------

Label = Literal[
    "CLEAN",
    "VERIFIER-TOO-WEAK",
    "INSTR-VERIFIER-MISMATCH",
    "INSTR-ENV-MISMATCH",
    "ANSWER-LEAK",
    "INSTR-AMBIGUOUS",
    "TASK-TRIVIAL",
    "OTHER",
]

Soundness = Literal["accepts-wrong", "rejects-right", "unstable", "unknown"]
"""What is wrong with the verdicts of the task."""

Exploitability = Literal["rollout", "grading", "reward", "layers", "privileged"]
"""What somebody needs who wants to make use of it: what the agent can see or reach while it works;
what its programs can reach while they are graded; nothing but rewards, or a right answer of one's
own; the layers of the published image; knowledge of the hidden tests (such a finding never
rejects)."""


class Place(Record):
    """A line of one of the task's files; line 0 is the file as a whole."""

    file: str
    """`instruction.md`, or a path that begins with `environment/`, `tests/` or `solution/`."""
    line: int = Field(0, ge=0)


class Attack(Record):
    """A submission that does not do the task, as the solution of one run."""

    probe: str
    """The family of attacks, e.g. `filling`."""
    name: str
    label: Label
    """What it proves when it earns something."""
    exploitability: Exploitability
    does: str
    """What it does, in a sentence."""
    tree: FileTree
    """Holds a `solve.sh`."""
    parts: tuple["Attack", ...] = ()
    """The attacks that this one combines: each is tried alone where all together earn something."""
    places: tuple[Place, ...] = ()


class Trial(Record):
    """An attack, an alternative or a mutant after it ran, with what it earned."""

    probe: str
    name: str
    does: str
    keys: tuple[Key, ...]
    reward: float | None
    """None where the grader gave no verdict; then `note` says why."""
    passed: bool
    note: str = ""
    tree: FileTree = FileTree()
    """What ran as the solution; empty for a mutant, which is no submission but graded outputs."""
    outputs: str = ""
    """Blob: a mutant's outputs."""


class Finding(Record):
    """One thing that is wrong with a task. Without a receipt it is a suspicion."""

    label: Label
    code: str
    """Probe or rule, and what it found, e.g. `filling:filled`."""
    severity: int = Field(ge=1, le=3)
    """3: work that knows nothing passes, or right work cannot. 2: the same, with half of the reward
    or with a right answer to begin with. 1: less."""
    message: str
    soundness: Soundness
    exploitability: Exploitability
    places: tuple[Place, ...] = ()
    trial: str = ""
    """`probe:name` of the trial that proves it."""
    proof: tuple[Key, ...] = ()

    @property
    def proven(self) -> bool:
        return bool(self.proof)


class Tier(Record):
    """A tier of the audit: whether it ran, and why not."""

    name: str
    ran: bool
    note: str = ""


class AuditReport(Record):
    """What an audit of a built task came to; label and verdict are derived (`audit.verdict`)."""

    task: str
    """Digest of the draft."""
    image: str
    """Content of the image that it ran in."""
    slug: str
    baseline: float
    tiers: tuple[Tier, ...]
    findings: tuple[Finding, ...]
    trials: tuple[Trial, ...]
    mutants: int = 0
    """Mutants of the reference's outputs that were graded."""
    survivors: tuple[str, ...] = ()
    """Names of those that passed."""

    @property
    def kill_rate(self) -> float | None:
        """Share of mutants that did not pass; None when there were none."""
        return 1 - len(self.survivors) / self.mutants if self.mutants else None


# -- repair ------------------------------------------------------------------------------------


class Criterion(Record):
    """One line of the acceptance matrix: what has to hold of a repaired task."""

    name: str
    holds: bool | None
    """None: there was nothing to hold it to, and `told` says why."""
    told: str
    proof: tuple[Key, ...] = ()


class Repair(Record):
    """One attempt at a task: what was found, what was changed, and what came of it, executed."""

    before: str
    """Digest of the draft that it began with."""
    after: str
    """Digest of the draft that it made; empty when it made none."""
    labels: tuple[Label, ...]
    """Of the findings that it is about."""
    ways: tuple[str, ...]
    """What made the change: mechanical repairs by name, or `llm/NAME` of a model."""
    diagnosis: tuple[str, ...]
    """The findings: codes and messages."""
    changed: tuple[str, ...]
    """`A`, `M` or `D`, and a path of the task."""
    diff: str
    """Unified, and bounded."""
    matrix: tuple[Criterion, ...] = ()
    """Empty when the change was refused before anything ran."""
    refused: str = ""
    """Why it was not accepted; empty when it was."""
    answers: tuple[Key, ...] = ()
    """Receipts of a model's answers."""

    @property
    def accepted(self) -> bool:
        return not self.refused


class Mended(Record):
    """What repairing a task came to."""

    slug: str
    """Of the task as it was found."""
    before: Label
    after: Label | None
    """None: nothing that was tried was accepted, and `reason` says why."""
    trail: tuple[Repair, ...]
    task: BuiltTask
    """The repaired task; the one that was found where there is none."""
    report: AuditReport
    """Of that task."""
    reason: str = ""


# -- episodes ----------------------------------------------------------------------------------


class Tokens(Record):
    """What a token-level backend sampled in one turn, as it was sampled: nothing is tokenised anew.

    The history of an episode is the concatenation of `before` and `ids` over its turns; of it the
    policy sampled `ids`, and nothing else.
    """

    before: tuple[int, ...]
    """Ids between the last sample and this one; of the first turn, the whole first prompt."""
    ids: tuple[int, ...]
    """As sampled, with the id that ended the turn if one was."""
    logprobs: tuple[float, ...]
    """Of each id, under the policy that sampled it."""
    versions: tuple[int, ...]
    """Of the policy that sampled each id: the optimiser steps that it had seen."""

    @model_validator(mode="after")
    def _aligned(self) -> Self:
        if not len(self.ids) == len(self.logprobs) == len(self.versions):
            raise ValueError("each sampled id has one logprob and one version")
        if not all(math.isfinite(logprob) for logprob in self.logprobs):
            raise ValueError("a logprob is not finite")
        return self


class Turn(Record):
    """One sample of the policy, and what it was told then."""

    text: str
    """As it said it, thinking included."""
    finish: Finish
    calls: tuple[ToolCall, ...] = ()
    command: str = ""
    """What was run, or the submit command; empty when it asked for nothing that can be run."""
    mistake: str = ""
    """Why there is no command: `none`, `cut`, `empty`, `tool`, `arguments`."""
    shown: str = ""
    """What the policy was told then; empty at the end."""
    exit_code: int | None = None
    end: End | None = None
    """How the command ended; None when nothing was run."""
    seconds: float = 0.0
    """Of the command."""
    usage: Usage = Usage()
    """Of the sample; nothing but zeros when the server did not say."""
    reused: int = 0
    """Tokens of the prompt that a prefix cache could serve: the longest common beginning of this
    request and of the one before it with its answer."""
    tokens: Tokens | None = None


Ending = Literal[
    "submitted", "steps", "tokens", "seconds", "context", "mistakes", "refused", "sandbox"
]
"""Why an episode ended. `context`: the model can take no longer history. `mistakes`: too many turns
in a row without a command. `refused`: the model, or its provider, says no. `sandbox`: the agent
brought its sandbox down. The others are budgets. All of them are graded."""


class Play(Record):
    """An episode as a value: what is played, by whom, under which budgets, and which sample it is.

    The same play is played, and paid, once.
    """

    task: str
    """Digest of the draft."""
    image: str
    """Content digest."""
    opening: tuple[Message, ...]
    """The first messages: what the agent is, and the task."""
    outputs: tuple[str, ...]
    limits: Limits
    model: str
    settings: str
    """JSON text of the agent's settings, budgets included."""
    sample: int = 0


class Trajectory(Record):
    """What happened in an episode: a fact, whatever it is worth."""

    turns: tuple[Turn, ...]
    ending: Ending
    detail: str = ""
    """For people: what was seen at the end."""
    outputs: str | None
    """Blob: captured outputs; None when they were over the cap."""
    seconds: float
    """Wall clock from the moment that the sandbox was there. A measurement, as tokens are: of two
    plays of the same task no two are alike anyway."""


class Episode(Record):
    """A policy's attempt at a task: a trajectory and its score, or the fault that left it without.

    A fault is trouble of the infrastructure: such an episode says nothing about the policy.
    """

    slug: str
    play: Play
    trajectory: Trajectory | None = None
    score: Score | None = None
    keys: tuple[Key, ...] = ()
    """Receipts: of the trajectory, of the grade."""
    fault: str = ""
    """Code and detail."""

    @model_validator(mode="after")
    def _either(self) -> Self:
        scored = self.trajectory is not None and self.score is not None
        if scored == bool(self.fault):
            raise ValueError("an episode has a trajectory with its score, or a fault")
        return self

    @property
    def passed(self) -> bool:
        return self.score is not None and self.score.passed

    @property
    def valid(self) -> bool:
        """Whether it counts: nothing of ours failed, and the grader gave a verdict."""
        return self.score is not None and not self.score.invalid


class Flag(Record):
    """Something in a trajectory that an honest solution has little reason for."""

    code: str
    turn: int
    """From 1; 0 where it is about what was left in the end."""
    detail: str
