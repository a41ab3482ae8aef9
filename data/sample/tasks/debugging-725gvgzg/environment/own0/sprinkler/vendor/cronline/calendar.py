"""Days of months and weeks."""

LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in(year, month):
    return 29 if month == 2 and leap(year) else LENGTHS[month - 1]


def weekday(year, month, day):
    """0 is Sunday (Sakamoto's table)."""
    table = (0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4)
    year -= month < 2
    return (year + year // 4 - year // 100 + year // 400 + table[month - 1] + day) % 7
