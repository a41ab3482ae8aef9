"""The policy of one task: what is drawn, and the verdict that follows from it.

Values are judged as bytes; here a byte is one character (Latin-1), so that slicing stays simple.
These functions label every sample. The programs in `task/` are written apart from them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
WIDE_BREAK = re.compile("\xc2\x85|\xe2\x80\xa8|\xe2\x80\xa9")
NUMBER_LABEL = re.compile(r"0x[0-9a-f]+|[0-9]+")


@dataclass(frozen=True)
class Policy:
    """Everything that differs between the policies of two tasks."""

    rounds: int
    fold: bool
    path_hidden: bool
    path_depth: int
    header_wide: bool
    header_bytes: int
    formula_marks: str
    formula_quotes: bool
    formula_decimal: str
    host_underscore: bool
    host_zones: tuple[str, ...]
    target_nets: tuple[str, ...]
    target_suffixes: tuple[str, ...]
    target_ports: tuple[int, ...]
    entry_reserved: tuple[str, ...]
    entry_depth: int
    entry_bytes: int
    redirect_hosts: tuple[str, ...]
    upload_types: Mapping[str, str]
    upload_blocked: tuple[str, ...]
    ids_max: int
    ids_digits: int
    ids_zero: bool
    ids_unique: bool
    ref_bytes: int


class Bad(Exception):
    """The value breaks the rule."""


def canonical(policy: Policy, raw: str) -> str:
    """The form that most rules look at; Bad if it stays encoded or holds control bytes."""
    text = raw
    for _ in range(policy.rounds):
        text = ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    if ESCAPE.search(text):
        raise Bad
    if policy.fold:
        text = re.sub("\xef\xbc([\x81-\xbf])", lambda found: chr(ord(found[1]) - 0x60), text)
        text = re.sub("\xef\xbd([\x80-\x9e])", lambda found: chr(ord(found[1]) - 0x20), text)
    if CONTROL.search(text):
        raise Bad
    return text


def is_good(policy: Policy, rule: str, values: tuple[str, ...]) -> bool:
    """The verdict of one rule on the value (or values) of its field (or fields)."""
    try:
        RULES[rule](policy, *(value.encode().decode("latin-1") for value in values))
    except Bad:
        return False
    return True


def _demand(condition: object) -> None:
    if not condition:
        raise Bad


def _path(policy: Policy, raw: str) -> None:
    depth = 0
    for part in canonical(policy, raw).replace("\\", "/").split("/"):
        if part in ("", "."):
            continue
        depth += -1 if part == ".." else 1
        _demand(0 <= depth <= policy.path_depth)
        _demand(part == ".." or not (policy.path_hidden and part.startswith(".")))


def _header(policy: Policy, raw: str) -> None:
    text = canonical(policy, raw)
    _demand(len(text) <= policy.header_bytes)
    _demand(not (policy.header_wide and WIDE_BREAK.search(text)))


def _formula(policy: Policy, raw: str) -> None:
    text = canonical(policy, raw).strip(" \"'" if policy.formula_quotes else " ")
    number = rf"[+-]?[0-9]+({re.escape(policy.formula_decimal)}[0-9]+)?"
    _demand(not text or text[0] not in policy.formula_marks or re.fullmatch(number, text))


def _host(policy: Policy, raw: str) -> None:
    name = raw.removesuffix(".")
    labels = name.split(".")
    first = "[A-Za-z0-9_]" if policy.host_underscore else "[A-Za-z0-9]"
    _demand(len(name) <= 253 and len(labels) >= 2)
    for label in labels:
        _demand(re.fullmatch(f"{first}([A-Za-z0-9-]*[A-Za-z0-9])?", label) and len(label) <= 63)
    _demand(not labels[-1].isdigit())
    zones = policy.host_zones
    _demand(not zones or any(name.lower().endswith("." + zone) for zone in zones))


def _target(policy: Policy, raw: str) -> None:
    text = canonical(policy, raw).replace("\\", "/")
    found = re.match(r"https?://([^/?#]*)", text, re.IGNORECASE)
    _demand(found)
    assert found
    host, colon, port = found[1].partition(":")
    if colon:
        _demand(re.fullmatch("[0-9]{1,5}", port) and int(port) in policy.target_ports)
    host = host.lower().removesuffix(".")
    labels = host.split(".")
    _demand(all(re.fullmatch("[a-z0-9_-]+", label) for label in labels))
    if NUMBER_LABEL.fullmatch(labels[-1]):
        address = _address(labels)
        _demand(not any(_inside(address, net) for net in policy.target_nets))
    _demand(not any(f".{host}".endswith("." + end) for end in policy.target_suffixes))


def _address(labels: list[str]) -> int:
    _demand(len(labels) <= 4)
    numbers = [_number(label) for label in labels]
    _demand(all(number <= 255 for number in numbers[:-1]))
    _demand(numbers[-1] < 256 ** (5 - len(numbers)))
    return sum(n << 8 * (3 - i) for i, n in enumerate(numbers[:-1])) + numbers[-1]


def _number(label: str) -> int:
    _demand(NUMBER_LABEL.fullmatch(label) and len(label) <= 12)
    if label.startswith("0x"):
        return int(label, 16)
    if len(label) > 1 and label.startswith("0"):
        _demand(re.fullmatch("[0-7]+", label))
        return int(label, 8)
    return int(label)


def _inside(address: int, net: str) -> bool:
    base, bits = net.split("/")
    start = sum(int(part) << 8 * (3 - i) for i, part in enumerate(base.split(".")))
    return address >> (32 - int(bits)) == start >> (32 - int(bits))


def _entry(policy: Policy, raw: str) -> None:
    text = canonical(policy, raw).replace("\\", "/")
    _demand(len(text) <= policy.entry_bytes and not re.match("[A-Za-z]:", text))
    parts = text.removesuffix("/").split("/")
    _demand(len(parts) <= policy.entry_depth)
    for part in parts:
        _demand(part and part[-1] not in ". ")
        _demand(part.split(".")[0].lower() not in policy.entry_reserved)


def _redirect(policy: Policy, raw: str) -> None:
    text = canonical(policy, raw).strip(" ")
    _demand("\\" not in text)
    if text.startswith("/") or not text:
        _demand(not text.startswith("//"))
        return
    found = re.match(r"https://([^/?#]*)", text, re.IGNORECASE)
    _demand(found and found[1].lower() in policy.redirect_hosts)


def _upload(policy: Policy, raw: str, declared: str) -> None:
    name = canonical(policy, raw).lower()
    parts = name.split(".")
    _demand(len(parts) >= 2 and all(parts) and "/" not in name and "\\" not in name)
    _demand(not set(parts[1:-1]) & set(policy.upload_blocked))
    wanted = policy.upload_types.get(parts[-1])
    _demand(wanted == declared.partition(";")[0].strip(" ").lower())


def _ids(policy: Policy, raw: str) -> None:
    items = raw.split(",")
    first = "[0-9]" if policy.ids_zero else "[1-9]"
    shape = f"{first}[0-9]{{0,{policy.ids_digits - 1}}}"
    _demand(len(items) <= policy.ids_max and all(re.fullmatch(shape, item) for item in items))
    _demand(not policy.ids_unique or len(set(items)) == len(items))


def _ref(policy: Policy, raw: str) -> None:
    _demand(re.fullmatch("[A-Za-z0-9._/-]+", raw) and len(raw) <= policy.ref_bytes)
    _demand(raw[0] != "-" and raw[-1] != "." and ".." not in raw)
    for part in raw.split("/"):
        _demand(part and not part.startswith(".") and not part.endswith(".lock"))


RULES: Mapping[str, Callable[..., None]] = {
    "archive_entry": _entry,
    "formula_cell": _formula,
    "header_break": _header,
    "host_name": _host,
    "id_list": _ids,
    "internal_target": _target,
    "open_redirect": _redirect,
    "path_escape": _path,
    "ref_name": _ref,
    "upload_type": _upload,
}
