"""What Kafka's producers compress by, and Python's library does not know: LZ4 frames and Snappy blocks, read only."""

from __future__ import annotations

import struct

_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_XERIAL_MAGIC = b"\x82SNAPPY\x00"


def lz4(data: bytes) -> bytes:
    """The content of LZ4 frames. Raises ValueError, IndexError."""
    if data[:4] != _LZ4_MAGIC:
        raise ValueError("it is no LZ4 frame")
    flags = data[4]
    at = 7 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    out = bytearray()
    while True:
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        if size == 0:
            return bytes(out)
        length = size & 0x7FFFFFFF
        block = data[at : at + length]
        if size & 0x80000000:
            out += block
        else:
            _lz4_block(block, out)
        at += length + (4 if flags & 0x10 else 0)


def _lz4_block(block: bytes, out: bytearray) -> None:
    at = 0
    while at < len(block):
        token = block[at]
        at += 1
        length = token >> 4
        if length == 15:
            length, at = _longer(block, at, length)
        out += block[at : at + length]
        at += length
        if at >= len(block):
            return
        distance = block[at] | block[at + 1] << 8
        at += 2
        length = token & 15
        if length == 15:
            length, at = _longer(block, at, length)
        _repeat(out, distance, length + 4)


def _longer(block: bytes, at: int, length: int) -> tuple[int, int]:
    while True:
        byte = block[at]
        at += 1
        length += byte
        if byte != 255:
            return length, at


def snappy(data: bytes) -> bytes:
    """The content of a Snappy block, or of the blocks that Java's library frames. Raises ValueError, IndexError."""
    if data[:8] != _XERIAL_MAGIC:
        return _snappy_block(data)
    out, at = b"", 16
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        out += _snappy_block(data[at + 4 : at + 4 + length])
        at += 4 + length
    return out


def _snappy_block(data: bytes) -> bytes:
    at = 0
    while data[at] & 0x80:  # the length of what comes out
        at += 1
    at += 1
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        kind = tag & 3
        if kind == 0:
            length = tag >> 2
            if length >= 60:
                more = length - 59
                length = int.from_bytes(data[at : at + more], "little")
                at += more
            out += data[at : at + length + 1]
            at += length + 1
        elif kind == 1:
            _repeat(out, (tag >> 5) << 8 | data[at], (tag >> 2 & 7) + 4)
            at += 1
        else:
            width = 2 if kind == 2 else 4
            _repeat(out, int.from_bytes(data[at : at + width], "little"), (tag >> 2) + 1)
            at += width
    return bytes(out)


def _repeat(out: bytearray, distance: int, length: int) -> None:
    """Append what stands ``distance`` before the end; it may reach into what is appended."""
    if not 0 < distance <= len(out):
        raise ValueError("it points before its beginning")
    begin = len(out) - distance
    for i in range(begin, begin + length) if distance < length else ():
        out.append(out[i])
    if distance >= length:
        out += out[begin : begin + length]
