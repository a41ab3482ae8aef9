"""A settings resolver: layers, quotes, references."""

import random

from envgen.authors.procedural.broken_tool.model import Fault, Kind, Params, Spot

KEYS = ("app.root", "app.port", "db.host", "db.user", "log.dir", "log.level", "mail.from", "tmp")
WORDS = ("main", "var", "north", "8080", "debug", "srv", "green", "a=b", "k=v=w")


def draw_params(rng: random.Random) -> Params:
    return {"REMOVED": rng.choice(("!", "-", "~")), "COMMENT": rng.choice(("#", ";"))}


def draw_input(rng: random.Random, params: Params) -> str:
    """Three short layers with everything that the notes mention."""
    removed, comment = str(params["REMOVED"]), str(params["COMMENT"])
    keys = rng.sample(KEYS, rng.randint(3, 6))
    out = []
    for layer in ("base", "site", "host")[: rng.randint(1, 3)]:
        if layer != "base" or rng.random() < 0.5:
            out.append(f"[{layer}]")
        for _ in range(rng.randint(2, 6)):
            out.append(_line(rng, keys, removed, comment))
    return "\n".join(out) + "\n"


def _line(rng: random.Random, keys: list[str], removed: str, comment: str) -> str:
    key, kind = rng.choice(keys), rng.randrange(16)
    if kind == 0:
        return f"{key} {removed}"
    if kind == 1:
        return rng.choice((f"{comment} {key} = x", "", f"{key} x", f" {comment}", "two words = x"))
    pad = rng.choice(("", " ", "  "))
    return f"{pad}{key}{pad}={pad}{_value(rng, keys, comment)}{_remark(rng, comment)}"


def _remark(rng: random.Random, comment: str) -> str:
    return f" {comment} {rng.choice(WORDS)}" if rng.random() < 0.2 else ""


def _value(rng: random.Random, keys: list[str], comment: str) -> str:
    one, two = rng.sample(WORDS, 2)
    known, other = rng.choice(keys), rng.choice(KEYS)
    plain = rng.choice((
        one, f"{one}/{two}", f"${{{known}}}", f"${{{known}}}/{one}", f"${{{known}}}-${{{known}}}",
        f"${{{other}|{two}}}", f"${{{known}}}{one}${{{other}|}}", f"cost $$5 {one}",
        f"$${{{known}}}",
        f"{one}{comment}{two}", f"{one} $", f"${{{other}",
    ))  # fmt: skip
    if rng.random() < 0.35:
        inner = rng.choice(
            (plain, f" {plain} ", f"{one} {comment} {two}", f"\\\\{one}\\\\", '\\"x\\"')
        )
        return f'"{inner}"'
    return plain


KIND = Kind(
    name="confres",
    languages=("python",),
    about="merges layered settings and resolves their references",
    names=("confmerge", "layercfg", "setmix", "envstack"),
    owners=("the deployment of a ticket shop", "a fleet of edge servers", "the build farm"),
    draw_params=draw_params,
    draw_input=draw_input,
    faults=(
        Fault("last_equals", "A value that has an equals sign in it arrives mutilated.", {
            "python": Spot('key, mark, text = line.partition("=")',
                           'key, mark, text = line.rpartition("=")',
                           'key, mark, text = (*line.split("=", 1), "")[:1] + '
                           '(("=", line.split("=", 1)[1]) if "=" in line else ("", ""))'),
        }),
        Fault("dollar", "Two dollar signs stay two.", {
            "python": Spot('                out += "$"\n', '                out += "$$"\n',
                           '                out = out + chr(36)\n'),
        }),
        Fault("diamond", "A setting that is referred to twice is reported as a cycle.", {
            "python": Spot("        return self.expand(self.raw[key], (*path, key))",
                           "        self.seen = getattr(self, 'seen', {})\n"
                           "        if path and key in self.seen.setdefault(path[0], set()):\n"
                           '            raise Trouble("cycle")\n'
                           "        first = path[0] if path else key\n"
                           "        self.seen.setdefault(first, set()).add(key)\n"
                           "        return self.expand(self.raw[key], (*path, key))",
                           "        return self.expand(self.raw[key], path + (key,))"),
        }),
        Fault("not_removed", "A setting that a layer takes away is still there.", {
            "python": Spot("self.raw.pop(line[:-1].strip(), None)",
                           "self.raw.pop(line[:-1], None)",
                           "if line[:-1].strip() in self.raw:\n"
                           "                del self.raw[line[:-1].strip()]"),
        }),
        Fault("quoted_comment", "Quoted values are cut off.", {
            "python": Spot("    if text.strip().startswith('\"'):\n",
                           "    text = (text + ' ').partition(' ' + COMMENT)[0]\n"
                           "    if text.strip().startswith('\"'):\n",
                           "    if text.strip()[:1] == '\"':\n"),
        }),
        Fault("backslash", "Backslashes in quoted values are doubled or lost.", {
            "python": Spot('            place += 1\n        out += text[place]\n',
                           '            out += text[place]\n            place += 1\n'
                           '        out += text[place]\n',
                           '            place = place + 1\n        out = out + text[place]\n'),
        }),
        Fault("first_wins", "A later layer does not get its way.", {
            "python": Spot("        self.raw[key] = value_of(text)\n",
                           "        self.raw.setdefault(key, value_of(text))\n",
                           "        self.raw.update({key: value_of(text)})\n"),
        }),
        Fault("default", "A default is used though the setting exists.", {
            "python": Spot("if default is not None and name not in self.raw:",
                           "if default is not None and (default or name not in self.raw):",
                           "if name not in self.raw and default is not None:"),
        }),
    ),
)  # fmt: skip
