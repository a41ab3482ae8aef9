"""Most of the reward is for what is there from the start."""

import inner

from verifiers import Check


def checks(task):
    yield Check("the work folder is there", float(task.exists(".")), weight=200.0)
    for check in inner.checks(task):
        yield check._replace(must=False)
