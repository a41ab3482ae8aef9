"""What replies ask for: blocks, calls, mistakes, and the one command that submits."""

import json

import pytest

from envgen.agent import Reply
from envgen.agent.parsing import Action, by_block, by_call
from envgen.agent.policies import thoughtless
from envgen.records import Finish, ToolCall


def said(text: str, finish: Finish = "stop") -> Action:
    return by_block(Reply(text, finish))


BLOCKS = {
    "plain": ("Look.\n```bash\nls -la\n```\nThen more.", Action("ls -la")),
    "sh": ("```sh\nls\n```", Action("ls")),
    "capitals": ("```Bash\nls\n```", Action("ls")),
    "tildes": ("~~~bash\nls\n~~~", Action("ls")),
    "no word": ("```\nls\n```", Action("ls")),
    "the marked one": ("```\nan example\n```\n```bash\nls\n```", Action("ls")),
    "other languages are no commands": ("```python\nprint()\n```", Action(mistake="none")),
    "first of two": ("```bash\none\n```\n```bash\ntwo\n```", Action("one", left=1)),
    "many lines": ("```bash\ncat > a <<'E'\nx\nE\n\nls\n```", Action("cat > a <<'E'\nx\nE\n\nls")),
    "a longer fence": (
        "````bash\ncat > a.md <<'E'\n```\ncode\n```\nE\n````",
        Action("cat > a.md <<'E'\n```\ncode\n```\nE"),
    ),
    "a fence in the middle of a line": ("```bash\necho '```'\n```", Action("echo '```'")),
    "not closed": ("```bash\nls", Action("ls")),
    "indented": ("  ```bash\nls\n  ```", Action("ls")),
    "nothing": ("I am done.", Action(mistake="none")),
    "empty": ("```bash\n\n```", Action(mistake="empty")),
    "NUL": ("```bash\nls \0\n```", Action(mistake="arguments")),
    "in thinking only": ("<think>```bash\nrm -rf .\n```</think>Hm.", Action(mistake="none")),
    "behind thinking": ("<think>\n```bash\nno\n```\n</think>\n```bash\nls\n```", Action("ls")),
    "thinking that the template opened": ("hm\n```bash\nno\n```\n</think>\n```bash\nls\n```",
                                          Action("ls")),
    "submit": ("```bash\nsubmit\n```", Action("submit")),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name: str) -> None:
    text, wanted = BLOCKS[name]
    assert said(text) == wanted


def test_a_block_that_was_cut_is_not_run() -> None:
    assert said("```bash\nrm -rf /tmp/a /home/ag", "length") == Action(mistake="cut")
    assert said("I think that", "length") == Action(mistake="cut")
    assert said("```bash\nls\n```\nand then I", "length") == Action("ls")


def test_thinking_is_taken_off_whole_or_unfinished() -> None:
    assert thoughtless("<think>a</think>\n\nb</think>c") == "b</think>c"
    assert thoughtless("<think>never closed ```bash\nls\n```") == ""
    assert thoughtless("no thinking <b>") == "no thinking <b>"


def called(*calls: tuple[str, str], finish: Finish = "stop") -> Action:
    made = tuple(ToolCall(ref=str(n), name=a, arguments=b) for n, (a, b) in enumerate(calls))
    return by_call(Reply("", finish, made))


CALLS = {
    "one": ([("bash", '{"command": "ls"}')], Action("ls")),
    "more of it": ([("bash", '{"command": "ls", "timeout": -1}')], Action("ls")),
    "two": ([("bash", '{"command": "a"}'), ("bash", '{"command": "b"}')], Action("a", left=1)),
    "none": ([], Action(mistake="none")),
    "another tool": ([("python", '{"command": "ls"}')], Action(mistake="tool")),
    "no JSON": ([("bash", "ls -la")], Action(mistake="arguments")),
    "a list": ([("bash", '["ls"]')], Action(mistake="arguments")),
    "no command": ([("bash", '{"cmd": "ls"}')], Action(mistake="arguments")),
    "a number": ([("bash", '{"command": 7}')], Action(mistake="arguments")),
    "deep": ([("bash", "[" * 100_000)], Action(mistake="arguments")),
    "empty": ([("bash", '{"command": "  "}')], Action(mistake="empty")),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    calls, wanted = CALLS[name]
    assert called(*calls) == wanted


def test_a_call_that_was_cut_is_not_run() -> None:
    assert called(("bash", '{"command": "rm -rf /ho'), finish="length") == Action(mistake="cut")


def test_only_the_bare_command_submits() -> None:
    assert Action("submit").submits
    assert Action("  submit \n").submits
    for text in (
        "echo submit",
        "ls\nsubmit",
        "submit; ls",
        "submit && ls",
        "./submit",
        "SUBMIT",
        "cat <<'E'\nsubmit\nE",
        "# submit",
        "",
    ):
        assert not Action(text).submits, text
    assert not by_call(
        Reply("submit", "stop", (ToolCall(ref="1", name="bash", arguments=json.dumps("submit")),))
    ).submits
