# mypy: ignore-errors
"""Draws a sheet of settings as somebody scanned it: sheet.py SHEET.json OUT.png"""

import json
import random
import sys

from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/"


def main(plan_file, out):
    with open(plan_file) as stream:
        plan = json.load(stream)
    rng = random.Random(plan["seed"])
    rows = plan["rows"]
    width, height = 900, 240 + 52 * len(rows)
    image = Image.new("L", (width, height), 247)
    pen = ImageDraw.Draw(image)
    face = ImageFont.truetype(f"{FONTS}DejaVuSans.ttf", 30)
    pen.text(
        (80, 60), plan["title"], font=ImageFont.truetype(f"{FONTS}DejaVuSans-Bold.ttf", 36), fill=20
    )
    for place, (key, value) in enumerate(rows):
        y = 150 + 52 * place
        pen.text((90, y), f"{key}:", font=face, fill=30)
        pen.text((330, y), value, font=face, fill=30)
    image = image.rotate(rng.uniform(-0.5, 0.5), resample=Image.BICUBIC, fillcolor=247)
    for _ in range(900):
        x, y = rng.randrange(width), rng.randrange(height)
        image.putpixel((x, y), max(0, image.getpixel((x, y)) - rng.randrange(20, 70)))
    image.save(out)


main(*sys.argv[1:])
