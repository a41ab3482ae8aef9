"""The report's page of a large run: how long it takes to make, its bytes, and how fast it is."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from envgen import axes, config, report, runs, web
from envgen.export import audits, parquet
from envgen.records import AuditReport, Finding, Rejection, TaskSpec, Tier, Trial
from envgen.runs import RunFolder

KEPT, LOST = 15_000, 3_000
SAMPLE = Path(__file__).parents[1] / "data" / "sample" / "manifest.parquet"
BROWSERS = ("chromium", "google-chrome")
SEARCH = """() => {
  const input = document.querySelector("#task-tools input");
  const started = performance.now();
  input.value = "security-";
  input.dispatchEvent(new Event("input"));
  return performance.now() - started;
}"""
SORT = """() => {
  const started = performance.now();
  document.querySelector("#task-table thead th button").click();
  return performance.now() - started;
}"""
FOLLOW = """async () => {
  const started = performance.now();
  document.querySelector("a[data-only='label=CLEAN']").click();
  await new Promise((done) => addEventListener("hashchange", done, { once: true }));
  return performance.now() - started;
}"""


def pages() -> Iterator[tuple[str, float, str]]:
    """Figures of a run with KEPT audited tasks and LOST rejected ones."""
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder(Path(place) / "large")
        _written(folder)
        settings = config.load(folder.config, [])
        started = time.perf_counter()
        found = report.report(folder, settings)
        yield f"report of {KEPT} tasks, numbers", time.perf_counter() - started, "s"
        started = time.perf_counter()
        web.write(folder, found)
        yield f"report of {KEPT} tasks, page", time.perf_counter() - started, "s"
        yield f"report.html of {KEPT} tasks", folder.report.stat().st_size / 1e6, "MB"
        if browser := next(filter(None, map(shutil.which, BROWSERS)), None):
            yield from _opened(browser, folder.report)


def _opened(browser: str, path: Path) -> Iterator[tuple[str, float, str]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page()
        page.goto(path.as_uri())
        timing = "performance.getEntriesByType('navigation')[0].loadEventEnd"
        yield "opened, until its scripts have run", page.evaluate(timing), "ms"
        for what, script in (("search", SEARCH), ("again", SEARCH), ("sort", SORT)):
            yield f"the list of tasks: {what}", page.evaluate(script), "ms"
        yield "the list of tasks: a number followed", page.evaluate(FOLLOW), "ms"
        heap = "performance.memory.usedJSHeapSize"
        yield "memory of its scripts", page.evaluate(heap) / 1e6, "MB"
        chromium.close()


def _written(folder: RunFolder) -> None:
    folder.path.mkdir(parents=True)
    settings = config.load(None, [f"sample.n={KEPT + LOST}"])
    config.save(settings, folder.config)
    runs.draw(folder, settings, None)
    specs = axes.read_specs(folder.specs)
    known = list(parquet.read(SAMPLE))
    kept = (_kept(spec, known[n % len(known)]) for n, spec in enumerate(specs[:KEPT]))
    parquet.write_manifest(folder.manifest, kept)
    parquet.write_rejections(folder.rejections, map(_lost, specs[KEPT:]))
    rows = (audits.row(_audit(spec, n), "proven") for n, spec in enumerate(specs[:KEPT]))
    audits.write(folder.audits, rows)


def _kept(spec: TaskSpec, row: parquet.Row) -> parquet.Row:
    """A row of the sample under another spec, its files left out."""
    own = {name: getattr(spec, name) for name in (*axes.AXES, "seed", "index", "catalogue")}
    return row | own | {"skills": list(spec.skills), "task": spec.slug, "archive": b""}


def _lost(spec: TaskSpec) -> parquet.Row:
    detail = "reward 0.5; summary 0 not equal (normalised: newlines, trailing space)" * 4
    found = Rejection(
        spec=spec, slug=spec.slug, step="reference", code="reference:fails", detail=detail
    )
    return parquet.rejection_row(found)


def _audit(spec: TaskSpec, number: int) -> AuditReport:
    weak = number % 9 == 0
    finding = Finding(
        label="VERIFIER-TOO-WEAK", code="filling:filled", severity=3, message="pays for nothing",
        soundness="accepts-wrong", exploitability="rollout", proof=("sha256:ab",),
    )  # fmt: skip
    trials = tuple(
        Trial(probe=probe, name=f"{n}", does="", keys=("sha256:ab",), reward=0.0, passed=False)
        for n in range(5)
        for probe in ("filling", "emptying", "predicting", "mutating")
    )
    return AuditReport(
        task=f"sha256:{number}", image="sha256:ab", slug=spec.slug, baseline=0.0,
        tiers=(Tier(name="probes", ran=True),), findings=(finding,) if weak else (),
        trials=trials, mutants=5, survivors=("0",) if weak else (),
    )  # fmt: skip
