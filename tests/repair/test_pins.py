"""What pins pay for: right results in any form, and next to nothing for the mere form of one."""

import base64
import importlib.util
import json
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

import envgen.repair
from envgen.repair import pinning

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # the kit is files to copy, no installed package
    sys.path.insert(0, str(ROOT))
_PATH = Path(envgen.repair.__file__).parent / "task" / "pins.py"


@pytest.fixture(scope="module")
def pins() -> Any:
    spec = importlib.util.spec_from_file_location("pins_of_repairs", _PATH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Files:
    """Reads what an agent left, as the kit's `Task` does."""

    def __init__(self, **files: bytes) -> None:
        self.files = {f"/o/{name.replace('_', '.')}": data for name, data in files.items()}

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def read_text(self, path: str) -> str | None:
        data = self.read(path)
        return None if data is None else data.decode()

    def read_json(self, path: str) -> Any:
        try:
            return json.loads(self.read_text(path) or "null")
        except ValueError:
            return None


def paid(pins: Any, pin: dict[str, Any] | None, **files: bytes) -> float:
    assert pin is not None
    name = next(iter(files)).replace("_", ".")
    held = {"files": [{"path": f"/o/{name}", **pin}], "programs": []}
    packed = base64.b64encode(zlib.compress(json.dumps(held).encode()))
    (check,) = pins.checks(Files(**files), packed)
    return float(check.score)


TABLE = "id,kind,v\na,x,10\nb,y,20\nc,x,30\nd,y,40\n"


def test_a_table_is_right_in_any_notation_and_worth_little_in_form_alone(pins: Any) -> None:
    pin = pinning._pin("/o/t.csv", [TABLE.encode(), TABLE.encode()])
    assert paid(pins, pin, t_csv=TABLE.encode()) == 1
    assert paid(pins, pin, t_csv=b"id,kind,v\r\na,x,10.0\r\nb,y,2e1\r\nc,x,30\r\nd,y,40\r\n") == 1
    assert paid(pins, pin, t_csv=b"id,kind,v\na,x,10\nb,y,20\nc,x,30\nd,y,41\n") == 0.8**3
    for wrong in (b"", b"id,kind,v\n1,1,1\n1,1,1\n1,1,1\n1,1,1\n", TABLE.encode()[:-7], b"\xef"):
        assert paid(pins, pin, t_csv=wrong if wrong != b"\xef" else b"PASS\n") < 0.02


def test_measurements_are_right_as_far_as_right_ones_differ(pins: Any) -> None:
    other = TABLE.replace("a,x,10", "a,x,11").encode()
    pin = pinning._pin("/o/t.csv", [TABLE.encode(), other])
    assert paid(pins, pin, t_csv=other) == paid(pins, pin, t_csv=TABLE.encode()) == 1
    assert paid(pins, pin, t_csv=TABLE.replace("10", "11.5").encode()) == 1
    assert paid(pins, pin, t_csv=TABLE.replace("10", "14").encode()) < 0.1
    flat = b"id,kind,v\na,x,25\nb,y,25\nc,x,25\nd,y,25\n"
    assert paid(pins, pin, t_csv=flat) == 0


def test_json_is_right_by_its_values_in_any_order(pins: Any) -> None:
    right = {"rows": 7, "mean": 2.5, "most": {"name": "x", "at": [1, 2]}, "ok": True}
    other = right | {"mean": 2.6}
    made = [json.dumps(one).encode() for one in (right, other)]
    pin = pinning._pin("/o/f.json", made)
    backwards = json.dumps(dict(reversed(right.items())), indent=3).encode()
    assert paid(pins, pin, f_json=backwards) == paid(pins, pin, f_json=made[1]) == 1
    assert paid(pins, pin, f_json=json.dumps(right | {"mean": 2.8}).encode()) == pytest.approx(
        (5 / 6) ** 3
    )
    assert paid(pins, pin, f_json=json.dumps(right | {"ok": 1}).encode()) < 1  # no number is true
    for wrong in (b"", b"[", b"{}", b'{"rows": 1, "mean": 1, "most": 1, "ok": 1}'):
        assert paid(pins, pin, f_json=wrong) == 0


def test_lines_are_right_whatever_ends_them(pins: Any) -> None:
    pin = pinning._pin("/o/t.txt", [b"one 1\ntwo 2\n", b"one 1 \r\ntwo 2\r\n\r\n"])
    assert paid(pins, pin, t_txt=b"one 1\ntwo 2") == 1
    assert paid(pins, pin, t_txt=b"one 1\ntwo 3\n") == 0.5**3
    assert paid(pins, pin, t_txt=b"") == 0


def test_what_is_no_text_is_right_to_the_byte_alone(pins: Any) -> None:
    pin = pinning._pin("/o/t.bin", [b"\xff\0\1", b"\xff\0\1"])
    assert paid(pins, pin, t_bin=b"\xff\0\1") == 1
    assert paid(pins, pin, t_bin=b"\xff\0\2") == 0
    assert pinning._pin("/o/t.bin", [b"\xff\0\1", b"\xff\0\2"]) is None
