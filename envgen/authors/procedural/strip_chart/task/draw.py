# mypy: ignore-errors
"""Draws one recorder sheet as a scan: python3 draw.py params.json /out/chart.png"""

import json
import random
import sys

from PIL import Image, ImageChops, ImageDraw, ImageFont

SCALE = 3
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
BOLD = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"


def at(x, y):
    """Scan coordinates (integers are pixel centres) on the enlarged canvas."""
    return ((x + 0.5) * SCALE - 0.5, (y + 0.5) * SCALE - 0.5)


def font(size, name=FONT):
    return ImageFont.truetype(name, size * SCALE)


def print_paper(image, p):
    """Grid, labels, title and register crosses."""
    draw = ImageDraw.Draw(image)
    for x1, y1, x2, y2, width in p["lines"]:
        draw.line([at(x1, y1), at(x2, y2)], fill=tuple(p["grid"]), width=SCALE * width - 1)
    for x, y, text in p["labels"]:
        draw.text(at(x, y), text, fill=(110, 104, 98), font=font(15))
    draw.text(at(120, 18), p["title"], fill=(96, 90, 86), font=font(20))
    for x, y, name in p["marks"]:
        draw.line([at(x - 9, y), at(x + 9, y)], fill=(20, 20, 20), width=SCALE)
        draw.line([at(x, y - 9), at(x, y + 9)], fill=(20, 20, 20), width=SCALE)
        side = (-25 if name in "AD" else 12, 3 if name in "AB" else -22)
        draw.text(at(x + side[0], y + side[1]), name, fill=(20, 20, 20), font=font(14))


def write_traces(image, p):
    draw = ImageDraw.Draw(image)
    for trace in p["traces"]:
        for stroke in trace["path"]:
            points = [at(x, y) for x, y in stroke]
            draw.line(points, fill=tuple(trace["ink"]), width=2 * SCALE, joint="curve")
    if p["doodle"]:
        x, y, text, ink = p["doodle"]
        draw.text(at(x, y), text, fill=tuple(ink), font=font(22))


def stamp(image, p):
    """A rubber stamp: turned, in an outlined box, half transparent."""
    s = p["stamp"]
    face = font(s["size"], BOLD)
    box = face.getbbox(s["text"])
    width, height = box[2] + 24 * SCALE, box[3] + 18 * SCALE
    mask = Image.new("L", (width, height), 0)
    draw = ImageDraw.Draw(mask)
    draw.rectangle([4, 4, width - 5, height - 5], outline=150, width=3 * SCALE)
    draw.text((12 * SCALE, 7 * SCALE), s["text"], fill=150, font=face)
    mask = mask.rotate(s["angle"], resample=Image.BICUBIC, expand=True)
    x, y = at(*s["at"])
    image.paste(Image.new("RGB", mask.size, tuple(s["colour"])), (int(x), int(y)), mask)


def ring(image, p):
    """The stain of a cup."""
    if not p["ring"]:
        return
    x, y = at(*p["ring"][:2])
    radius = p["ring"][2] * SCALE
    mask = Image.new("L", image.size, 0)
    box = [x - radius, y - radius * 0.9, x + radius, y + radius * 0.9]
    ImageDraw.Draw(mask).ellipse(box, outline=70, width=7 * SCALE)
    image.paste(Image.new("RGB", image.size, (150, 110, 60)), (0, 0), mask)


def age(image, p):
    """Uneven light, grain of the paper and specks of dust."""
    rng = random.Random(p["seed"])
    width, height = image.size
    shade = Image.radial_gradient("L").resize(image.size, Image.BICUBIC)
    shade = shade.point([255 - int(p["shade"] * v) for v in range(256)])
    image = ImageChops.multiply(image, Image.merge("RGB", (shade, shade, shade)))
    small = ((width + 1) // 2, (height + 1) // 2)
    grain = Image.frombytes("L", small, rng.randbytes(small[0] * small[1]))
    amount = p["grain"]
    grain = grain.point([128 + (v * (2 * amount + 1) // 256 - amount) // 2 * 2 for v in range(256)])
    grain = grain.resize((2 * small[0], 2 * small[1]), Image.NEAREST).crop((0, 0, width, height))
    image = ImageChops.add(image, Image.merge("RGB", (grain, grain, grain)), 1.0, -128)
    draw = ImageDraw.Draw(image)
    for _ in range(260):
        x, y = rng.randrange(width), rng.randrange(height)
        shade = rng.randrange(90, 190)
        draw.rectangle([x, y, x + rng.randrange(2), y + rng.randrange(2)], fill=(shade,) * 3)
    return image


def main():
    with open(sys.argv[1]) as stream:
        p = json.load(stream)
    width, height = p["size"]
    image = Image.new("RGB", (width * SCALE, height * SCALE), tuple(p["paper"]))
    print_paper(image, p)
    if p["stamp"]["below"]:
        stamp(image, p)
    write_traces(image, p)
    if not p["stamp"]["below"]:
        stamp(image, p)
    ring(image, p)
    image = age(image.reduce(SCALE), p)
    image.point([min(255, v // 8 * 8 + 4) for v in range(256)] * 3).save(sys.argv[2], optimize=True)


if __name__ == "__main__":
    main()
