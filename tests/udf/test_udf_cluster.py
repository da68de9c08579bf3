"""The user's functions on a cluster whose workers have neither the project's files nor this package."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sqlstream.cli.kafka.process import free_port
from tests.support.cluster import QUICK, daemon, wait_for

if TYPE_CHECKING:
    from pathlib import Path

MODULE = '''
import sys

from pyflink.common import Row
from pyflink.table import DataTypes
from pyflink.table.udf import AggregateFunction, ScalarFunction, udaf, udf, udtf

from shapes import SHAPES, Shape, named


class Where(ScalarFunction):
    def open(self, function_context):
        self.word = function_context.get_job_parameter("word", "")

    def eval(self, n: int) -> str:
        import sqlstream

        from areas import AREAS

        local = any("udfs" in path for path in sys.path) or AREAS[n] != n
        return f"{self.word} {named(SHAPES[n])} {'zip' if '.zip' in sqlstream.__file__ else sqlstream.__file__} {local}"


where = udf(Where(), result_type=DataTypes.STRING())


@udf(result_type="BIGINT", func_type="pandas")
def squared(n):
    return n * n


@udtf(result_types=["STRING", "INT"])
def items(n: int):
    for i in range(n):
        yield Row(Shape(str(i)).name, i)


class Gathered(AggregateFunction):
    """Its rows are folded into it where executors run."""

    def create_accumulator(self):
        return [Shape("sum"), 0, set()]

    def accumulate(self, accumulator, n: int):
        import sqlstream

        from areas import AREAS

        accumulator[1] += n + AREAS[0]
        accumulator[2].add(".zip" in sqlstream.__file__ and not any("udfs" in path for path in sys.path))

    def retract(self, accumulator, n: int):
        accumulator[1] -= n

    def get_value(self, accumulator) -> str:
        return f"{named(accumulator[0])} {accumulator[1]} {accumulator[2]}"


gathered = udaf(Gathered())
'''
SHAPES = """
from dataclasses import dataclass


@dataclass
class Shape:
    name: str


SHAPES = [Shape("circle"), Shape("square")]


def named(shape):
    return shape.name.upper()
"""
SCRIPT = """
SET 'execution.runtime-mode' = 'batch';
SET 'sql-client.execution.result-mode' = 'tableau';
SELECT `where`(n), squared(n + 1), w, i FROM (VALUES (0), (1)) AS t (n) LEFT JOIN LATERAL TABLE(items(n)) AS e (w, i) ON TRUE ORDER BY n;
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE changes (n BIGINT) WITH ('connector' = 'filesystem', 'path' = '${CHANGES}', 'format' = 'debezium-json');
SELECT gathered(n) FROM changes;
"""


@pytest.mark.spark
@pytest.mark.slow
def test_functions_on_a_cluster(tmp_path: Path, monkeypatch) -> None:
    project = tmp_path / "project"
    (project / "udfs").mkdir(parents=True)
    (project / "udfs" / "calls.py").write_text(MODULE)
    (project / "udfs" / "shapes.py").write_text(SHAPES)
    (project / "udfs" / "areas.py").write_text("from shapes import SHAPES\n\nAREAS = [0, len(SHAPES) - 1]\n")
    (project / "job.sql").write_text(SCRIPT)
    (tmp_path / "changes").mkdir()
    changes = [{"before": None, "after": {"n": n}, "op": "c"} for n in range(2500)] + [{"before": {"n": 7}, "after": None, "op": "d"}]
    (tmp_path / "changes" / "all.json").write_text("".join(f"{json.dumps(change)}\n" for change in changes))
    port = free_port()
    deploy, options = "org.apache.spark.deploy", ("--host", "127.0.0.1", "--webui-port", "0")
    master = f"spark://127.0.0.1:{port}"
    with contextlib.ExitStack() as stack:
        with monkeypatch.context() as bare:
            bare.delenv("PYTHONPATH", raising=False)
            log = stack.enter_context(daemon(tmp_path, "master", f"{deploy}.master.Master", *options, "--port", str(port)))
            wait_for(log, "I have been elected leader")
            work = ("--cores", "1", "--memory", "768m", "--work-dir", str(tmp_path / "work"))
            log = stack.enter_context(daemon(tmp_path, "worker", f"{deploy}.worker.Worker", *options, *work, master))
            wait_for(log, "Successfully registered with master")
        settings = ["spark.executor.memory=512m", "spark.sql.shuffle.partitions=1", "spark.driver.host=127.0.0.1", f"spark.driver.extraJavaOptions={QUICK}",
                    f"spark.executor.extraJavaOptions={QUICK}", "table.local-time-zone=UTC",
                    "pipeline.global-job-parameters=word:a"]  # fmt: skip
        command = [
            sys.executable,
            "-m",
            "sqlstream",
            "--project",
            str(project),
            "--master",
            master,
            "-f",
            str(project / "job.sql"),
            "--output",
            "csv",
        ]
        command += ["--var", f"CHANGES={tmp_path / 'changes'}"]
        done = subprocess.run([*command, *(part for s in settings for part in ("-D", s))], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ["a CIRCLE zip False,1,,", "a SQUARE zip False,4,0,0", "op,EXPR$0", "+I,SUM 3123743 {True}"]
