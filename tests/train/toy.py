"""A tiny task for a tiny model: read the file that is asked for, write the word that it holds.

Three turns: `cat f2`, `echo WORD > answer`, `submit`. The model has a vocabulary of twenty words
and no tokenizer; before the training it is shown trajectories whose arguments are right half of the
time, so that it solves about a quarter.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from envgen.config import RunConfig
from envgen.files import FileTree
from envgen.grade import build_image
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import Environment, Image, Limits, Message, TaskDraft
from tests.train import tiny

FILES = tuple(f"f{n}" for n in range(4))
WORDS = ("amber", "birch", "coral", "delta", "ember", "flint", "grove", "haven")
END, TASK, SEES, ASK, NOTHING, CAT, ECHO, SUBMIT = range(8)
FIRST_FILE, FIRST_WORD = 8, 8 + len(FILES)
VOCABULARY = FIRST_WORD + len(WORDS)
CHECK = """\
from verifiers import Check, Task, exact_text


def checks(task: Task):
    yield exact_text.match("answer", task.read("answer"), task.truth["answer"], must=True)
"""


@dataclass
class WordChat:
    """A `Chat` of one id a word: of all that is said it keeps what the task is about."""

    ends: tuple[int, ...] = (END,)

    def opening(self, heard: Sequence[Message]) -> tuple[int, ...]:
        asked = re.search(r"Read (f\d)", heard[-1].text)
        assert asked
        return (TASK, FIRST_FILE + FILES.index(asked[1]), ASK)

    def between(self, heard: Sequence[Message], *, ended: bool) -> tuple[int, ...]:
        words = re.findall("|".join(WORDS), heard[-1].text)
        shown = FIRST_WORD + WORDS.index(words[0]) if words else NOTHING
        return (*(() if ended else self.ends), SEES, shown, ASK)

    def text(self, ids: tuple[int, ...]) -> str:
        verbs = {CAT: "cat {}", ECHO: "echo {} > answer", SUBMIT: "submit"}
        names = dict(enumerate((*FILES, *WORDS), FIRST_FILE))
        if not ids or ids[0] not in verbs:
            return "?"
        said = " ".join(names.get(i, "?") for i in ids[1:] if i != END)
        return f"```bash\n{verbs[ids[0]].format(said)}\n```"


def draft_of(file: int, variant: int) -> TaskDraft:
    """The task of one file, in one of two environments."""
    words = Random(variant).sample(WORDS, len(FILES))
    pairs = zip(FILES, words, strict=True)
    held = {f"home/agent/{name}": f"{word}\n" for name, word in pairs}
    return TaskDraft(
        spec=None,
        author="test",
        title="Read a file",
        instruction=f"Read {FILES[file]}, and write the word that it holds to answer.",
        environment=Environment(base="file_operations", files=FileTree(held)),
        tests=FileTree({"check.py": CHECK, "truth.json": f'{{"answer": "{words[file]}"}}'}),
        solution=FileTree({"solve.sh": f"cp {FILES[file]} answer\n"}),
        limits=Limits(agent_seconds=60, verify_seconds=60, build_seconds=60, disk_mb=64),
    )


async def tasks(kit: Kit) -> dict[str, tuple[TaskDraft, Image]]:
    """Eight tasks on two images."""
    found = {}
    for variant in range(2):
        for file in range(len(FILES)):
            draft = draft_of(file, variant)
            _, image, _ = await build_image(draft, kit, Use("toy", "train"))
            found[f"{FILES[file]}-{variant}"] = (draft, image)
    return found


def settings(model: Path, **changes: Any) -> RunConfig:
    """Few and short episodes, large steps."""
    fields = {
        "model": str(model),
        "dtype": "float32",
        "sampler": "transformers",
        "group": 8,
        "groups": 4,
        "ahead": 2,
        "context": 64,
        "learning_rate": 3e-3,
        "save_every": 1000,
        "eval_every": 1000,
        "alarm_seconds": 300,
    }
    agent = {"steps": 3, "turn_tokens": 3, "mistakes": 0, "command_seconds": 10, "seconds": 50}
    return RunConfig.model_validate({"train": fields | changes, "agent": agent})


def warm(folder: Path, seed: int, steps: int = 300, right: float = 0.5) -> Path:
    """A model that knows the form of an answer, and its content half of the time."""
    import torch
    from transformers import AutoModelForCausalLM

    tiny.model(folder, VOCABULARY, seed=seed)
    model = AutoModelForCausalLM.from_pretrained(folder)
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    draw = Random(seed)

    def chosen(wanted: int, first: int, number: int) -> int:
        return wanted if draw.random() < right else first + draw.randrange(number)

    for _ in range(steps):
        rows = []
        for _ in range(64):
            file = FIRST_FILE + draw.randrange(len(FILES))
            word = FIRST_WORD + draw.randrange(len(WORDS))
            read = (TASK, file, ASK, CAT, chosen(file, FIRST_FILE, len(FILES)), END)
            write = (SEES, word, ASK, ECHO, chosen(word, FIRST_WORD, len(WORDS)), END)
            rows.append((*read, *write, SEES, NOTHING, ASK, SUBMIT, END))
        ids = torch.tensor(rows)
        logits = model(ids).logits[:, :-1]
        sampled = torch.tensor([False] * 2 + ([True] * 3 + [False] * 3) * 2 + [True] * 2)
        loss = torch.nn.functional.cross_entropy(
            logits[:, sampled].flatten(0, 1), ids[:, 1:][:, sampled].flatten()
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.save_pretrained(folder)
    return folder
