"""Stands in for the vendor's tool: blocks of samples to frames and back."""

import re  # noqa: F401  used by the second part
import sys  # noqa: F401
from typing import Any, Dict, Iterator, List

SETTINGS: Dict[str, Any] = {}  # filled in from what the probes found


class Fault(Exception):
    """Names the kind of error."""


def keyed(data: bytes, undo: bool) -> bytes:
    out, key = bytearray(), SETTINGS["seed"]
    for byte in data:
        out.append(byte ^ key)
        if SETTINGS["scramble"] == "chain":
            key = byte if undo else out[-1]
        elif SETTINGS["scramble"] == "ramp":
            key = (key + SETTINGS["step"]) & 255
        else:
            key = key >> 1 ^ (SETTINGS["step"] if key & 1 else 0)
    return bytes(out)


def wide(value: int) -> bytes:
    return int(value - SETTINGS["low"]).to_bytes(2, SETTINGS["order"])


def step_code(step: int) -> int:
    if not SETTINGS["step_zigzag"]:
        return int(step + SETTINGS["step_max"] + SETTINGS["step_base"])
    return int(SETTINGS["step_base"] + (2 * step if step >= 0 else -2 * step - 1))


def code_step(code: int) -> int:
    small = code - SETTINGS["step_base"]
    if SETTINGS["step_zigzag"]:
        return int((small >> 1) ^ -(small & 1))
    return int(small - SETTINGS["step_max"])


STEPS = {}
if SETTINGS:
    first_code = SETTINGS["step_base"]
    STEPS = {
        code: code_step(code)
        for code in range(first_code, first_code + 2 * SETTINGS["step_max"] + 1)
    }


def pack(values: List[int]) -> bytes:
    if len(values) > SETTINGS["most"]:
        raise Fault("count")
    if not all(SETTINGS["low"] <= value <= SETTINGS["high"] for value in values):
        raise Fault("range")
    out = bytearray([len(values) - SETTINGS["count_less"]]) + wide(values[0])
    for last, value, run in runs(values):
        if run >= SETTINGS["run_min"]:
            out.append(SETTINGS["run_base"] + run - SETTINGS["run_min"])
        elif abs(value - last) <= SETTINGS["step_max"]:
            out += bytes([step_code(value - last)] * max(run, 1))
        else:
            out += bytes([SETTINGS["escape"]]) + wide(value)
    return keyed(bytes(out), undo=False)


def runs(values: List[int]) -> Iterator["tuple[int, int, int]"]:
    """(sample before, sample, how often it repeats the one before; 0 for a change)."""
    place = 1
    while place < len(values):
        run = 0
        while place + run < len(values) and values[place + run] == values[place - 1] \
                and run < SETTINGS["run_max"]:  # fmt: skip
            run += 1
        yield values[place - 1], values[place], run
        place += max(run, 1)


def unpack(data: bytes) -> List[int]:
    payload = keyed(data, undo=True)
    count = payload[0] + SETTINGS["count_less"]
    values = [int.from_bytes(payload[1:3], SETTINGS["order"]) + SETTINGS["low"]]
    place = 3
    while place < len(payload) and len(values) <= count:
        code = payload[place]
        run = code - SETTINGS["run_base"]
        if code == SETTINGS["escape"]:
            if place + 3 > len(payload):
                raise Fault("payload")
            two = payload[place + 1 : place + 3]
            values.append(int.from_bytes(two, SETTINGS["order"]) + SETTINGS["low"])
            place += 2
        elif 0 <= run <= SETTINGS["run_max"] - SETTINGS["run_min"]:
            values += [values[-1]] * (run + SETTINGS["run_min"])
        elif code in STEPS:
            values.append(values[-1] + STEPS[code])
        else:
            raise Fault("payload")
        place += 1
    in_range = all(SETTINGS["low"] <= value <= SETTINGS["high"] for value in values)
    if len(values) != count or place < len(payload) or count > SETTINGS["most"] or not in_range:
        raise Fault("payload")
    return values


def head_of(size: int) -> bytes:
    head = bytes.fromhex(SETTINGS["head"])
    if not SETTINGS["length"]:
        return head
    if SETTINGS["length"] == "frame":
        size += len(head) + 1 + bool(SETTINGS["counter"]) + SETTINGS["check"]["width"] // 8
    return head + bytes([size])


def size_fits(size: int) -> bool:
    return 3 <= size <= 240
