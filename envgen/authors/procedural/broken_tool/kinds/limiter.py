"""A rate limiter's simulation: token buckets, strikes, penalties."""

import random

from envgen.authors.procedural.broken_tool.model import Fault, Kind, Params, Spot

CLIENTS = ("ann", "bolt", "cron7", "dora", "edge-2", "fritz")


def draw_params(rng: random.Random) -> Params:
    return {
        "RATE": rng.choice((3, 6, 7, 9, 11, 12)),
        "BURST": rng.randint(6, 25),
        "STRIKES": rng.randint(2, 4),
        "PENALTY": rng.choice((500, 1000, 1500, 3000)),
    }


def draw_input(rng: random.Random, params: Params) -> str:
    """Requests that use buckets up, wait just long enough, or come at the end of a penalty."""
    rate, burst, penalty = (int(str(params[name])) for name in ("RATE", "BURST", "PENALTY"))
    time, out = rng.randrange(5000), []
    names = rng.sample(CLIENTS, rng.randint(1, 3))
    for _ in range(rng.randint(5, 16)):
        cost = rng.choice((1, 2, burst, burst // 2, burst + 1, rng.randint(1, burst)))
        out.append(f"{time} {rng.choice(names)} {cost}")
        jump = rng.randrange(8)
        if jump < 2:
            time += 1000 * rng.randint(1, burst) // rate
        elif jump == 2:
            time += penalty + rng.choice((-1, 0, 0, 1))
        elif jump == 3:
            time = max(0, time - rng.choice((1, 40, 700, 2500)))
        elif jump < 6:
            time += rng.choice((0, 1, 7, 100, 333))
        else:
            time += 1000 * burst // rate * rng.randint(1, 3) + rng.randrange(50)
        if rng.random() < 0.08:
            out += _penalty(rng, params, time, rng.choice(names))
            time += penalty
        if rng.random() < 0.05:
            out.append(rng.choice((f"{time} ann", f"{time} ann -1", "soon ann 1", "")))
    return "\n".join(out) + "\n"


def _penalty(rng: random.Random, params: Params, time: int, name: str) -> list[str]:
    """As many hopeless requests as a client may make, and one when its penalty ends."""
    strikes, burst, penalty = (int(str(params[key])) for key in ("STRIKES", "BURST", "PENALTY"))
    ends = time + penalty + rng.choice((-1, 0, 0))
    return [*[f"{time} {name} {burst + 1}"] * strikes, f"{ends} {name} 1"]


KIND = Kind(
    name="limiter",
    languages=("python", "c"),
    about="replays a request log against the rate limiter",
    names=("tokensim", "gatekeep", "ratecheck", "bucketrun"),
    owners=("the map tile service", "the public weather interface", "the bulk mail relay"),
    draw_params=draw_params,
    draw_input=draw_input,
    faults=(
        Fault("no_cap", "After a quiet night a client may send far more than its burst.", {
            "python": Spot(
                "self.level = min(BURST * 1000, self.level + (now - self.last) * RATE)",
                "self.level = self.level + (now - self.last) * RATE",
                "self.level += min(BURST * 1000 - self.level, (now - self.last) * RATE)",
            ),
            "c": Spot(
                "    if (client->level > BURST * 1000LL)\n"
                "        client->level = BURST * 1000LL;\n",
                "",
                "    client->level = client->level < BURST * 1000LL ? client->level"
                " : BURST * 1000LL;\n",
            )}),
        Fault("exact", "A request for exactly what is left is turned down.", {
            "python": Spot("if self.level >= cost * 1000:", "if self.level > cost * 1000:",
                           "if cost * 1000 <= self.level:"),
            "c": Spot("if (client->level >= cost * 1000) {", "if (client->level > cost * 1000) {",
                      "if (cost * 1000 <= client->level) {"),
        }),
        Fault("starts_empty", "A client's very first requests are turned down.", {
            "python": Spot("self.level = BURST * 1000\n", "self.level = 0\n",
                           "self.level = 1000 * BURST\n"),
            "c": Spot("client->level = BURST * 1000LL;\n    client->last = now;\n"
                      "    return client;",
                      "client->level = 0;\n    client->last = now;\n    return client;",
                      "client->level = 1000LL * BURST;\n    client->last = now;\n"
                      "    return client;"),
        }),
        Fault("wait", "A client that waits for as long as it was told is turned down again.", {
            "python": Spot("(missing + RATE - 1) // RATE", "missing // RATE",
                           "-(-missing // RATE)"),
            "c": Spot("(missing + RATE - 1) / RATE", "missing / RATE",
                      "missing / RATE + (missing % RATE > 0)"),
        }),
        Fault("strikes", "Clients that behave well in between are blocked nevertheless.", {
            "python": Spot("            self.allowed += 1\n            self.strikes = 0\n",
                           "            self.allowed += 1\n",
                           "            self.strikes = 0\n            self.allowed += 1\n"),
            "c": Spot("        client->allowed++;\n        client->strikes = 0;\n",
                      "        client->allowed++;\n",
                      "        client->strikes = 0;\n        client->allowed++;\n"),
        }),
        Fault("penalty_end", "At the moment at which a penalty ends the client is still blocked.", {
            "python": Spot("if now < self.until:", "if now <= self.until and self.until:",
                           "if self.until > now:"),
            "c": Spot("if (now < client->until) {", "if (now <= client->until && client->until) {",
                      "if (client->until > now) {"),
        }),
        Fault("backwards", "When a line comes with an earlier time, a client loses tokens.", {
            "python": Spot("self.now = max(self.now, time)", "self.now = time",
                           "self.now = time if time > self.now else self.now"),
            "c": Spot("    if (atoll(time) > now)\n        now = atoll(time);\n",
                      "    now = atoll(time);\n",
                      "    now = now < atoll(time) ? atoll(time) : now;\n"),
        }),
        Fault("double_refill", "After being turned down a client soon has more than it should.", {
            "python": Spot("RATE)\n        self.last = now\n",
                           "RATE)\n        if self.level == BURST * 1000:\n"
                           "            self.last = now\n",
                           "RATE)\n        self.last = max(now, self.last)\n"),
            "c": Spot("        client->level = BURST * 1000LL;\n    client->last = now;\n}",
                      "        client->level = BURST * 1000LL;\n"
                      "    if (client->level == BURST * 1000LL)\n        client->last = now;\n}",
                      "        client->level = 1000LL * BURST;\n    client->last = now;\n}"),
        }),
    ),
)  # fmt: skip
