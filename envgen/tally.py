"""What became of the items of a run, counted as it happens."""

from collections import Counter
from dataclasses import dataclass, field

from envgen.pipeline import Outcome
from envgen.records import BuiltTask, Rejection, TaskDraft


@dataclass
class Tally:
    """What became of the items, counted as it happens."""

    total: int
    drafted: int = 0
    """Drafts of a run that stops before the gates."""
    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    unfinished: int = 0
    bugs: int = 0
    last_trouble: str = ""
    good: str = "kept"
    """What those that were kept are called."""

    @property
    def done(self) -> int:
        rejected = sum(self.rejected.values())
        return self.drafted + self.kept + rejected + self.unfinished + self.bugs

    def count(self, outcome: Outcome | TaskDraft) -> None:
        if isinstance(outcome, TaskDraft):
            self.drafted += 1
        elif isinstance(outcome, BuiltTask):
            self.kept += 1
        elif isinstance(outcome, Rejection):
            self.rejected[outcome.step] += 1
        else:
            self.last_trouble = outcome.reason
            if outcome.bug:
                self.bugs += 1
            else:
                self.unfinished += 1
