"""Outputs are there: that is all."""

from planted import PLANTED

from verifiers import Check


def checks(task):
    for path in PLANTED["paths"]:
        yield Check(f"{path} is there", float(task.exists(path)))
