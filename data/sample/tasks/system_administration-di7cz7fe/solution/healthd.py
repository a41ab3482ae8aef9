"""Health page: asks every service in its own protocol."""

import concurrent.futures
import http.server
import json
import socket
import struct
import urllib.request

PASSWORD = open("/home/agent/stack/store.secret").read().strip()


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


def store():
    login = f"AUTH {PASSWORD}\r\nPING\r\n".encode()
    return talk(8070, login, [b"+OK", b"+PONG"])


def meter():
    return talk(7658, b"PING\n", [b"PONG"])


def board():
    return ping(8624)


def state(probe):
    try:
        return "up" if probe() else "down"
    except OSError:
        return "down"


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.split("?")[0] != "/healthz":
            return self.send_error(404)
        probes = [store, meter, board]
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


http.server.ThreadingHTTPServer(("127.0.0.1", 9117), Page).serve_forever()
