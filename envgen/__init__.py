"""envgen: training environments for terminal agents, proven by execution."""

__version__ = "0.1.0"
