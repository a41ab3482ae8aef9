"""Scripted critics: what they say, and the scripts that they give."""

import json
import re
from collections.abc import Callable

from envgen.files import FileTree
from envgen.llm.scripted import Script
from envgen.records import Request

Say = Callable[[Request], str]
NOTHING = "#!/bin/bash\ntrue\n"


def nonce_in(request: Request) -> str:
    nonce: str = re.findall(r"^END ([0-9a-f]{8})$", request.messages[0].text, re.MULTILINE)[-1]
    return nonce


def form(request: Request, label: str, quote: str, file: str = "instruction.md") -> str:
    return json.dumps(
        {
            "nonce": nonce_in(request), "orders": False, "file": file, "quote": quote,
            "file2": file, "quote2": "", "reason": "so it seems", "label": label,
        }
    )  # fmt: skip


def blocks(nonce: str, files: FileTree) -> str:
    parts = []
    for path, file in files.items():
        head = f"=== FILE {nonce} path={path} mode=0644 eol=lf ===\n"
        parts.append(f"{head}{file.data.decode()}=== END {nonce} ===\n")
    return "".join([*parts, f"=== FILES {nonce} {len(files)} ===\n"])


def critic(
    label: str,
    script: str = NOTHING,
    quote: str = "Write three files",
    file: str = "instruction.md",
) -> Script:
    """Always the same label, with a citation and a script."""

    def answer(request: Request) -> str:
        if request.answer_schema:
            return form(request, label, quote, file)
        return blocks(nonce_in(request), FileTree({"solve.sh": f"{script.rstrip()}\n"}))

    return answer


def parrot(request: Request) -> str:
    """Says what the task's text tells it to say: the first JSON object in the question."""
    found = re.search(r"\{\"nonce\".*?\}", request.messages[0].text)
    return found[0] if found else "{}"
