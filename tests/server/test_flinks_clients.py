"""Flink's SQL client and its command line, as they are: set FLINK_HOME to a Flink with its libraries in lib and opt."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import feed
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.server.client import Client

pytestmark = [pytest.mark.spark, pytest.mark.oracle]
OPENS = "lang lang.invoke lang.reflect net nio text time util util.concurrent util.concurrent.atomic util.concurrent.locks"


def flink(main: str, *arguments: str) -> str:
    """What a program of Flink's prints."""
    home = os.environ.get("FLINK_HOME")
    if home is None:
        pytest.skip("FLINK_HOME is not set")
    opened = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENS.split()]
    environment = {**os.environ, "FLINK_CONF_DIR": f"{home}/conf", "FLINK_LIB_DIR": f"{home}/lib", "FLINK_OPT_DIR": f"{home}/opt"}
    command = [
        "java",
        "-Xmx1g",
        *opened,
        f"-Dlog4j.configurationFile={home}/conf/log4j.properties",
        "-cp",
        f"{home}/lib/*:{home}/opt/*",
        main,
        *arguments,
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    return re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)


def client_of(on_spark: Client, tmp_path: Path, script: str) -> str:
    """What Flink's SQL client prints for a script."""
    file = tmp_path / "script.sql"
    file.write_text(script)
    return flink("org.apache.flink.table.client.SqlClient", "gateway", "--endpoint", on_spark.address.removeprefix("http://"), "-f", str(file))


def test_a_script(on_spark: Client, tmp_path: Path) -> None:
    printed = client_of(
        on_spark,
        tmp_path,
        """SET 'sql-client.execution.result-mode' = 'tableau';
        CREATE TABLE g (id INT NOT NULL, n DECIMAL(10, 2)) WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.id.kind' = 'sequence',
          'fields.id.start' = '1', 'fields.id.end' = '3');
        DESCRIBE g;
        SELECT id, COUNT(*) AS c FROM g GROUP BY id;
        SELECT ARRAY[1, 2] AS a, MAP['x', 1.5] AS b, ROW(1, 'ü') AS c, CAST(NULL AS INT) AS d, TIMESTAMP '2020-01-01 10:00:00' AS e, TRUE AS f;
        SET 'execution.runtime-mode' = 'batch';
        SELECT id FROM g ORDER BY id DESC;
        SELECT nope FROM g;
        """,
    )
    for line in (
        "|   id |            INT | FALSE |     |        |           |",
        "| +I |           3 |                    1 |",
        "| +I |                         [1, 2] |                        {x=1.5} |                         (1, ü) |      <NULL> | 2020-01-01 10:00:00 |   TRUE |",
        "Received a total of 3 rows",
        "org.apache.flink.table.api.ValidationException: Column 'nope' not found in any table",
    ):
        assert line in printed, printed
    assert re.search(r"\|\s+3 \|\n\|\s+2 \|\n\|\s+1 \|\n", printed), printed


def test_jobs_of_the_command_line(on_spark: Client, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', 'format' = 'json', 'source.monitor-interval' = '1 s'"
    printed = client_of(
        on_spark,
        tmp_path,
        f"""CREATE TABLE f (id INT) WITH ({options});
        CREATE TABLE t (id INT) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / "t"}');
        SET 'pipeline.name' = 'copying';
        INSERT INTO t SELECT id FROM f;
        """,
    )
    found = re.search(r"Job ID: ([0-9a-f]{32})", printed)
    assert found is not None, printed
    job, port = found[1], on_spark.address.rpartition(":")[2]
    feed(tmp_path / "in", {"id": 1})

    def command(*arguments: str) -> str:
        where = ("-t", "remote", "-Drest.address=localhost", f"-Drest.port={port}")
        return flink("org.apache.flink.client.cli.CliFrontend", arguments[0], *where, *arguments[1:])

    assert f"{job} : copying (RUNNING)" in command("list")
    saved = re.search(r"Savepoint completed. Path: (\S+)", command("savepoint", job))
    assert saved is not None and Path(saved[1].removeprefix("file:").removeprefix("//")).is_dir()
    stopped = command("stop", job)
    assert "Savepoint completed" in stopped, stopped
    until(lambda: "No running jobs" in command("list"))
