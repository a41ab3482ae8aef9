"""What a command's bash is told, and what is believed of its report: pure text on both sides."""

import pytest

from envgen.sandbox import shell
from envgen.sandbox.shell import Counters, State
from envgen.sandbox.tail import Tail

MARK = "0123456789abcdef"
BEFORE = State(b"cd /old\n", leaving=b"'echo bye'", exit_code=3)


def channel(facts: str = "rc=7", head: str = "", text: str = "cd /new\n") -> bytes:
    lines = f"{MARK} begin 42 oom=1\n{MARK} report {facts}\n{head}{MARK} state\n{text}"
    return f"{lines}{MARK} end\n".encode()


def test_a_script_says_its_length_and_holds_state_and_command() -> None:
    told = shell.script(MARK, "/home/agent", BEFORE, "echo 'it''s' \0\udcff é")
    length, body = int(told[:9]), told[9:]
    assert length == len(body)
    assert b"\0" not in body
    assert b"'echo '\\''it'\\'''\\''s'\\'' \xff \xc3\xa9'" in body
    assert b"__envgen_exit='echo bye'" in body
    assert b"return 3;" in body
    assert body.endswith(b"__envgen_status\n")


def test_tracing_is_switched_on_with_the_command() -> None:
    state = State(b"", tracing=True)
    assert b"__envgen_command='set -x;ls'" in shell.script(MARK, "/", state, "ls")


def test_a_beginning_and_a_report_are_read() -> None:
    assert shell.began(MARK, channel()) == (42, Counters(oom=1))
    assert shell.began(MARK, b"nothing yet") is None
    told = shell.reported(MARK, channel("rc=7 x=1  oom=2 pids=3"), BEFORE)
    assert told == shell.Report(
        7, Counters(2, 3), State(b"cd /new\n", leaving=b"''", tracing=True, exit_code=7)
    )


@pytest.mark.parametrize(
    ("facts", "head", "leaving"),
    [
        ("rc=0", "trap -- 'eval \"$__envgen_leave\"' EXIT\n", b"'echo bye'"),
        ("rc=0 kept", "", b"'echo bye'"),
        ("rc=0 left", "", b"''"),
        ("rc=0", "", b"''"),
        ("rc=0", "trap -- 'echo new\nline' EXIT\n", b"'echo new\nline'"),
    ],
)
def test_the_agents_exit_trap_is_kept_dropped_or_new(facts: str, head: str, leaving: bytes) -> None:
    told = shell.reported(MARK, channel(facts, head), BEFORE)
    assert told is not None and told.state is not None
    assert told.state.leaving == leaving


@pytest.mark.parametrize(
    "torn",
    [
        b"",
        channel()[:-5],
        channel().replace(b"state", b"stale"),
        channel().replace(MARK.encode(), b"f" * 16),
    ],
)
def test_a_torn_report_is_none(torn: bytes) -> None:
    assert shell.reported(MARK, torn, BEFORE) is None


def test_what_is_forged_harms_nobody() -> None:
    wild = channel(f"rc={'9' * 6000} oom=-1 pids=0x5 rc")
    told = shell.reported(MARK, wild, BEFORE)
    assert told is not None
    assert (told.exit_code, told.counters) == (0, Counters())
    assert shell.began(MARK, f"{MARK} begin {'1' * 5000}\n".encode()) == (0, Counters())
    assert shell.began(MARK, f"{MARK} begin \n".encode()) == (0, Counters())


def test_a_state_that_is_too_large_is_none() -> None:
    large = channel(text="x" * (shell.STATE_BYTES + 1))
    told = shell.reported(MARK, large, BEFORE)
    assert told is not None and told.state is None


def test_a_tail_counts_what_fell_out() -> None:
    tail = Tail(10)
    for piece in (b"01234", b"56789abc", b"def"):
        tail.write(piece)
    assert (tail.dropped, tail.text()) == (6, "01234\n[... 6 bytes left out ...]\nbcdef")
