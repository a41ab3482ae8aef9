"""The ledger: what was asked of the two edges, and what came back. Resume = run again.

One SQLite file and a folder of blobs hold everything that cost money or time. A key covers the
whole request, so a request is executed once, whoever asks and however often the run is killed. Only
facts about the task are recorded as effects; weather (`errors.Weather`) passes through, and what it
cost stands in `attempts`.
"""

from envgen.ledger.blobs import Blobs
from envgen.ledger.effects import Ledger, Use, key_of

__all__ = ["Blobs", "Ledger", "Use", "key_of"]
