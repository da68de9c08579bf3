"""Time on Spark: processing-time windows, idle partitions, the watermark as a column, late rows counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sqlstream.session.results import Stream
from tests.support.sessions import catch_up, feed, open_session, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.jobs.job import Job

pytestmark = pytest.mark.spark

BIDS = """
CREATE TABLE bids (item STRING, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');
"""


class Client:
    """A session with the table ``bids`` and a print sink; ``lines`` is what the sink printed."""

    def __init__(self, project: Path, engine) -> None:
        self.folder = project / "bids"
        self.folder.mkdir()
        self.lines: list[str] = []
        self.session = open_session(project, BIDS, engine=engine, emit=self.lines.append)

    def run(self, sql: str) -> list:
        return run(self.session, sql)

    def submit(self, sql: str) -> Job:
        return submit(self.session, sql)

    def feed(self, *rows: tuple[str, str]) -> None:
        feed(self.folder, *({"item": i, "ts": f"2026-01-01 00:00:{s}"} for i, s in rows))

    def wait(self, rows: int) -> list[str]:
        until(lambda: len(self.lines) >= rows, said=lambda: self.lines)
        return self.lines


@pytest.fixture
def client(tmp_path: Path, engine):
    opened = Client(tmp_path, engine)
    yield opened
    opened.session.jobs.stop_all()
    opened.session.close()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT item, COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(p), INTERVAL '2' SECOND)) GROUP BY window_start, window_end, item",
        "SELECT item, COUNT(*) FROM TABLE(SESSION(TABLE bids PARTITION BY item, DESCRIPTOR(p), INTERVAL '2' SECOND)) GROUP BY window_start, window_end, item",
        "SELECT item, COUNT(*) FROM bids GROUP BY item, TUMBLE(p, INTERVAL '2' SECOND)",
    ],
    ids=["tumble", "session", "group window"],
)
def test_windows_on_processing_time_close_by_the_clock(client, query):
    client.run("CREATE TABLE answers (item STRING, n BIGINT) WITH ('connector' = 'print')")
    client.feed(("a", "01"), ("a", "02"), ("b", "03"))
    client.submit(f"INSERT INTO answers {query}")
    assert sorted(client.wait(2)) == ["+I[a, 2]", "+I[b, 1]"]
    client.lines.clear()
    client.feed(("c", "00"))
    assert client.wait(1) == ["+I[c, 1]"]


def test_the_bounds_of_windows_on_processing_time(client):
    client.run("CREATE TABLE answers (s BIGINT, e BIGINT, before BOOLEAN) WITH ('connector' = 'print')")
    client.feed(("a", "01"))
    client.submit(
        "INSERT INTO answers SELECT EXTRACT(SECOND FROM TUMBLE_START(p, INTERVAL '2' SECOND)) / 2 * 2 - EXTRACT(SECOND FROM TUMBLE_START(p, INTERVAL '2'"
        " SECOND)), TIMESTAMPDIFF(SECOND, TUMBLE_START(p, INTERVAL '2' SECOND), TUMBLE_END(p, INTERVAL '2' SECOND)),"
        " TUMBLE_PROCTIME(p, INTERVAL '2' SECOND) <= PROCTIME() FROM bids GROUP BY TUMBLE(p, INTERVAL '2' SECOND)"
    )
    assert client.wait(1) == ["+I[0, 2, true]"]


def test_the_watermark_as_a_column(client):
    client.run("CREATE TABLE answers (item STRING, w TIMESTAMP(3)) WITH ('connector' = 'print')")
    client.feed(("a", "05"))
    job = client.submit(
        "INSERT INTO answers SELECT item, CURRENT_WATERMARK(ts) FROM bids WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts)"
    )
    catch_up(job)
    client.feed(("late", "04"), ("b", "06"))
    catch_up(job)
    assert client.lines == ["+I[a, null]", "+I[b, 2026-01-01T00:00:05]"]


@pytest.mark.usefixtures("two_partitions")
def test_late_rows_are_counted(client):
    client.run("CREATE TABLE answers (n BIGINT) WITH ('connector' = 'print')")
    window = "TABLE(HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"
    job = client.submit(f"INSERT INTO answers SELECT COUNT(*) FROM {window} GROUP BY window_start, window_end")
    for rows in ([("a", "14")], [("b", "07"), ("b", "07"), ("c", "14")], [("d", "59")], [("e", "01")] * 3):
        client.feed(*rows)
        catch_up(job)
    # The second step's two rows are late for the window that ends at 10, in time for the one that ends at 15.
    assert client.lines == ["+I[4]", "+I[2]"]
    (shown,) = client.run("SHOW JOBS EXTENDED")
    assert shown.columns[5].name == "late rows"
    assert shown.rows[0][5] == "8"
    (described,) = client.run(f"DESCRIBE JOB '{job.id}'")
    assert ("late rows", "8") in described.rows


def test_a_select_over_processing_time(client):
    client.feed(("a", "01"))
    (outcome,) = client.run(
        "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(p), INTERVAL '1' SECOND)) GROUP BY window_start, window_end LIMIT 1"
    )
    assert isinstance(outcome, Stream)
    assert [c.row for c in outcome.changes] == [("1",)]


def test_an_input_that_ends_before_its_windows_gives_nothing(client):
    client.run("CREATE TABLE few (n INT, p AS PROCTIME()) WITH ('connector' = 'datagen', 'number-of-rows' = '3')")
    (outcome,) = client.run("SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE few, DESCRIPTOR(p), INTERVAL '1' HOUR)) GROUP BY window_start, window_end")
    assert [c.row for c in outcome.changes] == []


def test_each_row_has_its_own_time_and_one(client):
    client.run(
        "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '400000', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '400000')"
    )
    client.run("CREATE TABLE answers (times BOOLEAN, differ BIGINT) WITH ('connector' = 'print')")
    now = "SELECT n, CURRENT_TIMESTAMP AS a, NOW() AS b, LOCALTIMESTAMP AS c FROM numbers"
    apart = "a <> b OR CAST(a AS TIMESTAMP(3)) <> c"
    client.submit(f"INSERT INTO answers SELECT COUNT(DISTINCT a) > 1, COUNT(*) FILTER (WHERE {apart}) FROM ({now})")
    assert client.wait(1) == ["+I[true, 0]"]


def test_rows_of_the_far_future(client):
    """One of them would close every window for good: with the option it is kept apart, and the watermark stays with the others."""
    client.run("CREATE TABLE answers (n BIGINT) WITH ('connector' = 'print')")
    client.run("SET 'table.exec.source.max-future-rowtime' = '1 d'")
    query = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
    (client.folder / "wrong.json").write_text('{"item": "far", "ts": "9999-12-31 23:59:59"}\n')
    client.feed(("a", "01"))
    job = client.submit(f"INSERT INTO answers {query}")
    client.feed(("b", "02"), ("c", "11"))
    assert client.wait(1) == ["+I[2]"]
    (kept,) = (client.session.project / ".sqlstream" / "dead-letters").glob("rows-*.jsonl")
    (letter,) = (json.loads(line) for line in kept.read_text().splitlines())
    assert letter["source"] == "bids" and letter["row"]["item"] == "far" and letter["error"] == "ts is more than 86400000 ms in the future"
    assert kept.stat().st_mode & 0o777 == 0o600
    (described,) = client.run(f"DESCRIBE JOB EXTENDED '{job.id}'")
    assert ("rows left out", "1") in described.rows
    assert [name for name, _ in described.rows if name.startswith("filter ")] == ["filter NOT (ts is more than 86400000 ms in the future)"]


def test_a_watermark_of_the_last_year(client):
    client.run("CREATE TABLE answers (n BIGINT) WITH ('connector' = 'print')")
    query = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
    (client.folder / "wrong.json").write_text('{"item": "far", "ts": "9999-12-31 23:59:59"}\n')
    client.feed(("a", "01"))
    job = client.submit(f"INSERT INTO answers {query}")
    catch_up(job)
    client.feed(("b", "02"))
    catch_up(job)
    (outcome,) = client.run(f"EXPLAIN JOB '{job.id}'")
    told = " ".join(reason for _, reason, _ in outcome.rows)
    assert "The watermark has been raised to 9999-12-31 23:59:59" in told and "late" in told
    assert client.run("SHOW JOB METRICS") and client.run(f"DESCRIBE JOB EXTENDED '{job.id}'")
