"""Types and rows as Flink's gateway writes them: recorded from Flink 2.3's."""

from __future__ import annotations

import json

import pytest

from sqlstream.core.changelog import Change, RowKind
from sqlstream.core.errors import NotSupported
from sqlstream.plan.nodes import Field
from sqlstream.server.gateway.wire import RowFormat, column, logical_type, rows_text
from sqlstream.sql import types
from sqlstream.sql.types import BIGINT, BOOLEAN, INT, STRING, Type

TYPES = {
    "INT": (INT, {"type": "INTEGER", "nullable": True}),
    "INT NOT NULL": (INT.not_null(), {"type": "INTEGER", "nullable": False}),
    "STRING": (STRING, {"type": "VARCHAR", "nullable": True, "length": 2147483647}),
    "CHAR(3)": (types.char(3), {"type": "CHAR", "nullable": True, "length": 3}),
    "DECIMAL(10, 2)": (types.decimal(10, 2), {"type": "DECIMAL", "nullable": True, "precision": 10, "scale": 2}),
    "TIME(0)": (types.time(), {"type": "TIME_WITHOUT_TIME_ZONE", "nullable": True, "precision": 0}),
    "TIMESTAMP(3)": (types.timestamp(3), {"type": "TIMESTAMP_WITHOUT_TIME_ZONE", "nullable": True, "precision": 3}),
    "TIMESTAMP_LTZ(3)": (types.timestamp_ltz(3), {"type": "TIMESTAMP_WITH_LOCAL_TIME_ZONE", "nullable": True, "precision": 3}),
    "INTERVAL DAY": (
        types.INTERVAL_MILLIS.not_null(),
        {"type": "INTERVAL_DAY_TIME", "nullable": False, "precision": 2, "fractionalPrecision": 3, "resolution": "SECOND"},
    ),
    "INTERVAL MONTH": (types.INTERVAL_MONTHS, {"type": "INTERVAL_YEAR_MONTH", "nullable": True, "precision": 2, "resolution": "MONTH"}),
    "ARRAY": (types.array(INT.not_null()), {"type": "ARRAY", "nullable": True, "elementType": {"type": "INTEGER", "nullable": False}}),
    "MAP": (
        types.map_of(types.char(1), BIGINT),
        {
            "type": "MAP",
            "nullable": True,
            "keyType": {"type": "CHAR", "nullable": True, "length": 1},
            "valueType": {"type": "BIGINT", "nullable": True},
        },
    ),
    "MULTISET": (types.multiset(BOOLEAN), {"type": "MULTISET", "nullable": True, "elementType": {"type": "BOOLEAN", "nullable": True}}),
    "ROW": (
        types.row(("a", "b"), (INT, types.array(STRING))),
        {
            "type": "ROW",
            "nullable": True,
            "fields": [
                {"name": "a", "fieldType": {"type": "INTEGER", "nullable": True}},
                {
                    "name": "b",
                    "fieldType": {
                        "type": "ARRAY",
                        "nullable": True,
                        "elementType": {"type": "VARCHAR", "nullable": True, "length": 2147483647},
                    },
                },
            ],
        },
    ),
    "NULL": (types.NULL, {"type": "NULL"}),
}


@pytest.mark.parametrize(("type_", "expected"), TYPES.values(), ids=TYPES)
def test_a_type(type_: Type, expected: dict) -> None:
    assert logical_type(type_) == expected


def test_a_column() -> None:
    assert column(Field("größe", INT)) == {"name": "größe", "logicalType": {"type": "INTEGER", "nullable": True}, "comment": None}


COLUMNS = (Field("a", INT), Field("b", STRING), Field("c", BOOLEAN))


def test_rows_of_the_client_are_texts() -> None:
    row = Change(RowKind.UPDATE_AFTER, ("1", 'ä "b"\n', None), ("1", '"ä"', "null"))
    written = json.loads(rows_text(COLUMNS, [row], RowFormat.PLAIN_TEXT))
    assert written == [{"kind": "UPDATE_AFTER", "fields": ["1", 'ä "b"\n', None]}]


def test_rows_as_values() -> None:
    row = Change(RowKind.DELETE, ("1", "x", None), ("1", '"x"', "null"))
    assert json.loads(rows_text(COLUMNS, [row], RowFormat.JSON)) == [{"kind": "DELETE", "fields": [1, "x", None]}]


def test_rows_of_statements_have_texts_alone() -> None:
    row = Change(RowKind.INSERT, (None, "x", "TRUE"))
    assert json.loads(rows_text(COLUMNS, [row], RowFormat.JSON)) == [{"kind": "INSERT", "fields": [None, "x", True]}]


def test_what_json_has_no_form_for_is_refused_by_name() -> None:
    row = Change(RowKind.INSERT, ("1", "x", None), ("1", None, "null"))
    with pytest.raises(NotSupported, match="Column 'b' of type STRING can't be written as JSON"):
        rows_text(COLUMNS, [row], RowFormat.JSON)
    assert rows_text(COLUMNS, [row], RowFormat.PLAIN_TEXT)
