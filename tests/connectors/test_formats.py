"""Every format with every option against the records of real Flink: the bytes that it writes, the rows that it reads, what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from sqlstream.changelog import KIND
from sqlstream.errors import NotSupported, SqlStreamError
from sqlstream.formats import declared, find
from sqlstream.formats.base import Encoded
from sqlstream.formats.json import Json
from sqlstream.options import check
from tests.connectors.format_cases import COLUMNS, FILES, HERE, MALFORMED, REFUSED, WRITTEN, fields, rows
from tests.connectors.format_recorder import text


@cache
def recorded():
    return json.loads((HERE / "formats.json").read_text())


@pytest.fixture(scope="module")
def source(spark):
    """The rows of all cases, +I."""
    frame = spark.createDataFrame(list(enumerate(rows())), "_at INT, value STRING").coalesce(1)
    read = Json().decode(Encoded(frame, "value", "''"), fields(COLUMNS), {})
    return read.selectExpr("*", f"CAST(0 AS TINYINT) AS {KIND}").persist()


def bytes_of(record):
    """The bytes of a record as ``text`` shows it."""
    if record is None:
        return None
    return bytes.fromhex(record[2:]) if record.startswith("0x") else record.encode()


def read(spark, format_, columns, options, records):
    """(place, row) of what the records hold, rows as json; the message of what they fail with."""
    frame = spark.createDataFrame([(i, None if r is None else bytearray(r)) for i, r in enumerate(records)], "_at INT, value BINARY").coalesce(1)
    decoded = find(format_).decode(Encoded(frame, "value", "'here'"), fields(columns), options)
    shown = Json().encode(fields(columns), {}).alias("row")
    kinds = [KIND] if find(format_).mode.carries_kinds else []
    found = []
    for row in decoded.select("_at", shown, *kinds).collect():
        line = json.loads(row["row"], parse_float=str)
        found.append([row["_at"], line | {"_op": "d" if row[KIND] in (1, 3) else "c"} if kinds else line])
    return found


@pytest.mark.spark
@pytest.mark.parametrize("format_", ["json", "debezium-json", "csv", "raw", "avro"])
def test_written_bytes(source, format_):
    cases = {name: case for name, case in WRITTEN.items() if case.format == format_}
    encoded = [find(format_).encode(fields(c.columns), c.options).cast("BINARY").alias(name) for name, c in cases.items()]
    found = source.select("_at", *encoded).sort("_at").collect()
    for name in cases:
        wanted = recorded()["written"][name]["records"]
        # Flink's writer of Avro's JSON sets a line break before each record but the first.
        wanted = [r and text(bytes_of(r).lstrip(b"\n")) for r in wanted] if name.startswith("avro json") else wanted
        assert [None if row[name] is None else text(bytes(row[name])) for row in found] == wanted, name


@pytest.mark.spark
@pytest.mark.parametrize("name", WRITTEN)
def test_read_rows(spark, name):
    case = WRITTEN[name]
    record = recorded()["written"][name]
    options = case.options | ({"ignore-parse-errors": "true"} if case.format == "csv" else {})
    if isinstance(record["rows"], str):
        pytest.skip(f"Flink can't read it: {record['rows']}")
    assert read(spark, case.format, case.columns, options, map(bytes_of, record["records"])) == record["rows"]
