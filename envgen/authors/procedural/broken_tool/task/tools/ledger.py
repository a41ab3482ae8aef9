"""Keeps accounts in cents and closes them day by day."""

import re
import sys
from typing import Dict, List

LIMIT = 5000
AMOUNT = re.compile(r"(-?)([0-9]+)(?:\.([0-9]{1,2}))?")


class Refused(Exception):
    """The line is well formed but not allowed."""


def cents(text: str) -> int:
    """Cents of an amount such as 12, 12.5 or -0.50; ValueError for anything else."""
    found = AMOUNT.fullmatch(text)
    if not found:
        raise ValueError(text)
    sign, whole, part = found.groups()
    value = int(whole) * 100 + int((part or "").ljust(2, "0"))
    return -value if sign else value


def shown(value: int) -> str:
    sign = "-" if value < 0 else ""
    return f"{sign}{abs(value) // 100}.{abs(value) % 100:02d}"


def share(value: int, per_mille: int) -> int:
    """So many thousandths of a value, rounded to whole cents, halves away from zero."""
    part = (2 * abs(value) * per_mille + 1000) // 2000
    return -part if value < 0 else part


class Ledger:
    """Balances, and what went through each account since the day began."""

    def __init__(self) -> None:
        self.balance: Dict[str, int] = {}
        self.turnover: Dict[str, int] = {}
        self.days = 0

    def post(self, account: str, value: int) -> None:
        self.balance[account] = self.balance.get(account, 0) + value
        self.turnover[account] = self.turnover.get(account, 0) + abs(value)

    def split(self, value: int, accounts: List[str]) -> None:
        """Equal parts; cents that are left over go to the first accounts, one each."""
        sign = -1 if value < 0 else 1
        part, rest = divmod(abs(value), len(accounts))
        for place, account in enumerate(accounts):
            self.post(account, sign * (part + (1 if place < rest else 0)))

    def move(self, source: str, target: str, value: int) -> None:
        if value <= 0:
            raise ValueError(value)
        if self.balance.get(source, 0) - value < -LIMIT:
            raise Refused
        self.post(source, -value)
        self.post(target, value)

    def fee(self, account: str, per_mille: int) -> None:
        self.post(account, -share(self.balance.get(account, 0), per_mille))

    def close(self) -> List[str]:
        """The lines of a day's end."""
        self.days += 1
        out = [f"day {self.days}"]
        for account in sorted(self.balance):
            moved = self.turnover.get(account, 0)
            out.append(f"{account} {shown(self.balance[account])} moved {shown(moved)}")
        out.append(f"total {shown(sum(self.balance.values()))}")
        self.turnover = {}
        return out

    def apply(self, words: List[str]) -> List[str]:
        command, *rest = words
        if command == "post" and len(rest) == 2:
            self.post(rest[0], cents(rest[1]))
        elif command == "split" and len(rest) >= 2:
            self.split(cents(rest[0]), rest[1:])
        elif command == "move" and len(rest) == 3:
            self.move(rest[0], rest[1], cents(rest[2]))
        elif command == "fee" and len(rest) == 2 and rest[1].isdigit():
            self.fee(rest[0], int(rest[1]))
        elif command == "day" and not rest:
            return self.close()
        else:
            raise ValueError(command)
        return []


def run(text: str) -> str:
    ledger = Ledger()
    out: List[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            out += ledger.apply(line.split())
        except ValueError:
            out.append(f"line {number}: invalid")
        except Refused:
            out.append(f"line {number}: refused")
    out += ledger.close()
    return "".join(line + "\n" for line in out)


if __name__ == "__main__":
    sys.stdout.write(run(sys.stdin.read()))
