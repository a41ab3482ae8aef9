"""Values and the payloads that hold them: bit fields, or blocks of samples as tokens.

Ships with the hidden oracle; Python 3.9, standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Params = dict[str, Any]
INTEGER = re.compile(r"-?[0-9]{1,6}")


class Fault(Exception):
    """A line that the tool answers with an error; its argument is the kind of error."""


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
