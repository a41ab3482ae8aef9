# mypy: ignore-errors
"""Reads delivered mail over HTTP; see README.md."""

import pathlib
from urllib.parse import urlsplit

from base import Threads, Web, config_path, fail, folder, listen, read, say, secret, settings


def main():
    conf = settings(
        config_path(),
        {
            "bind": str,
            "port": int,
            "spool": str,
            "tokens_file": str,
            "page_size": int,
        },
    )
    folder(conf["spool"])
    secret(conf["tokens_file"])
    tokens = {}
    for number, line in enumerate(read(conf["tokens_file"]).splitlines(), 1):
        words = line.split()
        if len(words) != 2:
            fail(f"{conf['tokens_file']}: line {number} is not `box token`")
        tokens[words[0]] = words[1]
    Api.conf, Api.tokens = conf, tokens
    server = listen(Threads, conf["bind"], conf["port"], Api)
    say(f"ready on {conf['bind']}:{conf['port']}")
    server.serve_forever()


class Api(Web):
    """GET /boxes/BOX, GET /boxes/BOX/N, GET /ping."""

    def answer(self, method, path, body):
        parts = urlsplit(path).path.strip("/").split("/")
        if (method, parts) == ("GET", ["ping"]):
            return 200, b"pong\n"
        if method != "GET" or len(parts) not in (2, 3) or parts[0] != "boxes":
            return 404, {"error": "no such path"}
        token = self.tokens.get(parts[1])
        if token is None or self.headers.get("Authorization") != f"Bearer {token}":
            return 401, {"error": "wrong token"}
        files = sorted(
            (pathlib.Path(self.conf["spool"]) / parts[1]).glob("*.eml"), key=lambda p: int(p.stem)
        )
        if len(parts) == 3:
            found = [p for p in files if p.stem == parts[2]]
            return (200, found[0].read_bytes()) if found else (404, {"error": "no mail"})
        newest = files[-self.conf["page_size"] :]
        return 200, {
            "box": parts[1],
            "total": len(files),
            "mails": [{"id": p.stem, "subject": subject(p)} for p in newest],
        }


def subject(path):
    for line in path.read_text("utf-8", "replace").splitlines():
        if line.lower().startswith("subject:"):
            return line[8:].strip()
    return ""


if __name__ == "__main__":
    main()
