"""What is read out of an instruction."""

import pytest

from envgen.audit import naming

HOME = "/home/agent"

PATHS = {
    "Read `~/in/a.csv`, then /srv/x/b.txt.": ("/home/agent/in/a.csv", "/srv/x/b.txt"),
    "GET /v1/items and /healthz": (),
    "see `~/samples/*.in` and http://x/home/a": ("/home/agent/samples",),
    "`/home/agent/out/` again /home/agent/out": ("/home/agent/out",),
    "The file is /opt/tool, twice /opt/tool.": ("/opt/tool",),
}


@pytest.mark.parametrize(("text", "wanted"), PATHS.items())
def test_absolute_paths(text: str, wanted: tuple[str, ...]) -> None:
    assert naming.paths(text, HOME) == wanted


def test_a_name_without_a_folder_belongs_to_the_folder_that_was_spoken_of_last() -> None:
    text = "In `/srv/a` lie data. Put two files into `~/stack`: 1. `run.py` 2. `note.txt`."
    found = naming.outputs(text, HOME, HOME, lambda p: False, {"/home/agent/stack"}.__contains__)
    assert found == ("/srv/a", "/home/agent/stack/run.py", "/home/agent/stack/note.txt")


def test_versions_keys_and_figures_are_no_files() -> None:
    text = "`meadow.retries` above `95.3`, in `v1.2`; write `a.json`"
    assert [name for name, _ in naming.relative(text)] == ["a.json"]


def test_programs_and_folders_are_told_from_files() -> None:
    text = "Write an executable program `~/figures`. All copies go below `~/recovered`."
    assert naming.is_program("/home/agent/figures", text)
    assert not naming.is_program("/home/agent/recovered", text)
    assert naming.is_folder("/home/agent/recovered", text, ())
    assert not naming.is_folder("/home/agent/figures", text, ())


def test_answers_headers_rows_and_command_lines() -> None:
    text = (
        "It answers each with `good` or `bad`. The first line is `id,value,note`, then 24 rows.\n\n"
        "    python3 clean.py REJECTS STATS < stream > records\n"
    )
    assert naming.answers(text)[:2] == ("good", "bad")
    assert naming.headers(text) == ("id,value,note",)
    assert naming.rows(text) == 24
    assert naming.commands(text, "/home/agent/clean.py") == (("REJECTS", "STATS"),)
    assert naming.answers("nothing of the kind") == ("0", "1")
