"""What is packed in bytes, one level deep: archives, compressions, encodings, git objects and
packs, the variables of an environment.

Standard library only and without imports of envgen: attacks bring this file along, so that what is
found from outside is unpacked by the same code inside of a container.
"""

import base64
import binascii
import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib

LIMIT = 8 << 20
"""Most bytes that are unpacked of one file, all its views together."""
MEMBERS = 200

_VARIABLES = re.compile(rb"(?:[A-Za-z_][A-Za-z0-9_]*=[^\0]*\0)+")
_TROUBLE = (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, zipfile.BadZipFile,
            tarfile.TarError, IndexError, RuntimeError, RecursionError)  # fmt: skip


def views(data: bytes) -> dict[str, bytes]:
    """The bytes (as "") and everything that is packed in them, by how it was had."""
    found = {"": data}
    try:
        found.update(_packed(data))
    except _TROUBLE:
        return found  # not what its first bytes say
    return found


def _packed(data: bytes) -> dict[str, bytes]:
    if data[:8] in (b"PACK\0\0\0\2", b"PACK\0\0\0\3"):
        return _pack(data)
    if data[-1:] == b"\0" and _VARIABLES.fullmatch(data):
        pairs = [one.partition(b"=") for one in data[:-1].split(b"\0")]
        return {f"env:{name.decode()}": value + b"\n" for name, _, value in pairs}
    if data[:2] == b"\x1f\x8b":
        return _inside("gzip", gzip.GzipFile(fileobj=io.BytesIO(data)).read(LIMIT))
    if data[:3] == b"BZh":
        return _inside("bzip2", bz2.BZ2File(io.BytesIO(data)).read(LIMIT))
    if data[:6] == b"\xfd7zXZ\0":
        return _inside("xz", lzma.LZMAFile(io.BytesIO(data)).read(LIMIT))
    if data[:4] == b"PK\x03\x04":
        return _zip(data)
    if data[257:262] == b"ustar":
        return _tar(data)
    if data[:1] == b"\x78":
        stream = zlib.decompressobj()
        text = stream.decompress(data, LIMIT)
        if not stream.eof:
            raise ValueError("not a whole stream")
        return {"zlib": re.sub(rb"\A(blob|tree|commit) \d+\0", b"", text, count=1)}
    return _encoded(data)


def _pack(data: bytes) -> dict[str, bytes]:
    """Whole objects of a git pack, by number; those that are stored as a difference are not put
    together (git stores the newest version of a file whole, as a rule)."""
    found: dict[str, bytes] = {}
    place, left = 12, LIMIT
    for number in range(min(int.from_bytes(data[8:12], "big"), MEMBERS)):
        kind = data[place] >> 4 & 7
        while data[place] & 0x80:
            place += 1
        place += 1
        if kind == 6:  # a difference to something nearby, whose distance follows
            while data[place] & 0x80:
                place += 1
            place += 1
        elif kind == 7:  # to an object, whose name follows
            place += 20
        stream = zlib.decompressobj()
        text = stream.decompress(data[place:], left)
        if not stream.eof:
            break
        place, left = len(data) - len(stream.unused_data), left - len(text)
        if kind == 3:
            found[f"pack:{number}"] = text
        if left <= 0:
            break
    return found


def _inside(name: str, data: bytes) -> dict[str, bytes]:
    return {name: data, **(_tar(data) if data[257:262] == b"ustar" else {})}


def _tar(data: bytes) -> dict[str, bytes]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive.getmembers()[:MEMBERS]:
            stream = archive.extractfile(member) if member.isreg() else None
            if stream:
                found[f"tar:{member.name}"] = stream.read(LIMIT)
    return found


def _zip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()[:MEMBERS]
        return {f"zip:{name}": archive.open(name).read(LIMIT) for name in names}


def _encoded(data: bytes) -> dict[str, bytes]:
    """Base64 and hex, where the whole text is nothing else."""
    plain = b"".join(data.split())
    if len(plain) < 16 or not re.fullmatch(rb"[A-Za-z0-9+/=_-]+", plain[:4096]):
        return {}
    if re.fullmatch(rb"([0-9a-fA-F]{2})+", plain):
        return {"hex": binascii.unhexlify(plain)}
    return {"base64": base64.b64decode(plain, validate=True)}
