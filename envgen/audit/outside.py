"""A task of which nothing is known but its instruction and what its agent can read.

For running the attacks where envgen neither built the image nor grades: in somebody else's client.
"""

import base64
import binascii
import io
import tarfile

from envgen.audit import submissions
from envgen.audit.probes import PROBES
from envgen.audit.target import Entry, Target
from envgen.errors import Misconfigured
from envgen.records import Attack

LOOK = submissions.script("look.sh")
"""A script for the agent's shell; `seen` reads what it prints."""
MOST_BYTES = 64 << 20


def seen(instruction: str, said: str) -> Target:
    """The task as its agent sees it.

    Args:
        instruction: what the agent is told.
        said: what LOOK printed.

    Raises:
        ValueError: that is not what LOOK prints.
    """
    home, workdir, packed, *_ = [*said.split("\n", 2), "", ""]
    if not (home.startswith("/") and workdir.startswith("/")):
        raise ValueError(f"no folders of an agent's: {said[:100]!r}")
    folders = tuple(dict.fromkeys((workdir, home)))
    return Target(
        instruction=instruction,
        workdir=workdir,
        folders=folders,
        entries=tuple(_entries(packed, folders)),
        absent=(),
        baseline=0.0,
        noise=0.0,
        home=home,
    )


def chosen(probe: str, attack: str, target: Target) -> Attack | None:
    """The attack of a family that is meant; None where it has none for this task.

    Args:
        probe: the family.
        attack: its name; empty for the first, which knows least and combines most.
        target: the task.

    Raises:
        Misconfigured: no such family.
    """
    families = {one.name: one for one in PROBES}
    if probe not in families:
        raise Misconfigured(f"no probe is called {probe!r}: there are {', '.join(families)}")
    found = families[probe].attacks(target)
    everything = [*found, *(part for one in found for part in one.parts)]
    return next((one for one in everything if attack in ("", one.name)), None)


def _entries(packed: str, folders: tuple[str, ...]) -> list[Entry]:
    try:
        data = base64.b64decode(packed, validate=False)
        found, left = [], MOST_BYTES
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for member in archive:
                left -= member.size
                stream = archive.extractfile(member) if member.isreg() and left > 0 else None
                if stream is not None:
                    path = f"/{member.name.lstrip('/')}"
                    own = any(path.startswith(f"{folder}/") for folder in folders)
                    found.append(Entry(path, stream.read(), member.mode & 0o777, own))
    except (binascii.Error, tarfile.TarError, EOFError, OSError) as error:
        raise ValueError(f"no archive of an agent's files: {error}") from None
    return sorted(found, key=lambda entry: entry.path)
