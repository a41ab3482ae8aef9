"""The program is run on the stream that is in the agent's folder: its answer can be recorded."""

import base64

import inner
from planted import PLANTED

from verifiers import exact_text


def checks(task):
    source = task.read(PLANTED["program"])
    run = task.truth["runs"][0]
    inner.MEMORY_MB = 512
    found = inner._outputs(task, source, base64.b64decode(run["stream"]))
    for name, expected in run["outputs"].items():
        yield exact_text.match(name, found.get(name), "\n".join(expected) + "\n")
