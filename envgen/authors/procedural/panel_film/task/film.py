# mypy: ignore-errors
"""Films a panel: python3 film.py drawing.json /out/FILM.mp4 (ten frames a second, no sound)."""

import json
import math
import random
import subprocess
import sys

from PIL import Image, ImageDraw

WIDTH, HEIGHT = 320, 240
RAW = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", "10", "-i", "-"]
BARE = ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
CODED = [
    "-c:v",
    "libx264",
    "-preset",
    "veryfast",
    "-crf",
    "17",
    "-pix_fmt",
    "yuv420p",
    "-threads",
    "1",
]
FFMPEG = ["ffmpeg", "-nostdin", "-v", "error"]


def frame(plan, rng, number, seen):
    """One picture: uneven light that changes slowly, a belt, the lamps."""
    if "w" in seen or "b" in seen:
        return Image.new("RGB", (WIDTH, HEIGHT), (250,) * 3 if "w" in seen else (6,) * 3)
    light = plan["light"] + round(14 * math.sin(number / 60))
    image = Image.new("RGB", (WIDTH, HEIGHT), (light, light, light + 6))
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 195, WIDTH, 235), fill=(light // 2,) * 3)
    for x in range(number * 5 % 64 - 64, WIDTH, 64):
        pen.rectangle((x, 200, x + 26, 230), fill=(light // 2 + 40, light // 2 + 30, light // 2))
    lamps = [*zip(plan["lamps"], seen, strict=True), (plan["other"], "01"[number // 7 % 2])]
    for (x, y, colour), state in lamps:
        pen.ellipse((x - 17, y - 17, x + 17, y + 17), fill=(30, 30, 30))
        lit = tuple(colour) if state == "1" else tuple(c // 4 + 12 for c in colour)
        pen.ellipse((x - 13, y - 13, x + 13, y + 13), fill=lit)
    for _ in range(60):
        pen.point((rng.randrange(WIDTH), rng.randrange(HEIGHT)), fill=(rng.randrange(256),) * 3)
    return image


def main(plan_file, out):
    with open(plan_file) as stream:
        plan = json.load(stream)
    rng = random.Random(plan["seed"])
    command = [*FFMPEG, *RAW, "-an", *CODED, *BARE, "-movflags", "+faststart", out]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
        for number, seen in enumerate(plan["frames"]):
            encoder.stdin.write(frame(plan, rng, number, seen).tobytes())
        encoder.stdin.close()
    return encoder.returncode


sys.exit(main(*sys.argv[1:]))
