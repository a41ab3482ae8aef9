"""A task on disk: a Harbor folder (task.toml 1.4) with `envgen.json`, and back to a draft.

Grading in Harbor is `environment_mode = "separate"` with an agent that is not root: the same fresh
box that our own grader uses. An imported task keeps its maker's form, users and tests. The
Dockerfile is self-contained: the base's recipe first, word for word, so builders share its layers
between tasks; then the task's own lines.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from envgen import bases, dockerfile, foreign
from envgen.config import ExportConfig
from envgen.errors import Misconfigured
from envgen.export import canary
from envgen.files import File, FileTree
from envgen.grade import tests_tree
from envgen.lint import RESERVED_TESTS
from envgen.plural import many
from envgen.records import BuiltTask, Foreign, TaskDraft

FORMAT = 1
LICENCE = "Apache-2.0"
_DIFFICULTY = {"short": "easy", "moderate": "medium", "complex": "hard", "intricate": "hard"}
_COMPOSE = "services:\n  main:\n    network_mode: none\n    init: true\n    stop_grace_period: 1s\n"
_TREES = ("tests", "solution")


def folder(task: BuiltTask, export: ExportConfig) -> FileTree:
    """All files of a proven task's folder; equal tasks give equal bytes."""
    receipts = {
        "layers": task.image.layers,
        "base": task.base.content,
        "baseline": task.baseline,
        "evidence": [e.model_dump(mode="json") for e in task.evidence],
    }
    return _folder(task.draft, export, receipts)


def draft_folder(draft: TaskDraft, export: ExportConfig) -> FileTree:
    """The same for a draft that has not been through the gates: without receipts."""
    return _folder(draft, export, {})


def _folder(draft: TaskDraft, export: ExportConfig, receipts: dict[str, Any]) -> FileTree:
    files: dict[str, File] = {
        "task.toml": File(task_toml(draft, export).encode()),
        "instruction.md": File(draft.instruction.encode()),
        "envgen.json": File(_envgen_json(draft, receipts)),
        "environment/Dockerfile": File(dockerfile_text(draft).encode()),
    }
    trees = {
        "environment": dockerfile.context(draft),
        "tests": tests_tree(draft),
        "solution": draft.solution,
    }
    for name, tree in trees.items():
        files |= {f"{name}/{path}": file for path, file in tree.items()}
    if export.network == "compose":
        files["environment/docker-compose.yaml"] = File(_COMPOSE.encode())
    return FileTree(files)


def dockerfile_text(draft: TaskDraft) -> str:
    """The whole Dockerfile, from the public root image on."""
    environment = draft.environment
    recipe = bases.recipe(environment.base, tuple(sorted(environment.packages)))
    return f"FROM {bases.root()['image']}\n{recipe.lines}{dockerfile.task_lines(draft)}"


def task_toml(draft: TaskDraft, export: ExportConfig) -> str:
    """Harbor's description of the task. No time of making in it: equal tasks, equal bytes."""
    limits, spec = draft.limits, draft.spec
    network = '\nnetwork_mode = "no-network"' if export.network == "toml" else ""
    box = f"cpus = {limits.cpus}\nmemory_mb = {limits.memory_mb}{network}"
    tags = [spec.skill_type, spec.language, spec.verifier, spec.fixture] if spec else []
    difficulty = _DIFFICULTY.get(spec.task_complexity, "unknown") if spec else "unknown"
    category = spec.domain if spec else "imported"
    return f"""\
version = "1.0"
schema_version = "1.4"
artifacts = {_toml(list(draft.outputs))}

[task]
name = {_toml(f"{export.org}/{draft.slug}")}
version = "1.{draft.revision}"
description = {_toml(draft.title)}
authors = [{{ name = "envgen" }}]
keywords = {_toml(["terminal", *tags])}

[metadata]
difficulty = {_toml(difficulty)}
category = {_toml(category)}
tags = {_toml(tags)}
license = {_toml(LICENCE)}
generator = {_toml(f"envgen {draft.author}")}
draft = {_toml(draft.digest)}

[agent]
timeout_sec = {limits.agent_seconds}.0
user = {_user(draft)}

[verifier]
timeout_sec = {limits.verify_seconds}.0
{_verifier(draft.foreign, box)}

[environment]
build_timeout_sec = {max(600, limits.build_seconds)}.0
{box}
storage_mb = {max(10240, limits.disk_mb)}
workdir = {_toml(draft.workdir)}
{_env(draft.foreign.env) if draft.foreign else ""}"""


def _user(draft: TaskDraft) -> str:
    return '"agent"' if draft.foreign is None else str(draft.foreign.agent_uid)


def _verifier(maker: Foreign | None, box: str) -> str:
    """The verifier's mode, and who and where it is."""
    own = f"\n[verifier.environment]\n{box}"
    if maker is None:
        return f'environment_mode = "separate"\n{own}'
    told = f"user = {maker.verifier_uid}\n{_env(maker.test_env)}"
    if maker.grading == "shared":
        return f'environment_mode = "shared"\n{told}'.rstrip()
    return f'environment_mode = "separate"\n{told}{own}'


def _env(env: tuple[tuple[str, str], ...]) -> str:
    """A line of variables; nothing when there are none."""
    pairs = ", ".join(f"{_toml(name)} = {_toml(value)}" for name, value in env)
    return f"env = {{ {pairs} }}\n" if pairs else ""


def draft_of(tree: FileTree) -> TaskDraft:
    """The draft that a folder was written from.

    Raises:
        Misconfigured: not a folder of ours, or something in it was changed.
    """
    try:
        stored = json.loads(tree["envgen.json"].data)
        if "canary" in stored:
            tree = canary.without(tree, stored["canary"])
        fields: dict[str, Any] = stored["draft"]
        ours = "foreign" not in fields
        trees = {name: _given(tree.below(name), ours and name == "tests") for name in _TREES}
        environment = fields["environment"] | {"files": _environment(tree, fields)}
        draft = TaskDraft(
            **(fields | trees | {"environment": environment}),
            instruction=tree["instruction.md"].data.decode(),
        )
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise Misconfigured(f"not a task folder of envgen: {reason}") from None
    if draft.digest != stored["digest"]:
        raise Misconfigured(f"the task {draft.slug} was changed since it was proven")
    return draft


def write(tree: FileTree, target: Path) -> None:
    """Write a task's folder aside and rename it; a folder that is as it must be is left alone."""
    if target.exists():
        if _unchanged(target, tree):
            return
        discard(target)
    aside = target.with_name(f".{target.name}.part")
    if aside.exists():
        discard(aside)
    aside.mkdir(parents=True)
    tree.write(aside)
    aside.rename(target)


def discard(folder: Path) -> None:
    """Remove a folder of ours with all that is in it."""
    shutil.rmtree(folder)


def dataset_toml(slugs: list[str], export: ExportConfig, name: str) -> str:
    """Harbor's list of the tasks in a folder; `harbor dataset init` adds its own digests."""
    lines = [
        "[dataset]",
        f"name = {_toml(f'{export.org}/{name}')}",
        'version = "1.0"',
        f"description = {_toml(many(len(slugs), 'terminal task') + ', proven by execution')}",
        'authors = [{ name = "envgen" }]',
    ]
    for slug in slugs:
        lines += ["", "[[tasks]]", f"name = {_toml(f'{export.org}/{slug}')}"]
    return "\n".join(lines) + "\n"


def _envgen_json(draft: TaskDraft, receipts: dict[str, Any]) -> bytes:
    beside = dict.fromkeys(("instruction", *_TREES), True)
    fields = draft.model_dump(mode="json", exclude={**beside, "environment": {"files": True}})
    stored = {"format": FORMAT, "digest": draft.digest, "draft": fields, **receipts}
    return (json.dumps(stored, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _given(tree: FileTree, with_kit: bool) -> FileTree:
    """What the author gave: without the kit's files, which come from the installed kit."""
    if not with_kit:
        return tree
    return FileTree({p: f for p, f in tree.items() if p.split("/")[0] not in RESERVED_TESTS})


def _environment(tree: FileTree, fields: dict[str, Any]) -> FileTree:
    if "foreign" in fields:
        return foreign.files_of(tree.below("environment"))
    owned = dockerfile.owned(fields["workdir"], fields["outputs"])
    places = {f"own{number}": place.strip("/") for number, place in enumerate(owned)}
    files: dict[str, File] = {}
    for path, file in tree.below("environment").items():
        top, _, rest = path.partition("/")
        if rest:
            files[f"{places[top]}/{rest}" if top in places else rest] = file
    return FileTree(files)


def _unchanged(target: Path, tree: FileTree) -> bool:
    """Whether the receipts there are these (they name every byte), and no file is missing or cut.

    Not all bytes are read: a second run over a large corpus looks at every folder here.
    """
    receipts = tree.get("envgen.json", File(b""))
    try:
        return (target / "envgen.json").read_bytes() == receipts.data and all(
            (target / path).stat().st_size == len(file.data) for path, file in tree.items()
        )
    except OSError:
        return False


def _toml(value: str | list[str]) -> str:
    """A TOML string or list: JSON's escapes are TOML's as well."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
