"""A ledger: amounts in cents, splits, fees, days."""

import random

from envgen.authors.procedural.broken_tool.model import Fault, Kind, Params, Spot

ACCOUNTS = ("bank", "cash", "dues", "rent", "tea", "travel", "umbra")


def draw_params(rng: random.Random) -> Params:
    return {"LIMIT": rng.choice((0, 500, 1000, 2500, 5000))}


def draw_input(rng: random.Random, params: Params) -> str:
    """Postings in all notations, splits that leave cents over, moves up to the limit."""
    names = rng.sample(ACCOUNTS, rng.randint(2, 4))
    held, out = dict.fromkeys(names, 0), []
    for _ in range(rng.randint(5, 14)):
        name, kind = rng.choice(names), rng.randrange(12)
        if kind < 4:
            value = rng.choice(
                (rng.randint(-900, 900), rng.randint(-99, 99), 50 * rng.randint(-9, 9))
            )
            held[name] += value
            out.append(f"post {name} {_amount(rng, value)}")
        elif kind < 6:
            group = rng.sample(names, rng.randint(2, len(names)))
            value = rng.choice((100, 1000, -1000, rng.randint(-999, 999)))
            out.append(f"split {_amount(rng, value)} {' '.join(group)}")
        elif kind < 8:
            room = held[name] + int(str(params["LIMIT"]))
            value = rng.choice((room, room, room + 1, rng.randint(1, 900)))
            out.append(f"move {name} {rng.choice(names)} {_amount(rng, max(value, 1))}")
        elif kind < 10:
            out.append(f"fee {name} {rng.choice((5, 15, 25, 50, 125, 500))}")
        elif kind == 10:
            out.append("day")
        else:
            out.append(rng.choice(("# note", "", "post tea 1.234", "post tea", "split x bank cash",
                                   f"move {name} tea -1", f"fee {name} -3")))  # fmt: skip
    return "\n".join(out) + "\n"


def _amount(rng: random.Random, cents: int) -> str:
    sign, size = "-" if cents < 0 else "", abs(cents)
    if size % 100 == 0 and rng.random() < 0.7:
        return f"{sign}{size // 100}"
    if size % 10 == 0 and rng.random() < 0.7:
        return f"{sign}{size // 100}.{size % 100 // 10}"
    return f"{sign}{size // 100}.{size % 100:02d}"


KIND = Kind(
    name="ledger",
    languages=("python", "c"),
    about="keeps accounts and closes them day by day",
    names=("daybook", "centsafe", "tillclose", "clubledger"),
    owners=("a sports club", "the canteen of a research institute", "a housing cooperative"),
    draw_params=draw_params,
    draw_input=draw_input,
    faults=(
        Fault("tenths", "Amounts with one digit after the point are far too small.", {
            "python": Spot('int((part or "").ljust(2, "0"))', 'int(part or "0")',
                           'int(((part or "") + "00")[:2])'),
            "c": Spot("*value += digits == 2 ? atoi(text) : 10 * atoi(text);",
                      "*value += atoi(text);",
                      "*value += atoi(text) * (digits == 1 ? 10 : 1);"),
        }),
        Fault("small_negative", "Debts of less than one unit are shown as credit.", {
            "python": Spot('sign = "-" if value < 0 else ""', 'sign = "-" if value <= -100 else ""',
                           'sign = "-" * (value < 0)'),
            "c": Spot('printf("%s%lld.%02lld", value < 0 ? "-" : "", size / 100, size % 100);',
                      'printf("%s%lld.%02lld", value <= -100 ? "-" : "", size / 100, size % 100);',
                      'if (value < 0)\n        putchar(\'-\');\n'
                      '    printf("%lld.%02lld", size / 100, size % 100);'),
        }),
        Fault("rest_last", "The odd cents of a split go to the wrong people.", {
            "python": Spot("(1 if place < rest else 0)",
                           "(1 if place >= len(accounts) - rest else 0)", "int(rest > place)"),
            "c": Spot("(i < rest ? 1 : 0)", "(i >= count - rest ? 1 : 0)", "(rest > i)"),
        }),
        Fault("fee_rounding", "Fees that end in half a cent are one cent too small.", {
            "python": Spot("(2 * abs(value) * per_mille + 1000) // 2000",
                           "(2 * abs(value) * per_mille + 999) // 2000",
                           "(abs(value) * per_mille + 500) // 1000"),
            "c": Spot("(2 * size * per_mille + 1000) / 2000", "(2 * size * per_mille + 999) / 2000",
                      "(size * per_mille + 500) / 1000"),
        }),
        Fault("turnover", "What an account moved on a day holds earlier days as well.", {
            "python": Spot("        self.turnover = {}\n        return out\n",
                           "        return out\n",
                           "        self.turnover.clear()\n        return out\n"),
            "c": Spot("        accounts[i].turnover = 0;\n", "",
                      "        accounts[i].turnover -= accounts[i].turnover;\n"),
        }),
        Fault("limit", "A transfer that goes exactly to the limit is refused.", {
            "python": Spot("- value < -LIMIT:", "- value <= -LIMIT:", "+ LIMIT < value:"),
            "c": Spot("- value < -LIMIT)", "- value <= -LIMIT)", "+ LIMIT < value)"),
        }),
        Fault("signed_turnover", "An account that paid out what it took in has moved nothing.", {
            "python": Spot("self.turnover.get(account, 0) + abs(value)",
                           "self.turnover.get(account, 0) + value",
                           "self.turnover.get(account, 0) + max(value, -value)"),
            "c": Spot("account->turnover += value < 0 ? -value : value;",
                      "account->turnover += value;",
                      "account->turnover += value > 0 ? value : -value;"),
        }),
        Fault("line_numbers", "Messages name lines that have nothing wrong with them.", {
            "python": Spot("text.split(\"\\n\"), start=1):\n",
                           "[line for line in text.split(\"\\n\") if line.strip()], start=1):\n",
                           "text.split(chr(10)), 1):\n"),
            "c": Spot("        number++;\n        if (line[0] == '#')\n",
                      "        number += line[strspn(line, \" \\t\\r\\n\")] != 0;\n"
                      "        if (line[0] == '#')\n",
                      "        number += 1;\n        if (line[0] == '#')\n"),
        }),
    ),
)  # fmt: skip
