"""Stands in for the vendor's tool: records to frames and back."""

import re  # noqa: F401  used by the second part
import sys  # noqa: F401
from typing import Any, Dict, List

SETTINGS: Dict[str, Any] = {}  # filled in from what the probes found
FIELDS = SETTINGS.get("fields", [])


class Fault(Exception):
    """Names the kind of error."""


def to_code(field: Dict[str, Any], value: int) -> int:
    plain = value - field["low"]
    if field["coding"] == "gray":
        return int(plain ^ plain >> 1)
    if field["coding"] == "zigzag":
        return 2 * value if value >= 0 else -2 * value - 1
    return int(plain if field["coding"] == "offset" else value & ((1 << field["bits"]) - 1))


def from_code(field: Dict[str, Any], code: int) -> int:
    if field["coding"] == "gray":
        plain = 0
        while code:
            plain, code = plain ^ code, code >> 1
        return int(plain + field["low"])
    if field["coding"] == "zigzag":
        return (code >> 1) ^ -(code & 1)
    if field["coding"] == "offset":
        return int(code + field["low"])
    return int(code - ((code >> (field["bits"] - 1)) << field["bits"]))


def pack(values: List[int]) -> bytes:
    if len(values) != len(FIELDS):
        raise Fault("count")
    if not all(f["low"] <= value <= f["high"] for f, value in zip(FIELDS, values)):
        raise Fault("range")
    number = SETTINGS["mask"]
    for field, value in zip(FIELDS, values):
        number ^= to_code(field, value) << field["shift"]
    data = int(number).to_bytes(SETTINGS["size"], SETTINGS["order"])
    return chain(data) if SETTINGS["chained"] else data


def unpack(data: bytes) -> List[int]:
    if SETTINGS["chained"]:
        data = bytes(a ^ b for a, b in zip(data, b"\0" + data))
    number = int.from_bytes(data, SETTINGS["order"]) ^ SETTINGS["mask"]
    values = []
    for field in FIELDS:
        code = number >> field["shift"] & ((1 << field["bits"]) - 1)
        number ^= code << field["shift"]
        values.append(from_code(field, code))
    if number or not all(f["low"] <= value <= f["high"] for f, value in zip(FIELDS, values)):
        raise Fault("payload")
    return values


def chain(data: bytes) -> bytes:
    out, last = bytearray(), 0
    for byte in data:
        last ^= byte
        out.append(last)
    return bytes(out)


def head_of(size: int) -> bytes:
    return bytes.fromhex(SETTINGS["head"])


def size_fits(size: int) -> bool:
    return bool(size == SETTINGS["size"])
