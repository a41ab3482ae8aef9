"""Sort one hand-over by the rules in a JSON file; an alternative to the shell commands.

`verify`, `unpack_inner` and `drop_copies` are there to leave a step out.
"""

import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

Rules = dict[str, Any]
ARCHIVE = re.compile(r"\.(zip|tgz|tar|tar\.(gz|bz2|xz))$")


def unpacked(name: str, data: bytes, rules: Rules, depth: int = 0) -> dict[str, bytes]:
    """Path -> content of everything in an archive, archives in it opened as well."""
    found: dict[str, bytes] = {}
    for path, content in members(name, data).items():
        if ARCHIVE.search(path) and rules["unpack_inner"]:
            folder = ARCHIVE.sub("", path)
            inner = unpacked(path, content, rules, depth + 1)
            found.update({f"{folder}/{p}": c for p, c in inner.items()})
        elif path.endswith(".gz") and rules["unpack_inner"]:
            found[path[:-3]] = gzip.decompress(content)
        else:
            found[path] = content
    return found


def members(name: str, data: bytes) -> dict[str, bytes]:
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {i.filename: archive.read(i) for i in archive.infolist() if not i.is_dir()}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = [(m.name, archive.extractfile(m)) for m in archive if m.isfile()]
        return {path: stream.read() for path, stream in files if stream}


def listed(text: str, kind: str) -> dict[str, str]:
    """Source path -> digest, in the order of the list."""
    lines = text.splitlines()
    if kind == "csv":
        rows = [line.split(",") for line in lines[1:]]
        return {row[0]: row[2] for row in rows}
    pattern = r"(?P<d>\S+)  (?P<p>.+)" if kind == "gnu" else r"\S+ \((?P<p>.+)\) = (?P<d>\S+)"
    found = [re.fullmatch(pattern, line) for line in lines]
    return {match["p"]: match["d"] for match in found if match}


def statuses(rules: Rules, want: dict[str, str], have: dict[str, bytes]) -> dict[str, int]:
    status = {p: 3 for p in want}
    groups: dict[bytes, list[str]] = {}
    for path, data in have.items():
        if path not in want:
            status[path] = 4
        elif rules["verify"] and hashlib.new(rules["algo"], data).hexdigest() != want[path]:
            status[path] = 2
        else:
            status[path] = 0
            groups.setdefault(data, []).append(path)
    place = {path: n for n, path in enumerate(want)}
    keys = {
        "listed_first": lambda p: place[p],
        "listed_last": lambda p: -place[p],
        "path_first": lambda p: p.encode(),
        "path_last": lambda p: [-b for b in p.encode()] + [1],
        "shallowest": lambda p: (p.count("/"), p.encode()),
        "deepest": lambda p: (-p.count("/"), p.encode()),
    }
    for paths in groups.values():
        if rules["drop_copies"]:
            for path in sorted(paths, key=keys[rules["survivor"]])[1:]:
                status[path] = 1
    return status


def fields(rules: Rules, source: str, data: bytes) -> dict[str, str]:
    folders, name = source.split("/")[:-1], source.split("/")[-1]
    known = {"container": (folders or [""])[0], "folders": "_".join(folders)}
    known["name"] = re.sub("[ _]+", "-", name.lower())
    if rules["naming"] == "path":
        return known
    if rules["naming"] == "header":
        text = data.decode()
        ref, date, series = (
            re.findall(rf"(?m)^{label}: (.*)$", text)[0] for label in rules["labels"]
        )
    else:
        rows = Path(rules["inbox"], rules["catalogue"]).read_text().splitlines()
        names, sep = rules["catalogue_columns"], rules["catalogue_sep"]
        cells = [dict(zip(names, row.split(sep), strict=True)) for row in rows]
        known |= next(cell for cell in cells if cell["file"] == name)
        ref, date, series = known["ref"], known["date"], known["series"]
    digits = re.findall(r"\d+", date)
    if rules["date_style"] == "compact":
        digits = [date[:4], date[4:6], date[6:]]
    elif rules["date_style"] != "iso":
        digits.reverse()
    known["ref"] = ref.lower() if rules["ref_lower"] else ref
    known["year"], known["month"], _ = digits
    known["date"] = ("-" if rules["date_out"] == "iso" else "").join(digits)
    known["series"] = series.lower().replace(" ", rules["slug_sep"])
    return known


def target(rules: Rules, source: str, data: bytes, number: int) -> str:
    if rules["helper"]:
        scratch = Path("/tmp/document")
        scratch.write_bytes(data)
        first = str(scratch) if rules["naming"] == "header" else source
        argv = ["bash", rules["helper_path"], first, source.split("/")[0]]
        place = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
        scratch.unlink()
        return place
    known = fields(rules, source, data) | {"ext": rules["ext"], "n": f"{number:03d}"}
    return str(rules["pattern"]).format(**known)


def targets(rules: Rules, status: dict[str, int], have: dict[str, bytes]) -> dict[str, str]:
    places: dict[str, str] = {}
    counts: dict[str, int] = {}
    for path in sorted(have, key=str.encode):
        if status[path] == 0:
            key = path.split("/")[0] if "{container}" in rules["pattern"] else ""
            counts[key] = counts.get(key, 0) + 1
            places[path] = target(rules, path, have[path], counts[key])
        elif status[path] == 2 and rules["corrupt_copied"]:
            places[path] = f"quarantine/{path}"
        elif status[path] == 4 and rules["extra_copied"]:
            places[path] = f"unlisted/{path}"
    return places


def manifest(
    rules: Rules,
    want: dict[str, str],
    have: dict[str, bytes],
    status: dict[str, int],
    places: dict[str, str],
) -> list[str]:
    place = {path: n for n, path in enumerate(want)}
    order = {
        "source": lambda p: p.encode(),
        "status": lambda p: (status[p], p.encode()),
        "listing": lambda p: (place.get(p, 1 << 30), p.encode()),
    }[rules["order"]]
    lines = [rules["sep"].join(rules["columns"])] if rules["header"] else []
    for path in sorted(status, key=order):
        data = have.get(path)
        cells = {"status": rules["words"][status[path]], "source": path, "target": "-"}
        cells["target"] = places.get(path, "-")
        cells["bytes"] = "-" if data is None else str(len(data))
        algo = rules["manifest_algo"]
        cells["digest"] = "-" if data is None else hashlib.new(algo, data).hexdigest()
        lines.append(rules["sep"].join(cells[column] for column in rules["columns"]))
    if rules["totals"]:
        counts = [sum(s == n for s in status.values()) for n in range(5)]
        pairs = zip(rules["words"], counts, strict=True)
        lines.append("# " + " ".join(f"{word}={count}" for word, count in pairs))
    return lines


def further_lists(rules: Rules, kept: dict[str, bytes]) -> dict[str, str]:
    order = sorted(kept, key=str.encode)
    sums = [f"{hashlib.sha256(kept[path]).hexdigest()}  {path}\n" for path in order]
    tops: dict[str, list[int]] = {}
    for path in order:
        tops.setdefault(path.split("/")[0] if "/" in path else ".", []).append(len(kept[path]))
    groups = [f"{top} {len(sizes)} {sum(sizes)}\n" for top, sizes in sorted(tops.items())]
    return {rules["sums"]: "".join(sums), rules["groups"]: "".join(groups)}


def main() -> None:
    rules = json.loads(Path(sys.argv[1]).read_text())
    outer = Path(rules["inbox"], rules["outer"] + rules["outer_suffix"])
    have = unpacked(outer.name, outer.read_bytes(), rules)
    inside = have.pop(rules["listing"], b"") if rules["list_inside"] else None
    text = Path(rules["inbox"], rules["listing"]).read_text() if inside is None else inside.decode()
    want = listed(text, rules["list_format"])
    status = statuses(rules, want, have)
    places = targets(rules, status, have)
    out = Path(rules["out"])
    out.mkdir(exist_ok=True)
    for path, place in places.items():
        (out / place).parent.mkdir(parents=True, exist_ok=True)
        (out / place).write_bytes(have[path])
    lists = {rules["manifest"]: "\n".join(manifest(rules, want, have, status, places)) + "\n"}
    if rules["sums"]:
        lists |= further_lists(rules, {places[p]: have[p] for p in places if status[p] == 0})
    for name, content in lists.items():
        (out / name).write_text(content)


main()
