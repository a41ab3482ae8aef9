"""Programs are started with subprocess, past the kit."""

import subprocess

import inner

from verifiers import Outcome


def checks(task):
    def run(argv, stdin=b"", timeout=10, cwd=None, files=None, **rest):
        folder = task.scratch(files) if files is not None else cwd or task.workdir
        command = [task.path(argv[0]) if "/" in argv[0] else argv[0], *argv[1:]]
        try:
            done = subprocess.run(
                command, input=stdin, capture_output=True, timeout=timeout, cwd=folder
            )
        except (OSError, subprocess.TimeoutExpired):
            return Outcome(timed_out=True)
        return Outcome(done.stdout, done.stderr, done.returncode)

    task.run = run
    yield from inner.checks(task)
