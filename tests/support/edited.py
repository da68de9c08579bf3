"""A project with streams of files whose job is edited and run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.session.results import Stream, Submitted
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from pathlib import Path

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
COUNT = "INSERT INTO counted SELECT item, COUNT(*) FROM bids GROUP BY item;"


class Project:
    """A project with streams of files, and one job at a time."""

    def __init__(self, path: Path, engine) -> None:
        for name in ("bids", "asks"):
            (path / name).mkdir()
        self.path = path
        self.files = 0
        self.said: list[str] = []
        self.session = Session(path, options={"table.local-time-zone": "UTC", "pipeline.name": "job"}, engine=engine, notify=self.said.append)
        list(self.session.run(TABLES))

    def feed(self, table: str, *rows: tuple[int, str, int]) -> None:
        self.files += 1
        part = self.path / table / f".{self.files}"
        part.write_text("".join(f'{{"id": {i}, "item": "{item}", "price": {p}, "ts": "2024-01-01 00:00:{i:02}"}}\n' for i, item, p in rows))
        part.rename(self.path / table / f"{self.files}.json")

    def set(self, mode: str) -> None:
        list(self.session.run(f"SET 'execution.upgrade-mode' = '{mode}';"))

    def run(self, sql: str) -> None:
        """Run the job up to what there is, and stop it."""
        outcome = list(self.session.run(sql))[-1]
        assert isinstance(outcome, Submitted)
        job = self.session.jobs.find(outcome.job_id)
        for query in job.queries:
            query.processAllAvailable()
        self.session.jobs.stop(job.id)

    def rows(self, sql: str) -> list[tuple]:
        outcome = list(self.session.run(sql))[-1]
        return sorted(c.row for c in outcome.changes) if isinstance(outcome, Stream) else sorted(outcome.rows)
