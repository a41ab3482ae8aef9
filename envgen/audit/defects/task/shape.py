"""Outputs have the right form, whatever they say."""

import ast
import json

from planted import PLANTED

from verifiers import Check


def checks(task):
    for path in PLANTED["paths"]:
        yield Check(f"{path} has the right form", float(formed(path, task.read_text(path))))


def formed(path, text):
    if not text or not text.strip():
        return False
    try:
        if path.endswith(".json"):
            return isinstance(json.loads(text), dict)
        if path.endswith(".py"):
            return bool(ast.parse(text).body)
    except (SyntaxError, ValueError):
        return False
    if path.endswith(".csv"):
        widths = {line.count(",") for line in text.strip().split("\n")}
        return len(widths) == 1 and widths != {0}
    return len(text.split()) >= 2
