"""YAML whose every complaint names file, line and key.

Stricter than YAML: one document, no anchors, aliases or tags, shallow, small, no key twice. So a
file cannot expand, and what a person reads in it is what is there.
"""

import math
from pathlib import Path
from typing import Any, NoReturn

import yaml

from envgen.errors import Misconfigured

# The C reader is ten times faster and gives the same events; PyYAML may come without it.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MOST_BYTES = 1 << 20
MOST_DEPTH = 8

Node = yaml.Node


class YamlFile:
    """One axis file: its root node, and typed access that fails with file, line and key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = self._text()
        try:
            self._screen(text)
            root = yaml.compose(text, Loader=LOADER)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
            line = mark.line + 1 if mark else 1
            problem = getattr(error, "problem", None) or " ".join(str(error).split())
            self._refuse(line, "document", f"is not YAML: {problem}; mend the syntax")
        if root is None:
            self._refuse(1, "document", "is empty; copy the shipped file and change it")
        self.root: Node = root

    def fail(self, node: Node, key: str, reason: str) -> NoReturn:
        """Raise Misconfigured for what stands at `node`."""
        self._refuse(node.start_mark.line + 1, key, reason)

    def keys(self, node: Node, key: str) -> dict[str, tuple[Node, Node]]:
        """A mapping as name -> (key node, value node), no name twice."""
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, key, "must be a mapping, written as `name: ...` lines")
        found: dict[str, tuple[Node, Node]] = {}
        for name_node, value in node.value:
            name = self.text(name_node, f"{key}, a key of it")
            if name in found:
                self.fail(name_node, f"{key}.{name}", "stands here twice; remove one")
            found[name] = (name_node, value)
        return found

    def fields(
        self, node: Node, key: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()
    ) -> dict[str, Node]:
        """A mapping with exactly these keys; the optional ones may be absent."""
        found = self.keys(node, key)
        known = needed + optional
        for name, (name_node, _) in found.items():
            if name not in known:
                self.fail(
                    name_node, f"{key}.{name}", f"is not a known key; known: {', '.join(known)}"
                )
        for name in needed:
            if name not in found:
                self.fail(node, f"{key}.{name}", "is missing; add it")
        return {name: value for name, (_, value) in found.items()}

    def items(self, node: Node, key: str) -> list[Node]:
        """A list with at least one item."""
        if not isinstance(node, yaml.SequenceNode):
            self.fail(node, key, "must be a list, written as `- ...` lines or `[a, b]`")
        if not node.value:
            self.fail(node, key, "is an empty list; name at least one item")
        return list(node.value)

    def text(self, node: Node, key: str) -> str:
        """A non-empty string without control characters."""
        if not isinstance(node, yaml.ScalarNode) or not node.tag.endswith(":str"):
            self.fail(node, key, "must be text; put it in quotes if YAML takes it for another type")
        text = str(node.value).strip()
        if not text or not text.isprintable():
            self.fail(node, key, "must be text on one line, not empty, without control characters")
        return text

    def name(self, node: Node, key: str) -> str:
        """A lower-case name that is safe in paths, columns and tags."""
        name = self.text(node, key)
        plain = name.replace("_", "").replace("-", "")
        if not (plain.isascii() and plain.isalnum() and name == name.lower() and name[0].isalpha()):
            self.fail(node, f"{key} {name!r}", "must be a name of lower-case letters, digits and _")
        return name

    def number(self, node: Node, key: str) -> float:
        """A finite number, not negative."""
        if not isinstance(node, yaml.ScalarNode) or node.tag.split(":")[-1] not in ("int", "float"):
            self.fail(node, key, "must be a number")
        try:
            value = float(str(node.value).replace("_", ""))
        except ValueError:
            self.fail(node, key, f"{node.value!r} must be a plain decimal number")
        if not math.isfinite(value) or value < 0:
            self.fail(node, key, f"{node.value} must be a finite number, zero or more")
        return value

    def integer(self, node: Node, key: str) -> int:
        """A whole number, at least one."""
        value = self.number(node, key)
        if value < 1 or value != int(value):
            self.fail(node, key, f"{value:g} must be a whole number, one or more")
        return int(value)

    def _refuse(self, line: int, key: str, reason: str) -> NoReturn:
        raise Misconfigured(f"{self.path}, line {line}, {key}: {reason}")

    def _text(self) -> str:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            raise Misconfigured(
                f"{self.path}: the axis file is missing; a folder of axes holds all eleven files"
            ) from None
        except OSError as error:
            raise Misconfigured(f"{self.path}: cannot be read: {error.strerror}") from None
        if len(data) > MOST_BYTES:
            self._refuse(1, "document", f"has {len(data)} bytes; at most {MOST_BYTES} are read")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self._refuse(line, "document", "is not UTF-8; save the file as UTF-8")

    def _screen(self, text: str) -> None:
        """Refuse what could expand or nest before any tree is made of it."""
        depth = documents = 0
        for event in yaml.parse(text, Loader=LOADER):
            line = event.start_mark.line + 1 if event.start_mark else 1
            anchor = getattr(event, "anchor", None)
            if anchor is not None:
                self._refuse(line, f"anchor {anchor}", "is not allowed; write the value out")
            tag = getattr(event, "tag", None)
            if tag is not None:
                self._refuse(line, f"tag {tag}", "is not allowed; remove it")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            documents += isinstance(event, yaml.DocumentStartEvent)
            if depth > MOST_DEPTH:
                self._refuse(line, "document", f"nests deeper than {MOST_DEPTH}; flatten it")
            if documents > 1:
                self._refuse(line, "document", "is a second one in the file; keep one")
