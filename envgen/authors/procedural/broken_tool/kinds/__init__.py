"""All kinds of tools."""

from envgen.authors.procedural.broken_tool.kinds import (
    confres,
    ledger,
    limiter,
    shifts,
    windows,
    wrapper,
)
from envgen.authors.procedural.broken_tool.model import Kind

KINDS: tuple[Kind, ...] = (
    confres.KIND,
    ledger.KIND,
    limiter.KIND,
    shifts.KIND,
    windows.KIND,
    wrapper.KIND,
)
