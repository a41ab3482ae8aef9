"""Checks of the mail intake: DNS, SMTP, and reading over HTTP through the gate."""

from collections.abc import Iterator
from typing import Any, Dict, List, Optional

from talk import dns, http, smtp  # type: ignore[import-not-found]

from verifiers import Check, Task
from verifiers.multi_protocol import HttpReply


class Kind:
    """Fresh mails, from the name server's answer to the reader's page."""

    def __init__(self, task: Task) -> None:
        self.facts: Dict[str, Any] = task.truth["facts"]
        self.rng = task.rng("mail")
        self.subject = f"about {self.rng.randrange(10**9)}"

    def first(self) -> Iterator[Check]:
        yield from self._names()
        facts = self.facts
        box = facts["boxes"][0]
        yield Check(
            "mail to a box arrives",
            self._arrives(box, box, facts["domain"], self.subject),
            weight=2,
        )
        yield Check(
            "mail to an alias arrives",
            self._arrives(facts["alias"], facts["alias_to"], facts["domain"]),
        )
        yield Check(
            "mail to the new box and domain arrives",
            self._arrives(facts["new_box"], facts["new_box"], facts["domain2"]),
            weight=2,
        )
        yield Check(
            "mail to the new alias arrives",
            self._arrives(facts["alias2"], facts["alias2_to"], facts["domain2"]),
        )
        stranger, unknown = (
            f"{box}@elsewhere.example",
            f"nobody{self.rng.randrange(99)}@{facts['domain']}",
        )
        codes = [self._send(to, b"x\n") for to in (stranger, unknown)]
        yield Check("other recipients are refused", float(codes == [("to", 550), ("to", 550)]))
        sizes = [self._sized(box, facts["max_message"]), self._sized(box, facts["max_message"] + 1)]
        yield Check("length of messages", float(sizes == [("data-end", 250), ("data-end", 552)]))
        yield from self._reading()

    def second(self) -> Iterator[Check]:
        box = self.facts["boxes"][1]
        first = self._mails(self.facts["boxes"][0], everything=True)
        yield Check(
            "mail survives a hard stop",
            float(any(self.subject in (mail or "") for mail in first)),
            weight=2,
        )
        yield Check("mail arrives after it", self._arrives(box, box, self.facts["domain"]))

    def _names(self) -> Iterator[Check]:
        facts, port = self.facts, self.facts["dns"]
        ask = {
            "MX": (facts["domain"], "MX", [f"10 {facts['hostname']}"]),
            "address": (facts["hostname"], "A", [facts["address"]]),
            "text": (facts["domain"], "TXT", [facts["txt"]]),
            "new MX": (facts["domain2"], "MX", [f"20 {facts['hostname']}"]),
        }
        for label, (name, kind, wanted) in ask.items():
            reply = dns(port, name, kind)
            right = reply is not None and reply.data(kind) == wanted
            ttls = {answer[2] for answer in reply.answers} if reply else set()
            yield Check(f"names: {label}", float(right and ttls == {facts["ttl"]}))
        alias = dns(port, f"smtp.{facts['domain']}", "A")
        yield Check(
            "names: alias",
            float(
                alias is not None
                and alias.data("CNAME") == [facts["hostname"]]
                and alias.data("A") == [facts["address"]]
            ),
        )
        outside, missing = (
            dns(port, "elsewhere.example", "A"),
            dns(port, f"no.{facts['domain']}", "A"),
        )
        yield Check(
            "names: nothing else",
            float(
                outside is not None
                and outside.rcode == 5
                and missing is not None
                and missing.rcode == 3
            ),
        )

    def _arrives(self, to: str, box: str, domain: str, subject: str = "") -> float:
        subject = subject or f"note {self.rng.randrange(10**9)}"
        line = f"body {self.rng.randrange(10**9)}"
        code = self._send(f"{to}@{domain}", f"Subject: {subject}\n\n{line}\n.dot\n".encode())
        newest = self._mails(box)[-1:]
        text = newest[0] if newest else None
        right = text is not None and f"Subject: {subject}\n\n{line}\n.dot\n" in text
        return float(code == ("data-end", 250) and right)

    def _send(self, to: str, message: bytes) -> Optional["tuple[str, int]"]:
        reply = smtp(self.facts["smtp"], "sender@far.example", [to], message)
        return reply.codes[-1] if reply else None

    def _sized(self, box: str, size: int) -> Optional["tuple[str, int]"]:
        lines = b"Subject: long\n\n"
        lines += (b"z" * 59 + b"\n") * ((size - len(lines)) // 60)
        return self._send(
            f"{box}@{self.facts['domain']}",
            lines + b"y" * (size - len(lines) - 1) + b"\n" if size > len(lines) else lines,
        )

    def _reading(self) -> Iterator[Check]:
        facts = self.facts
        box = facts["boxes"][1]
        for number in range(facts["page"] + 2):
            self._send(f"{box}@{facts['domain']}", f"Subject: m{number}\n\nx\n".encode())
        page = self._page(box)
        titles = [mail["subject"] for mail in page["mails"]] if page else []
        wanted = [f"m{number}" for number in range(2, facts["page"] + 2)]
        total = page["total"] if page else 0
        yield Check("lists show the newest", float(titles == wanted and total == facts["page"] + 2))
        codes = []
        for token in ("", "wrong", facts["tokens"][facts["boxes"][0]]):
            reply = self._get(box, token)
            codes.append(reply.status if reply else 0)
        reply = self._get(box, facts["tokens"][box], new_host=True)
        codes.append(reply.status if reply else 0)
        yield Check("tokens, and the new host", float(codes == [401, 401, 401, 200]))

    def _page(self, box: str) -> Optional[Dict[str, Any]]:
        reply = self._get(box, self.facts["tokens"][box])
        page = reply.json() if reply is not None and reply.status == 200 else None
        if not isinstance(page, dict) or not isinstance(page.get("mails"), list):
            return None
        good = all(isinstance(m, dict) and {"id", "subject"} <= m.keys() for m in page["mails"])
        return page if good and isinstance(page.get("total"), int) else None

    def _mails(self, box: str, everything: bool = False) -> List[Optional[str]]:
        """Texts of the listed mails; the last one alone unless everything is wanted."""
        page = self._page(box)
        out: List[Optional[str]] = []
        for mail in page["mails"][0 if everything else -1 :] if page else []:
            reply = self._get(f"{box}/{mail['id']}", self.facts["tokens"][box])
            out.append(reply.text if reply is not None and reply.status == 200 else None)
        return out

    def _get(self, path: str, token: str, new_host: bool = False) -> Optional[HttpReply]:
        host, start = self.facts["host"], ""
        if new_host:
            host, start = self.facts["host2"], self.facts["prefix2"]
        reply: Optional[HttpReply] = http(
            "GET",
            self.facts["gate"],
            f"{start}/boxes/{path}",
            {"Authorization": f"Bearer {token}"},
            host=host,
        )
        return reply
