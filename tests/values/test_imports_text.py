"""The readers of shell text, Dockerfiles, requirements and test scripts."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen import foreign
from envgen.authors.imports import dockerfile, images, installs, python, runner
from envgen.authors.imports.container import Container
from envgen.authors.imports.options import Options
from envgen.authors.imports.shell import commands, expand, replaced
from envgen.errors import Fault
from envgen.files import File, FileTree
from envgen.foreign import imported
from envgen.records import BuildStep, Environment, Foreign, JobResult, TaskDraft
from tests.corpora import tiny_wheel

NONE = Options()

# -- shell text --------------------------------------------------------------------------------

SHELL: dict[str, tuple[str, list[tuple[str, ...]]]] = {
    "chain": ("a 1 && b '2 3' || c;d", [("a", "1"), ("b", "2 3"), ("c",), ("d",)]),
    "pipe": ("a | b |& c", [("a",), ("b",), ("c",)]),
    "keywords": ("if a; then b; else ! c; fi", [("a",), ("b",), ("c",), ("fi",)]),
    "assignments": ("X=1 Y='2 3' sudo a b", [("a", "b")]),
    "continued": ("a \\\n  b", [("a", "b")]),
    "comment": ("a # b && c\nd#e", [("a",), ("d#e",)]),
    "redirections": ("a >/x 2>&1 < y b &> z", [("a", "b")]),
    "background": ("a & b", [("a",), ("b",)]),
    "operators in quotes": ("a '&&' \"; |\" \\;", [("a", "&&", "; |", ";")]),
    "here-document": ("a <<E b\nx && y\nE\nc", [("a", "b"), ("c",)]),
    "here-string": ("a <<<x b", [("a", "b")]),
}


@pytest.mark.parametrize(("text", "words"), SHELL.values(), ids=SHELL)
def test_shell_text_as_commands(text: str, words: list[tuple[str, ...]]) -> None:
    assert [command.values for command in commands(text)] == words


def test_a_substitution_is_part_of_its_word() -> None:
    text = 'a "$(b; c "d")" ${E:-f g} `h | i` && j'
    assert [len(command.words) for command in commands(text)] == [4, 1]


@given(st.text(alphabet="ab '\"\\$(){}`|&;<>\n\t#=E", max_size=60))
def test_no_text_breaks_the_reader_and_spans_lie_in_order(text: str) -> None:
    found = commands(text)
    places = [place for command in found for place in (command.start, command.end)]
    assert places == sorted(places) and all(0 <= place <= len(text) for place in places)
    assert replaced(text, []) == text


BODIES = st.text(alphabet="ab \t$`\\'\"<#", max_size=20)


@given(st.lists(BODIES, max_size=4), st.booleans())
def test_a_here_document_has_the_bytes_that_bash_writes(lines: list[str], strip: bool) -> None:
    dash = "-" if strip else ""
    body = "".join(f"{line}\n" for line in lines)
    text = f"cat <<{dash}'END' | cat\n{body}END\n"
    done = subprocess.run(["bash", "-c", text], capture_output=True, check=True)
    (first, _) = commands(text)
    found = first.heredocs or commands(text)[1].heredocs
    assert found[0].text.encode() == done.stdout


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$A/x", "1/x"),
        ("${A}b", "1b"),
        ("${B:-none}", "none"),
        ("${A:-none}", "1"),
        ("${A:+yes}${B:+no}", "yes"),
        ("$B.", "."),
        ("${E:-none}|${E-none}", "none|"),
    ],
)
def test_variables_are_expanded_as_in_dockerfiles(text: str, value: str) -> None:
    assert expand(text, {"A": "1", "E": ""}) == value


# -- what text installs ------------------------------------------------------------------------

INSTALLS = {
    "apt": (
        "apt-get update && apt-get install -y --no-install-recommends jq git=1:2.3 && echo x",
        ": && : && echo x",
        ["jq", "git"],
        [],
    ),
    "options": ("apt -o A=b install -qq -t sid zip", ":", ["zip"], []),
    "inside a condition": (
        "if ! command -v jq; then sudo apt-get install jq; fi",
        "if ! command -v jq; then :; fi",
        ["jq"],
        [],
    ),
    "pip": (
        "python3 -m pip install --no-cache-dir -i https://x.example/ 'pytest==8.4.1' requests",
        ":",
        [],
        ["pytest==8.4.1", "requests"],
    ),
    "requirements": ("pip3 install -r /r.txt", ":", [], ["flask==2.2.2", "click"]),
    "uv": (
        "curl -LsSf https://astral.sh/uv/0.9.5/install.sh | sh\nsource $HOME/.local/bin/env\nls",
        ": | :\n:\nls",
        [],
        [],
    ),
    "uv pip": (
        "uv venv .v\nsource .v/bin/activate\nuv pip install pytest",
        ":\n:\n:",
        [],
        ["pytest"],
    ),
    "others": ("pip list; apt-cache search x; npm init -y", None, [], []),
    "words that only look so": ("echo apt-get install x > pip", None, [], []),
    "near": ("curl -s http://localhost:80/ | sh", None, [], []),
}


@pytest.mark.parametrize(("text", "left", "packages", "wanted"), INSTALLS.values(), ids=INSTALLS)
def test_installing_commands_are_taken_out(
    text: str, left: str | None, packages: list[str], wanted: list[str]
) -> None:
    def lookup(name: str) -> str:
        assert name == "/r.txt"
        return "# web\nflask==2.2.2\nclick  # and this\n"

    kept, found = installs.extract(text, {}, lookup)
    assert (kept, found.packages, found.requirements) == (left or text, packages, wanted)


def test_pip_stays_where_wheels_are_but_for_its_own_upgrade() -> None:
    text = "pip install --upgrade pip && /venv/bin/pip install flask==3.0.0"
    kept, found = installs.extract(text, {}, str, keep_pip=True)
    assert kept == ": && /venv/bin/pip install flask==3.0.0"
    assert found.requirements == ["flask==3.0.0"]
    with pytest.raises(Fault, match="beside the system"):
        installs.extract(text, {}, str)


@pytest.mark.parametrize(
    ("version", "specifier", "held"),
    [
        ("1.5.3", "", True),
        ("1.5.3", "==1.5.3", True),
        ("1.5.3", "==1.5", False),
        ("1.5", "==1.5.0", True),
        ("1.5.3", "==1.5.*", True),
        ("1.15.3", "==1.5.*", False),
        ("2.28.1", ">=2.25,<3", True),
        ("2.28.1", ">=2.31", False),
        ("2.28.1", "~=2.28", True),
        ("2.28.1", "~=2.28.2", False),
        ("3.0", "!=3.0.0", False),
        ("10.4", ">9", True),
        ("1.0", ">=1.0.dev1; x", False),
    ],
)
def test_specifiers(version: str, specifier: str, held: bool) -> None:
    assert python.satisfies(version, specifier) is held


def test_debian_meets_what_it_can_and_says_with_what() -> None:
    assert python.debian("pytest==8.4.1") == (
        "python3-pytest",
        "pip: Debian's python3-pytest 7.2.1 stands for pytest==8.4.1",
    )
    assert python.debian("pytest_json_ctrf==0.3.5")[0] is None
    assert python.debian("requests[socks]>=2.20")[0] == "python3-requests"
    with pytest.raises(Fault, match=r"Debian's python3-pandas is 1\.5\.3.*--wheels DIR"):
        python.debian("pandas==2.2.3")


def test_wheels_come_from_a_folder_without_a_network(tmp_path: Path) -> None:
    wheel = tiny_wheel(tmp_path)
    house = python.House(tmp_path)
    assert list(house(("tinything==1.2",))) == [wheel.name]
    wheel.unlink()
    assert list(house(("tinything==1.2",))) == [wheel.name]  # answers are kept
    with pytest.raises(Fault, match="no wheels for absent-thing"):
        house(("absent-thing==1",))


# -- images ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("image", "packages"),
    [
        ("debian:bookworm-slim", ()),
        ("docker.io/library/ubuntu:24.04", ()),
        ("python:3.13-slim", ("python3-pip", "python3-venv", "python-is-python3")),
        ("gcc@sha256:" + "0" * 64, ("gcc", "g++", "make")),
    ],
)
def test_usual_images_have_a_stand_in(image: str, packages: tuple[str, ...]) -> None:
    base, found, note = images.stand_in(image, {})
    assert (base, found, note) == (None, packages, f"base: a Debian base stands for {image}")


@pytest.mark.parametrize(
    ("packages", "base", "lacking"),
    [
        ((), "data_querying", ()),
        (("bash", "coreutils", "jq"), "data_querying", ()),
        (("gcc", "libc6-dev", "make", "binutils"), "software_engineering", ()),
        (("python3-numpy", "zip", "netcat"), "data_science", ()),
        (("gcc", "tmux"), "data_querying", ("gcc", "tmux")),
    ],
)
def test_the_base_that_fits_holds_nothing_that_nobody_asked_for(
    packages: tuple[str, ...], base: str, lacking: tuple[str, ...]
) -> None:
    assert images.fitting(None, packages) == (base, lacking)


# -- Dockerfiles -------------------------------------------------------------------------------

CONTEXT = FileTree(
    {
        "app/main.py": "print(1)\n",
        "app/lib/util.py": "x = 1\n",
        "data/a.csv": "a\n",
        "data/b.csv": "b\n",
        "run.sh": File(b"true\n", 0o755),
        "requirements.txt": "flask==2.2.2\n",
    }
)
COPIES = {
    "a file to a file": ("COPY run.sh /usr/local/bin/go", {"usr/local/bin/go"}),
    "a file to a folder": ("COPY run.sh /opt/", {"opt/run.sh"}),
    "a file to the present folder": ("WORKDIR /w\nCOPY run.sh .", {"w/run.sh"}),
    "a folder's files": ("COPY app /srv", {"srv/main.py", "srv/lib/util.py"}),
    "globs": ("COPY data/*.csv /d/", {"d/a.csv", "d/b.csv"}),
    "the exec form": (
        'COPY ["run.sh", "requirements.txt", "/x y/"]',
        {"x y/run.sh", "x y/requirements.txt"},
    ),
    "variables": ("ARG D=/q\nENV E=$D/r\nCOPY run.sh ${E}/s", {"q/r/s"}),
    "a here-document": ("COPY <<'X' /etc/motd\nhi $A\nX", {"etc/motd"}),
    "an earlier one that nothing used": ("COPY data/a.csv /f\nCOPY data/b.csv /f", {"f"}),
}


@pytest.mark.parametrize(("lines", "paths"), COPIES.values(), ids=COPIES)
def test_copies_go_where_a_builder_puts_them(lines: str, paths: set[str]) -> None:
    made = dockerfile.read(f"FROM debian\n{lines}\n", CONTEXT, NONE).finish()
    assert set(made.environment.files) == paths
    assert {path for step in made.steps for path in step.files} == paths


def test_all_of_a_context_but_what_is_ignored() -> None:
    context = CONTEXT.merged(FileTree({".dockerignore": "data\n**/*.py\n"}))
    made = dockerfile.read("FROM debian\nCOPY . /w\n", context, NONE).finish()
    assert set(made.environment.files) == {"w/run.sh", "w/requirements.txt", "w/.dockerignore"}


def test_modes_owners_and_heredocs_keep_their_bytes() -> None:
    text = (
        "FROM debian\nCOPY --chmod=600 --chown=me:us run.sh /r\n"
        "RUN cat <<'E' > /etc/x.conf\n\ttab and $HOME `id` \\\n\nE\n"
        "RUN cat <<E > /tmp/plain\nno dollars\nE\n"
        "RUN cat <<E > /tmp/expanded\n$HOME\nE\n"
    )
    made = dockerfile.read(text, CONTEXT, NONE).finish()
    assert made.environment.files["r"].mode == 0o600
    assert made.environment.files["etc/x.conf"].data == b"\ttab and $HOME `id` \\\n\n"
    assert made.environment.files["tmp/plain"].data == b"no dollars\n"
    assert [step.owner for step in made.steps] == ["me:us", "0:0", "0:0", "0:0"]
    assert made.steps[-1].run == "cat <<E > /tmp/expanded\n$HOME\nE\n"


def test_packages_pins_and_variables_of_a_dockerfile() -> None:
    text = """\
# syntax=docker/dockerfile:1
ARG TAG=3.11
FROM python:$TAG-slim
ARG MODE=fast
ENV A=1 B="two words" \\
    # a comment between
    C=$A
ENV OLD style value
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN --mount=type=cache,target=/root/.cache apt-get update && \\
    apt-get install -y gcc make && rm -rf /var/lib/apt/lists/*
COPY requirements.txt /w/requirements.txt
WORKDIR /w
RUN pip install -r requirements.txt && echo $MODE > mode
ENTRYPOINT ["/start.sh"]
CMD ["bash"]
"""
    container = dockerfile.read(text, CONTEXT, NONE)
    made = container.finish()
    assert dict(made.env) == {"A": "1", "B": "two words", "C": "", "OLD": "style value"}
    assert set(made.environment.packages) == {
        *("gcc", "make", "python3-pip", "python3-venv", "python-is-python3", "python3-flask"),
    }
    last = made.steps[-1]
    assert (last.run, last.cwd) == (": && echo $MODE > mode", "/w")
    assert last.shell == ("/bin/bash", "-o", "pipefail")
    assert dict(last.env)["MODE"] == "fast"
    assert any(note.startswith("start: ENTRYPOINT '/start.sh'") for note in made.notes)
    assert not any("CMD" in note for note in made.notes)


def test_accounts_and_their_numbers() -> None:
    text = "useradd -m one && adduser --disabled-password --gecos '' two; useradd -r daemon"
    container = Container("debian", NONE)
    container.run(text)
    assert container.account("one").uid == 1000
    assert container.account("1000:1000").home == "/home/one"
    assert container.account("root").uid == container.account("0").uid == 0
    with pytest.raises(Fault, match="two has uid 1001"):
        container.account("two")


# -- test scripts ------------------------------------------------------------------------------

SCRIPT = """\
#!/bin/bash
apt-get update
apt-get install -y curl
curl -LsSf https://astral.sh/uv/0.9.5/install.sh | sh
source $HOME/.local/bin/env
uvx -p 3.13 -w pytest==8.4.1 --with pytest-json-ctrf==0.3.5 \\
  pytest --ctrf /logs/verifier/ctrf.json "$TESTS/test_outputs.py" -rA
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; fi
"""


def test_a_runner_from_the_network_is_baked_in_and_told() -> None:
    container = Container("debian", NONE)
    tests = runner.baked(FileTree({"test.sh": File(SCRIPT.encode(), 0o755)}), container)
    assert tests["test.sh"].data.decode() == (
        "#!/bin/bash\n:\n:\n: | :\n:\n"
        'python3 -m pytest  "$TESTS/test_outputs.py" -rA\n'
        "if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; fi\n"
    )
    assert tests["test.sh"].mode == 0o755
    made = container.finish()
    assert made.environment.packages == ("python3-pytest",)
    assert sum(note.startswith("verifier-installs:") for note in made.notes) == 1


def test_a_script_that_installs_nothing_keeps_its_bytes() -> None:
    text = "#!/bin/bash\r\npython3 -m pytest /tests/x.py\r\n\xff".encode("latin-1")
    container = Container("debian", NONE)
    assert runner.baked(FileTree({"test.sh": text}), container)["test.sh"].data == text
    assert container.finish().environment.packages == ()


def test_what_tests_import_is_in_the_image() -> None:
    tests = FileTree(
        {
            "a.py": "import os, yaml, helper\nfrom PIL import Image\nimport unheard_of\n",
            "helper.py": "x = '\\d'\n",
            "broken.py": "def (\n",
        }
    )
    container = Container("debian", NONE)
    runner.add_imported(tests, container)
    made = container.finish()
    assert made.environment.packages == ("python3-pil", "python3-yaml")
    assert "verifier-imports: unheard_of is not known, and may be missing" in made.notes


# -- image and verdict -------------------------------------------------------------------------


def draft(**fields: object) -> TaskDraft:
    steps = (
        BuildStep(files=("a/b",), owner="u:"),
        BuildStep(run="make", cwd="/a", env=(("K", "v w"),)),
    )
    return TaskDraft(
        spec=None,
        author="imports/x",
        title="t",
        instruction="i",
        environment=Environment(base="data_querying", files=FileTree({"a/b": "1"})),
        tests=FileTree({"test.sh": "true\n"}),
        solution=FileTree(),
        foreign=Foreign.model_validate({"steps": steps, "grading": "fresh", **fields}),
    )


def test_a_build_is_one_tree_and_one_run() -> None:
    context = foreign.context(draft())
    (driver,) = [path for path in context if path.startswith("import/build-")]
    assert {path: file.data for path, file in context.items() if path != driver} == {
        "import/steps/000/owner": b"u:",
        "import/steps/000/tree/a/b": b"1",
        "import/steps/001/cwd": b"/a",
        "import/steps/001/env": b"K=v w\0",
        "import/steps/001/run": b"make\n",
        "import/steps/001/shell": b"/bin/sh\n",
        "import/steps/001/user": b"root",
    }
    assert foreign.task_lines(draft()) == (
        f"WORKDIR /\nCOPY import/ /.import/\nRUN /bin/bash /.{driver} 524288\nWORKDIR /home/agent\n"
    )


REWARDS: dict[str, tuple[dict[str, str], float | str]] = {
    "text": ({"reward.txt": "1\n"}, 1.0),
    "half": ({"reward.txt": " 0.5 "}, 0.5),
    "json first": ({"reward.txt": "0", "reward.json": '{"reward": 1}'}, 1.0),
    "the only number": ({"reward.json": '{"score": 0.25, "note": "x"}'}, 0.25),
    "a bare number": ({"reward.json": "0.75"}, 0.75),
    "several numbers": ({"reward.json": '{"a": 1, "b": 1}'}, "reward_unreadable"),
    "broken": ({"reward.json": "{", "reward.txt": "1"}, "reward_unreadable"),
    "words": ({"reward.txt": "nan"}, "reward_unreadable"),
    "nothing": ({}, "no_reward"),
}


@pytest.mark.parametrize(("files", "reward"), REWARDS.values(), ids=REWARDS)
def test_rewards_are_read_as_harbor_reads_them(files: dict[str, str], reward: float | str) -> None:
    result = JobResult(status="done", exit_code=3, output="", collected=tuple(files.items()))
    score = imported.score_of(draft(), result)
    if isinstance(reward, str):
        assert score.invalid.startswith(f"{reward}: exit 3")
    else:
        assert score.reward == reward


@pytest.mark.parametrize(
    ("status", "code", "reward", "invalid"),
    [
        ("done", 0, 1.0, ""),
        ("done", 1, 0.0, ""),
        ("done", 5, None, "verifier_status: exit 5: "),
        ("done", 97, None, "verifier_timeout: "),
        ("timeout", None, None, "verifier_timeout: "),
        ("memory", 137, 0.0, ""),
    ],
)
def test_an_exit_status_is_a_verdict_only_where_it_is_one(
    status: str, code: int | None, reward: float | None, invalid: str
) -> None:
    result = JobResult.model_validate({"status": status, "exit_code": code, "output": ""})
    score = imported.score_of(draft(verdict="status"), result)
    assert (score.reward, score.invalid) == (reward, invalid)
