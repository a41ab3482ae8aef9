import pytest, time
pytestmark = pytest.mark.box
def test_x(bench):
    for s in (bench.SOLVE, bench.ANSWER, "true"):
        t=time.time(); g = bench.attempt(s); print(g, time.time()-t)
    t=time.time(); print(bench.build(bench.draft())); print(time.time()-t)
