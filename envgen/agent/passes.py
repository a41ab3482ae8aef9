"""pass@k: the chance that at least one of k attempts passes, estimated without bias.

Of n attempts with c passes it is 1 - C(n-c, k) / C(n, k): the share of the choices of k attempts
that hold a pass (Chen et al., "Evaluating large language models trained on code", 2021).
"""

from collections.abc import Sequence
from math import comb


def pass_at(k: int, attempts: int, passes: int) -> float:
    """The estimate for one task.

    Args:
        k: at least 1, at most `attempts`.
        attempts: that count: a fault or a grader without a verdict is none.
        passes: of them.
    """
    if not 1 <= k <= attempts or not 0 <= passes <= attempts:
        raise ValueError(f"no pass@{k} of {passes} passes in {attempts} attempts")
    return 1 - comb(attempts - passes, k) / comb(attempts, k)


def curve(attempts: int, passes: int) -> tuple[float, ...]:
    """pass@1 to pass@n of one task with n attempts; nothing for none."""
    return tuple(pass_at(k, attempts, passes) for k in range(1, attempts + 1))


def over_tasks(curves: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Means over tasks; pass@k is that of the tasks with at least k attempts, which are all unless
    some attempts did not count."""
    most = max(map(len, curves), default=0)
    rows = ([curve[k] for curve in curves if len(curve) > k] for k in range(most))
    return tuple(sum(row) / len(row) for row in rows)
