"""What OpenLineage calls the tables of each connector: by its naming conventions, without anything secret. No JVM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from openlineage.client.naming import dataset as conventions

from sqlstream.connectors import find_connector
from sqlstream.sql.tables import ObjectPath, Table
from tests.connectors.test_every_connector import EVERY, example

if TYPE_CHECKING:
    from openlineage.client.naming.dataset import DatasetNaming

    from sqlstream.connectors.base import Connector, Dataset

PROJECT = Path("/srv/bank")
PATH = ObjectPath("c", "d", "t")


def named(**options: str) -> tuple[Dataset, ...]:
    table = Table(PATH, (), {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()})
    return find_connector(table.connector).datasets(table, PROJECT)


def kafka(servers: str, topic: str) -> tuple[Dataset, ...]:
    return named(connector="kafka", properties__bootstrap__servers=servers, topic=topic)


def files(path: str) -> tuple[Dataset, ...]:
    (same,) = named(connector="delta", table_path=path)
    assert named(connector="filesystem", path=path) == (same,)
    return (same,)


def jdbc(url: str, table: str) -> tuple[Dataset, ...]:
    return named(connector="jdbc", url=url, table_name=table)


POSTGRES = "jdbc:postgresql:"
CASES: list[tuple[tuple[Dataset, ...], DatasetNaming]] = [
    (kafka("h:9092", "bids"), conventions.Kafka("h", "9092", "bids")),
    (kafka("a:1, b:2", "bids"), conventions.Kafka("a", "1", "bids")),
    (kafka("PLAINTEXT://user:secret@h:9092,b:2", "Größen.日本"), conventions.Kafka("h", "9092", "Größen.日本")),
    (named(connector="upsert-kafka", properties__bootstrap__servers="h:1", topic="t"), conventions.Kafka("h", "1", "t")),
    (named(connector="kafka", properties__bootstrap__servers="h:1", topic_pattern="bids-.*"), conventions.Kafka("h", "1", "bids-.*")),
    (files("/data/x"), conventions.LocalFileSystem("/data/x")),
    (files("data/../x y/"), conventions.LocalFileSystem("/srv/bank/x y")),
    (files("file:///data/x"), conventions.LocalFileSystem("/data/x")),
    (files("s3://bucket/a/b"), conventions.S3("bucket", "a/b")),
    (files("s3a://KEY:SECRET@bucket/a/b/"), conventions.S3("bucket", "a/b")),
    (files("gs://bucket/a"), conventions.GCS("bucket", "a")),
    (files("abfss://box@account.dfs.core.windows.net/a"), conventions.ABFSS("box", "account", "a")),
    (files("abfss://box:secret@account.dfs.core.windows.net/a"), conventions.ABFSS("box", "account", "a")),
    (files("hdfs://host:8020/a/b"), conventions.HDFS("host", "8020", "/a/b")),
    (named(connector="savepoint", state__path="/save/x"), conventions.LocalFileSystem("/save/x")),
    (jdbc(f"{POSTGRES}//h:1/shop", "sales.orders"), conventions.Postgres("h", "1", "shop", "sales", "orders")),
    (jdbc(f"{POSTGRES}//h/shop", "orders"), conventions.Postgres("h", "5432", "shop", "public", "orders")),
    (jdbc(f"{POSTGRES}//a,b:2/shop?user=x&password=secret&currentSchema=eu,public", "orders"), conventions.Postgres("a", "5432", "shop", "eu", "orders")),
    (jdbc(f"{POSTGRES}shop", '"Sales"."Orders"'), conventions.Postgres("localhost", "5432", "shop", "Sales", "Orders")),
    (jdbc("jdbc:mysql://user:secret@h/shop?x=y", "orders"), conventions.MySQL("h", "3306", "shop", "orders")),
]  # fmt: skip


@pytest.mark.parametrize(("found", "convention"), CASES, ids=lambda v: str(v[0].namespace) if isinstance(v, tuple) else "")
def test_it_is_named_by_the_conventions(found: tuple[Dataset, ...], convention: DatasetNaming) -> None:
    assert found == ((convention.get_namespace(), convention.get_name()),)


def test_each_topic_is_one() -> None:
    assert kafka("h:1", "a; b") == (("kafka://h:1", "a"), ("kafka://h:1", "b"))


@pytest.mark.parametrize("connector", ["print", "blackhole", "datagen"])
def test_what_is_nowhere_else_has_its_path(connector: str) -> None:
    assert named(connector=connector) == ((connector, "c.d.t"),)


@EVERY
def test_each_has_names(connector: Connector, tmp_path: Path) -> None:
    for namespace, name in connector.datasets(example(connector, tmp_path), tmp_path):
        assert namespace and name
