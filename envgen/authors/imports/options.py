"""What the user decides about an import."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from envgen.authors.imports.python import Wheels

Grading = Literal["fresh", "shared"]


@dataclass(frozen=True)
class Options:
    """Attributes:
    base_map: image (with or without a tag) -> `BASE` or `BASE+package+package` of ours.
    wheels: finds wheels for what pip installs; None: only what Debian has.
    grading: the form that every task gets; None: that of its maker.
    """

    base_map: Mapping[str, str] = field(default_factory=dict)
    wheels: Wheels | None = None
    grading: Grading | None = None
