"""A registry on a free port of this machine, for as long as a test session."""

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "registry.sh"
CONFIG = """\
version: 0.1
storage: {{filesystem: {{rootdirectory: {folder}}}, delete: {{enabled: true}}}}
http: {{addr: 127.0.0.1:{port}}}
"""


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """`HOST:PORT` of a registry that keeps its images in a folder."""
    found = subprocess.run(
        [str(SCRIPT), str(folder / "program")], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config, log = folder / "config.yml", folder / "log"
    config.write_text(CONFIG.format(folder=folder / "images", port=port))
    with log.open("wb") as out:
        process = subprocess.Popen(
            [found.stdout.strip(), "serve", str(config)], stdout=out, stderr=out,
            env={"PATH": os.environ["PATH"], "OTEL_TRACES_EXPORTER": "none"},
        )  # fmt: skip
    try:
        place = f"127.0.0.1:{port}"
        _wait(place, log)
        yield place
    finally:
        process.terminate()
        process.wait()


def _wait(place: str, log: Path) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://{place}/v2/", timeout=2).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"the registry does not answer: {log.read_text()[-2000:]}")
