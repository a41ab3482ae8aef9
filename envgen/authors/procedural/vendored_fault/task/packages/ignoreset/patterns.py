"""A pattern as a regular expression over the parts of a path."""

import re
from functools import lru_cache


def part_expression(part):
    """`*`, `?` and `[...]` (with `!` for not) inside of one part; none of them takes a slash."""
    out, place = "", 0
    while place < len(part):
        char = part[place]
        close = part.find("]", place + 2) if char == "[" else -1
        if char == "*":
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif close > 0:
            inner = part[place + 1 : close].replace("\\", "\\\\")
            out += f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
            place = close
        else:
            out += re.escape(char)
        place += 1
    return out


@lru_cache(maxsize=512)
def compiled(pattern):
    """(expression over whole paths, whether it is for folders only, whether it lets back in).

    A pattern with a slash before its end counts from the top; any other fits at every depth. `**`
    stands for any number of folders, none included; at the end, for all that is below.
    """
    back = pattern.startswith("!")
    body = pattern[1:] if back else pattern
    folders = body.endswith("/")
    body = body.rstrip("/")
    anchored = "/" in body
    parts = body.lstrip("/").split("/")
    out = "" if anchored else "(?:.*/)?"
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if part == "**":
            out += ".*" if last else "(?:.*/)?"
        else:
            out += part_expression(part) + ("" if last else "/")
    return re.compile(out), folders, back
