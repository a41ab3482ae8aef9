"""Harbor folders (task.toml of versions 0.1 to 1.4), single step, shared or separate verifier.

Defaults are Harbor's: the agent is who the image says, tests run where the agent worked, old reward
files are removed before them. There is no network, whatever task.toml says, and a note tells.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from envgen.authors.imports import dockerfile, drafts, folder, runner
from envgen.authors.imports.container import Container
from envgen.authors.imports.options import Grading, Options
from envgen.errors import Fault
from envgen.files import FileTree
from envgen.foreign import NEEDED
from envgen.records import Limits, TaskDraft

MARKER = "task.toml"
VERSIONS = ("0.1", "1.0", "1.1", "1.2", "1.3", "1.4")
_SERVICE = {
    *("build", "command", "cpus", "environment", "image", "init", "mem_limit", "network_mode"),
    *("platform", "stdin_open", "stop_grace_period", "stop_signal", "tty", "working_dir"),
}
"""Keys of a compose service that change nothing here, or are followed."""
_DEFAULTED = re.compile(r"\$\{\w+:-([^}]*)\}")
Table = dict[str, Any]


def read(path: Path, origin: str, options: Options) -> TaskDraft:
    """The draft of one folder. Raises Fault with the reason why there is none."""
    config = _config(folder.text(path / MARKER))
    _refuse(config, path)
    environment = folder.tree(path / "environment")
    tests, solution = folder.tree(path / "tests"), folder.tree(path / "solution")
    if "test.sh" not in tests:
        raise Fault("import:no-verifier", "tests/test.sh is missing, so nothing grades the task")
    separate = _separate(config)
    container = _container(config, environment, options)
    grading: Grading = options.grading or ("fresh" if separate else "shared")
    notes: list[str] = []
    if separate and "Dockerfile" in tests:
        tests = _merge_verifier(tests, container, options)
    agent = container.account(_user(config, "agent") or container.user)
    verifier = container.account(_user(config, "verifier") or container.user)
    tests = runner.baked(tests, container)
    if grading == "fresh":
        tests = runner.shielded(tests, notes)
    workdir = _table(config, "environment").get("workdir") or container.cwd
    container.env |= dict(_env(_table(config, "environment")))
    finished = container.finish()
    name = next((n for n, a in container.accounts.items() if a == agent), "root")
    return drafts.draft(
        origin=origin,
        title=str(_table(config, "task").get("description") or ""),
        instruction=_without_canary(folder.text(path / "instruction.md")),
        finished=finished,
        tests=tests,
        solution=solution,
        workdir=_absolute(workdir),
        outputs=_outputs(config, separate, _absolute(workdir), tests, notes),
        limits=_limits(config, notes),
        grading=grading,
        notes=[*_told(config, environment, solution), *notes],
        agent_env=drafts.agent_env(agent.uid, name, agent.home),
        test_env=_env(_table(config, "verifier")),
        agent_uid=agent.uid,
        verifier_uid=verifier.uid,
        verdict="file" if _writes_reward(tests) else "status",
    )


def _config(text: str) -> Table:
    try:
        config: Table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Fault("import:toml", f"task.toml: {error}") from None
    version = str(config.get("schema_version", config.get("version", "0.1")))
    if version not in VERSIONS:
        raise Fault("import:version", f"task.toml has version {version}: known are {VERSIONS}")
    return config


def _table(config: Table, *names: str) -> Table:
    for name in names:
        config = config.get(name, {})
        if not isinstance(config, dict):
            raise Fault("import:toml", f"task.toml: {'.'.join(names)} is not a table")
    return config


def _refuse(config: Table, path: Path) -> None:
    """What a single container without network cannot be."""
    environment, verifier = _table(config, "environment"), _table(config, "verifier")
    if config.get("steps") or (path / "steps").exists():
        raise Fault("import:steps", "it has several steps")
    if environment.get("os", "linux") != "linux":
        raise Fault("import:os", f"it needs {environment['os']}")
    if environment.get("gpus") or environment.get("tpu"):
        raise Fault("import:gpu", "it needs an accelerator")
    if environment.get("mcp_servers"):
        raise Fault("import:tools", "it gives the agent MCP servers")
    if verifier.get("collect"):
        raise Fault("import:collect", "its verifier collects by commands of its own")
    for place in ("environment", "tests"):
        for name in ("docker-compose.yaml", "docker-compose.yml"):
            if (path / place / name).is_file():
                _refuse_compose(folder.text(path / place / name, 1 << 16), f"{place}/{name}")


def _refuse_compose(text: str, name: str) -> None:
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        raise Fault("import:compose", f"{name} is not YAML") from None
    services = found.get("services") if isinstance(found, dict) else None
    if not isinstance(services, dict) or set(services) != {"main"}:
        raise Fault("import:compose", f"{name} has services beside the agent's")
    service = services["main"] or {}
    if not isinstance(service, dict) or (more := set(map(str, service)) - _SERVICE):
        raise Fault("import:compose", f"{name} asks for {min(more) if service else service!r}")


def _separate(config: Table) -> bool:
    verifier = _table(config, "verifier")
    mode = verifier.get("environment_mode", "separate" if "environment" in verifier else "shared")
    if mode not in ("shared", "separate"):
        raise Fault("import:toml", f"task.toml: environment_mode {mode!r}")
    return bool(mode == "separate")


def _container(config: Table, environment: FileTree, options: Options) -> Container:
    prebuilt = _table(config, "environment").get("docker_image")
    if "Dockerfile" in environment:
        text = environment["Dockerfile"].data.decode(errors="replace")
        return dockerfile.read(text, environment, options)
    if not isinstance(prebuilt, str):
        raise Fault("import:missing", "environment/Dockerfile is missing")
    if prebuilt not in options.base_map:
        raise Fault("import:image", f"its image {prebuilt} is built elsewhere: map it to build it")
    return Container(prebuilt, options)


def _merge_verifier(tests: FileTree, container: Container, options: Options) -> FileTree:
    """A verifier's image of its own, as far as it only adds packages to the tests in `/tests`."""
    text = tests["Dockerfile"].data.decode(errors="replace")
    own = dockerfile.read(text, tests, options)
    if any(step.run and not step.run.startswith("mkdir -p -- /") for step in own.steps):
        raise Fault("import:verifier-image", "tests/Dockerfile runs commands of its own")
    if any(not path.startswith("tests/") for path in own.files):
        raise Fault("import:verifier-image", "tests/Dockerfile copies files beside /tests")
    container.packages += own.packages
    container.requirements += own.requirements
    container.env |= {n: v for n, v in own.env.items() if n not in container.env}
    container.notes.append("verifier-image: its packages are in the one image of the task")
    copied = {path.removeprefix("tests/"): file for path, file in own.files.items()}
    return FileTree({**{p: f for p, f in tests.items() if p != "Dockerfile"}, **copied})


def _user(config: Table, who: str) -> str | None:
    user = _table(config, who).get("user")
    return None if user is None else str(user)


def _env(table: Table) -> tuple[tuple[str, str], ...]:
    """Variables of a table; a default of the host's variable stands for it."""
    found: dict[str, str] = {}
    env = table.get("env", {})
    if not isinstance(env, dict):
        raise Fault("import:toml", "task.toml: env is not a table")
    for name, value in env.items():
        plain = _DEFAULTED.sub(lambda match: match[1], str(value))
        if re.search(r"\$\{\w+", plain) or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise Fault("import:env", f"{name} comes from the host: {plain[:80]}")
        found[name] = plain
    return tuple(sorted(found.items()))


def _outputs(
    config: Table, separate: bool, workdir: str, tests: FileTree, notes: list[str]
) -> tuple[str, ...]:
    """What carries over: the artifacts of a separate verifier; else what can be guessed."""
    if not separate:
        places = [p for p in (workdir, *drafts.spoken_of(tests)) if not NEEDED.fullmatch(p)]
        guessed = tuple(dict.fromkeys(places)) or ("/root",)
        notes.append(f"outputs: its verifier is shared and names none; {', '.join(guessed)} it is")
        return guessed
    found = []
    for artifact in config.get("artifacts", []):
        entry = {"source": artifact} if isinstance(artifact, str) else artifact
        if not isinstance(entry, dict) or not isinstance(entry.get("source"), str):
            raise Fault("import:toml", "task.toml: an artifact without a source")
        if entry.get("service", "main") != "main":
            raise Fault("import:compose", "an artifact of another service")
        if entry.get("exclude"):
            notes.append(f"outputs: what {entry['source']} excludes carries over all the same")
        found.append(_absolute(entry["source"]))
    return tuple(found) or ("/logs/artifacts",)


def _limits(config: Table, notes: list[str]) -> Limits:
    agent, verifier = _table(config, "agent"), _table(config, "verifier")
    environment = _table(config, "environment")
    return drafts.limits(
        notes,
        agent_seconds=agent.get("timeout_sec"),
        verify_seconds=verifier.get("timeout_sec", 600),
        build_seconds=environment.get("build_timeout_sec", 600),
        memory_mb=environment.get("memory_mb", _megabytes(environment.get("memory"))),
        cpus=environment.get("cpus"),
        disk_mb=environment.get("storage_mb", _megabytes(environment.get("storage"))),
    )


def _megabytes(size: object) -> float | None:
    """Sizes as old versions have them: `2G`, `512M`."""
    if size is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([MG])i?B?", str(size), re.IGNORECASE)
    if match is None:
        raise Fault("import:limits", f"{size!r} is not a size")
    return float(match[1]) * (1024 if match[2].upper() == "G" else 1)


def _told(config: Table, files: FileTree, solution: FileTree) -> list[str]:
    notes = []
    if not solution:
        notes.append("solution: none, so nothing that needs a reference can be shown")
    environment = _table(config, "environment")
    composed = files.get("docker-compose.yaml", files.get("docker-compose.yml"))
    alone = composed is not None and b"network_mode: none" in composed.data
    if environment.get("network_mode", "public") != "no-network" and not alone:
        notes.append("network: its maker may count on the network, which it does not have here")
    if environment.get("healthcheck"):
        notes.append("start: its health check is not waited for")
    return notes


def _writes_reward(tests: FileTree) -> bool:
    """Whether anything there can write a reward file; else the exit status is all there is."""
    return any(b"reward" in f.data or b"/logs/verifier" in f.data for f in tests.values())


def _without_canary(text: str) -> str:
    lines = text.splitlines(keepends=True)
    while lines and re.match(r"\s*(<!--|#|//).*canary", lines[0], re.IGNORECASE):
        del lines[0]
    return "".join(lines)


def _absolute(path: object) -> str:
    if not isinstance(path, str) or not path.startswith("/"):
        raise Fault("import:toml", f"task.toml: {path!r} is not an absolute path")
    return path.rstrip("/") or "/"
