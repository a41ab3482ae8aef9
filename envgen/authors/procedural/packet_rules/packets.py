"""Packet filter rules: what they say, and what becomes of a packet. Also the text of `fwsim`."""

from __future__ import annotations

import ipaddress
import re
from typing import Optional

Range = tuple[int, int]
Rule = tuple[str, Optional[str], Range, Range, Range, Optional[str]]
"""Action, protocol, sources, targets, ports, state; None fits everything."""

RULE = re.compile(
    r"(allow|deny)(?: (tcp|udp|icmp))? from (\S+) to (\S+)"
    r"(?: port (\d+)(?:-(\d+))?)?(?: state (new|established))?"
)


def block(text: str) -> Range:
    """(first, last) address of `any`, an address or a network, as numbers."""
    network = ipaddress.IPv4Network("0.0.0.0/0" if text == "any" else text)
    return int(network.network_address), int(network.broadcast_address)


def parsed(text: str) -> list[Rule]:
    """The rules of a file; ValueError names the line that is none."""
    rules: list[Rule] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = " ".join(line.split("#")[0].split())
        if not words:
            continue
        found = RULE.fullmatch(words)
        if found is None:
            raise ValueError(f"line {number} is no rule")
        action, proto, source, target, low, high, state = found.groups()
        try:
            ends = block(source), block(target)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
        ports = (int(low), int(high or low)) if low else (0, 65535)
        rules.append((action, proto, *ends, ports, state))
    return rules


def verdict(rules: list[Rule], packet: str) -> str:
    """What the first rule that fits a line `PROTO SOURCE TARGET PORT STATE` says, else `deny`."""
    proto, source, target, port, state = packet.split()
    place = int(ipaddress.IPv4Address(source)), int(ipaddress.IPv4Address(target))
    for action, kind, sources, targets, ports, wanted in rules:
        if (
            kind in (None, proto)
            and sources[0] <= place[0] <= sources[1]
            and targets[0] <= place[1] <= targets[1]
            and ports[0] <= int(port) <= ports[1]
            and wanted in (None, state)
        ):
            return action
    return "deny"
