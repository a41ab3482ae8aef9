"""Paths, archive entries and uploads: ordinary, suspicious but harmless, hostile."""

import random
from collections.abc import Sequence

from envgen.authors.procedural.input_gate.encode import buried, dress, escape, wide
from envgen.authors.procedural.input_gate.policy import Policy
from envgen.authors.procedural.input_gate.words import Values, a_file, a_name, a_word, no_control


def _folders(rng: random.Random, policy: Policy, words: Sequence[str]) -> list[str]:
    return [a_word(rng, words) for _ in range(rng.randint(1, max(1, policy.path_depth - 2)))]


def good_path(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    text = "/".join([*_folders(rng, policy, words), a_file(rng, words)])
    return rng.choice(("", "/")) + escape(rng, text, rng.choice(("", "", "-", "/")))


def near_path(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    folder, file = a_word(rng, words), a_file(rng, words)
    text = rng.choice(
        (
            f"{folder}/../{file}",
            f"{folder}/./{a_word(rng, words)}/../../{file}",
            f"{folder}\\..\\{file}",
            f"{folder}/v1..2/{file}",
            f"{folder}..{a_word(rng, words)}/{file}",
            f"{folder}//{file}",
            f"{folder}../{file}",
            f"{folder}/..{file}",
            f"{folder}/100%/{file}",
            f"{folder}/%zz{file}",
            "/".join([folder] * (policy.path_depth - 1) + [file]),
            f"{folder}/" * policy.path_depth + ".." + f"/{file}",
        )
    )
    if not policy.fold and rng.random() < 0.2:
        return wide(f"../{folder}/{file}", "./")
    return dress(rng, policy, text, "./\\") if "%" not in text else text


def bad_path(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    folder, file, ups = a_word(rng, words), a_file(rng, words), rng.randint(1, 4)
    slash = rng.choice("//\\")
    climb = slash.join([".."] * (ups + 1))
    text = rng.choice(
        (
            f"{climb}{slash}{file}",
            f"{folder}{slash}{climb}{slash}etc{slash}{a_word(rng, words)}",
            f"{slash}{folder}{slash}.{slash}{climb}{slash}{slash}{file}",
            f"..{slash}{folder}{slash}{file}",
            slash.join([folder] * (policy.path_depth + 1)) + f"{slash}{file}",
            f"{folder}{slash}.{a_word(rng, words)}{slash}{file}",
            f"{folder}{slash}{file}\0.png",
        )
    )
    if rng.random() < 0.15:
        return buried(rng, policy, f"{folder}/{climb}/{file}", "./")
    return dress(rng, policy, no_control(rng, text), "./\\")


def good_entry(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    folders = [a_word(rng, words) for _ in range(rng.randrange(max(1, policy.entry_depth - 1)))]
    return "/".join([*folders, a_file(rng, words)])


def near_entry(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, file = a_word(rng, words), a_file(rng, words)
    device = rng.choice(policy.entry_reserved)
    text = rng.choice(
        (
            f"{device}sole.{one}",
            f"{one}/{device}x/{file}",
            f"{one}.{device}",
            f"{one}/..{file}",
            f"{one}/a..b/{file}",
            f"{one}/",
            "/".join([one] * policy.entry_depth),
            f"{one}\\{file}",
            f"{one}/ab:{file}",
            f"{one}/.{file}",
            f"_{device}/{file}",
            one + "z" * (policy.entry_bytes - len(one)),
            one + "%7A" * (policy.entry_bytes - len(one)),
        )
    )
    if not policy.fold and rng.random() < 0.15:
        return wide(f"{device}.{one}", device)
    return dress(rng, policy, text, "./\\") if "%" not in text and rng.random() < 0.5 else text


def bad_entry(rng: random.Random, policy: Policy, words: Sequence[str]) -> str:
    one, file, slash = a_word(rng, words), a_file(rng, words), rng.choice("//\\")
    device = rng.choice(policy.entry_reserved)
    device = rng.choice((device, device.upper(), device.title()))
    text = rng.choice(
        (
            f"..{slash}{file}",
            f"{one}{slash}..{slash}..{slash}{file}",
            f"{slash}{one}{slash}{file}",
            f"{rng.choice('CcDz')}:{slash}{one}{slash}{file}",
            f"{rng.choice('CcDz')}:{file}",
            f"{one}{slash}{device}",
            f"{device}.{one}.txt",
            f"{one}{slash}{device}.{one}{slash}{file}",
            f"{one}.{slash}{file}",
            f"{one}{slash}{file} ",
            f"{one}{slash}{slash}{file}",
            f".{slash}{file}",
            slash.join([one] * (policy.entry_depth + 1)),
            one + "z" * (policy.entry_bytes - len(one) + 1),
            f"{one}\0{file}",
        )
    )
    if rng.random() < 0.1:
        return buried(rng, policy, f"../{file}", "./")
    return dress(rng, policy, no_control(rng, text), "./\\:" + device[0])


def _kind(rng: random.Random, policy: Policy) -> tuple[str, str]:
    return rng.choice(sorted(policy.upload_types.items()))


def good_upload(rng: random.Random, policy: Policy, words: Sequence[str]) -> Values:
    ending, declared = _kind(rng, policy)
    return f"{a_name(rng, words)}.{ending}", declared


def near_upload(rng: random.Random, policy: Policy, words: Sequence[str]) -> Values:
    (ending, declared), one = _kind(rng, policy), a_name(rng, words)
    blocked = rng.choice(policy.upload_blocked)
    name = rng.choice(
        (
            f"{one}.v2.{ending}",
            f"{one}.{ending.upper()}",
            f"{blocked}.{ending}",
            f"{one}-{blocked}.{ending}",
            f"{one} (1).{ending}",
            f"{one}%2E{ending}",
            f"{one}.x{blocked}.{ending}",
            f"{one}.2024.{ending}",
            f"100%.{ending}",
        )
    )
    return name, rng.choice(
        (declared, declared.upper(), f"{declared}; charset=utf-8", f"{declared} ")
    )


def bad_upload(rng: random.Random, policy: Policy, words: Sequence[str]) -> Values:
    (ending, declared), one = _kind(rng, policy), a_name(rng, words)
    other = rng.choice(sorted(set(policy.upload_types.values()) - {declared}))
    blocked = rng.choice(policy.upload_blocked)
    name = rng.choice(
        (
            f"{one}.{blocked}.{ending}",
            f"{one}.{blocked.upper()}.v2.{ending}",
            f"{one}.{blocked}",
            f"{one}.{ending}.{blocked}",
            f"{one}.{ending}.",
            f".{ending}",
            f"{one}",
            f"{one}..{ending}",
            f"{one}.{blocked}\0.{ending}",
            f"dir/{one}.{ending}",
            f"..\\{one}.{ending}",
            f"{one}.{ending} ",
        )
    )
    if rng.random() < 0.2:
        return f"{one}.{ending}", rng.choice((other, f"{other};{declared}", "", f"x{declared}"))
    return dress(rng, policy, no_control(rng, name), "./" + blocked[0]), declared
