"""The schemas that the avro format derives, and what it has to say of columns. Its bytes are checked in test_formats."""

from __future__ import annotations

import json

from sqlstream.connectors import find_connector as connector
from sqlstream.formats.avro import Avro
from sqlstream.sql import types as T


def test_schema_of_nested_rows():
    item = T.row(("x",), (T.timestamp(3),)).not_null()
    columns = (("i", T.INT.not_null()), ("r", item), ("l", T.array(item)), ("m", T.map_of(T.STRING, T.INT.not_null()).not_null()))
    schema = json.loads(Avro().schema(columns, {"timestamp_mapping.legacy": "false"}))
    assert (schema["namespace"], schema["name"]) == ("org.apache.flink.avro.generated", "record")
    i, r, items, m = schema["fields"]
    assert i == {"name": "i", "type": "int"}
    local, legacy = ({"type": "long", "logicalType": t} for t in ("local-timestamp-millis", "timestamp-millis"))
    x = {"name": "x", "type": ["null", local], "default": None}
    assert r["type"] == {"type": "record", "name": "record_r", "namespace": "org.apache.flink.avro.generated", "fields": [x]}
    assert items["default"] is None
    # As in Flink, what stands in a collection has the legacy mapping.
    assert items["type"][1]["items"]["fields"] == [x | {"type": ["null", legacy]}]
    assert m["type"] == {"type": "map", "values": "int"}


def test_multiset_counts_can_be_null():
    (field,) = json.loads(Avro().schema((("m", T.multiset(T.STRING)),), {}))["fields"]
    assert field["type"] == ["null", {"type": "map", "values": ["null", "int"]}]


def test_notices(make_table):
    columns = [("t", T.timestamp(6)), ("u", T.timestamp(3)), ("a", T.INT)]
    options = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "x", "avro.timestamp_mapping.legacy": "false"}
    table = make_table(columns, {**options, "format": "avro"})
    assert [n for n in connector("kafka").check(table) if "Column" in n] == [
        "Column 't': as Flink's, avro's times are kept to the millisecond; further digits are cut off."
    ]
    table = make_table([("t", T.timestamp(9)), ("u", T.timestamp(6))], {"connector": "filesystem", "path": "x", "format": "json"})
    assert connector("filesystem").check(table) == ["Column 't': times are kept to the microsecond; further digits are cut off."]
