"""The root image and the bases on it: pulled or bootstrapped, built with network, and locked."""

import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from threading import Lock

from docker import DockerClient
from docker.errors import APIError, ImageNotFound

from envgen.digest import digest, short
from envgen.errors import EngineRefused, Fault, Misconfigured
from envgen.files import FileTree
from envgen.records import BaseImage, BaseRecipe, Job
from envgen.sandbox.containers import OUTPUT_BYTES, Containers
from envgen.sandbox.registry import Registry, pull
from envgen.sandbox.tail import Tail

ROOT_TAG = "envgen/root:1"
UNKNOWN_PACKAGE = re.compile(r"E: (Unable to locate package|Package) [^\n]{1,200}")
_PACKAGES = (
    "/usr/bin/dpkg-query",
    "--show",
    "--showformat=${Package}:${Architecture}=${Version}\\n",
)


class Roots:
    """Makes bases on a daemon.

    Args:
        client: the SDK's client.
        containers: runs the listing of packages.
        root: `image`, `digest` and `suite` (see `bases.root`).
        say: told about slow steps.
        registry: where a missing base is pulled from, in place of being built.
    """

    def __init__(
        self,
        client: DockerClient,
        containers: Containers,
        root: dict[str, str],
        say: Callable[[str], None],
        registry: Registry | None = None,
    ) -> None:
        self.client = client
        self.containers = containers
        self.root = root
        self.say = say
        self.registry = registry
        self._building = Lock()

    def base(self, recipe: BaseRecipe) -> BaseImage:
        """The base of a recipe, built when the engine lacks it; its packages listed anew.

        Raises:
            Fault: a package of the set does not exist, or the registry does not have the base.
        """
        readable = re.sub(r"[^a-z0-9_.-]", "-", recipe.name)[:60]
        tag = f"envgen/base:{readable}-{short(recipe.digest)}"
        with self._building:  # one at a time: they share their first layers
            if not self._has(tag) and self.registry is not None:
                pull(self.client, tag, self.registry)
            elif not self._has(tag):
                self._ensure_root()
                self._build(recipe, tag)
        lock = self._packages(tag)
        return BaseImage(recipe=recipe, content=digest([recipe.lines, lock]), ref=tag, lock=lock)

    def _has(self, tag: str) -> bool:
        try:
            self.client.images.get(tag)
        except ImageNotFound:
            return False
        return True

    def _ensure_root(self) -> None:
        if not self._has(ROOT_TAG) and not self._pulled():
            self._bootstrap()
        # Exported Dockerfiles name the public image: without a registry, ours stands for it.
        if not self._has(self.root["image"]):
            repository, _, tag = self.root["image"].partition(":")
            self.client.images.get(ROOT_TAG).tag(repository, tag)

    def _pulled(self) -> bool:
        repository = self.root["image"].partition(":")[0]
        self.say(f"pulling {self.root['image']} by its digest")
        try:
            image = self.client.images.pull(f"{repository}@{self.root['digest']}")
        except (APIError, ImageNotFound) as error:
            self.say(f"no registry answers ({str(error).splitlines()[0][:100]})")
            return False
        return bool(image.tag(*ROOT_TAG.split(":")))

    def _bootstrap(self) -> None:
        tool = shutil.which("mmdebstrap")
        if tool is None:
            raise Misconfigured(
                "the root image can neither be pulled (no registry answers) nor bootstrapped "
                "(mmdebstrap is missing): run `apt-get install mmdebstrap` as root"
            )
        self.say(f"bootstrapping Debian {self.root['suite']} with mmdebstrap")
        slim = [f"--dpkgopt=path-exclude=/usr/share/{d}/*" for d in ("doc", "man", "locale")]
        done = subprocess.run(
            [tool, "--variant=minbase", *slim, self.root["suite"], "-"],
            capture_output=True,
            timeout=900,
            check=False,
        )
        if done.returncode != 0:
            reason = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise EngineRefused(f"mmdebstrap failed: {' '.join(reason)}")
        told = self.client.api.import_image_from_data(done.stdout)
        imported = json.loads(told.strip().splitlines()[-1])["status"]  # Podman ignores a name here
        self.client.images.get(imported).tag(*ROOT_TAG.split(":"))

    def _build(self, recipe: BaseRecipe, tag: str) -> None:
        self.say(f"building base {recipe.name}")
        context = FileTree({"Dockerfile": f"FROM {self.root['image']}\n{recipe.lines}"}).tar()
        log = Tail(OUTPUT_BYTES)
        for line in self.client.api.build(
            fileobj=io.BytesIO(context),
            custom_context=True,
            tag=tag,
            rm=True,
            forcerm=True,
            pull=False,
            timeout=1800,
            decode=True,
        ):
            log.write(str(line.get("stream") or line.get("error") or "").encode())
            if "error" in line:
                if unknown := UNKNOWN_PACKAGE.search(log.text()):
                    raise Fault("build:packages", f"Debian does not have them: {unknown[0]}")
                raise EngineRefused(f"base {recipe.name} does not build: {log.text()}")

    def _packages(self, tag: str) -> str:
        job = Job(image="", image_ref=tag, command=_PACKAGES, seconds=60)
        result = self.containers.run(job)
        if not result.ok:
            raise EngineRefused(f"listing the packages of {tag} failed: {result.output}")
        return "".join(f"{line}\n" for line in sorted(result.output.splitlines()) if line)
