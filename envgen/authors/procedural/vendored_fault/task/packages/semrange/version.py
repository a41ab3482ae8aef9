"""Versions: three numbers, and perhaps a name of a pre-release."""

import re

FORM = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")


class VersionError(ValueError):
    """A text that is no version."""


def split(text):
    """(major, minor, patch, identifiers of the pre-release). What follows a `+` means nothing."""
    found = FORM.fullmatch(text.strip())
    if not found:
        raise VersionError("version")
    names = tuple(found[4].split(".")) if found[4] else ()
    return int(found[1]), int(found[2]), int(found[3]), names


def name_key(name):
    """Numbers come before words; numbers by value, words by their characters."""
    return (0, int(name), "") if name.isdigit() else (1, 0, name)


def key(version):
    """What versions are sorted by: a pre-release comes before its release."""
    major, minor, patch, names = version
    return major, minor, patch, not names, tuple(name_key(name) for name in names)
