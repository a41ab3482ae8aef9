"""Images in a registry: pushed once, pulled by digest where nothing is built, and nowhere else."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from envgen.config import ExportConfig, RunConfig
from envgen.errors import Fault, Misconfigured
from envgen.export import harbor, parquet
from envgen.files import FileTree
from envgen.grade import build_image
from envgen.kit import Kit, open_kit
from envgen.ledger import Use
from envgen.pipeline import proven
from envgen.publish import dataset, images
from envgen.records import BuiltTask, TaskDraft
from tests.publish import registry

Do = Callable[[Coroutine[Any, Any, Any]], Any]
Envgen = Callable[..., subprocess.CompletedProcess[str]]
SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "manifest.parquet"
DIGEST = "sha256:" + "0" * 64


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with registry.running(tmp_path_factory.mktemp("registry")) as host:
        yield f"{host}/corpus/tasks"


@pytest.fixture(scope="module")
def draft() -> TaskDraft:
    """A small task whose image is this process's own, so that it may be removed."""
    rows = parquet.read(SAMPLE)
    found = next(parquet.draft_of(row) for row in rows if row["domain"] == "file_operations")
    environment = found.environment
    files = environment.files.merged(FileTree({f"srv/own/{os.getpid()}": "own"}))
    return found.model_copy(update={"environment": environment.model_copy(update={"files": files})})


# -- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["127.0.0.1:5000/a", "localhost/x/y", "r.example.org", "h:1/a-b"])
def test_places_of_a_registry(text: str) -> None:
    assert images.place_of(text) == text


@pytest.mark.parametrize(
    "text", ["library/debian", "name", "", "R.org/x", "r.org/../x", "r.org/x:tag", "r.org/x@sha256",
             "http://r.org/x", "r.org/x y", "-r.org:99999999/x", "r.org//x", "r.org/x/"]
)  # fmt: skip
def test_what_would_go_elsewhere_is_refused(text: str) -> None:
    with pytest.raises(Misconfigured, match=re.escape(f"--registry {text!r}: write HOST/PREFIX")):
        images.place_of(text)


@pytest.mark.parametrize(
    "told",
    [
        "", "[]", '{"images": []}', '{"images": {"envgen/task:a": "latest"}}', "[" * 9999,
        json.dumps({"images": {"debian:12": DIGEST}}),
        json.dumps({"images": {"envgen/task:a@x": DIGEST}}),
        json.dumps({"images": {"evil.org/envgen/task:a": DIGEST}}),
        json.dumps({"images": {"envgen/task:a": 3}}),
    ],
)  # fmt: skip
def test_lists_that_are_none(tmp_path: Path, told: str) -> None:
    (tmp_path / "images.json").write_text(told)
    with pytest.raises(Misconfigured, match=r"images\.json is no list of images"):
        images.read(tmp_path / "manifest.parquet", "r.org/x")


def test_a_missing_list_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"images --registry r\.org/x` writes it"):
        images.read(tmp_path / "manifest.parquet", "r.org/x")


# -- a real registry ----------------------------------------------------------------------------


@pytest.mark.box
def test_a_fleet_pulls_and_builds_nothing(
    kit: Kit, do: Do, draft: TaskDraft, place: str, envgen: Envgen, tmp_path: Path
) -> None:
    built = do(proven(draft, kit))
    assert isinstance(built, BuiltTask), built
    row = parquet.manifest_row(built, harbor.folder(built, ExportConfig()))
    manifest = tmp_path / "m" / "manifest.parquet"
    manifest.parent.mkdir()
    parquet.write_manifest(manifest, [row])

    done = envgen("export", "images", "--from", str(manifest), "--registry", place, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "list": str(manifest.with_name("images.json")), "images": 2, "not_pushed": []
    }  # fmt: skip
    listed = json.loads(manifest.with_name("images.json").read_text())["images"]
    assert set(listed) == {built.image.ref, built.base.ref}
    dataset.write(manifest, tmp_path / "set", "fleet")
    assert json.loads((tmp_path / "set" / "images.json").read_text())["images"] == listed

    client = kit.sandbox.engine.client  # type: ignore[attr-defined]
    client.api.remove_image(built.image.ref)
    done = envgen("build", "--from", "set", "--registry", place)
    assert done.returncode == 0, done.stderr
    assert f"1/1 {draft.slug}: same" in done.stderr
    assert client.images.get(built.image.ref).id == built.image.engine_id

    def again(digests: dict[str, str]) -> Any:
        """The image where it is missing, and the registry has these."""
        if client.images.list(built.image.ref):
            client.api.remove_image(built.image.ref)
        told = images.read(manifest, place).__class__(place, digests)

        async def work() -> Any:
            folder = tmp_path / f"fleet-{len(list(tmp_path.iterdir()))}"
            async with open_kit(RunConfig(), folder, registry=told) as fleet:
                return (await build_image(draft, fleet, Use("t", "build")))[1]

        return do(work())

    with pytest.raises(Fault, match="is not among the images that were pushed"):
        again({})
    with pytest.raises(Fault, match="is not in the registry"):
        again({built.image.ref: DIGEST})
    client.images.get(built.base.ref).tag("envgen/task", f"other-{os.getpid()}")
    ((_, other),) = do(kit.sandbox.engine.publish(f"envgen/task:other-{os.getpid()}", place))
    client.api.remove_image(f"envgen/task:other-{os.getpid()}")
    swapped = again({built.image.ref: other})
    assert swapped.layers != built.image.layers
    assert again(listed).layers == built.image.layers
    assert not [t for i in client.images.list() for t in i.tags if t.startswith(place)]

    manifest.with_name("images.json").write_text(
        json.dumps({"images": listed | {built.image.ref: other}})
    )
    client.api.remove_image(built.image.ref)
    done = envgen("build", "--from", str(manifest), "--registry", place)
    assert done.returncode == 1
    assert f"{draft.slug}: DRIFTED: its layers have other content" in done.stderr


@pytest.mark.box
def test_what_is_not_here_is_not_pushed(place: str, envgen: Envgen, tmp_path: Path) -> None:
    rows = [row | {"image_id": DIGEST} for row in parquet.read(SAMPLE)][:1]
    parquet.write_manifest(tmp_path / "m.parquet", rows)
    done = envgen("export", "images", "--from", "m.parquet", "--registry", place)
    assert done.returncode == 1
    assert "the engine no longer has the image sha256:0000" in done.stderr
    assert json.loads((tmp_path / "images.json").read_text())["images"] == {}
