"""Tables whose files are on HDFS or S3: written by jobs, read back, watched for new files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.session.results import Submitted
from sqlstream.session.session import Session
from tests.remote import Remote

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE bids (id INT, item STRING) WITH ('connector' = 'filesystem', 'path' = 'in/new bids ä=1', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE files (id INT, item STRING) PARTITIONED BY (item)
WITH ('connector' = 'filesystem', 'path' = 'out/files of ü % 日', 'format' = 'parquet');
CREATE TABLE lines (id INT, item STRING) WITH ('connector' = 'filesystem', 'path' = '{0}/lines here', 'format' = 'csv');
CREATE TABLE appended (id INT, item STRING) WITH ('connector' = 'delta', 'table-path' = 'out/appended é +');
CREATE TABLE counted (item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = '{0}/counted');
"""
JOBS = {
    "files": "INSERT INTO files SELECT id, item FROM bids",
    "lines": "INSERT INTO lines SELECT id, item FROM bids",
    "appended": "INSERT INTO appended SELECT id, item FROM bids",
    "counted": "INSERT INTO counted SELECT item, COUNT(*) FROM bids GROUP BY item",
}


class Project:
    """A project of this machine whose tables are elsewhere."""

    def __init__(self, path: Path, folder: str, engine, spark) -> None:
        self.folder = folder
        self.remote = Remote(spark, folder)
        self.session = Session(path, options={"table.warehouse": folder, "table.dml-sync": "false"}, engine=engine)
        self.feed(0)
        list(self.session.run(TABLES.format(folder)))

    def feed(self, first: int) -> None:
        rows = [f'{{"id": {i}, "item": "{"tea" if i % 2 else "käse / 1"}"}}\n' for i in range(first, first + 4)]
        assert self.remote.create(f"{self.folder}/in/new bids ä=1/{first}.json", "".join(rows))

    def begin(self, sql: str) -> str:
        outcome = list(self.session.run(sql))[-1]
        assert isinstance(outcome, Submitted)
        return outcome.job_id

    def up_to_now(self, job: str) -> None:
        for query in self.session.jobs.find(job).queries:
            query.processAllAvailable()

    def stop(self, job: str) -> None:
        self.session.jobs.stop(job)

    def rows(self, table: str) -> list[tuple]:
        list(self.session.run("SET 'execution.runtime-mode' = 'batch'"))
        try:
            return sorted(list(self.session.run(f"SELECT * FROM {table}"))[-1].rows)
        finally:
            list(self.session.run("SET 'execution.runtime-mode' = 'streaming'"))


def bids(count: int) -> list[tuple[str, str]]:
    return sorted((str(i), "tea" if i % 2 else "käse / 1") for i in range(count))


def test_jobs_write_there_and_go_on(tmp_path: Path, engine, spark, remote_folder: str) -> None:
    project = Project(tmp_path, remote_folder, engine, spark)
    try:
        for table, sql in JOBS.items():
            job = project.begin(sql)
            project.up_to_now(job)
            project.stop(job)
            assert project.rows(table) == (bids(4) if table != "counted" else [("käse / 1", "2"), ("tea", "2")])
        # New files of the source are found by a job that runs.
        job = project.begin(JOBS["appended"])
        project.feed(4)
        project.up_to_now(job)
        project.stop(job)
        for table in ("files", "counted"):
            job = project.begin(JOBS[table])
            project.up_to_now(job)
            project.stop(job)
        assert project.rows("appended") == project.rows("files") == bids(8)
        assert project.rows("counted") == [("käse / 1", "4"), ("tea", "4")]
        assert project.rows("lines") == bids(4)
        assert project.remote.names(f"{remote_folder}/out") == ["appended é +", "files of ü % 日"]
        assert not [p for p in tmp_path.iterdir() if p.name in ("in", "out")]
    finally:
        project.session.close()
