"""Why a job gives nothing, in words: each sentence. No JVM."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sqlstream.runtime.monitor.metrics import Batch, BrokerContact, FilterRows, Input, LeastLag, Partition, QueryMetrics, Split, Timed
from sqlstream.runtime.monitor.why import Reason, next_end, reasons, trouble
from sqlstream.sql.statements.parsing import parse
from tests.runtime.monitor.recordings import job, recorded
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.plan.nodes import Sink
    from sqlstream.session.session import Session

TOPIC = """
CREATE TABLE {name} (item STRING, price INT, ts TIMESTAMP(3), ts_ltz TIMESTAMP_LTZ(3), proctime AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = '{name}', 'properties.bootstrap.servers' = 'localhost:9', 'format' = 'json', 'scan.startup.mode' = '{startup}');
"""
DECLARATIONS = (
    TOPIC.format(name="skewed", startup="earliest-offset")
    + TOPIC.format(name="others", startup="latest-offset")
    + "CREATE TABLE answers (a STRING, n BIGINT) WITH ('connector' = 'print');"
)
WINDOWS = "SELECT item, COUNT(*) FROM TABLE({tvf}(TABLE skewed, DESCRIPTOR(ts), {sizes})) {where} GROUP BY item, window_start, window_end"
HOURS = WINDOWS.format(tvf="TUMBLE", sizes="INTERVAL '1' HOUR", where="")
T = 1_700_000_000_000


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return open_session(tmp_path, DECLARATIONS)


@pytest.fixture
def told(session: Session):
    """The reasons of a job with these figures, whose query this is."""

    def why(metrics: QueryMetrics, query: str, *, status: str = "RUNNING", error: str | None = None, idle_ms: int = 0) -> list[Reason]:
        return reasons(job(metrics, status=status, error=error), [sink(session, query)], idle_ms)

    return why


def sink(session: Session, query: str) -> Sink:
    planned = session.planner.planned(parse(f"INSERT INTO answers {query}"), session.planner.environment())
    return planned.plan  # type: ignore[return-value]


def texts(found: list[Reason]) -> list[str]:
    return [r.text for r in found]


READ = QueryMetrics(
    at=T + 100_000, ended_rows=100, batches=1, last_input=T + 99_000, inputs=(Input("skewed", 100, (Partition("skewed-0", 100, 100),)),)
)


def splits(*watermarks: int | None, quiet_ms: int = 0, table: str = "skewed") -> tuple[Timed, ...]:
    return (Timed(table, tuple(Split(f"{table}-{i}", w, False, quiet_ms) for i, w in enumerate(watermarks))),)


def test_failed_finished_and_stopped(told) -> None:
    (failed,) = told(READ, "SELECT item, price FROM skewed", status="FAILED", error="bad record")
    assert failed.text == "The job has failed: bad record" and "checkpoint" in (failed.hint or "")
    advised = replace(job(READ, status="FAILED", error="The disk is full."), hint="Make room.")
    (failed,) = reasons(advised, [], 0)
    assert (
        failed.hint
        == "Make room. Submitted again (on the page: Upgrade), the same statement continues from its checkpoint, with its tables as they are declared then."
    )
    assert texts(told(READ, "SELECT item, price FROM skewed", status="FINISHED")) == ["The job has finished: 100 rows in, 0 out."]
    assert texts(told(READ, "SELECT item, price FROM skewed", status="CANCELED")) == ["The job was stopped."]
    nothing = replace(READ, filters=(FilterRows("(price > 9)", 100, 0),))
    assert texts(told(nothing, "SELECT item, price FROM skewed WHERE price > 9", status="FINISHED")) == [
        "The job has finished: 100 rows in, 0 out.", "All rows are filtered out: none of 100 rows passes WHERE (price > 9).",
    ]  # fmt: skip


def test_nothing_has_run_yet(told) -> None:
    assert texts(told(QueryMetrics(), HOURS)) == ["No micro-batch has ended since the query was started: it is starting still."]
    idle = QueryMetrics(found_none=True)
    assert texts(told(idle, HOURS)) == ["No input: nothing new has come since the query began."]
    assert texts(told(replace(idle, recent=((T, 5),)), HOURS)) == ["The first micro-batch is ending: 5 rows read."]
    first = QueryMetrics(found_none=True, batch=Batch(10, 50, 0, None, 2, 0))
    assert texts(told(first, HOURS)) == ["The first micro-batch is still running: 10 of 50 rows read. Rows come out when it ends."]


def test_a_first_micro_batch_that_has_written_rows_is_not_denied(told) -> None:
    ending = QueryMetrics(at=T, rows_out=4, recent=((T - 1000, 0), (T, 185)))
    assert texts(told(ending, "SELECT item, price FROM skewed")) == ["The first micro-batch is ending: 185 rows read."]


def test_no_input(told) -> None:
    none = QueryMetrics(batches=1, inputs=(Input("others", 0, (Partition("others-0", 7, 7),)),))
    (reason,) = told(none, "SELECT item, price FROM others")
    assert reason.text == "No input: nothing new has come to topic others since the query began."
    assert reason.hint == "Reading others begins with 'latest-offset': what was there before the query is not read."
    (reason,) = told(replace(none, inputs=(Input("skewed", 0, (Partition("skewed-0", 7, 7),)),)), "SELECT item, price FROM skewed")
    assert reason.hint is None
    waits = replace(none, inputs=(Input("others", 0, (Partition("others-0", 7, 9),)),))
    assert texts(told(waits, "SELECT item, price FROM others")) == ["No row has been read of topic others yet, though 2 records wait there."]


def test_brokers_that_do_not_answer(told) -> None:
    away = replace(READ, at=1_000_000, brokers=(BrokerContact("h:9", silent=940_500), BrokerContact("h:9", silent=940_500)))
    (reason,) = told(away, "SELECT item, price FROM skewed")
    assert reason.text == "Kafka at h:9 has not answered since 1970-01-01 00:15:40: nothing of its topics is read."
    assert "continues by itself" in (reason.hint or "")
    (reason, *_) = told(replace(away, batch=Batch(5, 10, 0, None, 2, 1)), "SELECT item, price FROM skewed")
    assert "by itself" not in (reason.hint or "") and "may fail: a job is then started again" in (reason.hint or "")
    assert texts(told(replace(away, batches=0), HOURS))[0] == reason.text, "while the job starts"
    assert texts(told(replace(away, ended_rows=0, last_input=None), "SELECT item, price FROM skewed")) == [reason.text]
    back = replace(READ, at=1_000_000, last_input=99_000, brokers=(BrokerContact("h:9", silence=(800_000, 930_000)),))
    assert texts(told(back, "SELECT item, price FROM skewed")) == [
        "Kafka at h:9 answers again since 00:15:30; it did not answer for 2 min 10 s.", "Nothing new has come since 00:01:39.",
    ]  # fmt: skip
    long_ago = replace(back, at=1_600_000)
    assert texts(told(long_ago, "SELECT item, price FROM skewed")) == ["Nothing new has come since 00:01:39."]


def test_partitions_that_are_not_read_yet(told) -> None:
    added = replace(READ, at=200_000, brokers=(BrokerContact("h:9", unread=("skewed-1",), next_look=290_000),))
    (reason,) = told(added, "SELECT item, price FROM skewed")
    assert reason.text == "Partition 1 of topic skewed was added and is not read yet: the query looks for new partitions next at 00:04:50."
    in_real_time, *_ = told(replace(added, real_time=True), "SELECT item, price FROM skewed")
    assert in_real_time.text.endswith("the query looks for new partitions when a micro-batch begins after 00:04:50.")
    assert in_real_time.hint is not None and "'execution.checkpointing.interval'" in in_real_time.hint
    never = replace(added, ended_rows=0, brokers=(BrokerContact("h:9", unread=("skewed-1", "skewed-2")),))
    (reason,) = told(never, "SELECT item, price FROM skewed")
    assert reason.text == (
        "Partition 1 of topic skewed and 1 more were added and are not read yet: the query looks for none, "
        "since 'scan.topic-partition-discovery.interval' is 0."
    )


def test_all_rows_are_filtered(told) -> None:
    where = WINDOWS.format(tvf="TUMBLE", sizes="INTERVAL '1' HOUR", where="WHERE price > 10")
    assert texts(told(recorded("cheap")[-1], where))[0] == "All rows are filtered out: none of 100 rows passes WHERE (price > 10)."
    two = replace(READ, filters=(FilterRows("(price > 10)", 100, 50), FilterRows("(count > 3)", 4, 0)))
    assert texts(told(two, where + " HAVING COUNT(*) > 3")) == ["All rows are filtered out: none of 4 rows passes the filter (count > 3)."]


def test_late_rows(told) -> None:
    late = replace(READ, late=100, watermark=T, timed=splits(T))
    first, *_ = told(late, HOURS)
    assert first.text == "All rows are late: 100 rows came for windows that had closed. The watermark is at 2023-11-14 22:13:20."
    assert "delay" in (first.hint or "")
    assert texts(told(replace(late, late=1), HOURS))[0] == "1 row came late, for windows that had closed, and was dropped."


def test_a_partition_that_has_had_no_row(told) -> None:
    first, *_ = told(replace(READ, timed=splits(T, T + 1, None, T + 2)), HOURS)
    assert first.text == (
        "The watermark is held back by partition 2 of topic skewed, which has had no row since the query began; the others have come to "
        "2023-11-14 22:13:20.002."
    )
    assert "table.exec.source.idle-timeout" in (first.hint or "")
    first, *_ = told(replace(READ, timed=splits(T, None, None)), HOURS, idle_ms=60_000)
    assert "partition 1 of topic skewed and 1 more, which have had no row" in first.text and first.hint is None
    assert texts(told(replace(READ, timed=splits(None)), HOURS))[0] == "There is no watermark yet: no row of skewed has come since the query began."


def test_windows_that_close_next(told) -> None:
    read = replace(READ, watermark=T, timed=splits(T + 7_200_000, T + 7_300_000))
    assert "The watermark comes to 2023-11-15 00:13:20 with the next micro-batch, which closes the windows that end by then." in texts(
        told(read, HOURS)
    )
    # What is held back closes none.
    for timed in (splits(T + 7_200_000, T + 1), splits(T + 7_200_000, None)):
        assert not [text for text in texts(told(replace(read, timed=timed), HOURS)) if "with the next micro-batch" in text]


def test_a_partition_that_is_behind(told) -> None:
    held = replace(READ, watermark=T, timed=splits(T + 7_200_000, T, T + 7_300_000, quiet_ms=60_000))
    first, second, *_ = told(held, HOURS)
    assert first.text == (
        "The watermark is held back by partition 1 of topic skewed, which has come to 2023-11-14 22:13:20; the others have come to "
        "2023-11-15 00:13:20 or later."
    )
    assert "idle-timeout" in (first.hint or "")
    assert second.text.startswith("The watermark is at 2023-11-14 22:13:20; the next window closes when it reaches 2023-11-14 23:00:00")
    together = replace(READ, watermark=T, timed=splits(T + 2000, T))
    assert not any("held back" in text for text in texts(told(together, HOURS))), "the other would not close the window either"


def test_the_slower_of_two_tables(told) -> None:
    join = "SELECT a.item, b.n FROM (SELECT item, ts FROM skewed) a JOIN (SELECT item, price AS n, ts FROM others) b ON a.item = b.item "
    join += "AND a.ts BETWEEN b.ts - INTERVAL '1' MINUTE AND b.ts"
    both = replace(READ, watermark=T, timed=(*splits(T), *splits(T + 60_000, table="others")))
    assert texts(told(both, join))[:2] == [
        "The watermark is that of skewed, which has come to 2023-11-14 22:13:20; the next one is at 2023-11-14 22:14:20.",
        "The interval join emits rows without a partner, and drops rows, when the watermark has passed their interval, which is at "
        "2023-11-14 22:13:20.",
    ]


@pytest.mark.parametrize(
    ("tvf", "sizes", "end"),
    [
        ("TUMBLE", "INTERVAL '1' HOUR", "23:00:00"),
        ("HOP", "INTERVAL '10' MINUTE, INTERVAL '30' MINUTE", "22:20:00"),
        ("CUMULATE", "INTERVAL '20' MINUTE, INTERVAL '1' HOUR", "22:20:00"),
    ],
)
def test_the_next_window(told, tvf: str, sizes: str, end: str) -> None:
    waiting = replace(READ, watermark=T, timed=splits(T))
    assert texts(told(waiting, WINDOWS.format(tvf=tvf, sizes=sizes, where=""))) == [
        f"The watermark is at 2023-11-14 22:13:20; the next window closes when it reaches 2023-11-14 {end} "
        "(the watermark is (ts - INTERVAL '5' SECOND))."
    ]


def test_a_window_that_the_watermark_has_reached_is_closed(session: Session) -> None:
    from sqlstream.plan.nodes import WindowTvf
    from sqlstream.plan.properties import walk

    (tvf,) = (n for n in walk(sink(session, HOURS)) if isinstance(n, WindowTvf))
    hour = 3_600_000
    assert next_end(tvf, hour - 2) == hour, "its last millisecond is the one before its end"
    assert next_end(tvf, hour - 1) == 2 * hour


def test_sessions_and_the_clock(told) -> None:
    waiting = replace(READ, watermark=T, timed=splits(T))
    sessions = WINDOWS.format(tvf="SESSION", sizes="INTERVAL '10' MINUTE", where="").replace("TABLE skewed,", "TABLE skewed PARTITION BY item,")
    assert texts(told(waiting, sessions)) == ["The watermark is at 2023-11-14 22:13:20; a session closes 10 min after its last row."]
    clocked = HOURS.replace("DESCRIPTOR(ts)", "DESCRIPTOR(proctime)")
    assert texts(told(READ, clocked)) == ["Windows follow the clock: one closes every 1 h."]
    assert any("The watermark that closes them follows" in text for text in texts(told(replace(READ, timed=splits(T)), HOURS)))


def test_a_join_without_partners(told) -> None:
    join = "SELECT a.item, b.price FROM skewed a JOIN others b ON a.item = b.item"
    one = replace(READ, inputs=(Input("skewed", 100), Input("others", 0)))
    assert texts(told(one, join)) == ["The join waits for rows of both sides: none of others has been read in this run."]
    both = replace(READ, inputs=(Input("skewed", 50), Input("others", 50)))
    alone = ["The join has found no partners yet: no row of one side meets its condition together with one of the other."]
    assert texts(told(both, join)) == alone
    assert texts(told(replace(both, batch=Batch(5, None, 0, None, 2, 1)), join)) == [
        "A micro-batch is running: 5 rows read. Its rows come out when it ends."
    ]
    above = f"SELECT item, COUNT(*) FROM ({join}) GROUP BY item"
    assert texts(told(both, above)) == ["Nothing holds it back: 100 rows read, 0 emitted."], "an aggregate may have taken its rows"


VERSIONS = "SELECT item, price, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts DESC) AS n FROM others) WHERE n = 1"
TEMPORAL = "SELECT a.item, b.price FROM skewed a JOIN versions FOR SYSTEM_TIME AS OF a.ts AS b ON a.item = b.item"


def test_a_temporal_join_that_waits_has_not_looked_for_partners(session, told) -> None:
    list(session.run(f"CREATE TEMPORARY VIEW versions AS {VERSIONS};"))
    both = replace(READ, inputs=(Input("skewed", 50), Input("others", 50)))
    behind = replace(both, watermark=T, timed=(*splits(T + 60_000), *splits(T, table="others")))
    assert texts(told(behind, TEMPORAL)) == [
        "The watermark is that of others, which has come to 2023-11-14 22:13:20; the next one is at 2023-11-14 22:14:20.",
        "The temporal join emits a row when the watermark has reached its time, which is at 2023-11-14 22:13:20.",
    ]
    passed = replace(behind, watermark=T + 60_000)
    assert texts(told(passed, TEMPORAL))[-1] == "The join has found no partners yet: no row of one side had, at its time, a version of the other."


def test_tables_that_are_idle_hold_nothing_back(session, told) -> None:
    list(session.run(f"CREATE TEMPORARY VIEW versions AS {VERSIONS};"))
    ahead, behind = (replace(t, splits=tuple(replace(s, idle=True) for s in t.splits)) for t in (*splits(T + 60_000), *splits(T, table="others")))
    assert (ahead.watermark, Timed("t", (*ahead.splits, *behind.splits)).watermark) == (T + 60_000, T + 60_000)
    found = texts(told(replace(READ, watermark=T, timed=(ahead, behind)), TEMPORAL))
    assert not any("which has come to" in text for text in found)


def test_operators_that_wait_for_the_watermark(told) -> None:
    (over,) = told(replace(READ, timed=splits(T)), "SELECT item, COUNT(*) OVER (PARTITION BY item ORDER BY ts) FROM skewed")
    assert over.text == "The OVER aggregate emits rows up to the watermark, of which there is none yet."


def test_it_gives_rows(told) -> None:
    plain = "SELECT item, price FROM skewed"
    gives = replace(READ, rows_out=100, last_output=T + 99_000)
    assert texts(told(gives, plain)) == ["It emits rows: 100 so far, the last at 22:14:59."]
    quiet = replace(gives, at=T + 160_000)
    assert texts(told(quiet, plain))[1:] == ["Nothing new has come since 22:14:59."]
    busy = replace(gives, batch=Batch(5, None, 0, None, 2, 1))
    assert texts(told(busy, plain))[1:] == ["A micro-batch is running: 5 rows read. Its rows come out when it ends."]
    assert texts(told(READ, plain)) == ["Nothing holds it back: 100 rows read, 0 emitted."]


def test_several_sinks_are_named(session: Session) -> None:
    both = [sink(session, "SELECT item, price FROM skewed"), sink(session, HOURS)]
    found = reasons(job(READ, replace(READ, watermark=T, timed=splits(T))), both, 0)
    assert [r.text.partition(":")[0] for r in found] == ["Into answers", "Into answers (2)"]


def test_a_watermark_in_the_future(told) -> None:
    last = 253_402_300_799_000
    poisoned = replace(READ, watermark=last, timed=(Timed("skewed", (Split("skewed-0", T, True, 0), Split("skewed-1", last, False, 0))),))
    first, second = told(poisoned, HOURS)
    assert first.text == (
        "The watermark has been raised to 9999-12-31 23:59:59 by rows of partition 1 of topic skewed, which is in the future: rows of the present "
        "are late."
    )
    assert "table.exec.source.max-future-rowtime" in (first.hint or "")
    assert "the next window closes when it reaches 10000-01-01 00:00:00" in second.text
    assert not any("future" in text for text in texts(told(replace(READ, watermark=T + 3_600_000, timed=splits(T + 3_600_000)), HOURS))), "an hour"


def test_a_recorded_job_as_it_went(told) -> None:
    firsts = list(dict.fromkeys(texts(told(m, HOURS))[0] for m in recorded("skewed")))
    assert firsts == [
        "No micro-batch has ended since the query was started: it is starting still.",
        "The first micro-batch is still running: 0 rows read. Rows come out when it ends.",
        "No input: nothing new has come to topic skewed since the query began.",
        "A micro-batch is running: 0 of 100 rows read. Its rows come out when it ends.",
        "The watermark is held back by partition 1 of topic skewed, which has had no row since the query began; the others have come to "
        "2023-11-14 23:52:15.",
        "The watermark is held back by partition 1 of topic skewed, which has come to 2023-11-14 22:13:54; the others have come to "
        "2023-11-14 23:52:15 or later.",
        "The watermark is held back by partition 1 of topic skewed, which has come to 2023-11-14 22:14:54; the others have come to "
        "2023-11-14 23:52:15 or later.",
        "The watermark comes to 2023-11-14 23:52:15 with the next micro-batch, which closes the windows that end by then.",
        "It emits rows: 1 so far, the last at 06:54:18.",
    ]


BEHIND = tuple(LeastLag(minute, 600 * minute, 1000 * minute) for minute in (1, 2, 3))


def test_more_comes_than_is_read(told) -> None:
    slow = QueryMetrics(
        ended_rows=9,
        rows_out=9,
        batches=3,
        minutes=BEHIND,
        recent=((0, 0), (1000, 1500)),
        inputs=(Input("t", 9, (Partition("t-0", 0, 1800),)),),
        last_output=T,
    )
    assert (
        told(slow, "SELECT item, price FROM skewed")[0].text
        == "It falls behind: 1,800 rows wait, and 10 more each second; it reads 1,500 rows a second."
    )


@pytest.mark.parametrize(
    ("metrics", "status", "expected"),
    [
        (QueryMetrics(ended_rows=9, rows_out=9, batches=3, last_output=T), "RUNNING", None),
        # Nothing has come out so soon.
        (QueryMetrics(ended_rows=9, batches=3, last_input=T, at=T + 1000), "RUNNING", None),
        # That nothing is new is no reason for which nothing has come out of what came before.
        (QueryMetrics(ended_rows=9, batches=3, last_input=T, at=T + 9000), "RUNNING", None),
        (
            QueryMetrics(
                ended_rows=9,
                batches=3,
                last_input=T,
                at=T + 9000,
                filters=(FilterRows("(price > 9)", 9, 0),),
                brokers=(BrokerContact("b:9", silence=(T - 9000, T)),),
            ),
            "RUNNING",
            "All rows are filtered out: none of 9 rows passes the filter (price > 9).",
        ),
        (
            QueryMetrics(batches=3, brokers=(BrokerContact("b:9", silent=T),)),
            "RUNNING",
            "Kafka at b:9 has not answered since 2023-11-14 22:13:20: nothing of its topics is read.",
        ),
        (
            QueryMetrics(ended_rows=9, batches=3, minutes=BEHIND),
            "RUNNING",
            "It falls behind: 0 rows wait, and 10 more each second; it reads 0 rows a second.",
        ),
        (QueryMetrics(), "FINISHED", None),
        (QueryMetrics(), "CANCELED", None),
        (QueryMetrics(), "FAILED", "The job has failed: it broke"),
        (QueryMetrics(), "RESTARTING", "The job has failed: it broke"),
        (QueryMetrics(), "SUSPENDED", "The process that ran the job has ended without stopping it."),
        (QueryMetrics(), "INITIALIZING", None),
    ],
)
def test_what_needs_a_look(session: Session, metrics: QueryMetrics, status: str, expected: str | None) -> None:
    found = trouble(job(metrics, status=status, error="it broke"), [sink(session, "SELECT item, price FROM skewed")], 0)
    assert (None if found is None else found.text) == expected
