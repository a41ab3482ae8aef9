"""Configuration blocks of samples: what they say, and their bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random
from typing import Any

SYLLABLES = (
    "ka", "lo", "mi", "ren", "tu", "va", "sel", "dor", "pim", "gra", "zon", "bel", "fex", "nor",
    "wu", "tash",
)  # fmt: skip
ENDS = ("net", "info", "biz", "top", "site", "org")


def name(rng: Random) -> str:
    return "".join(rng.sample(SYLLABLES, rng.randrange(2, 4)))


def draw_config(rng: Random) -> dict[str, Any]:
    """Hosts with their ports (None: the usual one), path, minutes, last day as days since 1970."""
    hosts: dict[str, int | None] = {}
    for _ in range(rng.randrange(1, 4)):
        host = f"{name(rng)}.{rng.choice(ENDS)}"
        if rng.random() < 0.3:
            host = f"203.0.113.{rng.randrange(1, 255)}"
        hosts[host] = rng.choice((None, rng.randrange(1025, 65000)))
    hosts[rng.choice(sorted(hosts))] = None
    return {
        "hosts": list(hosts.items()), "path": f"/{name(rng)}/{name(rng)}",
        "minutes": rng.randrange(2, 700), "until": rng.randrange(19000, 24000),
    }  # fmt: skip


def plain(config: dict[str, Any], campaign: dict[str, Any]) -> bytes:
    """The records of a configuration, each type, length, data."""
    order = ">" if campaign["big"] else "<"
    types = campaign["types"]
    records: list[list[tuple[int, bytes]]] = []
    for host, port in config["hosts"]:
        part = [(types["host"], host.encode())]
        if port is not None:
            part.append((types["port"], struct.pack(order + "H", port)))
        records.append(part)
    for key, data in (
        ("path", config["path"].encode()),
        ("minutes", struct.pack(order + "H", config["minutes"])),
        ("until", struct.pack(order + "H", config["until"])),
    ):
        records.insert(len(config["path"]) % (len(records) + 1), [(types[key], data)])
    return b"".join(bytes([kind, len(data)]) + data for part in records for kind, data in part)


def hidden(data: bytes, version: int, key: int, step: int) -> bytes:
    """The data as a version hides them."""
    if version == 1:
        return bytes(b ^ key for b in data)
    if version == 2:
        return bytes(b ^ (key + i * step) & 255 for i, b in enumerate(data))
    if version == 3:
        return bytes((b + key) & 255 for b in reversed(data))
    out, last = bytearray(), key
    for b in data:
        last = b ^ last
        out.append(last)
    return bytes(out)


def block(
    config: dict[str, Any], campaign: dict[str, Any], rng: Random, serial: int, broken: bool = False
) -> bytes:
    """A whole block; a broken one has a wrong sum."""
    order = ">" if campaign["big"] else "<"
    data, key = plain(config, campaign), rng.randrange(1, 256)
    version = rng.choice(campaign["versions"])
    total = sum(data) + (rng.randrange(1, 4000) if broken else 0) & 0xFFFF
    head = bytes.fromhex(campaign["magic"]) + bytes([version, serial, key])
    return (
        head
        + struct.pack(order + "HH", len(data), total)
        + hidden(data, version, key, campaign["step"])
    )


def draw_sample(
    rng: Random, campaign: dict[str, Any], newest_last: bool = False
) -> tuple[bytes, dict[str, Any]]:
    """(bytes, configuration in force): a broken block, an older one and the one that counts."""
    configs = [draw_config(rng) for _ in range(3)]
    serial = rng.randrange(2, 200)
    parts = [
        block(configs[0], campaign, rng, serial + 9, broken=True),
        block(configs[1], campaign, rng, serial - 1),
        block(configs[2], campaign, rng, serial),
    ]
    if rng.random() < 0.4 and not newest_last:
        parts = [parts[0], parts[2], parts[1]]
    junk = [bytes(rng.randrange(256) for _ in range(rng.randrange(30, 200))) for _ in range(4)]
    magic = bytes.fromhex(campaign["magic"])
    junk[1] += magic + bytes([9, 1, 2])
    return junk[0] + b"".join(p + j for p, j in zip(parts, junk[1:])), configs[2]


def rows(sample: str, config: dict[str, Any], campaign: dict[str, Any]) -> Iterator[str]:
    """Lines of the table for one sample."""
    for host, port in sorted(config["hosts"]):
        shown = host.replace(".", "[.]") if campaign["defanged"] else host
        port = campaign["usual"] if port is None else port
        yield f"{sample},{shown},{port},{config['path']},{config['minutes']},{config['until']}"
