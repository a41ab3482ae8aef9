"""ignoreset: which paths a list of patterns leaves out."""

from .patterns import compiled
from .rules import Rules

__all__ = ["Rules", "compiled", "serve"]


def serve(line):
    """`PATTERN PATTERN ... ? PATH`: `out` or `in`. A path with a closing slash is a folder."""
    patterns, mark, path = line.partition(" ? ")
    if not mark or not path.strip("/ "):
        return "error: no such request"
    return "out" if Rules(patterns.split()).leaves_out(path.strip()) else "in"
