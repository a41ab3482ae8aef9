"""Our agent in Harbor, on an environment that is this machine's bash; Harbor is not needed."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from envgen.errors import Misconfigured, SandboxLost
from envgen.harbor import OUTPUT_BYTES, Container, play, settings_of
from envgen.records import Observation
from tests.loopback import Ask, Loopback, Reply, openai


class Local:
    """What Harbor's environments can do, here: run as somebody, upload."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def exec(self, command: str, timeout_sec: int) -> Any:
        process = await asyncio.create_subprocess_exec(
            "/bin/bash", "-c", command, cwd=self.folder, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "SHOWN": "yes it's\nso"},
        )  # fmt: skip
        out, _ = await asyncio.wait_for(process.communicate(), timeout_sec)
        return SimpleNamespace(stdout=out.decode(), stderr=None, return_code=process.returncode)

    async def upload_file(self, source: Path, target: str) -> None:
        Path(target).write_bytes(source.read_bytes())


def run(
    folder: Path, *commands: str, seconds: float = 20, kind: type[Local] = Local
) -> list[Observation]:
    async def all_of_them() -> list[Observation]:
        container = Container(kind(folder))
        return [await container.run(command, seconds) for command in commands]

    return asyncio.run(all_of_them())


def test_the_shells_state_goes_on(tmp_path: Path) -> None:
    first, second, third = run(
        tmp_path,
        "mkdir a; cd a; n=7; export m=8; f() { echo f $1; }; false",
        'echo $? $n $m "$SHOWN"; f x; pwd; echo oops >&2',
        "exit 3",
    )
    assert (first.output, first.exit_code, first.end) == ("", 1, "done")
    assert second.output == f"1 7 8 yes it's\nso\nf x\n{tmp_path}/a\noops\n"
    assert (third.exit_code, third.end) == (3, "done")


def test_what_hangs_is_killed_and_what_serves_is_let_be(tmp_path: Path) -> None:
    hung, served = run(tmp_path, "echo begun; sleep 60", "sleep 60 & echo x", seconds=1)
    assert (hung.output, hung.exit_code, hung.end) == ("begun\n", None, "timeout")
    assert (served.output, served.end) == ("x\n", "done")


def test_a_shell_that_is_gone_keeps_the_state_from_before(tmp_path: Path) -> None:
    _, gone, after = run(tmp_path, "n=1", "n=2; kill -9 $$", "echo $n")
    assert (gone.end, gone.exit_code, after.output) == ("shell", None, "1\n")


@pytest.mark.parametrize(
    "size", [10, OUTPUT_BYTES, OUTPUT_BYTES + 7, 2 * OUTPUT_BYTES + 9, 300_000]
)
def test_outputs_of_any_size(size: int, tmp_path: Path) -> None:
    (seen,) = run(tmp_path, f"head -c {size} /dev/zero | tr '\\0' x; printf END")
    assert seen.output.startswith("x") and seen.output.endswith("END")
    assert seen.output.count("x") + seen.cut == size
    assert (seen.cut > 0) == (size >= 2 * OUTPUT_BYTES)


def test_long_and_odd_commands(tmp_path: Path) -> None:
    text = "é'\"\\$`" * 20_000
    long, odd = run(tmp_path, f"cat > a <<'E'\n{text}\nE\nwc -c < a", "printf '\\xff\\x00ok'")
    assert long.output == f"{len(text.encode()) + 1}\n"
    assert odd.output == "\ufffd\0ok"


def test_a_sandbox_that_runs_nothing_is_lost(tmp_path: Path) -> None:
    class Gone(Local):
        async def exec(self, command: str, timeout_sec: int) -> Any:
            if "mkfifo" not in command:
                return await super().exec(command, timeout_sec)
            return SimpleNamespace(stdout="OCI runtime exec failed", return_code=126)

    with pytest.raises(SandboxLost, match="OCI runtime exec failed"):
        run(tmp_path, "ls", kind=Gone)


def test_a_task_is_played_and_written_down(tmp_path: Path) -> None:
    def answer(ask: Ask) -> Reply:
        turns = sum(m["role"] == "assistant" for m in ask.body["messages"])
        return openai.answer(f"```bash\n{'submit' if turns == 2 else f'echo {turns} >> done'}\n```")

    async def whole() -> tuple[list[str], list[Any]]:
        async with Loopback(answer) as server:
            agent, llm = settings_of("openai/tiny", f"{server.url}/v1", steps=5)
            turns = await play("Do it.", Container(Local(tmp_path)), agent, llm, tmp_path)
            return [turn.command for turn in turns], server.asked

    commands, asked = asyncio.run(whole())
    assert commands == ["echo 0 >> done", "echo 1 >> done", "submit"]
    assert (tmp_path / "done").read_text() == "0\n1\n"
    first = asked[0].body["messages"]
    assert "no network" not in first[0]["content"]
    assert f"You are in `{tmp_path}`" in first[1]["content"]
    found = json.loads((tmp_path / "trajectory.json").read_text())
    assert [step["source"] for step in found["steps"]] == ["system", "user"] + ["agent"] * 3
    assert found["extra"]["ending"] == "submitted"


def test_wrong_options_are_named() -> None:
    with pytest.raises(Misconfigured, match=r"agent\.steps"):
        settings_of("openai/tiny", None, steps="many")
    with pytest.raises(Misconfigured, match=r"agent\.model"):
        settings_of("tiny", None)
