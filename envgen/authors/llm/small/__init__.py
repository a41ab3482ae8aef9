"""The small profile: for models of one or two billion parameters, which are asked for little.

The model invents the data, chooses the questions from a form that lets only sound ones be said, and
solves the task from its instruction alone. Rows, sentences, expected results and the check are made
here from what it said, so they agree; what is proven by the gates is that the task can be solved.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from envgen import axes
from envgen.authors.llm.ask import Manner, Talk, author_of
from envgen.authors.llm.blocks import nonce_of, read
from envgen.authors.llm.contents import Rules, trouble_of
from envgen.authors.llm.forms import text_of
from envgen.authors.llm.small import data as datas
from envgen.authors.llm.small import items as asks
from envgen.authors.llm.small import plan
from envgen.authors.llm.small.shapes import Composed, Shape, compose, gaps_of
from envgen.authors.llm.small.worked import worked
from envgen.errors import Fault
from envgen.files import File, FileTree
from envgen.kit import Kit
from envgen.records import Environment, Limits, Rejection, TaskDraft, TaskSpec
from envgen.share import share

FORMS = Manner(temperature=0.6, max_tokens=600, rounds=3, forgets=True)
CODE = Manner(temperature=0.2, max_tokens=700, rounds=2, forgets=True)
LIMITS = Limits(agent_seconds=120, verify_seconds=120, build_seconds=120, disk_mb=64, memory_mb=512)


async def written(
    spec: TaskSpec, trail: Sequence[Rejection], kit: Kit, texts: axes.Catalogue
) -> TaskDraft:
    """The draft after what the gates said of the earlier ones. Raises Fault."""
    if not plan.realises(spec):
        raise Fault("author:unsupported", "the small profile does not realise these axis values")
    shape = plan.shape_of(spec)
    data = await _data(spec, shape, kit, texts)
    task = await _task(spec, shape, data, kit)
    decimals = any(column.holds == "amount" for column in data.columns)
    solution = await _solution(spec, shape, task, kit, decimals, len(trail))
    return TaskDraft(
        spec=spec,
        author=author_of(kit),
        revision=len(trail),
        title=task.title,
        instruction=task.instruction,
        environment=Environment(base=spec.domain, files=task.files),
        initial=task.initial,
        tests=task.tests,
        solution=solution,
        limits=LIMITS,
    )


# -- the three calls ---------------------------------------------------------------------------


async def _data(spec: TaskSpec, shape: Shape, kit: Kit, texts: axes.Catalogue) -> datas.Data:
    talk = Talk(spec.slug, kit, "task", FORMS, text_of(datas.schema(shape.wanted)))
    talk.say(
        "small/data.md.j2",
        persona=spec.persona,
        domain=texts.text("domain", spec.domain),
        skill=texts.text("skill_type", spec.skill_type, spec.domain),
        wanted=shape.wanted,
        example=_example(),
    )
    return await talk.answer(lambda text: _own(datas.read_data(text, shape.wanted)))


@cache
def _example() -> str:
    return (share("prompts") / "small" / "example.json").read_text().strip()


def _own(data: datas.Data) -> datas.Data:
    """The data, unless they are those of the example: small models like to hand it back."""
    words = {data.file, data.record, *(w for c in data.columns for w in (c.name, *c.choices))}
    if len(taken := sorted(word for word in words if f'"{word}"' in _example())) > 1:
        raise ValueError(f"{' and '.join(taken)} are from the example: write about the person")
    return data


async def _task(spec: TaskSpec, shape: Shape, data: datas.Data, kit: Kit) -> Composed:
    if not shape.needs:
        return compose(spec, shape, data, ())
    gaps = gaps_of(shape, data)
    talk = Talk(spec.slug, kit, "verifier", FORMS, text_of(asks.schema(data, gaps, shape.needs)))
    talk.say("small/items.md.j2", data=data, needs=shape.needs)
    return await talk.answer(
        lambda text: compose(spec, shape, data, asks.read_items(text, data, gaps, shape.needs))
    )


async def _solution(
    spec: TaskSpec, shape: Shape, task: Composed, kit: Kit, decimals: bool, failed: int
) -> FileTree:
    """The solution; after failed ones, the same question a little warmer.

    A small model that is shown its wrong program explains it and hands it back.
    """
    manner = replace(CODE, temperature=CODE.temperature + 0.25 * failed)
    talk = Talk(spec.slug, kit, "solution", manner)
    talk.say(
        "small/solution.md.j2",
        what=f"the program {shape.program}" if shape.program else "a Bash script",
        instruction=task.instruction,
        file=task.file,
        head=task.head,
        example=worked(shape, decimals),
        fence=shape.language,
    )
    return await talk.answer(lambda text: _code(text, shape, task.file))


def code_name(shape: Shape) -> str:
    """The file that the model writes."""
    return shape.program or "work.sh"


def _code(text: str, shape: Shape, file: str) -> FileTree:
    """The solution in an answer: the program or script, and what puts it in its place."""
    name = code_name(shape)
    answer = read(text, nonce_of("small"), only=name)
    if answer.trouble or not answer.whole:
        raise ValueError(answer.trouble or "the code block is not closed")
    code = FileTree({name: File(answer.files[name].data)})
    if reason := trouble_of(code, Rules(".*", finished=True)):
        raise ValueError(reason)
    return code.merged(FileTree({"solve.sh": File(_solve(shape, file).encode(), 0o755)}))


def _solve(shape: Shape, file: str) -> str:
    """Carries the model's code out, then shows what it made, as anybody would look."""
    here = 'cd "$HOME"\nhere=$(dirname "$0")\n'
    if not shape.program:
        return f'#!/bin/bash\n{here}bash "$here/work.sh"\nhead -c 800 {shape.report}\n'
    start = "bash" if shape.language == "bash" else "python3"
    copied = f'#!/bin/bash\nset -e\n{here}cp "$here/{shape.program}" .\n'
    if shape.report:
        return f"{copied}{start} {shape.program} > {shape.report}\nhead -c 800 {shape.report}\n"
    return f"{copied}{start} {shape.program} < {file} | head -c 800\n"
