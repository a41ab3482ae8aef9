# mypy: ignore-errors
"""Brightness of each lamp in each frame: lamps.py SETTINGS.json FILM > lamps.csv"""

import json
import subprocess
import sys

with open(sys.argv[1]) as stream:
    positions = json.load(stream)["positions"]
WIDTH, HEIGHT = 320, 240
command = [
    "ffmpeg",
    "-nostdin",
    "-v",
    "error",
    "-i",
    sys.argv[2],
    "-f",
    "rawvideo",
    "-pix_fmt",
    "rgb24",
    "-",
]
print("frame", "mean", *positions, sep=",")
with subprocess.Popen(command, stdout=subprocess.PIPE) as film:
    number = 0
    while picture := film.stdout.read(WIDTH * HEIGHT * 3):
        corners = picture[:: WIDTH * 3 * 7 + 33]
        levels = []
        for x, y in positions.values():
            spots = [((y + dy) * WIDTH + x + dx) * 3 for dx in (-5, 0, 5) for dy in (-5, 0, 5)]
            levels.append(sum(max(picture[spot : spot + 3]) for spot in spots) // len(spots))
        flat = max(corners) - min(corners) < 12
        print(number, sum(corners) // len(corners) if flat else "", *levels, sep=",")
        number += 1
