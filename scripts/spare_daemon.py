"""A second Docker daemon beside the running one, to be broken: see try_faults.py."""

import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from envgen.sandbox.daemon import OWNER_LABEL

DISK_MB = 2600


class Daemon:
    """A second dockerd, in a network namespace of its own, with its data on a loop mount."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "docker.sock"
        self.data = folder / "data"
        self.data.mkdir()
        disk = folder / "disk.img"
        with disk.open("wb") as file:
            file.truncate(DISK_MB << 20)
        subprocess.run(["mkfs.ext4", "-q", str(disk)], check=True)
        subprocess.run(["mount", "-o", "loop", str(disk), str(self.data)], check=True)
        self.start()

    def start(self) -> None:
        with (self.folder / "dockerd.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *("unshare", "-n", "dockerd", "-H", f"unix://{self.socket}"),
                    *("--data-root", str(self.data), "--exec-root", str(self.folder / "exec")),
                    *("--pidfile", str(self.folder / "pid"), "--bridge=none", "--iptables=false"),
                    "--shutdown-timeout=1",  # sandboxes end with it, not episodes before it
                ],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + 90
        while subprocess.run(self.command("info"), capture_output=True).returncode:
            if time.monotonic() > deadline:
                raise SystemExit(f"dockerd does not start, see {self.folder}/dockerd.log")
            time.sleep(0.3)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)

    def command(self, *arguments: str) -> list[str]:
        return ["docker", "-H", f"unix://{self.socket}", *arguments]

    def do(self, *arguments: str) -> str:
        """What a docker command prints, whether it works or not."""
        return subprocess.run(self.command(*arguments), capture_output=True, text=True).stdout

    def live(self, least: int) -> list[str]:
        """Sandboxes of sessions, once there are so many: they are named after their owner."""
        while True:
            listed = self.do("ps", "--filter", f"label={OWNER_LABEL}", "--format", "{{.Names}}")
            if len(names := [name for name in listed.split() if "." in name]) >= least:
                return names
            time.sleep(0.1)

    def remove(self) -> None:
        self.stop()
        subprocess.run(["umount", "-l", str(self.data)], check=True)


class Slow:
    """A socket before a daemon's, which can be slow."""

    def __init__(self, path: Path, behind: Path) -> None:
        self.url, self._behind, self.delay = f"unix://{path}", behind, 0.0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(256)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            near, far = self._listener.accept()[0], socket.socket(socket.AF_UNIX)
            try:
                far.connect(str(self._behind))
            except OSError:
                near.close()
                continue
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=ends, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                time.sleep(self.delay)
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
