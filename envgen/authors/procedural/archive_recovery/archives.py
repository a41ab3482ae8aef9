"""Archives whose bytes are the same everywhere.

Compressors differ between library versions, so gzip and xz data is written here as stored blocks:
every tool reads it, and no compressor decides its bytes. Tar and zip get fixed times and owners.
"""

import bz2
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping

Entries = Mapping[str, bytes]

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
MTIME = 1_640_995_200


def pack(suffix: str, entries: Entries) -> bytes:
    """An archive of the kind that the suffix names."""
    if suffix == ".zip":
        return _zip(entries)
    data = _tar(entries)
    if suffix in (".tar.gz", ".tgz"):
        return gzip_stored(data)
    if suffix == ".tar.bz2":
        return bz2.compress(data)
    return xz_stored(data) if suffix == ".tar.xz" else data


def _tar(entries: Entries) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted(entries):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(entries[name]), MTIME, 0o644
            archive.addfile(info, io.BytesIO(entries[name]))
    return out.getvalue()


def _zip(entries: Entries) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries):
            info = zipfile.ZipInfo(name, (2022, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            archive.writestr(info, entries[name])
    return out.getvalue()


def gzip_stored(data: bytes) -> bytes:
    """A gzip member (RFC 1952) of stored deflate blocks (RFC 1951, 3.2.4)."""
    out = [b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"]
    starts = range(0, max(len(data), 1), 65535)
    for start in starts:
        part = data[start : start + 65535]
        final = start == starts[-1]
        out.append(struct.pack("<BHH", final, len(part), len(part) ^ 0xFFFF) + part)
    out.append(struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF))
    return b"".join(out)


def xz_stored(data: bytes) -> bytes:
    """An xz stream with one block of uncompressed LZMA2 chunks (xz file format 1.1.0)."""
    flags = b"\x00\x01"  # the check is CRC32
    head = b"\xfd7zXZ\x00" + flags + _crc(flags)
    block_head = b"\x02\x00\x21\x01\x16" + b"\x00" * 3
    block_head += _crc(block_head)
    chunks = [
        struct.pack(">BH", 1 if start == 0 else 2, len(data[start : start + 65536]) - 1)
        + data[start : start + 65536]
        for start in range(0, len(data), 65536)
    ]
    body = block_head + b"".join(chunks) + b"\x00"
    unpadded = len(body) + 4
    block = _padded(body) + _crc(data)
    index = _padded(b"\x00\x01" + _varint(unpadded) + _varint(len(data)))
    index += _crc(index)
    tail = struct.pack("<I", len(index) // 4 - 1) + flags
    return head + block + index + _crc(tail) + tail + b"YZ"


def _crc(data: bytes) -> bytes:
    return struct.pack("<I", zlib.crc32(data))


def _padded(data: bytes) -> bytes:
    return data + b"\x00" * (-len(data) % 4)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
