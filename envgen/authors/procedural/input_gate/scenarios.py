"""Services that a filter stands in front of, and the draw of one task's policy."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from envgen.authors.procedural.input_gate.policy import Policy


@dataclass(frozen=True)
class Scenario:
    """One service: its rules with the fields that they look at, and its words."""

    name: str
    service: str
    record: str
    slots: tuple[tuple[str, tuple[str, ...]], ...]
    inert: tuple[str, str]
    words: tuple[str, ...]


def _slots(**rules: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((rule, tuple(fields.split())) for rule, fields in rules.items())


SCENARIOS: Sequence[Scenario] = (
    Scenario(
        "docportal", "the document portal of a housing association", "download request",
        _slots(path_escape="doc", header_break="agent", open_redirect="next", id_list="flats",
               formula_cell="note", upload_type="attachment media", ref_name="folder_tag"),
        ("tenant", "client"),
        ("lease", "minutes", "heating", "stairs", "repair", "ledger", "garden", "survey"),
    ),
    Scenario(
        "hookrelay", "a relay that forwards shop events to customers' webhooks", "subscription",
        _slots(internal_target="callback", host_name="sender", header_break="extra_header",
               formula_cell="memo", ref_name="template", path_escape="payload_file",
               id_list="topics"),
        ("shop", "plan"),
        ("orders", "refund", "basket", "stock", "courier", "parcel", "voucher", "loyalty"),
    ),
    Scenario(
        "buildpool", "the dispatcher of a shared build pool", "job request",
        _slots(ref_name="branch", host_name="runner", archive_entry="artifact",
               header_break="title", path_escape="script", internal_target="mirror",
               id_list="depends"),
        ("team", "queue"),
        ("kernel", "parser", "widget", "docs", "nightly", "driver", "schema", "bench"),
    ),
    Scenario(
        "claimsdesk", "the upload desk of a travel insurer", "claim submission",
        _slots(upload_type="file type", archive_entry="member", formula_cell="reason",
               id_list="policies", open_redirect="return_to", header_break="contact",
               path_escape="shelf"),
        ("case", "channel"),
        ("luggage", "flight", "doctor", "hotel", "receipt", "delay", "ticket", "ferry"),
    ),
    Scenario(
        "reportmill", "a service that renders spreadsheets for school offices", "report order",
        _slots(formula_cell="heading", path_escape="layout", open_redirect="done",
               id_list="classes", header_break="recipient", archive_entry="bundle_as",
               upload_type="logo logo_type"),
        ("school", "term"),
        ("grades", "absence", "choir", "timetable", "lunch", "exams", "library", "sports"),
    ),
    Scenario(
        "probenet", "a monitoring network of volunteers' measurement probes", "measurement order",
        _slots(host_name="target", internal_target="page", id_list="probes",
               header_break="label", formula_cell="remark", ref_name="tag",
               archive_entry="result_name"),
        ("account", "interval"),
        ("latency", "trace", "router", "beacon", "mirror", "relay", "sensor", "anchor"),
    ),
    Scenario(
        "packmirror", "the intake of a package mirror for laboratories", "mirror request",
        _slots(archive_entry="entry", ref_name="release", path_escape="pool_path",
               internal_target="origin", header_break="changelog", host_name="peer",
               upload_type="blob blob_type"),
        ("lab", "priority"),
        ("solver", "toolkit", "plotter", "fonts", "codec", "grid", "matrix", "viewer"),
    ),
    Scenario(
        "ticketbox", "the ticket intake of a city's help desk", "ticket",
        _slots(header_break="subject", upload_type="picture kind", formula_cell="district",
               internal_target="link", open_redirect="after", archive_entry="zip_member",
               id_list="related"),
        ("office", "language"),
        ("lamp", "bench", "pothole", "playground", "bridge", "fountain", "tram", "noise"),
    ),
    Scenario(
        "cabledesk", "the order desk of a regional fibre network", "work order",
        _slots(host_name="device", path_escape="config", ref_name="baseline",
               id_list="ports", header_break="summary", internal_target="console",
               formula_cell="cost_note"),
        ("crew", "shift"),
        ("splice", "cabinet", "uplink", "tower", "duct", "amplifier", "ring", "backbone"),
    ),
)  # fmt: skip

PATHS = frozenset({"path_escape", "archive_entry"})
LISTS = frozenset({"host_name", "id_list", "ref_name", "upload_type"})

ALL_TYPES = {
    "pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg", "csv": "text/csv",
    "txt": "text/plain", "zip": "application/zip", "odt": "application/vnd.oasis.opendocument.text",
    "webp": "image/webp", "json": "application/json",
}  # fmt: skip
BLOCKED = ("php", "exe", "js", "html", "sh", "jsp", "bat", "svg", "py", "cgi", "hta", "scr")
DEVICES = ("con", "nul", "aux", "prn", "com1", "com2", "lpt1", "lpt9")
NETS = (
    "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
    "100.64.0.0/10", "198.18.0.0/15", "0.0.0.0/8", "203.0.113.0/24", "192.0.2.0/25",
)  # fmt: skip
SUFFIXES = ("localhost", "internal", "intranet", "corp.example", "lan", "svc.example", "home.arpa")
HOSTS = (
    "www.example.com", "shop.example.com", "login.example.net", "help.example.org",
    "pay.example.net", "status.example.org",
)  # fmt: skip
ZONES = ("example.net", "nodes.example.org", "lab.example", "edge.example.com")


def draw_rules(rng: random.Random, scenario: Scenario, count: int) -> tuple[str, ...]:
    """`count` of the scenario's rules, sorted; at least one on paths and one allow-list."""
    names = [rule for rule, _ in scenario.slots]
    chosen = {rng.choice([name for name in names if name in PATHS] or names)}
    chosen.add(rng.choice([name for name in names if name in LISTS]))
    rest = [name for name in names if name not in chosen]
    return tuple(sorted([*chosen, *rng.sample(rest, count - len(chosen))]))


def draw_policy(rng: random.Random) -> Policy:
    """Every number and list of a policy; those of rules that a task leaves out do not matter."""
    types = rng.sample(sorted(ALL_TYPES), rng.randint(4, 6))
    return Policy(
        rounds=rng.choice((2, 3)),
        fold=rng.random() < 0.6,
        path_hidden=rng.random() < 0.5,
        path_depth=rng.randint(4, 7),
        header_wide=rng.random() < 0.5,
        header_bytes=rng.randint(72, 120),
        formula_marks="=+-@" + rng.choice(("", "|", ";", "!", "|!")),
        formula_quotes=rng.random() < 0.5,
        formula_decimal=rng.choice(".,"),
        host_underscore=rng.random() < 0.5,
        host_zones=tuple(sorted(rng.sample(ZONES, 2))) if rng.random() < 0.5 else (),
        target_nets=tuple(sorted(rng.sample(NETS, rng.randint(4, 7)))),
        target_suffixes=tuple(sorted(rng.sample(SUFFIXES, rng.randint(2, 4)))),
        target_ports=tuple(sorted(rng.sample((80, 443, 3000, 8000, 8080, 8443, 9000), 3))),
        entry_reserved=tuple(sorted(rng.sample(DEVICES, rng.randint(3, 6)))),
        entry_depth=rng.randint(3, 6),
        entry_bytes=rng.randint(60, 110),
        redirect_hosts=tuple(sorted(rng.sample(HOSTS, rng.randint(2, 3)))),
        upload_types={ending: ALL_TYPES[ending] for ending in sorted(types)},
        upload_blocked=tuple(sorted(rng.sample(BLOCKED, rng.randint(5, 8)))),
        ids_max=rng.randint(4, 12),
        ids_digits=rng.randint(4, 9),
        ids_zero=rng.random() < 0.5,
        ids_unique=rng.random() < 0.5,
        ref_bytes=rng.randint(30, 60),
    )
