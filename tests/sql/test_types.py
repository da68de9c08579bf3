"""Every type of Flink, as columns and casts name it."""

from __future__ import annotations

import pytest
from sqlglot import exp

from sqlstream.core.errors import NotSupported, SyntaxProblem
from sqlstream.sql import types as t
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax.data_types import data_type, flink_type
from sqlstream.sql.syntax.type_syntax import type_sql
from sqlstream.sql.types import Type

from .conftest import placed


def column(text: str) -> Type:
    definition = parse(f"CREATE TABLE t (c {text})").args["columns"][0]
    return flink_type(definition.args["kind"])


TYPES = {
    "BOOLEAN": t.BOOLEAN, "TINYINT": t.TINYINT, "SMALLINT": t.SMALLINT, "INT": t.INT, "integer": t.INT, "BIGINT": t.BIGINT,
    "FLOAT": t.FLOAT, "DOUBLE": t.DOUBLE, "DOUBLE PRECISION": t.DOUBLE, "DATE": t.DATE, "STRING": t.STRING, "VARCHAR": t.STRING,
    "VARCHAR(5)": t.varchar(5), "CHARACTER VARYING(5)": t.varchar(5), "VARCHAR(5) CHARACTER SET UTF8": t.varchar(5),
    "CHAR(3) CHARACTER SET `UTF-16LE`": t.char(3), "CHAR": t.char(1), "CHARACTER(3)": t.char(3), "BYTES": t.BYTES,
    "BINARY": Type("BINARY", (1,)), "BINARY(3)": Type("BINARY", (3,)), "VARBINARY(3)": Type("VARBINARY", (3,)), "VARBINARY": t.BYTES,
    "BINARY VARYING(3)": Type("VARBINARY", (3,)), "DECIMAL": t.decimal(10, 0), "DEC(5)": t.decimal(5, 0), "NUMERIC(38, 38)": t.decimal(38, 38),
    "TIME": t.time(0), "TIME(3) WITHOUT TIME ZONE": t.time(3), "TIMESTAMP": t.timestamp(6), "TIMESTAMP(0)": t.timestamp(0),
    "TIMESTAMP(9) WITHOUT TIME ZONE": t.timestamp(9), "TIMESTAMP(3) WITH LOCAL TIME ZONE": t.timestamp_ltz(3),
    "TIMESTAMP_LTZ": t.timestamp_ltz(6), "TIMESTAMP_LTZ(3)": t.timestamp_ltz(3), "VARIANT": t.VARIANT,
    "INT NOT NULL": t.INT.not_null(), "INT NULL": t.INT, "ARRAY<INT>": t.array(t.INT), "INT ARRAY": t.array(t.INT),
    "INT NOT NULL ARRAY NOT NULL": t.array(t.INT.not_null()).not_null(), "INT ARRAY MULTISET": t.multiset(t.array(t.INT)),
    "MULTISET<STRING>": t.multiset(t.STRING), "MAP<STRING, ARRAY<INT>>": t.map_of(t.STRING, t.array(t.INT)),
    "ROW<a INT, `b c` STRING NOT NULL>": t.row(("a", "b c"), (t.INT, t.STRING.not_null())),
    "ROW(a INT 'said', b ROW<c INT>)": t.row(("a", "b"), (t.INT, t.row(("c",), (t.INT,)))),
    "ARRAY<ROW<a MAP<STRING, ARRAY<INT>>>>": t.array(t.row(("a",), (t.map_of(t.STRING, t.array(t.INT)),))),
}  # fmt: skip


@pytest.mark.parametrize(("text", "type_"), TYPES.items())
def test_types(text: str, type_: Type) -> None:
    assert column(text) == type_


@pytest.mark.parametrize("type_", TYPES.values(), ids=TYPES)
def test_written_types_are_read_again(type_: Type) -> None:
    assert column(type_sql(type_, nested=True)) == type_


@pytest.mark.parametrize("type_", [*TYPES.values(), t.NULL, t.INTERVAL_MONTHS, t.INTERVAL_MILLIS], ids=str)
def test_the_same_type_in_sqlglot(type_: Type) -> None:
    node = data_type(type_)
    assert type(node) is exp.DataType
    assert flink_type(node) == type_
    short = type_sql(type_, nested=True).replace("VARCHAR(2147483647)", "STRING").replace("VARBINARY(2147483647)", "BYTES")
    assert node.copy().sql("flink") == short


def test_comments_of_fields_stay() -> None:
    text = "ROW<`a` INT 'it''s', `b` ROW<`c` INT NOT NULL 'deep'>, `d` INT>"
    type_ = column(text)
    assert (type_.comments, type_.children[1].comments) == (("it's", None, None), ("deep",))
    assert data_type(type_).sql("flink") == text
    assert flink_type(data_type(type_)).comments == type_.comments
    of_a_type = "ROW<`VARCHAR(2147483647)` STRING 'VARBINARY(2147483647)'>"
    assert data_type(column(of_a_type)).sql("flink") == of_a_type


OTHERS = {
    "spark": {
        "ARRAY<STRUCT<a: INT, b: STRING>>": "ARRAY<ROW<`a` INT, `b` STRING>>",
        "DECIMAL(5, 2)": "DECIMAL(5, 2)",
        "TIMESTAMP_NTZ": "TIMESTAMP(6)",
    },
    "postgres": {
        "VARCHAR(3)": "VARCHAR(3)",
        "TIMESTAMP(3)": "TIMESTAMP(3)",
        "TIMESTAMPTZ": "TIMESTAMP_LTZ(6)",
        "BYTEA": "BYTES",
        "INTERVAL DAY": "INTERVAL SECOND(3)",
    },
    "duckdb": {"MAP(TEXT, INT)": "MAP<STRING, INT>", "INT[]": "ARRAY<INT>", "DECIMAL": "DECIMAL(18, 3)"},
}


@pytest.mark.parametrize(("dialect", "text", "flink"), [(d, *pair) for d, pairs in OTHERS.items() for pair in pairs.items()])
def test_types_of_other_dialects(dialect: str, text: str, flink: str) -> None:
    assert str(flink_type(exp.DataType.build(text, dialect=dialect))) == flink


def test_types_that_flink_has_not() -> None:
    with pytest.raises(ValueError, match="Flink has no type UUID"):
        flink_type(exp.DataType.build("UUID"))


@pytest.mark.parametrize("dialect", ["spark", "postgres", "duckdb"])
def test_a_type_that_others_have_not(dialect: str) -> None:
    with pytest.raises(ValueError, match="FlinkTypeName"):
        data_type(t.multiset(t.INT)).sql(dialect)


@pytest.mark.parametrize(("text", "type_"), [(k, v) for k, v in TYPES.items() if "NULL" not in k])
def test_casts(text: str, type_: Type) -> None:
    assert flink_type(parse(f"SELECT CAST(a AS {text})").expressions[0].args["to"]) == type_


INTERVALS = {
    "INTERVAL YEAR": t.INTERVAL_MONTHS, "INTERVAL YEAR(4) TO MONTH": t.INTERVAL_MONTHS, "INTERVAL DAY TO SECOND(3)": t.INTERVAL_MILLIS,
    "INTERVAL HOUR TO MINUTE": t.INTERVAL_MILLIS,
}  # fmt: skip


@pytest.mark.parametrize(("text", "type_"), INTERVALS.items())
def test_casts_to_intervals(text: str, type_: Type) -> None:
    assert flink_type(parse(f"SELECT CAST(a AS {text})").expressions[0].args["to"]) == type_


REFUSED = {
    "§FOO": "FOO", "§DATETIME": "DATETIME", "§REAL": "REAL", "§'x'": "'x'", "INT§(5)": "(", "STRING§(5)": "(", "ARRAY§<>": "<>",
    "MAP<INT§>": ">", "ROW<a§>": ">", "§INTERVAL DAY": "INTERVAL", "DECIMAL(§-1)": "-", "INT§[]": "[", "ARRAY§ INT": "INT",
}  # fmt: skip


@pytest.mark.parametrize(("marked", "shown"), REFUSED.items())
def test_no_types(marked: str, shown: str) -> None:
    text, _ = placed(marked)
    with pytest.raises(SyntaxProblem, match="Encountered") as caught:
        column(text)
    assert f'"{shown}"' in caught.value.message


LIMITS = {
    "CHAR(0)": "Character string length must be between 1 and 2147483647 (both inclusive).",
    "DECIMAL(39)": "Decimal precision must be between 1 and 38 (both inclusive).",
    "DECIMAL(5, 6)": "Decimal scale must be between 0 and the precision 5 (both inclusive).",
    "TIMESTAMP(10)": "Timestamp precision must be between 0 and 9 (both inclusive).",
    "ROW<a INT, a INT>": "Field names must be unique. Found duplicates: [a]",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP WITH TIME ZONE is not supported by Flink; TIMESTAMP_LTZ is.",
}


@pytest.mark.parametrize(("text", "message"), LIMITS.items())
def test_limits(text: str, message: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        column(text)
    assert caught.value.message == message


@pytest.mark.parametrize("text", ["RAW('a', 'b')", "STRUCTURED<'a', b INT>", "BITMAP", "GEOGRAPHY"])
def test_types_that_are_refused_by_name(text: str) -> None:
    with pytest.raises(NotSupported, match=text.split("(")[0].split("<")[0]):
        column(text)
