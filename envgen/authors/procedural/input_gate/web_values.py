"""Header values, cells, targets and redirects: ordinary, suspicious, hostile."""

import random
from collections.abc import Sequence

from envgen.authors.procedural.input_gate.encode import buried, dress, escape, wide
from envgen.authors.procedural.input_gate.policy import Policy
from envgen.authors.procedural.input_gate.words import a_name, a_word, no_control

WIDE = "\x85\u2028\u2029"


def good_header(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    return " ".join(rng.sample(list(words), rng.randint(2, 5))) + rng.choice(
        ("", " 2.1", "; q=0.8")
    )


def near_header(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, two = rng.sample(list(words), 2)
    base = f"{one} {two} "
    choices = [
        f"{one}\\r\\n{two}: 1",
        f"{one} %0 {two}",
        f"{one}%0g{two}",
        f"{one} Set-Cookie: {two}=1",
        f"{one}%20{two}%3A%20ok",
        f"{one} 100% {two}",
        base + "x" * (policy.header_bytes - len(base)),
        base + "%78" * (policy.header_bytes - len(base)),
        f"{one} \u00e9\u00e8 {two}",
    ]
    if not policy.header_wide:
        choices += [f"{one}%E2%80%A8{two}", f"{one}%C2%85{two}"]
    return rng.choice(choices)


def bad_header(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, two = rng.sample(list(words), 2)
    breaks = rng.choice(("\r\n", "\n", "\r", "\r\n\r\n", "\0", "\t", "\x0b", "\x7f"))
    text = f"{one}{breaks}X-{two}: {rng.randrange(99)}"
    times = rng.randint(1, policy.rounds)
    kind = rng.randrange(10)
    if kind == 0:
        return f"{one} " + "y" * (policy.header_bytes - len(one) + rng.randrange(3))
    if kind == 1 and policy.header_wide:
        return escape(rng, f"{one}{rng.choice(WIDE)}{two}", WIDE, times)
    if kind == 2:
        return buried(rng, policy, f"{one} {two}", " ")
    return escape(rng, text, "\r\n\0\t\x0b\x7f", times)


def good_cell(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    return rng.choice((" ".join(rng.sample(list(words), 2)), str(rng.randrange(10_000)), ""))


def near_cell(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, two = rng.sample(list(words), 2)
    number = f"{rng.randrange(1, 999)}{policy.formula_decimal}{rng.randrange(10, 99)}"
    choices = [
        f"-{number}",
        f"+{rng.randrange(1, 9999)}",
        f" -{rng.randrange(1, 99)} ",
        f"%2D{number}",
        f"{one} = {two}",
        f"{one}@{two}.example.org",
        f"({one}=1)",
        f"{one} - {two}",
        f"#{one}+{two}",
        f"{one}%3D{two}",
    ]
    if not policy.formula_quotes:
        choices += [f"'={one}", f'"-{two}"']
    if not policy.fold:
        choices.append(wide(f"={one}", "="))
    return rng.choice(choices)


def bad_cell(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, two = rng.sample(list(words), 2)
    mark = rng.choice(policy.formula_marks)
    wrong = "." if policy.formula_decimal == "," else ","
    text = rng.choice(
        (
            f"{mark}{one}({rng.choice('AB')}{rng.randrange(1, 40)})",
            f"  {mark}{one}|'{two}'!A0",
            f"{mark}{rng.randrange(9)}+{rng.randrange(9)}*cmd",
            f"-{rng.randrange(1, 99)}{wrong}{rng.randrange(10, 99)}",
            f"+{rng.randrange(99)}{policy.formula_decimal}",
            f"--{rng.randrange(99)}",
            f"{mark}",
            f"{mark}%",
        )
    )
    if policy.formula_quotes and rng.random() < 0.3:
        text = rng.choice(("'", '"', "' ", '""')) + text
    if rng.random() < 0.1:
        return escape(rng, f"\t={one}", "\t")
    return dress(rng, policy, text, policy.formula_marks + "+-'")


def _port(rng: random.Random, policy: Policy) -> str:
    return rng.choice(("", f":{rng.choice(policy.target_ports)}"))


def good_target(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    host = f"{a_word(rng, words)}.{rng.choice(('example.org', 'example.com', 'shop.example'))}"
    return f"http{rng.choice(('', 's'))}://{host}{_port(rng, policy)}/{a_name(rng, words)}"


def _beside(rng: random.Random, policy: Policy) -> int:
    """An address just outside a refused net."""
    start, size = _net(rng.choice(policy.target_nets))
    return (start + rng.choice((-1, size, size + 256))) % 2**32


def _within(rng: random.Random, policy: Policy) -> int:
    start, size = _net(rng.choice(policy.target_nets))
    return start + rng.choice((0, 1, size - 1, rng.randrange(size)))


def _net(net: str) -> tuple[int, int]:
    base, bits = net.split("/")
    a, b, c, d = (int(part) for part in base.split("."))
    return (a << 24) + (b << 16) + (c << 8) + d, 1 << (32 - int(bits))


def _spelled(rng: random.Random, address: int) -> str:
    parts = [address >> shift & 255 for shift in (24, 16, 8, 0)]
    kind = rng.randrange(6)
    if kind == 0:
        return str(address)
    if kind == 1:
        return f"0x{address:08x}"
    if kind == 2:
        return ".".join(f"0{part:o}" if part else "0" for part in parts)
    if kind == 3:
        return f"{parts[0]}.{parts[1]}.{address & 0xFFFF}"
    if kind == 4:
        return ".".join(rng.choice((f"0x{part:X}", str(part))) for part in parts)
    return ".".join(map(str, parts))


def near_target(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, end = a_word(rng, words), rng.choice(policy.target_suffixes)
    host = rng.choice(
        (
            _spelled(rng, _beside(rng, policy)),
            _spelled(rng, _beside(rng, policy)),
            f"{end}.{one}.example",
            f"{one}{end.replace('.', '-')}.example.org",
            f"10.{one}.example.com",
            f"0x7f.{one}.example.org",
            f"{one}.example.org.",
            f"my{end}",
        )
    )
    tail = rng.choice(("", "/", f"/?u=http://127.0.0.1/{one}", f"/a@{one}", f"#{end}", "?q=@x"))
    scheme = rng.choice(("http", "HTTPS", "hTTp"))
    return f"{scheme}://{host}{_port(rng, policy)}{tail}"


def bad_target(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, end = a_word(rng, words), rng.choice(policy.target_suffixes)
    inner = rng.choice((_spelled(rng, _within(rng, policy)), f"{one}.{end}", end))
    port = next(
        p for p in iter(lambda: rng.randrange(1, 65536), -1) if p not in policy.target_ports
    )
    text = rng.choice(
        (
            f"http://{inner}/",
            f"https://{inner}{_port(rng, policy)}/{one}",
            f"http:\\\\{inner}\\{one}",
            f"http://{inner}.",
            f"HTTP://{inner.upper()}?{one}",
            f"http://{one}.example.org@{inner}/",
            f"http://{inner}#@{one}.example.org/",
            f"https://{one}.example.org:{port}/",
            f"http://[::1]/{one}",
            f"ftp://{one}.example.org/",
            f"//{one}.example.org/",
            f"http://{one}.example.org:/{one}",
            "http://1.2.3.4.5/",
            f"http://{one}.256.9/",
            f"https://{one}..example.org/",
            f"http://4294967296/{one}",
        )
    )
    if rng.random() < 0.08:
        return buried(rng, policy, text, "./")
    return dress(rng, policy, text, "./:" + inner[:2]) if rng.random() < 0.4 else text


def good_redirect(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    return rng.choice(
        (f"/{a_word(rng, words)}/{a_name(rng, words)}", f"/{a_word(rng, words)}", "/", "")
    )


def near_redirect(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, host = a_word(rng, words), rng.choice(policy.redirect_hosts)
    return rng.choice(
        (
            f"https://{host}",
            f"HTTPS://{host.upper()}/{one}",
            f"https://{host}?u=//{one}.example",
            f"https%3A%2F%2F{host}%2F{one}",
            f"/{one}//{one}",
            f"/{one}?next=https://{one}.example/",
            f" /{one} ",
            f"/@{one}.example",
            f"/{one}/%2e%2e/{one}",
            f"/:{rng.randrange(99)}//",
            f"https://{host}#@{one}.example",
        )
    )


def bad_redirect(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, host = a_word(rng, words), rng.choice(policy.redirect_hosts)
    text = rng.choice(
        (
            f"//{one}.example/",
            f"///{one}.example",
            f"/\\{one}.example",
            f"\\\\{one}.example",
            f"https://{one}.example/{host}",
            f"https://{host}.{one}.example",
            f"https://{host}@{one}.example/",
            f"https://{host}:8443/",
            f"http://{host}/{one}",
            f"https:/{host}/",
            f"javascript:{one}(1)",
            f"{one}.example/",
            f"https://{one}{host}/",
            f"  //{one}.example",
            f"https://{host}\\@{one}.example",
            f"\t//{one}.example",
        )
    )
    if rng.random() < 0.1:
        return buried(rng, policy, f"//{one}.example", "/")
    return dress(rng, policy, no_control(rng, text), "/\\:@")
