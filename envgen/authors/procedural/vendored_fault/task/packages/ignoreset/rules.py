"""Patterns in their order: the last one that fits decides."""

from .patterns import compiled


class Rules:
    """Patterns of one list, blanks and remarks left out."""

    def __init__(self, patterns):
        self.patterns = [compiled(p) for p in patterns if not p.startswith("#")]

    def decides(self, path, folder):
        """True: out; False: back in; None: no pattern fits."""
        for expression, folders, back in reversed(self.patterns):
            if folders and not folder:
                continue
            if expression.fullmatch(path):
                return not back
        return None

    def leaves_out(self, path):
        """A path is out when it, or a folder above it, is out: nothing comes back there."""
        folder = path.endswith("/")
        parts = path.strip("/").split("/")
        for count in range(1, len(parts)):
            if self.decides("/".join(parts[:count]), True):
                return True
        return bool(self.decides("/".join(parts), folder))
