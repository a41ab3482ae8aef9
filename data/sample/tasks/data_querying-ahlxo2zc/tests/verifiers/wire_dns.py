"""A DNS client: one question over UDP."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

from .wire import TROUBLE, Broken, udp

_TYPES = {
    "A": 1,
    "NS": 2,
    "CNAME": 5,
    "SOA": 6,
    "PTR": 12,
    "MX": 15,
    "TXT": 16,
    "AAAA": 28,
    "SRV": 33,
}


class DnsReply(NamedTuple):
    """`answers`: (name, type, ttl, data) as text, sorted. MX data is "10 mail.test"."""

    rcode: int
    authoritative: bool
    answers: tuple[tuple[str, str, int, str], ...]

    def data(self, qtype: str) -> list[str]:
        """Sorted data of the answers of one type."""
        return sorted(data for _, kind, _, data in self.answers if kind == qtype)


def dns(port: int, name: str, qtype: str = "A", *, timeout: float = 3) -> DnsReply | None:
    """One question over UDP."""
    number = 0x5EED
    labels = [label.encode("idna") for label in name.rstrip(".").split(".") if label]
    question = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    question += struct.pack(">HH", _TYPES[qtype], 1)
    packet = udp(port, struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + question, timeout=timeout)
    try:
        return None if packet is None else _dns_reply(packet, number)
    except TROUBLE:
        return None


def _dns_reply(packet: bytes, number: int) -> DnsReply:
    ident, flags, questions, answers, _, _ = struct.unpack_from(">6H", packet)
    if ident != number or not flags & 0x8000 or questions > 1 or answers > 500:
        raise Broken("not an answer to our question")
    at = 12
    for _ in range(questions):
        at = _dns_name(packet, at)[1] + 4
    names = {value: name for name, value in _TYPES.items()}
    found = []
    for _ in range(answers):
        owner, at = _dns_name(packet, at)
        kind, _, ttl, size = struct.unpack_from(">HHIH", packet, at)
        at += 10
        if at + size > len(packet):
            raise Broken("cut off")
        found.append((owner, names.get(kind, str(kind)), ttl, _dns_data(packet, at, size, kind)))
        at += size
    return DnsReply(flags & 15, bool(flags & 0x0400), tuple(sorted(found)))


def _dns_data(packet: bytes, at: int, size: int, kind: int) -> str:
    data = packet[at : at + size]
    if kind in (1, 28):
        return socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, data)
    if kind in (2, 5, 12):
        return _dns_name(packet, at)[0]
    if kind == 15:
        return f"{struct.unpack_from('>H', data)[0]} {_dns_name(packet, at + 2)[0]}"
    if kind == 33:
        priority, weight, port = struct.unpack_from(">3H", data)
        return f"{priority} {weight} {port} {_dns_name(packet, at + 6)[0]}"
    if kind == 16:
        text, place = bytearray(), 0
        while place < len(data):
            text += data[place + 1 : place + 1 + data[place]]
            place += 1 + data[place]
        return text.decode("utf-8", "replace")
    return data.hex()


def _dns_name(packet: bytes, at: int) -> tuple[str, int]:
    """The name at an offset, and the offset after it. Compression can form loops: bounded."""
    labels: list[str] = []
    after = -1
    for _ in range(128):
        size = packet[at]
        if size >= 0xC0:
            after = at + 2 if after < 0 else after
            at = (size & 0x3F) << 8 | packet[at + 1]
        elif size == 0:
            return ".".join(labels).lower(), at + 1 if after < 0 else after
        else:
            labels.append(packet[at + 1 : at + 1 + size].decode("latin-1"))
            at += 1 + size
    raise Broken("a name without an end")
