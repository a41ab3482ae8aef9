# mypy: ignore-errors
"""Short links over HTTP, kept in the store; see README.md."""

import secrets
from urllib.parse import urlsplit

from base import Store, Threads, Web, config_path, listen, parsed, say, secret, settings

CODE = "abcdefghijkmnpqrstuvwxyz23456789"


def main():
    conf = settings(
        config_path(),
        {
            "bind": str,
            "port": int,
            "store_host": str,
            "store_port": int,
            "store_password_file": str,
            "store_wait_seconds": int,
            "key_prefix": str,
            "ttl_seconds": int,
            "max_url_bytes": int,
            "schemes": list,
        },
    )
    Api.conf = conf
    Api.store = Store(conf["store_host"], conf["store_port"], secret(conf["store_password_file"]))
    Api.store.wait(conf["store_wait_seconds"])
    server = listen(Threads, conf["bind"], conf["port"], Api)
    say(f"ready on {conf['bind']}:{conf['port']}")
    server.serve_forever()


class Api(Web):
    """POST /links, GET /links/CODE, DELETE /links/CODE, GET /r/CODE, GET /ping."""

    def answer(self, method, path, body):
        parts = urlsplit(path).path.strip("/").split("/")
        if (method, parts) == ("GET", ["ping"]):
            return 200, b"pong\n"
        if (method, parts) == ("POST", ["links"]):
            return self.create(parsed(body))
        if len(parts) == 2 and parts[0] in ("links", "r") and method in ("GET", "DELETE"):
            return self.one(method, parts[0], parts[1])
        return 404, {"error": "no such path"}

    def create(self, wish):
        url = (wish or {}).get("url")
        if not isinstance(url, str):
            return 400, {"error": "url is missing"}
        if len(url.encode()) > self.conf["max_url_bytes"]:
            return 413, {"error": "url too long"}
        if urlsplit(url).scheme not in self.conf["schemes"]:
            return 422, {"error": "scheme is not allowed"}
        code = wish.get("code") or "".join(secrets.choice(CODE) for _ in range(7))
        self.store("SET", self.conf["key_prefix"] + code, url, "EX", self.conf["ttl_seconds"])
        return 201, {"code": code, "url": url}

    def one(self, method, kind, code):
        key = self.conf["key_prefix"] + code
        if method == "DELETE":
            return (
                (200, {"deleted": code}) if self.store("DEL", key) else (404, {"error": "no link"})
            )
        url = self.store("GET", key)
        if url is None:
            return 404, {"error": "no link"}
        if kind == "r":
            self.store("INCR", key + ":hits")
            return 302, b"", {"Location": url}
        hits = int(self.store("GET", key + ":hits") or 0)
        return 200, {"code": code, "url": url, "hits": hits}


if __name__ == "__main__":
    main()
