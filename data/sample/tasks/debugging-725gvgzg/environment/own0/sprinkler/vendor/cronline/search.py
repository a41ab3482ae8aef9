"""Whether a moment is due, and which is the next."""

from .calendar import days_in, weekday

YEARS = 9


def day_fits(spec, year, month, day):
    """Where both fields of days are narrowed, one of them is enough."""
    by_month = day in spec[2]
    by_week = weekday(year, month, day) in spec[4]
    return by_month or by_week if spec[5] else by_month and by_week


def due(spec, moment):
    year, month, day, hour, minute = moment
    if month not in spec[3] or hour not in spec[1] or minute not in spec[0]:
        return False
    return day_fits(spec, year, month, day)


def following(spec, moment):
    """The first moment after this one, or None within nine years."""
    year, month, day, hour, minute = moment
    clock = first_clock(spec, hour, minute + 1)
    while year < moment[0] + YEARS:
        if month in spec[3] and day_fits(spec, year, month, day) and clock is not None:
            return (year, month, day, *clock)
        clock = first_clock(spec, 0, 0)
        day += 1
        if day > days_in(year, month):
            month, day = month + 1, 1
        if month > 12:
            year, month = year + 1, 1
    return None


def first_clock(spec, hour, minute):
    """The first time of a day that is not before this one."""
    for at in sorted(spec[1]):
        for then in sorted(spec[0]):
            if at > hour or (at == hour and then >= minute):
                return at, then
    return None
