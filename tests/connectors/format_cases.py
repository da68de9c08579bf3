"""Tables written and read in every format with every option: what ``format_recorder`` asks real Flink for, and ``test_formats`` sqlstream.

The rows come from ``recorded/rows.json``, which both read as json.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax.data_types import flink_type
from tests.connectors import protobuf_cases

HERE = Path(__file__).parent / "recorded"
COLUMNS = {
    "n": "INT NOT NULL", "bo": "BOOLEAN", "ti": "TINYINT", "si": "SMALLINT", "i": "INT", "bi": "BIGINT", "de": "DECIMAL(10, 3)",
    "dz": "DECIMAL(20, 0)", "dl": "DECIMAL(38, 18)", "f": "FLOAT", "d": "DOUBLE", "c": "CHAR(3)", "v": "VARCHAR(10)", "s": "STRING",
    "by": "BYTES", "bn": "BINARY(3)", "da": "DATE", "t": "TIME", "t3": "TIME(3)", "ts0": "TIMESTAMP(0)", "ts3": "TIMESTAMP(3)",
    "ts6": "TIMESTAMP(6)", "ts9": "TIMESTAMP(9)", "l0": "TIMESTAMP_LTZ(0)", "l3": "TIMESTAMP_LTZ(3)", "l6": "TIMESTAMP_LTZ(6)",
    "l9": "TIMESTAMP_LTZ(9)", "a": "ARRAY<INT>", "ax": "ARRAY<STRING>", "at": "ARRAY<TIMESTAMP(3)>", "al": "ARRAY<TIMESTAMP_LTZ(3)>",
    "ab": "ARRAY<BYTES>", "ad": "ARRAY<DECIMAL(10, 3)>", "af": "ARRAY<DOUBLE>", "m": "MAP<STRING, INT>",
    "mr": "MAP<STRING, ROW<x DECIMAL(10, 3), y STRING>>", "ms": "MULTISET<STRING>", "r": "ROW<x INT, y STRING>",
    "rd": "ROW<x DECIMAL(10, 3), y BYTES, z TIMESTAMP(3), w BOOLEAN, v DOUBLE>",
    "rr": "ROW<x ROW<y TIMESTAMP(3), z ARRAY<ROW<w BYTES>>>, q DATE NOT NULL>",
}  # fmt: skip
ALL = tuple(COLUMNS)
NESTED = ("ms", "m", "mr", "rr")
# Flink can't read the NaN that it writes in Avro's JSON; a FLOAT has more digits there here.
FLOATING = ("f", "d", "af", "rd")
# What the mappings of avro have no form for: the legacy one, which also holds in arrays, and the other.
NO_LEGACY = ("ts6", "ts9", "l0", "l3", "l6", "l9", "al")
NO_NEW = ("ts9", "l9", "al")


def without(*names: str) -> tuple[str, ...]:
    return tuple(c for c in ALL if c not in names)


@dataclass(frozen=True)
class Written:
    """A table that takes ``columns`` of the rows."""

    format: str
    columns: tuple[str, ...] = ALL
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Read:
    """Records that are read together, with errors ``ignored`` if an option is named, and ``bad`` ones, each of which fails without it."""

    format: str
    columns: dict[str, str]
    records: tuple[bytes, ...]
    bad: tuple[bytes, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    ignored: str | None = None

    @property
    def together(self) -> tuple[bytes, ...]:
        return (*self.records, *self.bad) if self.ignored else self.records

    @property
    def lenient(self) -> dict[str, str]:
        return self.options | ({self.ignored: "true"} if self.ignored else {})


def type_of(text: str) -> Any:
    """A type as a column's definition writes it."""
    return flink_type(parse(f"CREATE TABLE t (c {text})").args["columns"][0].args["kind"])


def fields(columns: Any) -> tuple[tuple[str, Any], ...]:
    """``columns``, names of COLUMNS or names and types, as a format takes them."""
    pairs = columns.items() if isinstance(columns, dict) else ((c, COLUMNS[c]) for c in columns)
    return tuple((n, type_of(t)) for n, t in pairs)


def rows() -> list[str]:
    # No splitlines(): it also ends a line where U+2028 is.
    return [json.dumps(json.loads(line)) for line in (HERE / "rows.json").read_text().split("\n")[:-1]]


ISO = {"timestamp-format.standard": "ISO-8601"}
CSV = without(*NESTED)
WRITTEN = {
    "json": Written("json"),
    "json iso": Written("json", options=ISO),
    "json plain": Written("json", options={"encode.decimal-as-plain-number": "true"}),
    "json no nulls": Written("json", options={"encode.ignore-null-fields": "true", "decode.json-parser.enabled": "false"}),
    "json null keys": Written("json", ("m", "mr"), {"map-null-key.mode": "LITERAL", "map-null-key.literal": "none"}),
    "debezium": Written("debezium-json"),
    "debezium iso": Written("debezium-json", options=ISO | {"encode.decimal-as-plain-number": "true"}),
    "debezium no nulls": Written("debezium-json", options={"encode.ignore-null-fields": "true", "map-null-key.mode": "DROP"}),
    "csv": Written("csv", CSV),
    "csv delimiter": Written("csv", CSV, {"field-delimiter": "|", "array-element-delimiter": ","}),
    "csv tab": Written("csv", CSV, {"field-delimiter": "\\t", "array-element-delimiter": "/"}),
    "csv no quotes": Written("csv", without(*NESTED, "s", "ax"), {"disable-quote-character": "true", "field-delimiter": ";",
                                                                 "array-element-delimiter": "/"}),
    "csv quote": Written("csv", CSV, {"quote-character": "'"}),
    "csv escape": Written("csv", CSV, {"escape-character": "\\"}),
    "csv null": Written("csv", CSV, {"null-literal": "n/a", "write-bigdecimal-in-scientific-notation": "false"}),
    "csv scientific": Written("csv", ("n", "de", "dz", "dl", "ad"), {"write-bigdecimal-in-scientific-notation": "true"}),
    "csv plain": Written("csv", ("n", "de", "dz", "dl", "ad"), {"write-bigdecimal-in-scientific-notation": "false"}),
    **{f"raw {c}": Written("raw", (c,)) for c in ("bo", "ti", "si", "i", "bi", "f", "d", "c", "s", "by", "bn")},
    **{f"raw little {c}": Written("raw", (c,), {"endianness": "little-endian"}) for c in ("bo", "ti", "si", "i", "bi", "f", "d", "s")},
    **{f"raw {c}": Written("raw", ("s",), {"charset": c}) for c in ("UTF-16", "UTF-16LE", "ISO-8859-1", "US-ASCII", "GBK", "windows-1252")},
    "avro": Written("avro", without(*NO_LEGACY)),
    "avro new": Written("avro", without(*NO_NEW), {"timestamp_mapping.legacy": "false"}),
    "avro json": Written("avro", without(*NO_LEGACY, *FLOATING), {"encoding": "json"}),
    "avro json new": Written("avro", without(*NO_NEW, *FLOATING), {"encoding": "json", "timestamp_mapping.legacy": "false"}),
    **{name: Written("protobuf", *case) for name, case in protobuf_cases.WRITTEN.items()},
}  # fmt: skip

# Of files: csv is written by other rules than a record of it.
FILES = {
    **{name: case for name, case in WRITTEN.items() if case.format == "csv"},
    "avro": Written("avro", without(*NO_LEGACY)),
    "avro new": Written("avro", without(*NO_NEW, "ts6", "l0", "l3", "l6"), {"timestamp_mapping.legacy": "false", "codec": "null"}),
    **{f"avro {codec}": Written("avro", ("n", "s"), {"codec": codec}) for codec in ("deflate", "bzip2")},
}  # fmt: skip

# Column types that a format refuses, with its options, and the column's name where it matters.
REFUSED: dict[str, tuple[str, str, dict[str, str], str]] = {
    "avro LTZ": ("avro", "TIMESTAMP_LTZ(3)", {}, "x"),
    "avro micros": ("avro", "TIMESTAMP(6)", {}, "x"),
    "avro time": ("avro", "TIME(6)", {}, "x"),
    "avro map": ("avro", "MAP<INT, INT>", {}, "x"),
    "avro new LTZ in array": ("avro", "ARRAY<TIMESTAMP_LTZ(3)>", {"timestamp_mapping.legacy": "false"}, "x"),
    "avro new micros in array": ("avro", "ARRAY<TIMESTAMP(6)>", {"timestamp_mapping.legacy": "false"}, "x"),
    "avro new LTZ in row": ("avro", "ROW<x TIMESTAMP_LTZ(3)>", {"timestamp_mapping.legacy": "false"}, "x"),
    "avro new nanos": ("avro", "TIMESTAMP(9)", {"timestamp_mapping.legacy": "false"}, "x"),
    "avro name": ("avro", "ROW<`a b` INT>", {}, "x"),
    "avro encoding": ("avro", "INT", {"encoding": "xml"}, "x"),
    "json map": ("json", "MAP<INT, INT>", {}, "x"),
    "json both": ("json", "INT", {"fail-on-missing-field": "true", "ignore-parse-errors": "true"}, "x"),
    "csv map": ("csv", "MAP<STRING, INT>", {}, "x"),
    "csv nested": ("csv", "ROW<x ROW<y INT>>", {}, "x"),
    "csv array of rows": ("csv", "ARRAY<ROW<y INT>>", {}, "x"),
    "csv delimiter": ("csv", "INT", {"field-delimiter": "ab"}, "x"),
    "csv elements": ("csv", "ARRAY<INT>", {"array-element-delimiter": "||"}, "x"),
    "csv quotes": ("csv", "INT", {"disable-quote-character": "true", "quote-character": "'"}, "x"),
    "raw type": ("raw", "DECIMAL(10, 3)", {}, "x"),
    "raw charset": ("raw", "STRING", {"charset": "x"}, "x"),
    "raw endianness": ("raw", "INT", {"endianness": "x"}, "x"),
    "debezium schema": ("debezium-json", "INT", {"schema-include": "true"}, "x"),
    **{name: ("protobuf", type_, options, column) for name, (column, type_, options) in protobuf_cases.REFUSED.items()},
}

_ROW = {"i": "INT", "s": "STRING", "r": "ROW<x INT, y STRING>", "a": "ARRAY<INT>", "m": "MAP<STRING, INT>", "t": "TIMESTAMP(3)"}
_GOOD = b'{"i":1,"s":"x","r":{"x":1,"y":"z"},"a":[1],"m":{"k":1},"t":"2020-01-02 03:04:05"}'
_NUMBERS = {"s": "STRING", "i": "INT", "bi": "BIGINT", "d": "DOUBLE", "f": "FLOAT", "bo": "BOOLEAN", "by": "BYTES", "r": "ROW<s STRING, i INT>"}
_SMALL = {"i": "INT", "s": "STRING"}
_SCHEMA = b'{"schema":{"type":"struct"},"payload":%s}'
_IGNORE = "ignore-parse-errors"
# Flink reads JSON in two ways, which differ in numbers.
_TREE = {"decode.json-parser.enabled": "false"}
_TOKENS = (
    b'{"s":1.50}',
    b'{"s":1e3}',
    b'{"s":-0.0}',
    b'{"s":1e400}',
    b'{"s":123456789012345678901234567890}',
    b'{"s":0.1000}',
    b'{"s":1E-7}',
    b'{"s":12345678901234567.25}',
    b'{"s":{"b":[1.50,-0.0,1e3,1e400,12345678901234567890], "b": true}}',
    b'{"s":[{"a":1},{"a":1,"a":2}]}',
    b'{"s":true}',
    b'{"s":-0}',
    b'{"s":100.0}',
    b'{"r":{"s":1.50,"i":1.50}}',
    b'{"d":-0.0}',
    b'{"d":1e400}',
    b'{"d":"1e2"}',
    b'{"d":true}',
    b'{"d":12345678901234567890}',
    b'{"f":1e300}',
    b'{"f":-0.0}',
    b'{"f":0.1}',
    b'{"f":16777217}',
    b'{"i":1e2}',
    b'{"i":2147483647.5}',
    b'{"i":2147483648}',
    b'{"i":-0.0}',
    b'{"i":1e400}',
    b'{"i":true}',
    b'{"i":" 1 "}',
    b'{"i":""}',
    b'{"i":"1.0"}',
    b'{"i":[1]}',
    b'{"i":{}}',
    b'{"bi":1e18}',
    b'{"bi":9.3e18}',
    b'{"bi":9223372036854775808}',
    b'{"bi":9223372036854775807}',
    b'{"bi":1.9}',
    b'{"bo":1}',
    b'{"bo":"TRUE"}',
    b'{"bo":[]}',
    b'{"bo":0.0}',
    b'{"by":"!!"}',
    b'{"by":5}',
    b'{"by":"AAE="}',
    b'{"by":"AAE"}',
    b'{"i":1,"i":2}',
    b'{"r":{"i":1},"r":{"s":"x"}}',
)
_BROKEN = (
    b'{"i":1}}',
    b'{"i":1}{"i":2}',
    b'{"i":1,}',
    b"{'i':1}",
    b"{i:1}",
    b'{"i":01}',
    b'{"d":NaN}',
    b'{"d":.5}',
    b'{"i":+1}',
    b'{"s":"a\nb"}',
    b'{"s":"a\tb\x01"}',
    b'{"s":"\\x"}',
    b'{"i":1 /* x */}',
    b"[1]",
    b"5",
    b'"x"',
    b'[5,{"i":1}]',
    b"[null]",
    b'[{"i":1}',
    b'[{"i":1},[]]',
    b" ",
    b"true",
    b'\xef\xbb\xbf{"i":1}',
    b'{"i":1,"s":"\xff"}',
    b'{"i":tru}',
    b'{"i"',
    b'{"s":"x',
    b'{"r":{"i":1}',
    b'{"r":[]}',
    b'{"r":"{}"}',
)
# Each also alone, where errors fail.
_ALONE = (
    b'{"i":1}}',
    b'{"i":1,}',
    b'[5,{"i":1}]',
    b"[null]",
    b"[]",
    b"null",
    b"",
    b'{"s":"a\nb"}',
    b'{"i":""}',
    b'{"bo":[]}',
    b'{"d":1e400}',
    b'{"i":2147483648}',
    b'{"s":"\xff"}',
)
READ = {
    "json": Read("json", _ROW, (
        _GOOD, b"{}", b"[]", b'[{"i":1},{"i":2}]', b'{"s":{"b":[1, 2.50]}}', b'{"i":1} x', b'{"i":1.9}', b'{"i":1', b"", b"null", b'{"r":1}',
        b'{"r":{"x":"q","y":5}}', b'{"a":["x",1]}', b'{"m":{"k":"x"}}', b'{"i":\xff}', b'{"s":"\xff"}', b'{"i":1e400}', b'{"i":3000000000}',
    ), (b'{"i":"x"}', b'{"t":"2020-01-02T03:04:05"}'), {}, _IGNORE),
    "json tokens": Read("json", _NUMBERS, (*_TOKENS, *_BROKEN), _ALONE, {}, _IGNORE),
    "json tree": Read("json", _NUMBERS, (*_TOKENS, *_BROKEN), _ALONE, _TREE, _IGNORE),
    "json tree decimals": Read("json", _NUMBERS | {"de": "DECIMAL(38, 18)"}, (
        *_TOKENS, b'{"de":1.50}', b'{"de":12345678901234567.250000000000000001}', b'{"de":1e3}', b'{"de":"1e3"}', b'{"de":true}', b'{"de":1e400}',
    ), (), _TREE, _IGNORE),
    "json tokens decimals": Read("json", {"de": "DECIMAL(38, 18)", "d2": "DECIMAL(4, 2)"}, (
        b'{"de":1.50}', b'{"de":12345678901234567.250000000000000001}', b'{"de":1e3}', b'{"de":"1e3"}', b'{"de":true}', b'{"de":1e400}',
        b'{"d2":1.005}', b'{"d2":99.995}', b'{"d2":" 1 "}', b'{"d2":[]}', b'{"d2":NaN}',
    ), (), {}, _IGNORE),
    "json iso": Read("json", {"t": "TIMESTAMP(3)", "l": "TIMESTAMP_LTZ(3)", "u": "TIME(3)"}, (
        b'{"t":"2020-01-02T03:04:05.1","l":"2020-01-02T03:04:05Z","u":"03:04:05.5"}', b'{"t":"2020-01-02T03:04"}', b'{"l":"2020-01-02T03:04:05"}',
        b'{"l":"2020-01-02T03:04:05+01:00"}', b'{"u":"03:04"}', b'{"t":"2020-01-02T03:04:05Z"}', b'{"t":"2020-01-02T03:04:05.1234567899"}',
    ), (b'{"t":"2020-01-02 03:04:05"}',), ISO, _IGNORE),
    "json times": Read("json", {"t": "TIMESTAMP(3)", "l": "TIMESTAMP_LTZ(3)", "u": "TIME(3)", "da": "DATE"}, (
        b'{"t":"2020-02-30 00:00:00"}', b'{"t":"2020-02-29 24:00:00"}', b'{"t":"2020-02-29 23:59:60"}', b'{"t":" 2020-02-29 23:59:59"}',
        b'{"t":"2020-02-29 23:59:59."}', b'{"t":"2020-02-29"}', b'{"t":"12020-02-29 00:00:00"}', b'{"t":"+12020-02-29 00:00:00"}', b'{"t":1}',
        b'{"t":"0000-01-01 00:00:00"}', b'{"t":"-001-01-01 00:00:00"}', b'{"t":""}', b'{"l":"2020-02-29 23:59:59.5Z"}', b'{"l":"2020-02-29 23:59:59"}',
        b'{"l":"2020-02-29 23:59:59z"}', b'{"l":1582934400}', b'{"u":"24:00:00"}', b'{"u":"1:02:03"}', b'{"u":"01:02"}', b'{"u":"01:02:03.1234"}',
        b'{"da":"2020-2-3"}', b'{"da":"2021-02-29"}', b'{"da":18000}', b'{"da":"2020-02-03 00:00:00"}', b'{"da":"2020-02-03T00:00:00"}',
    ), (), {}, _IGNORE),
    "json missing": Read("json", _ROW, (_GOOD,), (b'{"i":1}', b'{"i":1,"s":"x","r":{"x":1},"a":[1],"m":{"k":1},"t":null}'),
                         {"fail-on-missing-field": "true"}),
    "csv": Read("csv", {"i": "INT", "s": "STRING", "de": "DECIMAL(5, 2)", "a": "ARRAY<INT>", "r": "ROW<x INT, y STRING>"}, (
        b"1,x,1.5,1;2,1;z", b"1,x", b'1,"x', b'1,"x,1.5,,', b"1,x,y,1,1", b"1,x,1,a;2,b;z", b"1,x,1,1,1", b"", b"#1,x,1.5,1;2,1;z",
        b" 1 , x ,1,,", b'1,a"b,1,,', b'1,"a""b",1,,', b"1,,,,", b"1,x,1.5,1;2,1;z\n2,y,1,1,1",
    ), (b"x,x,1.5,1;2,1;z", b"1,x,1.5,1,1;z,more", b"1,x", b"", b'1,"x,1.5,,', b"1,x,1.5,1;b,1;z", b"1,x,123456,,", b",x,1,,", b"1,x,1.5,1,1;z,",
        b'1,"x"y,1,,', b"1,x,1.5,1;2,1;z\n2,y,1,1,1", b"1,x,1.5,1;2,1"), {}, _IGNORE),
    "csv values": Read("csv", {"bo": "BOOLEAN", "ti": "TINYINT", "d": "DOUBLE", "by": "BYTES", "da": "DATE", "u": "TIME", "t": "TIMESTAMP(3)",
                               "l": "TIMESTAMP_LTZ(3)"}, (
        b"x,1,1,AA==,2020-01-02,01:02:03,2020-01-02 01:02:03,2020-01-02 01:02:03Z", b"TRUE,300,1e400,A,2020-1-2,1:2:3,2020-01-02T01:02:03,2020-01-02 01:02:03",
        b" true ,1.0,NaN,AAE,2020-01-02 ,01:02,2020-01-02,2020-01-02 01:02:03.5Z", b"1,+1,0x10,!!, 2020-01-02,24:00:00,2020-02-30 01:02:03,x",
        b",,,,,,,", b"1, 1 , 1.5 ,,20200102,01:02:03.5,2020-01-02 01:02:03.123456,2020-01-02 01:02:03+01:00", b'"true","1","1",,,,,',
    ), (), {}, _IGNORE),
    "csv quotes": Read("csv", _SMALL, (
        b'1,"a,b"', b'1,"a""b"', b'1,"a"b', b'1,a"', b'1,"a" ', b'1, "a"', b'"1","a"', b"1,'a'", b'1,""', b'1,"""', b'1,"a\nb"', b"1,a\r", b'"1"', b"1;a",
        b"1,\xff", b'1,"\xff"', b"1,a,", b"1,a, ", b"\n1,a", b"  ", b"1,a\n", b"1,a\n\n",
    ), (), {}, _IGNORE),
    "csv no quotes": Read("csv", _SMALL, (b'1,"a"', b'1,"a,b"', b'"1",a', b'1,a"b'), (), {"disable-quote-character": "true"}, _IGNORE),
    "csv comments": Read("csv", {"i": "INT", "s": "STRING"}, (b"#1,x", b" #1,x", b"1,#x", b"2,y"), (), {"allow-comments": "true"}, _IGNORE),
    "csv null": Read("csv", {"i": "INT", "s": "STRING", "a": "ARRAY<STRING>"}, (b"n,n,n", b"1,,n;x", b"1,n ,"), (), {"null-literal": "n"}),
    "csv escape": Read("csv", {"i": "INT", "s": "STRING"}, (b"1,a\\,b", b"1,a\\\\b", b'1,"a\\"b"', b"1,a\\nb"), (), {"escape-character": "\\"}),
    "debezium": Read("debezium-json", {"i": "INT", "s": "STRING"}, (
        b'{"before":null,"after":{"i":1,"s":"x"},"op":"c"}', b'{"before":{"i":1,"s":"x"},"after":{"i":1,"s":"y"},"op":"u"}',
        b'{"before":{"i":1,"s":"y"},"after":null,"op":"d"}', b'{"before":null,"after":{"i":2},"op":"r"}', b'{"op":"c"}', b"{}", b"",
        b'{"before":null,"after":{"i":1},"op":"u"}', b'{"after":{"i":1}}', b'{"before":null,"after":{"i":"x"},"op":"c"}', b"[]", b"x",
        b'{"before":{"i":1},"op":"u"}', b'{"before":{"i":1},"after":{"s":1.50},"op":"u"}', b'{"after":{"i":1,"s":1.50},"op":"c"}', b"null", b"5",
        b'{"before":null,"after":null,"op":"c"}', b'{"before":null,"after":null,"op":"d"}', b'{"before":5,"after":{"i":1},"op":"c"}',
        b'{"after":{"i":1},"op":"c"} x', b'{"after":{"i":1},"op":"c","op":"x"}', b'{"after":[{"i":1}],"op":"c"}', b'{"after":{"i":1},"op":5}', b" ",
        b'[{"after":{"i":1},"op":"c"}]', b'{"after":{"i":1},"op":"t"}', b'{"after":{"i":1},"op":"C"}', b'{"after":{"i":1},"op":null}',
    ), (b'{"op":"x"}', b"", b"null", b'{"after":{"i":1},"op":"c"} x', b'{"op":"c"}', b'[{"after":{"i":1},"op":"c"}]', b'{"after":{"i":"x"},"op":"c"}'),
        {}, _IGNORE),
    **{f"{name} values": Read(f"{name}-json", {"i": "INT", "s": "STRING", "d": "DECIMAL(10, 2)", "t": "TIMESTAMP(3)"}, records, bad, options, _IGNORE)
       for name, records, bad, options in (
        ("debezium", (b'{"after":{"i":1,"s":1.50,"d":"1.50","t":"2020-01-02T03:04:05"},"op":"c"}', b'{"after":{"t":"2020-01-02 03:04:05"},"op":"c"}',
                      b'{"after":{"s":-0.0,"d":1e2},"op":"c"}'), (), ISO),
        ("canal", (
            b'{"data":[{"i":"1","s":1.50,"d":"1.50"}],"type":"INSERT"}', b'{"data":[],"type":"INSERT"}', b'{"data":null,"type":"INSERT"}', b'{"type":"INSERT"}',
            b'{"data":{"i":1},"type":"INSERT"}', b'{"data":[{"i":1}],"type":"insert"}', b'{"data":[{"i":1}]}', b"{}", b"", b"x", b"null", b"[]",
            b'{"data":[{"i":2}],"old":null,"type":"UPDATE"}', b'{"data":[{"i":2}],"type":"UPDATE"}', b'{"data":[{"i":2}],"old":[{}],"type":"UPDATE"}',
            b'{"data":[{"i":2,"s":"x"}],"old":[{"i":1}],"type":"UPDATE"}', b'{"data":[{"i":2},{"i":3}],"old":[{"i":1}],"type":"UPDATE"}',
            b'{"data":[{"i":2}],"old":[{"i":1},{"i":3}],"type":"UPDATE"}', b'{"data":null,"type":"CREATE"}', b'{"data":null,"type":"ALTER"}',
            b'{"data":[{"i":2}],"type":"DELETE"}', b'{"data":[null],"type":"INSERT"}', b'{"data":[{"i":"x"}],"type":"INSERT"}',
        ), (b'{"data":null,"type":"ALTER"}', b"", b'{"data":[{"i":2}],"old":null,"type":"UPDATE"}', b'{"data":null,"type":"INSERT"}'), {}),
        ("maxwell", (
            b'{"data":{"i":"1","s":1.50,"d":"1.50"},"type":"insert"}', b'{"data":null,"type":"insert"}', b'{"type":"insert"}', b'{"data":{"i":1},"type":"INSERT"}',
            b'{"data":{"i":1}}', b"{}", b"", b"x", b"null", b"[]", b'{"data":{"i":2},"old":null,"type":"update"}', b'{"data":{"i":2},"type":"update"}',
            b'{"data":{"i":2,"s":"x"},"old":{"i":1},"type":"update"}', b'{"data":{"i":2},"old":{},"type":"update"}', b'{"data":{"i":2},"type":"delete"}',
            b'{"data":[{"i":2}],"type":"insert"}', b'{"type":"table-create"}', b'{"data":{"i":1},"type":"bootstrap-insert"}', b'{"data":{"i":"x"},"type":"insert"}',
        ), (b'{"type":"table-create"}', b"", b'{"data":{"i":2},"old":null,"type":"update"}', b'{"data":null,"type":"insert"}'), {}),
        ("ogg", (
            b'{"after":{"i":"1","s":1.50,"d":"1.50"},"op_type":"I"}', b'{"after":null,"op_type":"I"}', b'{"op_type":"I"}', b'{"after":{"i":1},"op_type":"i"}',
            b'{"after":{"i":1}}', b"{}", b"", b"x", b"null", b"[]", b'{"after":{"i":2},"op_type":"U"}', b'{"before":{"i":1},"op_type":"U"}',
            b'{"before":{"i":1},"after":{"i":2},"op_type":"U"}', b'{"before":{"i":1},"op_type":"D"}', b'{"before":{"i":1},"op_type":"T"}',
            b'{"after":{"i":"x"},"op_type":"I"}',
        ), (b'{"op_type":"T"}', b"", b'{"after":{"i":2},"op_type":"U"}', b'{"after":null,"op_type":"I"}'), {}),
    )},
    "debezium schema": Read("debezium-json", {"i": "INT", "s": "STRING"}, (
        _SCHEMA % b'{"before":null,"after":{"i":1,"s":"x"},"op":"c"}', _SCHEMA % b'{"before":{"i":1},"after":{"i":2},"op":"u"}',
    ), (b'{"before":null,"after":{"i":1,"s":"x"},"op":"c"}',), {"schema-include": "true"}),
    "raw int": Read("raw", {"i": "INT"}, (b"\0\0\0\1",), (b"\0\1",)),
    "raw double": Read("raw", {"d": "DOUBLE"}, (b"\x3f\xf0\0\0\0\0\0\0",), (b"\0\1",)),
    "raw boolean": Read("raw", {"b": "BOOLEAN"}, (b"\0", b"\1", b"\2", b"\xff"), (b"01",)),
    "raw string": Read("raw", {"s": "STRING"}, (b"", b"\xff\xfe", b"a\0b")),
    "avro": Read("avro", {"i": "INT", "s": "STRING"}, (b"\x02\x02\x02\x02x", b"\0\0"), (b"\x04\0", b"\x02", b"", b"\x02\x02\x02\x04x")),
    "avro json": Read("avro", {"i": "INT", "s": "STRING"}, (
        b'{"i":{"int":1},"s":{"string":"x"}}', b'{"i":null,"s":null}', b'{"s":null,"i":null}', b'{"i":null,"s":null,"z":1}',
    ), (b'{"i":1,"s":null}', b'{"i":null}', b"", b"x", b'{"i":{"int":"x"},"s":null}'), {"encoding": "json"}),
    **{name: Read("protobuf", *case, _IGNORE) for name, case in protobuf_cases.READ.items()},
}  # fmt: skip
