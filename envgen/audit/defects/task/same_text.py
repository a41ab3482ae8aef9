"""One file, compared with the right one."""

from planted import PLANTED

from verifiers import exact_text


def checks(task):
    yield exact_text.match("text", task.read(PLANTED["paths"][0]), task.truth["text"])
