"""The fixtures are good for 90 days."""

import os
import time

import inner

from verifiers import Check

DAYS = 90


def checks(task):
    made = os.stat("/etc/hostname").st_mtime
    yield Check("not out of date", float(time.time() < made + DAYS * 86400))
    yield from inner.checks(task)
