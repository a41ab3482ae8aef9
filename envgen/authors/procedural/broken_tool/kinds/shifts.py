"""An interval scheduler: bookings, clashes, free spans."""

import random

from envgen.authors.procedural.broken_tool.model import Fault, Kind, Params, Spot

PLACES = ("hall", "lab2", "van", "studio", "pool")
NAMES = ("alma", "bruno", "chess", "dance", "elena", "fair", "glee", "hugo")


def draw_params(rng: random.Random) -> Params:
    return {
        "GAP": rng.choice((0, 5, 10, 15)),
        "SHORTEST": rng.choice((10, 15, 20, 30)),
        "EMPTY": rng.choice(("empty", "nothing booked", "no bookings")),
    }


def _clock(moment: int) -> str:
    moment = min(max(moment, 0), 24 * 60)
    return f"{moment // 60:02d}:{moment % 60:02d}"


def draw_input(rng: random.Random, params: Params) -> str:
    """Bookings that touch, hold one another or end at midnight, and questions about them."""
    gap, shortest = int(str(params["GAP"])), int(str(params["SHORTEST"]))
    places = rng.sample(PLACES, rng.randint(1, 2))
    edges, out = [480, 1440], []
    used: list[str] = []
    for _ in range(rng.randint(5, 14)):
        place, kind = rng.choice(places), rng.randrange(10)
        if kind < 5 or not used:
            edge = rng.choice(edges)
            start = edge + rng.choice(
                (gap, gap, gap - 1, -30, -90, shortest, shortest, shortest - 1, 60)
            )
            end = start + rng.choice((30, 45, 60, 100, 240, 0))
            if rng.random() < 0.15:
                end = rng.choice((edge, edge - gap, 24 * 60))
            name = rng.choice([n for n in NAMES if n not in used] or NAMES)
            name = name if rng.random() < 0.9 else rng.choice(NAMES)
            used.append(name)
            edges += [min(max(start, 0), 1440), min(max(end, 0), 1440)]
            out.append(f"book {place} {_clock(start)} {_clock(end)} {name}")
        elif kind < 6:
            out.append(f"cancel {rng.choice((*used, *NAMES[:1]))}")
        elif kind < 8:
            first = rng.choice((0, 360, rng.choice(edges), rng.choice(edges) - shortest))
            last = rng.choice((1440, rng.choice(edges), rng.choice(edges) + shortest))
            out.append(f"free {place} {_clock(first)} {_clock(last)}")
        else:
            out.append(f"{rng.choice(('list', 'busy'))} {place}")
        if rng.random() < 0.06:
            out.append(
                rng.choice(("", "book hall 9:00 10:00 x", "lend van", "free van 25:00 26:00"))
            )
    return "\n".join([*out, *(f"{word} {place}" for place in places
                              for word in ("list", "busy"))]) + "\n"  # fmt: skip


KIND = Kind(
    name="shifts",
    languages=("python", "c"),
    about="keeps the bookings of one day",
    names=("dayplan", "slotbook", "roomtool", "bookday"),
    owners=("the community centre", "a music school", "a repair workshop", "the city library"),
    draw_params=draw_params,
    draw_input=draw_input,
    faults=(
        Fault("touching", "Two bookings that only just fit after each other are said to clash.", {
            "python": Spot("if start < other.end + GAP and other.start < end + GAP:",
                           "if start <= other.end + GAP and other.start <= end + GAP:",
                           "if not (other.end + GAP <= start or end + GAP <= other.start):"),
            "c": Spot("if (start < other->end + GAP && other->start < end + GAP) {",
                      "if (start <= other->end + GAP && other->start <= end + GAP) {",
                      "if (!(other->end + GAP <= start || end + GAP <= other->start)) {"),
        }),
        Fault("inside", "A short booking was taken in the middle of a longer one.", {
            "python": Spot("if start < other.end + GAP and other.start < end + GAP:",
                           "if start - GAP < other.end < end + GAP or "
                           "start - GAP < other.start < end + GAP:",
                           "if max(start, other.start) < min(end, other.end) + GAP:"),
            "c": Spot("if (start < other->end + GAP && other->start < end + GAP) {",
                      "if ((start - GAP < other->end && other->end < end + GAP)\n"
                      "            || (start - GAP < other->start && other->start < end + GAP)) {",
                      "if (!(start >= other->end + GAP) && other->start - GAP < end) {"),
        }),
        Fault("tail", "Free time at the end of the span that was asked for is not shown.", {
            "python": Spot("        if end - cursor >= SHORTEST:\n",
                           "        if not out and end - cursor >= SHORTEST:\n",
                           "        if cursor + SHORTEST <= end:\n"),
            "c": Spot("    if (end - cursor >= SHORTEST) {\n",
                      "    if (!found && end - cursor >= SHORTEST) {\n",
                      "    if (cursor + SHORTEST <= end) {\n"),
        }),
        Fault("shortest", "A free span of exactly the shortest length is left out.", {
            "python": Spot("if booking.start - cursor >= SHORTEST:",
                           "if booking.start - cursor > SHORTEST:",
                           "if cursor + SHORTEST <= booking.start:"),
            "c": Spot("if (b->start - cursor >= SHORTEST) {", "if (b->start - cursor > SHORTEST) {",
                      "if (cursor + SHORTEST <= b->start) {"),
        }),
        Fault("outside", "Free spans begin before the time that was asked for.", {
            "python": Spot("            if booking.end <= begin or booking.start >= end:\n",
                           "            if booking.start >= end:\n",
                           "            if not (booking.end > begin and booking.start < end):\n"),
            "c": Spot(" || b->end <= begin || b->start >= end)", " || b->start >= end)",
                      " || !(b->end > begin && b->start < end))"),
        }),
        Fault("order", "Bookings come in the wrong order, and clashes name the wrong one.", {
            "python": Spot("        bookings.sort(key=lambda booking: booking.start)\n", "",
                           "        bookings.sort(key=lambda one: (one.start, one.end))\n"),
            "c": Spot("while (at > 0 && bookings[at - 1].start > start) {",
                      "while (at > 0 && bookings[at - 1].start > start && at < 0) {",
                      "while (at > 0 && start < bookings[at - 1].start) {"),
        }),
        Fault("midnight", "Nothing can be booked until midnight.", {
            "python": Spot("if minute > 59 or hour * 60 + minute > 24 * 60:",
                           "if minute > 59 or hour > 23:",
                           "if minute >= 60 or 60 * hour + minute > 1440:"),
            "c": Spot("if (minute > 59 || hour * 60 + minute > 24 * 60)",
                      "if (minute > 59 || hour > 23)",
                      "if (minute >= 60 || 60 * hour + minute > 1440)"),
        }),
        Fault("padding", "The booked time reads wrongly when minutes are few.", {
            "python": Spot('return f"{total // 60}:{total % 60:02d}"',
                           'return f"{total // 60}:{total % 60}"',
                           'return "{}:{:02d}".format(*divmod(total, 60))'),
            "c": Spot('printf("%d:%02d\\n", total / 60, total % 60);',
                      'printf("%d:%d\\n", total / 60, total % 60);',
                      'printf("%d:%d%d\\n", total / 60, total % 60 / 10, total % 10);'),
        }),
    ),
)  # fmt: skip
