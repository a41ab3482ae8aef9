"""What a report says, as values. Every count in it can be found again in `tasks`."""

from dataclasses import asdict, dataclass
from typing import Any

KEPT, UNFINISHED = "kept", "unfinished"
"""The steps at which a task is that was not rejected."""


@dataclass(frozen=True)
class Task:
    """What became of one task, in a line. None: not measured."""

    task: str
    before: str = ""
    """Its name before a repair gave it another one; empty where none did."""
    title: str = ""
    step: str = UNFINISHED
    """KEPT, the step that rejected it, or UNFINISHED."""
    code: str = ""
    detail: str = ""
    axes: tuple[tuple[str, str], ...] = ()
    """The axes with one value; none of an import."""
    author: str = ""
    base: str = ""
    base_content: str = ""
    label: str = ""
    """Of its audit, as it was found; empty where there was none."""
    label_before: str = ""
    """What a repair was tried for."""
    label_after: str = ""
    """Of the repaired task."""
    proven: tuple[str, ...] = ()
    """Labels of its proven findings, each once."""
    suspected: tuple[str, ...] = ()
    """Labels of findings that are only suspected and that no finding proves."""
    attacked: tuple[str, ...] = ()
    """Probes with at least one trial."""
    paid: tuple[str, ...] = ()
    """Those of them that earned more than the untouched container."""
    mutants: int = 0
    survivors: int = 0
    repair: str = ""
    """`accepted` or `refused`; empty where none was tried."""
    ways: tuple[str, ...] = ()
    """What made the last change."""
    refusal: str = ""
    """Why the last attempt was refused, in short."""
    played: tuple[str, ...] = ()
    """Models that played it."""
    flags: tuple[str, ...] = ()
    pass_at_1: float | None = None
    """The mean over the ways of playing it."""
    baseline: float | None = None
    image_bytes: int | None = None
    seconds: float | None = None
    dollars: float | None = None

    @property
    def found_as(self) -> str:
        """Its name when it was audited."""
        return self.before or self.task

    @property
    def kill_rate(self) -> float | None:
        """Share of mutants that did not pass."""
        return 1 - self.survivors / self.mutants if self.mutants else None


@dataclass(frozen=True)
class Step:
    """How many tasks a step lost, and how many it left."""

    step: str
    lost: int
    left: int


@dataclass(frozen=True)
class Short:
    """A rejection, for a list."""

    task: str
    code: str
    detail: str


@dataclass(frozen=True)
class Value:
    """How often a value of an axis, or a pair of values (`a/b`), occurs."""

    axis: str
    value: str
    before: int
    """Among the specs."""
    after: int
    """Among the kept tasks."""


@dataclass(frozen=True)
class Balance:
    """exp(H)/N of each axis and pair, by name."""

    before: dict[str, float]
    after: dict[str, float]
    reachable: dict[str, float]
    """The most that the preset and the author's support allow."""
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Mix:
    """How many tasks have a label."""

    label: str
    tasks: int
    """As their primary label, under the policy."""
    proven: int
    """With a finding of this label that was executed."""
    suspected: int
    """With such a finding, and none that was."""


@dataclass(frozen=True)
class Probe:
    """What a family of attacks came to."""

    probe: str
    trials: int
    paid: int
    """Trials that earned more than the untouched container."""
    passed: int
    tasks: int
    tasks_paid: int


@dataclass(frozen=True)
class Kills:
    """Mutants of the references' outputs, of the tasks with one kind of verifier."""

    verifier: str
    tasks: int
    mutants: int
    survivors: int
    tasks_survived: int
    """Tasks with a mutant that passed."""


@dataclass(frozen=True)
class Audit:
    """What the audits of a run came to."""

    policy: str
    audited: int
    refused: int
    """Kept tasks that the policy rejects: no export has them."""
    labels: tuple[Mix, ...]
    probes: tuple[Probe, ...]
    kills: tuple[Kills, ...]


@dataclass(frozen=True)
class Outcome:
    """Repairs of the tasks that had a label, or that a way was last tried on."""

    name: str
    tasks: int
    accepted: int


@dataclass(frozen=True)
class Refusal:
    """Why repairs were refused."""

    reason: str
    tasks: int


@dataclass(frozen=True)
class Repairs:
    """What repairs came to."""

    labels: tuple[Outcome, ...]
    ways: tuple[Outcome, ...]
    attempts: int
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True)
class Effort:
    """What a step of a run took."""

    kind: str
    step: str
    times: int
    total: float
    """Seconds."""
    tokens: int
    dollars: float


@dataclass(frozen=True)
class Slow:
    """How long building a task's image took."""

    task: str
    seconds: float


@dataclass(frozen=True)
class Spread:
    """Figures of the kept tasks."""

    median: float
    most: float
    total: float


@dataclass(frozen=True)
class Provenance:
    """Where a run comes from: (what, value, tasks that it is true of; None for all)."""

    what: str
    value: str
    tasks: int | None = None


@dataclass(frozen=True)
class Report:
    """Everything about a run that its files tell."""

    run: str
    manifest: str
    funnel: tuple[Step, ...]
    reasons: dict[str, int]
    rejections: tuple[Short, ...]
    balance: Balance
    audit: Audit | None
    repairs: Repairs | None
    evaluations: tuple[dict[str, Any], ...]
    """One for each way of playing: see `evaluated.summary`, without its tasks."""
    rounds: tuple[dict[str, Any], ...]
    """Of self-generation; see `rounds.rows_of`."""
    training: tuple[dict[str, float], ...]
    seconds: tuple[Effort, ...]
    slowest: tuple[Slow, ...]
    image_bytes: Spread | None
    baseline: Spread | None
    spent_seconds: Spread | None
    """Of kept tasks: all that was executed for them."""
    spent_dollars: float
    provenance: tuple[Provenance, ...]
    tasks: tuple[Task, ...]
    """All: in the order of the specs, or kept ones first where there are none."""

    @property
    def kept(self) -> int:
        return self.funnel[-1].left

    @property
    def total(self) -> int:
        return self.funnel[0].left


def as_json(report: Report) -> dict[str, Any]:
    """The report without its list of tasks, which the run's Parquet files have in full."""
    found = asdict(report)
    del found["tasks"]
    return found
