# mypy: ignore-errors
"""Receives mail over SMTP for the domains that name this host as their exchanger; see README.md."""

import socket
import socketserver
import struct
import threading

from base import Threads, config_path, fail, folder, ini, listen, read, say

LOCK = threading.Lock()


def main():
    conf = ini(
        config_path(),
        {
            "smtp": {"bind": str, "port": int, "hostname": str, "max_message_bytes": int},
            "resolver": {"resolver_host": str, "resolver_port": int},
            "delivery": {"spool": str, "boxes_file": str, "aliases_file": str},
        },
    )
    folder(conf["spool"])
    conf["boxes"] = set(lines(conf["boxes_file"]))
    conf["aliases"] = dict(pair(conf["aliases_file"], line) for line in lines(conf["aliases_file"]))
    Session.conf = conf
    server = listen(Threads, conf["bind"], conf["port"], Session)
    say(f"ready on {conf['bind']}:{conf['port']}, {len(conf['boxes'])} boxes")
    server.serve_forever()


def lines(path):
    stripped = (line.split("#")[0].strip() for line in read(path).splitlines())
    return [line for line in stripped if line]


def pair(path, line):
    alias, colon, box = line.partition(":")
    if not colon or not box.strip():
        fail(f"{path}: not `alias: box`: {line!r}")
    return alias.strip().lower(), box.strip()


def exchangers(where, domain):
    """Hosts of the MX records of a domain, as the resolver gives them."""
    question = b"".join(bytes([len(p)]) + p.encode() for p in domain.split(".") if p) + b"\0"
    query = struct.pack(">6H", 77, 0x0100, 1, 0, 0, 0) + question + struct.pack(">HH", 15, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.settimeout(1.5)
        channel.sendto(query, where)
        packet = channel.recv(4096)
    count = struct.unpack(">H", packet[6:8])[0]
    at, hosts = 12 + len(question) + 4, []
    for _ in range(count):
        _, at = name_of(packet, at)
        kind, _, _, size = struct.unpack(">HHIH", packet[at : at + 10])
        if kind == 15:
            hosts.append(name_of(packet, at + 12)[0])
        at += 10 + size
    return hosts


def name_of(packet, at):
    labels = []
    while packet[at]:
        labels.append(packet[at + 1 : at + 1 + packet[at]].decode("ascii", "replace"))
        at += 1 + packet[at]
    return ".".join(labels), at + 1


class Session(socketserver.StreamRequestHandler):
    """One client."""

    def handle(self):
        self.say(f"220 {self.conf['hostname']} ESMTP")
        self.sender, self.boxes = None, []
        for line in iter(lambda: self.rfile.readline(4096), b""):
            word = line.decode("utf-8", "replace").strip()
            verb = word.split(":")[0].upper()
            if verb.split(" ")[0] in ("HELO", "EHLO"):
                self.say(f"250 {self.conf['hostname']}")
            elif verb == "MAIL FROM":
                self.sender, self.boxes = address(word), []
                self.say("250 ok")
            elif verb == "RCPT TO":
                self.say(self.recipient(address(word)))
            elif verb == "DATA":
                self.message()
            elif verb == "QUIT":
                return self.say("221 bye")
            else:
                self.say("250 ok" if verb in ("RSET", "NOOP") else "500 what?")

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def recipient(self, to):
        local, _, domain = to.lower().partition("@")
        try:
            hosts = exchangers((self.conf["resolver_host"], self.conf["resolver_port"]), domain)
        except OSError as error:
            say(f"451 {to}: resolver {self.conf['host']}:{self.conf['port_']}: {error}")
            return "451 resolver does not answer"
        if self.conf["hostname"] not in hosts:
            say(f"550 {to}: exchangers of {domain} are {hosts}, not {self.conf['hostname']}")
            return "550 not the exchanger of this domain"
        box = self.conf["aliases"].get(local, local)
        if box not in self.conf["boxes"]:
            say(f"550 {to}: no box {box}")
            return "550 no such box"
        self.boxes.append(box)
        return "250 ok"

    def message(self):
        if not self.boxes:
            return self.say("503 no recipient")
        self.say("354 end with a dot")
        body = []
        for line in iter(lambda: self.rfile.readline(65536), b""):
            line = line.rstrip(b"\r\n")
            if line == b".":
                break
            body.append(line[1:] if line.startswith(b".") else line)
        text = b"\n".join(body) + b"\n"
        if len(text) > self.conf["max_message_bytes"]:
            return self.say("552 message too large")
        for box in sorted(set(self.boxes)):
            deliver(self.conf["spool"], box, b"Return-Path: <%s>\n" % self.sender.encode() + text)
        self.boxes = []
        return self.say("250 delivered")


def address(word):
    return word.partition("<")[2].partition(">")[0]


def deliver(spool, box, text):
    with LOCK:
        place = folder(spool) / box
        place.mkdir(exist_ok=True)
        number = 1 + max((int(p.stem) for p in place.glob("*.eml")), default=0)
        (place / f"{number}.eml").write_bytes(text)


if __name__ == "__main__":
    main()
