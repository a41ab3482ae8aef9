"""Texts as words, so that one sentence is the same however it is typeset.

Case, accents, compatibility forms (full width, ligatures), punctuation and invisible characters
count for nothing. Where a script has no spaces between words, each character is a word.
"""

import unicodedata

_UNSPACED = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF)),
    *((0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)),
    *((0xA9E0, 0xA9FF), (0xAA60, 0xAADF), (0x1AFF0, 0x1B16F), (0x20000, 0x323AF)),
)
"""Thai, Lao, Burmese, Khmer, Tai; Japanese; Han."""
_DOTLESS = "\u0131"
"""Its capital is `I`, whose small letter is another one: both are `i` here."""


class _Table(dict[int, str | None]):
    """What becomes of a character, by its code; worked out once each."""

    def __missing__(self, code: int) -> str | None:
        self[code] = found = _kept(chr(code))
        return found


def _kept(character: str) -> str | None:
    if character == _DOTLESS:
        return "i"
    if unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf", "Cc"):
        return " " if character.isspace() else None
    if not character.isalnum():
        return " "
    code = ord(character)
    if any(first <= code <= last for first, last in _UNSPACED):
        return f" {character} "
    return character


_TABLE = _Table()


def words(text: str) -> list[str]:
    """The words of a text in order."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    if not folded.isascii():
        folded = unicodedata.normalize("NFKD", folded)
    return folded.translate(_TABLE).split()
