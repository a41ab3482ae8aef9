"""Shared runs of words: what is planted is found whatever it looks like, and nothing else is."""

import json
import os
import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.corpus.overlap import Index, Overlap, overlaps, summary
from envgen.corpus.sources import Source, Texts
from envgen.corpus.words import words
from envgen.errors import Misconfigured

ALPHABETS = {
    "english": "abcdefghijklmnopqrstuvwxyz0123456789",
    "german": "aeiounrstlßäöü",
    "turkish": "abcçdeğıioöşuü",
    "greek": "αβγδεζηθικλμνξοπρστυφχψωάέή",
    "russian": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "vietnamese": "ăâđêôơưạảấầ",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "hindi": "अआइईकखगघचछजटठडतथदनपफबमयरलवशसह",
    "korean": "가나다라마바사아자차카타파하",
}
UNSPACED = {
    "chinese": "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可",
    "japanese": "あいうえおかきくけこさしすせそたちつてとカキクケコ日本語文字列",
    "thai": "กขคงจฉชซญดตถทธนบปผฝพฟมยรลวศษสหอฮ",
}
GAPS = (
    " ",
    "  ",
    "\n",
    ", ",
    ". ",
    " - ",
    "\t",
    "…",
    "! ",
    "／",
    "_",
    "\u00a0",
    " “",
    "`",
    " \u200b",
)
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
CASES = (str, str.upper, str.lower, str.title, str.swapcase)


def vocabulary(language: str) -> list[str]:
    """Distinct words of a language's letters; without spaces, each letter is one."""
    if language in UNSPACED:
        return sorted(set(UNSPACED[language]))
    draw = random.Random(language)
    letters = ALPHABETS[language]
    return sorted({"".join(draw.choices(letters, k=draw.randint(4, 9))) for _ in range(120)})


def typeset(said: list[str], draw: random.Random, unspaced: bool) -> str:
    """The words as somebody else may write them: case, gaps, normal form, invisible characters."""
    shown = []
    for word in said:
        changed = draw.choice(CASES)(word)
        if draw.random() < 0.1:
            changed = changed[:1] + "\u00ad" + changed[1:]
        shown.append(unicodedata.normalize(draw.choice(FORMS), changed))
    gaps = ("", *GAPS) if unspaced else GAPS
    return "".join(word + draw.choice(gaps) for word in shown)


def task(name: str, **parts: str) -> Texts:
    return Texts(name, {part: [(f"{part}.txt", text)] for part, text in parts.items()})


def shared(benchmark: str, corpus: str, *sizes: int) -> list[Overlap]:
    index = Index(sizes)
    index.add("bench", task("item", instruction=benchmark))
    return list(overlaps([task("mine", instruction=corpus)], index))


@given(
    language=st.sampled_from([*ALPHABETS, *UNSPACED]),
    n=st.sampled_from((8, 13)),
    part=st.sampled_from(("instruction", "tests", "solution")),
    seed=st.integers(0, 2**32),
)
def test_a_planted_run_is_found_and_one_word_less_is_not(
    language: str, n: int, part: str, seed: int
) -> None:
    draw = random.Random(seed)
    known = vocabulary(language)
    draw.shuffle(known)
    half = len(known) // 2
    theirs, ours = known[:half], known[half:]
    benchmark = draw.choices(theirs, k=60)
    at = draw.randrange(60 - n)
    planted = benchmark[at : at + n]
    index = Index((n,))
    whole = typeset(benchmark, draw, language in UNSPACED)
    index.add("bench", task("item", instruction=whole))
    before, after = draw.choices(ours, k=draw.randint(0, 30)), draw.choices(ours, k=5)

    def found(middle: list[str]) -> list[Overlap]:
        said = typeset([*before, *middle, *after], draw, language in UNSPACED)
        return list(overlaps([task("mine", **{part: said})], index))

    (hit,) = found(planted)
    assert (hit.task, hit.part, hit.n, hit.longest) == ("mine", part, n, n)
    assert hit.words.split() == [w for p in planted for w in words(p)]
    assert hit.against == "bench: item/instruction.txt"
    assert hit.windows == len(before) + n + len(after) - n + 1
    assert found(planted[:-1]) == []
    assert found(planted[1:]) == []


@given(st.text(max_size=200))
def test_words_do_not_depend_on_the_normal_form(text: str) -> None:
    for form in FORMS:
        assert words(unicodedata.normalize(form, text)) == words(text)


def test_words_of_several_scripts() -> None:
    assert words("Don't re-run ﬁle_name.py!") == ["don", "t", "re", "run", "file", "name", "py"]
    assert words("Straße STRASSE İstanbul ISPARTA ısparta") == [
        "strasse", "strasse", "istanbul", "isparta", "isparta"
    ]  # fmt: skip
    assert words("日本語のtest１２") == ["日", "本", "語", "の", "test12"]
    assert words("soft\u00adhyphen zero\u200dwidth café") == ["softhyphen", "zerowidth", "cafe"]


def test_how_much_and_where() -> None:
    said = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"]
    benchmark = " ".join(said)
    (eight,) = shared(benchmark, "x y " + " ".join(said[:10]) + " z " + " ".join(said[2:14]), 8)
    assert (eight.shared, eight.windows, eight.longest) == (3 + 5, 18, 12)
    assert eight.share == pytest.approx(8 / 18)
    assert eight.words == " ".join(said[2:14])
    both = shared(benchmark, benchmark.upper(), 8, 13)
    assert [(o.n, o.shared, o.windows, o.longest) for o in both] == [(13, 4, 4, 16), (8, 9, 9, 16)]
    rows = summary(both, tasks=4, sizes=(8, 13), parts=("instruction",))
    assert [(r["n"], r["part"], r["tasks"], r["share"], r["longest"]) for r in rows] == [
        (13, "instruction", 1, 0.25, 16), (8, "instruction", 1, 0.25, 16)
    ]  # fmt: skip


def test_no_run_goes_from_one_file_into_the_next() -> None:
    index = Index((8,))
    index.add("bench", Texts("item", {"tests": [("a", "a b c d"), ("b", "e f g h")]}))
    whole = task("mine", tests="a b c d e f g h")
    halves = Texts("mine", {"tests": [("a", "a b c d"), ("b", "e f g h")]})
    assert list(overlaps([whole, halves], index)) == []


def test_words_that_no_benchmark_says_are_never_shared() -> None:
    assert shared("a b c d e f g h", "a b c x e f g h a b c d e f g", 8) == []
    assert shared("", "a b c", 2) == []


# -- where texts lie ----------------------------------------------------------------------------


def harbor(folder: Path, instruction: str = "say something here") -> None:
    (folder / "tests").mkdir(parents=True)
    (folder / "solution").mkdir()
    (folder / "task.toml").write_text("")
    (folder / "instruction.md").write_text(instruction)
    (folder / "tests" / "test.sh").write_text("pytest")
    (folder / "tests" / "task.json").write_text("{}")
    (folder / "solution" / "solve.sh").write_text("echo done")


def test_harbor_folders(tmp_path: Path) -> None:
    harbor(tmp_path / "set" / "one")
    harbor(tmp_path / "set" / "two")
    (tmp_path / "set" / "README.md").write_text("not a task")
    one, two = Source(tmp_path).texts()
    assert (one.name, two.name) == ("set/one", "set/two")
    assert one.parts["instruction"] == [("instruction.md", "say something here")]
    assert one.parts["tests"] == [("tests/task.json", "{}"), ("tests/test.sh", "pytest")]
    assert one.parts["solution"] == [("solution/solve.sh", "echo done")]


def test_tmax_folders(tmp_path: Path) -> None:
    (tmp_path / "t1").mkdir()
    (tmp_path / "t1" / "task.json").write_text('{"description": "do\\nit", "truth": "42"}')
    (tmp_path / "t1" / "test_final_state.py").write_text("def test(): ...")
    (tmp_path / "t1" / "container.def").write_text("From: ubuntu")
    (task,) = Source(tmp_path).texts()
    assert dict(task.parts) == {
        "instruction": [("task.json", "do\nit")],
        "tests": [("task.json", "42"), ("test_final_state.py", "def test(): ...")],
    }


def test_plain_text_and_what_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("plain text")
    (tmp_path / "a.bin").write_bytes(b"\x7fELF\0\xff")
    (tmp_path / "c.txt").write_bytes("wide text".encode("utf-16"))
    (tmp_path / "d.txt").write_bytes(b"hid\0den te\0xt\x1b")
    (tmp_path / "latin.txt").write_bytes("caf\xe9 bar".encode("latin-1"))
    (tmp_path / "link.txt").symlink_to("/etc/hostname")
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(100 << 20)
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "around").symlink_to(tmp_path)
    deep = tmp_path.joinpath(*["d"] * 40)
    deep.mkdir(parents=True)
    source = Source(tmp_path, plain=True)
    found = {t.name: t.parts["text"][0][1] for t in source.texts()}
    assert {name: words(text) for name, text in found.items()} == {
        "b.md": ["plain", "text"],
        "c.txt": ["wide", "text"],
        "d.txt": ["hidden", "text"],
        "latin.txt": ["caf", "bar"],
    }
    reasons = sorted(told.rpartition(": ")[2] for told in source.left_out)
    assert reasons == [
        "huge.txt has 104857600 bytes, over 16777216", "it is a link", "it is a link",
        "what is over 16 levels deep",
    ]  # fmt: skip


def test_odd_names_can_be_printed(tmp_path: Path) -> None:
    name = b"a\xff\x1b[31m\n.txt"
    Path(bytes(tmp_path).decode(), name.decode("utf-8", "surrogateescape")).write_text("said")
    (found,) = Source(tmp_path, plain=True).texts()
    assert found.name == "a\\xff?[31m?.txt"


def test_strings_of_json_are_texts_by_themselves(tmp_path: Path) -> None:
    said = 'one two\nthree \u00e9t\u00e9 "four"'
    items = [{"id": 7, "prompt": said}, ["a", {"b": ["c", None]}], "\ud800x"]
    lines = [json.dumps(item) for item in items]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, "", "no JSON", "[" * 100_000]))
    (tmp_path / "b.json").write_text("\ufeff" + json.dumps(items))
    (tmp_path / "c.json").write_text("{}")
    (tmp_path / "d.json").write_text("")
    source = Source(tmp_path, plain=True)
    by_line, whole = (task.parts["text"] for task in source.texts())
    assert by_line == [("1", said), ("2", "a"), ("2", "c"), ("3", "?x")]
    assert whole == [("b.json", text) for _, text in by_line]
    assert [told.partition(": ")[2][:29] for told in source.left_out] == [
        "line 5: not readable as JSON ", "line 6: not readable as JSON "
    ]  # fmt: skip
    index = Index((4,))
    index.add("bench", Texts("a.jsonl", {"text": by_line}))
    (hit,) = overlaps([task("mine", instruction="two, three, \u00e9t\u00e9 four")], index)
    assert (hit.longest, hit.against) == (4, "bench: a.jsonl/1")


def test_a_benchmark_is_read_where_its_name_leads(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("said")
    (tmp_path / "link").symlink_to("text")
    assert [t.name for t in Source(tmp_path / "link", plain=True).texts()] == ["link"]


def test_what_is_no_benchmark_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\xff")
    (tmp_path / "folder").mkdir()
    (tmp_path / "around").symlink_to("around")
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.parquet")
    reasons = {
        "empty": "there is no task and no text in {}: ",
        "binary": "there is no task and no text in {}: ",
        "folder": "there is no task and no text in {}: ",
        "around": "{}: Too many levels of symbolic links: ",
        "missing": "{}: No such file or directory: ",
        "pipe": "{} is neither a file nor a folder: ",
        "pipe.parquet": "{} is neither a file nor a folder: ",
    }
    for name, reason in reasons.items():
        with pytest.raises(Misconfigured) as caught:
            list(Source(tmp_path / name, plain=True).texts())
        assert str(caught.value).startswith(reason.format(tmp_path / name) + "name a manifest, ")
