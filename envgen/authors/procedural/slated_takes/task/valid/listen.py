# mypy: ignore-errors
"""Hears keys by Goertzel's filter, and sorts the recordings: listen.py RULES.json"""

import array
import hashlib
import json
import math
import re
import shutil
import sys
import wave
from pathlib import Path

LOW, HIGH = (697, 770, 852, 941), (1209, 1336, 1477)
PAD = ("123", "456", "789", "*0#")
SIZE, HOP = 400, 500


def power(block, pitch, rate):
    factor = 2 * math.cos(2 * math.pi * pitch / rate)
    one = two = 0.0
    for value in block:
        one, two = value + factor * one - two, one
    return one * one + two * two - factor * one * two


def keys(samples, rate):
    heard, last = "", ""
    for place in range(0, len(samples) - SIZE, HOP):
        block = samples[place : place + SIZE]
        energy = sum(value * value for value in block)
        key = ""
        if energy > SIZE * 2_000_000:
            low = max(range(4), key=lambda n: power(block, LOW[n], rate))
            high = max(range(3), key=lambda n: power(block, HIGH[n], rate))
            key = PAD[low][high]
        if key and key != last:
            heard += key
        last = key
    return heard


def heard(rules, card):
    """Status, target and seconds of each recording, and the good ones by slate and content."""
    listed = dict(
        reversed(line.split("  ", 1)) for line in (card / "SHA256SUMS").read_text().splitlines()
    )
    form = re.escape(rules["form"])
    for place, group in (("a", r"(?P<a>\d\d)"), ("b", r"(?P<b>\d\d)"), ("c", "(?P<c>[123])")):
        form = form.replace(re.escape("{" + place + "}"), group)
    rows, good = {}, {}
    for path in sorted(card.rglob("*.wav"), key=lambda p: bytes(p.relative_to(card))):
        name = str(path.relative_to(card))
        with wave.open(str(path)) as stream:
            rate, count = stream.getframerate(), stream.getnframes()
            samples = array.array("h", stream.readframes(count))
        found = list(re.finditer(form, keys(samples, rate)))
        value = hashlib.sha256(path.read_bytes()).hexdigest()
        rows[name] = [4 if not found else 0, "-", f"{count / rate:.1f}"]
        if rules["verify"] and listed[name] != value:
            rows[name][0] = 3
        elif found:
            slate = found[-1 if rules["slate"] == "last" else 0]
            good.setdefault(slate.group("a", "b", "c"), {}).setdefault(value, []).append(name)
    return rows, good


def choose(rules, rows, good):
    """Status and target of the good ones."""
    best = max if rules["retake"] == "longest" else min
    for (a, b, c), contents in good.items():
        chosen = best(contents, key=lambda value: float(rows[contents[value][0]][2]))
        mic = rules["names"][int(c) - 1]
        target = rules["layout"].format(group=rules["group"], a=a, b=b, name=mic)
        for value, names in contents.items():
            stays = names[0 if rules["same"] == "first" else -1]
            for name in names:
                kept = name == stays or rules["copies"]
                rows[name][0] = 1 if not kept else 0 if value == chosen else 2
                if rows[name][0] == 0:
                    rows[name][1] = target


def main(rules):
    card, out = Path("/srv", rules["card"]), Path(rules["out"])
    rows, good = heard(rules, card)
    choose(rules, rows, good)
    out.mkdir()
    lines = []
    for name, (status, target, seconds) in rows.items():
        if target != "-" and rules["place"]:
            (out / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(card / name, out / target)
        word = rules["words"][status]
        cells = {"source": name, "status": word, "target": target, "seconds": seconds}
        lines.append(rules["sep"].join(cells[column] for column in rules["columns"]) + "\n")
    (out / rules["manifest"]).write_text("".join(lines))


main(json.loads(Path(sys.argv[1]).read_text()))
