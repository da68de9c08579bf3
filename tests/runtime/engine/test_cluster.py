"""The same package on a Spark cluster: a standalone master and a worker with two executors, from the jars inside pyspark."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import DeltaTable
from sqlstream.cli.kafka.process import free_port
from tests.support.cluster import QUICK, daemon, wait_for

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
CREATE TABLE numbers (id INT, ts AS TO_TIMESTAMP_LTZ(id * 1000, 3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = '${TOPIC}', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'json',
      'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE result_table (window_end TIMESTAMP(3), n BIGINT) WITH ('connector' = 'delta', 'table-path' = 'result');
SET 'table.dml-sync' = 'true';
INSERT INTO result_table SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end;
"""
# Where each task commits its own.
COPIES = """
CREATE TABLE copies (id INT) WITH ('connector' = 'kafka', 'topic' = '${TOPIC}-copies', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'json',
      'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '${TOPIC}');
INSERT INTO copies SELECT id FROM numbers;
CREATE TABLE again (id INT) WITH ('connector' = 'kafka', 'topic' = '${TOPIC}-copies', 'properties.bootstrap.servers' = '${BOOTSTRAP}', 'format' = 'json',
      'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'properties.isolation.level' = 'read_committed');
SET 'execution.runtime-mode' = 'batch';
SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids FROM again;
"""
# Rows and operators of another connector.
LOOKUP = """
CREATE TABLE tens (ten INT, name STRING) WITH (${DATABASE}, 'table-name' = 'tens');
CREATE TABLE named (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (${DATABASE}, 'table-name' = 'named');
INSERT INTO named SELECT n.id, t.name FROM (SELECT id, id / 10 AS ten, PROCTIME() AS p FROM numbers) AS n JOIN tens FOR SYSTEM_TIME AS OF n.p AS t ON n.ten = t.ten;
"""

# Classes that executors get while they run.
LAKE = """
CREATE TABLE odd (id INT, cnt BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
INSERT INTO odd SELECT MOD(id, 2), COUNT(*) FROM numbers GROUP BY MOD(id, 2);
INSERT INTO odd SELECT MOD(id, 2), COUNT(*) + 1 FROM numbers GROUP BY MOD(id, 2);
SELECT * FROM odd WHERE id = 1;
"""


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.slow
def test_iceberg_on_a_cluster(tmp_path: Path, broker) -> None:
    said = on_a_cluster(tmp_path, broker, SCRIPT + LAKE)
    assert_windows(tmp_path)
    assert re.search(r"\|\s+1 \|\s+151 \|", said)


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.long
def test_a_standalone_cluster(tmp_path: Path, broker) -> None:
    said = on_a_cluster(tmp_path, broker, SCRIPT + COPIES)
    assert_windows(tmp_path)
    assert re.search(r"\|\s+300 \|\s+300 \|", said)


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.postgres
@pytest.mark.slow
def test_a_database_beside_it(tmp_path: Path, broker, postgres) -> None:
    postgres.run("CREATE TABLE tens (ten int, name text)", "INSERT INTO tens VALUES (1, 'ten'), (29, 'last')")
    postgres.run("CREATE TABLE named (id int PRIMARY KEY, name text)")
    database = {k: v for k, v in postgres.options("").items() if k != "table-name"}
    options = ", ".join("'{}' = '{}'".format(k, v.replace("'", "''")) for k, v in database.items())
    on_a_cluster(tmp_path, broker, SCRIPT + LOOKUP, f"DATABASE={options}")
    assert_windows(tmp_path)
    assert postgres.run("SELECT name, count(*), min(id) FROM named GROUP BY name ORDER BY name") == [["last", 10, 290], ["ten", 10, 10]]


def on_a_cluster(tmp_path: Path, broker, script: str, *variables: str) -> str:
    """Run ``script`` over the topic on two executors: its output."""
    topic = f"cluster-{uuid.uuid4().hex[:8]}"
    broker.produce(topic, [f'{{"id": {n}}}' for n in range(300)], partitions=2)
    (tmp_path / "job.sql").write_text(script)
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    options = ("--host", "127.0.0.1", "--webui-port", "0")
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(daemon(tmp_path, "master", f"{deploy}.master.Master", *options, "--port", str(port)))
        wait_for(log, "I have been elected leader")
        work = ("--cores", "2", "--memory", "1536m", "--work-dir", str(tmp_path / "work"))
        log = stack.enter_context(daemon(tmp_path, "worker", f"{deploy}.worker.Worker", *options, *work, master))
        wait_for(log, "Successfully registered with master")
        settings = ["spark.executor.memory=512m", "spark.executor.cores=1", "spark.cores.max=2", "spark.sql.shuffle.partitions=2",
                    "spark.driver.host=127.0.0.1", f"spark.driver.extraJavaOptions={QUICK}", f"spark.executor.extraJavaOptions={QUICK}",
                    "table.local-time-zone=UTC"]  # fmt: skip
        command = [sys.executable, "-m", "sqlstream", "--project", str(tmp_path), "--master", master, "-f", str(tmp_path / "job.sql")]
        for variable in (f"BOOTSTRAP={broker.bootstrap}", f"TOPIC={topic}", *variables):
            command += ["--var", variable]
        command += [part for s in settings for part in ("-D", s)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "Complete execution of the SQL update statement." in done.stderr
    executors = [*(tmp_path / "work").glob("app-*/*/stderr")]
    assert len(executors) >= 2, "the rows go between processes"
    return done.stdout


def assert_windows(tmp_path: Path) -> None:
    rows = DeltaTable(tmp_path / "result").rows()
    assert {(end.replace(tzinfo=UTC), n): times for (end, n), times in rows.items()} == {
        (datetime(1970, 1, 1, 0, m, tzinfo=UTC), 60): 1 for m in range(1, 6)
    }
