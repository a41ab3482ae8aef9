"""Ranges: comparators side by side must all hold; `||` stands between alternatives."""

import re

from .version import VersionError, key, split

PARTS = re.compile(r"(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?")


class RangeError(ValueError):
    """A text that is no range."""


def bounds(text):
    """(lowest version, first version above) of a partial one such as `1.2` or `1.x`."""
    found = PARTS.fullmatch(text)
    if not found:
        raise RangeError("range")
    numbers = [int(part) for part in found.groups() if part and part.isdigit()]
    low = (*numbers, 0, 0, 0)[:3]
    if not numbers:
        return (*low, ()), None
    high = list(numbers)
    high[-1] += 1
    return (*low, ()), (*(*high, 0, 0, 0)[:3], ())


def caret(version):
    """The first version that `^` leaves out: the first number that is not zero grows."""
    major, minor, patch, _ = version
    if major:
        return major + 1, 0, 0, ()
    if minor:
        return 0, minor + 1, 0, ()
    return 0, 0, patch + 1, ()


def tilde(version):
    return version[0], version[1] + 1, 0, ()


def comparator(text):
    """(test, version that it names) of one comparator."""
    sign, _, body = re.fullmatch(r"(>=|<=|>|<|=|\^|~)?(\s*)(.*)", text).groups()
    try:
        version = split(body)
    except VersionError:
        if sign in ("^", "~") or not body:
            raise RangeError("range") from None
        low, high = bounds(body)
        tests = {
            ">=": lambda v: key(v) >= key(low),
            "<": lambda v: key(v) < key(low),
            ">": lambda v: high is not None and key(v) >= key(high),
            "<=": lambda v: high is None or key(v) < key(high),
        }
        both = lambda v: key(v) >= key(low) and (high is None or key(v) < key(high))  # noqa: E731
        return tests.get(sign, both), None
    if sign in ("^", "~"):
        above = caret(version) if sign == "^" else tilde(version)
        return (lambda v: key(version) <= key(v) and v[:3] < above[:3]), version
    tests = {
        ">=": lambda v: key(v) >= key(version),
        "<=": lambda v: key(v) <= key(version),
        ">": lambda v: key(v) > key(version),
        "<": lambda v: key(v) < key(version),
    }
    return tests.get(sign, lambda v: key(v) == key(version)), version


def parse(text):
    """A test of versions.

    A pre-release fits only where a comparator of the same alternative names a pre-release with the
    same three numbers.
    """
    alternatives = []
    for part in text.split("||"):
        words = re.sub(r"(>=|<=|>|<|=|\^|~)\s+", r"\1", part).split()
        if not words:
            raise RangeError("empty")
        alternatives.append([comparator(word) for word in words])

    def fits(version):
        for found in alternatives:
            named = [v for _, v in found if v is not None and v[3] and v[:3] == version[:3]]
            if version[3] and not named:
                continue
            if all(test(version) for test, _ in found):
                return True
        return False

    return fits
