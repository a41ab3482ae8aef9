"""How requests are signed: drawn rules, the signature, and requests good and bad."""

from __future__ import annotations

import hashlib
import hmac
from datetime import date, timedelta
from random import Random
from typing import Any

PARTS = ("method", "path", "query", "headers", "body", "time", "nonce")
DAY = 86400
START = 1_750_000_000


def draw_rules(rng: Random, complex_: bool) -> dict[str, Any]:
    order = list(PARTS)
    rng.shuffle(order)
    names = ("host", "content-type", "x-device", "x-tenant", "x-trace")
    headers = rng.sample(names, 3 if complex_ else 2)
    return {
        "order": order, "headers": sorted(headers), "between": rng.choice(("\n", "|")),
        "hash": rng.choice(("sha256", "sha512")),
        "derived": rng.choice(("day", "keyid")) if complex_ else "",
        "window": rng.randrange(120, 900, 30),
        "field": rng.choice(("X-Auth", "X-Signature", "X-Proof")),
        "sorted": rng.random() < 0.7 or complex_,
    }  # fmt: skip


def draw_keys(rng: Random) -> dict[str, dict[str, Any]]:
    """Key id -> secret in hex, first and last second, withdrawn or not."""
    keys: dict[str, dict[str, Any]] = {}
    for number in range(4):
        first = START - rng.randrange(20, 60) * DAY
        keys[f"k{rng.randrange(100, 999)}{'abcd'[number]}"] = {
            "secret": f"{rng.getrandbits(160):040x}", "from": first,
            "to": first + (rng.randrange(5, 15) if number == 1 else rng.randrange(90, 200)) * DAY,
            "withdrawn": number == 2,
        }  # fmt: skip
    return keys


def split(text: str) -> tuple[str, str, str, dict[str, str], str]:
    """(method, path, query, headers, body); headers by lower-case name, trimmed."""
    head, _, body = text.partition("\n\n")
    first, *lines = head.split("\n")
    method, target = first.split(" ", 1)
    path, _, query = target.partition("?")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers.setdefault(name.strip().lower(), " ".join(value.split()))
    return method, path, query, headers, body


def canonical(text: str, rules: dict[str, Any], when: int, nonce: str) -> str:
    method, path, query, headers, body = split(text)
    pairs = query.split("&")
    fields = ";".join(f"{name}:{headers.get(name, '')}" for name in rules["headers"])
    parts = {
        "method": method.upper(), "path": path, "headers": fields, "nonce": nonce,
        "query": "&".join(sorted(pairs, key=str.encode)) if rules["sorted"] else query,
        "body": hashlib.new(rules["hash"], body.encode()).hexdigest(), "time": str(when),
    }  # fmt: skip
    return str(rules["between"].join(parts[name] for name in rules["order"]))


def signature(
    text: str, rules: dict[str, Any], keyid: str, secret: str, when: int, nonce: str
) -> str:
    key = bytes.fromhex(secret)
    if rules["derived"]:
        day = (date(1970, 1, 1) + timedelta(when // DAY)).strftime("%Y%m%d")
        key = hmac.new(
            key, (day if rules["derived"] == "day" else keyid).encode(), rules["hash"]
        ).digest()
    return hmac.new(key, canonical(text, rules, when, nonce).encode(), rules["hash"]).hexdigest()


def signed(
    text: str, rules: dict[str, Any], keyid: str, secret: str, when: int, nonce: str, sign: str = ""
) -> str:
    """The request with its field as the last of the head."""
    head, _, body = text.partition("\n\n")
    sign = sign or signature(text, rules, keyid, secret, when, nonce)
    return (
        f"{head}\n{rules['field']}: keyid={keyid}, ts={when}, nonce={nonce}, sig={sign}\n\n{body}"
    )


def draw_request(rng: Random) -> str:
    """A request without a signature."""

    def word() -> str:
        return "".join(rng.choice("abcdefghkmnprstuvz") for _ in range(rng.randrange(3, 8)))

    method = rng.choice(("GET", "POST", "PUT", "post", "DELETE"))
    values = ("", word(), "A" + word(), "%20")
    count = rng.randrange(1, 4)
    pairs = [f"{rng.choice('zyxmba')}{word()}={rng.choice(values)}" for _ in range(count)]
    target = f"/{word()}/{word()}?{'&'.join(pairs)}"
    heads = [
        ("Host", f"{word()}.example"), ("Content-Type", "text/plain;  charset=utf-8"),
        ("X-Device", f"  {word()}  {word()}"), ("X-TENANT", word().upper()), ("X-Trace", word()),
        ("Accept", "*/*"),
    ]  # fmt: skip
    rng.shuffle(heads)
    heads = heads[: rng.randrange(3, 7)]
    body = "\n".join(f"{word()}={word()} ü" for _ in range(rng.randrange(0, 4)))
    if method == "GET":
        body = ""
    if rng.random() < 0.4 and body:
        body += "\n\n" + word() + "\n"
    lines = [f"{method} {target}", *(f"{name}: {value}" for name, value in heads)]
    return "\n".join(lines) + "\n\n" + body
