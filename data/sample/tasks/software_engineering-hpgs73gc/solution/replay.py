# mypy: ignore-errors
"""Recorded calls, through old.py: how many come out as they did."""

import collections
import json
import sys

sys.path.insert(0, "/home/agent/app")
import old

count = collections.Counter()
with open("/home/agent/app/calls.jsonl") as stream:
    lines = stream.readlines()
for line in lines:
    function, arguments, keywords, result = json.loads(line)
    try:
        count[
            function,
            json.loads(json.dumps(getattr(old, function)(*arguments, **keywords))) == result,
        ] += 1
    except Exception as error:  # noqa: BLE001  it is what is asked for
        count[function, type(error).__name__] += 1
print(dict(count))
