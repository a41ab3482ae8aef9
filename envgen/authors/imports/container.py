"""A stranger's container definition on its way to an environment: what readers tell it, in order.

Dockerfiles and Apptainer definitions are read elsewhere; here is what both come to: packages,
files, steps, variables, and who the agent is.
"""

import posixpath
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from envgen.authors.imports import images, installs, python
from envgen.authors.imports.options import Options
from envgen.authors.imports.shell import commands, expand
from envgen.errors import Fault
from envgen.files import File, FileTree, check_path
from envgen.foreign import WHEELS
from envgen.records import AGENT_UID, BuildStep, Environment

Env = tuple[tuple[str, str], ...]
_USER_VALUE = {
    *("-u", "--uid", "-d", "--home-dir", "--home", "-s", "--shell", "-g", "--gid", "-G"),
    *("--groups", "-c", "--comment", "--gecos", "-k", "--skel", "-p", "--password", "-K"),
}
_IDLE = re.compile(r":|true|(rm|mkdir) -r?f?p? ?/var/lib/apt/lists(/\*|/partial)?|rm -rf .*apt.*")


@dataclass(frozen=True)
class Account:
    """A user that the definition makes."""

    uid: int
    home: str


@dataclass(frozen=True)
class Finished:
    """What a definition came to."""

    environment: Environment
    steps: tuple[BuildStep, ...]
    env: Env
    notes: tuple[str, ...]


class Container:
    """Collects a definition's steps.

    Args:
        image: what it begins with.
        options: the user's.
    """

    def __init__(self, image: str, options: Options) -> None:
        self.base, packages, note = images.stand_in(image, options.base_map)
        self.wheels = options.wheels
        self.packages = list(packages)
        self.requirements: list[str] = []
        self.notes = [note]
        self.files: dict[str, File] = {}
        self.steps: list[BuildStep] = []
        self.env: dict[str, str] = {}
        self.args: dict[str, str] = {}
        self.accounts: dict[str, Account] = {"root": Account(0, "/root")}
        self.cwd, self.user = "/", "root"
        self.shell: tuple[str, ...] = ("/bin/sh",)
        self._sealed: set[str] = set()

    @property
    def variables(self) -> Mapping[str, str]:
        """What a build step sees: arguments, and the image's variables over them."""
        return self.args | self.env

    def path(self, name: str) -> str:
        """An absolute path, seen from the present folder, without the slash it begins with."""
        path = posixpath.normpath(posixpath.join(self.cwd, name)).strip("/")
        if path in ("", "."):
            return ""
        try:
            return check_path(path)
        except ValueError as error:
            raise Fault("import:path", str(error)) from None

    def lay(self, files: Mapping[str, File], owner: str = "0:0") -> None:
        """Lay down files at paths seen from `/`.

        Raises:
            Fault: one replaces a file that a step between the two may have used.
        """
        for path, file in files.items():
            known = self.files.get(path)
            if known is not None and known != file:
                if path in self._sealed:
                    raise Fault("import:order", f"/{path} is copied twice, with a step between")
                self._forget(path)
            self.files[path] = file
        if files:
            self.steps.append(BuildStep(files=tuple(sorted(files)), owner=owner))

    def _forget(self, path: str) -> None:
        self.steps = [
            step.model_copy(update={"files": tuple(p for p in step.files if p != path)})
            for step in self.steps
        ]
        self.steps = [step for step in self.steps if step.files or step.run]

    def run(self, text: str, lookup: installs.Lookup | None = None) -> None:
        """Run shell text: what it installs becomes packages, the rest a step."""
        keep = self.wheels is not None
        kept, found = installs.extract(text, self.variables, lookup or self._lookup, keep_pip=keep)
        self.packages += found.packages
        self.requirements += found.requirements
        self.notes += found.notes
        self._watch_accounts(kept)
        if all(_IDLE.fullmatch(" ".join(command.values)) for command in commands(kept)):
            return
        if self._written(kept):
            return
        self._sealed |= self.files.keys()
        env = tuple(sorted(self.variables.items()))
        self.steps.append(
            BuildStep(run=kept, shell=self.shell, user=self.user, cwd=self.cwd, env=env)
        )

    def _written(self, text: str) -> bool:
        """Whether the text only writes a here-document to a file, which is then laid down."""
        found = commands(text)
        if len(found) != 1 or found[0].values != ("cat",) or len(found[0].heredocs) != 1:
            return False
        (here,), targets = found[0].heredocs, found[0].targets
        if len(targets) != 1 or targets[0][0] != ">":
            return False
        if not here.quoted and re.search(r"[$`\\]", here.text):
            return False
        path = self.path(expand(targets[0][1], self.variables))
        owner = "0:0" if self.user == "root" else f"{self.user}:"
        self.lay({path: File(here.text.encode())}, owner)
        return True

    def enter(self, name: str) -> None:
        """Make a folder, as root, and stay in it."""
        path = self.path(name)
        self.cwd = f"/{path}"
        if path:
            self.steps.append(BuildStep(run=f"mkdir -p -- {shlex.quote(self.cwd)}"))

    def add_python(self, requirement: str) -> None:
        """Have a project of the Python index in the image, for the tests."""
        self.requirements.append(requirement)
        if self.wheels is not None:
            wanted = shlex.quote(requirement)
            self.steps.append(BuildStep(run=f"python3 -m pip install --quiet {wanted}"))

    def account(self, user: str) -> Account:
        """The account of a user's name or number.

        Raises:
            Fault: nobody makes it, or it is neither root nor uid 1000.
        """
        name = user.partition(":")[0]
        if name in ("", "0"):
            name = "root"
        if name.isdecimal():
            named = [a for a in self.accounts.values() if a.uid == int(name)]
            account = named[0] if named else Account(int(name), "/")
        elif name in self.accounts:
            account = self.accounts[name]
        else:
            raise Fault("import:user", f"the definition makes no user {name!r}")
        if account.uid not in (0, AGENT_UID):
            raise Fault(
                "import:user", f"{name} has uid {account.uid}: 0 and {AGENT_UID} can be had"
            )
        return account

    def finish(self) -> Finished:
        """The environment. Raises Fault where something in it cannot be had."""
        packages, files = list(self.packages), dict(self.files)
        notes = list(self.notes)
        wanted = tuple(dict.fromkeys(self.requirements))
        if self.wheels is not None and wanted:
            packages.append("python3-pip")
            files |= {f"{WHEELS}/{p}": f for p, f in self.wheels(wanted).items()}
            notes.append(f"pip: wheels were fetched before, for {', '.join(wanted)}")
        else:
            for requirement in wanted:
                package, note = python.debian(requirement)
                packages += [package] if package else []
                notes.append(note)
        base, lacking = images.fitting(self.base, packages)
        try:
            tree = FileTree(files)
        except ValueError as error:
            raise Fault("import:path", str(error)) from None
        return Finished(
            Environment(base=base, packages=lacking, files=tree),
            tuple(self.steps),
            tuple(sorted(self.env.items())),
            tuple(dict.fromkeys(notes)),
        )

    def _lookup(self, name: str) -> str:
        """A file of requirements that was laid down before."""
        path = self.path(name)
        if path not in self.files:
            raise Fault("import:pip", f"requirements are in {name}, which no step lays down")
        return self.files[path].data.decode(errors="replace")

    def _watch_accounts(self, text: str) -> None:
        for command in commands(text):
            values = command.values
            if not values or values[0].rpartition("/")[2] not in ("useradd", "adduser"):
                continue
            uid, home, system, names = None, "", False, []
            words = list(values[1:])
            while words:
                word, _, value = words.pop(0).partition("=")
                if word in _USER_VALUE and not value and words:
                    value = words.pop(0)
                if word in ("-u", "--uid"):
                    uid = value
                elif word in ("-d", "--home-dir", "--home"):
                    home = value
                elif word in ("-r", "--system"):
                    system = True
                elif not word.startswith("-"):
                    names.append(word)
            if names and not system:
                self._make_account(names[0], uid, home)

    def _make_account(self, name: str, uid: str | None, home: str) -> None:
        taken = [account.uid for account in self.accounts.values() if account.uid]
        number = int(uid) if uid and uid.isdecimal() else max([AGENT_UID - 1, *taken]) + 1
        self.accounts[name] = Account(number, home or f"/home/{name}")
