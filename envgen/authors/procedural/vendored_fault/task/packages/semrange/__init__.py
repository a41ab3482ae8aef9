"""semrange: versions, their order, and ranges of them."""

from .ranges import RangeError, parse
from .version import VersionError, key, split

__all__ = ["RangeError", "VersionError", "key", "parse", "serve", "split"]


def serve(line):
    """`match VERSION RANGE`, `best RANGE | VERSION...`, `sort VERSION...`."""
    verb, _, rest = line.partition(" ")
    try:
        if verb == "match":
            version, text = rest.split(" ", 1)
            return "yes" if parse(text)(split(version)) else "no"
        if verb == "best":
            text, _, versions = rest.partition("|")
            fits = parse(text)
            found = [v for v in versions.split() if fits(split(v))]
            return max(found, key=lambda v: key(split(v)), default="none")
        if verb == "sort":
            return " ".join(sorted(rest.split(), key=lambda v: key(split(v))))
    except (RangeError, VersionError) as error:
        return f"error: {error}"
    return "error: no such request"
