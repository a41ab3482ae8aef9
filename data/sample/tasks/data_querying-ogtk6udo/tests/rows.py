# ruff: noqa: E501 (SQL reads better whole)
"""A database of the family's shape, as SQL text: the same for the same seed."""

import datetime
import random
from typing import Any

FIRST = datetime.date(2022, 1, 1)


def dump(words: dict[str, Any], seed: int, parents: int, children: int, notes: int) -> str:
    """CREATE and INSERT lines. `words` names tables and columns."""
    rng = random.Random(seed)
    w = words
    out = [
        f"CREATE TABLE {w['P']} (id INTEGER PRIMARY KEY, {w['code']} TEXT NOT NULL UNIQUE, {w['place']} TEXT);",
        f"CREATE TABLE {w['C']} (id INTEGER PRIMARY KEY, {w['pid']} INTEGER NOT NULL REFERENCES {w['P']}(id), "
        f"day TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'), {w['kind']} TEXT NOT NULL, "
        f"{w['amount']} INTEGER NOT NULL, {w['ref']} TEXT NOT NULL CHECK ({w['ref']} = upper(trim({w['ref']}))));",
        f"CREATE TABLE {w['N']} (id INTEGER PRIMARY KEY, {w['ref']} TEXT NOT NULL CHECK ({w['ref']} = upper(trim({w['ref']}))), "
        f"{w['level']} INTEGER NOT NULL, {w['who']} TEXT NOT NULL);",
        "BEGIN;",
    ]
    codes = rng.sample(range(100, 10 * parents + 900), parents)
    for n, code in enumerate(codes, 1):
        out.append(
            f"INSERT INTO {w['P']} VALUES ({n}, '{w['letters']}{code}', '{rng.choice(w['places'])}');"
        )
    refs = [f"{rng.choice('ABCDEFGH')}{n:05d}" for n in rng.sample(range(100000), children)]
    for n, ref in enumerate(refs, 1):
        # A tenth of the parents has no child, and some days have several of one parent's.
        pid = rng.randrange(1, parents * 9 // 10)
        day = FIRST + datetime.timedelta(rng.randrange(24 if rng.random() < 0.35 else 730))
        kind = rng.choice([*w["kinds"], *w["kinds"][3:] * 3])  # so that some lack the others
        out.append(
            f"INSERT INTO {w['C']} VALUES ({n}, {pid}, '{day}', '{kind}', {rng.randrange(5, 9000)}, '{ref}');"
        )
    for n in range(1, notes + 1):
        ref = rng.choice(refs) if rng.random() < 0.8 else f"Z{n:05d}"
        out.append(
            f"INSERT INTO {w['N']} VALUES ({n}, '{ref}', {rng.randrange(1, 6)}, '{rng.choice(w['people'])}');"
        )
    return "\n".join([*out, "COMMIT;", ""])
