"""Small task sets in the forms of others, written by the tests in their own words."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, str | bytes]

TOML = """\
schema_version = "1.4"

[task]
name = "corpus/lines"
description = "Count the failed visits"

[agent]
timeout_sec = 60.0

[verifier]
timeout_sec = 60.0

[environment]
cpus = 1
memory_mb = 512
"""
LOG = "north failed\nsouth went well\neast failed\n"
DOCKERFILE = f"""\
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3-pytest \\
    && rm -rf /var/lib/apt/lists/*
RUN useradd -m -s /bin/bash visitor
WORKDIR /home/visitor
RUN cat <<'END' > /home/visitor/visits.log
{LOG}END
RUN chmod 0777 /home/visitor
"""
TESTS = """\
import os


def test_the_count():
    path = "/home/visitor/count.txt"
    assert os.path.isfile(path)
    with open(path) as file:
        assert file.read().strip() == "2"
"""
TEST_SH = """\
#!/bin/bash
if python3 -m pytest -q /tests/test_outputs.py; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
SOLVE = "grep -c failed /home/visitor/visits.log > /home/visitor/count.txt\n"
HARBOR: dict[str, str | bytes] = {
    "task.toml": TOML,
    "instruction.md": "Write the number of failed visits in visits.log to count.txt beside it.\n",
    "environment/Dockerfile": DOCKERFILE,
    "tests/test.sh": TEST_SH,
    "tests/test_outputs.py": TESTS,
    "solution/solve.sh": SOLVE,
}
DEFINITION = f"""\
Bootstrap: docker
From: ubuntu:22.04

%post
    export DEBIAN_FRONTEND=noninteractive
    apt-get update && apt-get install -y python3 coreutils
    pip3 install pytest
    useradd -m -s /bin/bash visitor
    cat <<'END' > /home/visitor/visits.log
{LOG}END
    chmod 777 /home/visitor

%environment
    export LC_ALL=C.UTF-8
"""
INITIAL = """\
import os


def test_the_log_is_there_and_the_count_is_not():
    assert os.path.isfile("/home/visitor/visits.log")
    assert not os.path.exists("/home/visitor/count.txt")
"""
FACTS = {
    "name": "task_000001_aa",
    "domain": "security",
    "description": (
        "Write the number of failed visits in /home/visitor/visits.log to /home/visitor/count.txt."
    ),
    "truth": "The number is two, because north and east failed.",
    "base_image": None,
}
TMAX: dict[str, str | bytes] = {
    "task.json": json.dumps(FACTS),
    "container.def": DEFINITION,
    "test_initial_state.py": INITIAL,
    "test_final_state.py": TESTS,
}


def written(folder: Path, files: Files) -> Path:
    """The folder with these files in it."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def separate(files: Files, *artifacts: str) -> dict[str, str | bytes]:
    """The same task with a verifier in a box of its own."""
    toml = str(files["task.toml"])
    toml = toml.replace("[verifier]\n", '[verifier]\nenvironment_mode = "separate"\n')
    return {**files, "task.toml": f"artifacts = {json.dumps(artifacts)}\n{toml}"}


def tiny_wheel(folder: Path) -> Path:
    """A wheel of a project that no index has, with one module."""
    path = folder / "tinything-1.2-py3-none-any.whl"
    here = "tinything-1.2.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tinything.py", "ANSWER = 42\n")
        wheel.writestr(f"{here}/METADATA", "Metadata-Version: 2.1\nName: tinything\nVersion: 1.2\n")
        tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{here}/WHEEL", tag)
        wheel.writestr(f"{here}/RECORD", f"tinything.py,,\n{here}/METADATA,,\n{here}/WHEEL,,\n")
    return path
