"""Only bad records are shown to the filter."""

import inner

from verifiers import Check


def checks(task):
    program = task.read(task.truth["gate"])
    yield Check("the filter is there", float(bool(program)), must=True)
    answers = inner.ask(task, program) if program else {}
    for rule, corpus in sorted(task.truth["corpora"].items()):
        bad = [answers.get(line) is False for line in corpus["malicious"]]
        yield Check(rule, sum(bad) / len(bad))
