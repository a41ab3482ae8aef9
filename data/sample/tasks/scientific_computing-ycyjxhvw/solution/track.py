"""track.py FILM: rows `number,t_s,x_mm,y_mm` of the thing that moves, from the lamp on."""

import io
import re
import struct
import sys

import numpy as np
from PIL import Image, ImageSequence


def frames(path):
    data = open(path, "rb").read()
    if data[:4] != b"RIFF":
        return [one.convert("RGB") for one in ImageSequence.Iterator(Image.open(path))]
    at, found = data.index(b"movi") + 4, []
    while data[at : at + 4] == b"00dc":
        (size,) = struct.unpack_from("<I", data, at + 4)
        found.append(Image.open(io.BytesIO(data[at + 8 : at + 8 + size])).convert("RGB"))
        at += 8 + size + size % 2
    return found


pictures = np.array([np.asarray(one, float) for one in frames(sys.argv[1])])
red, green, blue = (pictures[..., n] for n in range(3))
still = np.median(pictures, axis=0)
rows, columns = np.nonzero(still[..., 0] - still[..., 1:].max(-1) > 80)
middle_x, middle_y = (columns.min() + columns.max()) / 2, (rows.min() + rows.max()) / 2
ends = []
for part in (
    (columns < middle_x) & (rows > middle_y), (columns > middle_x), (columns < middle_x) & (rows < middle_y),
):
    ends.append((columns[part].mean(), rows[part].mean()))
origin, right, up = ends
per_x = 36 / (right[0] - origin[0])
per_y = 24 / (origin[1] - up[1])
is_blue = blue - np.maximum(red, green)
moving = np.where((is_blue > 8).mean(0) > 0.9, 0, is_blue)
moving = np.where(moving > 12, moving, 0)
lamp = (green - np.maximum(red, blue))[:, 5:15, 303:313].mean((1, 2)) > 50
bits = pictures[:, 190:196, :, :].mean((1, 3))
numbers = [sum((row[12 + 16 * n : 24 + 16 * n].mean() > 128) << (9 - n) for n in range(10)) for row in bits]
first = numbers[list(lamp).index(True)]
ys, xs = np.mgrid[: moving.shape[1], : moving.shape[2]]
with open(re.sub(r"\.\w+$", ".track", sys.argv[1]).replace("/home/agent/film", "/tmp"), "w") as out:
    for place, (number, lit, mass) in enumerate(zip(numbers, lamp, moving)):
        if not lit:
            continue
        x, y = (mass * xs).sum() / mass.sum(), (mass * ys).sum() / mass.sum()
        t = (number - first) / 15
        x_mm, y_mm = 10 * (x - origin[0]) * per_x, 10 * (origin[1] - y) * per_y
        print(f"{place},{t:.4f},{ x_mm:.1f},{ y_mm:.1f}", file=out)
