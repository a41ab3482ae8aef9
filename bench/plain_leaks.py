"""The loop's leak scan: plain_leaks.py IMAGE.tar TASK_FOLDER BASE_LAYERS; exit 1 on a find."""

import hashlib
import json
import sys
import tarfile
from pathlib import Path

MIN_LINE, MIN_FILE = 32, 16
CODE, CODE_LINES = (".py", ".sh", ".c"), 4  # programs share idioms: of them it takes several


def lines(data: bytes) -> set[bytes]:
    return {line for line in map(bytes.strip, data.split(b"\n")) if len(line) >= MIN_LINE}


def main(image: str, folder: Path, base: int) -> int:
    kit = {*(folder / "tests/verifiers").rglob("*"), folder / "tests/test.sh"}
    kit.add(folder / "tests/task.json")
    public = lines((folder / "instruction.md").read_bytes())
    hidden, whole = dict[Path, set[bytes]](), set[str]()
    for path in (*folder.glob("tests/**/*"), *folder.glob("solution/**/*")):
        if path.is_file():
            data = path.read_bytes()
            if path in kit:
                public |= lines(data)
            else:
                hidden[path] = lines(data)
                if len(data) >= MIN_FILE:
                    whole.add(hashlib.sha256(data).hexdigest())
    found = 0
    with tarfile.open(image) as saved:
        listed = saved.extractfile("manifest.json")
        assert listed is not None
        for name in json.load(listed)[0]["Layers"][base:]:
            with tarfile.open(fileobj=saved.extractfile(name)) as layer:
                for member in layer:
                    stream = layer.extractfile(member) if member.isreg() else None
                    data = stream.read() if stream else b""
                    found += hashlib.sha256(data).hexdigest() in whole
                    here = lines(data) - public
                    for path, told in hidden.items():
                        enough = CODE_LINES if path.suffix in CODE else 1
                        found += len(told & here) >= enough
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
