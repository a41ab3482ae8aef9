"""`python -m bench`: figures of envgen's own speed, memory and bytes."""
