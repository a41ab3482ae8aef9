"""The rendered Dockerfile: golden text, the classic subset, and set-up that tries to get out."""

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen import bases, dockerfile
from envgen.errors import Misconfigured
from envgen.files import File, FileTree
from envgen.records import Environment, TaskDraft

GOLDEN = """\
COPY --chown=1000:1000 own0/ /home/agent/
COPY root/ /
RUN runuser -u agent -- env -i HOME=/home/agent LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin \
/bin/bash -c 'set -eu; ulimit -u 1024 -c 0 -f 524288; cd /home/agent; \
for line in "$@"; do eval "$line"; done' setup 'mkdir -p logs' \
'echo "it'"'"'s $HOME" > logs/first'
"""
INSTRUCTIONS = ("COPY ", "RUN ", "WORKDIR ", "LABEL ")

HOSTILE = {
    "single quote": "echo 'a' > q",
    "quote that opens": "echo it\\'s",
    "command substitution": "echo $(id) `id` $HOME",
    "comment": "true # and nothing after",
    "continuation": "echo a \\",
    "heredoc": "cat <<EOF",
    "background": "sleep 0 &",
    "instruction": "true; FROM scratch",
    "closing bracket": "}; )",
    "directive": "# syntax=docker/dockerfile:1",
    "new argument": "true' 'rm -rf /",
}


def with_setup(draft: TaskDraft, *setup: str) -> TaskDraft:
    return draft.model_copy(
        update={"environment": draft.environment.model_copy(update={"setup": setup})}
    )


def test_golden_text(golden: TaskDraft) -> None:
    assert dockerfile.task_lines(golden) == GOLDEN


def test_context_holds_each_file_below_its_owner(golden: TaskDraft) -> None:
    assert list(dockerfile.context(golden)) == [
        "own0/bin/tool.sh",
        "own0/orders.csv",
        "root/opt/shop/blob.bin",
    ]
    assert dockerfile.context(golden)["own0/bin/tool.sh"].mode == 0o755


def test_each_folder_of_the_agents_is_copied_and_the_nearest_one_holds_a_file(
    golden: TaskDraft,
) -> None:
    files = FileTree({"srv/app/x": b"", "srv/app/out/y": b"", "srv/application/z": b""})
    draft = golden.model_copy(
        update={
            "environment": Environment(base="data_querying", files=files),
            "workdir": "/srv/app",
            "outputs": ("/srv/app/out",),
        }
    )
    assert dockerfile.task_lines(draft) == (
        "COPY --chown=1000:1000 own0/ /srv/app/out/\n"
        "COPY --chown=1000:1000 own1/ /srv/app/\n"
        "COPY root/ /\n"
        "WORKDIR /srv/app\n"
    )
    assert list(dockerfile.context(draft)) == ["own0/y", "own1/x", "root/srv/application/z"]


def test_modes_that_version_control_loses_are_set_in_the_image(golden: TaskDraft) -> None:
    files = {
        "home/agent/key": File(b"k", 0o600),
        "home/agent/it's shut": File(b"s", 0),
        "home/agent/plain": File(b"p"),
        "home/agent/run.sh": File(b"r", 0o755),
    }
    environment = Environment(base=golden.environment.base, files=FileTree(files))
    lines = dockerfile.task_lines(golden.model_copy(update={"environment": environment}))
    shut = "'/home/agent/it'\"'\"'s shut'"
    assert lines == (
        "COPY --chown=1000:1000 own0/ /home/agent/\n"
        f"RUN chmod 0000 {shut} && chmod 0600 /home/agent/key\n"
    )


@pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE)
def test_hostile_setup_stays_one_argument_of_one_run(golden: TaskDraft, command: str) -> None:
    lines = dockerfile.task_lines(with_setup(golden, command, "echo last")).splitlines()
    assert [line.split()[0] for line in lines] == ["COPY", "COPY", "RUN"]
    words = shlex.split(lines[-1].removeprefix("RUN "))
    assert words[:4] == ["runuser", "-u", "agent", "--"]
    assert words[-3:] == ["setup", command, "echo last"]
    assert not lines[-1].endswith("\\")


PLAIN = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=40)


@given(st.lists(PLAIN, min_size=1, max_size=4))
def test_every_plain_line_arrives_as_it_was_written(commands: list[str]) -> None:
    draft = TaskDraft.model_construct(
        environment=Environment(base="x", setup=tuple(commands)),
        workdir="/home/agent",
        outputs=("/home/agent",),
        limits=TaskDraft.model_fields["limits"].default,
    )
    (line,) = dockerfile.task_lines(draft).splitlines()
    assert shlex.split(line)[-len(commands) :] == commands


def test_a_comment_in_one_command_does_not_swallow_the_next(golden: TaskDraft) -> None:
    draft = with_setup(golden, "echo one # first", "echo two &", "wait", "false", "echo never")
    line = dockerfile.task_lines(draft).splitlines()[-1]
    words = shlex.split(line.removeprefix("RUN "))
    script = words[words.index("/bin/bash") :]
    script[2] = script[2].replace("ulimit -u 1024 -c 0 -f 524288; cd /home/agent; ", "")
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("one\ntwo\n", 1)


@pytest.mark.parametrize("base", bases.names())
def test_every_base_is_in_the_classic_subset(base: str) -> None:
    lines = bases.recipe(base).lines.splitlines()
    assert all(line.startswith(INSTRUCTIONS) for line in lines)
    assert not any(word in line for line in lines for word in ("--mount", "<<", "ADD ", "syntax="))


def test_every_base_begins_with_the_same_line() -> None:
    assert len({bases.recipe(base).lines.splitlines()[0] for base in bases.names()}) == 1


def test_a_package_set_is_its_base_and_one_line_more() -> None:
    plain, more = bases.recipe("security"), bases.recipe("security", ("jq", "bc"))
    assert more.lines == plain.lines + dockerfile.install_line(("bc", "jq"))
    assert more.name == "security+bc+jq"


def test_installing_leaves_no_index_behind_and_sorts() -> None:
    line = dockerfile.install_line(("b", "a"))
    assert "--no-install-recommends a b && rm -rf /var/lib/apt/lists/*" in line


@pytest.mark.parametrize("package", ["a b", "x;id", "-y", "../x", "", "A", "x\n"])
def test_what_is_no_package_name_is_refused(package: str) -> None:
    with pytest.raises(Misconfigured, match="is not the name of a Debian package"):
        bases.recipe("security", (package,))


def test_an_unknown_base_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(Misconfigured, match="no base 'nowhere': known are data_processing, "):
        bases.recipe("nowhere")
