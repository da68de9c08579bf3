"""Messages of Protobuf that are written and read: their fields are in ``protos/``. See ``format_cases.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf import message_factory

from sqlstream.formats import protobuf_files
from sqlstream.formats.base import ProjectFiles

PROJECT = ProjectFiles(Path(__file__).parent)
ROW, CONSTANTS, EVERYTHING, OLD = "com.example.rows.Row", "com.example.rows.Constants", "com.example.rows.Everything", "com.example.OldMessages$Old"
CLASS = "message-class-name"
# A message whose description is longer than one text of a class can be.
MANY_FIELDS = 'syntax = "proto3"; package many; message Many {' + "".join(f" int32 field_with_a_long_name_{i} = {i};" for i in range(1, 901)) + "}"
WRITTEN: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "protobuf": (("n", "bo", "i", "bi", "f", "d", "c", "v", "s", "by", "bn", "a", "ax", "ab", "af", "m", "r"), {CLASS: ROW}),
    "protobuf null": (("n", "ax", "a"), {CLASS: ROW, "write-null-string-literal": "none é"}),
    "protobuf constants": (("i", "s", "a", "m"), {CLASS: CONSTANTS}),
}
_PAIR, _PART = "ROW<x INT, y STRING>", "ROW<code STRING, weight DOUBLE>"
_OLD = {
    "id": "BIGINT", "name": "STRING", "n": "INT", "state": "STRING", "xs": "ARRAY<INT>", "part": _PART, "line": "ARRAY<ROW<text STRING>>", "raw": "BYTES",
    "parts": f"MAP<STRING, {_PART}>",
}  # fmt: skip
_INSIDE = "ROW<kind STRING, `next` ROW<kind INT, sizes MAP<STRING, DOUBLE>>, parts ARRAY<BYTES>>"
_ALL = {
    "i32": "INT", "s32": "INT", "u32": "INT", "x32": "INT", "y32": "INT", "i64": "BIGINT", "s64": "BIGINT", "u64": "BIGINT", "x64": "BIGINT",
    "y64": "BIGINT", "f": "FLOAT", "d": "DOUBLE", "yes": "BOOLEAN", "text": "STRING", "data": "BYTES", "named": "STRING", "numbered": "INT",
    "maybe": "INT", "maybe_text": "VARCHAR(5)", "maybe_named": "INT", "card": "STRING", "cash": "BIGINT", "traded": _PAIR, "pair": _PAIR,
    "at": "ROW<seconds BIGINT, nanos INT>", "boxed": "ROW<`value` INT>", "inside": _INSIDE, "old": "ROW<id BIGINT, n INT, state STRING>",
    "numbers": "ARRAY<INT>", "unpacked": "ARRAY<INT>", "texts": "ARRAY<STRING>", "kinds": "ARRAY<STRING>", "pairs": f"ARRAY<{_PAIR}>",
    "by_text": "MAP<STRING, STRING>", "chain": f"ARRAY<{_INSIDE}>", "camelCase": "INT", "with_2digits": "INT",
}  # fmt: skip


def message(name: str, /, **values: Any) -> bytes:
    """The bytes of a message, as Protobuf for Python writes them."""
    class_: Any = message_factory.GetMessageClass(protobuf_files.find(name, PROJECT).descriptor)
    made: bytes = class_(**values).SerializePartialToString(deterministic=True)
    return made


_FULL = message(
    EVERYTHING, i32=-1, s32=-2, u32=2**32 - 1, x32=2**31, y32=-3, i64=-4, s64=-5, u64=2**64 - 1, x64=2**63, y64=-6, f=0.1, d=-0.0, yes=True,
    text="Zoë \U0001f600", data=b"\0\xff", named="SMALL", numbered=5, maybe=0, maybe_text="longer than five", maybe_named="BIG", cash=9,
    pair={"x": 1, "y": "z"}, at={"seconds": 1714557600, "nanos": 5}, boxed={"value": 0},
    inside={"kind": "BIG", "next": {"kind": "SMALL", "sizes": {"a": 1.5, "": 0.0}}, "parts": [b"", b"a"]}, old={"id": 1, "state": 1},
    numbers=[1, 0, -1], unpacked=[3, 2, 1], texts=["", "b"], kinds=["NONE", "SMALL"], pairs=[{}, {"x": 2}], by_text={"b": "2", "a": ""},
    chain=[{}, {"kind": "BIG"}], camelCase=4, with_2digits=5,
)  # fmt: skip
# A field's number and kind, and its content.
_VARINT, _FIXED64, _BYTES, _GROUP, _END, _FIXED32 = range(6)


def field(number: int, wire: int, content: bytes) -> bytes:
    tag = number << 3 | wire
    assert tag < 1 << 14
    start = bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])
    return start + (bytes([len(content)]) if wire == _BYTES else b"") + content


_OF_ALL = (
    _FULL, b"", message(EVERYTHING, traded={"x": 1}), message(EVERYTHING, pair={}, inside={}, at={}),
    # What comes twice: the last one counts, messages are one of both.
    message(EVERYTHING, i32=1) + message(EVERYTHING, i32=2), message(EVERYTHING, pair={"x": 1}) + message(EVERYTHING, pair={"y": "b"}),
    message(EVERYTHING, card="a") + message(EVERYTHING, cash=1), message(EVERYTHING, numbers=[1]) + message(EVERYTHING, numbers=[2]),
    message(EVERYTHING, by_text={"a": "1"}) + message(EVERYTHING, by_text={"b": "2"}) + message(EVERYTHING, by_text={"a": "3"}),
    # Packed what is not, and the other way round; an entry of a map without its parts; fields that nobody knows; a field of another kind.
    field(30, _BYTES, b"\1\2"), field(29, _VARINT, b"\1") + field(29, _VARINT, b"\2"), field(34, _BYTES, b""), field(200, _BYTES, b"x"), field(1, _BYTES, b"x"),
    field(200, _GROUP, field(1, _VARINT, b"\1") + field(200, _END, b"")), field(1, _VARINT, b"\x80\x80\x80\x80\x10"), field(13, _VARINT, b"\2"),
    # Constants that nobody knows.
    field(16, _VARINT, b"\x63"), field(32, _BYTES, b"\5\x63"), field(27, _BYTES, field(1, _VARINT, b"\x63")),
)  # fmt: skip
_OF_ALL_BAD = (
    _FULL[:-1], message(EVERYTHING, old={}), b"\xff", b"\0", field(1, 7, b"\1"), field(14, _BYTES, b"\xff"), field(31, _BYTES, b"\xff"), field(17, _VARINT, b"\x63"),
    field(24, _BYTES, b"\x08"), field(200, _END, b""), field(1, _VARINT, b"\xff" * 11), field(20, _VARINT, b"\x63"),
)  # fmt: skip
_OF_OLD = (
    message(OLD, id=1), message(OLD, id=2, name="", n=0, state=1, xs=[1], part={"code": "c"}, line=[{"text": "t"}, {}], raw=b"", parts={"p": {"code": "q"}}),
    message(OLD, id=3) + field(4, _VARINT, b"\x63"), message(OLD, id=4) + field(2, _BYTES, b"a\xffb"), message(OLD, id=5) + field(100, _VARINT, b"\1"),
)  # fmt: skip
_OF_OLD_BAD = (b"", message(OLD, id=1, part={}), message(OLD, id=1) + field(7, _GROUP, b""))
READ: dict[str, tuple[dict[str, str], tuple[bytes, ...], tuple[bytes, ...], dict[str, str]]] = {
    "protobuf": (_ALL, _OF_ALL, _OF_ALL_BAD, {CLASS: EVERYTHING}),
    "protobuf defaults": (_ALL, _OF_ALL[:4], (), {CLASS: EVERYTHING, "read-default-values": "true"}),
    "protobuf old": (_OLD, _OF_OLD, _OF_OLD_BAD, {CLASS: OLD}),
    "protobuf old defaults": (_OLD, _OF_OLD[:3], (), {CLASS: OLD, "read-default-values": "true"}),
    "protobuf nested": ({"kind": "INT", "parts": "ARRAY<VARBINARY(3)>"}, (b"", field(1, _VARINT, b"\5")), (field(1, _VARINT, b"\x63"),),
                        {CLASS: "com.example.rows.Everything$Inside"}),
}  # fmt: skip
# Types of the field that a column is called by.
REFUSED: dict[str, tuple[str, str, dict[str, str]]] = {
    "protobuf column": ("zz", "INT", {CLASS: EVERYTHING}),
    "protobuf class": ("i32", "INT", {CLASS: "com.example.Everything"}),
    "protobuf no class": ("i32", "INT", {}),
    "protobuf INT": ("i32", "BIGINT", {CLASS: EVERYTHING}),
    "protobuf LONG": ("i64", "TIMESTAMP(3)", {CLASS: EVERYTHING}),
    "protobuf STRING": ("text", "BYTES", {CLASS: EVERYTHING}),
    "protobuf BYTES": ("data", "STRING", {CLASS: EVERYTHING}),
    "protobuf ENUM": ("named", "DOUBLE", {CLASS: EVERYTHING}),
    "protobuf message": ("pair", "STRING", {CLASS: EVERYTHING}),
    "protobuf map": ("by_text", "ARRAY<STRING>", {CLASS: EVERYTHING}),
    "protobuf map value": ("by_text", "MAP<STRING, INT>", {CLASS: EVERYTHING}),
    "protobuf array": ("numbers", "INT", {CLASS: EVERYTHING}),
    "protobuf array element": ("numbers", "ARRAY<BIGINT>", {CLASS: EVERYTHING}),
    "protobuf array of messages": ("pairs", "ARRAY<INT>", {CLASS: EVERYTHING}),
    "protobuf array of rows": ("pairs", "ARRAY<ROW<zz INT>>", {CLASS: EVERYTHING}),
    "protobuf small": ("named", "TINYINT", {CLASS: EVERYTHING}),
}
