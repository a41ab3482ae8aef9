# mypy: ignore-errors
"""Makes the recordings of a card and their list: record.py PLAN.json /out"""

import array
import hashlib
import json
import math
import random
import sys
import wave
from pathlib import Path

RATE = 22050
KEYS = {key: (low, high)
        for low, row in zip((697, 770, 852, 941), ("123", "456", "789", "*0#"), strict=True)
        for high, key in zip((1209, 1336, 1477), row, strict=True)}  # fmt: skip
ON, OFF = RATE * 12 // 100, RATE * 9 // 100


def tone(pitches):
    turns = [2 * math.pi * pitch / RATE for pitch in pitches]
    ramp = 200
    return [
        round(8500 * min(1, n / ramp, (ON - 1 - n) / ramp) * sum(math.sin(t * n) for t in turns))
        for n in range(ON)
    ]


TONES = {key: tone(pitches) for key, pitches in KEYS.items()}


def recording(one):
    """Slates from the start, a second apart; a hum and hiss under all of it."""
    count = one["tenths"] * RATE // 10
    rng = random.Random(one["seed"])
    noise = array.array("h", rng.randbytes(2 * count))
    turn = 2 * math.pi * rng.choice((50, 60, 100, 120)) / RATE
    samples = [(v >> 8) + round(300 * math.sin(turn * n)) for n, v in enumerate(noise)]
    place = RATE * rng.randrange(2, 5) // 10
    for keys in one["keys"]:
        for key in keys:
            for n, value in enumerate(TONES[key]):
                samples[place + n] += value
            place += ON + OFF
        place += RATE
    if place - RATE > count:
        raise SystemExit(f"too short: {one}")
    return array.array("h", samples)


def main(plan_file, out):
    plan = json.loads(Path(plan_file).read_text())
    lines = []
    for one in plan["recordings"]:
        path = Path(out, one["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        samples = recording(one)
        with wave.open(str(path), "wb") as stream:
            stream.setparams((1, 2, RATE, 0, "NONE", ""))
            stream.writeframes(samples.tobytes())
        data = path.read_bytes()
        lines.append(f"{hashlib.sha256(data).hexdigest()}  {one['path']}\n")
        if one["damaged"]:
            place = len(data) * 2 // 3
            path.write_bytes(data[:place] + bytes(400) + data[place + 400 :])
    Path(out, "SHA256SUMS").write_text("".join(lines))


main(*sys.argv[1:])
