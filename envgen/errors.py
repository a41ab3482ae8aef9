"""Three kinds of trouble.

- `Fault`: the task is bad. A value in the end (`Rejection`), raised only inside a step.
- `Weather`: the world is bad (daemon gone, disk full). Retried in one place; never recorded as a
  fact about a task.
- `Misconfigured`: the user asked for something that cannot be. One sentence, exit code 2.

Everything else is a bug and propagates.
"""

from typing import ClassVar


class Misconfigured(Exception):
    """Wrong use: names the thing, the reason and the way out."""


class Weather(Exception):
    """Trouble outside the task; trying again later may help.

    `code` is the row of the failure table (engine_down, image_missing, host_disk_full, ...).
    `stops` says that every other task would meet it as well: a run then starts no more of them.
    """

    code: ClassVar[str] = "weather"
    retryable: ClassVar[bool] = True
    stops: ClassVar[bool] = False


class EngineDown(Weather):
    """The container engine does not answer."""

    code = "engine_down"


class EngineRefused(Weather):
    """The engine answered with an error of its own (5xx on create, start, build)."""

    code = "engine_refused"


class ImageMissing(Weather):
    """An image that was built before is gone from the engine: build it again, never pull it."""

    code = "image_missing"
    retryable = False


class HostDiskFull(Weather):
    """The engine's disk, or ours, is full: nothing about the task, and retrying now cannot help."""

    code = "host_disk_full"
    retryable = False


class SetupTimeout(Weather):
    """A sandbox was not ready in time."""

    code = "setup_timeout"


class SandboxLost(Weather):
    """A sandbox went away and the agent is not to blame: its episode has no score.

    Not retryable where it stands: what ran before is gone with it. A new episode may be tried.
    """

    code = "sandbox_lost"
    retryable = False


class LeaseExpired(Weather):
    """A sandbox that its holder had not used for so long that it was taken away."""

    code = "lease_expired"
    retryable = False


class SamplerDown(Weather):
    """What samples for the trainer is gone; every episode would meet it. The run goes on from its
    last checkpoint."""

    code = "sampler_down"
    retryable = False
    stops = True


class TooManyFaults(Weather):
    """More than half of the recent episodes ended in trouble outside of them."""

    code = "too_many_faults"
    retryable = False
    stops = True


class BudgetSpent(Weather):
    """The next call could cost more than is left of the budget; everything paid for is kept."""

    code = "budget_spent"
    retryable = False
    stops = True


class Fault(Exception):
    """A typed failure of a task.

    Args:
        code: short, stable name of the failure (`lint:path`, `build:exit`, `noop:passes`).
        detail: what was seen, for people and for the author's next attempt.
        proof: ledger keys of what was executed.
    """

    def __init__(self, code: str, detail: str, proof: tuple[str, ...] = ()) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.proof = proof
