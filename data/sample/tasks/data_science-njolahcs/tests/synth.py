# mypy: ignore-errors
"""Sounds of rotating machines, by sines, strokes and noise. Also run as synth.py PLAN.json OUT."""

import array
import io
import json
import math
import os
import random
import sys
import wave

RATE, SECONDS = 8000, 0.6


def tone(hertz, loud, phase):
    turn = 2 * math.pi * hertz / RATE
    return [loud * math.sin(turn * n + phase) for n in range(round(RATE * SECONDS))]


def clip(machine, one):
    """Samples of one clip, as 16-bit integers; `one` has kind, rpm and seed."""
    rng = random.Random(one["seed"])
    shaft, kind = one["rpm"] / 60, one["kind"]
    blade, count = shaft * machine["blades"], round(RATE * SECONDS)
    first, second = rng.uniform(0.02, 0.14), rng.uniform(0.02, 0.14)
    if kind == "imbalance":
        first = rng.uniform(0.6, 1.3)
    if kind == "misalignment":
        first, second = rng.uniform(0.02, 0.25), rng.uniform(0.6, 1.3)
    depth = rng.uniform(0.6, 0.95) if kind == "belt" else rng.uniform(0, 0.08)
    side = machine["slip"] * shaft
    parts = [
        (blade, 1.0), (2 * blade, rng.uniform(0.2, 0.5)), (shaft, first), (2 * shaft, second),
        (50, rng.uniform(0, 0.22)), (100, rng.uniform(0, 0.2)),
        (blade - side, depth / 2), (blade + side, depth / 2),
    ]  # fmt: skip
    tones = [tone(hertz, loud, rng.uniform(0, 6.28)) for hertz, loud in parts]
    samples = [sum(values) for values in zip(*tones)]
    hiss = rng.uniform(0.03, 0.09)
    if kind == "cavitation":
        hiss = rng.uniform(0.45, 0.9)
    samples = [value + rng.gauss(0, hiss) for value in samples]
    if kind == "bearing":
        strike(samples, machine, shaft, rng)
    gain = rng.uniform(1200, 6500)
    return [max(-32768, min(32767, round(gain * value))) for value in samples[:count]]


def strike(samples, machine, shaft, rng):
    """Strokes at the rate of the outer ring, each ringing for a while."""
    loud, ring = rng.uniform(1.2, 2.4), 2 * math.pi * machine["ring"] / RATE
    at, step = rng.uniform(0, 100), RATE / (machine["strokes"] * shaft)
    while at < len(samples):
        place = int(at)
        for n in range(min(70, len(samples) - place)):
            samples[place + n] += loud * math.exp(-n / 16) * math.sin(ring * n)
        at += step * rng.uniform(0.98, 1.02)


def wav(samples):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as stream:
        stream.setparams((1, 2, RATE, 0, "NONE", ""))
        stream.writeframes(array.array("h", samples).tobytes())
    return buffer.getvalue()


def main(plan_file, out):
    with open(plan_file) as stream:
        plan = json.load(stream)
    for one in plan["clips"]:
        path = os.path.join(out, one["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(wav(clip(plan["machine"], one)))


if __name__ == "__main__":
    main(*sys.argv[1:])
