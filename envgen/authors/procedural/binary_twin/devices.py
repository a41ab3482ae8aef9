"""Vendors' tools: what they are about, and the draw of everything that their sources would tell."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envgen.authors.procedural.binary_twin.payloads import Params, zigzag


@dataclass(frozen=True)
class Device:
    """One kind of equipment with its tool; `fields` are name, smallest and largest value."""

    tool: str
    maker: str
    what: str
    fields: tuple[tuple[str, int, int], ...]
    series: tuple[str, int, int]
    """What a logger of this maker records in blocks, and its range."""


def _fields(**ranges: tuple[int, int]) -> tuple[tuple[str, int, int], ...]:
    return tuple((name, low, high) for name, (low, high) in ranges.items())


DEVICES: Sequence[Device] = (
    Device("buoyline", "a maker of weather buoys", "buoys on a coastal line",
           _fields(wave_cm=(0, 1800), water_dc=(-30, 380), wind_dir=(0, 359), gust_dms=(0, 750),
                   heel=(-90, 90), battery_mv=(2800, 4200), state=(0, 5), fix_age=(0, 600)),
           ("water level in mm", -4000, 9000)),
    Device("liftbus", "a lift manufacturer", "lifts in office towers",
           _fields(floor=(-4, 60), door=(0, 3), load_kg=(0, 1600), speed_mms=(-2500, 2500),
                   trips=(0, 99999), brake_dc=(-200, 1200), mode=(0, 6)),
           ("motor current in mA", 0, 32000)),
    Device("coldtrace", "a builder of refrigerated trailers", "refrigerated trailers",
           _fields(front_dc=(-400, 300), rear_dc=(-400, 300), setpoint=(-30, 25), door=(0, 1),
                   fuel_l=(0, 240), hours=(0, 30000), alarm=(0, 15), humidity=(0, 100)),
           ("cargo temperature in 0.01 degrees", -3000, 4000)),
    Device("meterwire", "a supplier of heat meters", "heat meters in a housing estate",
           _fields(flow_lph=(0, 6000), supply_dc=(0, 1300), back_dc=(0, 1300), error=(0, 7),
                   power_w=(-2000, 99999), tariff=(1, 4), tilt=(-180, 180)),
           ("heat power in W", -500, 60000)),
    Device("gatelog", "a maker of car park barriers", "car park barriers",
           _fields(lane=(1, 12), ticket=(0, 999999), arm_deg=(-5, 95), wait_s=(0, 1800),
                   motor_dc=(-250, 900), plate_score=(0, 100), cause=(0, 9)),
           ("loop detector reading", -2048, 2047)),
    Device("silofill", "a maker of silo level gauges", "silos of a feed mill",
           _fields(level_mm=(0, 25000), echo_db=(-120, 0), grain=(0, 11), dust=(0, 255),
                   roof_dc=(-400, 850), vent=(0, 1), weight_kg=(0, 180000)),
           ("echo amplitude", -9000, 9000)),
    Device("railpulse", "a builder of axle counters", "axle counters of a branch line",
           _fields(axles=(0, 512), speed_kmh=(-160, 160), section=(1, 40), rail_dc=(-300, 700),
                   supply_mv=(18000, 32000), health=(0, 6), drift=(-50, 50)),
           ("coil voltage in mV", -12000, 12000)),
    Device("orchardnet", "a company that sold irrigation controllers", "orchard valves",
           _fields(valve=(1, 96), soil_pm=(0, 1000), leaf_dc=(-150, 600), flow_mlps=(0, 4000),
                   pressure_cbar=(-10, 900), cycle=(0, 7), rain_mm=(0, 250)),
           ("soil tension in Pa", -60000, 0)),
    Device("kilnlink", "a furnace builder", "kilns of a tile works",
           _fields(zone=(1, 8), hot_c=(-20, 1450), ramp_cph=(-600, 600), damper=(0, 100),
                   gas_lpm=(0, 3000), phase=(0, 4), draft_pa=(-250, 50)),
           ("thermocouple in 0.1 degrees", -200, 14500)),
)  # fmt: skip

COMMANDS = (("encode", "decode"), ("pack", "unpack"), ("tx", "rx"), ("frame", "parse"))
STYLES: Sequence[tuple[str, Mapping[str, str]]] = (
    ("ERR *", dict(format="SYNTAX", count="COUNT", range="RANGE", size="SIZE", header="HEADER",
                   check="CHECKSUM", payload="PAYLOAD")),
    ("?*", dict(format="syntax", count="count", range="range", size="size", header="header",
                check="check", payload="payload")),
    ("error E*", dict(format="10", count="11", range="12", size="20", header="21", check="22",
                      payload="23")),
    ("<*>", dict(format="bad-text", count="bad-count", range="bad-range", size="bad-size",
                 header="bad-header", check="bad-check", payload="bad-payload")),
    ("!*!", dict(format="TXT", count="NUM", range="LIM", size="LEN", header="HDR", check="CHK",
                 payload="DAT")),
)  # fmt: skip
MASKS = (0xB8, 0x8E, 0x95, 0x96, 0xA6, 0xAF, 0xB1, 0xB2, 0xB4, 0xC3, 0xC6, 0xD4, 0xE1, 0xE7, 0xF3)
POLY8 = (0x07, 0x31, 0x1D, 0x9B, 0x2F, 0x39, 0xD5, 0xA7)
POLY16 = (0x1021, 0x8005, 0x3D65, 0x8BB7, 0xA097, 0xC867, 0x0589)


def draw(rng: random.Random) -> tuple[Device, Params]:
    """A device and all the parameters of its tool."""
    device = rng.choice(list(DEVICES))
    style, words = rng.choice(list(STYLES))
    params: Params = {
        "tool": device.tool,
        "commands": list(rng.choice(COMMANDS)),
        "separator": rng.choice((",", ";", " ")),
        "error": style,
        "words": dict(words),
        "sync": "".join(f"{rng.randrange(0x80, 256):02X}" for _ in range(rng.randint(1, 2))),
        "length": rng.choice(("", "payload", "frame")),
        "counter": _counter(rng),
        "upper": rng.random() < 0.5,
        "scramble": _scramble(rng),
        "check": _check(rng),
        "kind": rng.choice(("fields", "samples")),
    }
    params |= _fields_of(rng, device) if params["kind"] == "fields" else _samples_of(rng, device)
    return device, params


def _counter(rng: random.Random) -> list[int]:
    """First value and modulus, or nothing."""
    if rng.random() < 0.3:
        return []
    modulus = rng.choice((16, 60, 64, 100, 128, 200, 250, 256))
    return [rng.choice((0, 1, rng.randrange(modulus))), modulus]


def _scramble(rng: random.Random) -> dict[str, Any]:
    seed = rng.randrange(1, 256)
    kind = rng.choice(("ramp", "lfsr", "chain"))
    if kind == "ramp":
        return {"kind": kind, "seed": seed, "step": rng.randrange(1, 256)}
    if kind == "lfsr":
        return {"kind": kind, "seed": seed, "mask": rng.choice(MASKS)}
    return {"kind": kind, "seed": seed}


def _check(rng: random.Random) -> dict[str, Any]:
    kind = rng.choice(("crc8", "crc16", "crc16", "fletcher", "sum", "rotate"))
    check: dict[str, Any] = {
        "kind": kind.rstrip("0123456789"),
        "bytes": 2 if kind in ("crc16", "fletcher") else 1,
        "whole": rng.random() < 0.5,
        "endian": rng.choice(("big", "little")),
    }
    if kind == "fletcher":
        return check | {"init": rng.choice((0, 1)), "modulus": rng.choice((255, 256))}
    if kind == "sum":
        return check | {"init": rng.randrange(256), "negate": rng.random() < 0.5}
    if kind == "rotate":
        return check | {"init": rng.randrange(256), "turn": rng.choice((1, 3))}
    full = 255 if kind == "crc8" else 65535
    return check | {
        "poly": rng.choice(POLY8 if kind == "crc8" else POLY16),
        "reflect": rng.random() < 0.5,
        "init": rng.choice((0, full)),
        "xorout": rng.choice((0, full, rng.randrange(full))),
    }


def _fields_of(rng: random.Random, device: Device) -> Params:
    chosen = sorted(rng.sample(range(len(device.fields)), rng.randint(4, 6)))
    fields = [_field(rng, *device.fields[place]) for place in chosen]
    order = rng.sample(range(len(fields)), len(fields))
    return {"fields": fields, "order": order, "msb_first": rng.random() < 0.5}


def _field(rng: random.Random, name: str, low: int, high: int) -> dict[str, Any]:
    signed = low < 0 < high
    coding = rng.choice(("offset", "gray", *(("twos", "zigzag") * signed)))
    if coding == "zigzag":
        bits = max(zigzag(low), zigzag(high)).bit_length()
    elif coding == "twos":
        bits = max(high.bit_length(), (-low - 1).bit_length()) + 1
    else:
        bits = (high - low).bit_length()
    return {"name": name, "low": low, "high": high, "coding": coding, "bits": bits}


def _samples_of(rng: random.Random, device: Device) -> Params:
    step_max = rng.choice((15, 24, 31, 40, 50, 63))
    run_codes = rng.choice((12, 16, 24, 30, 32, 48))
    spare = 255 - (2 * step_max + 1) - run_codes
    gaps = sorted(rng.sample(range(spare + 1), 2))
    run_first = rng.random() < 0.5
    first = run_codes if run_first else 2 * step_max + 1
    starts = (gaps[0], gaps[1] + first)
    run_base, step_base = starts if run_first else (starts[1], starts[0])
    used = {*range(run_base, run_base + run_codes), *range(step_base, step_base + 2 * step_max + 1)}
    free = [code for code in range(256) if code not in used]
    return {
        "low": device.series[1],
        "high": device.series[2],
        "most": rng.randint(24, 64),
        "count_less": rng.choice((0, 1)),
        "endian": rng.choice(("big", "little")),
        "step_max": step_max,
        "step_zigzag": rng.random() < 0.5,
        "step_base": step_base,
        "run_min": rng.choice((2, 3)),
        "run_codes": run_codes,
        "run_base": run_base,
        "escape": rng.choice((free[0], free[-1], rng.choice(free))),
    }
