"""What the vendor's tool does, from the drawn parameters. Ships as the hidden oracle.

Written apart from the C source and from the reference solution; Python 3.9, standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Params = dict[str, Any]
INTEGER = re.compile(r"-?[0-9]{1,6}")


class Fault(Exception):
    """A line that the tool answers with an error; its argument is the kind of error."""


def run(params: Params, mode: str, text: str) -> tuple[str, int]:
    """Standard output and exit status for the whole of standard input."""
    frames = 0
    out, status = [], 0
    for line in text.split("\n"):
        line = line[:-1] if line.endswith("\r") else line
        if not line:
            continue
        try:
            if mode == "encode":
                out.append(encode(params, line, frames))
                frames += 1
            else:
                out.append(decode(params, line))
        except Fault as fault:
            out.append(params["error"].replace("*", params["words"][str(fault)]))
            status = 1
    return "".join(line + "\n" for line in out), status


def encode(params: Params, line: str, frames: int) -> str:
    """The frame of one line of values; `frames` is how many this run has already made."""
    return wrap(params, payload_of(params, values_of(params, line)), frames)


def decode(params: Params, line: str) -> str:
    values = values_in(params, unwrap(params, line))
    return str(params["separator"]).join(map(str, values))


# -- values and payloads ----------------------------------------------------------------------


def values_of(params: Params, line: str) -> list[int]:
    items = line.split(params["separator"])
    if not all(INTEGER.fullmatch(item) for item in items):
        raise Fault("format")
    values = [int(item) for item in items]
    if params["kind"] == "fields" and len(values) != len(params["fields"]):
        raise Fault("count")
    if params["kind"] == "samples" and len(values) > params["most"]:
        raise Fault("count")
    for value, (low, high) in zip(values, ranges(params, len(values))):  # noqa: B905
        if not low <= value <= high:
            raise Fault("range")
    return values


def ranges(params: Params, count: int) -> list[tuple[int, int]]:
    if params["kind"] == "fields":
        return [(field["low"], field["high"]) for field in params["fields"]]
    return [(params["low"], params["high"])] * count


def payload_of(params: Params, values: list[int]) -> bytes:
    if params["kind"] == "fields":
        return pack_fields(params, values)
    return pack_samples(params, values)


def values_in(params: Params, payload: bytes) -> list[int]:
    if params["kind"] == "fields":
        return unpack_fields(params, payload)
    return unpack_samples(params, payload)


# -- fixed records of bit fields --------------------------------------------------------------


def payload_size(params: Params) -> int:
    return int((sum(field["bits"] for field in params["fields"]) + 7) // 8)


def pack_fields(params: Params, values: list[int]) -> bytes:
    bits = ""
    for place in params["order"]:
        field = params["fields"][place]
        code = format(to_code(field, values[place]), f"0{field['bits']}b")
        bits += code if params["msb_first"] else code[::-1]
    bits = bits.ljust(8 * payload_size(params), "0")
    step = 1 if params["msb_first"] else -1
    return bytes(int(bits[i : i + 8][::step], 2) for i in range(0, len(bits), 8))


def unpack_fields(params: Params, payload: bytes) -> list[int]:
    step = 1 if params["msb_first"] else -1
    bits = "".join(format(byte, "08b")[::step] for byte in payload)
    values = [0] * len(params["fields"])
    for place in params["order"]:
        field = params["fields"][place]
        code, bits = bits[: field["bits"]][::step], bits[field["bits"] :]
        values[place] = from_code(field, int(code, 2))
    fits = all(field["low"] <= v <= field["high"] for field, v in zip(params["fields"], values))  # noqa: B905
    if "1" in bits or not fits:
        raise Fault("payload")
    return values


def to_code(field: Params, value: int) -> int:
    if field["coding"] == "offset":
        return int(value - field["low"])
    if field["coding"] == "gray":
        plain = value - field["low"]
        return int(plain ^ (plain >> 1))
    if field["coding"] == "zigzag":
        return zigzag(value)
    return int(value % (1 << field["bits"]))


def from_code(field: Params, code: int) -> int:
    if field["coding"] == "offset":
        return int(code + field["low"])
    if field["coding"] == "gray":
        plain = 0
        while code:
            plain ^= code
            code >>= 1
        return int(plain + field["low"])
    if field["coding"] == "zigzag":
        return unzigzag(code)
    return int(code - (1 << field["bits"]) if code >> (field["bits"] - 1) else code)


def zigzag(value: int) -> int:
    return 2 * value if value >= 0 else -2 * value - 1


def unzigzag(code: int) -> int:
    return code // 2 if code % 2 == 0 else -(code + 1) // 2


# -- blocks of samples ------------------------------------------------------------------------


def pack_samples(params: Params, values: list[int]) -> bytes:
    out = bytes([len(values) - params["count_less"]]) + absolute(params, values[0])
    place = 1
    while place < len(values):
        equal = 0
        longest = params["run_min"] + params["run_codes"] - 1
        while place + equal < len(values) and values[place + equal] == values[place - 1]:
            equal += 1
        step = values[place] - values[place - 1]
        if equal >= params["run_min"]:
            equal = min(equal, longest)
            out += bytes([params["run_base"] + equal - params["run_min"]])
            place += equal
            continue
        if abs(step) <= params["step_max"]:
            code = zigzag(step) if params["step_zigzag"] else step + params["step_max"]
            out += bytes([params["step_base"] + code])
        else:
            out += bytes([params["escape"]]) + absolute(params, values[place])
        place += 1
    return out


def absolute(params: Params, value: int) -> bytes:
    return int(value - params["low"]).to_bytes(2, params["endian"])


def unpack_samples(params: Params, payload: bytes) -> list[int]:
    count = payload[0] + params["count_less"]
    if not 1 <= count <= params["most"]:
        raise Fault("payload")
    source = iter(payload[1:])
    values = [wide_sample(params, source)]
    for code in source:
        values += token(params, code, values[-1], source)
    if len(values) != count or not all(params["low"] <= v <= params["high"] for v in values):
        raise Fault("payload")
    return values


def token(params: Params, code: int, last: int, source: Iterator[int]) -> list[int]:
    """The samples that one token stands for."""
    if code == params["escape"]:
        return [wide_sample(params, source)]
    if 0 <= code - params["run_base"] < params["run_codes"]:
        return [last] * (code - params["run_base"] + params["run_min"])
    small = code - params["step_base"]
    if 0 <= small <= 2 * params["step_max"]:
        return [last + (unzigzag(small) if params["step_zigzag"] else small - params["step_max"])]
    raise Fault("payload")


def wide_sample(params: Params, source: Iterator[int]) -> int:
    one, two = next(source, None), next(source, None)
    if one is None or two is None:
        raise Fault("payload")
    return int(int.from_bytes([one, two], params["endian"]) + params["low"])


# -- frames -----------------------------------------------------------------------------------


def wrap(params: Params, payload: bytes, frames: int) -> str:
    """Sync bytes, length and counter where the model has them, scrambled payload, check field."""
    head = bytes.fromhex(params["sync"])
    if params["length"]:
        head += bytes([length_of(params, len(payload))])
    if params["counter"]:
        head += bytes([(params["counter"][0] + frames) % params["counter"][1]])
    frame = head + scramble(params, payload)
    frame += check_field(params, frame)
    return frame.hex().upper() if params["upper"] else frame.hex()


def overhead(params: Params) -> int:
    """Bytes of a frame that are not payload."""
    sync = len(params["sync"]) // 2
    check = int(params["check"]["bytes"])
    return sync + bool(params["length"]) + bool(params["counter"]) + check


def length_of(params: Params, payload: int) -> int:
    return payload if params["length"] == "payload" else payload + overhead(params)


def unwrap(params: Params, line: str) -> bytes:
    if len(line) % 2 or not re.fullmatch("[0-9A-Fa-f]+", line):
        raise Fault("format")
    frame = bytes.fromhex(line)
    size = len(frame) - overhead(params)
    fits = size == payload_size(params) if params["kind"] == "fields" else 3 <= size <= LONGEST
    if not fits:
        raise Fault("size")
    start = len(params["sync"]) // 2
    if frame[:start] != bytes.fromhex(params["sync"]):
        raise Fault("header")
    if params["length"]:
        if frame[start] != length_of(params, size) % 256:
            raise Fault("header")
        start += 1
    start += bool(params["counter"])
    end = start + size
    if check_field(params, frame[:end]) != frame[end:]:
        raise Fault("check")
    return unscramble(params, frame[start:end])


LONGEST = 240
"""Most bytes of a payload; what an encoder makes is always shorter."""


def keystream(params: Params) -> Iterator[int]:
    how = params["scramble"]
    value = how["seed"]
    while True:
        yield value
        if how["kind"] == "ramp":
            value = (value + how["step"]) & 255
        else:
            value = value >> 1 ^ (how["mask"] if value & 1 else 0)


def scramble(params: Params, payload: bytes) -> bytes:
    if params["scramble"]["kind"] != "chain":
        return bytes(a ^ b for a, b in zip(payload, keystream(params)))  # noqa: B905
    out, last = [], params["scramble"]["seed"]
    for byte in payload:
        last ^= byte
        out.append(last)
    return bytes(out)


def unscramble(params: Params, data: bytes) -> bytes:
    if params["scramble"]["kind"] != "chain":
        return scramble(params, data)
    return bytes(a ^ b for a, b in zip(data, bytes([params["scramble"]["seed"]]) + data))  # noqa: B905


# -- check fields -----------------------------------------------------------------------------


def check_field(params: Params, frame: bytes) -> bytes:
    """The check field of a frame that has none yet."""
    check = params["check"]
    data = frame if check["whole"] else frame[len(params["sync"]) // 2 :]
    kinds = {"crc": crc, "fletcher": fletcher, "sum": total, "rotate": rotated}
    value = kinds[check["kind"]](check, data)
    return value.to_bytes(check["bytes"], check["endian"])


def crc(check: Params, data: bytes) -> int:
    width = 8 * check["bytes"]
    top, full = 1 << (width - 1), (1 << width) - 1
    value = check["init"]
    for byte in data:
        value ^= (reverse(byte, 8) if check["reflect"] else byte) << (width - 8)
        for _ in range(8):
            value = (value << 1 ^ check["poly"] if value & top else value << 1) & full
    return (reverse(value, width) if check["reflect"] else value) ^ int(check["xorout"])


def reverse(value: int, width: int) -> int:
    return int(format(value, f"0{width}b")[::-1], 2)


def fletcher(check: Params, data: bytes) -> int:
    low, high = check["init"], 0
    for byte in data:
        low = (low + byte) % check["modulus"]
        high = (high + low) % check["modulus"]
    return int(high << 8 | low)


def total(check: Params, data: bytes) -> int:
    value = int(check["init"]) + sum(data)
    return (-value if check["negate"] else value) & 255


def rotated(check: Params, data: bytes) -> int:
    value = check["init"]
    for byte in data:
        value = (value << check["turn"] | value >> (8 - check["turn"])) & 255 ^ byte
    return int(value)
