"""The faults of vendored packages: each is one place, shows, and can be mended in other words."""

import random

import pytest

from envgen.authors.procedural.vendored_fault.packages import PACKAGES, Fault, Package
from envgen.authors.procedural.vendored_fault.workings import answering, sources

FAULTS = [(package, fault) for package in PACKAGES for fault in package.faults]
DRAWN = 600


@pytest.mark.parametrize(("package", "fault"), FAULTS, ids=lambda one: getattr(one, "symptom", ""))
def test_a_fault_is_one_place_that_shows(package: Package, fault: Fault) -> None:
    broken = sources(package, [fault])
    assert broken[fault.module].count(fault.bad) == 1
    assert broken[fault.module].replace(fault.bad, fault.good) == sources(package)[fault.module]
    rng = random.Random(7)
    lines = [package.request(rng) for _ in range(DRAWN)]
    right, wrong = answering(sources(package)), answering(broken)
    other = answering(sources(package, [fault], "other"))
    assert sum(wrong(line) != right(line) for line in lines) >= 5
    assert all(other(line) == right(line) for line in lines)
