"""The aggregate of our own: DISTINCT over a stream, its state after a restart, with more values than it holds, with functions that are programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sqlstream.results import Submitted
from sqlstream.session import Session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

BIDS = """
CREATE TABLE IF NOT EXISTS bids (item STRING, bidder BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
"""


class Client:
    """A session whose job reads ``bids`` and prints; ``feed`` gives what it prints about some rows."""

    def __init__(self, project: Path, engine, columns: str, query: str) -> None:
        self.folder = project / "bids"
        self.folder.mkdir()
        self.lines: list[str] = []
        self.session = Session(project, options={"table.local-time-zone": "UTC"}, engine=engine, emit=self.lines.append, notify=lambda _: None)
        self.sql = f"{BIDS} CREATE TABLE IF NOT EXISTS answers ({columns}) WITH ('connector' = 'print'); INSERT INTO answers {query};"
        self.start()

    def start(self) -> None:
        *_, outcome = self.session.run(self.sql)
        assert isinstance(outcome, Submitted)
        self.job = self.session.jobs.find(outcome.job_id)

    def restart(self) -> None:
        self.session.jobs.stop(self.job.id)
        self.start()

    def feed(self, *rows: tuple[str | None, int | None]) -> list[str]:
        self.lines.clear()
        name = str(len(list(self.folder.iterdir())))
        (self.folder / f".{name}").write_text("".join(json.dumps({"item": i, "bidder": b}) + "\n" for i, b in rows))
        (self.folder / f".{name}").rename(self.folder / f"{name}.json")
        for query in self.job.queries:
            query.processAllAvailable()
        return sorted(self.lines)

    def close(self) -> None:
        self.session.jobs.stop_all()
        self.session.close()


def test_what_was_seen_is_kept_over_a_restart(tmp_path: Path, engine) -> None:
    query = "SELECT item, COUNT(*), COUNT(DISTINCT bidder), COUNT(DISTINCT bidder) FILTER (WHERE bidder > 1) FROM bids GROUP BY item"
    client = Client(tmp_path, engine, "item STRING, n BIGINT, bidders BIGINT, others BIGINT", query)
    assert client.feed(("a", 1), ("a", 1), ("a", 2), (None, None)) == ["+I[a, 3, 2, 1]", "+I[null, 1, 0, 0]"]
    client.restart()
    assert client.feed(("a", 2), ("a", 3), ("a", 1)) == ["+I[a, 6, 3, 2]"]
    client.close()


def test_a_key_with_more_values_than_are_held_at_once(tmp_path: Path, engine) -> None:
    client = Client(tmp_path, engine, "bidders BIGINT", "SELECT COUNT(DISTINCT bidder) FROM bids")
    # Each value twice in one micro-batch, far apart, and then once more.
    values = [("a", n) for n in range(70_000)]
    assert client.feed(*values, *values) == ["+I[70000]"]
    assert client.feed(*values[-10:], ("a", 70_000)) == ["+U[70001]", "-U[70000]"]
    client.close()


def test_functions_that_are_programs(tmp_path: Path, engine) -> None:
    query = "SELECT item, LISTAGG(DISTINCT CAST(bidder AS STRING)), COLLECT(bidder), COUNT(DISTINCT bidder) FROM bids GROUP BY item"
    client = Client(tmp_path, engine, "item STRING, bidders STRING, counts MULTISET<BIGINT>, n BIGINT", query)
    assert client.feed(("a", 1), ("a", 1)) == ["+I[a, 1, {1=2}, 1]"]
    assert client.feed(("a", 2), ("b", None)) == ["+I[b, null, {}, 0]", "+U[a, 1,2, {1=2, 2=1}, 2]", "-U[a, 1, {1=2}, 1]"]
    client.close()


def test_nothing_comes_out_where_nothing_changes(tmp_path: Path, engine) -> None:
    client = Client(tmp_path, engine, "item STRING, bidders BIGINT", "SELECT item, COUNT(DISTINCT bidder) FROM bids GROUP BY item")
    assert client.feed(("a", 1)) == ["+I[a, 1]"]
    assert client.feed(("a", 1), ("a", None)) == []
    client.close()
