"""Pages for a browser: the report of a run, and one for each of its tasks.

`page` makes pages that hold all they need and reach nothing; `sections` and `measures` turn the
numbers of `envgen.report` into tables; `tasklist` is where every number leads; `task` shows one
task; `server` serves them on this machine. Text of tasks is hostile: see `visible`.
"""

import json

from envgen import __version__
from envgen.plural import many
from envgen.report import Report, as_json
from envgen.runs import RunFolder
from envgen.web import measures, sections
from envgen.web.page import Page, page
from envgen.web.tasklist import task_list
from envgen.web.tiles import tiles
from envgen.writing import write_whole

__all__ = ["report_page", "write"]


def write(folder: RunFolder, report: Report) -> None:
    """Write `report.json` and `report.html` into the run's folder."""
    write_whole(folder.path / "report.json", json.dumps(as_json(report), indent=1) + "\n")
    write_whole(folder.report, report_page(report).html)


def report_page(report: Report, pages: str = "") -> Page:
    """A whole report in one page.

    Args:
        report: of a run.
        pages: what leads to a task's page, before its name; empty where there are none.
    """
    parts = (
        sections.funnel(report),
        sections.balance(report),
        sections.soundness(report),
        sections.repairs(report),
        measures.difficulty(report),
        measures.rounds(report),
        measures.training(report),
        measures.spending(report),
        measures.weight(report),
        sections.provenance(report),
    )
    return page(
        "report.html",
        run=report.run,
        lead=f"{many(report.kept, 'task')} kept of {report.total:,}",
        tiles=tiles(report),
        sections=[part for part in parts if part],
        tasks=task_list(report.tasks, pages),
        pages=pages,
        version=__version__,
    )
