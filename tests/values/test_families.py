"""The pure part of the procedural families: many different tasks, the same ones every time."""

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from envgen import axes
from envgen.authors.procedural import chosen, composition, names, rng_of
from envgen.authors.procedural.family import Composition, article, introduced
from envgen.digest import digest
from envgen.lint import lint
from envgen.records import Environment, TaskDraft, TaskSpec

N = 200
SEED = 7
CATALOGUE = axes.load()


@cache
def specs(name: str, n: int = N) -> tuple[TaskSpec, ...]:
    support = [chosen((name,))[0].realises]
    return tuple(axes.spec_of(row) for row in axes.sample(CATALOGUE, SEED, n, support=support))


@cache
def made(name: str) -> list[Composition]:
    """The compositions of a family's specs."""
    family = chosen((name,))[0]
    return [composition(spec, family) for spec in specs(name)]


def environment(one: Composition) -> str:
    """Digest of all that the environment is made of, recipes included."""
    recipes = [[r.base, r.files.digest, r.command, r.target, dict(r.modes)] for r in one.recipes]
    return digest([one.base, one.files.digest, list(one.setup), recipes])


def whole(one: Composition) -> str:
    trees = [one.tests, one.solution, *one.wrong.values(), *one.valid.values()]
    return digest([one.title, one.instruction, environment(one), [t.digest for t in trees]])


def test_there_are_families_for_every_domain() -> None:
    assert len(names()) >= 9
    realised = {domain for name in names() for domain in chosen((name,))[0].realises["domain"]}
    assert realised == set(CATALOGUE.names("domain"))


@pytest.mark.parametrize("name", names())
def test_specs_of_a_family_give_different_tasks(name: str) -> None:
    compositions = made(name)
    assert len({one.instruction for one in compositions}) == N
    assert len({environment(one) for one in compositions}) == N


@pytest.mark.parametrize("name", names())
def test_a_family_brings_wrong_and_valid_solutions(name: str) -> None:
    for one in made(name):
        assert len(one.wrong) >= 3
        assert len(one.valid) >= 1
        trees = [one.solution, *one.wrong.values(), *one.valid.values()]
        assert all("solve.sh" in tree for tree in trees)
        assert len({tree.digest for tree in trees}) == len(trees)


@pytest.mark.parametrize("name", names())
def test_drafts_of_a_family_are_well_formed(name: str) -> None:
    for spec, one in zip(specs(name), made(name), strict=True):
        lint(
            TaskDraft(
                spec=spec,
                author=f"procedural/{name}",
                title=one.title,
                instruction=one.instruction,
                environment=Environment(base=one.base, files=one.files, setup=one.setup),
                initial=one.initial,
                tests=one.tests,
                solution=one.solution,
                workdir=one.workdir,
                outputs=one.outputs,
                hide=one.hide,
                secrets=one.secrets,
                limits=one.limits,
            )
        )


PERSONAS = {
    "archivist working": "an archivist working",
    "photographer merging": "a photographer merging",
    "operations engineer": "an operations engineer",
    "university lecturer": "a university lecturer",
    "undergraduate on duty": "an undergraduate on duty",
    "hourly paid clerk": "an hourly paid clerk",
    "hospital registrar": "a hospital registrar",
    "only administrator of a small company": "the only administrator of a small company",
    "head of a project": "the head of a project",
    "manager of a list": "the manager of a list",
    "release manager with a bundle": "a release manager with a bundle",
    "second-level support at a provider": "second-level support at a provider",
    "customer support engineer": "a customer support engineer",
    "the last one here": "the last one here",
    "an auditor": "an auditor",
}


def test_personas_are_introduced_with_their_article() -> None:
    assert {persona: introduced(persona) for persona in PERSONAS} == PERSONAS
    words = ("hour", "euro", "one-off", "union", "urn", "utility", "usual one", "island", "Zone")
    assert [article(word) for word in words] == ["an", "a", "a", "a", "an", "a", "a", "an", "a"]


@pytest.mark.parametrize("name", names())
def test_every_instruction_introduces_its_persona_once(name: str) -> None:
    """In its first sentences."""
    for spec, one in zip(specs(name), made(name), strict=True):
        said = " ".join(one.instruction.split())
        whom = f"I am {introduced(spec.persona)}"
        assert re.search(rf"{re.escape(whom)}[.,;]", said[:600]), said[:600]
        assert said.count(spec.persona) == 1


SLIPS = {
    "two spaces": r"\S  +\S",
    "a space at an end": r" \n",
    "empty lines": r"\n\n\n|\n\n\Z|[^\n]\Z",
    "a before a vowel": r"(\ba|[.:;] A) (?!one\b|or\b)[aeio][a-z]",
    "an before a consonant": r"\b[Aa]n (?!ho[nu])[b-df-hj-np-tv-z]",
    "one of several": r"(?<!version )(?<![\w.,:/-])1 (?!is\b|has\b|was\b)[a-z]+s\b",
    "a word twice": r"\b([a-z]{2,}) \1\b",
    "odd marks": r"\s[,;]|[,;:] ?[,;:]|[,;:] ?\.(?!\.)|\{\{|\}\}",
    "nothing": r"\bNone\b",
}


@pytest.mark.parametrize("name", names())
def test_instructions_have_no_slips_of_the_pen(name: str) -> None:
    found = set[tuple[str, str]]()
    for one in made(name):
        prose = re.sub(r"```.*?```", "```", one.instruction, flags=re.DOTALL)
        prose = re.sub(r"`[^`\n]*`", "§", prose)
        lines = prose.split("\n")
        prose = "\n".join("§" if line[:4] == "    " else line.lstrip() for line in lines)
        for slip, pattern in SLIPS.items():
            if slipped := re.search(pattern, prose):
                found.add((slip, prose[max(0, slipped.start() - 30) : slipped.end() + 20]))
    assert found == set()


@pytest.mark.parametrize("name", names())
def test_nothing_hidden_stands_in_instruction_or_environment(name: str) -> None:
    for one in made(name)[:50]:
        hidden = {f.sha256 for f in (*one.tests.values(), *one.solution.values()) if f.data}
        assert hidden.isdisjoint(file.sha256 for file in one.files.values())
        assert not [secret for secret in one.secrets if secret in one.instruction]


def first_few() -> dict[str, list[str]]:
    """Digests of a few tasks of every family."""
    return {n: [whole(composition(s, chosen((n,))[0])) for s in specs(n, 6)] for n in names()}


HASH_SEEDS = ("1", "4242")
SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tests.values.test_families import first_few
print(json.dumps(first_few()))
"""


def test_the_same_specs_give_the_same_tasks_in_every_process() -> None:
    root = str(Path(__file__).parents[2])
    said = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, root],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in HASH_SEEDS
    ]
    assert said[0] == said[1]
    assert json.loads(said[0]) == first_few()


def test_composing_takes_nothing_from_outside_its_generator() -> None:
    for name in names():
        family, spec = chosen((name,))[0], specs(name)[0]
        first = family.compose(spec, rng_of(spec, name))
        other = family.compose(spec, rng_of(specs(name)[1], name))
        assert whole(first) == whole(family.compose(spec, rng_of(spec, name)))
        assert whole(first) != whole(other)


WANTED = {
    "verifier": set(CATALOGUE.names("verifier")),
    "fixture": set(CATALOGUE.names("fixture")),
    "task_complexity": set(CATALOGUE.names("task_complexity")),
    "command_complexity": set(CATALOGUE.names("command_complexity")),
}


@pytest.mark.parametrize("axis", WANTED)
def test_families_together_realise(axis: str) -> None:
    realised = {v for name in names() for v in chosen((name,))[0].realises[axis]}
    assert realised >= WANTED[axis]
    drawn = {getattr(spec, axis) for name in names() for spec in specs(name)}
    assert drawn >= WANTED[axis]


def archives(data: bytes) -> Iterator[dict[str, bytes]]:
    """What an archive holds, and what the archives in it do."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as folder:
            held = {name: folder.read(name) for name in folder.namelist()}
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as tree:
            held = {m.name: tree.extractfile(m).read() for m in tree}  # type: ignore[union-attr]
    yield held
    for name, inner in held.items():
        if re.search(r"\.(zip|tgz|tar(\.\w+)?)$", name):
            yield from archives(inner)


@pytest.mark.parametrize("seed", [SEED, 4243])
def test_no_archive_of_a_hand_over_is_empty(seed: int) -> None:
    """`unzip` fails on one, and so would a reference."""
    family = chosen(("archive_recovery",))[0]
    rows = axes.sample(CATALOGUE, seed, 60, support=[family.realises])
    for row in rows:
        files = composition(axes.spec_of(row), family).files
        outer = [f.data for p, f in files.items() if re.search(r"\.(zip|tgz|tar(\.\w+)?)$", p)]
        assert all(held for held in archives(outer[0]))
