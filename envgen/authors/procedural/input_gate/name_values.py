"""Host names, lists of numbers and references: ordinary, suspicious, hostile."""

import random
from collections.abc import Sequence

from envgen.authors.procedural.input_gate.encode import wide
from envgen.authors.procedural.input_gate.policy import Policy
from envgen.authors.procedural.input_gate.words import a_name, a_word


def _zone(rng: random.Random, policy: Policy) -> str:
    return rng.choice(policy.host_zones or ("example.net", "example.org", "lab.example"))


def good_host(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    return f"{a_word(rng, words)}{rng.randrange(40)}.{_zone(rng, policy)}"


def near_host(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, zone = a_word(rng, words), _zone(rng, policy)
    choices = [
        f"{one}.{zone}.",
        f"{one.upper()}.{zone.title()}",
        f"xn--{one}-9ta.{zone}",
        f"{rng.randrange(255)}.{zone}",
        f"{'a' * 63}.{zone}",
        f"{one}--{rng.randrange(9)}.{zone}",
        ".".join([one, *(["b" * 55] * 3)]) + f".{zone}",
    ]
    if policy.host_underscore:
        choices.append(f"_{one}._tcp.{zone}")
    return rng.choice(choices)


def bad_host(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, two, zone = *rng.sample(list(words), 2), _zone(rng, policy)
    return rng.choice(
        (
            f"{one}.{zone};{two}",
            f"$({one}).{zone}",
            f"`{one}`.{zone}",
            f"{one}.{zone}|{two}",
            f"{one}.{zone}%0a{two}",
            f"{one} {two}.{zone}",
            f"-o{one}.{zone}",
            f"{one}-.{zone}",
            f"{one}..{zone}",
            f".{one}.{zone}",
            f"{one}.{zone}..",
            f"{'a' * 64}.{zone}",
            f"{'.'.join(['c' * 60] * 4)}.{one}.{zone}",
            f"{one}_{two}.{zone}",
            f"{one}.{zone}.{rng.randrange(99)}",
            f"{one}\u0456{two}.{zone}",
            f"{one}.{zone}\uff0e{two}",
            f"{one}.{zone}.{two}.example" if policy.host_zones else one,
            f"{one}{zone}" if policy.host_zones else f"{one}/{zone}",
            f"{one}.{zone}:{rng.randrange(1, 999)}",
            f"__{one}.{zone}" if rng.random() < 0.5 else f"{one}&&{two}.{zone}",
        )
    )


def _id(rng: random.Random, policy: Policy) -> str:
    return str(rng.randrange(1, 10 ** rng.randint(1, policy.ids_digits)))


def good_ids(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    return ",".join(_id(rng, policy) for _ in range(rng.randint(1, 3)))


def near_ids(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    longest, one = "9" * policy.ids_digits, _id(rng, policy)
    many = [str(10 + n) for n in rng.sample(range(80), policy.ids_max)]
    choices = [longest, ",".join(many), f"{one},{longest}", f"1{one[:2]}"]
    if policy.ids_zero:
        choices += [f"0{one[:-1]}", "0"]
    if not policy.ids_unique:
        choices.append(f"{one},{one}")
    return rng.choice(choices)


def bad_ids(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, two = _id(rng, policy), _id(rng, policy)
    many = [str(10 + n) for n in rng.sample(range(80), policy.ids_max + 1)]
    return rng.choice(
        (
            f"{one} OR 1=1",
            f"{one};{two}",
            f"{one}%2C{two}",
            f"{one},,{two}",
            f"{one},",
            f",{one}",
            f"{one}, {two}",
            f"-{one}",
            f"{one}.0",
            f"0x{one}",
            wide(one, "0123456789"),
            "1" * (policy.ids_digits + 1),
            ",".join(many),
            f"{one}'--",
            f"{one},{a_word(rng, words)}",
            "",
            f"0{one[:-1]}" if not policy.ids_zero else f"{one}e3",
            f"{one},{two},{one}" if policy.ids_unique else f"{one}+{two}",
            "\u0663\u0664",
        )
    )


def good_ref(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    return rng.choice((a_name(rng, words), f"release/{rng.randrange(9)}.{rng.randrange(20)}"))


def near_ref(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, two = rng.sample(list(words), 2)
    return rng.choice(
        (
            f"{one}.lockfile",
            f"{one}/lock",
            f"{one}.-{two}",
            f"{one}/-{two}",
            f"{one}-",
            f"{one}/{two}.lock.2",
            f"_{one}/{two}",
            f"v{rng.randrange(9)}.{rng.randrange(9)}.0-rc.1",
            one + "-" * (policy.ref_bytes - len(one)),
        )
    )


def bad_ref(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, two = rng.sample(list(words), 2)
    return rng.choice(
        (
            f"--upload-{one}={two}",
            f"-{one}",
            f"{one};{two}",
            f"{one}..{two}",
            f"{one}@{{1}}",
            f"{one}/.{two}",
            f".{one}",
            f"{one}.lock",
            f"{one}.lock/{two}",
            f"{one}//{two}",
            f"/{one}",
            f"{one}/",
            f"{one}.",
            f"{one}~1",
            f"{one}$({two})",
            f"{one} {two}",
            f"{one}%2f{two}",
            f"{one}\\{two}",
            f"{one}\u2215{two}",
            one + "-" * (policy.ref_bytes - len(one) + 1),
            "",
        )
    )
