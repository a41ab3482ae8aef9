"""The made-up run, served; and a real browser to look at it."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from envgen import config, report
from envgen.records import TaskDraft
from envgen.report import Report
from envgen.runs import RunFolder
from envgen.web import server, write
from tests.web import made


@pytest.fixture(scope="session")
def folder(golden: TaskDraft, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return made.run(RunFolder(tmp_path_factory.mktemp("web") / "runs" / "shown"), golden)


@pytest.fixture(scope="session")
def found(folder: RunFolder) -> Report:
    measured = report.report(folder, config.load(folder.config, []))
    write(folder, measured)
    return measured


@pytest.fixture(scope="session")
def url(folder: RunFolder, found: Report) -> Iterator[str]:
    """Of the served run."""
    yield from served(folder, found)


def served(folder: RunFolder, measured: Report) -> Iterator[str]:
    with server.opened(folder, measured, "127.0.0.1", 0) as serving:
        thread = threading.Thread(target=serving.server.serve_forever, daemon=True)
        thread.start()
        yield serving.url
        serving.server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def strange_url(golden: TaskDraft, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a run whose one task has a strange name."""
    folder = made.strange(RunFolder(tmp_path_factory.mktemp("strange") / "run"), golden)
    yield from served(folder, report.report(folder, config.RunConfig()))


@pytest.fixture(scope="session")
def places(found: Report) -> dict[str, str]:
    """Addresses of pages below the server's, by name."""
    titles = {task.title: f"task/{task.task}" for task in found.tasks}
    hostile, long = (titles[title] for title in made.TITLES)
    weak = next(f"task/{t.task}" for t in found.tasks if t.proven and t.repair == "accepted")
    lost = next(f"task/{t.task}" for t in found.tasks if t.step == "reference")
    return {
        "report": "",
        "hostile": hostile,
        "long": long,
        "weak": weak,
        "lost": lost,
        "episode": f"{hostile}/episode/0",
        "nowhere": "nowhere",
    }


@pytest.fixture(scope="session")
def page_file(found: Report, folder: RunFolder) -> Path:
    """The report as one file."""
    return folder.report
