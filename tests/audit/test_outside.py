"""The attacks as Harbor agents, on a stand-in for Harbor; `scripts/harbor_probes.py` runs the real
one."""

import base64
import importlib.util
import io
import json
import sys
import tarfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from envgen.audit import outside
from envgen.audit.probes import PROBES
from envgen.audit.target import Target
from envgen.errors import Misconfigured
from envgen.files import FileTree
from tests.audit.conftest import INSTRUCTION

FILES = {"home/agent/orders.csv": b"id,value\na,1\n", "srv/notes.txt": b"hello\n"}


def said(files: dict[str, bytes], home: str = "/home/agent", workdir: str = "/home/agent") -> str:
    """What the look prints."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return f"{home}\n{workdir}\n{base64.b64encode(out.getvalue()).decode()}"


def test_what_is_seen_from_outside_is_what_a_build_knows(target: Target) -> None:
    found = outside.seen(INSTRUCTION, said(FILES))
    assert (found.outputs, found.programs) == (target.outputs, target.programs)
    assert [(e.path, e.own) for e in found.entries] == [
        ("/home/agent/orders.csv", True), ("/srv/notes.txt", False),
    ]  # fmt: skip
    filling = PROBES[0]
    assert [a.tree for a in filling.attacks(found)] == [a.tree for a in filling.attacks(target)]


@pytest.mark.parametrize("text", ["", "bash: not found", "/home/agent\n/w\nrubbish", "/a\n/b\n%%"])
def test_what_a_container_says_may_be_rubbish(text: str) -> None:
    with pytest.raises(ValueError, match=r"no (folders|archive) of an agent's"):
        outside.seen(INSTRUCTION, text)


def test_an_attack_is_chosen_by_name() -> None:
    found = outside.seen(INSTRUCTION + "And a program `~/sum.py`.", said(FILES))
    names = [
        getattr(outside.chosen("filling", name, found), "name", None)
        for name in ("", "bare", "bare-data", "nothing")
    ]
    assert names == ["filled", "bare", "bare-data", None]
    with pytest.raises(Misconfigured, match="no probe is called 'x': there are filling"):
        outside.chosen("x", "", found)


class StandIn:
    """Of `harbor.agents.base.BaseAgent`."""

    def __init__(self, logs_dir: Path, model_name: str | None = None) -> None:
        self.logs_dir = logs_dir


class Box:
    """Of a Harbor environment: says what a look finds, and notes what it is asked."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str | None]] = []
        self.given: dict[str, FileTree] = {}

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> SimpleNamespace:
        self.ran.append((command, str(user) if user else None))
        out = said(FILES) if command == outside.LOOK else "done"
        return SimpleNamespace(stdout=out, stderr=None, return_code=0)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        self.given[target_dir] = FileTree.read(Path(source_dir))


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module as the command writes it."""
    from envgen.cli.audit import export_probes

    export_probes(tmp_path / "agents")
    base = ModuleType("harbor.agents.base")
    vars(base)["BaseAgent"] = StandIn
    for name in ("harbor", "harbor.agents"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "harbor.agents.base", base)
    place = tmp_path / "agents" / "envgen_probes.py"
    spec = importlib.util.spec_from_file_location("envgen_probes", place)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_family_is_an_agent(agents: Any, tmp_path: Path, do: Any) -> None:
    made = [c for c in vars(agents).values() if isinstance(c, type) and getattr(c, "probe", "")]
    assert [c.probe for c in made] == [p.name for p in PROBES]
    assert len({c.name() for c in made}) == len(PROBES)
    assert all(c(logs_dir=tmp_path).version() for c in made)


def test_an_agent_looks_and_runs_one_submission_as_its_user(
    agents: Any, tmp_path: Path, do: Any
) -> None:
    box, logs = Box(), tmp_path
    do(agents.Filling(logs_dir=logs, attack="nonsense").run(INSTRUCTION, box, None))
    attack = outside.chosen("filling", "nonsense", outside.seen(INSTRUCTION, said(FILES)))
    assert attack is not None and box.given == {"/solution": attack.tree}
    assert box.ran == [
        (outside.LOOK, None),
        ("chmod -R a+rX /solution", "root"),
        ("bash /solution/solve.sh", None),
    ]
    told = json.loads((logs / "probe.json").read_text())
    assert (told["attack"], told["label"], told["exit"]) == ("nonsense", "VERIFIER-TOO-WEAK", 0)
    assert told["outputs"] == [f"/home/agent/{n}" for n in ("count.txt", "facts.json", "rows.csv")]


def test_where_a_family_has_no_attack_nothing_runs(agents: Any, tmp_path: Path, do: Any) -> None:
    box = Box()
    do(agents.Predicting(logs_dir=tmp_path).run(INSTRUCTION, box, None))
    assert box.given == {} and len(box.ran) == 1
    assert json.loads((tmp_path / "probe.json").read_text())["attack"] is None
