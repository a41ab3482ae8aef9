# mypy: ignore-errors
"""Scans of filled-in sheets: draw.py PLAN.json OUT. Drawn twice as large, turned, made small."""

import json
import os
import random
import sys

from PIL import Image, ImageDraw

SIZE, SCALE = (480, 640), 2


class Page:
    """A page under the pen, in points of the final picture."""

    def __init__(self, marks):
        self.image = Image.new("L", (SIZE[0] * SCALE, SIZE[1] * SCALE), 246)
        self.pen, self.marks = ImageDraw.Draw(self.image), marks

    def place(self, u, v):
        (left, top), (right, bottom) = self.marks
        return left + u * (right - left), top + v * (bottom - top)

    def box(self, x, y, half, fill, outline=None):
        corners = [v * SCALE for v in (x - half, y - half, x + half, y + half)]
        self.pen.rectangle(corners, fill, outline, 2)

    def disc(self, x, y, r, fill=None, outline=None):
        self.pen.ellipse([v * SCALE for v in (x - r, y - r, x + r, y + r)], fill, outline, 3)


def question(page, grid, q, marks, options, rng):
    for o in range(options):
        x, y = page.place(grid["u"] + o * grid["du"], grid["v"] + q * grid["dv"])
        page.disc(x, y, 9, outline=110)
        kind = marks.get(str(o))
        if kind == "full":
            x, y = x + rng.uniform(-1, 1), y + rng.uniform(-1, 1)
            page.disc(x, y, rng.uniform(7.6, 9), rng.randrange(25, 75))
        if kind == "erased":
            page.disc(x, y, 8.5, rng.randrange(168, 190))


def sheet(plan, one):
    rng, page, code = random.Random(one["seed"]), Page(plan["marks"]), plan["code"]
    for u, v in ((0, 0), (1, 0), (0, 1), (1, 1)):
        page.box(*page.place(u, v), 13 if (u, v) == (0, 0) else 8, 20)
    for n, bit in enumerate(one["bits"]):
        x, y = page.place(code["u"] + n * code["du"], code["v"])
        page.box(x, y, 7, 20 if bit else None, 90)
    for q, marks in enumerate(one["marks"]):
        question(page, plan["grid"], q, marks, plan["options"], rng)
    for _ in range(60):
        x, y = rng.randrange(SIZE[0]), rng.randrange(SIZE[1])
        page.box(x, y, 0.5, rng.randrange(120, 200))
    image = page.image.rotate(
        one["angle"], Image.Resampling.BICUBIC, fillcolor=246, translate=one["shift"]
    )
    if one["upside_down"]:
        image = image.transpose(Image.Transpose.ROTATE_180)
    return image.reduce(SCALE)


def main(plan_file, out):
    with open(plan_file) as stream:
        plan = json.load(stream)
    for one in plan["sheets"]:
        sheet(plan, one).save(os.path.join(out, one["file"]))


main(*sys.argv[1:])
