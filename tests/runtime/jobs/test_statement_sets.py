"""INSERTs of one statement set see the same rows of what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.runtime.jobs.run import streams
from sqlstream.session.results import Submitted
from tests.support.sessions import open_session
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark
SINKS = "CREATE TABLE {name} ({columns}) WITH ('connector' = 'print', 'print-identifier' = '{name}');"
SET = "EXECUTE STATEMENT SET BEGIN INSERT INTO sink_a {query}; INSERT INTO sink_b {query}; END;"


class Both:
    """A job of two INSERTs of one query into the print sinks ``sink_a`` and ``sink_b``."""

    def __init__(self, project: Path, engine, columns: str, declarations: str, query: str) -> None:
        self.lines: list[str] = []
        self.session = open_session(project, engine=engine, emit=self.lines.append)
        sinks = "".join(SINKS.format(name=name, columns=columns) for name in ("sink_a", "sink_b"))
        *_, self.outcome = self.session.run(sinks + declarations + SET.format(query=query))
        assert isinstance(self.outcome, Submitted)

    def rows(self, count: int) -> tuple[list[str], list[str]]:
        """What both have given, when each has given at least so many rows and the job is stopped."""
        until(lambda: min(map(len, self._found())) >= count, said=self._found)
        self.session.jobs.stop_all()
        self.session.close()
        return self._found()

    def _found(self) -> tuple[list[str], list[str]]:
        one, two = ([line[8:] for line in list(self.lines) if line.startswith(f"{name}> ")] for name in ("sink_a", "sink_b"))
        return one, two


@pytest.mark.parametrize("bound", ["'number-of-rows' = '20'", "'rows-per-second' = '20'"], ids=["bounded", "unbounded"])
def test_made_up_rows(tmp_path: Path, engine, bound: str) -> None:
    table = f"CREATE TABLE made (a STRING, b INT, ts TIMESTAMP(3)) WITH ('connector' = 'datagen', {bound}, 'fields.ts.max-past' = '1 h');"
    view = "CREATE VIEW v AS SELECT a, b, ts FROM made WHERE b > 0;"
    one, two = Both(tmp_path, engine, "a STRING, b INT, ts TIMESTAMP(3)", table + view, "SELECT * FROM v").rows(3)
    fewer, more = sorted((set(one), set(two)), key=len)
    assert len(fewer) >= 3 and fewer <= more, "one of them may have come further"
    assert len(fewer) == len(more) or "rows-per-second" in bound


@pytest.mark.kafka
@pytest.mark.parametrize(
    "startup", ["'latest-offset'", "'timestamp', 'scan.startup.timestamp-millis' = '4102444800000'"], ids=["latest", "timestamp"]
)
def test_a_topic_read_from_now_on(tmp_path: Path, engine, broker, monkeypatch, startup: str) -> None:
    """A record that comes when one query has started and the other has not is read by both."""
    topic = f"set-{'latest' if 'latest' in startup else 'timestamp'}"
    broker.produce(topic, ['{"a": "before"}'])
    lower, plans = streams.lower, []

    def lowered(node, to):
        if plans:
            broker.produce(topic, ['{"a": "between"}'])
        plans.append(node)
        return lower(node, to)

    monkeypatch.setattr(streams, "lower", lowered)
    table = (
        f"CREATE TABLE events (a STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker.bootstrap}',"
        f" 'format' = 'json', 'scan.startup.mode' = {startup});"
    )
    both = Both(tmp_path, engine, "a STRING", table, "SELECT * FROM events")
    assert both.rows(1) == (["+I[between]"], ["+I[between]"])


def test_what_is_computed_for_each_is_told(tmp_path: Path, engine) -> None:
    table = "CREATE TABLE made (a STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '2');"
    both = Both(tmp_path, engine, "a STRING, b STRING", table + "CREATE VIEW v AS SELECT a, UUID() AS b FROM made;", "SELECT * FROM v")
    (told,) = (n for n in both.outcome.notices if "UUID" in n)
    assert told.startswith("UUID in a query that INSERTs of this statement set share is computed for each of them")
    one, two = both.rows(2)
    assert sorted(row.split(", ")[0] for row in one) == sorted(row.split(", ")[0] for row in two)
