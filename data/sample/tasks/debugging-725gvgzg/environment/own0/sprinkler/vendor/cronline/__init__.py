"""cronline: when a line of a crontab is due."""

from .calendar import days_in, weekday
from .fields import FieldError, fields
from .search import due, following

__all__ = ["FieldError", "days_in", "due", "fields", "following", "serve", "weekday"]


def serve(line):
    """`next Y-M-D H:M | M H DOM MON DOW` and `due Y-M-D H:M | ...`."""
    verb, _, rest = line.partition(" ")
    when, _, expression = rest.partition("|")
    try:
        day, clock = when.split()
        moment = (*map(int, day.split("-")), *map(int, clock.split(":")))
        if verb == "next":
            found = following(fields(expression), moment)
            return "never" if found is None else "{}-{:02d}-{:02d} {:02d}:{:02d}".format(*found)
        if verb == "due":
            return "yes" if due(fields(expression), moment) else "no"
    except FieldError as error:
        return f"error: {error}"
    return "error: no such request"
