"""Requests that once went wrong, and some that did not."""

import sys

sys.path.insert(0, "vendor")

from cronline import serve  # noqa: E402

CASES = [
    ('next 2000-01-28 07:59 | 1,44 * 28-31 feb 6-7', '2000-02-05 00:01'),
    ('next 2025-02-01 14:29 | 29 14 29/3 * 5-7', '2025-02-02 14:29'),
    ('next 2024-02-01 06:51 | 0 * * feb 5-7', '2024-02-02 00:00'),
    ('next 2025-04-28 08:55 | */2 19-23 * * 3-7', '2025-04-30 19:00'),
    ('due 2024-01-15 19:10 | * 19 29 feb *', 'no'),
    ('next 2024-02-15 06:48 | 48 10-23 * * *', '2024-02-15 10:48'),
    ('due 2000-01-27 08:59 | 59,15 8-23 * 2-4 sun', 'no'),
]
wrong = [line for line, answer in CASES if serve(line) != answer]
print(wrong)
sys.exit(1 if wrong else 0)
