"""Delta's deletion vectors: which rows of a file are no longer there. In: what a commit says of one. Out: numbers of rows, from 0."""

from __future__ import annotations

import base64
import struct
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_MAGIC = 1681511377
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_B85 = bytes.maketrans(_Z85, _B85)


def removed_rows(vector: Mapping[str, Any], table: Path) -> set[int]:
    """The rows that ``vector`` of a file of ``table`` removes."""
    text = vector["pathOrInlineDv"]
    if vector["storageType"] == "i":
        return _rows(_decoded(text)[: vector["sizeInBytes"]])
    # A folder's name may stand before the identifier, which has 20 characters.
    file = table / text[:-20] / f"deletion_vector_{uuid.UUID(bytes=_decoded(text[-20:]))}.bin"
    begin = vector["offset"] + 4
    return _rows(file.read_bytes()[begin : begin + vector["sizeInBytes"]])


def _decoded(text: str) -> bytes:
    return base64.b85decode(text.encode().translate(_TO_B85))


def _rows(data: bytes) -> set[int]:
    magic, bitmaps = struct.unpack_from("<iq", data)
    assert magic == _MAGIC
    found: set[int] = set()
    at = 12
    for _ in range(bitmaps):
        (high,) = struct.unpack_from("<i", data, at)
        values, at = _bitmap(data, at + 4)
        found |= {high << 32 | value for value in values}
    return found


def _bitmap(data: bytes, at: int) -> tuple[list[int], int]:
    """The values of a roaring bitmap in its portable form, and where it ends."""
    (cookie,) = struct.unpack_from("<I", data, at)
    at += 4
    runs = 0
    if cookie & 0xFFFF == 12347:
        size = (cookie >> 16) + 1
        runs = int.from_bytes(data[at : at + (size + 7) // 8], "little")
        at += (size + 7) // 8
        offsets = size >= 4
    else:
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        offsets = True
    heads = [struct.unpack_from("<HH", data, at + 4 * i) for i in range(size)]
    at += 4 * size + (4 * size if offsets else 0)
    found: list[int] = []
    for i, (key, last) in enumerate(heads):
        if runs >> i & 1:
            (count,) = struct.unpack_from("<H", data, at)
            pairs = struct.iter_unpack("<HH", data[at + 2 : at + 2 + 4 * count])
            low = [value for start, more in pairs for value in range(start, start + more + 1)]
            at += 2 + 4 * count
        elif last < 4096:
            low = list(struct.unpack_from(f"<{last + 1}H", data, at))
            at += 2 * (last + 1)
        else:
            bits = int.from_bytes(data[at : at + 8192], "little")
            low = [value for value in range(1 << 16) if bits >> value & 1]
            at += 8192
        found += [key << 16 | value for value in low]
    return found, at
