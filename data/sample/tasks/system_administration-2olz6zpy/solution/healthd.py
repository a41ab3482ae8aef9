"""Health page: asks every service in its own protocol."""

import concurrent.futures
import http.server
import json
import socket
import struct
import urllib.request



def talk(port, text, wanted):
    with socket.create_connection(("127.0.0.1", port), timeout=0.9) as connection:
        connection.settimeout(0.9)
        stream = connection.makefile("rwb")
        stream.write(text)
        stream.flush()
        return all(stream.readline().startswith(line) for line in wanted)


def ping(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/ping", timeout=0.9) as reply:
        return reply.read().strip() == b"pong"


def zones():
    name = b"".join(bytes([len(p)]) + p.encode() for p in "saffron.example".split(".")) + b"\0"
    query = struct.pack(">6H", 9, 0x0100, 1, 0, 0, 0) + name + struct.pack(">HH", 15, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.settimeout(0.9)
        channel.connect(("127.0.0.1", 9311))
        channel.send(query)
        return channel.recv(4096)[:2] == query[:2]


def mail():
    return talk(8909, b"", [b"220"])


def boxes():
    return ping(8518)


def state(probe):
    try:
        return "up" if probe() else "down"
    except OSError:
        return "down"


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.split("?")[0] != "/healthz":
            return self.send_error(404)
        probes = [zones, mail, boxes]
        with concurrent.futures.ThreadPoolExecutor(len(probes)) as pool:
            services = dict(zip([p.__name__ for p in probes], pool.map(state, probes)))
        good = set(services.values()) == {"up"}
        page = {"status": "ok" if good else "degraded", "services": services}
        data = json.dumps(page).encode()
        self.send_response(200 if good else 503)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


http.server.ThreadingHTTPServer(("127.0.0.1", 7300), Page).serve_forever()
