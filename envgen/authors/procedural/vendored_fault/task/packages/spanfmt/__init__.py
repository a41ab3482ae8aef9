"""spanfmt: spans of time, read and written as people write them."""

from .reading import SpanError, read
from .rounding import rounded
from .writing import write

__all__ = ["SpanError", "read", "rounded", "serve", "write"]


def serve(line):
    """`read SPAN`, `write SECONDS PARTS`, `round SPAN UNIT`, `sum SPAN; SPAN...`."""
    verb, _, rest = line.partition(" ")
    try:
        if verb == "read":
            return str(read(rest))
        if verb == "write":
            seconds, parts = rest.split()
            return write(int(seconds), int(parts))
        if verb == "round":
            span, unit = rest.rsplit(" ", 1)
            return write(rounded(read(span), unit), 9)
        if verb == "sum":
            return write(sum(read(part) for part in rest.split(";")), 9)
    except SpanError as error:
        return f"error: {error}"
    return "error: no such request"
