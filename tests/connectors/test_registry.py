"""avro-confluent and debezium-avro-confluent: a real broker, Confluent's own serializers, and a registry behind the documented interface."""

from __future__ import annotations

import ipaddress
import json
import struct
import threading
import time
import uuid
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import jsonschema
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.schema_registry import Schema as RegisteredSchema
from confluent_kafka.schema_registry import SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12

from sqlstream.connectors import find_connector
from sqlstream.core.changelog import KIND, ChangelogMode
from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError
from sqlstream.runtime.engine.failures import job_error
from sqlstream.sql import types as T
from sqlstream.sql.tables import PrimaryKey
from tests.support.registry import registry

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.kafka]

ORDER = {
    "type": "record", "name": "Order", "namespace": "com.example", "fields": [
        {"name": "id", "type": "int"},
        {"name": "customer", "type": ["null", "string"], "default": None},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "state", "type": {"type": "string"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "sizes", "type": {"type": "map", "values": "double"}},
        {"name": "place", "type": ["null", {"type": "record", "name": "Place", "fields": [{"name": "city", "type": "string"}]}], "default": None},
    ],
}  # fmt: skip
COLUMNS = [
    ("id", T.BIGINT), ("customer", T.STRING), ("price", T.decimal(10, 2).not_null()), ("state", T.STRING), ("at", T.timestamp(3).not_null()),
    ("day", T.DATE), ("tags", T.array(T.STRING)), ("sizes", T.map_of(T.STRING, T.DOUBLE)), ("place", T.row(("city",), (T.STRING,))),
]  # fmt: skip
ROW = {
    "id": 1, "customer": "Zoë", "price": Decimal("12.34"), "state": "paid", "at": datetime(2024, 5, 1, 10, 0, 0, 123000, UTC),
    "day": date(2024, 5, 1), "tags": ["a", "b"], "sizes": {"x": 1.5}, "place": {"city": "Praha"},
}  # fmt: skip


@pytest.fixture
def topic(broker) -> str:
    name = f"topic-{uuid.uuid4().hex[:8]}"
    broker.topic(name)
    return name


@pytest.fixture
def schemas():
    with registry() as running:
        yield running


@pytest.fixture
def avro(broker, make_table, topic, schemas):
    def make(columns, format_="avro-confluent", *, metadata=(), **options):
        given = {f"{format_}.{k.replace('__', '-').replace('_', '.')}": v for k, v in {"url": schemas.url, **options}.items()}
        base = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker.bootstrap, "format": format_,
                "scan.startup.mode": "earliest-offset"}  # fmt: skip
        table = make_table(columns, {**base, **{k: v for k, v in given.items() if v is not None}}, metadata=metadata)
        find_connector("kafka").check(table)
        return table

    return make


def serialized(schemas, topic, schema, *rows, **config) -> list[bytes]:
    """Rows as Confluent's own serializer writes them."""
    client = SchemaRegistryClient({"url": schemas.url, **config})
    serializer = AvroSerializer(client, schema if isinstance(schema, RegisteredSchema) else json.dumps(schema))
    return [serializer(row, SerializationContext(topic, MessageField.VALUE)) for row in rows]


def send(broker, topic, *values) -> None:
    broker.send(topic, *((0, None, value) for value in values))


def failure(run, table) -> SqlStreamError:
    with pytest.raises(Exception) as raised:
        run.rows(table)
    return job_error(raised.value)


def test_reads_what_confluents_serializer_writes(run, broker, avro, schemas, topic):
    send(broker, topic, *serialized(schemas, topic, ORDER, ROW, {**ROW, "id": 2, "customer": None, "price": Decimal("-0.05"), "place": None}), None)
    table = avro(COLUMNS)
    read = run.rows(table, "id", "customer", "price", "state", "CAST(at AS STRING)", "CAST(day AS STRING)", "tags", "sizes", "place.city")
    first = (1, "Zoë", Decimal("12.34"), "paid", "2024-05-01 10:00:00.123", "2024-05-01", ["a", "b"], {"x": 1.5}, "Praha")
    assert read == [first, (2, None, Decimal("-0.05"), *first[3:8], None)]
    assert sorted(len(row) for row in run.streamed(table)) == [len(COLUMNS)] * 2
    # A schema is asked for once in a JVM, however many records, tasks and queries there are.
    assert [r for r in schemas.requests if r.startswith("GET /schemas")] == ["GET /schemas/ids/1"]


def test_a_schema_evolves(run, broker, avro, schemas, topic):
    """Each record is read by its own schema: a column that it lacks is NULL, one that is not declared is left out, a type is widened."""
    v1 = {"type": "record", "name": "R", "fields": [{"name": "gone", "type": "string"}, {"name": "n", "type": "int"}]}
    v2 = {"type": "record", "name": "R", "fields": [
        {"name": "n", "type": "long"}, {"name": "gone", "type": "string", "default": ""}, {"name": "added", "type": ["null", "string"], "default": None},
    ]}  # fmt: skip
    send(broker, topic, *serialized(schemas, topic, v1, {"gone": "x", "n": 1}))
    table = avro([("added", T.STRING), ("n", T.BIGINT)])
    query = run.streamed(table, checkpoint="evolves")
    send(broker, topic, *serialized(schemas, topic, v2, {"gone": "x", "n": 1 << 40, "added": "new"}))
    assert query + run.streamed(table, checkpoint="evolves") == [(None, 1), ("new", 1 << 40)]


def test_a_schema_refers_to_others(run, broker, avro, schemas, topic):
    city = {"type": "record", "name": "City", "namespace": "g", "fields": [{"name": "name", "type": "string"}]}
    place = {"type": "record", "name": "Place", "namespace": "g", "fields": [{"name": "city", "type": "City"}]}
    schemas.add("city", city)
    schemas.add("place", place, references=(("g.City", "city", 1),))
    whole = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "g.Place"}, {"name": "b", "type": "g.City"}]})
    schema = RegisteredSchema(whole, "AVRO", [SchemaReference("g.City", "city", 1), SchemaReference("g.Place", "place", 1)])
    send(broker, topic, *serialized(schemas, topic, schema, {"a": {"city": {"name": "Praha"}}, "b": {"name": "Brno"}}))
    inner = T.row(("name",), (T.STRING,))
    assert run.rows(avro([("a", T.row(("city",), (inner,))), ("b", inner)]), "a.city.name", "b.name") == [("Praha", "Brno")]


def test_confluents_deserializer_reads_what_is_written(run, broker, avro, schemas, topic):
    columns = [("id", T.INT.not_null()), ("s", T.STRING), ("d", T.decimal(6, 2)), ("t", T.timestamp(3)), ("r", T.row(("x",), (T.INT,)))]
    row = "1 AS id, 'é' AS s, CAST(1.5 AS DECIMAL(6, 2)) AS d, TIMESTAMP'2024-05-01 10:00:00.123' AS t, named_struct('x', 7) AS r"
    table = avro(columns)
    run.insert(table, run.spark.sql(f"SELECT {row}"))
    run.insert(table, run.spark.sql("SELECT 2 AS id, CAST(NULL AS STRING) AS s, CAST(NULL AS DECIMAL(6, 2)) AS d, CAST(NULL AS TIMESTAMP) AS t,"
                                    " CAST(NULL AS STRUCT<x INT>) AS r"))  # fmt: skip
    assert list(schemas.subjects) == [f"{topic}-value"]
    # As Flink 2.3 registers it for these columns.
    assert json.loads(schemas.schemas[1]["schema"]) == {
        "type": "record", "name": "record", "namespace": "org.apache.flink.avro.generated", "fields": [
            {"name": "id", "type": "int"},
            {"name": "s", "type": ["null", "string"], "default": None},
            {"name": "d", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}], "default": None},
            {"name": "t", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
            {"name": "r", "type": ["null", {"type": "record", "name": "record_r", "fields": [
                {"name": "x", "type": ["null", "int"], "default": None}]}], "default": None},
        ],
    }  # fmt: skip
    read = AvroDeserializer(SchemaRegistryClient({"url": schemas.url}))
    values = [read(v, SerializationContext(topic, MessageField.VALUE)) for v in records(broker, topic)]
    first = {"id": 1, "s": "é", "d": Decimal("1.50"), "t": datetime(2024, 5, 1, 10, 0, 0, 123000, UTC), "r": {"x": 7}}
    assert values == [first, {"id": 2, "s": None, "d": None, "t": None, "r": None}]
    assert run.rows(table, "id", "s") == [(1, "é"), (2, None)]


def records(broker, topic) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": uuid.uuid4().hex})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    end, values = consumer.get_watermark_offsets(TopicPartition(topic, 0))[1], []
    while len(values) < end:
        message = consumer.poll(10)
        assert message is not None
        values.append(message.value())
    consumer.close()
    return values


def test_key_and_value_have_subjects_of_their_own(run, broker, make_table, schemas, topic):
    options = {
        "connector": "upsert-kafka", "topic": topic, "properties.bootstrap.servers": broker.bootstrap, "key.format": "avro-confluent",
        "value.format": "avro-confluent", "key.avro-confluent.url": schemas.url, "value.avro-confluent.url": schemas.url,
        "value.avro-confluent.subject": "other",
    }  # fmt: skip
    table = replace(make_table([("k", T.INT.not_null()), ("v", T.STRING)], options), primary_key=PrimaryKey(("k",)))
    find_connector("upsert-kafka").check(table)
    run.insert(table, run.spark.sql("SELECT 1 AS k, 'a' AS v"), mode=ChangelogMode.UPSERT, keys=("k",))
    assert sorted(schemas.subjects) == ["other", f"{topic}-key"]
    assert [tuple(r)[:2] for r in run.frame(table).collect()] == [(1, "a")]


def test_a_schema_that_does_not_fit_those_before_is_refused(run, avro, schemas, topic):
    run.insert(avro([("id", T.INT)]), run.spark.sql("SELECT 1 AS id"))
    with pytest.raises(Exception) as raised:
        run.insert(avro([("id", T.INT), ("n", T.INT.not_null())]), run.spark.sql("SELECT 1 AS id, 2 AS n"))
    error = job_error(raised.value)
    assert "The schema registry does not take the schema of the records." in error.message
    assert f'answers 409: Schema being registered is incompatible with an earlier schema for subject "{topic}-value"' in error.message
    assert error.hint.startswith("A column that is added must be one that can be NULL")
    assert not error.heals


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"\x01\x00\x00\x00\x01\x02", "Unknown data format. Magic number does not match"),
        (b"\x00\x00", "Unknown data format. Magic number does not match"),
        (b"", "Unknown data format. Magic number does not match"),
        (struct.pack(">bi", 0, 99) + b"\x02", "Could not find schema with id 99 in registry"),
    ],
)
def test_a_record_that_cant_be_read_is_named(run, broker, avro, schemas, topic, value, why):
    send(broker, topic, *serialized(schemas, topic, {"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}, {"n": 1}), value)
    error = failure(run, avro([("n", T.INT)]))
    shown = f"'{value.hex().upper()}' "
    assert error.message == f"Failed to deserialize Avro record {shown}(topic {topic}, partition 0, offset 1). {why}."
    assert not error.heals


@pytest.mark.parametrize(
    ("written", "value", "column", "why"),
    [
        ({"type": "long", "logicalType": "timestamp-micros"}, 1, T.timestamp(3), "written as timestamp-micros, and read as timestamp-millis"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 4}, Decimal("1.5"), T.decimal(9, 2), "decimal of scale 4, and read as decimal of scale 2"),
        ("string", "x", T.INT, "Found string, expecting union[null, int]"),
    ],
)  # fmt: skip
def test_a_field_that_means_something_else_is_refused(run, broker, avro, schemas, topic, written, value, column, why):
    schema = {"type": "record", "name": "R", "fields": [{"name": "n", "type": written}]}
    send(broker, topic, *serialized(schemas, topic, schema, {"n": value}))
    assert why in failure(run, avro([("n", column)])).message


def test_a_registry_that_is_away_is_waited_for(run, broker, avro, schemas, topic):
    schema = {"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}
    table = avro([("n", T.INT)])
    send(broker, topic, *serialized(schemas, topic, schema, {"n": 1}))
    assert run.rows(table) == [(1,)]
    wider = {"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}, {"name": "m", "type": ["null", "int"], "default": None}]}
    send(broker, topic, *serialized(schemas, topic, wider, {"n": 2, "m": 3}))
    schemas.away = True
    back = threading.Timer(7, lambda: setattr(schemas, "away", False))
    back.start()
    began = time.monotonic()
    assert run.rows(table) == [(1,), (2,)]
    assert time.monotonic() - began > 5


def test_a_registry_that_was_never_there(run, broker, avro, schemas, topic):
    send(broker, topic, *serialized(schemas, topic, {"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}, {"n": 1}))
    error = failure(run, avro([("n", T.INT)], url="http://127.0.0.1:9"))
    assert error.message == "The schema registry does not answer. (http://127.0.0.1:9)"
    assert error.heals
    # Of several addresses one that answers is enough.
    assert run.rows(avro([("n", T.INT)], url=f"http://127.0.0.1:9,{schemas.url}/")) == [(1,)]


@pytest.mark.parametrize("how", ["option", "address", "properties", "bearer"])
def test_who_asks(run, broker, avro, topic, how):
    schema = {"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}
    with registry(**({"token": "secret"} if how == "bearer" else {"user": "me:p@ss"})) as guarded:
        schema_id = guarded.add(f"{topic}-value", schema)
        send(broker, topic, struct.pack(">bi", 0, schema_id) + b"\x0e")
        error = failure(run, avro([("n", T.INT)], url=guarded.url))
        assert error.message == f"The schema registry refuses a request. ({guarded.url} answers 401: Unauthorized)"
        options = {
            "option": {"basic__auth_credentials__source": "USER_INFO", "basic__auth_user__info": "me:p@ss"},
            "address": {"url": guarded.url.replace("//", "//me:p%40ss@")},
            "properties": {"properties": "basic.auth.credentials.source:USER_INFO,basic.auth.user.info:me:p@ss"},
            "bearer": {"bearer__auth_credentials__source": "STATIC_TOKEN", "bearer__auth_token": "secret"},
        }[how]
        assert run.rows(avro([("n", T.INT)], **{"url": guarded.url, **options})) == [(7,)]


def test_tls(run, broker, avro, topic, tmp_path):
    certificate, store = certified(tmp_path)
    with registry(certificate=certificate) as secured:
        send(
            broker,
            topic,
            struct.pack(">bi", 0, secured.add("s", {"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]})) + b"\x0e",
        )
        trusted = {"ssl_truststore_location": str(store), "ssl_truststore_password": "changeit"}
        assert run.rows(avro([("n", T.INT)], url=secured.url, **trusted)) == [(7,)]
        assert "does not answer" in failure(run, avro([("n", T.INT)], url=secured.url)).message


def certified(folder) -> tuple[Path, Path]:
    """The key and certificate of a server at 127.0.0.1, and a store that has the certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "registry")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - timedelta(days=1), now + timedelta(days=1))
    alternatives = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = made.add_extension(alternatives, critical=False).sign(key, hashes.SHA256())
    own = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(own + signed.public_bytes(serialization.Encoding.PEM))
    entries = [pkcs12.PKCS12Certificate(signed, b"registry")]
    (folder / "trusted.p12").write_bytes(pkcs12.serialize_java_truststore(entries, serialization.BestAvailableEncryption(b"changeit")))
    return folder / "server.pem", folder / "trusted.p12"


def test_a_schema_that_is_given(run, broker, avro, schemas, topic):
    """Its names, its enum and its fixed decimals are those of the records, not of Flink's derivation."""
    given = {"type": "record", "name": "Mine", "namespace": "x", "fields": [
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "price", "type": {"type": "fixed", "name": "Price", "size": 6, "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "note", "type": ["string", "null"]},
    ]}  # fmt: skip
    columns = [("state", T.STRING.not_null()), ("price", T.decimal(9, 2).not_null()), ("note", T.STRING)]
    table = avro(columns, schema=json.dumps(given))
    run.insert(table, run.spark.sql("SELECT 'PAID' AS state, CAST(-1.5 AS DECIMAL(9, 2)) AS price, CAST(NULL AS STRING) AS note"))
    assert json.loads(schemas.schemas[1]["schema"]) == given
    (value,) = records(broker, topic)
    assert AvroDeserializer(SchemaRegistryClient({"url": schemas.url}))(value, SerializationContext(topic, MessageField.VALUE)) == {
        "state": "PAID", "price": Decimal("-1.50"), "note": None,
    }  # fmt: skip
    assert run.rows(table) == [("PAID", Decimal("-1.50"), None)]
    with pytest.raises(ValidationError, match="Schema provided for 'avro-confluent' format does not match the table schema") as wrong:
        avro([("state", T.STRING), ("price", T.decimal(9, 2))], schema=json.dumps(given))
    assert wrong.value.hint == (
        "The schema is that of ROW<`state` STRING NOT NULL, `price` DECIMAL(9, 2) NOT NULL, `note` STRING> NOT NULL, the table that of "
        "ROW<`state` STRING, `price` DECIMAL(9, 2)> NOT NULL."
    )


ENVELOPE = {"type": "record", "name": "Envelope", "namespace": "db.public.items", "fields": [
    {"name": "before", "type": ["null", {"type": "record", "name": "Value", "fields": [
        {"name": "id", "type": "int"}, {"name": "name", "type": ["null", "string"], "default": None}]}], "default": None},
    {"name": "after", "type": ["null", "Value"], "default": None},
    {"name": "source", "type": {"type": "record", "name": "Source", "fields": [{"name": "db", "type": "string"}]}},
    {"name": "op", "type": "string"},
    {"name": "ts_ms", "type": ["null", "long"], "default": None},
]}  # fmt: skip


def change(op, before, after):
    return {"before": before, "after": after, "source": {"db": "d"}, "op": op, "ts_ms": 1}


def test_debezium(run, broker, avro, schemas, topic):
    old, new = {"id": 1, "name": "old"}, {"id": 1, "name": "new"}
    send(broker, topic, *serialized(schemas, topic, ENVELOPE, change("r", None, old), change("u", old, new), change("d", new, None)), None)
    table = avro([("id", T.INT), ("name", T.STRING)], "debezium-avro-confluent")
    changes = [(1, "old", 0), (1, "old", 1), (1, "new", 2), (1, "new", 3)]
    assert run.rows(table) == changes
    assert run.streamed(table) == changes


@pytest.mark.parametrize(
    ("op", "why"),
    [
        ("u", 'The "before" field of the message is null, if you are using Debezium Postgres Connector, please check the Postgres table has been set '
              "REPLICA IDENTITY to FULL level."),
        ("t", 'Unknown "op" value "t".'),
    ],
)  # fmt: skip
def test_debezium_with_a_record_that_cant_be_read(run, broker, avro, schemas, topic, op, why):
    send(broker, topic, *serialized(schemas, topic, ENVELOPE, change(op, None, {"id": 1, "name": "x"})))
    error = failure(run, avro([("id", T.INT), ("name", T.STRING)], "debezium-avro-confluent"))
    assert error.message.startswith("Can't deserialize Debezium Avro message '")
    assert error.message.endswith(f"(topic {topic}, partition 0, offset 0). {why}")


def test_debezium_is_written(run, broker, avro, schemas, topic):
    table = avro([("id", T.INT), ("name", T.STRING)], "debezium-avro-confluent")
    frame = run.spark.sql(f"SELECT id, name, CAST(kind AS TINYINT) AS {KIND} FROM VALUES (1, 'a', 0), (1, 'a', 3) AS t(id, name, kind)")
    run.insert(table, frame.coalesce(1), mode=ChangelogMode.RETRACT_DELETE)
    read = AvroDeserializer(SchemaRegistryClient({"url": schemas.url}))
    assert [read(v, SerializationContext(topic, MessageField.VALUE)) for v in records(broker, topic)] == [
        {"before": None, "after": {"id": 1, "name": "a"}, "op": "c"},
        {"before": {"id": 1, "name": "a"}, "after": None, "op": "d"},
    ]
    assert run.rows(table) == [(1, "a", 0), (1, "a", 3)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": None}, "Missing required options are:\n\nurl"),
        ({"url": "registry:8081"}, "'registry:8081' is not the address of a schema registry."),
        ({"properties": "auto.register.schemas:false"}, "Property 'auto.register.schemas' of a schema registry's client has no counterpart here."),
        ({"basic__auth_credentials__source": "USER_INFO"}, "needs the option 'basic-auth.user-info'"),
        ({"basic__auth_credentials__source": "SASL_INHERIT"}, "Option 'basic-auth.credentials-source' can't be 'SASL_INHERIT'."),
        ({"bearer__auth_credentials__source": "OAUTHBEARER"}, "Option 'bearer-auth.credentials-source' can't be 'OAUTHBEARER'."),
        ({"bearer__auth_credentials__source": "STATIC_TOKEN"}, "needs the option 'bearer-auth.token'"),
        ({"schema": "nothing"}, "Option 'avro-confluent.schema' is no schema of Avro"),
        ({"schema": '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "x.Y"}]}'}, "refers to 'x.Y', which it does not define"),
        ({"schema": '{"type": "record", "name": "r", "fields": [{"name": "n", "type": ["int", "string"]}]}'}, "does not match the table schema"),
        ({"schema": '{"type": "record", "name": "r", "fields": [{"name": "n", "type": ["null", "r"]}]}'}, "does not match the table schema"),
        ({"urls": "x"}, "Unsupported options found for 'kafka'"),
    ],
)  # fmt: skip
def test_options(avro, options, message):
    with pytest.raises((ValidationError, NotSupported)) as wrong:
        avro([("n", T.INT)], **options)
    assert message in wrong.value.message


def test_types_that_have_no_schema(avro):
    with pytest.raises(ValidationError, match="Unsupported to derive Schema for type") as wrong:
        avro([("t", T.timestamp_ltz(3))])
    assert wrong.value.hint == "Declare it TIMESTAMP(3): Flink's schemas of a registry have no TIMESTAMP_LTZ."


def test_a_file_has_no_such_records(make_table):
    options = {"connector": "filesystem", "path": "x", "format": "avro-confluent", "avro-confluent.url": "http://x:1"}
    with pytest.raises(NotSupported, match="is for records of Kafka"):
        find_connector("filesystem").check(make_table([("n", T.INT)], options))


JSON_COLUMNS = [("id", T.BIGINT.not_null()), ("name", T.STRING), ("at", T.timestamp(3)), ("r", T.row(("x",), (T.array(T.INT),)))]


def test_json(run, broker, avro, schemas, topic):
    table = avro(JSON_COLUMNS, "json-registry")
    row = "1L AS id, 'é' AS name, TIMESTAMP'2024-05-01 10:00:00.5' AS at, named_struct('x', array(7)) AS r"
    run.insert(table, run.spark.sql(f"SELECT {row}"))
    assert schemas.schemas[1]["schemaType"] == "JSON"
    (value,) = records(broker, topic)
    assert value[:5] == struct.pack(">bi", 0, 1)
    written = json.loads(value[5:])
    assert written == {"id": 1, "name": "é", "at": "2024-05-01 10:00:00.5", "r": {"x": [7]}}
    jsonschema.validate(written, json.loads(schemas.schemas[1]["schema"]))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"name": "no id"}, json.loads(schemas.schemas[1]["schema"]))
    assert run.rows(table, "id", "name", "CAST(at AS STRING)", "r.x") == [(1, "é", "2024-05-01 10:00:00.5", [7])]
    bare = b'{"id": 2}'
    send(broker, topic, None, bare)
    error = failure(run, table)
    assert error.message == (f"Unknown data format. Magic number does not match: '{bare.hex().upper()}' (topic {topic}, partition 0, offset 2).")
    assert run.rows(avro(JSON_COLUMNS, "json-registry", ignore__parse__errors="true"), "id") == [(1,)]
