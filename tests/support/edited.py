"""A project with streams of files whose job is edited and run again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.kept import Kept
from tests.support.sessions import catch_up, feed, open_session, rows, run, submit

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
        self.said: list[str] = []
        declared = (TABLES if memory is None else IN_MEMORY) + more
        self.session = open_session(path, declared, options={"pipeline.name": "job"}, engine=engine, notify=self.said.append)

    def feed(self, table: str, *rows: tuple[int, str, int]) -> None:
        named = [{"id": i, "item": item, "price": p, "ts": f"2024-01-01 00:00:{i:02}"} for i, item, p in rows]
        feed(self.path / table, *named)

    def set(self, mode: str) -> None:
        run(self.session, f"SET 'execution.upgrade-mode' = '{mode}';")

    def may_lose(self) -> None:
        """From now on, a changed job may leave behind what can't be kept."""
        run(self.session, "SET 'execution.state-recovery.ignore-unclaimed-state' = 'true';")

    def submit(self, sql: str) -> Job:
        """The job, which has read what there is and runs on."""
        job = submit(self.session, sql)
        catch_up(job)
        return job

    def run(self, sql: str) -> None:
        """Run the job up to what there is, and stop it."""
        self.session.jobs.stop(self.submit(sql).id)

    def table(self, name: str) -> list[tuple]:
        """The rows of a sink, sorted."""
        if self.memory is not None:
            return self.memory.rows(self.path, name)
        run(self.session, "SET 'execution.runtime-mode' = 'batch';")
        rows = self.rows(f"SELECT * FROM `{name}`;")
        run(self.session, "RESET 'execution.runtime-mode';")
        return rows

    def rows(self, sql: str) -> list[tuple]:
        return sorted(rows(self.session, sql))


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
        self.project = Project(before.path, before.session.context.engine.given, memory, before.more)
        return self.project
