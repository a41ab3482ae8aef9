# mypy: ignore-errors
"""Authoritative name server over UDP; see README.md."""

import ipaddress
import pathlib
import socketserver
import struct

from base import config_path, fail, listen, say, settings

TYPES = {"A": 1, "CNAME": 5, "MX": 15, "TXT": 16}
ZONES = {}


def load(folder):
    """Every *.zone file; one with a bad line is left out, and the log says so."""
    files = sorted(pathlib.Path(folder).glob("*.zone"))
    if not files:
        fail(f"no *.zone file in {folder}")
    for path in files:
        try:
            origin, records = zone(path.read_text())
        except (OSError, ValueError) as error:
            say(f"zone {path.name} is left out: {error}")
            continue
        ZONES[origin] = records


def zone(text):
    origin, ttl, records = "", 300, {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(";")[0].split()
        if not words:
            continue
        if words[0] == "$origin":
            origin = words[1].rstrip(".").lower()
        elif words[0] == "$ttl":
            ttl = int(words[1])
        elif len(words) < 3 or words[1] not in TYPES or not origin:
            raise ValueError(f"line {number}: {line.strip()!r}")
        else:
            name = origin if words[0] == "@" else f"{words[0].lower()}.{origin}"
            value = check(words[1], words[2:], number)
            records.setdefault(name, []).append((words[1], ttl, value))
    if not origin:
        raise ValueError("no $origin")
    return origin, records


def check(kind, words, number):
    if kind == "A":
        return str(ipaddress.IPv4Address(words[0]))
    if kind == "MX":
        if len(words) != 2:
            raise ValueError(f"line {number}: MX needs preference and host")
        return f"{int(words[0])} {words[1].rstrip('.').lower()}"
    return words[0].rstrip(".").lower() if kind == "CNAME" else " ".join(words).strip('"')


def name_of(packet, at):
    labels = []
    while packet[at]:
        labels.append(packet[at + 1 : at + 1 + packet[at]].decode("ascii", "replace").lower())
        at += 1 + packet[at]
    return ".".join(labels), at + 1


def wire(name):
    return b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0"


def data(kind, value):
    if kind == "A":
        return ipaddress.IPv4Address(value).packed
    if kind == "MX":
        preference, host = value.split()
        return struct.pack(">H", int(preference)) + wire(host)
    return wire(value) if kind == "CNAME" else bytes([len(value)]) + value.encode()


def lookup(name, kind):
    """(rcode, [(name, type, ttl, value)]); a CNAME inside our zones is followed."""
    origin = max((o for o in ZONES if name == o or name.endswith("." + o)), key=len, default=None)
    if origin is None:
        return 5, []
    if name not in ZONES[origin]:
        return (0 if name == origin else 3), []
    found = [(name, t, ttl, v) for t, ttl, v in ZONES[origin][name] if t in (kind, "CNAME")]
    for _, t, _, target in list(found):
        if t == "CNAME" and kind != "CNAME":
            found += lookup(target, kind)[1]
    return 0, found


class Server(socketserver.UDPServer):
    allow_reuse_address = True


class Question(socketserver.BaseRequestHandler):
    """One datagram."""

    def handle(self):
        packet, channel = self.request
        try:
            name, end = name_of(packet, 12)
            number = struct.unpack(">H", packet[end : end + 2])[0]
        except (IndexError, struct.error):
            return
        kinds = {value: key for key, value in TYPES.items()}
        rcode, found = lookup(name, kinds.get(number, ""))
        reply = packet[:2] + struct.pack(">5H", 0x8400 | rcode, 1, len(found), 0, 0)
        reply += packet[12 : end + 4]
        for owner, kind, ttl, value in found:
            body = data(kind, value)
            reply += wire(owner) + struct.pack(">HHIH", TYPES[kind], 1, ttl, len(body)) + body
        channel.sendto(reply, self.client_address)


def main():
    conf = settings(config_path(), {"bind": str, "port": int, "zone_folder": str})
    load(conf["zone_folder"])
    server = listen(Server, conf["bind"], conf["port"], Question)
    say(f"ready on {conf['bind']}:{conf['port']} with {', '.join(sorted(ZONES)) or 'no zones'}")
    server.serve_forever()


if __name__ == "__main__":
    main()
