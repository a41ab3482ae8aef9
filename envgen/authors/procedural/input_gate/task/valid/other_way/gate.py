"""The same policy on text instead of bytes, with the library's own parsers."""

import ipaddress
import json
import re
import sys
import urllib.parse
from typing import Any, Dict, List

SETTINGS: Dict[str, Any] = {}  # filled in from the policy document

FULLWIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
TEXT = {"encoding": "utf-8", "errors": "surrogateescape"}


class Refused(Exception):
    """Why does not matter: there is one answer."""


def need(condition: object) -> None:
    if not condition:
        raise Refused


def size(text: str) -> int:
    return len(text.encode(**TEXT))


def canonical(text: str) -> str:
    for _ in range(SETTINGS["rounds"]):
        text = urllib.parse.unquote_to_bytes(text.encode(**TEXT)).decode(**TEXT)
    need(not re.search("%[0-9a-fA-F]{2}", text))
    if SETTINGS["fold"]:
        text = text.translate(FULLWIDTH)
    need(min(map(ord, text), default=32) >= 32 and "\x7f" not in text)
    return text


def path_escape(raw: str) -> None:
    stack: List[str] = []
    for part in re.split(r"[/\\]+", canonical(raw)):
        if part == "..":
            need(stack)
            stack.pop()
        elif part and part != ".":
            need(not (SETTINGS["path_hidden"] and part[0] == "."))
            stack.append(part)
            need(len(stack) <= SETTINGS["path_depth"])


def header_break(raw: str) -> None:
    text = canonical(raw)
    need(size(text) <= SETTINGS["header_bytes"])
    need(not SETTINGS["header_wide"] or not set(text) & set("\x85\u2028\u2029"))


def formula_cell(raw: str) -> None:
    cell = canonical(raw).strip(" '\"" if SETTINGS["formula_quotes"] else " ")
    if cell and cell[0] in SETTINGS["formula_marks"]:
        whole, mark, part = cell.lstrip("+-").partition(SETTINGS["formula_decimal"])
        need(len(cell) - len(cell.lstrip("+-")) <= 1)
        need(re.fullmatch("[0-9]+", whole) and (not mark or re.fullmatch("[0-9]+", part)))


def host_name(raw: str) -> None:
    name = re.sub(r"\.\Z", "", raw)
    labels = name.split(".")
    need(size(name) < 254 and len(labels) > 1 and not re.fullmatch("[0-9]+", labels[-1]))
    for label in labels:
        if SETTINGS["host_underscore"] and label.startswith("_"):
            label = "u" + label[1:]
        need(re.fullmatch("[A-Za-z0-9-]{1,63}", label) and "-" not in (label[0], label[-1]))
    zones = ["." + zone for zone in SETTINGS["host_zones"]] or [""]
    need(any(name.lower().endswith(zone) for zone in zones))


def address(labels: List[str]) -> ipaddress.IPv4Address:
    values = []
    for label in labels:
        need(len(label) <= 12 and re.fullmatch("0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*", label))
        octal = len(label) > 1 and label[0] == "0" and label[1] != "x"
        values.append(int(label, 8) if octal else int(label, 0))
    *front, last = values
    need(len(values) <= 4 and max(front, default=0) < 256 and last < 256 ** (4 - len(front)))
    packed = bytes(front) + last.to_bytes(4 - len(front), "big")
    return ipaddress.IPv4Address(packed)


def internal_target(raw: str) -> None:
    text = canonical(raw).replace("\\", "/")
    scheme, mark, rest = text.partition("://")
    need(mark and scheme.lower() in ("http", "https"))
    host, colon, port = re.split("[/?#]", rest)[0].lower().partition(":")
    if colon:
        need(re.fullmatch("[0-9]{1,5}", port) and int(port) in SETTINGS["target_ports"])
    labels = re.sub(r"\.\Z", "", host).split(".")
    need(all(re.fullmatch("[a-z0-9_-]+", label) for label in labels))
    if re.fullmatch("[0-9]+|0x[0-9a-f]+", labels[-1]):
        where = address(labels)
        need(not any(where in ipaddress.ip_network(net) for net in SETTINGS["target_nets"]))
        return
    for end in SETTINGS["target_suffixes"]:
        need(labels[-len(end.split(".")) :] != end.split("."))


def archive_entry(raw: str) -> None:
    text = canonical(raw).replace("\\", "/")
    need(size(text) <= SETTINGS["entry_bytes"] and not re.match("[A-Za-z]:", text))
    parts = re.sub(r"/\Z", "", text).split("/")
    need(len(parts) <= SETTINGS["entry_depth"])
    for part in parts:
        need(part and not part.endswith((".", " ")))
        need(part.partition(".")[0].lower() not in SETTINGS["entry_reserved"])


def open_redirect(raw: str) -> None:
    text = canonical(raw).strip(" ")
    need("\\" not in text and not text.startswith("//"))
    if text and text[0] != "/":
        hosts = "|".join(map(re.escape, SETTINGS["redirect_hosts"]))
        need(re.match(rf"https://(?:{hosts})(?![^/?#])", text, re.IGNORECASE | re.ASCII))


def upload_type(raw: str, declared: str) -> None:
    name = canonical(raw)
    stem, *endings = name.lower().split(".")
    need(stem and endings and "" not in endings and not set(name) & set("/\\"))
    need(not set(endings[:-1]) & set(SETTINGS["upload_blocked"]))
    need(endings[-1] in SETTINGS["upload_types"])
    need(declared.split(";")[0].strip(" ").lower() == SETTINGS["upload_types"][endings[-1]])


def id_list(raw: str) -> None:
    items = raw.split(",")
    need(len(items) <= SETTINGS["ids_max"])
    need(
        all(re.fullmatch("[0-9]+", item) and len(item) <= SETTINGS["ids_digits"] for item in items)
    )
    need(SETTINGS["ids_zero"] or not any(item.startswith("0") for item in items))
    need(not SETTINGS["ids_unique"] or sorted(items) == sorted(set(items)))


def ref_name(raw: str) -> None:
    need(len(raw) <= SETTINGS["ref_bytes"] and re.fullmatch("[A-Za-z0-9_./-]+", raw))
    need(not re.search(r"\A-|\.\Z|\.\.|//|\A/|/\Z|(?:\A|/)\.|\.lock(?:/|\Z)", raw))


def read(line: str) -> Dict[str, str]:
    if SETTINGS["format"] == "json":
        return dict(json.loads(line))
    cells = line.split("\t")
    if SETTINGS["format"] == "tsv":
        return dict(zip(SETTINGS["columns"], cells))
    return dict(cell.split("=", 1) for cell in cells)


def main() -> None:
    lines = sys.stdin.buffer.read().decode(**TEXT).split("\n")
    for line in lines[: len(lines) - (lines[-1] == "")]:
        record, answer = read(line), SETTINGS["answers"][0]
        try:
            for rule, names in SETTINGS["rules"].items():
                globals()[rule](*(record[name] for name in names))
        except Refused:
            answer = SETTINGS["answers"][1]
        print(answer)


main()
