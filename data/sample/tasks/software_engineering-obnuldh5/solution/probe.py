"""Finds out by questions how the vendor's tool builds its frames; prints settings as JSON.

What the manual says is in KNOWN; everything else is derived from the tool's answers.
"""

import itertools
import json
import random
import subprocess
import sys
from typing import Any, Dict, Iterator, List, Tuple

KNOWN: Dict[str, Any] = {'binary': '/opt/vendor/bin/gatelog',
 'commands': ['pack', 'unpack'],
 'error': 'ERR *',
 'fields': [{'high': 12, 'low': 1, 'name': 'lane'},
            {'high': 999999, 'low': 0, 'name': 'ticket'},
            {'high': 1800, 'low': 0, 'name': 'wait_s'},
            {'high': 9, 'low': 0, 'name': 'cause'}],
 'separator': ';',
 'upper': True,
 'words': {'check': 'CHECKSUM',
           'count': 'COUNT',
           'format': 'SYNTAX',
           'header': 'HEADER',
           'payload': 'PAYLOAD',
           'range': 'RANGE',
           'size': 'SIZE'}}  # filled in from the manual

POLY8 = (0x07, 0x31, 0x1D, 0x9B, 0x2F, 0x39, 0xD5, 0xA7, 0x8D, 0x97)
POLY16 = (0x1021, 0x8005, 0x3D65, 0x8BB7, 0xA097, 0xC867, 0x0589, 0x8D95)
rng = random.Random(1)


def ask(lines: List[List[int]]) -> List[bytes]:
    """The frames that one run of the tool makes of these values."""
    text = "".join(KNOWN["separator"].join(map(str, line)) + "\n" for line in lines)
    done = subprocess.run(
        [KNOWN["binary"], KNOWN["commands"][0]],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [bytes.fromhex(line) for line in done.stdout.split()]


def first(line: List[int]) -> bytes:
    """The frame of a line that is the first of its run."""
    return ask([line])[0]


def same_prefix(frames: List[bytes]) -> int:
    return next(i for i in range(99) if len({frame[i] for frame in frames}) > 1)


# -- counter and check field ------------------------------------------------------------------


def counter_of(line: List[int]) -> Tuple[int, List[int]]:
    """Where the counter stands (-1: nowhere), its first value and its modulus."""
    frames = ask([line] * 700)
    if len(set(frames)) == 1:
        return -1, []
    place = same_prefix(frames)
    numbers = [frame[place] for frame in frames]
    last = next(a for a, b in zip(numbers, numbers[1:]) if b < a)  # noqa: B905, RUF007
    return place, [numbers[0], last + 1]


def mirrored(value: int, width: int) -> int:
    return int(f"{value:0{width}b}"[::-1], 2)


def crc(data: bytes, check: Dict[str, Any]) -> int:
    width, value = check["width"], check["init"]
    for byte in data:
        value ^= (mirrored(byte, 8) if check["reflect"] else byte) << (width - 8)
        for _ in range(8):
            value <<= 1
            if value >> width:
                value ^= 1 << width | check["poly"]
    return mirrored(value, width) if check["reflect"] else value


def sums(data: bytes, check: Dict[str, Any]) -> int:
    if check["kind"] == "sum":
        return int(sum(data) * check["sign"]) & 255
    value = int(check["init"])
    if check["kind"] == "rotate":
        for byte in data:
            value = (value << check["turn"] | value >> (8 - check["turn"])) & 255 ^ byte
        return value
    high = 0
    for byte in data:
        value = (value + byte) % check["modulus"]
        high = (high + value) % check["modulus"]
    return high << 8 | value


def guesses() -> Iterator[Dict[str, Any]]:
    """Every kind of check field that is worth a try; `fix` says how a constant joins in."""
    for width, polys in ((8, POLY8), (16, POLY16)):
        for poly, reflect, init in itertools.product(polys, (False, True), (0, (1 << width) - 1)):
            yield {"kind": "crc", "width": width, "poly": poly, "reflect": reflect, "init": init,
                   "fix": "xor"}  # fmt: skip
    for sign in (1, -1):
        yield {"kind": "sum", "width": 8, "sign": sign, "fix": "add"}
    for turn, init in itertools.product((1, 2, 3, 4, 5, 6, 7), range(256)):
        yield {"kind": "rotate", "width": 8, "turn": turn, "init": init, "fix": "none"}
    for modulus, init in itertools.product((255, 256), (0, 1, 255)):
        yield {"kind": "fletcher", "width": 16, "modulus": modulus, "init": init, "fix": "none"}


def plain_check(data: bytes, check: Dict[str, Any]) -> int:
    return crc(data, check) if check["kind"] == "crc" else sums(data, check)


def check_of(frames: List[bytes], head: int) -> Dict[str, Any]:
    """The check field that explains all frames; it begins somewhere before the payload."""
    for check in guesses():
        size = check["width"] // 8
        orders: Tuple[Any, ...] = ("big",) if size == 1 else ("big", "little")
        for start, order in itertools.product(range(head + 1), orders):
            check.update(start=start, order=order, constant=0)
            pairs = ((frame[start:-size], int.from_bytes(frame[-size:], order)) for frame in frames)
            if fits(check, list(pairs)):
                return check
    sys.exit("no check field found")


def fits(check: Dict[str, Any], pairs: List[Tuple[bytes, int]]) -> bool:
    value, wanted = plain_check(pairs[0][0], check), pairs[0][1]
    if check["fix"] == "xor":
        check["constant"] = value ^ wanted
    elif check["fix"] == "add":
        check["constant"] = (wanted - value) & 255
    return all(whole_check(data, check) == found for data, found in pairs)


def whole_check(data: bytes, check: Dict[str, Any]) -> int:
    value = plain_check(data, check)
    if check["fix"] == "add":
        return int(value + check["constant"]) & 255
    return int(value ^ check["constant"])


# -- records of bit fields --------------------------------------------------------------------


def codes(field: Dict[str, Any]) -> Iterator[Tuple[str, int]]:
    """Ways to code a field, each with its width."""
    low, high = field["low"], field["high"]
    wide = (high - low).bit_length()
    yield from (("offset", wide), ("gray", wide))
    if low < 0:
        yield "twos", max(high.bit_length(), (-low - 1).bit_length()) + 1
        yield "zigzag", max(2 * high, -2 * low - 1).bit_length()


def coded(field: Dict[str, Any], coding: str, bits: int, value: int) -> int:
    plain = value - field["low"]
    if coding == "gray":
        return int(plain ^ plain >> 1)
    if coding == "zigzag":
        return 2 * value if value >= 0 else -2 * value - 1
    return int(plain if coding == "offset" else value & ((1 << bits) - 1))


def record_settings() -> Dict[str, Any]:
    fields = KNOWN["fields"]
    base = [field["low"] for field in fields]
    place, counter = counter_of(base)
    lines = [[rng.randint(f["low"], f["high"]) for f in fields] for _ in range(120)]
    frames = ask(lines)
    head = place + 1 if counter else same_prefix(frames)
    check = check_of(frames, head)
    tail = check["width"] // 8
    probes = {place: steps(fields, base, place) for place in range(len(fields))}
    answers = {place: ask(lines) for place, lines in probes.items()}
    start = first(base)
    for chained, order in itertools.product((False, True), ("big", "little")):

        def number(frame: bytes, chained: bool = chained, order: Any = order) -> int:
            data = frame[head : len(frame) - tail]
            if chained:
                data = bytes(a ^ b for a, b in zip(data, b"\0" + data))  # noqa: B905
            return int.from_bytes(data, order)

        placed = [
            place_of(field, [line[i] for line in probes[i]],
                     [number(frame) ^ number(start) for frame in answers[i]])
            for i, field in enumerate(fields)
        ]  # fmt: skip
        if all(placed):
            parts = [{**field, **spot} for field, spot in zip(fields, placed)]  # noqa: B905
            packed = sum(coded(p, p["coding"], p["bits"], p["low"]) << p["shift"] for p in parts)
            return {
                "head": start[: head - bool(counter)].hex(), "counter": counter, "check": check,
                "chained": chained, "order": order, "size": len(start) - head - tail,
                "mask": number(start) ^ packed, "fields": parts,
            }  # fmt: skip
    sys.exit("no layout found")


def steps(fields: List[Dict[str, Any]], base: List[int], place: int) -> List[List[int]]:
    """The base record with other values in one field."""
    low, high = fields[place]["low"], fields[place]["high"]
    some = {low + 1, high, *(rng.randint(low, high) for _ in range(60)), *range(-2, 3)}
    picked = sorted(value for value in some if low < value <= high)
    return [[*base[:place], value, *base[place + 1 :]] for value in picked]


def place_of(field: Dict[str, Any], values: List[int], changes: List[int]) -> Dict[str, Any]:
    """The coding and the position that explain how the payload changed; empty if none does."""
    for coding, bits in codes(field):
        zero = coded(field, coding, bits, field["low"])
        wanted = [coded(field, coding, bits, value) ^ zero for value in values]
        shift = lowest(changes[0]) - lowest(wanted[0])
        if shift >= 0 and [code << shift for code in wanted] == changes:
            return {"coding": coding, "bits": bits, "shift": shift}
    return {}


def lowest(number: int) -> int:
    return (number & -number).bit_length() - 1


# -- blocks of samples ------------------------------------------------------------------------


def block_settings() -> Dict[str, Any]:
    low, high, most = KNOWN["low"], KNOWN["high"], KNOWN["most"]
    _, counter = counter_of([low])
    singles = [first([value]) for value in (low, high, *(rng.randint(low, high) for _ in range(9)))]
    head = same_prefix(singles) - 1
    longer = [[rng.randint(low, high) for _ in range(rng.randint(1, most))] for _ in range(60)]
    check = check_of(ask(longer), head)
    tail = check["width"] // 8
    jumps = [[(low, high)[i % 2] for i in range(count)] for count in range(1, 9)]
    where = head - 1 - bool(counter)
    length = length_rule([first(line) for line in jumps], where, head + tail)
    found = scrambling([(line, first(line)[head:-tail]) for line in jumps])
    found.update(
        head=singles[0][: head - bool(counter) - bool(length)].hex(),
        counter=counter, length=length, check=check,
    )  # fmt: skip

    def tokens(line: List[int]) -> bytes:
        data = first(line)[head:-tail]
        return bytes(unscrambled(found, data))[3:]

    return {**found, **steps_and_runs(tokens, (low + high) // 2, most)}


def length_rule(frames: List[bytes], place: int, overhead: int) -> str:
    if place >= 0 and all(frame[place] == len(frame) - overhead for frame in frames):
        return "payload"
    return "frame" if place >= 0 and all(frame[place] == len(frame) for frame in frames) else ""


def unscrambled(how: Dict[str, Any], data: bytes) -> Iterator[int]:
    key = how["seed"]
    for byte in data:
        yield byte ^ key
        if how["scramble"] == "chain":
            key = byte
        elif how["scramble"] == "ramp":
            key = (key + how["step"]) & 255
        else:
            key = key >> 1 ^ (how["step"] if key & 1 else 0)


def scrambling(known: List[Tuple[List[int], bytes]]) -> Dict[str, Any]:
    """Samples that jump give payloads that are known but for one byte, the escape code."""
    kinds = [("chain", 0), *(("ramp", n) for n in range(256)), *(("lfsr", n) for n in range(256))]
    line, data = known[0]
    for (kind, step), less, order in itertools.product(kinds, (0, 1), ("big", "little")):
        how: Dict[str, Any] = {"scramble": kind, "step": step, "count_less": less, "order": order}
        how["seed"] = data[0] ^ (len(line) - less)
        escapes = {escape_of(how, line, bytes(unscrambled(how, data))) for line, data in known}
        if len(escapes - {-1}) == 1 and -2 not in escapes:
            return {**how, "escape": max(escapes)}
    sys.exit("no scrambling found")


def escape_of(how: Dict[str, Any], line: List[int], payload: bytes) -> int:
    """The escape code in this payload; -1: there is none, -2: the payload does not fit."""
    wide = [int(value - KNOWN["low"]).to_bytes(2, how["order"]) for value in line]
    marks = set(payload[3::3])
    if payload[0] != len(line) - how["count_less"] or len(payload) != 3 * len(line):
        return -2
    if any(payload[3 * i + 1 : 3 * i + 3] != two for i, two in enumerate(wide)):
        return -2
    return -2 if len(marks) > 1 else max(marks, default=-1)


def steps_and_runs(tokens: Any, middle: int, most: int) -> Dict[str, Any]:
    small = {step: tokens([middle, middle + step]) for step in range(-140, 141) if step}
    widest = max(step for step, data in small.items() if len(data) == 1)
    up, down = small[1][0], small[-1][0]
    zigzag = up - down == 1
    base = down - 1 if zigzag else up - 1 - widest
    zero = base if zigzag else base + widest
    runs = {count: tokens([middle] * (count + 1)) for count in range(1, most)}
    single = [count for count, data in runs.items() if len(data) == 1 and data[0] != zero]
    return {
        "step_max": widest, "step_zigzag": zigzag, "step_base": base, "run_min": min(single),
        "run_max": max(single), "run_base": runs[min(single)][0],
    }  # fmt: skip


if __name__ == "__main__":
    settings = record_settings() if "fields" in KNOWN else block_settings()
    sys.stdout.write(json.dumps(settings, indent=1) + "\n")
