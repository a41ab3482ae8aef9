"""Hand-overs of a department: nested archives to unpack, verify, lay out and list."""

import hashlib
import json
import random

from envgen.authors.procedural.archive_recovery import handover as handovers
from envgen.authors.procedural.archive_recovery import rules as rule_sets
from envgen.authors.procedural.archive_recovery.handover import Handover
from envgen.authors.procedural.archive_recovery.rules import SURVIVORS, Rules
from envgen.authors.procedural.archive_recovery.truth import Result, result
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import File, FileTree
from envgen.records import HOME, InitialState, TaskSpec

MATERIAL = Material(__file__)
PLACEHOLDERS = ("ref", "year", "month", "date", "series")
SEP_NAMES = {"\t": "tab", ";": "semicolon", "|": "vertical bar"}
SEP_QUOTED = {"\t": r"$'\t'", ";": "';'", "|": "'|'"}


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """A hand-over, its truth, and the commands that sort it."""
    rules = rule_sets.draw(rng, spec.task_complexity == "moderate", spec.language == "bash")
    handover = handovers.draw(rng, rules)
    right = result(rules, handover, rules.survivor)
    values = _values(rules)
    files = _files(rules, handover, values)
    return Composition(
        title=f"Sort the {rules.scenario.plural} of {rules.outer}",
        instruction=MATERIAL.render("instruction.md.j2", who=introduced(spec.persona), **values),
        files=files,
        tests=_tests(rng, rules, right, files),
        solution=FileTree({"solve.sh": MATERIAL.render("solve.sh.j2", **values)}),
        wrong=_wrong(rules, handover, right, values),
        valid={"python": _by_rules("valid/python/solve.sh", rules)},
        base="file_operations",
        initial=_initial(rules),
        secrets=tuple(line for line in right.manifest if "." in line and len(line) > 40)[:8],
    )


def _values(rules: Rules) -> dict[str, object]:
    """What the templates need besides the rules themselves."""
    known = {name: getattr(rules, name) for name in Rules.__dataclass_fields__}
    used = [name for name in PLACEHOLDERS if f"{{{name}}}" in rules.pattern]
    shown = rules.pattern.replace("{ext}", rules.scenario.ext)
    bash_row = rules.sep.join(f"${column}" for column in rules.columns)
    return known | {
        "sep": rules.sep,
        "noun": rules.scenario.noun,
        "labels": rules.scenario.labels,
        "helper_name": rules.helper_path.rpartition("/")[2],
        "needs_container": "{container}" in rules.pattern,
        "per_container": "{container}" in rules.pattern and "{n}" in rules.pattern,
        "values": _listed([f"`<{name}>`" for name in used]),
        "column_words": ", ".join(f"`{column}`" for column in rules.columns),
        "shown_pattern": shown.replace("{", "<").replace("}", ">"),
        "bash_pattern": '"' + shown.replace("{", "${") + '"',
        "bash_row": bash_row,
        "list_path": f'"$work/tree/{rules.listing}"'
        if rules.list_inside
        else f"{rules.inbox}/{rules.listing}",
        "catalogue_sep_name": SEP_NAMES[rules.catalogue_sep],
        "sep_quoted": SEP_QUOTED[rules.catalogue_sep],
        "file_column": rules.catalogue_columns.index("file") + 1,
        "catalogue_variables": " ".join(rules.catalogue_columns).replace("file", "_"),
    }


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), *words[-1:]]) if len(words) > 1 else "".join(words)


def _files(rules: Rules, handover: Handover, values: dict[str, object]) -> FileTree:
    home = HOME.lstrip("/")
    files: dict[str, File | bytes | str] = {
        f"{home}/{rules.inbox}/{rules.outer}{rules.outer_suffix}": handover.archive
    }
    if not rules.list_inside:
        files[f"{home}/{rules.inbox}/{rules.listing}"] = handover.listing
    if rules.catalogue:
        files[f"{home}/{rules.inbox}/{rules.catalogue}"] = handover.catalogue
    if rules.helper:
        script = MATERIAL.render("helper.sh.j2", **values)
        files[f"{home}/{rules.helper_path}"] = File(script.encode(), 0o755)
    return FileTree(files)


def _tests(rng: random.Random, rules: Rules, right: Result, files: FileTree) -> FileTree:
    salt = rng.randbytes(16)

    def token(data: bytes) -> str:
        return hashlib.blake2b(data, digest_size=9, key=salt).hexdigest()

    lists = {rules.manifest: right.manifest}
    if rules.moderate:
        lists |= {rules.sums: right.sums, rules.groups: right.groups}
    truth = {
        "out": rules.out,
        "salt": salt.hex(),
        "manifest": rules.manifest,
        "files": {path: token(data) for path, data in right.files.items()},
        "inbox": {
            f"/{path}": token(file.data)
            for path, file in files.items()
            if f"/{rules.inbox}/" in path
        },
        "lists": {name: [token(line.encode()) for line in lines] for name, lines in lists.items()},
    }
    return FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)})


def _initial(rules: Rules) -> InitialState:
    present = [f"{HOME}/{rules.inbox}/{rules.outer}{rules.outer_suffix}"]
    if not rules.list_inside:
        present.append(f"{HOME}/{rules.inbox}/{rules.listing}")
    if rules.catalogue:
        present.append(f"{HOME}/{rules.inbox}/{rules.catalogue}")
    if rules.helper:
        present.append(f"{HOME}/{rules.helper_path}")
    tools = ("tar", "unzip", "gzip", "bzip2", "xz", f"{rules.algo}sum", "sha256sum")
    return InitialState(present=tuple(present), absent=(f"{HOME}/{rules.out}",), tools=tools)


def _by_rules(script: str, rules: Rules, **flaw: object) -> FileTree:
    known: dict[str, object] = {
        name: getattr(rules, name) for name in Rules.__dataclass_fields__ if name != "scenario"
    }
    known |= {"sep": rules.sep, "ext": rules.scenario.ext, "labels": rules.scenario.labels}
    known |= {"verify": True, "unpack_inner": True, "drop_copies": True} | flaw
    return FileTree(
        {
            "solve.sh": MATERIAL.text(script),
            "recover.py": MATERIAL.text("recover.py"),
            "rules.json": json.dumps(known, indent=1),
        }
    )


def _wrong(
    rules: Rules, handover: Handover, right: Result, values: dict[str, object]
) -> dict[str, FileTree]:
    script = "wrong/by_rules/solve.sh"
    # Another survivor rule may keep the same files by chance: take one that does not.
    other = [s for s in SURVIVORS if result(rules, handover, s).manifest != right.manifest]
    return {
        "stub": FileTree({"solve.sh": MATERIAL.render("wrong/stub/solve.sh.j2", **values)}),
        "unverified": _by_rules(script, rules, verify=False),
        "with_copies": _by_rules(script, rules, drop_copies=False),
        "outer_only": _by_rules(script, rules, unpack_inner=False),
        "other_survivor": _by_rules(script, rules, survivor=other[0]),
    }


FAMILY = Family(
    name="archive_recovery",
    realises={
        "domain": frozenset({"file_operations"}),
        "skill_type": frozenset({"archives"}),
        "skills": frozenset(
            {
                "nested_archive_unpacking",
                "checksum_verification",
                "bulk_renaming",
                "directory_layout",
                "duplicate_detection",
                "manifest_writing",
            }
        ),
        "language": frozenset({"bash", "any"}),
        "task_complexity": frozenset({"short", "moderate"}),
        "command_complexity": frozenset({"bash"}),
        "verifier": frozenset({"exact_text"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)
