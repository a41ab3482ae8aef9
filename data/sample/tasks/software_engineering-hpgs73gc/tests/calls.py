# mypy: ignore-errors
"""Calls of both versions. Each is (function, arguments, keywords); all of it is JSON."""

WORDS = ("a", "of", "tin", "lamp", "river", "meadows", "watermelon", "thunderstorms", "x")


def sentence(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(0, 9)))


def mapping(rng, deep=2):
    found = {}
    for key in rng.sample("abcde", rng.randrange(1, 4)):
        pick = rng.randrange(5 if deep else 3)
        values = [rng.randrange(9), None, [rng.randrange(9) for _ in range(rng.randrange(3))]]
        found[key] = values[pick] if pick < 3 else mapping(rng, deep - 1)
    return found


def span(rng, units):
    parts = [
        f"{rng.randrange(0, 40)}{unit}"
        for unit in rng.sample(units, rng.randrange(1, len(units) + 1))
    ]
    return "".join(parts)


def value(rng):
    digits = rng.randrange(1, 4)
    return f"{rng.choice(('', '-'))}{rng.randrange(200)}.{rng.randrange(10**digits):0{digits}d}5"


def path(rng):
    return [rng.choice(("a", "b", "c", "0", "1", "d", "e")) for _ in range(rng.randrange(1, 4))]


def first(rng, function):
    """A call of version 1."""
    if function == "wrap":
        return function, [sentence(rng)], rng.choice(({}, {"width": rng.randrange(4, 15)}))
    if function == "pad":
        more = {
            k: v
            for k, v in (("fill", rng.choice(".-0")), ("side", rng.choice(("left", "right"))))
            if rng.random() < 0.7
        }
        return function, [rng.choice(WORDS), rng.randrange(0, 12)], more
    if function == "minutes":
        return function, [span(rng, "dhm") + rng.choice(("", "5m"))], {}
    if function == "chunk":
        more = rng.choice(({}, {"pad": 0}, {"pad": "-"}))
        return function, [list(range(rng.randrange(0, 12))), rng.randrange(1, 6)], more
    if function == "merge":
        return function, [mapping(rng), mapping(rng)], {}
    if function == "dig":
        more = rng.choice(({}, {"default": rng.randrange(100)}))
        return function, [mapping(rng), ".".join(path(rng))], more
    return function, [value(rng)], rng.choice(({}, {"digits": rng.randrange(0, 4)}))


def second(rng, function, names, hits):
    """A call of version 2; one that shows the fault of the function where `hits`."""
    name = names[function]
    if function == "fold":
        words = [rng.choice(WORDS[3:]) for _ in range(rng.randrange(1, 5))] + (
            ["x"] if hits else []
        )
        return (
            name,
            [" ".join(words)],
            {"columns": len(words[-2]) if hits else rng.randrange(4, 15)},
        )
    if function == "align":
        where = "right" if hits else rng.choice(("left", "right", "middle"))
        return (
            name,
            [rng.choice(WORDS[4:])],
            {"columns": rng.randrange(1, 4) if hits else 12, "where": where},
        )
    if function == "parse":
        return name, [f"{rng.randrange(1, 9)}d" * hits + span(rng, "hms")], {}
    if function == "batches":
        size = rng.randrange(2, 6)
        return name, [list(range(size * rng.randrange(1, 4) + hits)), size], {}
    if function == "combine":
        layers = [mapping(rng), mapping(rng)]
        if hits:
            key = rng.choice("abc")
            layers[0][key], layers[1][key] = rng.randrange(1, 9), None
        return name, layers, {"lists": rng.choice(("replace", "extend"))}
    if function == "at":
        data = {"a": [rng.randrange(1, 9), 0, {"b": rng.choice(([], "", 0, False))}]}
        return name, [data, rng.choice((["a", 1], ["a", 2, "b"])) if hits else ["a", 0]], {}
    whole = rng.randrange(0, 90) * 2 + 1 - hits
    return name, [f"{'-' if hits else ''}{whole}.5", 0], {"half": "away" if hits else "even"}
