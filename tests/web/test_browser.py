"""The pages in a real browser: accessible, usable by keyboard, and unmoved by hostile text."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from envgen.report import Report
from tests.web.made import TITLES, WORST

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPEN = "document.querySelectorAll('details').forEach((one, n) => { one.open = n < 4 })"
OURS = """[...document.querySelectorAll("script, style, img, iframe, form, base, object, embed")]
  .map((one) => one.tagName + (one.type || "")).sort()"""
PLAIN = """[...document.querySelectorAll("*")].every((one) => [...one.attributes].every(
  ({ name }) => name !== "style" && !name.startsWith("on")))"""
Places = dict[str, str]


class Seen(NamedTuple):
    """A page, and what happened while it was open."""

    page: Page
    requests: list[str]
    trouble: list[str]


Look = Callable[..., Seen]


@pytest.fixture(scope="module")
def browser(found: Report) -> Iterator[Browser]:
    """Fails where there is none: `make test` installs one (scripts/browser.sh).

    While it is open, nothing else can run an event loop: the run that it looks at is there before.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert found, f"none of {', '.join(BROWSERS)} is installed: run scripts/browser.sh"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Look]:
    """`look(address, scheme=, width=, scripts=)`: a page of its own, watched from the beginning."""
    contexts = []

    def opened(
        address: str, scheme: str = "light", width: int = 1280, scripts: bool = True
    ) -> Seen:
        context = browser.new_context(
            color_scheme=scheme,  # type: ignore[arg-type]
            viewport={"width": width, "height": 900},
            java_script_enabled=scripts,
        )
        contexts.append(context)
        page = context.new_page()
        seen = Seen(page, [], [])
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("dialog", lambda dialog: (seen.trouble.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: seen.trouble.append(str(error)))
        page.on("console", lambda message: seen.trouble.append(message.text))
        page.on("popup", lambda popup: seen.trouble.append(popup.url))
        page.goto(address)
        return seen

    yield opened
    for context in contexts:
        context.close()


# -- hostile text ------------------------------------------------------------------------------


def unmoved(seen: Seen, address: str, data: bool = False) -> None:
    """Nothing happened, nothing else was asked for, and nothing on the page could do anything."""
    seen.page.evaluate(OPEN)
    seen.page.wait_for_timeout(50)
    assert seen.trouble == []
    assert seen.requests == [address]
    ours = ["SCRIPT", *(["SCRIPTapplication/json"] if data else []), "STYLE"]
    assert seen.page.evaluate(OURS) == ours
    assert seen.page.evaluate(PLAIN)
    assert set(seen.page.evaluate("[...document.links].map((one) => one.protocol)")) <= {
        *("http:", "file:")
    }


@pytest.mark.parametrize("name", ["report", "hostile", "long", "weak", "lost", "episode"])
def test_hostile_text_changes_nothing(name: str, url: str, look: Look, places: Places) -> None:
    address = url + places[name]
    unmoved(look(address), address, data=name == "report")


def test_the_file_reaches_nothing_either(page_file: Path, look: Look) -> None:
    seen = look(page_file.as_uri())
    unmoved(seen, page_file.as_uri(), data=True)
    tasks = seen.page.inner_text("#tasks")
    assert TITLES[0] in tasks
    assert "‹U+001B›[31mred" in tasks and "‹U+202E›evil" in tasks


def test_a_strange_name_is_a_name(strange_url: str, look: Look) -> None:
    address = f"{strange_url}task/{quote(WORST, safe='')}"
    seen = look(address)
    unmoved(seen, address)
    assert seen.page.inner_text(".lead") == WORST
    front = look(strange_url)
    front.page.click("#task-table tbody a")
    assert unquote(front.page.url) == unquote(address) and front.trouble == []


def test_marks_stand_for_what_cannot_be_seen(url: str, look: Look, places: Places) -> None:
    text = look(url + places["hostile"]).page.inner_text("#instruction pre")
    assert "‹U+001B›[31mred" in text and "‹U+202E›evil‹U+2066›‹U+200B›hidden" in text
    assert "‹U+E0041›" in text and "\u202e" not in text
    long = look(url + places["long"]).page.inner_text("#instruction")
    assert "the first 20,000 of " in long


# -- numbers lead to their tasks ---------------------------------------------------------------

COUNTED = """async () => {
  const wrong = [];
  const told = document.querySelector("#task-tools output");
  for (const link of document.querySelectorAll("section:not(#tasks) a[data-only]")) {
    const number = Number(link.textContent.replaceAll(",", ""));
    if (!Number.isInteger(number)) continue;
    link.click();
    await new Promise((done) => setTimeout(done, 0));
    const left = told.textContent.match(/of ([\\d,]+) tasks?/)?.[1].replaceAll(",", "");
    if (Number(left) !== number) wrong.push([link.dataset.only, number, told.textContent]);
  }
  return [document.querySelectorAll("a[data-only]").length, wrong];
}"""


def test_every_number_leads_to_as_many_tasks(page_file: Path, look: Look) -> None:
    links, wrong = look(page_file.as_uri()).page.evaluate(COUNTED)
    assert links > 150
    assert wrong == []


def test_a_number_is_followed_by_keyboard(page_file: Path, look: Look, found: Report) -> None:
    page = look(page_file.as_uri()).page
    lost = page.locator("#funnel a[data-only='step=reference']").first
    lost.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#task-table tbody').rows.length === 2")
    assert page.evaluate("document.activeElement.id") == "tasks-title"
    names = page.locator("#task-table tbody th bdi:first-child").all_inner_texts()
    assert names[::2] == [task.task for task in found.tasks if task.step == "reference"]
    page.keyboard.press("Tab")  # the search
    page.keyboard.press("Tab")  # the filter
    assert page.evaluate("document.activeElement.ariaLabel") == "Remove filter step: reference"
    page.keyboard.press("Enter")
    page.wait_for_function(
        f"document.querySelector('#task-table tbody').rows.length === {len(found.tasks)}"
    )


# -- sorting and filtering ---------------------------------------------------------------------


def test_tables_sort_by_keyboard(page_file: Path, look: Look) -> None:
    page = look(page_file.as_uri()).page
    table = page.locator("#soundness table").first
    heading = table.locator("thead th", has_text="proven")
    column = table.locator("tbody tr td:nth-child(3)")
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    falling = [int(text) for text in column.all_inner_texts()]
    assert falling == sorted(falling, reverse=True) and falling[0] == 3
    page.keyboard.press("Space")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert [int(text) for text in column.all_inner_texts()] == sorted(falling)


def test_tasks_sort_and_are_searched_by_keyboard(url: str, look: Look, places: Places) -> None:
    page = look(url).page
    bytes_ = page.locator("#task-table thead th[data-name=image_bytes]")
    bytes_.get_by_role("button").focus()
    page.keyboard.press("Enter")
    first = page.locator("#task-table tbody tr").first
    assert first.inner_text().endswith("692.9 kB")
    page.get_by_label("Search in tasks").focus()
    page.keyboard.type(places["hostile"].removeprefix("task/").upper())
    assert page.inner_text("#task-tools output") == "1 to 1 of 1 task"
    assert first.locator("a").get_attribute("href") == f"/{places['hostile']}"
    page.keyboard.type("!")
    assert page.inner_text("#task-tools output") == "no task"


def test_long_tables_are_filtered(page_file: Path, look: Look) -> None:
    page = look(page_file.as_uri()).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.get_by_label("Filter: openai:small by axis").focus()
    page.keyboard.type("multi_protocol")
    assert page.locator("#difficulty details output").first.inner_text().startswith("1 of ")


# -- for everybody -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        *((name, "light") for name in ("report", "hostile", "weak", "episode")),
        *((name, "dark") for name in ("report", "weak")),
    ],
)
def test_no_fault_that_a_checker_finds(
    name: str, scheme: str, url: str, look: Look, places: Places
) -> None:
    page = look(url + places[name], scheme).page
    page.evaluate(OPEN)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(v["id"], v["impact"], v["nodes"][0]["html"][:200]) for v in found] == []


def test_the_scheme_is_the_readers(page_file: Path, look: Look) -> None:
    shades = [
        look(page_file.as_uri(), scheme).page.evaluate("getComputedStyle(document.body).color")
        for scheme in ("light", "dark")
    ]
    assert shades == ["rgb(28, 30, 33)", "rgb(227, 229, 231)"]


@pytest.mark.parametrize("name", ["report", "hostile", "weak", "episode", "nowhere"])
def test_a_narrow_window_scrolls_in_one_direction(
    name: str, url: str, look: Look, places: Places
) -> None:
    page = look(url + places[name], width=390).page
    page.evaluate(OPEN)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_without_scripts_it_is_plain_tables(page_file: Path, look: Look, found: Report) -> None:
    page = look(page_file.as_uri(), scripts=False).page
    assert page.locator("#task-table tbody tr").count() == len(found.tasks)
    assert page.locator("button").count() == 0
    assert page.locator("#funnel a").first.get_attribute("href") == "#tasks"
    assert "Without scripts" in page.inner_text("#tasks")
