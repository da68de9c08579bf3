"""A project with streams of files whose job is edited and run again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlstream.session.results import Stream, Submitted
from sqlstream.session.session import Session
from tests.support.kept import Kept

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.jobs.job import Job
    from tests.support.memory import Memory

TABLES = """
CREATE TABLE bids (id INT, item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE asks (id INT, item STRING, price INT)
WITH ('connector' = 'filesystem', 'path' = 'asks', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE counted (item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'counted');
CREATE TABLE sums (item STRING, n BIGINT, s BIGINT, m INT, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'sums');
CREATE TABLE by_minute (item STRING, n BIGINT, s BIGINT) WITH ('connector' = 'delta', 'table-path' = 'by_minute');
CREATE TABLE copied (id INT, item STRING) WITH ('connector' = 'delta', 'table-path' = 'copied');
CREATE TABLE pairs (a INT, b INT) WITH ('connector' = 'delta', 'table-path' = 'pairs');
"""
# The same tables, whose rows are in this process: see memory.
IN_MEMORY = re.sub(r"'connector' = 'delta', 'table-path' = '\w+'", "'connector' = 'memory'", TABLES)
COUNT = "INSERT INTO counted SELECT item, COUNT(*) FROM bids GROUP BY item;"


class Project:
    """A project with streams of files, and one job at a time. Its sinks are in ``memory``, or Delta tables; ``more`` declares others."""

    def __init__(self, path: Path, engine, memory: Memory | None = None, more: str = "") -> None:
        for name in ("bids", "asks"):
            (path / name).mkdir(exist_ok=True)
        self.path = path
        self.memory = memory
        self.more = more
        self.files = len(list(path.glob("*/*.json")))
        self.said: list[str] = []
        self.session = Session(path, options={"table.local-time-zone": "UTC", "pipeline.name": "job"}, engine=engine, notify=self.said.append)
        list(self.session.run(TABLES if memory is None else IN_MEMORY))
        list(self.session.run(more))

    def feed(self, table: str, *rows: tuple[int, str, int]) -> None:
        self.files += 1
        part = self.path / table / f".{self.files}"
        part.write_text("".join(f'{{"id": {i}, "item": "{item}", "price": {p}, "ts": "2024-01-01 00:00:{i:02}"}}\n' for i, item, p in rows))
        part.rename(self.path / table / f"{self.files}.json")

    def set(self, mode: str) -> None:
        list(self.session.run(f"SET 'execution.upgrade-mode' = '{mode}';"))

    def submit(self, sql: str) -> Job:
        """The job, which has read what there is and runs on."""
        outcome = list(self.session.run(sql))[-1]
        assert isinstance(outcome, Submitted)
        job = self.session.jobs.find(outcome.job_id)
        catch_up(job)
        return job

    def run(self, sql: str) -> None:
        """Run the job up to what there is, and stop it."""
        self.session.jobs.stop(self.submit(sql).id)

    def table(self, name: str) -> list[tuple]:
        """The rows of a sink, sorted."""
        if self.memory is not None:
            return self.memory.rows(self.path, name)
        list(self.session.run("SET 'execution.runtime-mode' = 'batch';"))
        rows = self.rows(f"SELECT * FROM `{name}`;")
        list(self.session.run("RESET 'execution.runtime-mode';"))
        return rows

    def rows(self, sql: str) -> list[tuple]:
        outcome = list(self.session.run(sql))[-1]
        return sorted(c.row for c in outcome.changes) if isinstance(outcome, Stream) else sorted(outcome.rows)


def catch_up(job: Job) -> None:
    """Wait until the job has read what there is."""
    for query in job.queries:
        query.processAllAvailable()


class Begun:
    """A project whose first job has stopped, from which several tests go on, each with ``again``."""

    def __init__(self, project: Project) -> None:
        project.session.close()
        self.project = project
        self.kept = Kept(project.path)
        assert project.memory is not None
        self.rows = project.memory.of(project.path)

    def again(self) -> Project:
        before, memory = self.project, self.project.memory
        assert memory is not None
        before.session.close()
        self.kept.put_back()
        memory.set(before.path, self.rows)
        self.project = Project(before.path, before.session._given_engine, memory, before.more)
        return self.project
