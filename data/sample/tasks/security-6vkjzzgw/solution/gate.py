"""Reads one record per line and answers each with the policy's verdict."""

import json
import re
import sys
from typing import Any, Callable, Dict, List, Optional

SETTINGS: Dict[str, Any] = {'answers': ('pass', 'stop'),
 'columns': ['lab', 'priority', 'release', 'pool_path', 'peer'],
 'entry_bytes': 85,
 'entry_depth': 6,
 'entry_reserved': ['aux', 'con', 'lpt1', 'lpt9', 'nul'],
 'fold': True,
 'format': 'tsv',
 'formula_decimal': ',',
 'formula_marks': '=+-@!',
 'formula_quotes': False,
 'header_bytes': 111,
 'header_wide': False,
 'host_underscore': False,
 'host_zones': ['edge.example.com', 'lab.example'],
 'ids_digits': 6,
 'ids_max': 6,
 'ids_unique': False,
 'ids_zero': True,
 'path_depth': 4,
 'path_hidden': True,
 'redirect_hosts': ['help.example.org', 'pay.example.net'],
 'ref_bytes': 33,
 'rounds': 2,
 'rules': {'host_name': ['peer'], 'path_escape': ['pool_path'], 'ref_name': ['release']},
 'target_nets': ['100.64.0.0/10',
                 '127.0.0.0/8',
                 '169.254.0.0/16',
                 '192.0.2.0/25',
                 '192.168.0.0/16',
                 '198.18.0.0/15',
                 '203.0.113.0/24'],
 'target_ports': [443, 3000, 8000],
 'target_suffixes': ['corp.example', 'home.arpa', 'internal', 'svc.example'],
 'upload_blocked': ['bat', 'js', 'jsp', 'php', 'scr', 'sh'],
 'upload_types': {'csv': 'text/csv',
                  'json': 'application/json',
                  'odt': 'application/vnd.oasis.opendocument.text',
                  'zip': 'application/zip'}}  # filled in from the policy document

ESCAPED = re.compile(rb"%[0-9A-Fa-f]{2}")


def decode_once(data: bytes) -> bytes:
    return ESCAPED.sub(lambda found: bytes([int(found[0][1:], 16)]), data)


def narrow(data: bytes) -> bytes:
    """Fullwidth forms of ASCII as ASCII."""
    data = re.sub(rb"\xef\xbc([\x81-\xbf])", lambda found: bytes([found[1][0] - 0x60]), data)
    return re.sub(rb"\xef\xbd([\x80-\x9e])", lambda found: bytes([found[1][0] - 0x20]), data)


def canonical(data: bytes) -> Optional[bytes]:
    """None when the value is bad whatever its rule says."""
    for _ in range(SETTINGS["rounds"]):
        data = decode_once(data)
    if ESCAPED.search(data):
        return None
    if SETTINGS["fold"]:
        data = narrow(data)
    return None if any(byte < 0x20 or byte == 0x7F for byte in data) else data


def path_escape(text: bytes) -> bool:
    depth = 0
    for part in text.replace(b"\\", b"/").split(b"/"):
        if part == b"..":
            depth -= 1
        elif part not in (b"", b"."):
            depth += 1
            if SETTINGS["path_hidden"] and part.startswith(b"."):
                return False
        if depth < 0 or depth > SETTINGS["path_depth"]:
            return False
    return True


def header_break(text: bytes) -> bool:
    if len(text) > SETTINGS["header_bytes"]:
        return False
    breaks = (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")
    return not (SETTINGS["header_wide"] and any(one in text for one in breaks))


def formula_cell(text: bytes) -> bool:
    cell = text.strip(b" '\"" if SETTINGS["formula_quotes"] else b" ")
    if cell[:1] not in [mark.encode() for mark in SETTINGS["formula_marks"]]:
        return True
    digits = re.escape(SETTINGS["formula_decimal"].encode())
    return re.fullmatch(rb"[+-]?[0-9]+(" + digits + rb"[0-9]+)?", cell) is not None


def host_name(raw: bytes) -> bool:
    name = raw[:-1] if raw.endswith(b".") else raw
    labels = name.split(b".")
    head = rb"[A-Za-z0-9_]" if SETTINGS["host_underscore"] else rb"[A-Za-z0-9]"
    shape = re.compile(head + rb"(?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
    if len(name) > 253 or len(labels) < 2 or labels[-1].isdigit():
        return False
    if not all(shape.fullmatch(label) for label in labels):
        return False
    zones = SETTINGS["host_zones"]
    return not zones or name.lower().endswith(tuple(b"." + zone.encode() for zone in zones))


def number(label: bytes) -> int:
    """The value of one part of an IPv4 address, or -1."""
    if len(label) > 12:
        return -1
    if re.fullmatch(rb"0x[0-9a-f]+", label):
        return int(label[2:], 16)
    if re.fullmatch(rb"0[0-7]+", label):
        return int(label, 8)
    return int(label) if re.fullmatch(rb"0|[1-9][0-9]*", label) else -1


def address(labels: List[bytes]) -> int:
    numbers = [number(label) for label in labels]
    if len(numbers) > 4 or min(numbers) < 0 or any(one > 255 for one in numbers[:-1]):
        return -1
    if numbers[-1] >= 256 ** (5 - len(numbers)):
        return -1
    total = numbers[-1]
    for place, one in enumerate(numbers[:-1]):
        total += one * 256 ** (3 - place)
    return total


def refused(value: int) -> bool:
    for net in SETTINGS["target_nets"]:
        base, bits = net.split("/")
        first = int.from_bytes(bytes(int(part) for part in base.split(".")), "big")
        if first <= value < first + 2 ** (32 - int(bits)):
            return True
    return False


def internal_target(text: bytes) -> bool:
    found = re.match(rb"https?://([^/?#]*)", text.replace(b"\\", b"/"), re.IGNORECASE)
    if not found:
        return False
    host, colon, port = found[1].partition(b":")
    if colon and not re.fullmatch(rb"[0-9]{1,5}", port):
        return False
    if colon and int(port) not in SETTINGS["target_ports"]:
        return False
    host = host.lower()
    labels = (host[:-1] if host.endswith(b".") else host).split(b".")
    if not all(re.fullmatch(rb"[a-z0-9_-]+", label) for label in labels):
        return False
    if re.fullmatch(rb"0x[0-9a-f]+|[0-9]+", labels[-1]):
        value = address(labels)
        return value >= 0 and not refused(value)
    name = b".".join(labels)
    ends = [end.encode() for end in SETTINGS["target_suffixes"]]
    return not any(name == end or name.endswith(b"." + end) for end in ends)


def archive_entry(text: bytes) -> bool:
    text = text.replace(b"\\", b"/")
    if len(text) > SETTINGS["entry_bytes"] or re.match(rb"[A-Za-z]:", text):
        return False
    parts = (text[:-1] if text.endswith(b"/") else text).split(b"/")
    reserved = [name.encode() for name in SETTINGS["entry_reserved"]]
    if len(parts) > SETTINGS["entry_depth"]:
        return False
    return all(
        part and part[-1:] not in (b".", b" ") and part.split(b".")[0].lower() not in reserved
        for part in parts
    )


def open_redirect(text: bytes) -> bool:
    text = text.strip(b" ")
    if b"\\" in text:
        return False
    if text == b"" or text.startswith(b"/"):
        return not text.startswith(b"//")
    found = re.match(rb"https://([^/?#]*)", text, re.IGNORECASE)
    hosts = [host.encode() for host in SETTINGS["redirect_hosts"]]
    return found is not None and found[1].lower() in hosts


def upload_type(text: bytes, declared: bytes) -> bool:
    parts = text.lower().split(b".")
    if len(parts) < 2 or b"" in parts or b"/" in text or b"\\" in text:
        return False
    blocked = [ending.encode() for ending in SETTINGS["upload_blocked"]]
    if any(part in blocked for part in parts[1:-1]):
        return False
    wanted = SETTINGS["upload_types"].get(parts[-1].decode("latin-1"))
    return wanted is not None and declared.split(b";")[0].strip(b" ").lower() == wanted.encode()


def id_list(raw: bytes) -> bool:
    items = raw.split(b",")
    first = b"[0-9]" if SETTINGS["ids_zero"] else b"[1-9]"
    shape = re.compile(first + b"[0-9]{0,%d}" % (SETTINGS["ids_digits"] - 1))
    if len(items) > SETTINGS["ids_max"] or not all(shape.fullmatch(item) for item in items):
        return False
    return not SETTINGS["ids_unique"] or len(set(items)) == len(items)


def ref_name(raw: bytes) -> bool:
    if not re.fullmatch(rb"[A-Za-z0-9._/-]+", raw) or len(raw) > SETTINGS["ref_bytes"]:
        return False
    if raw.startswith(b"-") or raw.endswith(b".") or b".." in raw:
        return False
    return all(
        part and not part.startswith(b".") and not part.endswith(b".lock")
        for part in raw.split(b"/")
    )


RAW = {"host_name": host_name, "id_list": id_list, "ref_name": ref_name}
SEEN_THROUGH: Dict[str, Callable[..., bool]] = {
    "archive_entry": archive_entry,
    "formula_cell": formula_cell,
    "header_break": header_break,
    "internal_target": internal_target,
    "open_redirect": open_redirect,
    "path_escape": path_escape,
    "upload_type": upload_type,
}


def fields_of(line: bytes) -> Dict[str, bytes]:
    if SETTINGS["format"] == "json":
        return {name: value.encode() for name, value in json.loads(line).items()}
    cells = line.split(b"\t")
    if SETTINGS["format"] == "pairs":
        return {cell.partition(b"=")[0].decode(): cell.partition(b"=")[2] for cell in cells}
    return dict(zip(SETTINGS["columns"], cells))  # noqa: B905


def good(record: Dict[str, bytes]) -> bool:
    for rule, names in SETTINGS["rules"].items():
        first, *others = [record[name] for name in names]
        if rule in RAW:
            if not RAW[rule](first):
                return False
            continue
        text = canonical(first)
        if text is None or not SEEN_THROUGH[rule](text, *others):
            return False
    return True


def main() -> None:
    accept, refuse = SETTINGS["answers"]
    for line in sys.stdin.buffer:
        verdict = good(fields_of(line.rstrip(b"\n")))
        sys.stdout.write(f"{accept if verdict else refuse}\n")


if __name__ == "__main__":
    main()
