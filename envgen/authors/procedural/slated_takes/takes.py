# ruff: noqa: E501
"""One card of recordings: what is keyed at the start of each, and what becomes of it."""

import random
from dataclasses import dataclass
from typing import Any

RATE = 22050
STEP = RATE // 10
"""Samples in a tenth of a second: lengths are whole tenths, so seconds are exact."""
STORIES = (
    ("radio play", "scene", ("left", "right", "room"), "the recordist keys a slate into each file"),
    ("choir concert", "piece", ("main", "spot", "hall"), "the page turner keys what is sung"),
    ("bird survey", "transect", ("north", "south", "canopy"), "the warden keys place and round"),
    ("language archive", "speaker", ("lapel", "table", "spare"), "the interviewer keys who speaks"),
    ("foley session", "reel", ("close", "far", "floor"), "the assistant keys reel and take"),
    ("machine test", "stand", ("inlet", "outlet", "casing"), "the fitter keys stand and run"),
)
FORMS = ("{a}*{b}#{c}", "{c}*{a}#{b}", "#{a}*{b}*{c}", "*{b}#{a}#{c}", "{a}#{c}#{b}*")
LAYOUTS = (
    "{group}-{a}/{a}_{b}_{name}.wav", "{name}/{group}{a}/take{b}.wav", "{group}{a}-{b}/{name}.wav",
    "by-{group}/{a}/{name}-{b}.wav", "{name}/{a}.{b}.wav",
)  # fmt: skip


@dataclass(frozen=True)
class Recording:
    """A file on the card. `keyed` is None where no complete slate is heard."""

    path: str
    keys: tuple[str, ...]
    """What is keyed, one after the other."""
    keyed: tuple[int, int, int] | None
    first: tuple[int, int, int] | None
    """The first complete slate, which may have been a mistake."""
    tenths: int
    seed: int
    damaged: bool = False


def rules_of(rng: random.Random) -> dict[str, Any]:
    story = rng.choice(STORIES)
    columns = rng.sample(("source", "status", "target", "seconds"), 4)
    words = rng.choice((
        ("kept", "copy", "older", "damaged", "unslated"),
        ("DELIVER", "DOUBLE", "RETAKE", "BROKEN", "UNKNOWN"),
        ("ok", "same", "beaten", "bad", "silent"),
    ))  # fmt: skip
    return {
        "story": story[0], "group": story[1], "names": rng.sample(story[2], 3), "who": story[3],
        "card": rng.choice(("card", "card-b", "sdcard", "media1")),
        "form": rng.choice(FORMS), "layout": rng.choice(LAYOUTS), "out": rng.choice(("delivery", "takes", "sorted")),
        "same": rng.choice(("first", "last")), "retake": rng.choice(("longest", "shortest")),
        "sep": rng.choice(("\t", ";", ",")), "columns": columns, "words": list(words),
        "manifest": rng.choice(("manifest.txt", "takes.txt", "index.txt")),
        "prefix": rng.choice(("REC", "ZOOM", "TRK", "DR")),
    }  # fmt: skip


def keys_of(rules: dict[str, Any], slate: tuple[int, int, int]) -> str:
    a, b, c = slate
    return str(rules["form"].format(a=f"{a:02d}", b=f"{b:02d}", c=c))


def heard(keys: list[str]) -> int:
    """Tenths of a second that pass until the last key: a start, keys, and a pause between slates."""
    return 5 + sum(len(one) for one in keys) * 21 // 10 + 10 * (len(keys) - 1)


def draw(rng: random.Random, rules: dict[str, Any]) -> list[Recording]:
    """Every kind of trouble at least once; lengths of retakes differ."""
    folders = rng.sample(("day 1", "day 2", "evening", "spare/a", "spare/b", "morning"), 3)
    numbers = rng.sample(range(1, 900), 16)
    slates = rng.sample(
        [(a, b, c) for a in range(1, 30) for b in range(1, 9) for c in (1, 2, 3)], 12
    )

    def made(
        slate: tuple[int, int, int] | None, wrong: tuple[int, int, int] | None = None, **more: Any
    ) -> Recording:
        path = f"{rng.choice(folders)}/{rules['prefix']}{numbers.pop():04d}.wav"
        keys = [keys_of(rules, one) for one in (wrong, slate) if one]
        if slate is None or rng.random() < 0.2:
            keys.insert(0, keys_of(rules, slates[-1])[: rng.choice((2, 3))])
        tenths = heard(keys) + rng.randrange(5, 32)
        return Recording(
            path, tuple(keys), slate, wrong or slate, tenths, rng.getrandbits(32), **more
        )

    found = [made(slate) for slate in slates[:4]]
    found += [made(slates[4], wrong=slates[5]), made(slates[6], wrong=slates[0])]
    found += [made(None), made(slates[7], damaged=True)]
    for original in (found[0], found[4]):
        copy = f"{rng.choice(folders)}/{rules['prefix']}{numbers.pop():04d}.wav"
        found.append(Recording(copy, *_rest(original)))
    again = made(found[1].keyed)
    found.append(again if again.tenths != found[1].tenths else _longer(again))
    rng.shuffle(found)
    return found


def _rest(one: Recording) -> tuple[Any, ...]:
    return one.keys, one.keyed, one.first, one.tenths, one.seed


def _longer(one: Recording) -> Recording:
    return Recording(one.path, one.keys, one.keyed, one.first, one.tenths + 3, one.seed)


def target(rules: dict[str, Any], slate: tuple[int, int, int]) -> str:
    a, b, c = slate
    name = rules["names"][c - 1]
    return str(rules["layout"].format(group=rules["group"], a=f"{a:02d}", b=f"{b:02d}", name=name))


def sorted_out(rules: dict[str, Any], recordings: list[Recording]) -> list[tuple[str, ...]]:
    """(source, status index, target or "-", seconds) of each, by source."""
    rows = {}
    groups: dict[tuple[int, int, int], dict[int, list[Recording]]] = {}
    for one in sorted(recordings, key=lambda r: r.path.encode()):
        if one.damaged:
            rows[one.path] = (3, "-")
        elif one.keyed is None:
            rows[one.path] = (4, "-")
        else:
            groups.setdefault(one.keyed, {}).setdefault(one.seed, []).append(one)
    for slate, contents in groups.items():
        best = max if rules["retake"] == "longest" else min
        chosen = best(contents.values(), key=lambda same: same[0].tenths)
        for same in contents.values():
            stays = same[0 if rules["same"] == "first" else -1]
            for one in same:
                status = 1 if one is not stays else 0 if same is chosen else 2
                rows[one.path] = (status, "-" if status else target(rules, slate))
    seconds = {one.path: f"{one.tenths // 10}.{one.tenths % 10}" for one in recordings}
    return [
        (path, rules["words"][rows[path][0]], rows[path][1], seconds[path])
        for path in sorted(rows, key=str.encode)
    ]
