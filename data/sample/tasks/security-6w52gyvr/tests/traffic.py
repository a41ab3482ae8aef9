# mypy: ignore-errors
"""What arrives at the receiver, in order: good requests and, by kind, bad ones."""

import scheme


def changed(text, rng, kind, rules):
    """A signed request with something else in it."""
    head, _, body = text.partition("\n\n")
    if kind == "body changed":
        return f"{head}\n\n{body}{rng.choice('xyz')}"
    if kind == "query changed":
        first, rest = text.split("\n", 1)
        return f"{first}&{rng.choice('uvw')}=1\n{rest}"
    if kind == "method changed":
        word = text.split(" ", 1)[0]
        return ("PATCH" if word.upper() == "PUT" else "PUT") + text[len(word) :]
    name = rng.choice(rules["headers"])
    lines = [line for line in head.split("\n") if not line.lower().startswith(name + ":")]
    return "\n".join([lines[0], f"{name}: other-{rng.randrange(99)}", *lines[1:]]) + f"\n\n{body}"


def stream(rng, rules, keys, kinds, count):
    """[(receiver's clock, request, "" when good or the kind of bad)], in order of arrival."""
    good = [k for k, v in keys.items() if not v["withdrawn"] and v["to"] > scheme.START]
    old = next(k for k, v in keys.items() if v["to"] <= scheme.START)
    gone = next(k for k, v in keys.items() if v["withdrawn"])
    clock, window, seen, out = scheme.START, rules["window"], [], []
    plan = [""] * count + [kind for kind in kinds for _ in range(count // 4 + 2)]
    rng.shuffle(plan)
    for kind in ["", *plan]:
        clock += rng.randrange(0, 3)
        if kind == "replayed":
            fresh = [one for one in seen if clock - one[0] < window - 5]
            text = rng.choice(fresh or seen)[1]
            out.append((clock, text, kind))
            continue
        keyid = {"key withdrawn": gone, "key out of its time": old}.get(kind) or rng.choice(good)
        when = clock - rng.choice((0, 1, rng.randrange(window), window)) + rng.choice((0, 0, 3))
        when = min(max(when, clock - window), clock + window)
        if kind == "too old":
            when = clock - window - rng.randrange(1, 3000)
        if kind == "from the future":
            when = clock + window + rng.randrange(1, 3000)
        nonce = f"{rng.getrandbits(48):012x}"
        plain = scheme.draw_request(rng)
        sign = scheme.signature(plain, rules, keyid, keys[keyid]["secret"], when, nonce)
        if kind == "cut signature":
            sign = rng.choice((sign[: rng.randrange(1, len(sign) - 1)], sign[:8], sign + "0"))
        text = scheme.signed(plain, rules, keyid, "", when, nonce, sign)
        if kind == "no signature":
            text = rng.choice((plain, scheme.signed(plain, rules, keyid, "", when, nonce, "none")))
        if kind.endswith(" changed"):
            text = changed(text, rng, kind, rules)
        if not kind:
            seen.append((when, text))
        out.append((clock, text, kind))
    return out
