"""A task's jobs: what all of them share."""

from typing import Any

from envgen.records import Image, Job, JobResult, TaskDraft

PYTHON = ("/usr/bin/python3", "-I", "-B")
LOGS = "/logs/verifier"


def job_of(draft: TaskDraft, image: Image, **fields: Any) -> Job:
    """A job in a task's image, under the task's limits."""
    limits = draft.limits
    shared = {
        "image": image.content,
        "image_ref": image.ref,
        "memory_mb": limits.memory_mb,
        "pids": limits.pids,
        "disk_mb": limits.disk_mb,
        "cpus": limits.cpus,
        "capture_mb": limits.outputs_mb,
    }
    return Job(**(shared | fields))


def last(result: JobResult) -> str:
    """The end of what a job said, on one line."""
    return " ".join(result.output.split())[-300:]
