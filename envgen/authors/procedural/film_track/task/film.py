# mypy: ignore-errors
"""Films the runs: film.py PLAN.json OUT. Frames by Pillow; the container of AVI written here."""

import io
import json
import os
import struct
import sys

from PIL import Image, ImageDraw

SIZE, SCALE = (320, 200), 4
PAPER, DARK, LIGHT, RED, GREEN, BLUE = (
    (206, 204, 196), (25, 25, 25), (245, 245, 245), (205, 30, 35), (30, 190, 60), (30, 55, 190),
)  # fmt: skip


def frame(plan, one):
    """One picture, drawn four times as large."""
    picture = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), PAPER)
    pen = ImageDraw.Draw(picture)

    def box(x, y, half_x, half_y, fill):
        pen.rectangle(
            [round(v * SCALE) for v in (x - half_x, y - half_y, x + half_x, y + half_y)], fill
        )

    for x, y in plan["crosses"]:
        box(x, y, 5, 0.75, RED)
        box(x, y, 0.75, 5, RED)
    box(*plan["clamp"], 9, 5, BLUE)
    box(308, 10, 6, 6, GREEN if one["lamp"] else (120, 120, 120))
    for bit in range(10):
        lit = one["number"] >> (9 - bit) & 1
        box(18 + 16 * bit, 193, 7, 5, LIGHT if lit else DARK)
    x, y, r = *one["at"], plan["radius"]
    pen.ellipse([round(v * SCALE) for v in (x - r, y - r, x + r, y + r)], BLUE)
    light = one["light"]
    return picture.reduce(SCALE).point(lambda value: min(255, round(value * light)))


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def avi(pictures, rate):
    """Motion JPEG: one picture after the other."""
    coded = []
    for picture in pictures:
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=93, subsampling=0)
        coded.append(buffer.getvalue())
    width, height = SIZE
    main = struct.pack(
        "<14I", 1_000_000 // rate, 0, 0, 16, len(coded), 0, 1, 0, width, height, 0, 0, 0, 0
    )
    told = 0, 0, 0, 0, 1, rate, 0, len(coded), 0, 0, 0, 0, 0, width, height
    stream = b"vidsMJPG" + struct.pack("<IHHIIIIIIIIHHHH", *told)
    form = struct.pack(
        "<IiiHH4sIiiII", 40, width, height, 1, 24, b"MJPG", width * height * 3, 0, 0, 0, 0
    )
    header = chunk(b"avih", main) + chunk(
        b"LIST", b"strl" + chunk(b"strh", stream) + chunk(b"strf", form)
    )
    movie = b"".join(chunk(b"00dc", data) for data in coded)
    return chunk(
        b"RIFF", b"AVI " + chunk(b"LIST", b"hdrl" + header) + chunk(b"LIST", b"movi" + movie)
    )


def main(plan_file, out):
    with open(plan_file) as stream:
        plan = json.load(stream)
    for film in plan["films"]:
        pictures = [frame(plan, one) for one in film["frames"]]
        path = os.path.join(out, film["file"])
        if path.endswith(".avi"):
            with open(path, "wb") as stream:
                stream.write(avi(pictures, plan["rate"]))
            continue
        if path.endswith(".gif"):
            pictures = [p.quantize(96, dither=Image.Dither.NONE) for p in pictures]
        pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=40, loop=0)


main(*sys.argv[1:])
