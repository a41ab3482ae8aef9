"""The five fields of a line: minute, hour, day of the month, month, day of the week."""

LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


class FieldError(ValueError):
    """A line that cannot be read."""


def number(text, place):
    """A number, or the name of a month or a day."""
    names = {3: MONTHS, 4: DAYS}.get(place, [])
    if text.lower() in names:
        return names.index(text.lower()) + (place == 3)
    if not text.isdigit():
        raise FieldError("number")
    low, high = LIMITS[place]
    if not low <= int(text) <= high:
        raise FieldError("limits")
    return int(text)


def one(text, place):
    """Values of `*`, `5`, `1-5`, `*/15`, `10-40/10` and `7/3` (from 7 to the end)."""
    low, high = LIMITS[place]
    span, slash, step = text.partition("/")
    if slash and (not step.isdigit() or int(step) == 0):
        raise FieldError("step")
    if span == "*":
        first, last = low, high
    elif "-" in span:
        first, last = (number(part, place) for part in span.split("-", 1))
        if first > last:
            raise FieldError("order")
    else:
        first = number(span, place)
        last = high if slash else first
    return set(range(first, last + 1, int(step or 1)))


def fields(line):
    """A set of values for each field, and whether both fields of days are narrowed.

    Sunday is 0 and 7. A field that begins with `*` is not narrowed, whatever its step.
    """
    parts = line.split()
    if len(parts) != 5:
        raise FieldError("five")
    sets = [set().union(*(one(t, n) for t in part.split(","))) for n, part in enumerate(parts)]
    if 7 in sets[4]:
        sets[4].add(0)
    either = not parts[2].startswith("*") and not parts[4].startswith("*")
    return (*sets, either)
