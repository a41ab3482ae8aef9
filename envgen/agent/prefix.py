"""What a prefix cache can serve of a request, and what that is worth.

A server keeps keys and values of what it has read and written. Of the next request it can serve the
longest common beginning with the last one and its answer; the rest is computed. History that only
grows is served whole; thinking that is taken out, or history that is edited, is paid for again.
"""

from collections.abc import Sequence


def common(one: Sequence[object], other: Sequence[object]) -> int:
    """Length of the longest common beginning."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    return next(n for n in range(most) if one[n] != other[n])
