# mypy: ignore-errors
"""Lines that call the commands of a tool: ordinary ones, and those at the edges."""

PIECES = ("a", "b", "tt", "zzzzzzzzzz", "Q7", "-", " ", "é", "ß", "ü", "œ", "Ж", "0", "~", "xy")
EDGES = ("0", "-1", "1", "2147483647", "2147483648", "-2147483648", "4294967296", "99999999999")


def text(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(0, 9)))


def number(rng):
    if rng.random() < 0.35:
        return rng.choice((*EDGES, "", "12x", "-", "+4"))
    return str(rng.randint(-(10 ** rng.randrange(1, 10)), 10 ** rng.randrange(1, 10)))


def line(rng, word, kind):
    if kind in ("mix", "fold", "crc", "rank", "runs"):
        return f"{word} {text(rng)}".rstrip(" ") or word
    if kind == "share":
        return f"{word} {number(rng)} {number(rng)}"
    if kind == "shift":
        return f"{word} {number(rng)} {rng.randrange(-3, 40)}"
    return f"{word} {number(rng)}"


def script(rng, commands, count):
    """So many lines, one in nine with a word that is no command."""
    words = sorted(commands)
    lines = []
    for _ in range(count):
        word = rng.choice(words)
        lines.append(line(rng, word, commands[word]))
        if len(words) > 1 and rng.random() < 1 / 9:
            lines.append(rng.choice((f"{word}s 1", word.upper(), " " + word)))
    return "".join(f"{one}\n" for one in lines).encode()
