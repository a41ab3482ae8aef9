"""`audit.parquet`: one row for each audited task, flat columns beside the whole report.

The flat columns are derived from the report under the policy that the row names; `report` is the
record itself as JSON, from which findings are shown and replayed.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from envgen.audit import verdict
from envgen.digest import digest, short
from envgen.export import parquet, schema
from envgen.records import AuditReport, Finding

SCHEMA = "1"


def finding_id(report: AuditReport, finding: Finding) -> str:
    """Ten characters that name a finding of a task for good."""
    return short(digest([report.task, report.image, finding.digest]), 10)


def row(report: AuditReport, policy: str) -> parquet.Row:
    """A report as one row."""
    return {
        "task": report.slug,
        "draft": report.task,
        "image": report.image,
        "policy": policy,
        "label": verdict.label(report, policy),
        "secondary": list(verdict.secondary(report, policy)),
        "rejected": verdict.rejected(report, policy),
        "baseline": report.baseline,
        "mutants": report.mutants,
        "survivors": list(report.survivors),
        "kill_rate": report.kill_rate,
        "tiers": [tier.model_dump() for tier in report.tiers],
        "findings": [
            {
                "id": finding_id(report, f),
                **f.model_dump(include={"label", "code", "severity", "message"}),
                **f.model_dump(include={"soundness", "exploitability"}),
                "proven": f.proven,
                "places": [f"{p.file}:{p.line}" if p.line else p.file for p in f.places],
                "proof": list(f.proof),
            }
            for f in report.findings
        ],
        "trials": [
            {
                **t.model_dump(include={"probe", "name", "reward", "passed"}),
                "keys": list(t.keys),
            }
            for t in report.trials
        ],
        "report": report.model_dump_json(),
    }


def write(path: Path, rows: Iterable[parquet.Row]) -> int:
    """Write audited tasks; returns how many. Written beside, then renamed."""
    return parquet.write_rows(path, rows, columns())


def read(path: Path) -> Iterator[AuditReport]:
    """The reports of a file. Misconfigured when it is none of ours."""
    for found in rows(path, ["report"]):
        yield AuditReport.model_validate_json(found["report"])


def rows(
    path: Path, columns: list[str] | None = None, task: str | None = None
) -> Iterator[parquet.Row]:
    """The rows of a file, or those of a task. Misconfigured when it is none of ours."""
    return parquet.read_own(path, "audit", SCHEMA, "run `envgen audit`", columns, task)


def label_manifest(manifest: Path, audited: Path) -> None:
    """Put label and findings into the manifest's rows whose task and image were audited so."""
    columns = ["draft", "image", "policy", "label", "kill_rate", "findings"]
    known = {(r["draft"], r["image"]): r for r in rows(audited, columns)}

    def labelled() -> Iterator[parquet.Row]:
        for found in parquet.read(manifest):
            image = digest([found["base_content"], found["layers"]])
            audit = known.get((found["draft"], image))
            yield found | {"schema_version": schema.SCHEMA} | (labels_of(audit) if audit else {})

    parquet.write_manifest(manifest, labelled())


def labels_of(row: parquet.Row) -> parquet.Row:
    """What a row of ours says in the manifest."""
    return {
        "label": row["label"],
        "audit_policy": row["policy"],
        "kill_rate": row["kill_rate"],
        "findings": row["findings"],
    }


def columns() -> Any:
    """The schema of `audit.parquet`, its version in the metadata."""
    import pyarrow as pa

    text, texts = pa.string(), pa.list_(pa.string())
    tier = pa.struct([("name", text), ("ran", pa.bool_()), ("note", text)])
    trial = pa.struct(
        [("probe", text), ("name", text), ("reward", pa.float64()), ("passed", pa.bool_()),
         ("keys", texts)]
    )  # fmt: skip
    fields = [
        *((name, text) for name in ("task", "draft", "image", "policy", "label")),
        ("secondary", texts),
        ("rejected", pa.bool_()),
        ("baseline", pa.float64()),
        ("mutants", pa.int64()),
        ("survivors", texts),
        ("kill_rate", pa.float64()),
        ("tiers", pa.list_(tier)),
        ("findings", pa.list_(schema.finding_type())),
        ("trials", pa.list_(trial)),
        ("report", text),
    ]
    return pa.schema(fields, metadata={"envgen.audit_version": SCHEMA})
