"""Reading folders that strangers wrote: hostile, odd, many of them; and what they become."""

import gc
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from envgen import foreign
from envgen.authors import imports
from envgen.authors.imports import Options
from envgen.config import ExportConfig
from envgen.errors import Fault, Misconfigured
from envgen.export import harbor
from envgen.files import File, FileTree
from envgen.lint import lint
from envgen.records import Rejection, TaskDraft
from tests.corpora import FACTS, HARBOR, LOG, SOLVE, TESTS, TMAX, separate, written

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data/sample/tasks"


def one(folder: Path, kind: str = "harbor", **options: Any) -> TaskDraft:
    (found,) = imports.read(kind, folder, Options(**options))
    assert isinstance(found, TaskDraft), found
    return found


def refused(folder: Path, kind: str = "harbor", **options: Any) -> Rejection:
    (found,) = imports.read(kind, folder, Options(**options))
    assert isinstance(found, Rejection), found
    assert (found.step, found.spec) == ("import", None)
    return found


def maker(draft: TaskDraft) -> Any:
    assert draft.foreign is not None
    return draft.foreign


def dockered(tmp_path: Path, text: str, **files: str | bytes) -> TaskDraft:
    """A Harbor task with this Dockerfile, and files of its context."""
    own = {f"environment/{name}": data for name, data in files.items()}
    return one(written(tmp_path / "t", {**HARBOR, **own, "environment/Dockerfile": text}))


# -- the fresh form ----------------------------------------------------------------------------


def test_no_module_of_the_agents_is_taken_for_the_runner(tmp_path: Path) -> None:
    """`python3 -m pytest` looks into its folder first, and the agent may have filled that."""
    for kind, files in (("tmax", TMAX), ("harbor", HARBOR)):
        place = written(tmp_path / kind, files)
        own, ours = (one(place, kind, grading=g) for g in ("shared", "fresh"))
        script = ours.tests["test.sh"].data.decode()
        assert "python3 -P -m pytest" in script
        assert script.replace(" -P -m", " -m") == own.tests["test.sh"].data.decode()
        assert [n for n in maker(ours).notes if n.startswith("verifier-path:")]
        assert not [n for n in maker(own).notes if n.startswith("verifier-path:")]


def test_other_commands_of_a_test_script_are_left_alone(tmp_path: Path) -> None:
    script = (
        "#!/bin/bash\ncd /tests\n/usr/bin/python3 -I -m pytest\npython3 judge.py -m x\n"
        "echo python3 -m pytest\npython -m unittest && pytest -m slow\n"
    )
    files = {**HARBOR, "tests/test.sh": script}
    draft = one(written(tmp_path / "x", files), grading="fresh")
    lines = draft.tests["test.sh"].data.decode().splitlines()
    assert lines[2:] == [
        "/usr/bin/python3 -I -m pytest",
        "python3 judge.py -m x",
        "echo python3 -m pytest",
        "python -P -m unittest && pytest -m slow",
    ]


# -- what a task becomes -----------------------------------------------------------------------


def test_a_harbor_task_as_a_draft(tmp_path: Path) -> None:
    draft = one(written(tmp_path / "lines", HARBOR))
    lint(draft)
    assert (draft.spec, draft.origin, draft.author) == (None, "harbor:lines", "imports/harbor")
    assert draft.title == "Count the failed visits"
    assert (draft.environment.base, draft.environment.packages) == (
        "data_querying",
        ("python3-pytest",),
    )
    assert draft.environment.files == FileTree({"home/visitor/visits.log": LOG})
    assert [(s.files, s.run) for s in maker(draft).steps] == [
        ((), "useradd -m -s /bin/bash visitor"),
        ((), "mkdir -p -- /home/visitor"),
        (("home/visitor/visits.log",), ""),
        ((), "chmod 0777 /home/visitor"),
    ]
    assert (maker(draft).grading, maker(draft).verdict, maker(draft).stale) == (
        "shared",
        "file",
        False,
    )
    assert (maker(draft).agent_uid, maker(draft).verifier_uid) == (0, 0)
    assert (draft.workdir, draft.outputs) == ("/home/visitor", ("/home/visitor",))
    assert (draft.limits.agent_seconds, draft.limits.memory_mb, draft.limits.cpus) == (60, 512, 1)
    assert draft.solution == FileTree({"solve.sh": SOLVE})


def test_a_separate_verifier_is_our_own_protocol(tmp_path: Path) -> None:
    draft = one(written(tmp_path / "x", separate(HARBOR, "/home/visitor", "/home/visitor/log")))
    assert (maker(draft).grading, draft.outputs) == ("fresh", ("/home/visitor",))
    assert one(tmp_path / "x", grading="shared").foreign.grading == "shared"  # type: ignore[union-attr]


def test_a_tmax_task_as_a_draft(tmp_path: Path) -> None:
    draft = one(written(tmp_path / "task_1", TMAX), "tmax")
    lint(draft)
    assert draft.environment.packages == ("python3-pytest",)
    assert draft.instruction == FACTS["description"]
    assert draft.tests["test_final_state.py"] == File(TESTS.encode())
    assert draft.tests["truth.txt"].data.decode() == FACTS["truth"]
    assert len(draft.solution) == 0
    foreign = maker(draft)
    assert (foreign.grading, foreign.verdict, foreign.stale) == ("shared", "file", True)
    assert (foreign.agent_uid, foreign.env) == (0, (("LC_ALL", "C.UTF-8"),))
    (post,) = foreign.steps
    assert post.shell == ("/bin/bash",)
    assert ": && :" in post.run and "pip3" not in post.run
    assert f"cat <<'END' > /home/visitor/visits.log\n{LOG}END\n" in post.run
    assert any(note.startswith("pip: Debian's python3-pytest 7.2.1") for note in foreign.notes)
    assert any(note.startswith("solution: none") for note in foreign.notes)


def test_an_endless_task_is_graded_by_its_exit_status(tmp_path: Path) -> None:
    text = str(TMAX["container.def"]).replace(
        "docker\nFrom: ubuntu:22.04", "localimage\nFrom: ./ubuntu_22.04.sif"
    )
    draft = one(written(tmp_path / "task_1", {**TMAX, "container.def": text}), "endless")
    assert (maker(draft).verdict, draft.author) == ("status", "imports/endless")
    assert "base: a Debian base stands for ubuntu:22.04" in maker(draft).notes


@pytest.mark.parametrize("name", sorted(p.name for p in SAMPLE.iterdir() if p.is_dir()))
def test_our_own_tasks_come_back_on_their_own_base(name: str) -> None:
    stored = json.loads((SAMPLE / name / "envgen.json").read_text())["draft"]
    draft = one(SAMPLE / name)
    lint(draft)
    assert draft.environment.base == stored["environment"]["base"]
    assert list(draft.environment.packages) == stored["environment"]["packages"]
    assert draft.instruction == (SAMPLE / name / "instruction.md").read_text()
    assert (draft.workdir, list(draft.outputs)) == (stored["workdir"], stored["outputs"])
    assert (maker(draft).grading, maker(draft).agent_uid) == ("fresh", 1000)


def test_what_is_left_out_where_it_is_none_changes_no_identity(golden: TaskDraft) -> None:
    assert '"foreign"' not in golden.identity
    assert '"foreign"' not in golden.model_dump_json()
    assert TaskDraft.model_validate_json(golden.model_dump_json()) == golden


def test_an_imported_draft_survives_json(tmp_path: Path) -> None:
    draft = one(written(tmp_path / "task_1", TMAX), "tmax")
    again = TaskDraft.model_validate_json(draft.model_dump_json())
    assert (again, again.digest) == (draft, draft.digest)
    other = draft.model_copy(update={"foreign": maker(draft).model_copy(update={"stale": False})})
    assert other.digest != draft.digest


@pytest.mark.parametrize("kind", ["harbor", "separate", "tmax"])
def test_an_imported_task_goes_to_harbor_and_back(tmp_path: Path, kind: str) -> None:
    given = {"harbor": HARBOR, "separate": separate(HARBOR, "/home/visitor"), "tmax": TMAX}[kind]
    draft = one(written(tmp_path / "x", given), "tmax" if kind == "tmax" else "harbor")
    tree = harbor.draft_folder(draft, ExportConfig())
    assert harbor.draft_of(tree) == draft
    assert tree["tests/test.sh"] == draft.tests["test.sh"]
    config = tomllib.loads(tree["task.toml"].data.decode())
    mode = "shared" if maker(draft).grading == "shared" else "separate"
    assert config["verifier"]["environment_mode"] == mode
    assert config["agent"]["user"] == config["verifier"]["user"] == 0
    assert config["environment"].get("env", {}) == dict(maker(draft).env)


@pytest.mark.parametrize("version", ["0.1", "1.0", "1.1", "1.4"])
def test_versions_of_task_toml(tmp_path: Path, version: str) -> None:
    old = f'version = "{version}"\n[environment]\nmemory = "2G"\nstorage = "4G"\n'
    draft = one(written(tmp_path / "x", {**HARBOR, "task.toml": old}))
    assert (draft.limits.memory_mb, draft.limits.disk_mb) == (2048, 4096)
    assert draft.limits.verify_seconds == 600


# -- what is refused, and why ------------------------------------------------------------------

TOML = str(HARBOR["task.toml"])
D = "environment/Dockerfile"
BASE = "FROM debian:bookworm-slim\n"
HOSTILE: dict[str, tuple[dict[str, str | bytes], str, str]] = {
    "bad toml": ({"task.toml": "[[["}, "toml", "task.toml"),
    "toml that is not text": ({"task.toml": b"\xff\xfe"}, "encoding", "not UTF-8"),
    "deep toml": ({"task.toml": "a = " + "[" * 3000}, "toml", "task.toml"),
    "a table that is a number": ({"task.toml": "agent = 3\n"}, "toml", "agent is not a table"),
    "a version to come": ({"task.toml": 'schema_version = "2.0"\n'}, "version", "2.0"),
    "several steps": ({"task.toml": f"{TOML}[[steps]]\nname = 'a'\n"}, "steps", "several"),
    "windows": ({"task.toml": f"{TOML}os = 'windows'\n"}, "os", "windows"),
    "a GPU": ({"task.toml": f"{TOML}gpus = 1\n"}, "gpu", "accelerator"),
    "a limit that is text": ({"task.toml": '[agent]\ntimeout_sec = "long"\n'}, "limits", "'long'"),
    "a limit without end": ({"task.toml": "[agent]\ntimeout_sec = inf\n"}, "limits", "inf"),
    "a secret of the host": (
        {"task.toml": '[verifier]\nenv = {KEY = "${API_KEY}"}\n'},
        "env",
        "KEY comes from the host",
    ),
    "an agent that nobody makes": ({"task.toml": '[agent]\nuser = "x"\n'}, "user", "no user 'x'"),
    "services": (
        {"environment/docker-compose.yaml": "services: {main: {}, db: {}}\n"},
        "compose",
        "beside the agent's",
    ),
    "privileges": (
        {"environment/docker-compose.yaml": "services: {main: {privileged: true}}\n"},
        "compose",
        "privileged",
    ),
    "yaml that is none": (
        {"environment/docker-compose.yaml": "a: [" + "[" * 2000},
        "compose",
        "not YAML",
    ),
    "an unknown image": ({D: "FROM registry.example/x:1\n"}, "base", "--base-map"),
    "nothing": ({D: "FROM scratch\n"}, "base", "scratch"),
    "stages": ({D: f"{BASE}FROM debian\n"}, "stages", "several stages"),
    "no FROM": ({D: "RUN true\n"}, "dockerfile", "does not begin with FROM"),
    "another escape": ({D: f"# escape=`\n{BASE}"}, "dockerfile", "escape"),
    "an endless here-document": ({D: f"{BASE}RUN cat <<E > x\n"}, "dockerfile", "has no end"),
    "a remote ADD": ({D: f"{BASE}ADD https://example.org/x /x\n"}, "download", "ADD https"),
    "a download": ({D: f"{BASE}RUN curl -O https://example.org/x\n"}, "download", "curl"),
    "a clone": ({D: f"{BASE}RUN cd / && git clone https://example.org/x\n"}, "download", "clone"),
    "npm": ({D: f"{BASE}RUN npm install left-pad\n"}, "download", "npm install"),
    "a file from outside": ({D: f"{BASE}COPY ../../etc/passwd /x\n"}, "missing", "etc/passwd"),
    "a missing file": ({D: f"{BASE}COPY nothing /x\n"}, "missing", "nothing"),
    "a secret mount": ({D: f"{BASE}RUN --mount=type=secret,id=x true\n"}, "dockerfile", "mount"),
    "ONBUILD": ({D: f"{BASE}ONBUILD RUN true\n"}, "dockerfile", "ONBUILD"),
    "another stage's file": ({D: f"{BASE}COPY --from=x /a /b\n"}, "dockerfile", "--from"),
    "an owner with a command": ({D: f"{BASE}COPY --chown=$(id) . /b\n"}, "dockerfile", "owner"),
    "a user with a command": ({D: f"{BASE}USER a;b\n"}, "user", "is no user"),
    "the same path twice": (
        {D: f"{BASE}RUN cat <<'A' > /x\n1\nA\nRUN cp /x /y\nRUN cat <<'A' > /x\n2\nA\n"},
        "order",
        "/x is copied twice",
    ),
    "a pinned library": ({D: f"{BASE}RUN pip install pandas==2.2.3\n"}, "pip", "--wheels"),
    "an unknown library": ({D: f"{BASE}RUN pip install nobody-has-it\n"}, "pip", "--wheels"),
    "an address": ({D: f"{BASE}RUN pip install git+https://example.org/x\n"}, "pip", "not a named"),
    "its own project": ({D: f"{BASE}RUN pip install -e .\n"}, "pip", "-e cannot be followed"),
    "requirements unseen": ({D: f"{BASE}RUN pip install -r r.txt\n"}, "pip", "no step lays down"),
    "a package by variable": ({D: f"{BASE}RUN apt-get install -y $X\n"}, "apt", "cannot be told"),
}


@pytest.mark.parametrize(("files", "code", "told"), HOSTILE.values(), ids=HOSTILE)
def test_a_folder_that_cannot_be_imported_says_why(
    tmp_path: Path, files: dict[str, str | bytes], code: str, told: str
) -> None:
    found = refused(written(tmp_path / "x", {**HARBOR, **files}))
    assert found.code == f"import:{code}"
    assert found.detail.startswith("harbor:x: ") and told in found.detail


TMAX_HOSTILE: dict[str, tuple[dict[str, str | bytes], str, str]] = {
    "bad json": ({"task.json": "{"}, "json", "task.json"),
    "deep json": ({"task.json": "[" * 100_000}, "json", "task.json"),
    "a list": ({"task.json": "[]"}, "json", "not an object"),
    "a truth that is a number": ({"task.json": '{"truth": 3}'}, "json", "truth"),
    "no image": ({"container.def": "%post\n true\n"}, "definition", "From:"),
    "build variables": ({"container.def": "From: ubuntu\n%post\n{{ x }}\n"}, "definition", "var"),
    "work on the host": ({"container.def": "From: ubuntu\n%setup\n x\n"}, "definition", "%setup"),
    "a fixture of the maker's disk": (
        {"container.def": "From: ubuntu\n%files\n/srv/maker/a /a\n"},
        "missing",
        "/srv/maker/a",
    ),
    "the heavy base": ({"task.json": '{"base_image": "intricate"}'}, "base", "intricate=BASE"),
}


@pytest.mark.parametrize(("files", "code", "told"), TMAX_HOSTILE.values(), ids=TMAX_HOSTILE)
def test_a_tmax_folder_that_cannot_be_imported_says_why(
    tmp_path: Path, files: dict[str, str | bytes], code: str, told: str
) -> None:
    found = refused(written(tmp_path / "x", {**TMAX, **files}), "tmax")
    assert (found.code, told in found.detail) == (f"import:{code}", True), found


def sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(1 << 40)


def swapped(path: Path) -> None:
    """A link to itself under another name."""
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def nameless(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).touch()


def both_cases(folder: Path) -> None:
    (folder / "A").touch()
    (folder / "a").touch()


PLANTED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link in the context": (lambda f: (f / "environment/l").symlink_to("/etc/passwd"), "link"),
    "a link to a folder": (lambda f: (f / "environment/l").symlink_to("/etc"), "link"),
    "the tests are a link": (lambda f: swapped(f / "tests"), "link"),
    "the text is a link": (lambda f: swapped(f / "instruction.md"), "unreadable"),
    "a pipe": (lambda f: os.mkfifo(f / "environment/pipe"), "special"),
    "a terabyte of nothing": (lambda f: sparse(f / "environment/big"), "size"),
    "a huge text": (lambda f: (f / "instruction.md").write_text("x" * (2 << 20)), "size"),
    "a name with an escape": (lambda f: (f / "environment/\x1b[2J").touch(), "path"),
    "a name that is no text": (lambda f: nameless(f / "environment"), "path"),
    "names that differ in case": (lambda f: both_cases(f / "environment"), "path"),
    "folders without end": (
        lambda f: (f / "environment" / "/".join(["d"] * 40)).mkdir(parents=True),
        "path",
    ),
    "no instruction": (lambda f: (f / "instruction.md").unlink(), "missing"),
    "no Dockerfile": (lambda f: (f / D).unlink(), "missing"),
    "no test.sh": (lambda f: (f / "tests/test.sh").unlink(), "no-verifier"),
}


@pytest.mark.parametrize(("plant", "code"), PLANTED.values(), ids=PLANTED)
def test_what_stands_in_a_folder_is_looked_at_before_it_is_read(
    tmp_path: Path, plant: Callable[[Path], object], code: str
) -> None:
    folder = written(tmp_path / "x", HARBOR)
    plant(folder)
    assert refused(folder).code == f"import:{code}"


def test_a_task_that_is_a_link_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "elsewhere", HARBOR)
    (tmp_path / "set").mkdir()
    (tmp_path / "set/linked").symlink_to(tmp_path / "elsewhere")
    assert refused(tmp_path / "set").code == "import:link"


def test_names_of_folders_cannot_reach_the_terminal(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\x1b[31m\xff"))
    draft = one(written(odd, HARBOR).parent)
    assert draft.origin == "harbor:a?[31m\\xff"


LINTED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "outputs that the grader needs": ("outputs", {"outputs": ("/usr",)}, {}),
    "outputs that are everything": ("outputs", {"outputs": ("/",)}, {}),
    "outputs outside": ("outputs", {"outputs": ("/home/../usr",)}, {}),
    "nested outputs": ("outputs", {"outputs": ("/a", "/a/b")}, {}),
    "no outputs": ("outputs", {"outputs": ()}, {}),
    "a folder with a command": ("outputs", {"workdir": "/a;id"}, {}),
    "no test.sh": ("tests", {"tests": FileTree({"x": ""})}, {}),
    "a file of the kernel's": ("path", {}, {"files": FileTree({"proc/x": ""})}),
    "a deep file": ("path", {}, {"files": FileTree({"/".join("a" * 14): ""})}),
    "a long path": ("path", {}, {"files": FileTree({"/".join(["a" * 95] * 4): ""})}),
    "a deep test": ("path", {"tests": FileTree({"test.sh": "", "/".join("a" * 14): ""})}, {}),
    "a package with options": ("packages", {}, {"packages": ("-oX",)}),
    "an escape": ("text", {"instruction": "a\x1b[2J"}, {}),
}


@pytest.mark.parametrize(("code", "fields", "environment"), LINTED.values(), ids=LINTED)
def test_an_imported_draft_that_no_container_can_hold_is_refused(
    tmp_path: Path, code: str, fields: dict[str, Any], environment: dict[str, Any]
) -> None:
    draft = one(written(tmp_path / "x", HARBOR))
    held = draft.environment.model_copy(update=environment)
    with pytest.raises(Fault, match=f"^lint:{code}: "):
        lint(draft.model_copy(update={**fields, "environment": held}))


def test_the_longest_paths_that_pass_can_be_built_and_put_in(tmp_path: Path) -> None:
    long = "/".join(["b" * 29] * 12)
    assert (long.count("/"), len(long)) == (11, 359)
    made = {f"environment/{long}": "x", f"tests/{long}": "x", D: f"{BASE}COPY . /\nUSER root\n"}
    draft = one(written(tmp_path / "x", {**HARBOR, **made}))
    lint(draft)
    assert f"import/steps/000/tree/{long}" in foreign.context(draft)
    assert f"tests/{long}" in foreign.together(draft, {}, {})


# -- many --------------------------------------------------------------------------------------


def test_thousands_of_tasks_come_one_by_one(tmp_path: Path) -> None:
    for number in range(2500):
        folder = tmp_path / f"task_{number:06}"
        folder.mkdir()
        for name, data in TMAX.items():
            (folder / name).write_text(str(data))
    (tmp_path / "task_000002/task.json").write_text("{")
    found = imports.read("tmax", tmp_path)
    first = list(islice(found, 3))
    assert [type(task).__name__ for task in first] == ["TaskDraft", "TaskDraft", "Rejection"]
    (tmp_path / "task_000003/container.def").unlink()  # nothing has been read ahead
    fourth = next(found)
    assert isinstance(fourth, Rejection) and fourth.code == "import:missing"
    del first
    origins = []
    for task in found:
        assert isinstance(task, TaskDraft)
        origins.append(task.origin)
        if len(origins) % 800 == 0:
            assert sum(isinstance(thing, TaskDraft) for thing in gc.get_objects()) < 40
    assert origins == [f"tmax:task_{number:06}" for number in range(4, 2500)]


def test_tasks_are_found_below_folders_of_folders(tmp_path: Path) -> None:
    written(tmp_path / "org/a", HARBOR)
    written(tmp_path / "org/b", HARBOR)
    written(tmp_path / ".cache/c", HARBOR)
    written(tmp_path / "d", {"README.md": "nothing here\n"})
    found = [
        task.origin for task in imports.read("harbor", tmp_path) if isinstance(task, TaskDraft)
    ]
    assert found == ["harbor:org/a", "harbor:org/b"]


def test_the_same_folder_gives_the_same_drafts_in_every_process(tmp_path: Path) -> None:
    written(tmp_path / "t", TMAX)
    script = (
        "import sys; from pathlib import Path; from envgen.authors import imports\n"
        "print([t.digest for t in imports.read('tmax', Path(sys.argv[1]))])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "7", "99")
    }
    assert len(said) == 1


# -- wrong use ---------------------------------------------------------------------------------


def test_wrong_use_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="known are harbor, tmax, endless"):
        imports.read("swe", tmp_path)
    with pytest.raises(Misconfigured, match="is not a folder"):
        imports.read("tmax", tmp_path / "nowhere")
    with pytest.raises(Misconfigured, match=r"no folder in .* holds a task.toml"):
        list(imports.read("harbor", tmp_path))
    with pytest.raises(Misconfigured, match="write IMAGE=BASE or IMAGE=BASE"):
        imports.read("harbor", tmp_path, Options(base_map={"x": "tools"}))
    with pytest.raises(Misconfigured, match="write KIND:FOLDER"):
        imports.parse("harbor")
    assert imports.parse("tmax:/a:b") == ("tmax", Path("/a:b"))


def test_a_base_map_decides_and_is_noted(tmp_path: Path) -> None:
    text = "FROM registry.example/team/image:3\nRUN echo hello > /greeting\nWORKDIR /app\n"
    files = {**HARBOR, D: text}
    draft = one(
        written(tmp_path / "x", files),
        base_map={"registry.example/team/image": "security+tmux+python3-pytest"},
    )
    assert (draft.environment.base, draft.environment.packages) == (
        "security",
        ("python3-pytest", "tmux"),
    )
    assert maker(draft).notes[0].endswith("stands for registry.example/team/image:3, as was asked")
