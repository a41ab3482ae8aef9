"""The facts of the card that lies beside a sheet, as the texts and the scripts need them."""

from typing import Any

from .sheet import INKS, Pen, Sheet, marks


def facts(sheet: Sheet) -> dict[str, Any]:
    """What the archive wrote down: registration, scales and remarks."""
    inst = sheet.instrument
    return {
        "instrument": inst,
        "crosses": [
            {
                "name": name,
                "along": x,
                "across": y,
                "px": round(sheet.pixel(x, y)[0], 1),
                "py": round(sheet.pixel(x, y)[1], 1),
            }
            for name, x, y in marks(sheet)
        ],
        "per_division": f"{sheet.per_division:g}",
        "origin": f"{inst.origin:g}",
        "span": f"{sheet.span:g}",
        "stood": f"{sheet.span * sheet.stretch:.3f}",
        "clock": sheet.stretch != 1.0,
        "switch": None if sheet.switch is None else f"{inst.origin + sheet.switch:g}",
        "pens": [_pen(pen, i) for i, pen in enumerate(sheet.pens, 1)],
    }


def _pen(pen: Pen, number: int) -> dict[str, Any]:
    before, after = pen.factors
    return {
        "number": number,
        "quantity": pen.channel.quantity,
        "column": pen.channel.column,
        "ink": pen.ink,
        "hex": "#{:02x}{:02x}{:02x}".format(*INKS[pen.ink]),
        "card_unit": pen.channel.card_unit,
        "unit": pen.channel.unit,
        "law": pen.channel.law_text,
        "rest": f"{pen.rest:g}",
        "zero": f"{pen.zero:g}",
        "gain": f"{abs(pen.gain):g}",
        "down": pen.gain < 0,
        "lead": f"{abs(pen.lead):g}",
        "right": pen.lead > 0,
        "switched": before != after,
        "half_after": after > before,
    }


def settings(sheet: Sheet) -> dict[str, Any]:
    """The same as numbers, for the scripts of the solutions."""
    known = facts(sheet)
    return {
        "crosses": known["crosses"],
        "per_division": sheet.per_division,
        "origin": sheet.instrument.origin,
        "step": sheet.instrument.step,
        "count": len(sheet.times()),
        "stretch": float(known["stood"]) / sheet.span,
        "switch": None if known["switch"] is None else float(known["switch"]),
        "time_column": sheet.instrument.time_column,
        "pens": [
            {
                "column": pen.channel.column,
                "ink": INKS[pen.ink],
                "zero": pen.zero,
                "rest": pen.rest,
                "gain": pen.gain,
                "lead": pen.lead,
                "factors": pen.factors,
                "law": [pen.channel.law, pen.channel.a, pen.channel.b],
            }
            for pen in sheet.pens
        ],
        "wanted": [[w.key, w.kind, w.column, w.level] for w in sheet.wanted],
    }
