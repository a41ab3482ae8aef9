"""Hostile text for a browser: what hides, reorders or floods is made visible, what is long is cut.

Markup is escaped by the templates. Here is about characters: a control character, a bidi override
or a zero-width space shows as what it is, so that nothing on a page can look like something else.
"""

import unicodedata
from typing import NamedTuple

MARKS = 4
"""Combining characters on one letter; more are counted instead of drawn."""
_HIDDEN = {0x034F, 0x115F, 0x1160, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE0F)}
_HIDDEN |= {*range(0xE0100, 0xE01F0)}
"""Letters and marks that have no shape, beside the categories below."""
_ODD = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


class Cut(NamedTuple):
    """The beginning of a text, and what there is to say about the rest."""

    text: str
    note: str = ""


def visible(text: str) -> str:
    """The text with characters that cannot be seen as marks like `‹U+202E›`; line ends and tabs
    stay."""
    return "\n".join(
        line if line.isascii() and line.isprintable() else _marked(line)
        for line in text.split("\n")
    )


def _marked(line: str) -> str:
    out: list[str] = []
    marks = 0
    for c in line:
        if c.isascii() and (c.isprintable() or c == "\t"):
            marks = 0
            out.append(c)
            continue
        category = unicodedata.category(c)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if category in _ODD or ord(c) in _HIDDEN or marks > MARKS:
            out.append(f"‹U+{ord(c):04X}›")
        else:
            out.append(c)
    return "".join(out)


def cut(text: str, most: int) -> Cut:
    """At most `most` characters, with a note of how many there are."""
    if len(text) <= most:
        return Cut(text)
    return Cut(text[:most], f"the first {most:,} of {len(text):,} characters are shown")


def file_text(data: bytes, most: int) -> Cut:
    """The bytes of a file as text; of one that is none, only a note."""
    head = data[: most * 4]
    whole = len(head) == len(data)
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        if whole or error.start < len(head) - 3:  # else the cut went through a character
            return Cut("", "binary: not shown")
        text = head[: error.start].decode()
    if "\0" in text:
        return Cut("", "binary: not shown")
    if whole and len(text) <= most:
        return Cut(text)
    shown = text[:most]
    return Cut(shown, f"the first {len(shown):,} characters of {size(len(data))} are shown")


def size(count: float | None) -> str:
    """Bytes in words: `24.8 kB`."""
    if count is None:
        return ""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def figure(value: float | None, digits: int = 2) -> str:
    """A number with grouped thousands; nothing for None."""
    return "" if value is None else f"{value:,.{digits}f}"


def count(value: int) -> str:
    """A whole number with grouped thousands."""
    return f"{value:,}"
