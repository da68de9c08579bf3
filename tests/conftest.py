"""Services that tests need, each started once a run (the development broker, an HDFS, an S3) or once a process of it (a Spark session, a PostgreSQL)."""

from __future__ import annotations

import gc
import os
import platform
import signal
import sys
import time
import uuid
from typing import TYPE_CHECKING, TypeVar

import pytest

from sqlstream.core import spark_releases
from tests.support import needs, sessions
from tests.support.shared import shared

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.hdfs import Hdfs
    from tests.support.mariadb import MariaDb
    from tests.support.opensearch import OpenSearch
    from tests.support.postgres import Postgres
    from tests.support.s3 import S3

    Server = TypeVar("Server", MariaDb, Postgres)

os.environ.setdefault("TZ", "UTC")
# Sessions of tests use the archive that `make test` has built, and leave no process behind that builds one.
os.environ.setdefault("SQLSTREAM_CLASS_ARCHIVE", "no-build")
# Every JVM that tests start, through however many processes. None lives so long that code that is compiled well pays, a third of its processor time,
# or has so much memory that collecting it beside the program pays, a tenth. Classes are collected when they fill what a JVM of few would have.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=400m")
time.tzset()
# The release of Spark that the run is on; of tests for one alone the others are left out.
RELEASE = spark_releases.RELEASES[os.environ.get("SQLSTREAM_TEST_SPARK", spark_releases.INSTALLED)]
spark_releases.use(RELEASE, print)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expectations of goldens and fixtures")


# What takes long to start, and is started once: all tests of one are run in one process.
SERVICES = {"hdfs", "opensearch", "s3"}


# Before pytest-xdist's own, which writes the groups that it finds into the names of tests.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest is begun first, so that no process of a run is left with it at the end. What tests share is in one process."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    for item in items:
        chosen = item.callspec.params.values() if hasattr(item, "callspec") else ()
        services = SERVICES.intersection([*item.fixturenames, *(value for value in chosen if isinstance(value, str))])
        fixtures = [fixture for found in item._fixtureinfo.name2fixturedefs.values() for fixture in found]
        if services:
            item.add_marker(pytest.mark.xdist_group(min(services)))
        elif any(fixture.scope == "module" for fixture in fixtures):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups that pytest-xdist lost would be seen in the time of a run alone. The collector of garbage need not look at thousands of tests each time."""
    gc.freeze()
    marked = (item for item in session.items if item.get_closest_marker("xdist_group"))
    if session.config.getoption("loadgroup", False) and not all("@" in item.nodeid for item in marked):
        raise pytest.UsageError("pytest-xdist knows no groups of tests with this pytest")


def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("spark_release")
    if marker is not None and marker.args[0] != RELEASE.name:
        pytest.skip(f"it is about Spark {marker.args[0]}, and the run is on {RELEASE.name}")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expectations are rewritten instead of compared."""
    return bool(request.config.getoption("--update"))


@pytest.fixture(scope="session", autouse=True)
def heard():
    """A run in the background of a script is started with SIGINT ignored, under nohup with SIGHUP; the tests send both to themselves."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGHUP: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """After a test that took too long nobody waits for the JVM's answer: the next call must not get it."""
    if call.excinfo is not None and call.excinfo.errisinstance(pytest.fail.Exception) and "Timeout" in str(call.excinfo.value):
        from pyspark import SparkContext

        gateway = SparkContext._gateway
        connection = None if gateway is None else gateway._gateway_client.get_thread_connection()
        if connection is not None:
            connection.close()
    if call.when == "call" and call.excinfo is not None:
        for session in sessions.opened:
            item.addfinalizer(session.close)
    return (yield)


def pytest_runtest_call() -> None:
    sessions.opened.clear()


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project folder under which the run's Spark session keeps its log."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def engine(spark_home: Path):
    """The Spark engine that every test of the run shares."""
    from sqlstream.runtime.engine.session import Engine

    options = {
        spark_releases.OPTION: RELEASE.name,
        # In real time each task has a slot, and mostly waits.
        "spark.master": "local[16]" if RELEASE.stateful_real_time else "local[2]",
        # Where a test needs no more: the second costs a tenth of the processor time of all tests.
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        # Thousands of small plans: the 48 MB for compiled code are full after some hundred tests, and then that of what is in use is dropped and
        # made again.
        "spark.driver.extraJavaOptions": "-XX:ReservedCodeCacheSize=400m -Xms1g",
        # Whose project says something of S3 has its file system.
        "spark.hadoop.fs.s3a.path.style.access": "true",
    }
    engine = Engine(spark_home, lambda: options, print)
    yield engine
    engine.stop()


@pytest.fixture(scope="session")
def spark(engine):
    """The Spark session."""
    return engine.spark


@pytest.fixture
def two_partitions(spark):
    """What is shuffled is so into two partitions: a shuffle that is forgotten gives other rows."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", before)


@pytest.fixture
def interpreted(spark):
    """Expressions of a few rows only: compiling them would take longer than they do."""
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    yield spark
    spark.conf.unset("spark.sql.codegen.factoryMode")
    spark.conf.unset("spark.sql.codegen.wholeStage")


class TestBroker:
    """The development broker, as tests use it."""

    __test__ = False

    def __init__(self, broker) -> None:
        self.broker = broker
        self.bootstrap: str = broker.bootstrap

    def topic(self, name: str, partitions: int = 1) -> None:
        self.broker.create_topic(name, partitions=partitions)

    def produce(self, topic: str, lines: list[str], partitions: int = 1) -> None:
        self.topic(topic, partitions)
        self.broker.produce(topic, lines)

    def send(self, topic: str, *records: tuple[int, str | None, str | None]) -> None:
        """Records (partition, key, value) that the broker has when this returns."""
        from confluent_kafka import Producer

        producer, problems = Producer({"bootstrap.servers": self.bootstrap}), []
        for partition, key, value in records:
            producer.produce(topic, value, key, partition, on_delivery=lambda error, _: problems.append(error))
        assert producer.flush(30) == 0
        assert problems == [None] * len(records)


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestBroker]:
    """A real Kafka broker, the same one in all processes of a run."""
    from sqlstream.cli.kafka.broker import Broker
    from sqlstream.cli.kafka.process import free_port

    folder = tmp_path_factory.getbasetemp()
    one = Broker((folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "broker")
    # Not at the usual port, for which two runs would vie.
    with shared(one.project, lambda: one.start(port=free_port()), one.stop):
        yield TestBroker(one)


@pytest.fixture
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestBroker]:
    """A broker that no other test has, to be stopped and killed."""
    from sqlstream.cli.kafka.broker import Broker
    from sqlstream.cli.kafka.process import free_port

    own = Broker(tmp_path_factory.mktemp("broker"))
    own.start(port=free_port())
    yield TestBroker(own)
    own.stop()


def served(server: type[Server]) -> Iterator[Server]:
    """A database's server for the run, where there are binaries of it."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        needs.missing(f"Linux on x86-64, for which there is a {server.__name__}")
    started = server()
    try:
        started.start()
        yield started
    finally:
        started.remove()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL."""
    from tests.support.postgres import Postgres

    yield from served(Postgres)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDb]:
    """A real MariaDB."""
    from tests.support.mariadb import MariaDb

    yield from served(MariaDb)


@pytest.fixture(scope="session")
def opensearch() -> Iterator[OpenSearch]:
    """A real OpenSearch."""
    from tests.support.opensearch import OpenSearch

    started = OpenSearch()
    try:
        started.start()
        yield started
    finally:
        started.remove()


@pytest.fixture(scope="session")
def hdfs() -> Iterator[Hdfs]:
    """A real HDFS."""
    from tests.support.hdfs import Hdfs

    started = Hdfs()
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    """A real S3 API."""
    from tests.support.s3 import S3

    started = S3()
    started.start()
    yield started
    started.stop()


@pytest.fixture
def hdfs_folder(hdfs: Hdfs) -> str:
    """The URL of a folder of HDFS that is nobody else's."""
    return f"{hdfs.url}/test-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def s3_folder(s3: S3, spark) -> str:
    """The URL of a bucket of S3 that is nobody else's, and that the Spark session knows."""
    s3.known_to(spark)
    return s3.bucket(f"test-{uuid.uuid4().hex[:8]}")


@pytest.fixture(params=["hdfs", "s3"])
def remote_folder(request: pytest.FixtureRequest) -> str:
    """The URL of a folder of HDFS, and of S3, that is nobody else's."""
    return str(request.getfixturevalue(f"{request.param}_folder"))
