# mypy: ignore-errors
"""Counts and gauges: written by UDP, read by a line protocol over TCP; see README.md."""

import socketserver
import threading

from base import Store, StoreError, Threads, config_path, ini, listen, say, secret

LOCK = threading.Lock()
VALUES = {}


def main():
    conf = ini(
        config_path(),
        {
            "input": {"udp_bind": str, "udp_port": int, "accept_prefix": str, "max_datagram": int},
            "query": {"bind": str, "port": int},
            "store": {
                "store_host": str,
                "store_port": int,
                "store_password_file": str,
                "store_wait_seconds": int,
                "key_prefix": str,
            },
        },
    )
    store = Store(conf["store_host"], conf["store_port"], secret(conf["store_password_file"]))
    store.wait(conf["store_wait_seconds"])
    prefix = conf["key_prefix"]
    for key in store("KEYS", prefix + "*"):
        VALUES[key[len(prefix) :]] = int(store("GET", key))
    Input.conf, Input.store = conf, store
    udp = listen(Datagrams, conf["udp_bind"], conf["udp_port"], Input)
    udp.max_packet_size = 65536
    threading.Thread(target=udp.serve_forever, daemon=True).start()
    server = listen(Threads, conf["bind"], conf["port"], Query)
    say(f"ready on {conf['bind']}:{conf['port']} and UDP {conf['udp_bind']}:{conf['udp_port']}")
    server.serve_forever()


class Datagrams(socketserver.UDPServer):
    allow_reuse_address = True


class Input(socketserver.BaseRequestHandler):
    """Lines `name:number|c` (add) or `name:number|g` (set)."""

    def handle(self):
        packet = self.request[0]
        if len(packet) > self.conf["max_datagram"]:
            say(f"datagram of {len(packet)} bytes is dropped")
            return
        for line in packet.decode("utf-8", "replace").splitlines():
            self.take(line)

    def take(self, line):
        name, _, rest = line.partition(":")
        number, _, kind = rest.partition("|")
        if not name.startswith(self.conf["accept_prefix"]) or kind not in ("c", "g"):
            return say(f"not taken: {line!r}")
        try:
            value = int(number)
        except ValueError:
            return say(f"not taken: {line!r}")
        with LOCK:
            VALUES[name] = value + (VALUES.get(name, 0) if kind == "c" else 0)
            try:
                self.store("SET", self.conf["key_prefix"] + name, VALUES[name])
            except StoreError as error:
                say(f"not stored: {error}")


class Query(socketserver.StreamRequestHandler):
    """GET NAME, LIST PREFIX, PING: one line each."""

    def handle(self):
        for line in iter(lambda: self.rfile.readline(4096), b""):
            verb, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
            self.wfile.write(self.answer(verb.upper(), rest).encode())

    def answer(self, verb, rest):
        with LOCK:
            if verb == "PING":
                return "PONG\n"
            if verb == "GET":
                return f"{rest} {VALUES[rest]}\n" if rest in VALUES else "NONE\n"
            if verb == "LIST":
                found = [f"{n} {VALUES[n]}\n" for n in sorted(VALUES) if n.startswith(rest)]
                return "".join(found) + "END\n"
        return "ERROR\n"


if __name__ == "__main__":
    main()
