"""Where the tasks of a run come from: versions, seeds, models, and what everything weighs in
digests."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from envgen import __version__
from envgen.config import RunConfig
from envgen.export import parquet, schema
from envgen.ledger.attempts import Spent
from envgen.plural import many
from envgen.report.facts import Provenance
from envgen.runs import RunFolder


def provenance(
    folder: RunFolder, settings: RunConfig, kept: Sequence[parquet.Row], asked: Sequence[Spent]
) -> Iterator[Provenance]:
    """Facts, most general first; those about files last."""
    yield Provenance("envgen that wrote this report", __version__)
    yield Provenance("schema of the manifest", schema.SCHEMA)
    yield from _settings(settings)
    if (engine := folder.path / "engine.txt").exists():
        yield Provenance("engine that passed its self-test", engine.read_text())
    for name, what in (
        ("catalogue", "digest of the axes"),
        ("author", "author"),
        ("base_content", "base, content"),
    ):
        found = Counter(
            f"{row['base']} {row[name]}" if name == "base_content" else row[name] for row in kept
        )
        for value, n in sorted((str(value), n) for value, n in found.items() if value):
            yield Provenance(what, value, n)
    for model, own in sorted(_models(asked).items()):
        calls, tokens = sum(s.attempts for s in own), sum(s.input + s.output for s in own)
        dollars = sum(s.cost for s in own)
        told = f"{model}: {many(calls, 'call')}, {many(tokens, 'token')}, ${dollars:.4f}"
        yield Provenance("model that was asked", told)
    for path in (
        *(folder.config, folder.specs, folder.imported, folder.manifest, folder.rejections),
        *(folder.audits, folder.repairs),
    ):
        if path.exists():
            yield Provenance(path.name, f"sha256:{_sha256(path)}")


def _settings(settings: RunConfig) -> Iterator[Provenance]:
    sample, author = settings.sample, settings.author
    yield Provenance("specs", f"{sample.n} of preset {sample.preset}, seed {sample.seed}")
    named = {
        "model of the author": author.model,
        "model of the critic": settings.audit.critic,
        "model of the repairer": settings.repair.model,
        "model that is trained": settings.train.model,
    }
    for what, model in named.items():
        if model:
            yield Provenance(what, model)


def _models(asked: Sequence[Spent]) -> dict[str, list[Spent]]:
    found: dict[str, list[Spent]] = {}
    for spent in asked:
        found.setdefault(spent.model, []).append(spent)
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
