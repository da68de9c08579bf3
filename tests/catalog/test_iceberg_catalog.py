"""Catalogs of Iceberg's: folders, and a REST catalog. No JVM, but where rows are written."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from tests.support.iceberg_rest import TOKEN, RestCatalog
from tests.support.sessions import open_session, rows

if TYPE_CHECKING:
    from pathlib import Path

CREATE = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');"
TABLE = """CREATE TABLE lake.shop.sales (
  id BIGINT COMMENT 'its number', `a b` STRING NOT NULL, n DECIMAL(10, 2), ts TIMESTAMP(3), at_ltz TIMESTAMP_LTZ(3), t TINYINT,
  r ROW<x INT NOT NULL, l ARRAY<STRING>>, m MAP<STRING, INT>, PRIMARY KEY (id) NOT ENFORCED
) PARTITIONED BY (`a b`) WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');"""


@pytest.fixture
def session(tmp_path: Path):
    opened = open_session(tmp_path, CREATE + "CREATE DATABASE lake.shop;")
    yield opened
    opened.close()


def refusal(session, statement: str) -> SqlStreamError:
    with pytest.raises(SqlStreamError) as met:
        list(session.run(statement))
    return met.value


def test_a_table_is_there_as_soon_as_it_is_created(session, tmp_path: Path) -> None:
    list(session.run(TABLE))
    metadata = json.loads((tmp_path / "lake" / "shop" / "sales" / "metadata" / "v1.metadata.json").read_text())
    assert metadata["properties"]["write.upsert.enabled"] == "true"
    assert metadata["location"] == str(tmp_path / "lake" / "shop" / "sales")
    assert (tmp_path / "lake" / "shop" / "sales" / "metadata" / "version-hint.text").read_text() == "1"
    other = open_session(tmp_path, CREATE)
    assert rows(other, "SHOW TABLES FROM lake.shop;") == [("sales",)]
    assert [(name, kind, null) for name, kind, null, *_ in rows(other, "DESCRIBE lake.shop.sales;")] == [
        ("id", "BIGINT", "FALSE"), ("a b", "STRING", "FALSE"), ("n", "DECIMAL(10, 2)", "TRUE"), ("ts", "TIMESTAMP(6)", "TRUE"),
        ("at_ltz", "TIMESTAMP_LTZ(6)", "TRUE"), ("t", "INT", "TRUE"), ("r", "ROW<`x` INT NOT NULL, `l` ARRAY<STRING>>", "TRUE"),
        ("m", "MAP<STRING NOT NULL, INT>", "TRUE"),
    ]  # fmt: skip
    ((shown,),) = rows(other, "SHOW CREATE TABLE lake.shop.sales;")
    assert "PARTITIONED BY (`a b`)" in shown and "'connector' = 'iceberg'" in shown and "COMMENT 'its number'" in shown
    other.close()


def test_databases(session, tmp_path: Path) -> None:
    assert rows(session, "SHOW DATABASES FROM lake;") == [("default",), ("shop",)]
    list(session.run("CREATE TABLE lake.`default`.t (id INT);"))
    assert "not empty" in refusal(session, "DROP DATABASE lake.`default`;").message
    list(session.run("DROP DATABASE lake.shop;"))
    assert not (tmp_path / "lake" / "shop").exists() and (tmp_path / "lake" / "default" / "t").exists()


def test_properties_are_changed(session, tmp_path: Path) -> None:
    list(session.run(TABLE))
    list(session.run("ALTER TABLE lake.shop.sales SET ('write.format.default' = 'avro');"))
    list(session.run("ALTER TABLE lake.shop.sales RESET ('write.upsert.enabled');"))
    folder = tmp_path / "lake" / "shop" / "sales" / "metadata"
    assert (folder / "version-hint.text").read_text() == "3"
    assert json.loads((folder / "v3.metadata.json").read_text())["properties"] == {"write.format.default": "avro"}


def test_metadata_that_is_compressed(session, tmp_path: Path) -> None:
    list(session.run(TABLE))
    folder = tmp_path / "lake" / "shop" / "sales" / "metadata"
    written = folder / "v1.metadata.json"
    (folder / "v2.gz.metadata.json").write_bytes(gzip.compress(written.read_bytes()))
    other = open_session(tmp_path, CREATE.replace("'lake')", f"'file://{tmp_path}/lake')"))
    assert rows(other, "SHOW TABLES FROM lake.shop;") == [("sales",)]
    list(other.run("ALTER TABLE lake.shop.sales SET ('write.format.default' = 'orc');"))
    assert (folder / "v3.metadata.json").exists()
    other.close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DROP TABLE lake.shop.sales;", "DROP deletes no data"),
        ("DROP DATABASE lake.shop CASCADE;", "DROP deletes no data"),
        ("ALTER TABLE lake.shop.sales RENAME TO other;", "can't be renamed"),
        ("ALTER TABLE lake.shop.sales ADD (more INT);", "Columns of an Iceberg table are not changed here."),
        ("CREATE TABLE lake.shop.w (ts TIMESTAMP(3), WATERMARK FOR ts AS ts);", "keeps no WATERMARK"),
        ("CREATE TABLE lake.shop.w (a INT, b AS a + 1);", "keeps no WATERMARK, and no computed"),
        ("CREATE TABLE lake.shop.w (a TIME(0));", "can't have a column of type TIME(0) ('a')"),
        ("CREATE TABLE lake.shop.w (a INT) WITH ('connector' = 'kafka');", "'connector' is no property of an Iceberg table."),
        ("CREATE TABLE lake.shop.w (a INT) WITH ('location' = '/x');", "no other location"),
        ("CREATE VIEW lake.shop.v AS SELECT 1 AS a;", "keeps no views"),
    ],
)
def test_what_is_refused(session, tmp_path: Path, statement: str, message: str) -> None:
    list(session.run(TABLE))
    error = refusal(session, statement)
    assert message in error.message and error.hint
    assert sorted(p.name for p in (tmp_path / "lake" / "shop").iterdir()) == ["sales"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'catalog-type' = 'hadoop'", "needs the option 'warehouse'"),
        ("'catalog-type' = 'hadoop', 'warehouse' = 's3://bucket/lake'", "only folders of this machine can"),
        ("'uri' = 'thrift://nowhere:9083'", "pip install 'pyiceberg[hive]'"),
        ("'catalog-type' = 'rest'", "needs the option 'uri'"),
        ("'catalog-type' = 'jdbc', 'uri' = 'x'", "A catalog of type 'jdbc' can't be opened."),
        ("'catalog-impl' = 'a.b.C'", "A catalog of a class can't be opened."),
    ],
)
def test_catalogs_that_can_not_be_opened(session, options: str, message: str) -> None:
    error = refusal(session, f"CREATE CATALOG other WITH ('type' = 'iceberg', {options});")
    assert message in error.message or message in (error.hint or "")


def test_a_table_that_another_process_has_made(session, tmp_path: Path) -> None:
    other = open_session(tmp_path, CREATE)
    list(other.run(TABLE))
    assert "already exists" in refusal(session, TABLE).message
    list(session.run(TABLE.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")))
    other.close()


@pytest.mark.spark
def test_rows_go_in_and_come_out(tmp_path: Path, engine) -> None:
    script = (
        CREATE
        + """
    USE CATALOG lake;
    CREATE DATABASE shop;
    USE shop;
    SET 'table.dml-sync' = 'true';
    CREATE TABLE totals (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED);
    CREATE TABLE copies (k STRING, n BIGINT) PARTITIONED BY (k);
    INSERT INTO totals SELECT k, COUNT(*) FROM (VALUES ('a'), ('b'), ('a')) AS v(k) GROUP BY k;
    INSERT INTO totals SELECT k, COUNT(*) FROM (VALUES ('a')) AS v(k) GROUP BY k;
    INSERT INTO copies SELECT * FROM totals;
    """
    )
    session = open_session(tmp_path, script, engine=engine)
    assert sorted(rows(session, "SELECT k, n FROM lake.shop.copies;")) == [("a", "1"), ("b", "1")]
    session.close()


@pytest.fixture
def rest(tmp_path: Path):
    catalog = RestCatalog(tmp_path / "lake")
    yield catalog
    catalog.close()


def opening(rest: RestCatalog) -> str:
    return f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = '{rest.uri}', 'token' = '${{env:LAKE_TOKEN}}');"


def test_a_rest_catalog(tmp_path: Path, rest: RestCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_TOKEN", TOKEN)
    session = open_session(tmp_path, opening(rest) + "CREATE DATABASE lake.shop;" + TABLE)
    assert rows(session, "SHOW DATABASES FROM lake;") == [("default",), ("shop",)]
    ((shown,),) = rows(session, "SHOW CREATE TABLE lake.shop.sales;")
    assert "'token' = '******'" in shown and TOKEN not in shown
    list(session.run("ALTER TABLE lake.shop.sales SET ('write.format.default' = 'avro');"))
    list(session.run("ALTER TABLE lake.shop.sales RENAME TO sold;"))
    other = open_session(tmp_path, opening(rest))
    assert rows(other, "SHOW TABLES FROM lake.shop;") == [("sold",)]
    ((shown,),) = rows(other, "SHOW CREATE TABLE lake.shop.sold;")
    assert "'write.format.default' = 'avro'" in shown and "PRIMARY KEY (`id`) NOT ENFORCED" in shown
    list(other.run("CREATE TABLE lake.`default`.t (id INT); DROP TABLE lake.shop.sold; DROP DATABASE lake.shop;"))
    assert list(rest.tables) == [(("default",), "t")]
    session.close()
    other.close()


def test_a_rest_catalog_that_lets_nobody_in(session, rest: RestCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_TOKEN", "hunter2")
    error = refusal(session, opening(rest).replace("lake WITH", "rest WITH"))
    assert "NotAuthorizedException" in error.message and "hunter2" not in error.message


@pytest.mark.spark
def test_rows_of_a_rest_catalog(tmp_path: Path, engine, rest: RestCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both clients speak with it: pyiceberg's, and Spark's."""
    monkeypatch.setenv("LAKE_TOKEN", TOKEN)
    script = (
        opening(rest)
        + """
    SET 'table.dml-sync' = 'true';
    CREATE TABLE lake.`default`.totals (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
    INSERT INTO lake.`default`.totals VALUES ('a', 1), ('b', 1);
    INSERT INTO lake.`default`.totals VALUES ('a', 2);
    """
    )
    session = open_session(tmp_path, script, engine=engine)
    assert sorted(rows(session, "SELECT k, n FROM lake.`default`.totals;")) == [("a", "2"), ("b", "1")]
    session.close()
