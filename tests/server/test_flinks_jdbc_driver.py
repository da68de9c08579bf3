"""Flink's own JDBC driver, as it is: what DBeaver and others connect with. It runs in Spark's JVM, with classes of its own."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from py4j.protocol import Py4JJavaError

from sqlstream.core import jars
from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server.client import Client

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]


@pytest.fixture(scope="session")
def driver(spark) -> Iterator[Any]:
    """The driver: one of a run, for py4j knows methods by the names of their classes."""
    jvm, gateway = spark.sparkContext._jvm, spark.sparkContext._gateway
    # It has no logger of its own.
    found = [*jars.ensure("flink"), *(Path(pyspark.__file__).parent / "jars").glob("slf4j-api-*.jar")]
    urls = gateway.new_array(jvm.java.net.URL, len(found))
    for i, jar in enumerate(found):
        urls[i] = jvm.java.io.File(str(jar)).toURI().toURL()
    loader = jvm.java.net.URLClassLoader(urls, jvm.java.lang.ClassLoader.getPlatformClassLoader())
    yield loader.loadClass("org.apache.flink.table.jdbc.FlinkDriver").newInstance()
    loader.close()


class Connections:
    """Connections by the driver to one server."""

    def __init__(self, client: Client, driver: Any) -> None:
        self._properties = client.server.spark.sparkContext._jvm.java.util.Properties
        self._driver = driver
        self._address = client.address.removeprefix("http://").replace("127.0.0.1", "localhost")
        self._open: list[Any] = []

    def open(self, path: str = "", **options: str) -> Any:
        properties = self._properties()
        for key, value in options.items():
            properties.setProperty(key.replace("__", ".").replace("_", "-"), value)
        made = self._driver.connect(f"jdbc:flink://{self._address}{path}", properties)
        self._open.append(made)
        return made

    def close(self) -> None:
        for each in self._open:
            each.close()


@pytest.fixture
def connections(on_spark: Client, driver: Any) -> Iterator[Connections]:
    made = Connections(on_spark, driver)
    yield made
    made.close()


def rows(result: Any, columns: int) -> list[tuple[Any, ...]]:
    """The rest of a result, as texts."""
    found = []
    while result.next():
        found.append(tuple(result.getString(i + 1) for i in range(columns)))
    return found


def test_catalogs_and_schemas(connections: Connections) -> None:
    connection = connections.open()
    connection.createStatement().execute("CREATE DATABASE d")
    about = connection.getMetaData()
    assert rows(about.getCatalogs(), 1) == [("default_catalog",)]
    assert sorted(rows(about.getSchemas(), 2)) == [("d", "default_catalog"), ("default_database", "default_catalog")]
    connection.setSchema("d")
    assert (connection.getCatalog(), connection.getSchema()) == ("default_catalog", "d")
    assert connection.getClientInfo("table.local-time-zone") == "UTC"
    connection.setClientInfo("execution.runtime-mode", "batch")
    assert connection.getClientInfo("execution.runtime-mode") == "batch"


def test_a_database_in_the_address(connections: Connections) -> None:
    assert connections.open("/default_catalog/default_database").getSchema() == "default_database"
    with pytest.raises(Py4JJavaError) as refused:
        connections.open("/default_catalog/nowhere")
    assert "nowhere" in str(refused.value)


def test_columns_and_values(connections: Connections) -> None:
    statement = connections.open(execution__runtime_mode="batch").createStatement()
    result = statement.executeQuery(
        "SELECT CAST(1 AS BIGINT) AS a, 'ü' AS b, CAST(1.5 AS DECIMAL(5, 2)) AS c, TIMESTAMP '2020-01-01 10:00:00.5' AS d, TRUE AS e, CAST(NULL AS INT) AS f,"
        " DATE '2020-01-02' AS g, 2.5e0 AS h, x'0aff' AS i"
    )
    about = result.getMetaData()
    names = [(about.getColumnName(i), about.getColumnTypeName(i)) for i in range(1, about.getColumnCount() + 1)]
    assert names[:3] == [("a", "BIGINT NOT NULL"), ("b", "CHAR(1) NOT NULL"), ("c", "DECIMAL(5, 2) NOT NULL")], names
    assert result.next()
    assert result.getLong("a") == 1
    assert result.getString("b") == "ü"
    assert str(result.getBigDecimal("c")) == "1.50"
    assert str(result.getTimestamp("d")) == "2020-01-01 10:00:00.5"
    assert result.getBoolean("e") is True
    assert result.getObject("f") is None
    assert str(result.getDate("g")) == "2020-01-02"
    assert result.getDouble("h") == 2.5
    assert bytes(result.getBytes("i")) == b"\x0a\xff"
    assert not result.next()


def test_a_stream_and_its_end(connections: Connections, on_spark: Client, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    connection = connections.open()
    statement = connection.createStatement()
    statement.execute(
        f"CREATE TABLE f (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', 'format' = 'json', 'source.monitor-interval' = '1 s')"
    )
    result = connection.createStatement().executeQuery("SELECT id FROM f")
    feed(tmp_path / "in", {"id": 1}, {"id": 2})
    assert [result.getInt("id") for _ in range(2) if result.next()] == [1, 2]
    feed(tmp_path / "in", {"id": 3})
    assert result.next() and result.getInt("id") == 3
    # Another statement of the same connection, meanwhile.
    assert statement.execute("SHOW TABLES")
    assert rows(statement.getResultSet(), 1) == [("f",)]
    closing = threading.Thread(target=result.close)
    closing.start()
    closing.join(60)
    assert not closing.is_alive()
    until(lambda: not on_spark.queries())


def test_errors(connections: Connections) -> None:
    statement = connections.open().createStatement()
    with pytest.raises(Py4JJavaError) as refused:
        statement.execute("SELECT nope FROM nowhere")
    assert "Object 'nowhere' not found" in str(refused.value)
    assert statement.execute("SHOW CURRENT CATALOG")


def test_a_job(connections: Connections, on_spark: Client) -> None:
    connection = connections.open()
    statement = connection.createStatement()
    statement.execute("CREATE TABLE many (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '5')")
    statement.execute("CREATE TABLE nowhere WITH ('connector' = 'blackhole') LIKE many (EXCLUDING ALL)")
    statement.execute("INSERT INTO nowhere SELECT id FROM many")
    result = statement.getResultSet()
    assert result.next()
    (job,) = on_spark.server.jobs
    assert result.getString(1) == job.id
    connection.close()
    assert job.lives
    on_spark.server.jobs.stop(job.id)
