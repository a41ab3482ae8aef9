"""Which address has which page. Names in addresses are looked up among those of the run."""

import json
import re
from collections.abc import Sequence

from envgen.errors import Misconfigured
from envgen.ledger import Ledger
from envgen.report import Report
from envgen.runs import RunFolder
from envgen.web import report_page
from envgen.web import task as tasks
from envgen.web.page import Page, page
from envgen.web.visible import cut

RECEIPT, TURN, TURNS = 40_000, 8_000, 200
"""Most characters of each side of a receipt and of a turn's parts, and turns that are shown."""
PLACE, KEY = re.compile(r"[0-9]{1,6}"), re.compile(r"sha256:[0-9a-f]{64}")
Answer = tuple[int, Page]


class Site:
    """The pages of a run, made when they are asked for."""

    def __init__(self, folder: RunFolder, report: Report) -> None:
        self.folder, self.run = folder, report.run
        self.tasks = {task.task: task for task in report.tasks}
        self.front = report_page(report, "/task/")

    def answer(self, path: Sequence[str]) -> Answer:
        """The page of a path, in decoded parts, with its status."""
        try:
            return self._found(path) or (404, self.trouble("There is no such page in this run."))
        except Misconfigured as error:
            return 500, self.trouble(str(error))

    def trouble(self, text: str) -> Page:
        """A page that says what is wrong."""
        return page("trouble.html", run=self.run, text=text)

    def _found(self, path: Sequence[str]) -> Answer | None:
        match path:
            case ("",):
                return 200, self.front
            case ("task", name):
                return self._task(name)
            case ("task", name, "episode", place) if PLACE.fullmatch(place):
                return self._episode(name, int(place))
            case ("receipt", key) if KEY.fullmatch(key):
                return self._receipt(key)
        return None

    def _task(self, name: str) -> Answer | None:
        task = self.tasks.get(name)
        if task is None:
            return None
        view = tasks.look(self.folder, task)
        return 200, page("task.html", run=self.run, view=view, facts=tasks.facts(view))

    def _episode(self, name: str, place: int) -> Answer | None:
        found = tasks.episode(self.folder, name, place) if name in self.tasks else None
        if found is None:
            return None
        episode, flags = found
        turns = episode.trajectory.turns if episode.trajectory else ()
        return 200, page(
            "episode.html",
            run=self.run,
            task=name,
            episode=episode,
            flags=flags,
            turns=turns[:TURNS],
            total=len(turns),
            short=lambda text: cut(text, TURN),
        )

    def _receipt(self, key: str) -> Answer | None:
        ledger = Ledger(self.folder.path)
        try:
            found = ledger.show(key)
        finally:
            ledger.close()
        if found is None:
            return None
        kind, request, response, seconds, made_at = found
        sides = [
            (title, cut(json.dumps(json.loads(text), indent=1, ensure_ascii=False), RECEIPT))
            for title, text in (("What was asked", request), ("What came back", response))
        ]
        facts = [("kind", kind), ("made", made_at), ("seconds", f"{seconds:.2f}"), ("key", key)]
        return 200, page("receipt.html", run=self.run, facts=facts, sides=sides)
