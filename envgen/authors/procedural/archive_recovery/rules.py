"""The rules of one task: what is drawn once, before any document exists."""

import random
from dataclasses import dataclass, field

from envgen.authors.procedural.archive_recovery.archives import SUFFIXES
from envgen.authors.procedural.archive_recovery.scenarios import SCENARIOS, Scenario

HEADER_PATTERNS = (
    "{series}/{year}/{ref}.{ext}",
    "{year}/{month}/{date}_{ref}.{ext}",
    "{year}/{series}/{ref}.{ext}",
    "{series}/{date}-{ref}.{ext}",
    "{container}/{series}/{ref}.{ext}",
    "{series}/{year}-{month}/{ref}.{ext}",
    "{year}/{container}/{date}_{ref}.{ext}",
    "{ref}/{series}_{date}.{ext}",
    "{date}/{container}-{ref}.{ext}",
)
PATH_PATTERNS = (
    "{container}/{name}",
    "{folders}_{name}",
    "{container}/{folders}/{name}",
    "{container}/{n}_{name}",
    "{n}-{name}",
)
SURVIVORS = ("listed_first", "listed_last", "path_first", "path_last", "shallowest", "deepest")
STATUS_WORDS = (
    ("kept", "duplicate", "corrupt", "missing", "unlisted"),
    ("ok", "copy", "damaged", "absent", "extra"),
    ("ACCEPTED", "REPEATED", "BROKEN", "LOST", "UNKNOWN"),
    ("placed", "twin", "mismatch", "not-found", "not-listed"),
)
SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "vertical bar": "|"}
DATE_STYLES = ("iso", "dots", "slashes", "compact")


@dataclass(frozen=True)
class Rules:
    """Everything that the instruction states."""

    scenario: Scenario
    moderate: bool
    helper: bool
    outer: str
    outer_suffix: str
    inner_suffixes: tuple[str, ...]
    gzipped: bool
    inbox: str
    out: str
    listing: str
    list_format: str
    list_inside: bool
    algo: str
    naming: str
    pattern: str
    ref_lower: bool
    slug_sep: str
    date_style: str
    date_out: str
    survivor: str
    words: tuple[str, ...]
    corrupt_copied: bool
    extra_copied: bool
    manifest: str
    sep_name: str
    header: bool
    columns: tuple[str, ...]
    manifest_algo: str
    order: str
    totals: bool
    sums: str
    groups: str
    catalogue: str
    catalogue_sep: str
    catalogue_columns: tuple[str, ...]
    helper_path: str = field(default="")

    @property
    def sep(self) -> str:
        return SEPARATORS[self.sep_name]


def draw(rng: random.Random, moderate: bool, helper: bool) -> Rules:
    """Rules for a short or a moderate task; with `helper` a ready script knows the naming."""
    scenario = rng.choice(SCENARIOS)
    naming = rng.choice(("header", "header", "path") + (("catalogue",) * 3 if moderate else ()))
    pattern = _pattern(rng, naming, helper)
    number = rng.randrange(100, 1000)
    algo = rng.choice(("md5", "sha1", "sha256", "sha384"))
    list_format = rng.choice(("gnu", "bsd", "csv"))
    optional = [c for c in ("bytes", "digest") if rng.random() < 0.6]
    columns = ["status", "source", "target", *optional]
    rng.shuffle(columns)
    catalogue_columns = ["file", "ref", "date", "series"]
    rng.shuffle(catalogue_columns)
    inner = rng.sample(SUFFIXES, 3 if moderate else 2)
    return Rules(
        scenario=scenario,
        moderate=moderate,
        helper=helper,
        outer=f"{scenario.key}-{rng.choice(('handover', 'backup', 'bundle', 'dump'))}-{number}",
        outer_suffix=rng.choice(SUFFIXES),
        inner_suffixes=tuple(inner),
        gzipped=moderate and rng.random() < 0.5,
        inbox=rng.choice(("inbox", "incoming", "handover", "transfer")),
        out=rng.choice(("sorted", "archive", "recovered", "collection")),
        listing=_list_name(rng, list_format, algo),
        list_format=list_format,
        list_inside=rng.random() < 0.4,
        algo=algo,
        naming=naming,
        pattern=pattern,
        ref_lower=rng.random() < 0.5,
        slug_sep=rng.choice("-_"),
        date_style=rng.choice(DATE_STYLES),
        date_out=rng.choice(("iso", "compact")),
        survivor=rng.choice(SURVIVORS),
        words=rng.choice(STATUS_WORDS),
        corrupt_copied=rng.random() < 0.5,
        extra_copied=rng.random() < 0.5,
        manifest=rng.choice(("MANIFEST.txt", "manifest.lst", "INDEX.txt", "register.txt")),
        sep_name=rng.choice(list(SEPARATORS)),
        header=rng.random() < 0.5,
        columns=tuple(columns),
        manifest_algo=rng.choice([a for a in ("md5", "sha1", "sha256") if a != algo]),
        order=rng.choice(("source", "status", "listing")),
        totals=rng.random() < 0.5,
        sums=rng.choice(("SHA256SUMS", "CHECKSUMS.sha256", "verify.sha256")) if moderate else "",
        groups=rng.choice(("FOLDERS.txt", "per-folder.txt", "totals.txt")) if moderate else "",
        catalogue=rng.choice(("catalogue.txt", "index.txt", "names.txt"))
        if naming == "catalogue"
        else "",
        catalogue_sep=rng.choice([";", "\t", "|"]),
        catalogue_columns=tuple(catalogue_columns),
        helper_path=rng.choice(("tools/name-for.sh", "tools/target.sh", "bin/place-of.sh"))
        if helper
        else "",
    )


def _pattern(rng: random.Random, naming: str, helper: bool) -> str:
    if naming != "path":
        return rng.choice(HEADER_PATTERNS)
    # A helper sees one document at a time and so cannot number them.
    return rng.choice([p for p in PATH_PATTERNS if not (helper and "{n}" in p)])


def _list_name(rng: random.Random, list_format: str, algo: str) -> str:
    if list_format == "csv":
        return rng.choice(("contents.csv", "checklist.csv"))
    return rng.choice((f"checksums.{algo}", "CHECKSUMS", f"{algo}.txt"))
