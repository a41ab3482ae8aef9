"""What an instruction names: paths, words, command lines; read as a solver would."""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

PROGRAM_ENDINGS = frozenset({".py", ".sh", ".bash", ".c", ".pl", ".rb", ".js", ".awk"})
_DATA = """
txt csv tsv json jsonl yaml yml toml ini conf cfg md sql db sqlite log html xml h hpp cpp ts go rs
java tar gz zip png jpg wav pdf svg out in dat bin lock list diff patch
"""
ENDINGS = PROGRAM_ENDINGS | frozenset(f".{ending}" for ending in _DATA.split())
MOST_PORTS = 20
_PATH = re.compile(
    r"(?<![\w/.<:~-])(?:~|/(?:home|srv|opt|etc|var|usr|data|tmp|mnt|app|root|workspace))"
    r"(?:/[\w.+@%-]+)+/?(?![\w*{<])"
)
_TICKED = re.compile(r"`([^`\n]+)`")
_RELATIVE = re.compile(r"[\w+-][\w.+-]*(?:/[\w.+-]+)*")
_WORD = re.compile(r"[A-Za-z_][\w.-]{1,40}")
_ANSWERING = re.compile(r"answer|print|repl(y|ies)|respond|standard output", re.I)
_SENTENCE = re.compile(r"(?<=[.:;!?])\s+|\n\s*\n")


def paths(text: str, home: str) -> tuple[str, ...]:
    """Absolute paths in the text, each once, in their order; `~` is `home`."""
    found = (match[0].rstrip("./,") for match in _PATH.finditer(text))
    return tuple(dict.fromkeys(_expanded(path, home) for path in found))


def relative(text: str) -> tuple[tuple[str, int], ...]:
    """File names in backticks that are no absolute path, with their place in the text."""
    found: dict[str, int] = {}
    for match in _TICKED.finditer(text):
        name = match[1].strip()
        if _RELATIVE.fullmatch(name) and PurePosixPath(name).suffix in ENDINGS and ".." not in name:
            found.setdefault(name, match.start())
    return tuple(found.items())


def outputs(
    text: str,
    home: str,
    workdir: str,
    exists: Callable[[str], bool],
    folders: Callable[[str], bool],
) -> tuple[str, ...]:
    """Absolute paths of what the instruction asks for: named, and not there.

    Args:
        text: the instruction.
        home: the agent's home.
        workdir: where names without a folder belong when nothing else is said.
        exists: whether the image holds a path (or something whose path ends in a relative one).
        folders: whether the image holds a folder.
    """
    made = [path for path in paths(text, home) if not exists(path) and not folders(path)]
    for name, place in relative(text):
        if exists(name) or any(path.endswith(f"/{name}") for path in made):
            continue
        before = [p for p in paths(text[:place], home) if folders(p)]
        made.append(f"{before[-1] if before else workdir}/{name}")
    return tuple(dict.fromkeys(made))


def is_program(path: str, text: str) -> bool:
    """Whether the text asks for a program at this path."""
    name = PurePosixPath(path)
    if name.suffix:
        return name.suffix in PROGRAM_ENDINGS
    around = (
        rf"(program|executable|script|command|tool)\b[^.\n]{{0,40}}[`~/\w.]*{re.escape(name.name)}`"
    )
    return re.search(around, text, re.I) is not None


def is_folder(path: str, text: str, named: tuple[str, ...]) -> bool:
    """Whether the text asks for a folder at this path."""
    if PurePosixPath(path).suffix:
        return False
    if any(other.startswith(f"{path}/") for other in named):
        return True
    name = re.escape(PurePosixPath(path).name)
    return re.search(rf"(below|folder|directory|into)\s+`?[~/\w.]*{name}`?", text, re.I) is not None


def words(text: str) -> tuple[str, ...]:
    """Plain words in backticks: keys, columns, codes, names."""
    found = (word for ticked in _TICKED.findall(text) for word in _WORD.findall(ticked))
    return tuple(dict.fromkeys(found))


def answers(text: str) -> tuple[str, ...]:
    """Short answers that the text says a program gives: two at least."""
    found = [
        token.strip()
        for sentence in _SENTENCE.split(text)
        if _ANSWERING.search(sentence)
        for token in _TICKED.findall(sentence)
        if 0 < len(token.strip()) <= 12 and not re.search(r"[\s/.]", token.strip())
    ]
    return tuple(dict.fromkeys([*found[:2], "0", "1"]))


def headers(text: str) -> tuple[str, ...]:
    """Header lines in backticks: names with one kind of separator between them."""
    lines = (line.strip() for line in _TICKED.findall(text))
    return tuple(
        line for line in lines if re.fullmatch(r"[A-Za-z_]\w*([,;|\t][A-Za-z_]\w*)+", line)
    )


def ports(text: str) -> tuple[int, ...]:
    """Ports above 1023, each once: numbers where the text speaks of ports, and `HOST:NUMBER`."""
    told = "\n".join(part for part in text.split("\n\n") if re.search(r"\bports?\b", part, re.I))
    found = re.findall(r"(?<![\d.,`-])\d{4,5}(?![\d.]*\d)", told)
    found += re.findall(r"(?<=[\w\]]:)\d{4,5}\b", text)
    return tuple(dict.fromkeys(n for n in map(int, found) if 1024 <= n < 65536))[:MOST_PORTS]


def rows(text: str) -> int:
    """How many rows a table is to have, as far as the text says; else 3."""
    found = re.search(r"\b(\d{1,5}) rows\b", text)
    return min(int(found[1]), 5000) if found else 3


def commands(text: str, program: str) -> tuple[tuple[str, ...], ...]:
    """Argument lists of command lines in which a program occurs, without it and redirections."""
    name = re.escape(PurePosixPath(program).name)
    lines = [*_TICKED.findall(text), *re.findall(r"^(?: {4}|\t)(\S.*)$", text, re.M)]
    found = (_arguments(line, name) for line in lines)
    return tuple(dict.fromkeys(args for args in found if args is not None))


def _arguments(line: str, name: str) -> tuple[str, ...] | None:
    match = re.search(rf"(?:^|[\s/]){name}((?:\s+[^\s<>|;&]+)*)", line)
    return tuple(match[1].split()) if match else None


def statements(text: str, pattern: str) -> Iterator[str]:
    """Sentences that match."""
    for sentence in _SENTENCE.split(text):
        if re.search(pattern, sentence, re.I):
            yield " ".join(sentence.split())


def _expanded(path: str, home: str) -> str:
    return home + path[1:] if path.startswith("~") else path
