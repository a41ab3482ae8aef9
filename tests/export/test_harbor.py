"""Harbor folders: the golden tree, there and back, and titles that try to break the TOML."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen import bases, grade
from envgen.config import ExportConfig
from envgen.errors import Misconfigured
from envgen.export import harbor
from envgen.files import File, FileTree
from envgen.lint import lint
from envgen.records import BuiltTask, Environment, Limits, TaskDraft

EXPORT = ExportConfig()
GIVEN = [
    "envgen.json",
    "environment/Dockerfile",
    "environment/docker-compose.yaml",
    "environment/own0/bin/tool.sh",
    "environment/own0/orders.csv",
    "environment/root/opt/shop/blob.bin",
    "instruction.md",
    "solution/solve.sh",
    "task.toml",
    "tests/check.py",
    "tests/data/more.txt",
    "tests/task.json",
    "tests/test.sh",
    "tests/truth.json",
]
TASK_TOML = """\
version = "1.0"
schema_version = "1.4"
artifacts = ["/home/agent"]

[task]
name = "envgen/data_querying-golden00"
version = "1.0"
description = "Count the \\"open\\" orders — today"
authors = [{ name = "envgen" }]
keywords = ["terminal", "joins", "sql", "exact_text", "text_only"]

[metadata]
difficulty = "medium"
category = "data_querying"
tags = ["joins", "sql", "exact_text", "text_only"]
license = "Apache-2.0"
generator = "envgen procedural/golden"
draft = "sha256:23b833cdbbfc1d1cbdb0ffa37a824f8bbaf3c4215551f4ee0d0e651478070d31"

[agent]
timeout_sec = 600.0
user = "agent"

[verifier]
timeout_sec = 120.0
environment_mode = "separate"

[verifier.environment]
cpus = 2
memory_mb = 1024

[environment]
build_timeout_sec = 600.0
cpus = 2
memory_mb = 1024
storage_mb = 10240
workdir = "/home/agent"
"""


def test_golden_folder(built: BuiltTask) -> None:
    tree = harbor.folder(built, EXPORT)
    kit = [f"tests/{path}" for path in grade.verifier_kit() if path != "test.sh"]
    assert list(tree) == sorted([*GIVEN, *kit])
    assert len(kit) > 5
    assert tree["task.toml"].data.decode() == TASK_TOML
    assert tree["tests/test.sh"].mode == 0o755
    assert tree["environment/own0/bin/tool.sh"].mode == 0o755
    assert tree["instruction.md"].data.decode() == built.draft.instruction


def test_dockerfile_stands_alone_and_begins_with_the_shared_lines(golden: TaskDraft) -> None:
    lines = harbor.dockerfile_text(golden).splitlines()
    assert lines[0] == f"FROM {bases.root()['image']}"
    assert "\n".join(lines[1:]).startswith(bases.recipe("data_querying").lines.rstrip("\n"))
    assert lines[-3:-1] == ["COPY --chown=1000:1000 own0/ /home/agent/", "COPY root/ /"]
    plain = golden.model_copy(update={"environment": Environment(base="data_querying")})
    shared = harbor.dockerfile_text(plain).splitlines()
    assert lines[: len(shared)] == shared  # so that builders share the layers


def test_receipts_say_what_was_executed(built: BuiltTask) -> None:
    stored = json.loads(harbor.folder(built, EXPORT)["envgen.json"].data)
    assert set(stored) == {
        "format", "digest", "draft", "layers", "base", "baseline", "evidence",
    }  # fmt: skip
    assert (stored["format"], stored["digest"]) == (1, built.draft.digest)
    assert (stored["layers"], stored["base"]) == ("sha256:1a", "sha256:ba")
    assert [e["gate"] for e in stored["evidence"]] == [e.gate for e in built.evidence]
    text = json.dumps(stored)
    assert "engine_id" not in text
    assert built.image.engine_id not in text


@pytest.mark.parametrize("network", ["compose", "toml", "public"])
def test_where_it_says_that_there_is_no_network(golden: TaskDraft, network: Any) -> None:
    tree = harbor.draft_folder(golden, ExportConfig(network=network))
    toml = tomllib.loads(tree["task.toml"].data.decode())
    assert ("environment/docker-compose.yaml" in tree) == (network == "compose")
    wanted = "no-network" if network == "toml" else None
    assert toml["environment"].get("network_mode") == wanted
    assert toml["verifier"]["environment"].get("network_mode") == wanted


def test_an_imported_task_has_a_folder_too(golden: TaskDraft) -> None:
    imported = golden.model_copy(update={"spec": None, "origin": "elsewhere", "revision": 2})
    toml = tomllib.loads(harbor.task_toml(imported, EXPORT))
    assert toml["task"]["name"] == f"envgen/{imported.slug}"
    assert toml["task"]["version"] == "1.2"
    assert (toml["metadata"]["difficulty"], toml["metadata"]["category"]) == ("unknown", "imported")
    assert harbor.draft_of(harbor.draft_folder(imported, EXPORT)) == imported


# -- and back ----------------------------------------------------------------------------------


def test_a_folder_gives_its_draft_back(built: BuiltTask) -> None:
    again = harbor.draft_of(harbor.folder(built, EXPORT))
    assert again == built.draft
    assert again.digest == built.draft.digest


NAMES = st.text(st.sampled_from("abcdé -_.$'\"{}"), min_size=1, max_size=6).filter(
    lambda name: name == name.strip() and name not in (".", "..")
)
FILES = st.dictionaries(
    st.builds(
        "{}/{}".format,
        st.sampled_from(["home/agent", "home/agent/deep", "srv/app", "srv/app/out", "opt", "data"]),
        NAMES.map("f{}".format),
    ),
    st.builds(File, st.binary(max_size=40), st.sampled_from([0o644, 0o755, 0o600])),
    max_size=6,
)


@given(
    files=FILES,
    title=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    workdir=st.sampled_from(["/home/agent", "/srv/app", "/srv/app/out"]),
    outputs=st.sampled_from([("/home/agent",), ("/srv/app/out", "/opt/x"), ("/srv/app",)]),
    setup=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=3),
)
def test_every_draft_survives_its_folder(
    golden: TaskDraft, files: Any, title: str, workdir: str, outputs: Any, setup: list[str]
) -> None:
    environment = Environment(base="security", files=FileTree(files), setup=tuple(setup))
    draft = golden.model_copy(
        update={
            "environment": environment, "title": title, "workdir": workdir, "outputs": outputs,
            "limits": Limits(cpus=1),
        }
    )  # fmt: skip
    tree = harbor.draft_folder(draft, EXPORT)
    assert harbor.draft_of(tree) == draft
    assert FileTree.from_tar(tree.tar()) == tree
    assert tomllib.loads(tree["task.toml"].data.decode())["task"]["description"] == title


CHANGES: dict[str, dict[str, bytes | None]] = {
    "instruction": {"instruction.md": b"Do nothing.\n"},
    "tests": {"tests/check.py": b"pass\n"},
    "one more test": {"tests/more.py": b"pass\n"},
    "one test less": {"tests/truth.json": None},
    "solution": {"solution/solve.sh": b"true\n"},
    "environment": {"environment/own0/orders.csv": b""},
    "one more file": {"environment/root/opt/more": b""},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_folder_is_refused(built: BuiltTask, change: dict[str, bytes | None]) -> None:
    files: dict[str, Any] = {**harbor.folder(built, EXPORT), **change}
    tree = FileTree({path: file for path, file in files.items() if file is not None})
    with pytest.raises(Misconfigured, match="data_querying-golden00 was changed since it was prov"):
        harbor.draft_of(tree)


def test_a_changed_mode_is_refused(built: BuiltTask) -> None:
    tree = harbor.folder(built, EXPORT)
    changed = File(tree["solution/solve.sh"].data, 0o644)
    with pytest.raises(Misconfigured, match="was changed"):
        harbor.draft_of(FileTree({**tree, "solution/solve.sh": changed}))


STRANGE = {
    "nothing": None,
    "no JSON": b"{",
    "not UTF-8": b"\xff",
    "a list": b"[]",
    "a number": b"1",
    "no draft": b'{"digest": "x"}',
    "draft is a list": b'{"draft": [], "digest": "x"}',
    "draft is empty": b'{"draft": {}, "digest": "x"}',
    "nested": b"[" * 100_000,
    "folder is a number": b'{"draft": {"environment": {}, "workdir": 5, "outputs": []}}',
    "folder is a list": b'{"draft": {"environment": {}, "workdir": [], "outputs": [1]}}',
    "environment is text": b'{"draft": {"environment": "x", "workdir": "/a", "outputs": []}}',
}


@pytest.mark.parametrize("data", STRANGE.values(), ids=STRANGE)
def test_what_is_no_folder_of_ours_is_refused_with_one_sentence(
    built: BuiltTask, data: bytes | None
) -> None:
    files: dict[str, Any] = {**harbor.folder(built, EXPORT), "envgen.json": data}
    with pytest.raises(Misconfigured, match="not a task folder of envgen: ") as caught:
        harbor.draft_of(FileTree({path: file for path, file in files.items() if file is not None}))
    assert "\n" not in str(caught.value)


# -- titles ------------------------------------------------------------------------------------

TITLES = [
    'quote " and \\" more',
    "single ' and ''' three",
    'three """ quotes',
    "closing ]] and [[tasks]]",
    "[agent]",
    "backslash \\ at the end \\",
    "braces {{ }} and ${HOME} $(id)",
    "comment # not one",
    "unicode é 日本 😀 \u2028",
    "tab\tinside",
    "equals = and , comma",
]


@pytest.mark.parametrize("title", TITLES)
def test_hostile_titles_are_valid_toml(golden: TaskDraft, title: str) -> None:
    draft = golden.model_copy(update={"title": title})
    lint(draft)
    toml = tomllib.loads(harbor.task_toml(draft, EXPORT))
    assert toml["task"]["description"] == title
    assert toml["agent"] == {"timeout_sec": 600.0, "user": "agent"}


def test_dataset_lists_the_tasks() -> None:
    toml = tomllib.loads(harbor.dataset_toml(["a-1", "b-2"], EXPORT, "demo"))
    assert toml["dataset"]["name"] == "envgen/demo"
    assert toml["dataset"]["description"] == "2 terminal tasks, proven by execution"
    assert [task["name"] for task in toml["tasks"]] == ["envgen/a-1", "envgen/b-2"]


# -- on disk -----------------------------------------------------------------------------------


def test_a_folder_that_is_as_it_must_be_is_left_alone(built: BuiltTask, tmp_path: Path) -> None:
    tree, target = harbor.folder(built, EXPORT), tmp_path / "tasks" / "one"
    harbor.write(tree, target)
    before = target.stat().st_ino
    harbor.write(tree, target)
    assert target.stat().st_ino == before
    assert FileTree.read(target) == tree
    assert [path.name for path in target.parent.iterdir()] == ["one"]


def test_a_folder_that_lost_a_file_is_written_again(built: BuiltTask, tmp_path: Path) -> None:
    tree, target = harbor.folder(built, EXPORT), tmp_path / "one"
    for damage in ("instruction.md", "tests/check.py", "envgen.json"):
        harbor.write(tree, target)
        (target / damage).write_bytes(b"")
        harbor.write(tree, target)
        (target / damage).unlink()
        harbor.write(tree, target)
        assert FileTree.read(target) == tree
