"""The trainer's tests: those that need torch run where it is installed (`make test-train`)."""

from importlib.util import find_spec

NEED_TORCH = (
    "test_loss.py",
    "test_policy.py",
    "test_inference.py",
    "test_loop.py",
    "test_toy.py",
)
collect_ignore = [] if find_spec("torch") else list(NEED_TORCH)


def pytest_report_header() -> str | None:
    """Where they do not run, it is said."""
    if not collect_ignore:
        return None
    return f"no torch here: `make test-train` runs {', '.join(NEED_TORCH)}"
