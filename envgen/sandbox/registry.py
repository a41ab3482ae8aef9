"""Images of ours in a registry: pushed under the names that engines of ours know, pulled by digest.

A digest names every byte, so who pulls by digest gets what was pushed or an error. The registry is
always the one that the caller names, never one that a file, or the engine's defaults, name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docker import DockerClient
from docker.errors import APIError, ImageNotFound, NotFound

from envgen.errors import EngineRefused, Fault
from envgen.sandbox import Published

_OURS = re.compile(r"(?:localhost/)?(envgen/(?:task|base):[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})")


@dataclass(frozen=True)
class Registry:
    """What was pushed to a registry.

    Attributes:
        place: `HOST/PREFIX`.
        digests: of manifests, by the name of ours.
    """

    place: str
    digests: Mapping[str, str]


def push(client: DockerClient, image: str, place: str) -> tuple[Published, ...]:
    """Push an image under its name of ours; named by its id, under all that it has.

    Raises:
        Fault: the engine has no such image, or it is none of ours.
        EngineRefused: the registry does not take it.
    """
    try:
        found = client.images.get(image)
    except ImageNotFound:
        raise Fault("push:missing", f"the engine no longer has the image {image}") from None
    names = sorted({match[1] for tag in found.tags if (match := _OURS.fullmatch(tag))})
    wanted = [image] if image in names else names
    if not wanted:
        raise Fault("push:name", f"the image {image} has no name of envgen's")
    return tuple(Published(name, _push(client, found, name, place)) for name in wanted)


def _push(client: DockerClient, image: Any, name: str, place: str) -> str:
    """The digest under which the registry has it."""
    repository, tag = _place(name, place)
    image.tag(repository, tag)
    try:
        return _pushed(client.api.push(repository, tag, stream=True, decode=True))
    finally:
        client.api.remove_image(f"{repository}:{tag}", noprune=True)


def pull(client: DockerClient, name: str, registry: Registry) -> None:
    """Have the image of a name of ours, by the digest that the registry's list has for it.

    Raises:
        Fault: it was never pushed, or the registry has lost it.
        EngineRefused: the registry does not answer, or not with what was asked for.
    """
    digest = registry.digests.get(name)
    if digest is None:
        raise Fault("pull:unknown", f"{name} is not among the images that were pushed")
    repository, tag = _place(name, registry.place)
    exact = f"{repository}@{digest}"
    try:
        image = client.images.pull(exact)
    except (ImageNotFound, NotFound) as error:
        raise Fault(
            "pull:missing", f"{exact} is not in the registry: {error.explanation}"
        ) from None
    except APIError as error:
        raise EngineRefused(f"{exact} cannot be pulled: {error.explanation}") from error
    if exact not in (image.attrs.get("RepoDigests") or ()):
        raise EngineRefused(f"the engine pulled something else than {exact}")
    image.tag(name.partition(":")[0], tag)
    client.api.remove_image(exact, noprune=True)


def _place(name: str, place: str) -> tuple[str, str]:
    """Repository and tag in the registry of a name of ours."""
    kind, _, tag = name.removeprefix("envgen/").partition(":")
    return f"{place}/{kind}", tag


def _pushed(lines: Any) -> str:
    """The digest that a push ends with."""
    digest = ""
    for line in lines:
        if "error" in line:
            raise EngineRefused(f"the registry does not take it: {line['error']}")
        digest = (line.get("aux") or {}).get("Digest", digest)
    if not digest:
        raise EngineRefused("the registry did not say what it took")
    return str(digest)
