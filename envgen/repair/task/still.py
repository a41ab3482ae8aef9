"""What drifts stands still while the checks run: the wall clock, the zone, chance."""

import os
import random
import time

NOW = 1_704_067_200.0


def stand():
    """`time.monotonic` goes on: limits are measured with it."""
    os.environ["TZ"] = "UTC0"
    time.tzset()
    random.seed(0)
    time.time = lambda: NOW
    time.time_ns = lambda: int(NOW * 1e9)
    for name in ("gmtime", "localtime"):
        setattr(time, name, _of_now(getattr(time, name)))


def _of_now(function):
    return lambda seconds=None: function(NOW if seconds is None else seconds)
