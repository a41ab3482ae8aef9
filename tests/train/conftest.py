"""The trainer's tests: those that need torch run where it is installed (`make test-train`)."""

from importlib.util import find_spec

from tests.agent.conftest import bench

__all__ = ["bench"]

NEED_TORCH = (
    "test_command.py",
    "test_loss.py",
    "test_policy.py",
    "test_ranks.py",
    "test_server.py",
    "test_inference.py",
    "test_filling.py",
    "test_generating.py",
    "test_loop.py",
    "test_toy.py",
    "test_vllm.py",
)
collect_ignore = [] if find_spec("torch") else list(NEED_TORCH)
if not find_spec("vllm"):
    collect_ignore = [*dict.fromkeys([*collect_ignore, "test_vllm.py"])]


def pytest_report_header() -> str | None:
    """Where they do not run, it is said."""
    if not collect_ignore:
        return None
    return f"`make test-train` and `make test-vllm` run {', '.join(collect_ignore)}"
