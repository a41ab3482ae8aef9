"""The nine axes and the sampler: `load` axis files, `sample` specs, measure their `balance`.

Pure apart from reading axis files and writing `specs.parquet`: no clock, no global randomness, no
builtin hashing. In order of reading: `yamlfile` (YAML with line numbers), `catalogue` (the values),
`cells` (which combinations exist), `loader`, `fit` (how often each should occur), `walk` (specs one
by one), `measure` (balance scores), `table` (Parquet).
"""

from envgen.axes.catalogue import AXES, Catalogue, Preset, Rule, Value
from envgen.axes.cells import Block
from envgen.axes.loader import load
from envgen.axes.measure import PAIRS, Balance, Census, balance
from envgen.axes.row import Row, slug_of, spec_of
from envgen.axes.sampler import sample
from envgen.axes.table import read_specs, write_specs

__all__ = [
    "AXES",
    "PAIRS",
    "Balance",
    "Block",
    "Catalogue",
    "Census",
    "Preset",
    "Row",
    "Rule",
    "Value",
    "balance",
    "load",
    "read_specs",
    "sample",
    "slug_of",
    "spec_of",
    "write_specs",
]
