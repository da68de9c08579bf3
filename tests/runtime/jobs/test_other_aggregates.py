"""An aggregate that Spark's own operator has computed goes on as ours, and the other way around: as where a job goes to another release of Spark."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import DeltaTable
from sqlstream.core.errors import ValidationError
from sqlstream.core.spark_releases import RELEASES
from sqlstream.runtime.jobs.begin import carry_out
from sqlstream.runtime.lower import native
from tests.support.sessions import catch_up, feed, open_session, run, submit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

EVENTS = """CREATE TABLE events (id INT, word STRING, x DOUBLE, d DECIMAL(12, 2), t TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE all_events WITH ('connector' = 'filesystem', 'path' = 'events', 'format' = 'json') LIKE events (EXCLUDING OPTIONS)"""
# Columns of the answer with its key, and the query.
QUERIES = {
    "of one key": (
        "word STRING, a BIGINT, b INT, c INT, d INT, e BIGINT, f BIGINT, g DECIMAL(38, 2), h INT, PRIMARY KEY (word) NOT ENFORCED",
        "SELECT word, COUNT(*), MAX(id), SUM(id), AVG(id), COUNT(word), COUNT(*) FILTER (WHERE id > 2), SUM(d), SUM(id) + MIN(id) FROM events GROUP BY word",
    ),
    "of several": (
        "x DOUBLE, t TIMESTAMP(3), w STRING, n BIGINT, PRIMARY KEY (x, t, w) NOT ENFORCED",
        "SELECT x, t, UPPER(word), COUNT(d) FROM events GROUP BY x, t, UPPER(word)",
    ),
    "of numbers": ("k INT, n BIGINT, m INT, PRIMARY KEY (k) NOT ENFORCED", "SELECT id % 7, COUNT(*), SUM(id) FROM events GROUP BY id % 7"),
    "above a projection": (
        "k INT, n BIGINT, m DOUBLE, PRIMARY KEY (k) NOT ENFORCED",
        "SELECT k, COUNT(v), MAX(y) FROM (SELECT id % 9 AS k, id * 3 AS v, x + 1 AS y FROM events WHERE word <> 'z') GROUP BY k",
    ),
}


def event(number: int) -> dict[str, object]:
    word, x = ("a", "b", "ü", "", "z")[number % 5], (0.0, -0.0, 1.5)[number // 5 % 3]
    moment = f"2024-01-0{1 + number % 2} 00:00:00.5"
    return {"id": number, "word": word, "x": x, "d": None if number % 7 == 0 or number % 5 == 0 else f"{number}.25", "t": moment}


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch):
    """Have statements run as on another release of Spark."""

    def on_release(release: str) -> None:
        for module in (native, carry_out):
            monkeypatch.setattr(module, "running", lambda: RELEASES[release])

    return on_release


@pytest.mark.parametrize("query", [q if q in ("of one key", "above a projection") else pytest.param(q, marks=pytest.mark.slow) for q in QUERIES])
def test_the_rows_are_those_of_all_that_came(tmp_path: Path, engine, on, two_partitions, query: str) -> None:
    columns, select = QUERIES[query]
    (tmp_path / "events").mkdir()
    session = open_session(
        tmp_path, f"{EVENTS}; CREATE TABLE answers ({columns}) WITH ('connector' = 'delta', 'table-path' = 'answers')", engine=engine
    )
    kinds = []
    sent = 0
    try:
        for release in ("4.2", "4.3", "4.2"):
            on(release)
            for _ in range(2):
                feed(tmp_path / "events", *map(event, range(sent, sent + 12)))
                sent += 12
                job = submit(session, f"INSERT INTO answers {select}")
                catch_up(job)
                session.jobs.stop(job.id)
                kinds += [f.read_text().count("KeyedAggregate") > 0 for f in job.folder.glob("operators/*.json")]
        assert kinds == [False, False, True, True, False, False]
        run(session, "SET 'execution.runtime-mode' = 'batch'")
        assert DeltaTable(tmp_path / "answers").rows() == DeltaTable(_batch(session, tmp_path, columns, select)).rows()
    finally:
        session.close()


@pytest.mark.parametrize("releases", [("4.3", "4.3"), ("4.2", "4.3"), ("4.3", "4.2")], ids="-".join)
def test_an_aggregate_is_added(tmp_path: Path, engine, on, two_partitions, releases: tuple[str, str]) -> None:
    (tmp_path / "events").mkdir()
    columns = "word STRING, a BIGINT, b INT, c INT, d BIGINT, PRIMARY KEY (word) NOT ENFORCED"
    declared = f"{EVENTS}; CREATE TABLE answers ({columns}) WITH ('connector' = 'delta', 'table-path' = 'answers')"
    session = open_session(tmp_path, declared, engine=engine)
    try:
        on(releases[0])
        feed(tmp_path / "events", *map(event, range(20)))
        job = submit(session, "INSERT INTO answers SELECT word, COUNT(*), SUM(id), CAST(NULL AS INT), CAST(NULL AS BIGINT) FROM events GROUP BY word")
        catch_up(job)
        session.jobs.stop(job.id)
        on(releases[1])
        run(session, "SET 'execution.upgrade-mode' = 'last-state'")
        feed(tmp_path / "events", *map(event, range(20, 34)))
        job = submit(session, "INSERT INTO answers SELECT word, COUNT(*), SUM(id), MIN(id), COUNT(d) FROM events GROUP BY word")
        catch_up(job)
        session.jobs.stop(job.id)
        expected = Counter()
        for word in "a", "b", "ü", "", "z":
            every, later = ([e for e in map(event, numbers) if e["word"] == word] for numbers in (range(34), range(20, 34)))
            ids = [e["id"] for e in every]
            expected[(word, len(ids), sum(ids), min(e["id"] for e in later), sum(e["d"] is not None for e in later))] += 1
        assert DeltaTable(tmp_path / "answers").rows() == expected
    finally:
        session.close()


def _batch(session, project: Path, columns: str, select: str) -> Path:
    """The table of the answers that a job in batch mode gives, which has all rows at once."""
    run(session, f"CREATE TABLE expected ({columns}) WITH ('connector' = 'delta', 'table-path' = 'expected')")
    job = submit(session, f"INSERT INTO expected {select.replace('FROM events', 'FROM all_events')}")
    assert job.done.wait(60) and job.error is None
    return project / "expected"


def test_what_can_not_be_told_apart_is_not_gone_on_with(tmp_path: Path, engine, on) -> None:
    """A function of which only its own operator knows what it keeps."""
    (tmp_path / "events").mkdir()
    columns = "word STRING, words STRING, PRIMARY KEY (word) NOT ENFORCED"
    session = open_session(
        tmp_path, f"{EVENTS}; CREATE TABLE answers ({columns}) WITH ('connector' = 'delta', 'table-path' = 'answers')", engine=engine
    )
    insert = "INSERT INTO answers SELECT word, LISTAGG(CAST(id AS STRING)) FROM events GROUP BY word"
    try:
        feed(tmp_path / "events", event(1))
        job = submit(session, insert)
        catch_up(job)
        session.jobs.stop(job.id)
        on("4.3")
        with pytest.raises(ValidationError, match="The state of GroupAggregate can't be kept"):
            submit(session, insert)
    finally:
        session.close()
