"""A whole run on the scripted engine in a process of its own: `replay.py FOLDER SPECS.PARQUET`.

Tasks on one of the bases are rejected at the no-op gate. Prints the digests of what was written.
"""

import asyncio
import sys
from pathlib import Path

from envgen import axes, config, runs
from envgen.digest import digest_bytes
from envgen.kit import Bases, Kit
from envgen.ledger import Blobs, Ledger
from envgen.pipeline import Stop
from envgen.records import Image, ImageRequest, Job, JobResult
from envgen.sandbox import Recorded, tag_of
from envgen.sandbox.scripted import Scripted, verdict


class Picky(Scripted):
    def __init__(self, blobs: Blobs) -> None:
        super().__init__(blobs, self.answer)
        self.parents: dict[str, str] = {}

    async def build(self, request: ImageRequest) -> Image:
        self.parents[tag_of(request.digest)] = request.parent_ref
        return await super().build(request)

    def answer(self, job: Job) -> JobResult:
        if job.collect and not job.restore and "querying" in self.parents[job.image_ref]:
            return JobResult(status="done", exit_code=0, output="", collected=verdict(1.0))
        return self.sound(job)


def main(folder: Path, source: Path) -> None:
    specs = axes.read_specs(source)
    ledger = Ledger(folder)
    engine = Picky(ledger.blobs)
    kit = Kit(config.RunConfig(), Recorded(engine, ledger), Bases(engine))
    tally = asyncio.run(runs.finish(runs.RunFolder(folder), specs, kit, Stop()))
    ledger.close()
    for name in ("manifest.parquet", "rejections.parquet", "tasks/dataset.toml"):
        print(digest_bytes((folder / name).read_bytes()))
    print(tally.kept, sum(tally.rejected.values()), tally.unfinished, tally.bugs)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
