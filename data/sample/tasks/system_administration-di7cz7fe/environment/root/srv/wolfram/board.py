# mypy: ignore-errors
"""Shows the meters and their alarms over HTTP; see README.md."""

import socket
from urllib.parse import parse_qs, urlsplit

from base import StoreError, Threads, Web, config_path, fail, listen, say, settings


def main():
    conf = settings(
        config_path(),
        {
            "bind": str,
            "port": int,
            "meter_host": str,
            "meter_port": int,
            "alarms": list,
        },
    )
    for alarm in conf["alarms"]:
        if not isinstance(alarm, dict) or sorted(alarm) != ["above", "name"]:
            fail(f"not an alarm with `name` and `above`: {alarm}")
    Api.conf = conf
    server = listen(Threads, conf["bind"], conf["port"], Api)
    say(f"ready on {conf['bind']}:{conf['port']}")
    server.serve_forever()


class Api(Web):
    """GET /metrics/NAME, GET /summary?prefix=P, GET /alarms, GET /ping."""

    def answer(self, method, path, body):
        parts = urlsplit(path)
        words = parts.path.strip("/").split("/")
        if words == ["ping"]:
            return 200, b"pong\n"
        if words == ["summary"]:
            prefix = parse_qs(parts.query).get("prefix", [""])[0]
            values = [value for _, value in self.meters(prefix)]
            return 200, {"prefix": prefix, "count": len(values), "sum": sum(values)}
        if words == ["alarms"]:
            now = dict(self.meters(""))
            return 200, {
                "alarms": sorted(
                    a["name"] for a in self.conf["alarms"] if now.get(a["name"], 0) > a["above"]
                )
            }
        if len(words) == 2 and words[0] == "metrics":
            values = dict(self.meters(words[1]))
            if words[1] in values:
                return 200, {"name": words[1], "value": values[words[1]]}
        return 404, {"error": "not here"}

    def meters(self, prefix):
        where = (self.conf["meter_host"], self.conf["meter_port"])
        out = []
        try:
            with socket.create_connection(where, timeout=1.5) as connection:
                stream = connection.makefile("rw")
                stream.write(f"LIST {prefix}\n")
                stream.flush()
                for line in stream:
                    if line.strip() == "END":
                        return out
                    name, value = line.split()
                    out.append((name, int(value)))
        except OSError as error:
            raise StoreError(f"meter at {where[0]}:{where[1]}: {error}") from error
        raise StoreError("meter hung up")


if __name__ == "__main__":
    main()
