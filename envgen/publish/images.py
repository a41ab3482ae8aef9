"""Images of a corpus in a registry, so that a fleet pulls what others would build.

`images.json`, beside the manifest, has the digest of each image under the name that engines of ours
know it by. Where it lies in the registry is said by whoever pulls, never by the file.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envgen.errors import Fault, Misconfigured
from envgen.export import parquet
from envgen.kit import Kit
from envgen.sandbox import Published, retried
from envgen.writing import write_whole

if TYPE_CHECKING:
    from envgen.sandbox.registry import Registry

NAME = "images.json"
NEEDED = ["task", "image_id", "base", "packages"]
FORMAT = 1
MOST = 64 << 20
_PLACE = re.compile(r"[a-z0-9.-]+(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")
_OURS = re.compile(r"envgen/(task|base):[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Pushed(NamedTuple):
    """What became of a task's image."""

    task: str
    images: tuple[Published, ...]
    """The base's and its own."""
    trouble: str
    """Why they are not in the registry; empty when they are."""


def place_of(text: str) -> str:
    """`HOST/PREFIX` of a registry.

    Raises:
        Misconfigured: it is none, or would be taken for a name on a registry of the engine's.
    """
    host = text.partition("/")[0]
    named = "." in host or ":" in host or host == "localhost"
    if not (_PLACE.fullmatch(text) and named):
        raise Misconfigured(
            f"--registry {text!r}: write HOST/PREFIX or HOST:PORT/PREFIX, in small letters, for "
            "example registry.example.org/tasks"
        )
    return text


async def push(rows: Iterable[parquet.Row], place: str, kit: Kit) -> AsyncGenerator[Pushed, None]:
    """Push the images of a manifest's rows (NEEDED), one task after the other, bases once."""
    bases: dict[str, tuple[Published, ...]] = {}
    for row in rows:
        if row["image_id"] is None:
            yield Pushed(row["task"], (), "a data set names no image of this engine")
            continue
        try:
            base = await kit.bases.get(row["base"], tuple(row["packages"]))
            if base.ref not in bases:
                bases[base.ref] = await _push(base.ref, place, kit)
            own = await _push(row["image_id"], place, kit)
        except Fault as fault:
            yield Pushed(row["task"], (), fault.detail)
        else:
            yield Pushed(row["task"], (*bases[base.ref], *own), "")


async def _push(image: str, place: str, kit: Kit) -> tuple[Published, ...]:
    return await retried(lambda: kit.sandbox.engine.publish(image, place))


def write(path: Path, pushed: Iterable[Published]) -> int:
    """Write the list of what was pushed; how many images."""
    images = {one.name: one.digest for one in pushed}
    told = {"format": FORMAT, "images": dict(sorted(images.items()))}
    write_whole(path, json.dumps(told, indent=1) + "\n")
    return len(images)


def read(manifest: Path, place: str) -> "Registry":
    """What was pushed of a manifest or data set, in the registry that the caller names.

    Raises:
        Misconfigured: there is no list, or it is none.
    """
    from envgen.sandbox.registry import Registry

    path = manifest / NAME if manifest.is_dir() else manifest.with_name(NAME)
    try:
        if path.stat().st_size > MOST:
            raise ValueError("it is too large")
        images = json.loads(path.read_bytes())["images"]
        whole = all(_OURS.fullmatch(n) and _DIGEST.fullmatch(d) for n, d in images.items())
        if not whole:
            raise ValueError("it names other things than images of envgen by digest")
    except OSError:
        raise Misconfigured(
            f"{path} is missing: `envgen export images --registry {place}` writes it"
        ) from None
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise Misconfigured(f"{path} is no list of images: {reason}") from None
    return Registry(place_of(place), dict(images))
