"""Writes the twin: settings that were found, then the program text that works with them."""

import json
import pprint
import sys
from pathlib import Path
from typing import Any, Dict

HERE = Path(__file__).parent
KNOWN: Dict[str, Any] = {'binary': '/opt/vendor/bin/liftbus',
 'commands': ['pack', 'unpack'],
 'error': 'error E*',
 'high': 32000,
 'low': 0,
 'most': 30,
 'separator': ';',
 'upper': False,
 'words': {'check': '22',
           'count': '11',
           'format': '10',
           'header': '21',
           'payload': '23',
           'range': '12',
           'size': '20'}}  # filled in from the manual


def as_python(settings: Dict[str, Any]) -> str:
    kind = "fields" if "fields" in KNOWN else "samples"
    text = (HERE / f"twin_{kind}.py").read_text() + (HERE / "twin_main.py.part").read_text()
    shown = pprint.pformat(settings, width=96)
    return text.replace("SETTINGS: Dict[str, Any] = {}", f"SETTINGS: Dict[str, Any] = {shown}", 1)


def as_c(settings: Dict[str, Any]) -> str:
    kind = "fields" if "fields" in KNOWN else "samples"
    check: Dict[str, Any] = {"init": 0, "poly": 0, "reflect": 0, "sign": 1, "turn": 1, "modulus": 1}
    check.update(settings["check"])
    counter = settings["counter"] or [0, 0]
    lines = [
        define("SEPARATOR", f"'{settings['separator']}'"),
        define("HEX_FORMAT", '"%02X"' if settings["upper"] else '"%02x"'),
        define("ENCODE", f'"{settings["commands"][0]}"'),
        define("DECODE", f'"{settings["commands"][1]}"'),
        define("COUNTER_FIRST", counter[0]),
        define("COUNTER_MODULUS", counter[1]),
        define("BIG", int(settings["order"] == "big")),
        define("HEAD_BYTES", len(settings["head"]) // 2),
        "static const unsigned char head[] = {" + ", ".join(f"0x{b:02x}" for b in
                                                            bytes.fromhex(settings["head"])) + "};",
    ]  # fmt: skip
    kinds = ("crc", "sum", "rotate", "fletcher")
    lines.append(define("CHECK_KIND", kinds.index(check["kind"])))
    numbers = ["width", "init", "poly", "reflect", "sign", "turn", "modulus", "constant", "start"]
    lines += [define(f"CHECK_{name.upper()}", int(check[name])) for name in numbers]
    lines.append(define("CHECK_BIG", int(check["order"] == "big")))
    before, after = settings["error"].split("*")
    for name, word in settings["words"].items():
        lines.append(define(f"E_{name.upper()}", f'"{before}{word}{after}"'))
    lines += record_lines(settings) if kind == "fields" else block_lines(settings)
    parts = [
        (HERE / name).read_text() for name in ("twin_check.c", f"twin_{kind}.c", "twin_main.c")
    ]
    return "\n".join(lines) + "\n" + "".join(parts)


def define(name: str, value: object) -> str:
    return f"#define {name} {value}"


def record_lines(settings: Dict[str, Any]) -> "list[str]":
    mask = settings["mask"].to_bytes(settings["size"], "big")
    rows = (f"  {{{f['low']}, {f['high']}, {f['bits']}, {f['shift']}, '{f['coding'][0]}'}},"
            for f in settings["fields"])  # fmt: skip
    return [
        define("SIZE", settings["size"]),
        define("CHAINED", int(settings["chained"])),
        "static const unsigned char mask[] = {" + ", ".join(map(hex, mask)) + "};",
        define("FIELDS", len(settings["fields"])),
        "static const struct { long low, high; int bits, shift; char coding; } fields[] = {",
        *rows,
        "};",
    ]


def block_lines(settings: Dict[str, Any]) -> "list[str]":
    numbers = [
        "low",
        "high",
        "most",
        "count_less",
        "escape",
        "step_max",
        "step_zigzag",
        "step_base",
        "run_min",
        "run_max",
        "run_base",
        "seed",
        "step",
    ]
    return [
        *(define(name.upper(), f"({int(settings[name])})") for name in numbers),
        define("CHAIN", int(settings["scramble"] == "chain")),
        define("RAMP", int(settings["scramble"] == "ramp")),
        define("LENGTH", ["", "payload", "frame"].index(settings["length"])),
    ]


found = json.loads(Path(sys.argv[1]).read_text())
settings = {**KNOWN, **found}
text = as_python(settings) if sys.argv[2].endswith(".py") else as_c(settings)
Path(sys.argv[2]).write_text(text)
