"""proto-registry: a real broker, Confluent's own serializers, and a registry behind the documented interface."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

from sqlstream.connectors import find_connector
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.formats import protobuf_files, protobuf_schema
from sqlstream.sql import types as T
from tests.connectors.test_registry import failure, records, send
from tests.support.registry import registry

if TYPE_CHECKING:
    from collections.abc import Callable

SHOP = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Other { int32 n = 1; message Inner { string s = 1; message Deep { int64 d = 1; } } }
message Order {
  int64 id = 1;
  optional string customer = 2;
  double price = 3;
  State state = 4;
  google.protobuf.Timestamp at = 5;
  repeated string tags = 6;
  map<string, double> sizes = 7;
  Other.Inner inner = 8;
  uint32 count = 9;
  uint64 large = 10;
  enum State { OPEN = 0; PAID = 1; }
}
"""
COLUMNS = [
    ("id", T.BIGINT), ("customer", T.STRING), ("price", T.DOUBLE), ("state", T.STRING), ("at", T.row(("seconds", "nanos"), (T.BIGINT, T.INT))),
    ("tags", T.array(T.STRING)), ("sizes", T.map_of(T.STRING, T.DOUBLE)), ("inner", T.row(("s",), (T.STRING,))), ("count", T.BIGINT), ("large", T.BIGINT),
]  # fmt: skip
ROW: dict[str, Any] = {
    "id": 1, "customer": "Zoë", "price": 1.5, "state": 1, "at": {"seconds": 100, "nanos": 5}, "tags": ["a", "b"], "sizes": {"x": 1.5}, "inner": {"s": "y"},
    "count": 2**32 - 1, "large": 5,
}  # fmt: skip


def classes(text: str) -> Callable[[str], Any]:
    """The classes of the messages of a .proto file, by full name."""
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(protobuf_files.of_text(text).serialized).file:
        pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


@pytest.fixture
def topic(broker: Any) -> str:
    name = f"topic-{uuid.uuid4().hex[:8]}"
    broker.topic(name)
    return name


@pytest.fixture
def schemas() -> Any:
    with registry() as running:
        yield running


@pytest.fixture
def proto(broker: Any, make_table: Any, topic: str, schemas: Any) -> Any:
    def make(columns: Any, **options: str) -> Any:
        given = {f"proto-registry.{k.replace('_', '-')}": v for k, v in {"url": schemas.url, **options}.items()}
        base = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker.bootstrap, "format": "proto-registry",
                "scan.startup.mode": "earliest-offset"}  # fmt: skip
        table = make_table(columns, base | given)
        find_connector("kafka").check(table)
        return table

    return make


def serialized(schemas: Any, topic: str, *messages: Any) -> list[bytes]:
    """Messages as Confluent's own serializer writes them."""
    client = SchemaRegistryClient({"url": schemas.url})
    made = []
    for message in messages:
        serializer = ProtobufSerializer(type(message), client, {"use.deprecated.format": False})
        made.append(serializer(message, SerializationContext(topic, MessageField.VALUE)))
    return made


@pytest.mark.spark
@pytest.mark.kafka
def test_reads_what_confluents_serializer_writes(run: Any, broker: Any, proto: Any, schemas: Any, topic: str) -> None:
    order = classes(SHOP)("shop.Order")
    send(broker, topic, *serialized(schemas, topic, order(**ROW), order(id=2)), None)
    table = proto(COLUMNS)
    first = (1, "Zoë", 1.5, "PAID", (100, 5), ["a", "b"], {"x": 1.5}, ("y",), 2**32 - 1, 5)
    # What is not there is NULL, unless the schema has no difference between that and a zero.
    assert run.rows(table) == [first, (2, None, 0.0, "OPEN", None, None, None, None, 0, 0)]
    assert len(run.streamed(table)) == 2
    assert [r for r in schemas.requests if r.startswith("GET /schemas")] == ["GET /schemas/ids/1?format=serialized"]


@pytest.mark.spark
@pytest.mark.kafka
def test_which_message_of_the_schema(run: Any, broker: Any, proto: Any, schemas: Any, topic: str) -> None:
    """Several in one topic: each is read as what it is, columns that it lacks are NULL."""
    of = classes(SHOP)
    messages = of("shop.Order")(id=1), of("shop.Other")(n=2), of("shop.Other.Inner")(s="x"), of("shop.Other.Inner.Deep")(d=3)
    send(broker, topic, *serialized(schemas, topic, *messages))
    read = run.rows(proto([("id", T.BIGINT), ("n", T.INT), ("s", T.STRING), ("d", T.BIGINT)]))
    assert read == [(1, None, None, None), (None, 2, None, None), (None, None, "x", None), (None, None, None, 3)]


@pytest.mark.spark
@pytest.mark.kafka
def test_a_schema_evolves_and_imports(run: Any, broker: Any, proto: Any, schemas: Any, topic: str) -> None:
    schemas.add("part", 'syntax = "proto3"; package parts; message Part { int32 n = 1; }', kind="PROTOBUF")
    whole = 'syntax = "proto3"; import "part.proto"; message R { parts.Part part = 1; int32 n = 2; }'
    id_ = schemas.add("r", whole, kind="PROTOBUF", references=(("part.proto", "part", 1),))
    send(broker, topic, b"\0" + id_.to_bytes(4, "big") + b"\0" + b"\x0a\x02\x08\x07\x10\x01")
    table = proto([("n", T.BIGINT), ("part", T.row(("n",), (T.INT,))), ("added", T.STRING)])
    read = run.streamed(table, checkpoint="evolves")
    later = schemas.add("r", 'syntax = "proto3"; message R { int64 n = 2; optional string added = 9; }', kind="PROTOBUF")
    # The place of the message in full: one number, which is 0.
    send(broker, topic, b"\0" + later.to_bytes(4, "big") + b"\2\0" + b"\x10\x05" + b"\x4a\x01z")
    assert read + run.streamed(table, checkpoint="evolves") == [(1, (7,), None), (5, None, "z")]


@pytest.mark.spark
@pytest.mark.kafka
def test_confluents_deserializer_reads_what_is_written(run: Any, broker: Any, proto: Any, schemas: Any, topic: str) -> None:
    columns = [
        ("id", T.INT.not_null()), ("small", T.TINYINT), ("s", T.STRING), ("f", T.FLOAT), ("yes", T.BOOLEAN), ("data", T.BYTES),
        ("r", T.row(("x", "y"), (T.INT, T.array(T.STRING)))), ("rs", T.array(T.row(("x",), (T.BIGINT,)))), ("m", T.map_of(T.INT, T.row(("x",), (T.DOUBLE,)))),
    ]  # fmt: skip
    table = proto(columns)
    row = """1 AS id, CAST(-5 AS TINYINT) AS small, 'é' AS s, CAST(0.5 AS FLOAT) AS f, true AS yes, X'00FF' AS data,
      named_struct('x', 7, 'y', array('a', '')) AS r, array(named_struct('x', 1L), named_struct('x', CAST(NULL AS BIGINT))) AS rs,
      map(3, named_struct('x', 1.5D)) AS m"""
    run.insert(table, run.spark.sql(f"SELECT {row}"))
    nulls = ", ".join(f"CAST(NULL AS {type_.spark}) AS {name}" for name, type_ in columns[1:])
    run.insert(table, run.spark.sql(f"SELECT 0 AS id, {nulls}"))
    assert list(schemas.subjects) == [f"{topic}-value"]
    assert schemas.schemas[1]["schemaType"] == "PROTOBUF"
    assert schemas.schemas[1]["schema"] == WRITTEN
    record = classes(WRITTEN)("Record")
    read = ProtobufDeserializer(record, {"use.deprecated.format": False}, SchemaRegistryClient({"url": schemas.url}))
    one, other = (read(v, SerializationContext(topic, MessageField.VALUE)) for v in records(broker, topic))
    assert one == record(
        id=1, small=-5, s="é", f=0.5, yes=True, data=b"\0\xff", r={"x": 7, "y": ["a", ""]}, rs=[{"x": 1}, {}], m={3: {"x": 1.5}}
    )  # fmt: skip
    assert other == record(id=0)
    assert run.rows(table, "id", "small", "s", "data", "r.y", "rs[1].x", "m[3].x") == [
        (1, -5, "é", bytearray(b"\0\xff"), ["a", ""], None, 1.5), (0, None, None, None, None, None, None),
    ]  # fmt: skip


WRITTEN = """syntax = "proto3";

message Record {
  int32 id = 1;
  optional int32 small = 2;
  optional string s = 3;
  optional float f = 4;
  optional bool yes = 5;
  optional bytes data = 6;
  message Row7 {
    optional int32 x = 1;
    repeated string y = 2;
  }
  optional Row7 r = 7;
  message Row8 {
    optional int64 x = 1;
  }
  repeated Row8 rs = 8;
  message Row9 {
    optional double x = 1;
  }
  map<int32, Row9> m = 9;
}
"""


@pytest.mark.spark
@pytest.mark.kafka
def test_a_schema_of_ones_own(run: Any, broker: Any, proto: Any, schemas: Any, topic: str) -> None:
    schema = 'syntax = "proto3"; message Paid { enum State { OPEN = 0; PAID = 1; } State state = 3; int64 id = 7; }'
    run.insert(proto([("id", T.BIGINT), ("state", T.STRING)], schema=schema), run.spark.sql("SELECT 5L AS id, 'PAID' AS state"))
    (value,) = records(broker, topic)
    assert value == b"\0\0\0\0\1\0" + b"\x18\x01\x38\x05"
    assert schemas.schemas[1]["schema"] == schema
    with pytest.raises(ValidationError, match="Column nr does not exists"):
        proto([("nr", T.BIGINT)], schema=schema)
    with pytest.raises(ValidationError, match=r"The schema is none of Protobuf: .*Expected"):
        proto([("nr", T.BIGINT)], schema="message {")


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.parametrize(
    ("record", "column", "why"),
    [
        (b"\1\0\0\0\1\0", T.BIGINT, "Unknown data format. Magic number does not match"),
        (b"\0\0\0", T.BIGINT, "Unknown data format. Magic number does not match"),
        (b"\0\0\0\0\x63\0", T.BIGINT, "Could not find schema with id 99 in registry"),
        (b"\0\0\0\0\1\2\x10", T.BIGINT, "Schema 1 has no such message"),
        (b"\0\0\0\0\1\1", T.BIGINT, "The place of the message in its schema is missing"),
        (b"\0\0\0\0\2\0", T.BIGINT, "Schema 2 in registry is none of Protobuf that can be read"),
        (b"\0\0\0\0\3\0", T.BIGINT, "it imports gone.proto, to which it does not refer"),
        (b"\0\0\0\0\1\0\xff", T.BIGINT, "input ended unexpectedly"),
        (b"\0\0\0\0\1\0", T.STRING, "Field 'n' is written as int32, and read as STRING"),
        (b"\0\0\0\0\1\0", T.array(T.INT), "Field 'n' is written as int32, and read as ARRAY<INT>"),
        (b"\0\0\0\0\1\0\x08\xac\x02", T.TINYINT, "Field 'n' is 300, which a TINYINT can't have"),
    ],
)
def test_records_that_can_not_be_read(run: Any, broker: Any, proto: Any, schemas: Any, topic: str, record: bytes, column: Any, why: str) -> None:
    schemas.add("a", 'syntax = "proto3"; message R { int32 n = 1; }', kind="PROTOBUF")
    schemas.add("b", {"type": "record", "name": "R", "fields": []})
    schemas.add("c", 'syntax = "proto3"; import "gone.proto"; message R { int32 n = 1; }', kind="PROTOBUF")
    send(broker, topic, record, b"\0\0\0\0\1\0\x08\x05")
    error = failure(run, proto([("n", column)]))
    assert "Failed to deserialize Protobuf message" in error.message and f"topic {topic}, partition 0, offset 0" in error.message
    assert why in error.message, error.message
    if column == T.BIGINT:
        assert run.rows(proto([("n", column)], ignore_parse_errors="true")) == [(5,)]


@pytest.mark.spark
@pytest.mark.kafka
def test_a_registry_that_is_away_is_no_bad_record(run: Any, broker: Any, proto: Any, schemas: Any, topic: str) -> None:
    """Also where those are ignored, it stops the job."""
    send(broker, topic, b"\0\0\0\0\1\0\x08\x05")
    schemas.away = True
    error = failure(run, proto([("n", T.BIGINT)], ignore_parse_errors="true"))
    assert "answers 503" in error.message


@pytest.mark.parametrize(
    ("type_", "error"),
    [(T.timestamp(3), "TIMESTAMP"), (T.decimal(5, 2), "DECIMAL"), (T.array(T.array(T.INT)), "ARRAY"), (T.map_of(T.DOUBLE, T.INT), "DOUBLE")],
)
def test_types_that_protobuf_has_not(type_: Any, error: str) -> None:
    with pytest.raises(NotSupported, match=error):
        protobuf_schema.of_row((("x", type_),))
    with pytest.raises(ValidationError, match="Illegal name: a b"):
        protobuf_schema.of_row((("a b", T.INT),))
