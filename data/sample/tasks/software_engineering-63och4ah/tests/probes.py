"""Inputs for the tool: good and bad lines to encode, good and bad frames to decode.

Ships beside the oracle, which makes the frames; Python 3.9, standard library only.
"""

from __future__ import annotations

import random

import codec, payloads

NO_INTEGERS = (
    "", "x", "+1", "1.5", "--2", "-", "1e2", "0x1", "1234567", "1 ", " 1", "\t3", "a", "0000001"
)  # fmt: skip
HEX = "0123456789abcdef"


def readings(params: payloads.Params, rng: random.Random) -> str:
    """A line that can be encoded; ends of ranges come more often than chance has them."""
    return str(params["separator"]).join(map(str, values(params, rng)))


def values(params: payloads.Params, rng: random.Random) -> list[int]:
    if params["kind"] == "fields":
        return [some(rng, field["low"], field["high"]) for field in params["fields"]]
    return series(params, rng)


def some(rng: random.Random, low: int, high: int) -> int:
    inner = [value for value in (-1, 0, 1) if low <= value <= high]
    return rng.choice((low, high, rng.choice(inner or [low]), *(rng.randint(low, high),) * 5))


def series(params: payloads.Params, rng: random.Random) -> list[int]:
    """Samples with runs, small steps, steps just too large, and jumps."""
    low, high, edge = params["low"], params["high"], params["step_max"]
    count = rng.choice((1, 2, params["most"], *(rng.randint(1, params["most"]),) * 4))
    out = [some(rng, low, high)]
    while len(out) < count:
        kind = rng.randrange(5)
        if kind == 0:
            longest = params["run_min"] + params["run_codes"] + 2
            out += [out[-1]] * rng.choice((1, 2, 3, rng.randint(1, longest)))
        elif kind == 1:
            out.append(some(rng, low, high))
        elif kind == 2:
            out.append(out[-1] + rng.choice((-edge - 1, -edge, edge, edge + 1)))
        else:
            out.append(out[-1] + rng.randint(-edge, edge))
        out[-1] = min(max(out[-1], low), high)
    return out[:count]


def bad_readings(params: payloads.Params, rng: random.Random) -> str:
    """A line that cannot be encoded."""
    mark = str(params["separator"])
    items = [str(value) for value in values(params, rng)]
    place = rng.randrange(len(items))
    low, high = payloads.ranges(params, len(items))[place]
    kind = rng.randrange(4)
    if kind == 0:
        items[place] = rng.choice(NO_INTEGERS)
    elif kind == 1:
        items[place] = str(rng.choice((low - 1, high + 1, low - rng.randint(2, 99), high + 7)))
    elif kind == 2:
        items = miscounted(params, rng, items)
        if rng.random() < 0.3:
            items[rng.randrange(len(items))] = str(high + 1)
    else:
        items[rng.randrange(len(items))] = str(high + 1)
        items[rng.randrange(len(items))] = "z"
    return mark.join(items)


def miscounted(params: payloads.Params, rng: random.Random, items: list[str]) -> list[str]:
    """Too many values; of records also too few."""
    if params["kind"] == "samples":
        return [*items, *["1"] * int(params["most"])]
    return rng.choice((items[:-1], [*items, "0"], items[:1]))


def frame(params: payloads.Params, rng: random.Random) -> str:
    """A frame of the encoder's, as the far end might send it: any counter, any case."""
    made: str = codec.encode(params, readings(params, rng), rng.randrange(300))
    return rng.choice((made, made, made.lower(), made.upper()))


def bad_frame(params: payloads.Params, rng: random.Random) -> str:
    """A frame with damage that the check field shows, or text that is no frame."""
    text = frame(params, rng)
    place = rng.randrange(len(text))
    swapped = rng.choice([char for char in HEX if char != text[place].lower()])
    return rng.choice(
        (
            text[:place] + swapped + text[place + 1 :],
            text[:place] + swapped + text[place + 1 :],
            text[:2] + swapped + text[3:],
            text[:-1] + rng.choice([char for char in HEX if char != text[-1].lower()]),
            text[:-1],
            text[:-2],
            text + "00",
            text[: 2 * rng.randint(1, 4)],
            text[:place] + rng.choice("g .-") + text[place + 1 :],
            text[:place] + "g" + text[place + 1 : -1],
            f" {text}",
            "00" * rng.choice((1, 5, 200, 300)),
        )
    )


def odd_frame(params: payloads.Params, rng: random.Random) -> str:
    """A sound frame around a payload that the encoder would not make; it may still be valid."""
    payload = bytearray(payloads.payload_of(params, values(params, rng)))
    if params["kind"] == "samples" and rng.random() < 0.7:
        payload = spoken(params, rng)
    for _ in range(rng.randrange(3)):
        payload[rng.randrange(len(payload))] = rng.randrange(256)
    if params["kind"] == "samples" and rng.random() < 0.2:
        payload = payload[: max(3, len(payload) - rng.randint(1, 2))]
    return codec.wrap(params, bytes(payload[: codec.LONGEST]), rng.randrange(300))


def spoken(params: payloads.Params, rng: random.Random) -> bytearray:
    """A payload of tokens drawn one by one: short runs, zero steps, needless escapes."""
    middle = (params["low"] + params["high"]) // 2
    count, out, tokens = 1, bytearray(), rng.randrange(1, 12)
    for _ in range(tokens):
        kind = rng.randrange(3)
        if kind == 0:
            code = rng.randrange(min(params["run_codes"], 6))
            out.append(params["run_base"] + code)
            count += code + params["run_min"]
            continue
        count += 1
        if kind == 1:
            out.append(params["step_base"] + rng.randrange(2 * params["step_max"] + 1))
        else:
            out.append(params["escape"])
            out += payloads.absolute(params, middle + rng.randint(-9, 9))
    count += rng.choice((0, 0, 0, 0, 1, -1))
    head = bytes([(count - params["count_less"]) % 256])
    return bytearray(head + payloads.absolute(params, middle) + bytes(out))


DRAWS = {
    "encode": {"readings": readings, "bad readings": bad_readings},
    "decode": {"frames": frame, "bad frames": bad_frame, "odd frames": odd_frame},
}


def batch(params: payloads.Params, rng: random.Random, mode: str, kind: str, lines: int) -> str:
    """Standard input of one run: lines of one kind, in every third run with others between them."""
    others = list(DRAWS[mode].values())
    pure = 1.0 if rng.random() < 0.67 else 0.7
    out = []
    for _ in range(lines):
        draw = DRAWS[mode][kind] if rng.random() < pure else rng.choice(others)
        out.append(draw(params, rng))
    ending = rng.choice(("\n", "\n", "\n", "\r\n", "\n\n"))
    return ending.join(out) + rng.choice(("\n", "\n", ""))
