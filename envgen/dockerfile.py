"""Dockerfiles are rendered by us, in the subset that every builder reads the same way.

FROM, COPY of a tree, one RUN, and metadata; no heredoc, no --mount, no `# syntax`, no ADD. Set-up
runs as the agent and never as root, so nothing that an author wrote can change the tools that gates
and graders later run with. Imported tasks are the exception: their makers' steps need root.
"""

import shlex
from collections.abc import Iterable
from functools import lru_cache

from envgen import foreign
from envgen.files import File, FileTree
from envgen.records import AGENT_UID, HOME, TaskDraft

OWNER = f"{AGENT_UID}:{AGENT_UID}"


def context(draft: TaskDraft) -> FileTree:
    """The build context: `own0/`, `own1/`, ... for each folder of the agent's, and `root/`.

    An imported task has `import/` instead (see `foreign`).
    """
    if draft.foreign is not None:
        return foreign.context(draft)
    return _context(draft.environment.files, owned(draft.workdir, draft.outputs))


@lru_cache(maxsize=256)  # asked for at every step of a task
def _context(tree: FileTree, folders: tuple[str, ...]) -> FileTree:
    files: dict[str, File] = {}
    for path, file in tree.items():
        for number, folder in enumerate(folders):
            if f"/{path}".startswith(f"{folder}/"):
                files[f"own{number}{('/' + path)[len(folder) :]}"] = file
                break
        else:
            files[f"root/{path}"] = file
    return FileTree(files)


def task_lines(draft: TaskDraft) -> str:
    """Everything of a task's Dockerfile below the parent's lines."""
    if draft.foreign is not None:
        return foreign.task_lines(draft)
    tops = {path.split("/")[0] for path in context(draft)}
    lines = [
        f"COPY --chown={OWNER} own{number}/ {folder}/"
        for number, folder in enumerate(owned(draft.workdir, draft.outputs))
        if f"own{number}" in tops
    ]
    if "root" in tops:
        lines.append("COPY root/ /")
    if odd := _odd_modes(draft):
        lines.append(f"RUN {odd}")
    if draft.environment.setup:
        lines.append(f"RUN {_setup(draft)}")
    if draft.workdir != HOME:
        lines.append(f"WORKDIR {draft.workdir}")
    return "".join(f"{line}\n" for line in lines)


def _odd_modes(draft: TaskDraft) -> str:
    """Sets the modes that a version control system would lose, as an exported folder may go
    through one."""
    odd = {p: f.mode for p, f in draft.environment.files.items() if f.mode not in (0o644, 0o755)}
    return " && ".join(f"chmod {mode:04o} {shlex.quote(f'/{path}')}" for path, mode in odd.items())


def install_line(packages: tuple[str, ...]) -> str:
    """The RUN line that installs Debian packages and leaves no index behind."""
    names = " ".join(sorted(packages))
    return (
        "RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "
        f"--no-install-recommends {names} && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin "
        "/var/log/apt /var/log/dpkg.log /var/log/alternatives.log\n"
    )


def owned(workdir: str, outputs: Iterable[str]) -> tuple[str, ...]:
    """Folders of the agent's, the deepest first, so that each file finds its nearest one."""
    found = {workdir, *outputs}
    return tuple(sorted(found, key=lambda folder: (-folder.count("/"), folder)))


def _setup(draft: TaskDraft) -> str:
    """One command run as the agent; a fork bomb or an endless file meets a limit.

    Each set-up command is an argument of its own, so that none can comment out the next.
    """
    limits = f"ulimit -u 1024 -c 0 -f {draft.limits.disk_mb * 1024}"  # blocks of 1024 bytes
    script = f'set -eu; {limits}; cd {draft.workdir}; for line in "$@"; do eval "$line"; done'
    environment = f"HOME={HOME} LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin"
    command = ["/bin/bash", "-c", script, "setup", *draft.environment.setup]
    return f"runuser -u agent -- env -i {environment} {shlex.join(command)}"
