"""A task's jobs: what all of them share, and the circumstances of a grade."""

from typing import Any

from envgen.records import Image, Job, JobResult, Opening, Put, Record, TaskDraft

PYTHON = ("/usr/bin/python3", "-I", "-B")
LOGS = "/logs/verifier"


class Conditions(Record):
    """Circumstances that must not change a grade."""

    hash_seed: int = 0
    zone: str = "UTC0"
    locale: str = "C.UTF-8"
    cpus: int = 2
    halved: bool = False
    """With half of the task's memory."""
    puts: tuple[Put, ...] = ()
    """What else the container gets, such as another clock."""

    def env(self) -> tuple[tuple[str, str], ...]:
        return (
            ("LC_ALL", self.locale),
            ("PYTHONHASHSEED", str(self.hash_seed)),
            ("TZ", self.zone),
        )

    def memory_mb(self, draft: TaskDraft) -> int:
        return draft.limits.memory_mb // (2 if self.halved else 1)


def job_of(draft: TaskDraft, image: Image, **fields: Any) -> Job:
    """A job in a task's image, under the task's limits."""
    return Job(**(_limits(draft, image) | fields))


def opening_of(draft: TaskDraft, image: Image, **fields: Any) -> Opening:
    """A sandbox of a task's image to run commands in, under the task's limits."""
    return Opening(**(_limits(draft, image) | fields))


def _limits(draft: TaskDraft, image: Image) -> dict[str, Any]:
    limits = draft.limits
    return {
        "image": image.content,
        "image_ref": image.ref,
        "memory_mb": limits.memory_mb,
        "pids": limits.pids,
        "disk_mb": limits.disk_mb,
        "cpus": limits.cpus,
        "capture_mb": limits.outputs_mb,
    }


def last(result: JobResult) -> str:
    """The end of what a job said, on one line."""
    return " ".join(result.output.split())[-300:]
