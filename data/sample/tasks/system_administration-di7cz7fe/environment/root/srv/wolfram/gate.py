# mypy: ignore-errors
"""Reverse proxy: routes by host and path to the services behind it; see README.md."""

import http.client
import ipaddress

from base import Threads, Web, config_path, fail, listen, read, say

HOP = {"connection", "keep-alive", "transfer-encoding", "server", "date", "content-length"}


def load(path):
    """The configuration, line by line; the first bad line stops the daemon."""
    conf = {"upstreams": {}, "routes": [], "max_body": 1 << 20, "timeout": 3.0, "site": ""}
    for number, line in enumerate(read(path).splitlines(), 1):
        words = line.split("#")[0].split()
        if words:
            try:
                directive(conf, words)
            except (ValueError, KeyError, IndexError) as error:
                fail(f"{path}: line {number}: {error} in {line.strip()!r}")
    if "listen" not in conf:
        fail(f"{path}: no listen line")
    return conf


def directive(conf, words):
    name, *args = words
    if name == "listen":
        conf["listen"] = (str(ipaddress.ip_address(args[0])), int(args[1]))
    elif name == "upstream":
        conf["upstreams"][args[0]] = (args[1], int(args[2]))
    elif name == "route":
        if args[2] not in conf["upstreams"]:
            raise ValueError(f"no upstream {args[2]!r} above")
        if not args[1].startswith("/") or args[3:] not in ([], ["strip"]):
            raise ValueError("bad route")
        conf["routes"].append((args[0], args[1], args[2], args[3:] == ["strip"]))
    elif name == "max_body":
        conf["max_body"] = int(args[0])
    elif name == "timeout":
        conf["timeout"] = float(args[0])
    elif name == "site":
        conf["site"] = args[0]
    else:
        raise ValueError(f"unknown directive {name!r}")


class Gate(Web):
    """Forwards to the route with the longest prefix; a named host goes before `*`."""

    def answer(self, method, path, body):
        host = self.headers.get("Host", "").split(":")[0].lower()
        fits = [
            (name == host, len(prefix), prefix, upstream, strip)
            for name, prefix, upstream, strip in self.conf["routes"]
            if name in ("*", host) and inside(path.split("?")[0], prefix)
        ]
        if not fits:
            return 404, {"error": "no route"}, {"X-Site": self.conf["site"]}
        _, _, prefix, upstream, strip = max(fits)
        if strip:
            path = "/" + path[len(prefix.rstrip("/")) :].lstrip("/")
        return self.forward(method, path, body, self.conf["upstreams"][upstream])

    def forward(self, method, path, body, where):
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in HOP and name.lower() != "host"
        }
        headers["X-Forwarded-Host"] = self.headers.get("Host", "")
        connection = http.client.HTTPConnection(*where, timeout=self.conf["timeout"])
        try:
            connection.request(method, path, body or None, headers)
            reply = connection.getresponse()
            data = reply.read()
        except (OSError, http.client.HTTPException) as error:
            say(f"502 {method} {path} at {where[0]}:{where[1]}: {error}")
            return 502, {"error": "upstream failed"}, {"X-Site": self.conf["site"]}
        finally:
            connection.close()
        kept = {name: value for name, value in reply.getheaders() if name.lower() not in HOP}
        return reply.status, data, {**kept, "X-Site": self.conf["site"]}


def inside(path, prefix):
    return path == prefix.rstrip("/") or path.startswith(prefix.rstrip("/") + "/")


def main():
    conf = load(config_path())
    Gate.conf, Gate.max_body = conf, conf["max_body"]
    server = listen(Threads, *conf["listen"], Gate)
    say(f"ready on {conf['listen'][0]}:{conf['listen'][1]}")
    server.serve_forever()


if __name__ == "__main__":
    main()
