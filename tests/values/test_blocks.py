"""Files in an answer: every carrier that was seen to break one, and an answer cut anywhere."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envgen.authors.llm.blocks import MOST_FILES, nonce_of, read, wrapped
from envgen.authors.llm.contents import FILE_BYTES, Rules, trouble_of
from envgen.files import File, FileTree

NONCE = "1a2b3c4d"
ANY = Rules(r".*")

TORTURE = FileTree(
    {
        "Dockerfile": "FROM x\nRUN cat <<'EOF' > /a\n\\d \\\\ $H\nEOF\nRUN sed -i 's/\\t/\\n/'\n",
        "test_it.py": 'import re\nFENCE = """\n```python\nx\n```\n"""\nre.match(r"\\d+\\s", "")\n',
        "README.md": "# How\n\n```sh\npip install x\n```\n",
        "run.sh": File(b'#!/bin/bash\ncat <<EOF > a\n\t{"a": "b\\n"}\n  EOF\nEOF\n', 0o755),
        "table.csv": b"a,b\r\n1,2\r\n",
        "Makefile": "all:\n\techo \\$$x\n\n\n",
        "no_end.txt": "no newline at the end",
        "empty": "",
        "blank": "\n",
    }
)  # fmt: skip


def answer(files: FileTree, nonce: str = NONCE, count: int | None = None) -> str:
    return (
        wrapped(files, nonce) + f"=== FILES {nonce} {len(files) if count is None else count} ===\n"
    )


def block(path: str, body: str, mode: str = "0644", eol: str = "lf", nonce: str = NONCE) -> str:
    return f"=== FILE {nonce} path={path} mode={mode} eol={eol} ===\n{body}=== END {nonce} ===\n"


# -- what is whole comes back byte for byte ------------------------------------------------------


def test_the_torture_set_is_intact() -> None:
    found = read(answer(TORTURE), NONCE)
    assert found.files == TORTURE
    assert (found.whole, found.trouble, found.warnings, found.reader) == (True, "", (), "blocks")


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8})?", fullmatch=True),
        st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=60),
        max_size=6,
    )
)
@settings(max_examples=200)
def test_any_text_comes_back(texts: dict[str, str]) -> None:
    try:
        files = FileTree({path: text for path, text in texts.items()})
    except ValueError:  # a path that is a file and a folder
        return
    bodies = {p: f for p, f in files.items() if not _fence_around(f.data.decode())}
    found = read(answer(FileTree(bodies)), NONCE)
    assert found.files == FileTree(bodies)
    assert found.whole


def _fence_around(text: str) -> bool:
    return text.lstrip().startswith(("```", "~~~"))


def test_text_around_the_blocks_is_kept_apart() -> None:
    found = read(f"Sure!\n{answer(TORTURE)}Hope it helps.", NONCE)
    assert found.files == TORTURE
    assert found.whole
    assert found.outside == "Sure!\nHope it helps."


def test_a_marker_of_another_question_is_body_text_inside_and_nothing_outside() -> None:
    inner = answer(FileTree({"x": "y\n"}), "deadbeef")
    files = FileTree({"notes.txt": inner})
    assert read(answer(files), NONCE).files == files
    lost = read(inner, NONCE)
    assert (len(lost.files), lost.whole) == (0, False)
    assert "no files" in lost.trouble


def test_half_a_marker_in_a_body_is_body_text() -> None:
    body = f"say === END {NONCE} ===\n=== END {NONCE}0 ===\n === FILE {NONCE} ===\n=== END\n"
    files = FileTree({"a.txt": body})
    assert read(answer(files), NONCE).files == files


# -- cut anywhere --------------------------------------------------------------------------------


def test_cut_at_every_byte_never_half_a_file() -> None:
    whole = answer(TORTURE).encode()
    end = len(answer(TORTURE).rstrip("\n").encode())
    for cut in range(len(whole) + 1):
        found = read(whole[:cut].decode("utf-8", "replace"), NONCE)
        assert all(TORTURE[path] == file for path, file in found.files.items()), cut
        assert found.whole == (cut >= end), cut
        assert not found.files or not found.trouble, cut


@pytest.mark.parametrize("width", [5, 8])
def test_cut_fences_never_half_a_file(width: int) -> None:
    fence = "`" * width
    bodies = {"a.py": "x = 1\n", "b/run.sh": "#!/bin/sh\necho ```\n"}
    text = "".join(f"path: {p}\n{fence}\n{body}{fence}\n" for p, body in bodies.items())
    for cut in range(len(text)):
        found = read(text[:cut], NONCE)
        for path, file in found.files.items():
            assert file.data.decode() == bodies[path], cut
    assert {p: f.data.decode() for p, f in read(text, NONCE).files.items()} == bodies


def test_cut_json_gives_no_file_at_all() -> None:
    text = json.dumps([{"path": p, "content": f"{p}\n"} for p in ("a", "b")])
    for cut in range(len(text)):
        assert len(read(text[:cut], NONCE).files) == 0, cut
    assert len(read(text, NONCE).files) == 2


def test_a_cut_answer_keeps_its_whole_files() -> None:
    text = answer(TORTURE)
    found = read(text[: int(len(text) * 0.6)], NONCE)
    assert 3 <= len(found.files) < len(TORTURE)
    assert (found.whole, found.trouble) == (False, "")


def test_a_wrong_count_is_not_whole() -> None:
    found = read(answer(TORTURE, count=12), NONCE)
    assert found.files == TORTURE
    assert not found.whole
    assert found.warnings == (f"the closing count says 12, and {len(TORTURE)} files are there",)


# -- what is wrong is said -----------------------------------------------------------------------

WRONG = {
    "the same path twice": (block("a", "1\n") + block("a", "2\n"), "a is there twice"),
    "paths that differ in case": (block("a", "1\n") + block("A", "2\n"), "differ only in case"),
    "a file that is a folder": (block("a", "1\n") + block("a/b", "2\n"), "file and a folder"),
    "a path that climbs": (block("../a", "1\n"), "unsafe path"),
    "an absolute path": (block("/etc/passwd", "1\n"), "unsafe path"),
    "a home": (block("~/x", "1\n"), "unsafe path"),
    "a backslash": (block("a\\b", "1\n"), "unsafe path"),
    "a block in a block": (
        f"=== FILE {NONCE} path=a mode=0644 eol=lf ===\n{block('b', 'x')}", "not closed",
    ),
    "a mode of root's": (block("a", "1\n", mode="4755"), "not as it was asked for"),
    "no path": (f"=== FILE {NONCE} mode=0644 eol=lf ===\nx\n", "not as it was asked"),
    "an end without a begin": (f"=== END {NONCE} ===\n", "not as it was asked for"),
    "a block after the count": (answer(TORTURE) + block("late", "x\n"), "after the closing count"),
    "half a character": ("a\ud800b", "half a character"),
    "nothing": ("I cannot do that.", "no files"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_say_why(name: str) -> None:
    text, reason = WRONG[name]
    found = read(text, NONCE)
    assert reason in found.trouble
    assert not found.whole


# -- ends of line --------------------------------------------------------------------------------


def test_an_answer_with_windows_line_ends_obeys_what_each_file_says() -> None:
    text = (block("a.sh", "#!/bin/sh\nid\n") + block("b.csv", "1\n2\n", eol="crlf")).replace(
        "\n", "\r\n"
    )
    found = read(f"{text}=== FILES {NONCE} 2 ===\r\n", NONCE)
    assert {p: f.data for p, f in found.files.items()} == {
        "a.sh": b"#!/bin/sh\nid\n", "b.csv": b"1\r\n2\r\n",
    }  # fmt: skip
    assert found.whole
    assert found.warnings == ("a.sh: the whole answer has CRLF, the file has not",)


def test_a_carriage_return_in_one_file_stays_and_is_refused_there() -> None:
    found = read(block("a.sh", "#!/bin/sh\r\nid\r\n"), NONCE)
    assert found.files["a.sh"].data == b"#!/bin/sh\r\nid\r\n"
    assert "Windows line endings" in trouble_of(found.files, ANY)


def test_a_byte_order_mark_before_the_first_marker_is_no_part_of_it() -> None:
    assert read("\ufeff" + answer(TORTURE), NONCE).files == TORTURE


# -- fences --------------------------------------------------------------------------------------


def test_a_fence_around_a_whole_file_is_removed_and_said() -> None:
    found = read(block("a.py", "```python3\nx = 1\n```\n"), NONCE)
    assert found.files["a.py"].data == b"x = 1\n"
    assert found.warnings == ("a.py: a fence around the whole file was removed",)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("a.md", "```\nx\n```\n"),
        ("a.txt", "```\nx\n```\ny\n```\nz\n```\n"),
        ("a.txt", "```\nx\n"),
    ],
)
def test_other_fences_are_body_text(path: str, body: str) -> None:
    assert read(block(path, body), NONCE).files[path].data == body.encode()


def test_long_fences_with_paths_are_read_and_said() -> None:
    text = "file: `a.py`\n`````python\nx = 1\n`````\n\n``````b/run.sh\n#!/bin/sh\n`````\n``````\n"
    found = read(text, NONCE)
    assert {p: (f.data, f.mode) for p, f in found.files.items()} == {
        "a.py": (b"x = 1\n", 0o644), "b/run.sh": (b"#!/bin/sh\n`````\n", 0o755),
    }  # fmt: skip
    assert (found.reader, found.warnings) == ("fences", ("read from fences, not from blocks",))


def test_one_fence_will_do_only_where_one_file_was_asked_for() -> None:
    text = "Here it is:\n```bash\n#!/bin/bash\nid\n```\nRun it with care."
    assert read(text, NONCE).trouble
    found = read(text, NONCE, only="solve.sh")
    assert (found.files["solve.sh"].data, found.reader) == (b"#!/bin/bash\nid\n", "fence")
    assert (
        "several fenced texts"
        in read(f"{text}\n```\npip install x\n```\n", NONCE, only="a").trouble
    )
    cut = read(text[:36], NONCE, only="solve.sh")
    assert (len(cut.files), cut.whole) == (0, False)


# -- JSON ----------------------------------------------------------------------------------------


def test_json_is_read_strictly_and_said() -> None:
    found = read('Files:\n{"files": [{"path": "a", "content": "x\\\\d\\n"}]} done', NONCE)
    assert found.files["a"].data == b"x\\d\n"
    assert found.warnings == ("read from JSON, not from blocks",)
    assert not read('[{"path": "a", "content": "\\d"}]', NONCE).files  # never repaired
    assert not read('[{"path": "a"}]', NONCE).files


# -- size ----------------------------------------------------------------------------------------


def test_huge_answers_are_quick() -> None:
    started = time.process_time()
    big = FileTree({"big.txt": "0123456789abcde\n" * 655_360})
    assert read(answer(big), NONCE).files == big
    many = "".join(block(f"f{n}", "x\n") for n in range(100_000))
    found = read(many, NONCE)
    assert (len(found.files), found.trouble) == (MOST_FILES + 1, f"over {MOST_FILES} files")
    assert read("```\n" * 2_000_000, NONCE, only="a").trouble
    assert read("[" * 2_000_000 + '"path"', NONCE).trouble
    assert read("x" * (17 << 20), NONCE).trouble == "the answer has over 16 million characters"
    assert time.process_time() - started < 10


def test_a_nonce_belongs_to_its_question() -> None:
    assert nonce_of("solution", "a", 0) == nonce_of("solution", "a", 0)
    assert len({nonce_of("solution", "a", n) for n in range(1000)}) == 1000
    assert nonce_of("verifier", "a", 0) != nonce_of("solution", "a", 0)


# -- contents ------------------------------------------------------------------------------------

REFUSED = {
    "NUL": ({"a": "a\0b"}, "U+0000"),
    "escape": ({"a": "\x1b[2J"}, "U+001B"),
    "bidi": ({"a": "x\u202ey"}, "U+202E"),
    "isolate": ({"a": "x\u2066y"}, "U+2066"),
    "BOM inside": ({"a": "\ufeffx"}, "U+FEFF"),
    "lost character": ({"a": "x\ufffd"}, "U+FFFD"),
    "not UTF-8": ({"a": b"\xff\xfe"}, "not UTF-8"),
    "CR alone": ({"a.txt": "a\rb\n"}, "U+000D"),
    "CR here and there": ({"a.txt": "a\r\nb\n"}, "U+000D"),
    "a large file": ({"a": "x y\n" * (FILE_BYTES // 4 + 1)}, "over 256 KB"),
    "all too large": ({f"f{n}": "x y\n" * 65_000 for n in range(9)}, "2 MB in all"),
    "too many": ({f"f{n}": "" for n in range(65)}, "over 64 files"),
    "a long path": ({"a/" + "b" * 199: ""}, "200 bytes"),
    "a deep path": ({"/".join("abcdefghi"): ""}, "8 levels"),
    "an option": ({"-rf": ""}, "begins with '-'"),
    "a command": ({"$(id)": ""}, "a path has letters"),
    "a space": ({"a b": ""}, "a path has letters"),
    "git": ({".git/config": ""}, "not taken"),
    "git inside": ({"a/.git/hooks/x": ""}, "not taken"),
    "dockerignore": ({".dockerignore": ""}, "not taken"),
    "a build policy": ({"Dockerfile.rego": ""}, "not taken"),
    "compose": ({"docker-compose.yml": ""}, "not taken"),
    "executable without a first line": ({"run": File(b"id\n", 0o755)}, "no first line"),
    "Windows script": ({"run.sh": "#!/bin/sh\r\nid\r\n"}, "Windows line endings"),
    "no Python": ({"a.py": "def f(:\n"}, "cannot be read as what its name says"),
    "no JSON": ({"a.json": "{'a': 1}"}, "cannot be read"),
    "no TOML": ({"a.toml": "a = \n"}, "cannot be read"),
    "no YAML": ({"a.yml": "a: [1\n"}, "cannot be read"),
    "deep JSON": ({"a.json": "[" * 100_000}, "cannot be read"),
    "to do": ({"a.py": "x = 1  # TODO: the rest\n"}, "not finished"),
    "an ellipsis": ({"a.py": "def f():\n    ...\n"}, "not finished"),
    "the rest": ({"a.sh": "# ... rest of the code\n"}, "not finished"),
    "as before": ({"a.sh": "# as before...\n"}, "not finished"),
    "yours": ({"a.sh": "token=<your token>\n"}, "not finished"),
    "a template": ({"a.txt": "Dear {{ name }}\n"}, "not finished"),
    "base64": ({"a.txt": "QUJD" * 1200}, "base64"),
    "not asked for": ({"other.txt": "x"}, "not asked for"),
    "missing": ({"a": "x"}, "solve.sh is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_contents(name: str) -> None:
    files, reason = REFUSED[name]
    rules = {"not asked for": Rules("a.txt"), "missing": Rules(".*", ("solve.sh",))}
    assert reason in trouble_of(FileTree(files), rules.get(name, ANY))


def test_good_contents_pass() -> None:
    good = FileTree(
        {
            "a.py": "TODO = 'a list'\nx = [...]\n",
            "b.csv": "a\r\nb\r\n",
            "c.json": "{}\n",
            "d.yaml": "a: &x 1\nb: *x\n",
            "run.sh": File(b"#!/bin/bash\nawk '{print $1}' | sed 's/a\\tb/x/'\n", 0o755),
            "e.txt": "Grüße, 世界 \u00ad-free\tTab\n",
        }
    )
    assert trouble_of(good, ANY) == ""
    faulty = FileTree(
        {"conf.json": "{,}\n", "t.py": "# TODO mend\n", "r.sh": "#!/bin/sh\r\nid\r\n"}
    )
    assert trouble_of(faulty, Rules(".*", finished=False)) == ""
    assert trouble_of(FileTree({"a": "\ufffd"}), Rules(".*", asked="a \ufffd")) == ""


def test_an_anchor_bomb_is_not_unfolded() -> None:
    bomb = "a0: &a0 [x,x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1},*a{n - 1}]\n" for n in range(1, 60))
    started = time.process_time()
    assert trouble_of(FileTree({"a.yaml": bomb}), ANY) == ""
    assert time.process_time() - started < 1
