"""A text filler: width, bullets, quotes, verbatim lines."""

import random

from envgen.authors.procedural.broken_tool.model import Fault, Kind, Params, Spot

WORDS = (
    "a",
    "to",
    "and",
    "with",
    "stone",
    "river",
    "window",
    "evening",
    "carefully",
    "lighthouses",
)


def draw_params(rng: random.Random) -> Params:
    return {"WIDTH": rng.randint(18, 40)}


def draw_input(rng: random.Random, params: Params) -> str:
    """Paragraphs whose words often end exactly at the edge, or are longer than a line."""
    width = int(str(params["WIDTH"]))
    out: list[str] = []
    for _ in range(rng.randint(2, 7)):
        kind = rng.randrange(7)
        if kind == 0:
            out.append("    " + _text(rng, width) + rng.choice(("", "  ")))
        elif kind == 1:
            out += ["- " + _text(rng, width - 2) for _ in range(rng.randint(1, 2))]
        elif kind == 2:
            out += ["> " + _text(rng, width - 2) for _ in range(rng.randint(1, 2))]
        else:
            out.append(_text(rng, width))
        out += [""] * rng.choice((0, 0, 1, 1, 2, 3))
    return "\n".join(out).rstrip("\n") + rng.choice(("\n", "\n", "\n\n", ""))


def _text(rng: random.Random, room: int) -> str:
    """Words, some of which fill a line exactly."""
    words = [rng.choice(WORDS) for _ in range(rng.randint(2, 9))]
    if rng.random() < 0.5:
        used = len(words[0]) + 1
        words.insert(1, "m" * max(1, room - used + rng.choice((0, 0, 1))))
    if rng.random() < 0.3:
        words.insert(
            rng.randrange(len(words)), "w" * rng.choice((room, room + 1, 2 * room, 2 * room + 5))
        )
    return " ".join(words)


KIND = Kind(
    name="wrapper",
    languages=("python", "c"),
    about="fills paragraphs of plain text to a fixed width",
    names=("fillpar", "narrowcast", "textfold", "parafit"),
    owners=("a newsletter for screen readers", "the receipt printers of a ferry line",
            "a museum's audio guide"),
    draw_params=draw_params,
    draw_input=draw_input,
    faults=(
        Fault("edge", "Lines are broken although the next word would have fitted.", {
            "python": Spot("if len(line) + needed <= WIDTH:",
                           "if len(line) + needed < WIDTH or empty:",
                           "if WIDTH - len(line) >= needed:"),
            "c": Spot("if (strlen(current) + needed <= WIDTH) {",
                      "if (strlen(current) + needed < WIDTH || empty) {",
                      "if (WIDTH - (int)strlen(current) >= (int)needed) {"),
        }),
        Fault("exact_word", "A word that is just as long as a line is taken apart.", {
            "python": Spot("    while len(word) > room:\n", "    while len(word) >= room:\n",
                           "    while room < len(word):\n"),
            "c": Spot("    while (length > room) {\n", "    while (length >= room) {\n",
                      "    while (room < length) {\n"),
        }),
        Fault("hanging", "The second line of a list item begins at the margin.", {
            "python": Spot('fill(self.words, BULLET, " " * len(BULLET))',
                           'fill(self.words, BULLET, "")', 'fill(self.words, BULLET, "  ")'),
            "c": Spot('strcmp(kind, BULLET) == 0 ? "  " : kind',
                      'strcmp(kind, BULLET) == 0 ? "" : kind',
                      'kind[0] == BULLET[0] ? "  " : kind'),
        }),
        Fault("second_quote", "Each line of a quotation becomes a paragraph of its own.", {
            "python": Spot("            if self.kind != QUOTE:\n                self.flush()\n",
                           "            self.flush()\n",
                           "            if not self.kind == QUOTE:\n"
                           "                self.flush()\n"),
            "c": Spot("        if (strcmp(kind, QUOTE) != 0) {\n            flush();\n"
                      "            begin(QUOTE);\n        }\n",
                      "        flush();\n        begin(QUOTE);\n",
                      "        if (kind[0] != QUOTE[0]) {\n            flush();\n"
                      "            begin(QUOTE);\n        }\n"),
        }),
        Fault("quote_end", "Text after a quotation becomes part of the quotation.", {
            "python": Spot("            if self.kind == QUOTE:\n                self.flush()\n"
                           "            self.words += line.split()\n",
                           "            self.words += line.split()\n",
                           "            if self.kind == QUOTE:\n                self.flush()\n"
                           "            self.words.extend(line.split())\n"),
            "c": Spot("        if (strcmp(kind, QUOTE) == 0)\n            flush();\n", "",
                      "        if (kind[0] == QUOTE[0])\n            flush();\n"),
        }),
        Fault("verbatim", "Lines that must stay as they are end up in the middle of other text, or "
              "before it.", {
            "python": Spot('        elif line.startswith("    "):\n            self.flush()\n',
                           '        elif line.startswith("    "):\n',
                           '        elif line[:4] == "    ":\n            self.flush()\n'),
        }),
        Fault("gap_kept", "Paragraphs that followed each other directly are pulled apart.", {
            "python": Spot("        self.gap = False\n        self.out += lines\n",
                           "        self.out += lines\n",
                           "        self.out.extend(lines)\n        self.gap = False\n"),
            "c": Spot("    gap = 0;\n    written = 1;\n", "    written = 1;\n",
                      "    written = 1;\n    gap = 0;\n"),
        }),
        Fault("trailing", "Blanks at the ends of verbatim lines are kept.", {
            "python": Spot("self.write([line.rstrip()])", "self.write([line])",
                           'self.write([line.rstrip(" \\t\\r")])'),
            "c": Spot("        while (length && strchr(\" \\t\", line[length - 1]))\n"
                      "            length--;\n", "",
                      "        for (; length && strchr(\" \\t\", line[length - 1]); length--)\n"
                      "            ;\n"),
        }),
    ),
)  # fmt: skip
