"""The task's self-test in the agent's own folder decides."""

from planted import PLANTED

from verifiers import Check


def checks(task):
    done = task.run(["/bin/bash", PLANTED["script"]], timeout=30)
    yield Check("self-test", float(done.ok and task.exists(PLANTED["paths"][0])))
