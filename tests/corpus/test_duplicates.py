"""Tasks that nearly repeat others: exact likeness, who stays, and how sure the candidates are."""

import random

import pytest

from envgen.corpus.duplicates import Pair, bands, duplicates, jaccard, shingles
from envgen.corpus.sources import Texts
from envgen.errors import Misconfigured


def task(name: str, text: str) -> Texts:
    return Texts(name, {"instruction": [("instruction.md", text)], "tests": [], "solution": []})


def text(seed: int, length: int = 300) -> list[str]:
    draw = random.Random(seed)
    return [f"w{draw.randrange(5000)}" for _ in range(length)]


def changed(said: list[str], words: int) -> str:
    """The text with so many words replaced, far from each other."""
    found = list(said)
    for number in range(words):
        found[10 + number * 20] = f"other{number}"
    return " ".join(found)


def test_what_is_alike_is_paired_with_the_first() -> None:
    one, two = text(1), text(2)
    near = changed(one, 3)
    found = duplicates(
        [
            task("one", " ".join(one)),
            task("two", " ".join(two)),
            task("near", near),
            task("same", " ".join(one).upper().replace(" ", ", ")),
            task("far", changed(one, 14)),
        ]
    )
    alike = jaccard(shingles(" ".join(one)), shingles(near))
    assert alike == pytest.approx((296 - 15) / (296 + 15))
    assert found.pairs == (Pair("same", "one", 1.0), Pair("near", "one", alike))
    assert (found.tasks, found.rate) == (5, 0.4)


def test_every_pair_over_the_threshold_is_found() -> None:
    """200 pairs, each just over it: banding may miss one in a thousand."""
    tasks = []
    for seed in range(200):
        said = text(seed)
        tasks += [task(f"a{seed}", " ".join(said)), task(f"b{seed}", changed(said, 6))]
    found = duplicates(tasks, 0.8)
    assert {(p.task, p.of) for p in found.pairs} == {(f"b{n}", f"a{n}") for n in range(200)}
    assert duplicates(tasks, 0.9).pairs == ()


def test_a_corpus_of_one_task_only_gives_as_many_pairs_as_tasks() -> None:
    said = " ".join(text(3))
    found = duplicates([task(str(n), said) for n in range(500)])
    assert len(found.pairs) == 499
    assert {p.of for p in found.pairs} == {"0"}


def test_texts_without_words_repeat_nothing() -> None:
    found = duplicates(
        [task("a", ""), task("b", "..."), task("c", "one two"), task("d", "one two")]
    )
    assert found.pairs == (Pair("d", "c", 1.0),)
    assert found.tasks == 2
    assert duplicates([]).rate == 0


@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
def test_bands_miss_little(threshold: float) -> None:
    count = bands(threshold)
    assert 128 % count == 0
    assert (1 - threshold ** (128 // count)) ** count <= 0.001


@pytest.mark.parametrize("threshold", [0.49, 1.01, float("nan")])
def test_a_threshold_that_cannot_be(threshold: float) -> None:
    with pytest.raises(Misconfigured, match=r"from 0\.5 to 1"):
        duplicates([], threshold)
