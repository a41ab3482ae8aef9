"""Commands in the documents: each can be typed, and those that need nothing special are run."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from envgen.cli import app
from tests.docs.pages import PAGES, ROOT, Block, blocks, commands
from tests.pipeline.conftest import engine_passed

__all__ = ["engine_passed"]

CALLS = [(page.name, words) for page in PAGES for words in commands(page)]


def parsed(words: list[str]) -> str:
    """The command that these words call. Raises what a wrong use raises."""
    command: Any = typer.main.get_command(app)
    name, rest, parent = "envgen", [w for w in words[1:] if w != "--help"], None
    while True:
        try:
            context = command.make_context(name, list(rest), parent=parent)
        except Exception:
            if rest:
                raise
            # "`envgen export sft` writes ...": named, not typed
            return f"envgen {name}"
        if not isinstance(command, TyperGroup):
            return str(context.command_path)
        rest = [*context._protected_args, *context.args]
        if not rest:
            return str(context.command_path)
        name, command, rest = command.resolve_command(context, rest)
        parent = context


def test_commands_are_found() -> None:
    assert len(CALLS) > 60
    assert ("audit.md", ["envgen", "audit", "--run", "tour"]) in CALLS


@pytest.mark.parametrize(("page", "words"), CALLS)
def test_every_command_can_be_typed(page: str, words: list[str]) -> None:
    del page
    assert parsed(words).startswith("envgen")


@pytest.mark.parametrize("words", ["envgen audit --rum x", "envgen adit", "envgen build --shard"])
def test_a_command_that_cannot_be_typed_is_found(words: str) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|requires"):
        parsed(words.split())


def test_every_target_and_script_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        text = page.read_text()
        named = re.findall(r"^make ([a-z-]+)|`make ([a-z-]+)`", text, re.MULTILINE)
        assert {one or other for one, other in named} <= targets, page
        for path in re.findall(r"\bscripts/\w+\.(?:py|sh)\b", text):
            assert (ROOT / path).exists(), (page, path)


def test_every_block_says_what_it_is() -> None:
    assert [b for page in PAGES for b in blocks(page) if not b.kind] == []


# -- run ---------------------------------------------------------------------------------------

FIRST = ("docs/quickstart.md", "docs/other-corpora.md")
"""The runs that these make are what other pages speak of."""
RUN = [b for page in PAGES for b in blocks(page) if b.kind == "sh" and not b.needs]
RUN.sort(key=lambda block: FIRST.index(block.page) if block.page in FIRST else len(FIRST))


def typed(block: Block, folder: Path) -> None:
    """Type a block into a shell, as a reader would."""
    task = "TASK=$(ls data/runs/tour/tasks 2>/dev/null | head -n 1)"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", f"{task}\n{block.text}"],
        cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=600,
        check=False,
    )  # fmt: skip
    said = f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
    assert done.returncode == 0, f"{block.page}:{block.line}\n{block.text}\n{said}"


@pytest.mark.box
def test_blocks_that_need_nothing_run_in_their_order(
    tmp_path: Path, engine_passed: Callable[[Path], None]
) -> None:
    for name in ("tour", "other", "imported"):
        engine_passed(tmp_path / "data" / "runs" / name)
    assert RUN[0].page == FIRST[0] and len(RUN) >= 12
    for block in RUN:
        typed(block, tmp_path)
        print(f"{block.page}:{block.line} ran")
