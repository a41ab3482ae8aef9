# mypy: ignore-errors
"""Takes text jobs over HTTP and queues them in the store; see README.md."""

import json
import secrets
from urllib.parse import urlsplit

from base import Store, Threads, Web, config_path, listen, parsed, say, secret, settings


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
            "queue": str,
            "job_prefix": str,
            "keep_seconds": int,
            "max_text_bytes": int,
            "operations": list,
        },
    )
    Api.conf = conf
    Api.store = Store(conf["store_host"], conf["store_port"], secret(conf["store_password_file"]))
    Api.store.wait(conf["store_wait_seconds"])
    server = listen(Threads, conf["bind"], conf["port"], Api)
    say(f"ready on {conf['bind']}:{conf['port']}")
    server.serve_forever()


class Api(Web):
    """POST /jobs, GET /jobs/ID, GET /ping."""

    def answer(self, method, path, body):
        parts = urlsplit(path).path.strip("/").split("/")
        if (method, parts) == ("GET", ["ping"]):
            return 200, b"pong\n"
        if (method, parts) == ("POST", ["jobs"]):
            return self.create(parsed(body))
        if method == "GET" and len(parts) == 2 and parts[0] == "jobs":
            text = self.store("GET", self.conf["job_prefix"] + parts[1])
            if text is not None:
                return 200, {"id": parts[1], **json.loads(text)}
        return 404, {"error": "not here"}

    def create(self, wish):
        operation, text = (wish or {}).get("operation"), (wish or {}).get("text")
        if not isinstance(text, str):
            return 400, {"error": "text is missing"}
        if len(text.encode()) > self.conf["max_text_bytes"]:
            return 413, {"error": "text too long"}
        if operation not in self.conf["operations"]:
            return 422, {"error": "unknown operation"}
        number = secrets.token_hex(6)
        job = json.dumps({"state": "queued", "operation": operation, "text": text})
        keep = self.conf["keep_seconds"]
        self.store("SET", self.conf["job_prefix"] + number, job, "EX", keep)
        self.store("RPUSH", self.conf["queue"], number)
        return 202, {"id": number}


if __name__ == "__main__":
    main()
