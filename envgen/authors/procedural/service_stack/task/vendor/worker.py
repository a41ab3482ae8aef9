# mypy: ignore-errors
"""Works on the queued jobs; see README.md."""

import hashlib
import json
import time

from base import Store, StoreError, config_path, fail, read, say, secret

OPERATIONS = {
    "upper": str.upper,
    "reverse": lambda text: text[::-1],
    "sha256": lambda text: hashlib.sha256(text.encode()).hexdigest(),
    "wordcount": lambda text: str(len(text.split())),
    "sortlines": lambda text: "\n".join(sorted(text.split("\n"))),
    "squeeze": lambda text: " ".join(text.split()),
}
KEYS = {
    "STORE_HOST",
    "STORE_PORT",
    "STORE_PASSWORD_FILE",
    "STORE_WAIT_SECONDS",
    "QUEUE",
    "JOB_PREFIX",
    "KEEP_SECONDS",
    "OPERATIONS",
    "HEARTBEAT_KEY",
}


def environment(path):
    """KEY=VALUE lines."""
    out = {}
    for number, line in enumerate(read(path).splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals or key not in KEYS:
            fail(f"{path}: line {number} is no known KEY=VALUE: {line!r}")
        out[key] = value
    for key in sorted(KEYS - out.keys()):
        fail(f"{path}: {key} is missing")
    return out


def main():
    conf = environment(config_path())
    wanted = conf["OPERATIONS"].split(",")
    for name in wanted:
        if name not in OPERATIONS:
            fail(f"no operation {name!r}; there are {', '.join(OPERATIONS)}")
    store = Store(conf["STORE_HOST"], int(conf["STORE_PORT"]), secret(conf["STORE_PASSWORD_FILE"]))
    store.wait(int(conf["STORE_WAIT_SECONDS"]))
    say("ready")
    while True:
        try:
            store("SET", conf["HEARTBEAT_KEY"], "1", "EX", 2)
            number = store("LPOP", conf["QUEUE"])
            if number is None:
                time.sleep(0.05)
                continue
            work(store, conf, conf["JOB_PREFIX"] + number, wanted)
        except StoreError as error:
            say(f"retry: {error}")
            time.sleep(0.2)


def work(store, conf, key, wanted):
    text = store("GET", key)
    if text is None:
        say(f"no job under {key}")
        return
    job = json.loads(text)
    if job["operation"] in wanted:
        job = {**job, "state": "done", "result": OPERATIONS[job["operation"]](job["text"])}
    else:
        job["state"] = "failed"
    store("SET", key, json.dumps(job), "EX", conf["KEEP_SECONDS"])


if __name__ == "__main__":
    main()
