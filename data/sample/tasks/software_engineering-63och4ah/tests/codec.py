"""What the vendor's tool does, from the drawn parameters. Ships as the hidden oracle.

Written apart from the C source and from the reference solution; Python 3.9, standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from payloads import (
    Fault,
    Params,
    payload_of,
    payload_size,
    values_in,
    values_of,
)


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
