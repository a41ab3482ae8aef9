"""Reads {"at": seconds, "request": text} a line, answers accept or refuse."""

import csv
import hashlib
import hmac
import json
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ORDER, HEADERS, BETWEEN = ['path', 'method', 'time', 'body', 'query', 'nonce', 'headers'], ['host', 'x-tenant', 'x-trace'], '\n'
HASH, WINDOW, FIELD = "sha512", 870, "x-proof"
PROOF = re.compile(r"keyid=([^,\s]+), ts=(\d+), nonce=([0-9a-f]+), sig=([0-9a-f]+)")

with open(os.path.join(HERE, "keys.csv")) as stream:
    KEYS = {row["keyid"]: row for row in csv.DictReader(stream)}
used = {}


def good(at, text):
    head, gap, body = text.partition("\n\n")
    first, *lines = head.split("\n")
    fields = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip().lower(), " ".join(value.split()))
    found = PROOF.fullmatch(fields.get(FIELD, ""))
    if not found:
        return False
    keyid, ts, nonce, sig = found.groups()
    ts, key = int(ts), KEYS.get(keyid)
    if key is None or key["withdrawn"] == "yes" or not int(key["from"]) <= ts <= int(key["to"]):
        return False
    if abs(at - ts) > WINDOW:
        return False
    method, target = first.split(" ", 1)
    path, _, query = target.partition("?")
    query = "&".join(sorted(query.split("&"), key=str.encode))
    parts = {
        "method": method.upper(), "path": path, "query": query,
        "headers": ";".join(f"{name}:{fields.get(name, '')}" for name in HEADERS),
        "body": hashlib.new(HASH, body.encode()).hexdigest(), "time": str(ts), "nonce": nonce,
    }
    secret = bytes.fromhex(key["secret"])
    secret = hmac.new(secret, time.strftime("%Y%m%d", time.gmtime(ts)).encode(), HASH).digest()
    wanted = hmac.new(secret, BETWEEN.join(parts[name] for name in ORDER).encode(), HASH).hexdigest()
    if not hmac.compare_digest(wanted, sig):
        return False
    again = (keyid, nonce) in used
    used[keyid, nonce] = ts
    return not again


for line in sys.stdin:
    one = json.loads(line)
    print("accept" if good(one["at"], one["request"]) else "refuse", flush=True)
