# mypy: ignore-errors
"""Key-value store that speaks the Redis protocol; see README.md."""

import json
import socketserver
import threading
import time

from base import Threads, claim, config_path, folder, ini, listen, on_end, say, secret

LOCK = threading.Lock()
DATA = {}  # key -> [value (str or list), expiry or None]
PENDING = []


class Trouble(Exception):
    """Becomes an error reply."""


def main():
    path = config_path()
    conf = ini(
        path,
        {
            "server": {
                "bind": str,
                "port": int,
                "password_file": str,
                "pid_file": str,
                "on_stale_pid": ("refuse", "replace"),
            },
            "storage": {"folder": str, "sync": ("always", "exit")},
            "limits": {"max_value_bytes": int},
        },
    )
    Session.conf = conf
    Session.password = secret(conf["password_file"])
    claim(conf["pid_file"], conf["on_stale_pid"])
    journal = folder(conf["folder"]) / "journal"
    load(journal)
    Session.journal = journal.open("a")
    on_end(flush)
    server = listen(Threads, conf["bind"], conf["port"], Session)
    say(f"ready on {conf['bind']}:{conf['port']}, {len(DATA)} keys")
    server.serve_forever()


def load(journal):
    """The last state of every key."""
    if journal.exists():
        for line in journal.read_text().splitlines():
            key, entry = json.loads(line)
            DATA.pop(key, None)
            if entry is not None:
                DATA[key] = entry


def record(key):
    """Journal a key's state; at once or, with sync = exit, when the daemon ends."""
    PENDING.append(json.dumps([key, DATA.get(key)]) + "\n")
    if Session.conf["sync"] == "always":
        flush()


def flush():
    Session.journal.write("".join(PENDING))
    Session.journal.flush()
    PENDING.clear()


def live(key):
    entry = DATA.get(key)
    if entry is not None and entry[1] is not None and entry[1] <= time.time():
        del DATA[key]
        return None
    return entry


def text_of(key):
    entry = live(key)
    if entry is not None and not isinstance(entry[0], str):
        raise Trouble("WRONGTYPE this key holds a list")
    return entry


def list_of(key):
    entry = live(key)
    if entry is not None and not isinstance(entry[0], list):
        raise Trouble("WRONGTYPE this key holds a string")
    return entry


def set_(key, value, *options):
    if len(value.encode("utf-8", "surrogateescape")) > Session.conf["max_value_bytes"]:
        raise Trouble("ERR value too large")
    expiry = None
    if options:
        if len(options) != 2 or options[0].upper() != "EX":
            raise Trouble("ERR syntax error")
        expiry = time.time() + int(options[1])
    DATA[key] = [value, expiry]
    record(key)
    return OK


def get(key):
    entry = text_of(key)
    return None if entry is None else entry[0]


def delete(*keys):
    gone = [key for key in keys if live(key) is not None]
    for key in gone:
        del DATA[key]
        record(key)
    return len(gone)


def exists(*keys):
    return sum(live(key) is not None for key in keys)


def incr(key):
    entry = text_of(key) or ["0", None]
    DATA[key] = [str(int(entry[0]) + 1), entry[1]]
    record(key)
    return int(DATA[key][0])


def ttl(key):
    entry = live(key)
    if entry is None:
        return -2
    return -1 if entry[1] is None else max(1, round(entry[1] - time.time()))


def expire(key, seconds):
    entry = live(key)
    if entry is None:
        return 0
    entry[1] = time.time() + int(seconds)
    record(key)
    return 1


def rpush(key, *values):
    entry = list_of(key) or [[], None]
    entry[0].extend(values)
    DATA[key] = entry
    record(key)
    return len(entry[0])


def lpop(key):
    entry = list_of(key)
    if entry is None:
        return None
    value = entry[0].pop(0)
    if not entry[0]:
        del DATA[key]
    record(key)
    return value


def llen(key):
    entry = list_of(key)
    return 0 if entry is None else len(entry[0])


def keys(pattern):
    start = pattern.rstrip("*")
    found = [key for key in sorted(DATA) if live(key) is not None]
    return [key for key in found if key == pattern or (start != pattern and key.startswith(start))]


OK = object()
COMMANDS = {
    "SET": set_,
    "GET": get,
    "DEL": delete,
    "EXISTS": exists,
    "INCR": incr,
    "TTL": ttl,
    "EXPIRE": expire,
    "RPUSH": rpush,
    "LPOP": lpop,
    "LLEN": llen,
    "KEYS": keys,
}


class Session(socketserver.StreamRequestHandler):
    """One client."""

    def handle(self):
        self.known = not self.password
        while True:
            try:
                words = self.command()
            except (ValueError, OSError):
                return
            if not words:
                return
            self.wfile.write(self.answer(words))

    def command(self):
        line = self.rfile.readline(65536).decode("utf-8", "surrogateescape").strip()
        if not line.startswith("*"):
            return line.split()
        words = []
        for _ in range(int(line[1:])):
            size = int(self.rfile.readline(64)[1:])
            words.append(self.rfile.read(size + 2)[:-2].decode("utf-8", "surrogateescape"))
        return words

    def answer(self, words):
        name, *args = words
        name = name.upper()
        if name == "AUTH":
            self.known = args == [self.password]
            return b"+OK\r\n" if self.known else b"-WRONGPASS wrong password\r\n"
        if not self.known:
            return b"-NOAUTH authentication required\r\n"
        if name == "PING":
            return b"+PONG\r\n"
        if name not in COMMANDS:
            return b"-ERR unknown command\r\n"
        try:
            with LOCK:
                return encode(COMMANDS[name](*args))
        except Trouble as trouble:
            return f"-{trouble}\r\n".encode()
        except (TypeError, ValueError):
            return b"-ERR wrong arguments\r\n"


def encode(value):
    if value is OK:
        return b"+OK\r\n"
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, list):
        return b"*%d\r\n" % len(value) + b"".join(encode(item) for item in value)
    data = value.encode("utf-8", "surrogateescape")
    return b"$%d\r\n%s\r\n" % (len(data), data)


if __name__ == "__main__":
    main()
