"""Runs every golden: its plan without a JVM, its rows on Spark step by step, its rows on real Flink (-m oracle)."""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest
from golden import MONITOR, SCRIPTS, Golden, read, rewrite_plan, rewrite_rows, table

from sqlstream.core.errors import SqlStreamError
from sqlstream.runtime.checkpoints import QueryRecord
from sqlstream.runtime.jobs.folder.generations import OPERATORS
from sqlstream.runtime.jobs.folder.versions import Version
from sqlstream.runtime.lower.context import Lowering
from sqlstream.runtime.lower.row import row
from sqlstream.session.results import Submitted
from sqlstream.session.session import Session
from tests.support.sessions import catch_up, optimized_plan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from sqlstream.plan.nodes import Node
    from sqlstream.runtime.jobs.job import Job

GOLDENS = [read(path) for path in SCRIPTS]


def ids(golden: Golden) -> str:
    return golden.path.stem


def session(project: Path, golden: Golden, emit=print, engine=None) -> Session:
    for name in golden.inputs:
        (project / name).mkdir(exist_ok=True)
    return Session(
        project,
        options={"table.local-time-zone": "UTC", "spark.master": "local[2]"},
        variables={"DIR": str(project)},
        emit=emit,
        engine=engine,
    )


@pytest.fixture(params=["interpreted", pytest.param("compiled", marks=pytest.mark.slow)])
def code(request: pytest.FixtureRequest) -> str:
    """How Spark computes expressions."""
    if request.param == "interpreted":
        request.getfixturevalue("interpreted")
    return request.param


@pytest.fixture(autouse=True)
def columns_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each node's rows have its columns, in order: operators above, as a UNION, know them by their places."""
    mark = Lowering.mark

    def checked(to: Lowering, node: Node, frame: DataFrame) -> None:
        assert tuple(frame.columns) == row(node), node
        mark(to, node, frame)

    monkeypatch.setattr(Lowering, "mark", checked)


@pytest.mark.parametrize("golden", GOLDENS, ids=ids)
def test_plan(golden: Golden, tmp_path: Path, update: bool) -> None:
    declarations, insert = re.fullmatch(r"(.*;)\s*(INSERT.*?;)[^;]*", golden.sql, re.S).groups()
    client = session(tmp_path, golden)
    list(client.run(declarations))
    if golden.error:
        with pytest.raises(SqlStreamError, match=re.escape(golden.error)):
            list(client.run(f"EXPLAIN {insert}"))
        return
    plan = optimized_plan(client, insert).splitlines()
    if update:
        rewrite_plan(golden, plan)
    else:
        assert plan == golden.plan


@pytest.mark.spark
@pytest.mark.usefixtures("two_partitions")
@pytest.mark.parametrize("golden", [g for g in GOLDENS if not g.error], ids=ids)
def test_rows(golden: Golden, code: str, tmp_path: Path, engine, update: bool) -> None:
    emitted: list[str] = []
    rows: list[list[str]] = []
    client = session(tmp_path, golden, emitted.append, engine)
    job = submitted(client, golden.sql)
    for number, step in enumerate(golden.steps):
        for name, line in step.rows_in:
            with (tmp_path / name / f".{number}").open("a") as file:
                file.write(line + "\n")
        with not_looking(job):
            for name in {name for name, _ in step.rows_in}:
                (tmp_path / name / f".{number}").rename(tmp_path / name / f"{number}.json")
        match step.action:
            case "restart":
                client.jobs.stop(job.id)
                job = submitted(client, golden.sql)
            case "end":
                client.jobs.stop(job.id, drain=True)
        if step.action != "end":
            catch_up(job)
        assert update or sorted(emitted) == sorted(step.rows_out), f"after step {number + 1}: {step}"
        rows.append(step.rows_out if sorted(emitted) == sorted(step.rows_out) else list(emitted))
        emitted.clear()
    if job.status.value == "RUNNING":
        client.jobs.stop(job.id)
    check_state(job)
    client.close()
    if update and any(found != step.rows_out for found, step in zip(rows, golden.steps, strict=True)):
        rewrite_rows(golden, rows)


@contextmanager
def not_looking(job: Job) -> Iterator[None]:
    """Meanwhile the job doesn't ask its sources for rows: those of one step come in one micro-batch."""
    with ExitStack() as held:
        for query in job.queries:
            asking = query._jsq.streamingQuery().awaitProgressLock()
            asking.lock()
            held.callback(asking.unlock)
        yield


def check_state(job: Job) -> None:
    """What Spark keeps state for belongs to a node that says so: an upgrade would lose it else."""
    version = Version.read(job.folder)
    assert version is not None and version.plan is not None
    keeping = {node.id for sink in version.plan.sinks for node in sink.nodes if node.keeps_state}
    for file in (job.folder / OPERATORS).glob("*.json"):
        for operator in QueryRecord.from_json(file.read_text()).operators:
            assert operator.node in keeping, operator


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.usefixtures("two_partitions")
@pytest.mark.parametrize("golden", [g for g in GOLDENS if g.any_order], ids=ids)
def test_rows_in_any_order(golden: Golden, tmp_path: Path, engine) -> None:
    emitted: list[str] = []
    client = session(tmp_path, golden, emitted.append, engine)
    patient = re.sub(r"(WATERMARK FOR \w+ AS \w+)[^)]*?(?=\)\n)", r"\1 - INTERVAL '1' DAY", golden.sql)
    assert "INTERVAL '1' DAY" in patient
    job = submitted(client, patient)
    chance = random.Random(7)
    for name, rows in golden.in_time.items():
        chance.shuffle(rows)
        for part in range(2):
            (tmp_path / name / f".{part}").write_text("".join(f"{row}\n" for row in rows[part::2]))
            (tmp_path / name / f".{part}").rename(tmp_path / name / f"{part}.json")
    client.jobs.stop(job.id, drain=True)
    assert table(emitted) == table(golden.output)
    client.close()


@pytest.mark.spark
@pytest.mark.usefixtures("two_partitions")
@pytest.mark.parametrize("golden", [g for g in GOLDENS if g.batch], ids=ids)
def test_rows_in_batch_mode(golden: Golden, code: str, tmp_path: Path, engine) -> None:
    emitted: list[str] = []
    client = session(tmp_path, golden, emitted.append, engine)
    for name, rows in golden.in_time.items():
        (tmp_path / name / "all.json").write_text("".join(f"{row}\n" for row in rows))
    sql = "SET 'execution.runtime-mode' = 'batch'; SET 'table.dml-sync' = 'true';" + re.sub(r",\s*\)", ")", MONITOR.sub("", golden.sql))
    list(client.run(sql))
    assert table(emitted) == table(golden.output)
    client.close()


def submitted(client: Session, sql: str) -> Job:
    again = re.sub(r"CREATE (TABLE|VIEW) (?!IF)", r"CREATE \1 IF NOT EXISTS ", sql)
    outcomes = list(client.run(again))
    return client.jobs.find(next(o.job_id for o in outcomes if isinstance(o, Submitted)))


@pytest.mark.oracle
@pytest.mark.parametrize("golden", [g for g in GOLDENS if not g.error], ids=ids)
def test_rows_on_flink(golden: Golden, tmp_path: Path) -> None:
    for name, rows in golden.inputs.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.json").write_text("\n".join(rows) + "\n")
    bounded = re.sub(r",\s*\)", ")", MONITOR.sub("", golden.sql)).replace("${DIR}", str(tmp_path))
    script = tmp_path / "script.sql"
    script.write_text("SET 'table.local-time-zone' = 'UTC';\nSET 'table.dml-sync' = 'true';\n" + re.sub(r"(?m)^--[=<>!].*\n?", "", bounded))
    client = shlex.split(os.environ["FLINK_SQL_CLIENT"])
    done = subprocess.run([*client, str(script)], capture_output=True, text=True, check=True, timeout=280)
    rows = re.findall(r"([+-][IUD]\[.*\])$", done.stdout, re.M)
    assert table(rows, never_seen=golden.never_seen) == table(golden.output, never_seen=golden.never_seen), done.stdout
