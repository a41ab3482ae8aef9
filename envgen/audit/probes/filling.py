"""Files that look like answers, and programs that answer everything alike.

Covers: existence only, shape only, pass words, words that a source is searched for, literal
answers, accept-all and reject-all, echo, errors that count as success, self-reported figures.
"""

from envgen.audit import naming, submissions
from envgen.audit.probes.gain import gained
from envgen.audit.target import Target
from envgen.files import File
from envgen.records import Attack

judge = gained


def attacks(target: Target) -> tuple[Attack, ...]:
    """Three rounds; each puts one kind of data and one kind of program in all places at once."""
    text, answers = target.instruction, naming.answers(target.instruction)
    told = (*submissions.PASS_WORDS, *naming.words(text))
    rounds = (
        (
            "filled",
            "data of the right form without a right value",
            {p: submissions.shaped(p, text) for p in target.data},
            "programs that always give the first answer, with all told words in comments",
            {p: submissions.constant(p, answers[0], told) for p in target.programs},
        ),
        (
            "nonsense",
            "data that cannot be read",
            {p: File(submissions.NONSENSE) for p in target.data},
            "programs that always give the second answer",
            {p: submissions.constant(p, answers[1]) for p in target.programs},
        ),
        (
            "bare",
            "empty files",
            {p: File(b"") for p in target.data},
            "programs that give back their input",
            {p: submissions.echo(p) for p in target.programs},
        ),
    )
    return tuple(made for one in rounds if (made := _combined(*one)) is not None)


def _combined(
    name: str, does: str, data: dict[str, File], acts: str, programs: dict[str, File]
) -> Attack | None:
    parts = [
        _attack(f"{name}-{kind}", said, files)
        for kind, said, files in (("data", does, data), ("programs", acts, programs))
        if files
    ]
    if len(parts) < 2:
        return parts[0].model_copy(update={"name": name}) if parts else None
    both = _attack(name, f"{does}; {acts}", data | programs)
    return both.model_copy(update={"parts": tuple(parts)})


def _attack(name: str, does: str, files: dict[str, File]) -> Attack:
    return Attack(
        probe="filling",
        name=name,
        label="VERIFIER-TOO-WEAK",
        exploitability="reward",
        does=does,
        tree=submissions.placing(files),
    )
