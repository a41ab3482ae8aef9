"""Checkpoints on disk: folders that are whole or not there, of which the newest few stay."""

import shutil
from pathlib import Path

STATE = "trainer.pt"
"""In a checkpoint, beside the model: everything else that the next step depends on."""


def latest(folder: Path) -> Path | None:
    """The newest whole checkpoint below a folder."""
    return next((path for path in reversed(_steps(folder)) if (path / STATE).exists()), None)


def keep_newest(folder: Path, most: int) -> None:
    """Remove all but the newest checkpoints, and what a kill left half written."""
    for path in [*_steps(folder)[:-most], *folder.glob("*.part"), *folder.glob("*.old")]:
        shutil.rmtree(path)


def _steps(folder: Path) -> list[Path]:
    """Checkpoints in order, without what a kill left of one that was written (.part, .old)."""
    return sorted(folder.glob("step-*[0-9]"), key=lambda p: int(p.name.removeprefix("step-")))


def aside_of(folder: Path) -> Path:
    """An empty folder to write in what then takes a folder's place."""
    aside = folder.with_name(folder.name + ".part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    return aside


def swap(aside: Path, folder: Path) -> None:
    """What was written takes the folder's place."""
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    aside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
