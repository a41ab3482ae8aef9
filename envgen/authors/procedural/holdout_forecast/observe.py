"""What the clerks and loggers made of the clean rows: gaps, units, resends, old codes.

Every fault is documented in the notes that the agent gets, and every count of it is known.
"""

import random
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from .simulate import Row, World

EXTRAS = ("day_first_dates", "decimal_comma", "old_code", "slips")
UNIT_RULES = ("logger", "entities", "until")


@dataclass(frozen=True)
class Faults:
    """Which faults the data have, and where."""

    gap_codes: tuple[str, ...]
    """Per driver: how a missing value is written."""
    mixed: int
    """Index of the driver with two units."""
    unit_rule: str
    unit_entities: tuple[str, ...]
    unit_until: date
    logger_b: frozenset[tuple[str, int]]
    extras: tuple[str, ...]
    extra_entity: str
    comma_entity: str
    old_code: str


@dataclass
class Dataset:
    """The files of a task and what is true about them."""

    faults: Faults
    columns: list[str]
    train: list[list[str]]
    holdout: list[list[str]]
    fresh: list[list[str]]
    holdout_rows: list[Row]
    fresh_rows: list[Row]
    kept: list[Row]
    cleaning: dict[str, Any] = field(default_factory=dict)


def observe(world: World, rng: random.Random) -> Dataset:
    """Write the clean rows down as the business did."""
    faults = _draw_faults(world, rng)
    border = world.start + timedelta(days=world.train_days)
    train = [row for row in world.rows if row.day < border]
    later = [row for row in world.rows if row.day >= border]
    fresh_ids = set(rng.sample(range(len(later)), len(later) // 3))
    fresh_rows = [row for i, row in enumerate(later) if i in fresh_ids]
    holdout_rows = [row for i, row in enumerate(later) if i not in fresh_ids]
    writer = _Writer(world, faults, rng)
    data = Dataset(faults, writer.columns(), [], [], [], holdout_rows, fresh_rows, [])
    _write_train(writer, train, data, rng)
    data.holdout = [[f"H{i:05d}", *writer.cells(row)] for i, row in enumerate(holdout_rows, 1)]
    data.fresh = [[f"F{i:05d}", *writer.cells(row)] for i, row in enumerate(fresh_rows, 1)]
    return data


def _draw_faults(world: World, rng: random.Random) -> Faults:
    codes = ["", rng.choice(("-999", "9999")), rng.choice(("NA", "n/a", "-"))]
    rng.shuffle(codes)
    blocks = (world.train_days + world.later_days) // 30 + 1
    entities = list(world.entities)
    rng.shuffle(entities)
    mixed = rng.choice([i for i, d in enumerate(world.drivers) if d.column != "price_eur"][:2])
    return Faults(
        gap_codes=tuple(codes),
        mixed=mixed,
        unit_rule=rng.choice(UNIT_RULES),
        unit_entities=tuple(sorted(entities[:2])),
        unit_until=world.start + timedelta(days=int(world.train_days * rng.uniform(0.45, 0.65))),
        logger_b=frozenset(
            (e, b) for e in world.entities for b in range(blocks) if rng.random() < 0.4
        ),
        extras=tuple(sorted(rng.sample(EXTRAS, 2))),
        extra_entity=entities[2],
        comma_entity=entities[3],
        old_code=f"{world.scenario.entity[0]}{rng.randrange(100, 1000)}",
    )


class _Writer:
    """Cells of a row as written, and the running count of what was done to them."""

    def __init__(self, world: World, faults: Faults, rng: random.Random) -> None:
        self.world, self.faults, self.rng = world, faults, rng
        self.missing = [0] * len(world.drivers)
        self.converted = 0

    def columns(self) -> list[str]:
        scenario = self.world.scenario
        names = ["row_id", "date"]
        names += [scenario.slot_column] if scenario.slots else []
        names += [scenario.entity, *(d.column for d in self.world.drivers)]
        return names + (["logger"] if self.faults.unit_rule == "logger" else [])

    def cells(self, row: Row) -> list[str]:
        faults, day = self.faults, row.day.isoformat()
        if "day_first_dates" in faults.extras and row.entity == faults.extra_entity:
            day = row.day.strftime("%d.%m.%Y")
        entity = row.entity
        if (
            "old_code" in faults.extras
            and entity == self.world.entities[0]
            and (self.rng.random() < 0.45)
        ):
            entity = faults.old_code
        out = [day, *([row.slot] if row.slot else []), entity]
        out += [self._value(row, i) for i in range(len(row.drivers))]
        if faults.unit_rule == "logger":
            out.append("B" if self._other_unit(row) else "A")
        return out

    def _value(self, row: Row, index: int) -> str:
        driver, value = self.world.drivers[index], row.drivers[index]
        if self.rng.random() < 0.03:
            self.missing[index] += 1
            return self.faults.gap_codes[index]
        decimals = driver.decimals
        if index == self.faults.mixed and self._other_unit(row):
            self.converted += 1
            value = value * driver.factor + driver.offset
            decimals = 1 if driver.factor > 1 else 4
            if driver.factor >= 10:
                decimals = 0
        text = f"{value:.{decimals}f}"
        if "decimal_comma" in self.faults.extras and row.entity == self.faults.comma_entity:
            text = text.replace(".", ",")
        return text

    def _other_unit(self, row: Row) -> bool:
        rule = self.faults.unit_rule
        if rule == "logger":
            return (row.entity, (row.day - self.world.start).days // 30) in self.faults.logger_b
        if rule == "until":
            return row.day < self.faults.unit_until
        return row.entity in self.faults.unit_entities


def _write_train(writer: _Writer, rows: list[Row], data: Dataset, rng: random.Random) -> None:
    """Kept rows are what a correct cleaning leaves; `y` is then the value as recorded."""
    decimals = writer.world.scenario.decimals
    marks = rng.sample(range(len(rows)), len(rows) // 14)
    resent, blank = set(marks[: len(marks) // 2]), set(marks[len(marks) // 2 :])
    slips = set(rng.sample(range(len(rows)), len(rows) // 110))
    slips = slips - resent - blank if "slips" in data.faults.extras else set()
    entries: list[tuple[float, list[str]]] = []
    for i, row in enumerate(rows):
        if i in resent:
            before = (list(writer.missing), writer.converted)
            early = f"{row.y * rng.uniform(0.35, 0.8):.{decimals}f}"
            entries.append((i, [*writer.cells(row), early]))
            writer.missing, writer.converted = before
        if i in blank:
            before = (list(writer.missing), writer.converted)
            entries.append((i, [*writer.cells(row), ""]))
            writer.missing, writer.converted = before
            continue
        y = row.y * 10 if i in slips else row.y
        text = f"{y:.{decimals}f}"
        late = i + rng.randrange(3, 60) + 0.5 if i in resent else i
        entries.append((late, [*writer.cells(row), text]))
        data.kept.append(Row(row.entity, row.day, row.slot, row.drivers, float(text), row.mean))
    entries.sort(key=lambda entry: entry[0])
    data.train = [[f"T{n:05d}", *cells] for n, (_, cells) in enumerate(entries, 1)]
    data.cleaning = {
        "rows_read": len(entries),
        "resends_dropped": len(resent),
        "blank_targets_dropped": len(blank),
        "rows_kept": len(data.kept),
        "missing_cells": {
            d.column: n for d, n in zip(writer.world.drivers, writer.missing, strict=True)
        },
        "converted_cells": writer.converted,
    }
    writer.missing, writer.converted = [0] * len(writer.missing), 0


def baseline(kept: Iterable[Row], cutoff: date, metric: str) -> dict[str, Any]:
    """The seasonal-naive benchmark on a split by time: median per entity, weekday and slot."""
    kept = list(kept)
    groups: dict[tuple[str, int, str], list[float]] = {}
    for row in kept:
        if row.day < cutoff:
            groups.setdefault((row.entity, row.day.weekday(), row.slot), []).append(row.y)
    medians = {key: statistics.median(values) for key, values in groups.items()}
    later = [row for row in kept if row.day >= cutoff]
    guesses = [medians[row.entity, row.day.weekday(), row.slot] for row in later]
    return {
        "cutoff": cutoff.isoformat(),
        "fit_rows": len(kept) - len(later),
        "validation_rows": len(later),
        "baseline": score(metric, [row.y for row in later], guesses),
    }


def score(metric: str, truth: list[float], guess: list[float]) -> float:
    """One of the metrics that a task may be graded by."""
    errors = [g - t for g, t in zip(guess, truth, strict=True)]
    if metric == "MAE":
        return sum(abs(e) for e in errors) / len(errors)
    squares = sum(e * e for e in errors)
    if metric == "RMSE":
        return float((squares / len(errors)) ** 0.5)
    centre = sum(truth) / len(truth)
    return 1 - squares / sum((t - centre) ** 2 for t in truth)
