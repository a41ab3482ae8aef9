"""An SMTP client that hands over one mail."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

from .wire import TROUBLE, Broken, Wire


class SmtpReply(NamedTuple):
    """`codes`: (step, code) in order, from "connect" to the first refusal or "data-end"."""

    codes: tuple[tuple[str, int], ...]
    accepted: bool

    def code(self, step: str) -> int | None:
        """The code of a step: connect, helo, from, to (the last one), data, data-end."""
        return dict(self.codes).get(step)


def smtp(
    port: int,
    sender: str,
    recipients: Sequence[str],
    message: bytes,
    *,
    helo: str = "client.test",
    timeout: float = 10,
) -> SmtpReply | None:
    """Hand over one mail. Stops at the first refusal; None when the peer does not speak SMTP."""
    text = message.replace(b"\r\n", b"\n").replace(b"\n.", b"\n..").replace(b"\n", b"\r\n")
    text = b"." + text if text.startswith(b".") else text
    end = b"" if text.endswith(b"\r\n") else b"\r\n"
    steps = [("connect", b"", 220), ("helo", f"EHLO {helo}".encode(), 250)]
    steps.append(("from", f"MAIL FROM:<{sender}>".encode(), 250))
    steps += [("to", f"RCPT TO:<{one}>".encode(), 250) for one in recipients]
    steps += [("data", b"DATA", 354), ("data-end", text + end + b".", 250)]
    codes: list[tuple[str, int]] = []
    try:
        with Wire(port, timeout) as wire:
            for step, line, wanted in steps:
                if line:
                    wire.send(line + b"\r\n")
                codes.append((step, _smtp_code(wire)))
                if codes[-1][1] != wanted:
                    break
            else:
                with contextlib.suppress(OSError, Broken):
                    wire.send(b"QUIT\r\n")
                return SmtpReply(tuple(codes), True)
    except TROUBLE:
        return None
    return SmtpReply(tuple(codes), False)


def _smtp_code(wire: Wire) -> int:
    while True:
        line = wire.until(b"\n", 4096)
        if not line[:3].isdigit():
            raise Broken("no reply code")
        if line[3:4] != b"-":
            return int(line[:3])
