"""The docker SDK's manners: finding an engine, and its errors as ours."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import docker
import requests
import urllib3
from docker.errors import APIError, DockerException, ImageNotFound

from envgen.errors import EngineDown, EngineRefused, HostDiskFull, ImageMissing, Misconfigured

LABEL = "io.envgen"
"""Every image and container of ours carries it (images inherit it from the bases)."""
OWNER_LABEL, RUN_LABEL, BASE_LABEL = f"{LABEL}.owner", f"{LABEL}.run", f"{LABEL}.base"

API_SECONDS = 60
DISK_WORDS = ("no space left on device", "disk quota exceeded")


def connect(url: str | None) -> docker.DockerClient:
    """A client for the engine at `url` or DOCKER_HOST; else the first of the usual places.

    Raises:
        Misconfigured: nothing answers; says what to do.
    """
    named = url or os.environ.get("DOCKER_HOST")
    tried = [named] if named else _sockets()
    for address in tried:
        try:
            client = docker.DockerClient(base_url=address, timeout=API_SECONDS, max_pool_size=64)
            client.ping()
        except (DockerException, requests.RequestException):
            continue
        return client
    places = ", ".join(tried)
    raise Misconfigured(
        f"no container engine answers at {places}: start Docker or Podman, set DOCKER_HOST or "
        "engine.url, or run `make engine` as root on Debian or Ubuntu to install and start one"
    )


def _sockets() -> list[str]:
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    paths = ["/var/run/docker.sock", f"{runtime}/docker.sock"]
    paths += [f"{runtime}/podman/podman.sock", "/run/podman/podman.sock"]
    return [f"unix://{path}" for path in paths]


@contextmanager
def typed() -> Iterator[None]:
    """The daemon's errors as ours, by the failure table."""
    try:
        yield
    except ImageNotFound as error:
        raise ImageMissing(f"the engine no longer has the image: {error.explanation}") from error
    except APIError as error:
        text = str(error.explanation or error).strip()
        if any(word in text.lower() for word in DISK_WORDS):
            raise HostDiskFull(f"the engine's disk is full ({text}): free some space") from error
        raise EngineRefused(f"the engine refused: {text}") from error
    except (DockerException, requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise EngineDown(f"the container engine does not answer ({error})") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise  # our own disk, where captured bytes go: not the engine's trouble
        raise EngineDown(f"the connection to the container engine broke ({error})") from error


def is_timeout(error: Exception) -> bool:
    """Whether the SDK gave up waiting, as opposed to losing the connection."""
    return isinstance(error, requests.ReadTimeout) or "timed out" in str(error).lower()
