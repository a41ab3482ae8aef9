# mypy: ignore-errors
"""One small regression per entity with binned inputs, smoothed by averaging shifted bins.

Nothing here is shared with the reference but the reading of the files.
"""

import json
import pathlib
import sys

import numpy as np
from clean import SETTINGS, read, table, training

STORE = pathlib.Path("/home/agent/separate.json")
ENTITIES = sorted(table(f"{SETTINGS['entity']}s.csv"))
CALENDAR = table("calendar.csv")
EVENTS = sorted(set(CALENDAR.values()))


def hats(value, marks):
    """Weights of the two neighbouring marks: a piecewise linear basis."""
    value = min(max(value, marks[0]), marks[-1])
    row = [0.0] * len(marks)
    i = min(int(np.searchsorted(marks, value, side="right")), len(marks) - 1)
    share = (value - marks[i - 1]) / (marks[i] - marks[i - 1])
    row[i - 1], row[i] = 1 - share, share
    return row


def features(record, state):
    weekday, event = record["day"].weekday(), CALENDAR.get(record["day"].isoformat(), "")
    weekend = float(weekday >= 5)
    slot = [float(record["slot"] == s) for s in state["slots"]]
    row = [1.0, *(float(weekday == d) for d in range(7)), *slot, *(weekend * s for s in slot)]
    row += [float(event == e) for e in EVENTS]
    row.append((record["day"].toordinal() - state["start"]) / 500)
    if not SETTINGS["slot"]:
        angle = 2 * np.pi * record["day"].timetuple().tm_yday / 365.25
        row += [np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle)]
    for value, marks, middle in zip(
        record["values"], state["marks"], state["middles"], strict=True
    ):
        line = middle if value is None else value
        hat = hats(line, marks)
        scale = marks[-1] - marks[0]
        over = [max(0.0, line - marks[-1]) / scale, max(0.0, marks[0] - line) / scale]
        row += hat + over + [weekend * h for h in hat]
    return row


def train_one(records, log):
    columns = [
        [r["values"][i] for r in records if r["values"][i] is not None]
        for i in range(len(SETTINGS["drivers"]))
    ]
    state = {
        "slots": sorted({r["slot"] for r in records}),
        "start": min(r["day"] for r in records).toordinal(),
        "marks": [
            [float(m) for m in np.linspace(*np.quantile(c, [0.01, 0.99]), 8)] for c in columns
        ],
        "middles": [float(np.mean(c)) for c in columns],
        "log": log,
    }
    records = [r for r in records if r["y"] > 0]
    y = np.array([np.log(r["y"]) if log else r["y"] for r in records])
    x = np.array([features(r, state) for r in records])
    weight = np.ones(len(y))
    penalty = 0.25 * np.eye(x.shape[1])
    penalty[0, 0] = 1e-6
    for _ in range(8):
        left = x.T @ (x * weight[:, None]) + penalty
        beta = np.linalg.solve(left, x.T @ (weight * y))
        errors = np.abs(y - x @ beta)
        scale = 1.4826 * np.median(errors) + 1e-12
        weight = 1 / (1 + (errors / (3 * scale)) ** 4)
    state["beta"] = [float(b) for b in beta]
    return state


def estimate(records, states):
    out = []
    for r in records:
        state = states[r["entity"]]
        value = float(np.dot(features(r, state), state["beta"]))
        out.append(float(np.exp(value)) if state["log"] else max(value, 0.0))
    return np.array(out)


def train():
    kept, _ = training()
    early = [r for r in kept if r["day"].isoformat() < SETTINGS["cutoff"]]
    late = [r for r in kept if r["day"].isoformat() >= SETTINGS["cutoff"]]
    truth = np.array([r["y"] for r in late])
    errors = {}
    for log in (False, True):
        states = {e: train_one([r for r in early if r["entity"] == e], log) for e in ENTITIES}
        errors[log] = float(np.median(np.abs(estimate(late, states) - truth)))
    log = errors[True] < errors[False]
    states = {e: train_one([r for r in kept if r["entity"] == e], log) for e in ENTITIES}
    STORE.write_text(json.dumps(states))


def main():
    if sys.argv[1:] == ["train"]:
        train()
        return
    records = read(sys.stdin)
    values = estimate(records, json.loads(STORE.read_text()))
    sys.stdout.write(f"row_id,{SETTINGS['target']}\r\n")
    for record, value in reversed(list(zip(records, values, strict=True))):
        sys.stdout.write(f"{record['id']},{value:.6e}\r\n")


if __name__ == "__main__":
    main()
