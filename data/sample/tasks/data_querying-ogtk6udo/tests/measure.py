# mypy: ignore-errors
"""Runs queries on a database and counts the steps of SQLite's virtual machine.

    measure.py LIMIT DATA INDEXES QUERY...      each the name of a file without its `.sql`

Prints a JSON object: for each name its rows and steps, or null where it fails or passes LIMIT.
"""

import json
import sqlite3
import sys

EVERY = 10


def statements(text):
    """The statements of a text, without comments and blanks around them."""
    found, part = [], ""
    for line in text.split("\n"):
        part += line + "\n"
        if sqlite3.complete_statement(part):
            found.append(part.strip())
            part = ""
    return [*found, part.strip()] if part.strip() else found


def measured(base, query, limit):
    steps = 0

    def count():
        nonlocal steps
        steps += EVERY
        return steps > limit

    base.set_progress_handler(count, EVERY)
    try:
        rows = base.execute(query).fetchall()
    except (sqlite3.Error, sqlite3.Warning, OverflowError):
        return None
    finally:
        base.set_progress_handler(None, EVERY)
    return {"rows": rows, "steps": steps}


def read(name):
    with open(f"{name}.sql") as stream:
        return stream.read()


base = sqlite3.connect(":memory:")
base.execute("PRAGMA automatic_index = OFF")
base.executescript(read(sys.argv[2]))
try:
    for one in statements(read(sys.argv[3])):
        base.execute(one)
except (sqlite3.Error, sqlite3.Warning) as error:
    print(json.dumps({"indexes": str(error)}))
    sys.exit()
base.execute("PRAGMA query_only = ON")
print(json.dumps({name: measured(base, read(name), int(sys.argv[1])) for name in sys.argv[4:]}))
