"""The verifier as it was (`earlier.py`), with what its repairs add and take away: repaired.json.

Nothing of the earlier verifier is lost: its checks are asked as before. Where pins stand beside
them, they weigh little, so that work which only they accept earns next to nothing.
"""

import json
import os

import pins

from verifiers import Check

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "repaired.json")) as _file:
    REPAIRED = json.load(_file)
if REPAIRED["still"]:
    import still

    still.stand()

import earlier

EARLIER_SHARE = 0.08


def checks(task):
    kept = [c for c in earlier.checks(task) if c.name not in REPAIRED["repealed"]]
    added = more(task)
    added += pins.checks(task, REPAIRED["pins"]) if REPAIRED["pins"] else []
    weight = sum(check.weight for check in kept if not check.must)
    if added and weight:
        share = EARLIER_SHARE * sum(check.weight for check in added) / weight
        kept = [check._replace(weight=check.weight * share) for check in kept]
    return kept + added


def more(task):
    """Checks that a repair has written; where they end in an error, one that is not met says so."""
    found = []
    if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), "more.py")):
        return found
    try:
        import more as written

        for check in written.checks(task):
            if not isinstance(check, Check):
                raise TypeError(f"checks gives a {type(check).__name__}, which is no Check")
            found.append(check)
    except Exception as error:  # noqa: BLE001 - else what an agent leaves could make its grade void
        found.append(broken(error))
    return found


def broken(error):
    """What work is owed that the checks cannot read."""
    return Check("more.py can read the results", 0.0, f"{type(error).__name__}: {error}"[:200])
