# mypy: ignore-errors
"""Ridge regression on engineered features, on the scale that a split in time prefers.

`predict.py fit` trains and writes model.json, cleaning.json and validation.json; without an
argument it predicts rows from standard input.
"""

import json
import statistics
import sys

import numpy as np
from clean import HERE, SETTINGS, read, table, training

KNOTS = 6


class Model:
    """Features, their scaling and the weights; everything fits into one JSON file."""

    def __init__(self, state=None):
        self.state = state or {}
        kinds = table(f"{SETTINGS['entity']}s.csv")
        self.entities = sorted(kinds)
        self.kind = kinds
        self.kinds = sorted(set(kinds.values()))
        self.calendar = table("calendar.csv")
        self.events = sorted(set(self.calendar.values()))

    def learn_shape(self, records):
        columns = [
            [r["values"][i] for r in records if r["values"][i] is not None]
            for i in range(len(SETTINGS["drivers"]))
        ]
        marks = np.linspace(0.03, 0.97, KNOTS)
        days = sorted({r["day"] for r in records})
        self.state["median"] = [float(np.median(c)) for c in columns]
        self.state["spread"] = [float(np.std(c)) for c in columns]
        self.state["knots"] = [[float(np.quantile(c, m)) for m in marks] for c in columns]
        self.state["first"] = days[0].toordinal()
        self.state["span"] = (days[-1] - days[0]).days
        self.state["slots"] = sorted({r["slot"] for r in records})

    def features(self, records):
        return np.array([self._row(r) for r in records])

    def _row(self, record):
        kind = self.kinds.index(self.kind[record["entity"]])
        weekday = record["day"].weekday()
        weekend = weekday >= 5
        slots = self.state["slots"]
        row = [float(record["entity"] == name) for name in self.entities]
        week = [0.0] * (7 * len(self.kinds))
        week[7 * kind + weekday] = 1.0
        parts = [0.0] * (2 * len(slots) * len(self.kinds))
        parts[(kind * 2 + weekend) * len(slots) + slots.index(record["slot"])] = 1.0
        event = self.calendar.get(record["day"].isoformat(), "")
        row += week + parts + [float(event == name) for name in self.events]
        elapsed = (record["day"].toordinal() - self.state["first"]) / 365
        row.append(elapsed)
        if self.state["span"] > 366:
            year = 2 * np.pi * record["day"].timetuple().tm_yday / 365.25
            row += [f(k * year) for k in (1, 2) for f in (np.sin, np.cos)]
        for i, value in enumerate(record["values"]):
            basis = self._spline(i, value)
            row += basis
            row += [v * (1.0 if kind else -1.0) for v in basis]
            row += [v * weekend for v in basis]
            row.append(float(value is None))
        return row

    def _spline(self, index, value):
        value = self.state["median"][index] if value is None else value
        spread = self.state["spread"][index]
        hinges = [max(0.0, value - knot) / spread for knot in self.state["knots"][index][:-1]]
        return [(value - self.state["median"][index]) / spread, *hinges]

    def fit(self, records, log, ridge):
        self.learn_shape(records)
        y = np.array([r["y"] for r in records])
        keep = y > 0
        target = np.log(y) if log else y
        features = self.features(records)
        for _ in range(4):
            self._solve(features[keep], target[keep], ridge)
            errors = target - self._linear(features)
            middle = np.median(errors[keep])
            width = 1.4826 * np.median(np.abs(errors[keep] - middle))
            keep = (y > 0) & (np.abs(errors - middle) < 5 * width)
        self.state["log"] = log
        self.state["kept"] = int(keep.sum())

    def _solve(self, features, target, ridge):
        mean, spread = features.mean(0), features.std(0)
        spread[spread < 1e-9] = 1.0
        scaled = (features - mean) / spread
        gram = scaled.T @ scaled + ridge * np.eye(scaled.shape[1])
        weights = np.linalg.solve(gram, scaled.T @ (target - target.mean())) / spread
        self.state["weights"] = [float(w) for w in weights]
        self.state["bias"] = float(target.mean() - mean @ weights)

    def _linear(self, features):
        return features @ np.array(self.state["weights"]) + self.state["bias"]

    def predict(self, records):
        values = self._linear(self.features(records))
        return np.exp(values) if self.state["log"] else np.maximum(values, 0.0)


def score(truth, guess):
    """The agreed metric; R2 is turned around so that lower is always better."""
    errors = np.asarray(guess) - np.asarray(truth)
    if SETTINGS["metric"] == "MAE":
        return float(np.mean(np.abs(errors)))
    if SETTINGS["metric"] == "RMSE":
        return float(np.sqrt(np.mean(errors**2)))
    return float(np.sum(errors**2) / np.sum((truth - np.mean(truth)) ** 2))


def benchmark(kept):
    """The seasonal median on the split by time."""
    early = [r for r in kept if r["day"].isoformat() < SETTINGS["cutoff"]]
    late = [r for r in kept if r["day"].isoformat() >= SETTINGS["cutoff"]]
    groups = {}
    for r in early:
        groups.setdefault((r["entity"], r["day"].weekday(), r["slot"]), []).append(r["y"])
    guess = [statistics.median(groups[r["entity"], r["day"].weekday(), r["slot"]]) for r in late]
    value = score(np.array([r["y"] for r in late]), guess)
    facts = {
        "cutoff": SETTINGS["cutoff"],
        "fit_rows": len(early),
        "validation_rows": len(late),
        "baseline": 1 - value if SETTINGS["metric"] == "R2" else value,
    }
    return facts, early, late


def main():
    if sys.argv[1:] != ["fit"]:
        model = Model(json.loads((HERE / "model.json").read_text()))
        records = read(sys.stdin)
        sys.stdout.write(f"row_id,{SETTINGS['target']}\n")
        for record, value in zip(records, model.predict(records), strict=True):
            sys.stdout.write(f"{record['id']},{value:.4f}\n")
        return
    kept, counts = training()
    facts, early, late = benchmark(kept)
    tried = {}
    for log in (True, False):
        for ridge in (0.1, 1.0, 10.0, 100.0):
            model = Model()
            model.fit(early, log, ridge)
            errors = np.abs(model.predict(late) - np.array([r["y"] for r in late]))
            tried[log, ridge] = float(np.median(errors))
    log, ridge = min(tried, key=lambda key: tried[key])
    sys.stderr.write(f"chosen: log={log} ridge={ridge}\n")
    model = Model()
    model.fit(kept, log, ridge)
    (HERE / "model.json").write_text(json.dumps(model.state))
    (HERE / "cleaning.json").write_text(json.dumps(counts, indent=1) + "\n")
    (HERE / "validation.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
