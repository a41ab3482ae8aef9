"""Text of strangers on a terminal, and the progress that people and logs see."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.tally import Tally
from envgen.terminal import clean, counts, progress, say

CASES = {
    "colour": ("\x1b[31mred\x1b[0m", "[31mred[0m"),
    "title of the window": ("\x1b]0;owned\x07x", "]0;ownedx"),
    "link": ("\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\", "]8;;http://x\\y]8;;\\"),
    "C1 sequence": ("\x9b2Jgone", "2Jgone"),
    "NUL": ("a\0b", "ab"),
    "carriage return": ("real\rfake", "realfake"),
    "backspace": ("a\bb", "ab"),
    "delete": ("a\x7fb", "ab"),
    "bidi override": ("a\u202etxt", "atxt"),
    "bidi isolate": ("a\u2066b\u2069c", "abc"),
    "zero width": ("a\u200bb", "ab"),
    "byte order mark": ("\ufeffa", "a"),
    "soft hyphen": ("a\u00adb", "ab"),
    "surrogate": ("a\ud800b", "ab"),
    "private use": ("a\ue000b", "ab"),
    "lines and tabs stay": ("a\n\tb", "a\n\tb"),
    "words stay": ("[bold]é 日本 😀[/bold]", "[bold]é 日本 😀[/bold]"),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.text(st.characters(codec="utf-8")))
def test_cleaning_twice_is_cleaning_once_and_leaves_no_control(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert "\x1b" not in once and "\0" not in once and "\r" not in once


def test_people_are_told_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    say("a\x1b[2Jb")
    assert capsys.readouterr() == ("", "a[2Jb\n")


def test_counts_name_what_there_is() -> None:
    tally = Tally(9, kept=3, rejected=Counter(noop=2, build=1))
    assert counts(tally) == "6/9, kept 3, build 1, noop 2"
    tally.unfinished, tally.bugs = 1, 2
    assert counts(tally) == "9/9, kept 3, build 1, noop 2, unfinished 1, bugs 2"


def test_progress_is_plain_lines_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(2) as update:
        update(Tally(2, kept=1))
        update(Tally(2, kept=2))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("2/2, kept 2; ")
    assert line.endswith(" a minute, 0 s left")
