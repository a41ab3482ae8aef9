"""FileTree: which paths are refused, what makes two trees equal, and archives that are hostile."""

import io
import stat
import tarfile
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.digest import digest, digest_bytes, short
from envgen.errors import Misconfigured
from envgen.files import EPOCH, File, FileTree, check_path
from envgen.writing import aside, write_whole

NAMES = st.text(st.sampled_from("abcXYZ0189._-é日 +@,=%&'\"$"), min_size=1, max_size=12).filter(
    lambda name: name == name.strip() and not name.startswith("~") and name not in (".", "..")
)
FILES = st.builds(File, st.binary(max_size=600), st.integers(0, 0o777))


def _tree(files: dict[str, File]) -> FileTree | None:
    try:
        return FileTree(files)
    except ValueError:  # names that collide when case is folded
        return None


PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
TREES = st.dictionaries(PATHS, FILES, max_size=6).map(_tree).filter(lambda t: t is not None)

HOSTILE = {
    "empty": "",
    "absolute": "/etc/passwd",
    "root": "/",
    "up": "../up",
    "up inside": "a/../../b",
    "up at the end": "a/..",
    "dot": "./a",
    "dot alone": ".",
    "double slash": "a//b",
    "slash at the end": "a/",
    "backslash": "a\\b",
    "drive": "C:\\x",
    "NUL": "a\0b",
    "newline": "a\nb",
    "escape": "a\x1b[31m",
    "delete": "a\x7f",
    "C1 control": "a\x9b31m",
    "bidi override": "a\u202etxt.exe",
    "zero width": "a\u200bb",
    "byte order mark": "\ufeffa",
    "line separator": "a\u2028b",
    "paragraph separator": "a\u2029b",
    "private use": "a\ue000",
    "unassigned": "a\u0378",
    "surrogate": "a\ud800",
    "not normal form C": "e\u0301",
    "home": "~/x",
    "home of root": "~root/x",
    "tilde inside": "a/~b",
    "space first": " a",
    "space last": "a ",
    "space inside": "a/ b",
    "no-break space last": "a\u00a0",
    "too long": "/".join(["x" * 99] * 5),
    "name too long": "x" * 201,
    "name too long in bytes": "é" * 101,
    "too deep": "/".join(["d"] * 17),
}


@pytest.mark.parametrize("path", HOSTILE.values(), ids=HOSTILE)
def test_hostile_paths_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="unsafe path"):
        check_path(path)
    with pytest.raises(ValueError, match="unsafe path"):
        FileTree({path: b""})


@pytest.mark.parametrize(
    "path", ["a", "a/b.txt", ".hidden", "a b", "x-é", "日本/語", "..a", "a..", "/".join("d" * 16)]
)
def test_plain_paths_are_taken(path: str) -> None:
    assert check_path(path) == path


@given(st.text(max_size=20))
def test_what_is_taken_stays_below_its_folder(text: str) -> None:
    try:
        path = check_path(text)
    except ValueError:
        return
    root = Path("/safe")
    assert (root / path).is_relative_to(root)
    assert ".." not in Path(path).parts
    assert not any(unicodedata.category(character).startswith("C") for character in path)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a": b"", "A": b""}, "differ only in case"),
        ({"x/a": b"", "X/b": b""}, "differ only in case"),
        ({"straße": b"", "STRASSE": b""}, "differ only in case"),
        ({"a": b"", "A/b": b""}, "differ only in case"),
        ({"a": b"", "a/b": b""}, "a file and a folder at once"),
        ({"a/b": b"", "a/b/c/d": b""}, "a file and a folder at once"),
    ],
)
def test_paths_that_cannot_stand_together_are_refused(files: dict[str, bytes], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        FileTree(files)


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1777, 0o100644, -1])
def test_only_permission_bits(mode: int) -> None:
    with pytest.raises(ValueError, match="only permission bits"):
        File(b"", mode)


def test_modes_and_bytes_are_part_of_the_identity() -> None:
    tree = FileTree({"a": b"x"})
    assert tree["a"].mode == 0o644
    assert tree == FileTree({"a": "x"}) == FileTree({"a": File(b"x", 0o644)})
    others = [FileTree({"a": File(b"x", 0o755)}), FileTree({"a": b"y"}), FileTree({"b": b"x"})]
    assert len({tree.digest, *(o.digest for o in others)}) == 4
    assert all(tree != other for other in others)
    assert len({tree, FileTree({"a": "x"})}) == 1


def test_golden_digest_and_archive() -> None:
    tree = FileTree({"b/run.sh": File(b"echo\n", 0o755), "a": b""})
    sha = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert tree.digest == digest({"a": [420, sha], "b/run.sh": [493, tree["b/run.sh"].sha256]})
    assert short(tree.digest, 64) == (
        "bff19a6575abec62475b8bf662c4557d62c5099573302fb56cd6b0e5b1290af4"
    )
    assert short(digest_bytes(tree.tar()), 64) == (
        "623056694c2290ea8647fafcfbe089e526bdf853306342270600c9521aa40e30"
    )


def test_archive_has_folders_owners_and_fixed_times() -> None:
    tree = FileTree({"x/y": File(b"data", 0o750), "z": b""})
    with tarfile.open(fileobj=io.BytesIO(tree.tar(uid=1000, root="r", root_mode=0o700))) as tar:
        found = [(m.name, m.mode, m.isdir(), m.uid, m.gid, m.mtime, m.uname) for m in tar]
    own = (1000, 1000, EPOCH, "")
    assert found == [
        ("r", 0o700, True, *own),
        ("r/x", 0o755, True, *own),
        ("r/x/y", 0o750, False, *own),
        ("r/z", 0o644, False, *own),
    ]


@given(TREES)
def test_archives_read_back_as_they_were(tree: FileTree) -> None:
    again = FileTree.from_tar(tree.tar())
    assert again == tree
    assert again.digest == tree.digest
    assert again.tar() == tree.tar()


@given(TREES)
def test_neither_order_nor_time_changes_an_archive(tree: FileTree) -> None:
    assert FileTree({path: tree[path] for path in reversed(list(tree))}).tar() == tree.tar()


def test_folders_round_trip_through_a_disk(tmp_path: Path) -> None:
    tree = FileTree({"a/b": File(b"1", 0o755), "c": b"\0\xff"})
    tree.write(tmp_path / "t")
    assert FileTree.read(tmp_path / "t") == tree
    assert stat.S_IMODE((tmp_path / "t/a/b").stat().st_mode) == 0o755
    with pytest.raises(FileExistsError):
        tree.write(tmp_path / "t")


def test_merged_under_and_below() -> None:
    one, two = FileTree({"a": b"1"}), FileTree({"b/c": b"2"})
    both = one.merged(two)
    assert list(both) == ["a", "b/c"]
    assert both.below("b") == FileTree({"c": b"2"})
    assert both.under("x").below("x") == both
    assert both.size == 2
    with pytest.raises(ValueError, match="'a' is in both trees"):
        both.merged(one)


# -- archives of strangers ---------------------------------------------------------------------


def _archive(*members: tarfile.TarInfo, form: int = tarfile.GNU_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return out.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, **fields: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type = kind
    for field, value in fields.items():
        setattr(made, field, value)
    return made


REFUSED = {
    "symbolic link": [_member("a", tarfile.SYMTYPE, linkname="/etc/passwd")],
    "hard link": [_member("b", size=1), _member("a", tarfile.LNKTYPE, linkname="b")],
    "character device": [_member("a", tarfile.CHRTYPE, devmajor=1, devminor=3)],
    "block device": [_member("a", tarfile.BLKTYPE)],
    "pipe": [_member("a", tarfile.FIFOTYPE)],
    "twice": [_member("a", size=1), _member("a", size=1)],
    "traversal": [_member("../a")],
    "traversal inside": [_member("a/../../b")],
    "absolute": [_member("/etc/passwd")],
    "case": [_member("a"), _member("A")],
    "file and folder": [_member("a"), _member("a/b")],
    "long traversal": [_member("x/" * 60 + "../" * 80 + "a")],
    "sparse, a terabyte": [
        _member("a", pax_headers={"GNU.sparse.size": str(1 << 40), "GNU.sparse.map": "0,0"}, size=0)
    ],
}


@pytest.mark.parametrize("members", REFUSED.values(), ids=REFUSED)
def test_archives_of_strangers_are_refused(members: list[tarfile.TarInfo]) -> None:
    form = tarfile.PAX_FORMAT if members[0].pax_headers else tarfile.GNU_FORMAT
    with pytest.raises(ValueError, match=r"unsafe|not a regular|twice|only in case|at once"):
        FileTree.from_tar(_archive(*members, form=form))


def test_a_tower_of_long_names_is_refused() -> None:
    header = _member("././@LongLink", b"L", size=1).tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(ValueError, match="not a readable tar"):
        FileTree.from_tar((header + b"x".ljust(512, b"\0")) * 3000)


def test_set_id_bits_of_an_archive_do_not_come_in() -> None:
    assert FileTree.from_tar(_archive(_member("a", mode=0o6755)))["a"].mode == 0o755


@given(st.data())
def test_a_damaged_archive_is_a_value_error_or_a_safe_tree(data: st.DataObject) -> None:
    whole = FileTree({"a/b": b"1" * 700, "c": File(b"2", 0o700)}).tar()
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    made: list[Callable[[], FileTree]] = [
        lambda: FileTree.from_tar(bytes(damaged)),
        lambda: FileTree.from_tar(bytes(damaged)[:cut]),
    ]
    for make in made:
        try:
            tree = make()
        except ValueError:
            continue
        assert all(check_path(path) == path for path in tree)


def test_a_file_is_written_aside_and_takes_its_place_only_when_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_whole(path, "one")
    with pytest.raises(RuntimeError), aside(path) as part:
        part.write_text("two")
        raise RuntimeError
    assert path.read_text() == "one" and [p.name for p in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize("place", ["/", ".", "folder"])
def test_a_file_does_not_take_the_place_of_a_folder(place: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(Misconfigured, match="is a folder"):
        write_whole(tmp_path / place, "text")
