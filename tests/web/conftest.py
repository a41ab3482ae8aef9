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
    with server.opened(folder, found, "127.0.0.1", 0) as serving:
        thread = threading.Thread(target=serving.server.serve_forever, daemon=True)
        thread.start()
        yield serving.url
        serving.server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def page_file(found: Report, folder: RunFolder) -> Path:
    """The report as one file."""
    return folder.report
