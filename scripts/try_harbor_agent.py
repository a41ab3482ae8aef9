"""try_harbor_agent.py TASKS WORK: our agent in Harbor, on exported tasks, without a model.

A local server speaks chat completions and plays the reference solution of the task that it is told,
one command a turn; Harbor runs `envgen.harbor:Agent` against it and grades what is left. Every task
must earn 1.0, and every trajectory must be valid ATIF. Run with the Python of an environment that
has `harbor` and `envgen[llm]` (3.12 or newer), from the root of the repository.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from envgen.agent.scripted import as_commands
from envgen.files import FileTree
from tests.loopback import Ask, Loopback, Reply, openai

JOB = """\
job_name: agent
jobs_dir: {work}/jobs
n_attempts: 1
n_concurrent_trials: 2
quiet: true
environment: {{ type: docker }}
agents:
  - import_path: envgen.harbor:Agent
    model_name: openai/scripted
    kwargs: {{ url: "{url}/v1", command_seconds: 600 }}
datasets: [ {{ path: {tasks} }} ]
"""


def player(tasks: Path) -> Any:
    """Answers with the commands of the reference of whatever task is asked about."""
    known = {
        path.read_text().strip(): as_commands(FileTree.read(path.parent / "solution"))
        for path in tasks.glob("*/instruction.md")
    }

    def answer(ask: Ask) -> Reply:
        messages = ask.body["messages"]
        told = messages[1]["content"]
        commands = next(c for instruction, c in known.items() if instruction in told)
        turn = sum(message["role"] == "assistant" for message in messages)
        fence = "```" * 4
        return openai.answer(f"{fence}bash\n{commands[turn]}\n{fence}", use=openai.usage(10, 5))

    return answer


async def main(tasks: Path, work: Path) -> int:
    """Run the job; the number of tasks that did not come out as they should."""
    work.mkdir(parents=True, exist_ok=True)
    async with Loopback(player(tasks)) as server:
        job = work / "job.yaml"
        job.write_text(JOB.format(work=work, url=server.url, tasks=tasks))
        command = [str(Path(sys.executable).with_name("harbor")), "run", "-c", str(job), "-y"]
        process = await asyncio.create_subprocess_exec(*command)
        await process.wait()
        print(f"{server.total} questions were asked")
    return sum(not _good(path) for path in sorted((work / "jobs" / "agent").glob("*/result.json")))


def _good(path: Path) -> bool:
    result = json.loads(path.read_text())
    rewards = (result.get("verifier_result") or {}).get("rewards") or {}
    trajectory = path.parent / "agent" / "trajectory.json"
    validator = [sys.executable, "-m", "harbor.utils.trajectory_validator", str(trajectory)]
    valid = subprocess.run(validator, capture_output=True, check=False).returncode == 0
    error = (result.get("exception_info") or {}).get("exception_type", "")
    steps = len(json.loads(trajectory.read_text())["steps"]) if trajectory.exists() else 0
    print(f"{result['task_name']}: {rewards} {error}; {steps} steps, valid ATIF: {valid}")
    return bool(rewards.get("reward") == 1.0 and valid and not error)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())) != 0)
