"""Images: built by the classic builder, then described by their content.

Engine ids carry timestamps, contents do not. So a fresh image is listed from inside by our own
script and compared with its parent's listing; the digest of what differs is its identity. Together
with the build context this covers every layer: COPY layers hold the context, and what the one RUN
made is what differs at the end.
"""

import io
import json
import re
import tarfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import requests
import urllib3
from docker import DockerClient
from docker.errors import APIError, ImageNotFound

from envgen.digest import digest
from envgen.errors import EngineRefused, Fault, HostDiskFull
from envgen.files import FileTree
from envgen.records import Image, ImageRequest, Job, Put
from envgen.sandbox import tag_of
from envgen.sandbox.containers import OUTPUT_BYTES, WATCH_SECONDS, Containers, over_limit
from envgen.sandbox.daemon import DISK_WORDS, LABEL, OWNER_LABEL, RUN_LABEL, is_timeout
from envgen.sandbox.registry import Registry, pull
from envgen.sandbox.tail import Tail

_REFUSED_WORDS = ("toomanyrequests", "containerd", "network", "iptables", "registry", "cgroup")
_SCAN = ("/usr/bin/python3", "-I", "-B", "/.scan/scan.py")
_STEP_ID = re.compile(r"(?m)^(Removing intermediate container| ---> (Running in )?)[0-9a-f]{12}\n")
_BUILD_MEMORY = 4 << 30


class Images:
    """Builds and describes images on a daemon.

    Args:
        client: the SDK's client.
        containers: runs the listing script.
        run: name of the run; images are labelled with it.
        rebuild: build everything anew, without the builder's cache.
        registry: where a missing image is pulled from, in place of being built.
    """

    def __init__(
        self,
        client: DockerClient,
        containers: Containers,
        run: str,
        rebuild: bool,
        registry: Registry | None,
    ) -> None:
        self.client = client
        self.api = client.api
        self.containers = containers
        self.run = run
        self.rebuild = rebuild
        self.registry = registry
        # A rebuild stands beside what it is compared with, and takes no name away from it.
        self.repository = f"envgen/rebuild-{run}" if rebuild else "envgen/task"
        self._listings: dict[str, str] = {}
        self._listing_lock = threading.Lock()

    def build(self, request: ImageRequest) -> Image:
        """The image of a request. Raises Fault when a step fails or a limit is met, or when the
        registry, where there is one, does not have it."""
        tag = tag_of(request.digest, self.repository)
        before = self.id_of(tag)
        if self.registry is not None and before is None:
            pull(self.client, tag, self.registry)
        elif before is None or self.rebuild:
            self._watched_build(request, tag)
        if before is not None and before != self.id_of(tag):
            self.remove(before)
        try:
            return self._described(request, tag)
        except Fault:
            self.remove(tag)  # nothing will ask for it again
            raise

    def _docker_build(self, request: ImageRequest, tag: str) -> None:
        dockerfile = f"FROM {request.parent_ref}\n{request.dockerfile}"
        data = request.context.merged(FileTree({"Dockerfile": dockerfile})).tar()
        log = Tail(OUTPUT_BYTES)
        lines = self.api.build(
            fileobj=io.BytesIO(data),
            custom_context=True,
            tag=tag,
            network_mode="none",
            rm=True,
            forcerm=True,
            pull=False,
            nocache=self.rebuild,
            labels={RUN_LABEL: self.run},
            container_limits={"memory": _BUILD_MEMORY, "memswap": _BUILD_MEMORY},
            timeout=request.seconds,
            decode=True,
        )
        deadline = time.monotonic() + request.seconds
        late = Fault("build:timeout", f"over {request.seconds} s")
        try:
            for line in lines:
                log.write(str(line.get("stream") or line.get("error") or "").encode())
                if "error" in line:
                    raise _failure(str(line["error"]), log.text())
                if time.monotonic() > deadline:
                    raise late
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            if is_timeout(error):
                raise late from error
            raise
        finally:
            lines.close()  # the daemon ends a build whose client is gone

    def _watched_build(self, request: ImageRequest, tag: str) -> None:
        """Build, and kill the set-up when its layer grows over the limit."""
        over, too_large = threading.Event(), threading.Event()

        def watch() -> None:
            while not over.wait(WATCH_SECONDS):
                with suppress(APIError, requests.RequestException):
                    for name in self._large(request):
                        too_large.set()
                        self.api.kill(name)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            self._docker_build(request, tag)
        except Fault as fault:
            if too_large.is_set():
                raise _too_large(request, "while it was set up") from fault
            raise
        finally:
            over.set()
            watcher.join()

    def _large(self, request: ImageRequest) -> list[str]:
        """Containers of this request's RUN that are over its limit; other builds have others."""
        runs = [line[4:] for line in request.dockerfile.splitlines() if line.startswith("RUN ")]
        return [
            found["Id"]
            for found in self.api.containers(size=True, filters={"label": LABEL})
            if OWNER_LABEL not in found["Labels"]
            and any(run in found["Command"] for run in runs)
            and over_limit(found, request.limit_mb << 20)
        ]

    def _described(self, request: ImageRequest, tag: str) -> Image:
        """What the layers add, as listed from inside and inspected from outside."""
        found = self.client.images.get(tag)
        entries, extra = self._added(request, tag)
        added = sum(e.get("size", 0) for e in entries if e["kind"] == "f")
        if added > request.limit_mb << 20:
            raise _too_large(request, f"{added >> 20} MB")
        layers = digest(entries)
        return Image(
            content=digest([request.parent, layers]),
            layers=layers,
            ref=tag,
            engine_id=str(found.id),
            bytes_added=added,
            entries=self.containers.blobs.put(json.dumps(entries, sort_keys=True).encode()),
            extra=self.containers.blobs.put(extra) if extra else None,
            config=self._config_text(found, request.parent_ref),
        )

    def _added(self, request: ImageRequest, tag: str) -> tuple[list[dict[str, Any]], bytes]:
        known = json.dumps([file.sha256 for file in request.context.values()])
        result, captured = self._scan(
            tag,
            ("diff", "/.scan/parent", "/.scan/known", str(request.limit_mb << 20), "/.scan/out"),
            {"parent": self._listing(request.parent_ref), "known": known},
            own=True,
        )
        if "error" in result:
            raise _too_large(request, str(result["error"]))
        try:
            return _entries(result), captured
        except (AttributeError, KeyError, TypeError) as error:
            raise Fault("build:scan", "the image lists itself in a form of its own") from error

    def _listing(self, ref: str) -> str:
        """Every path of the parent image, with size, time, mode and owner; once per parent."""
        with self._listing_lock:
            if ref not in self._listings:
                result, _ = self._scan(ref, ("list",), {})
                self._listings[ref] = json.dumps(result)
            return self._listings[ref]

    def _scan(
        self, ref: str, arguments: tuple[str, ...], files: dict[str, str], *, own: bool = False
    ) -> tuple[dict[str, Any], bytes]:
        """Run the listing script in an image; `own`: a stranger's set-up may have broken it."""
        script = (Path(__file__).parent / "scan.py").read_text()
        put = Put(target="/.scan", tree=FileTree({"scan.py": script, **files}), mode=0o700)
        job = Job(
            image="",
            image_ref=ref,
            command=("/bin/sh", "-c", '"$@" > /.scan/report', "scan", *_SCAN, *arguments),
            uid=0,
            puts=(put,),
            seconds=120,
        )
        with self.containers.container(job) as name:
            status, code, output = self.containers.execute(name, job)
            if status != "done" or code not in (0, 1):
                told = f"scanning {ref} ended with {status} {code}: {output}"
                raise Fault("build:scan", told[-600:]) if own else EngineRefused(told)
            files_out = _members(self.containers.archive(name, "/.scan", 1 << 30))
        try:
            return dict(json.loads(files_out["report"])), files_out.get("out", b"")
        except (KeyError, RecursionError, TypeError, ValueError) as error:
            raise Fault("build:scan", f"what {ref} lists cannot be read") from error

    def _config_text(self, image: Any, parent_ref: str) -> str:
        """The added history and the configuration, in which a truth could hide as well."""
        history = image.history()
        added = history[: len(history) - len(self.client.images.get(parent_ref).history())]
        config = image.attrs.get("Config") or {}
        labels = {k: v for k, v in (config.get("Labels") or {}).items() if LABEL not in k}
        kept = {k: config.get(k) for k in ("Env", "Cmd", "Entrypoint", "WorkingDir", "User")}
        lines = [str(h.get("CreatedBy", "")) for h in added if RUN_LABEL not in str(h)]
        return json.dumps({"config": kept, "labels": labels, "history": lines}, sort_keys=True)

    def id_of(self, tag: str) -> str | None:
        """The engine-local id behind a tag."""
        try:
            return str(self.client.images.get(tag).id)
        except ImageNotFound:
            return None

    def remove(self, name: str) -> None:
        """Remove an image, unless it is gone already or still used by something else."""
        with suppress(APIError):
            self.api.remove_image(name, force=False)


def _entries(result: dict[str, Any]) -> list[dict[str, Any]]:
    entries = [
        {
            "path": _printable(path),
            **{k: v for k, v in entry.items() if k != "size" or entry["kind"] == "f"},
            **({"target": _printable(entry["target"])} if "target" in entry else {}),
        }
        for path, entry in sorted(result["entries"].items())
    ]
    return entries + [
        {"kind": "gone", "path": _printable(path)} for path in sorted(result["removed"])
    ]


def _printable(name: str) -> str:
    """A name that any encoder takes: bytes that are not UTF-8 become escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _too_large(request: ImageRequest, seen: str) -> Fault:
    return Fault("build:size", f"the image adds more than {request.limit_mb} MB ({seen})")


def _failure(error: str, log: str) -> Exception:
    """A failing step is the task's fault; the engine's own trouble is weather."""
    low = error.lower()
    if any(word in low for word in DISK_WORDS):
        return HostDiskFull(f"the engine's disk is full ({error}): free some space")
    if "returned a non-zero code" not in low and any(word in low for word in _REFUSED_WORDS):
        return EngineRefused(f"the engine refused to build: {error}")
    return Fault("build:failed", f"{error}\n{_STEP_ID.sub('', log)}")


def _members(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        files = {m.name.partition("/")[2]: tar.extractfile(m) for m in tar if m.isreg()}
    return {name: stream.read() for name, stream in files.items() if stream}
