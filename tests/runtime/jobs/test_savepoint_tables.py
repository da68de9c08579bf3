"""The state in a savepoint as tables: what each kind of operator has kept of a key, with values of many types, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from sqlstream.core.errors import NotSupported, SqlStreamError
from tests.support.sessions import catch_up, feed, open_session, rows, run, submit

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

COLUMNS = """id INT, item STRING, price INT, big BIGINT, amount DECIMAL(10, 2), small DECIMAL(6, 2), ts TIMESTAMP(3), seen TIMESTAMP_LTZ(3),
 place ROW<city STRING, zip INT>, tags ARRAY<STRING>, scores MAP<STRING, INT>, ok BOOLEAN, born DATE"""
SOURCE = "WITH ('connector' = 'filesystem', 'path' = '{0}', 'format' = 'json', 'source.monitor-interval' = '1 s')"
TABLES = f"""
CREATE TABLE bids ({COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) {SOURCE.format("bids")};
CREATE TABLE asks ({COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) {SOURCE.format("asks")};
"""


class Saving:
    """A session in a project; ``saved`` runs an INSERT over what there is and stops it with a savepoint."""

    def __init__(self, path: Path, engine) -> None:
        self.path, self.said, self.tables = path, [], 0
        for name in ("bids", "asks"):
            (path / name).mkdir()
        self.session = open_session(path, TABLES, engine=engine, notify=self.said.append)

    def feed(self, table: str, *rows: dict) -> None:
        feed(self.path / table, *rows)

    def saved(self, sql: str) -> Path:
        """The savepoint with which the INSERT at the end of ``sql`` stops, when it has read all that there is."""
        job = submit(self.session, sql)
        catch_up(job)
        (stopped,) = self.session.run(f"STOP JOB '{job.id}' WITH SAVEPOINT;")
        return Path(unquote(urlparse(stopped.rows[0][0]).path))

    def kept(self, savepoint: Path, uid: str, select: str = "*", where: str = "TRUE") -> list[tuple]:
        """Rows of an operator's state, whose columns are not declared."""
        self.tables += 1
        name = f"kept{self.tables}"
        list(self.session.run(f"CREATE TABLE {name} WITH ('connector' = 'savepoint', 'state.path' = '{savepoint}', 'operator.uid' = '{uid}');"))
        return self.rows(f"SELECT {select} FROM {name} WHERE {where};")

    def columns(self) -> dict[str, str]:
        """The columns that were found last, with their types."""
        (outcome,) = self.session.run(f"DESCRIBE kept{self.tables};")
        return {row[0]: row[1] for row in outcome.rows}

    def rows(self, sql: str) -> list[tuple]:
        run(self.session, "SET 'execution.runtime-mode' = 'batch';")
        found = sorted(rows(self.session, sql), key=str)
        run(self.session, "RESET 'execution.runtime-mode';")
        return found


@pytest.fixture
def saving(tmp_path: Path, engine):
    made = Saving(tmp_path, engine)
    yield made
    made.session.close()


def bid(id_: int, item: str | None, price: int | None, second: int | None = None, **more) -> dict:
    second = id_ if second is None else second
    row = {"id": id_, "item": item, "price": price, "ts": f"2024-01-01 00:00:{second:02}", "seen": f"2024-01-01 00:00:{second:02}Z"}
    known = {"big": 10**15 + id_, "amount": f"{id_}.25", "small": f"{id_}.50", "place": {"city": f"c{id_}", "zip": id_}, "tags": ["x", None]}
    return row | known | {"scores": {"a": id_}, "ok": id_ % 2 == 0, "born": "2024-02-29"} | more


def sink(columns: str, name: str = "kept") -> str:
    return f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'blackhole');"


@pytest.mark.usefixtures("two_partitions")
def test_what_a_job_knows_of_an_account(saving: Saving, tmp_path: Path) -> None:
    """By Spark's own aggregate: its values are made of several columns of the state, some of which Spark computes with as integers."""
    saving.feed("bids", bid(1, "a", 10), bid(2, "b", 5), bid(3, "a", 3), bid(4, "ü", None))
    made = saving.saved(
        sink(
            "item STRING, n BIGINT, total INT, low INT, mean DECIMAL(38, 6), e DECIMAL(38, 2), f DECIMAL(38, 2), latest TIMESTAMP(3), "
            "seen TIMESTAMP_LTZ(3), s DOUBLE, PRIMARY KEY (item) NOT ENFORCED",
            "totals",
        )
        + """INSERT INTO totals SELECT item, COUNT(*) AS n, SUM(price) AS total, MIN(price), AVG(amount) AS mean, SUM(amount), SUM(small),
             MAX(ts) AS latest, MAX(seen) AS `gesehen ü`, STDDEV_POP(price) FROM bids GROUP BY item;"""
    )
    moved = tmp_path / "elsewhere ä %20"
    shutil.move(made, moved)
    shutil.rmtree(tmp_path / ".sqlstream" / "jobs")
    rows = saving.kept(moved, "0_totals/0", where="item = 'a'")
    assert saving.columns() == {
        "item": "STRING", "n": "BIGINT", "total": "INT", "MIN(price)": "INT", "mean": "DECIMAL(38, 6)", "SUM(amount)": "DECIMAL(38, 2)",
        "SUM(small)": "DECIMAL(38, 2)", "latest": "TIMESTAMP(3)", "gesehen ü": "TIMESTAMP_LTZ(3)", "STDDEV_POP(price)": "INT",
    }  # fmt: skip
    assert rows == [("a", "2", "13", "3", "2.250000", "4.50", "5.00", "2024-01-01 00:00:03.000", "2024-01-01 00:00:03.000", "3")]
    assert saving.kept(moved, "0_totals/0", "n, total, `MIN(price)`, mean", "item = 'ü'") == [("1", None, None, "4.250000")]
    (described,) = saving.session.run(f"DESCRIBE SAVEPOINT '{moved.name}';")
    told = {row[0]: row[1] for row in described.rows}
    assert told["0_totals/0: operator"].startswith("stateStoreSave: GroupAggregate(groupBy=[item]")
    list(saving.session.run(told["0_totals/0: table"].replace("CREATE TABLE state", "CREATE TABLE pasted")))
    assert len(saving.rows("SELECT * FROM pasted;")) == 3
    call = f"savepoint_metadata('{moved}')"
    ((uid, partitions, there),) = saving.rows(f"SELECT `operator-uid`, `operator-parallelism`, `operator-total-size-in-bytes` > 0 FROM {call};")
    assert (uid, partitions, there) == ("0_totals/0", "2", "TRUE")


def test_a_job_that_has_read_nothing_keeps_nothing(saving: Saving) -> None:
    made = saving.saved(
        sink("item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED") + "INSERT INTO kept SELECT item, COUNT(*) FROM bids GROUP BY item;"
    )
    assert saving.kept(made, "0_kept/0") == []
    assert saving.columns() == {"item": "STRING", "COUNT(*)": "BIGINT"}


def test_a_null_where_none_is_declared_fails_the_query(saving: Saving) -> None:
    saving.feed("bids", bid(1, "a", 10), bid(2, None, 5))
    made = saving.saved(
        "CREATE TABLE kept (item STRING, n BIGINT) WITH ('connector' = 'print'); INSERT INTO kept SELECT item, COUNT(*) FROM bids GROUP BY item;"
    )
    options = f"'connector' = 'savepoint', 'state.path' = '{made.as_uri()}', 'operator.uid' = '0_kept/0'"
    list(saving.session.run(f"CREATE TABLE s (item STRING, PRIMARY KEY (item) NOT ENFORCED) WITH ({options});"))
    with pytest.raises(SqlStreamError, match="Column 'item' is declared NOT NULL, and the savepoint has a key for which it is NULL"):
        saving.rows("SELECT * FROM s;")
    list(saving.session.run(f"CREATE TABLE t (item STRING) WITH ({options});"))
    assert saving.rows("SELECT * FROM t;") == [("a",), (None,)]


def test_distinct_values_are_there_with_how_often_they_came(saving: Saving) -> None:
    saving.feed("bids", bid(1, "a", 10), bid(2, "a", 3), bid(3, "a", 3), bid(4, None, None))
    made = saving.saved(
        sink("item STRING, d BIGINT, f INT, l STRING")
        + "INSERT INTO kept SELECT item, COUNT(DISTINCT price) AS d, FIRST_VALUE(price) AS f, LISTAGG(CAST(price AS STRING)) AS l FROM bids GROUP BY item;"
    )
    assert saving.kept(made, "0_kept/0", "item, d, f, CARDINALITY(`distinct price`)") == [("a", "2", "10", "2"), (None, "0", None, "1")]
    assert saving.columns()["l"] == "BYTES" and saving.columns()["distinct price"] == "ARRAY<ROW<`price` INT, `times` BIGINT>>"


def test_aggregates_of_rows_that_can_be_retracted(saving: Saving) -> None:
    """Of a chain of two: the outer one's values are those of extremes and of what rows that are retracted can be subtracted from."""
    saving.feed("bids", bid(1, "a", 10), bid(2, "b", 7), bid(3, "c", 7))
    saving.feed("bids", bid(4, "a", 7))
    made = saving.saved(
        sink("best INT, n BIGINT, d BIGINT, m BIGINT, s DECIMAL(38, 2), v STRING")
        + """INSERT INTO kept SELECT best, COUNT(*) AS n, COUNT(DISTINCT c) AS d, MAX(c) AS m, SUM(a) AS s, LISTAGG(item) AS v
             FROM (SELECT item, MIN(price) AS best, COUNT(*) AS c, MAX(amount) AS a FROM bids GROUP BY item) GROUP BY best;"""
    )
    assert saving.kept(made, "0_kept/0", "best, n, d, m, s, CARDINALITY(`distinct c`), CARDINALITY(arguments)") == [
        ("7", "3", "2", "2", "9.75", "2", "3")
    ]
    assert saving.kept(made, "0_kept/1") == [("a", "7", "2", "4.25"), ("b", "7", "1", "2.25"), ("c", "7", "1", "3.25")]
    assert saving.columns() == {"item": "STRING", "best": "INT", "c": "BIGINT", "a": "DECIMAL(10, 2)"}


def test_windows_and_sessions_that_are_open(saving: Saving) -> None:
    saving.feed("bids", bid(1, "a", 10), bid(2, None, 5), bid(3, "a", 3))
    minute = "TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    made = saving.saved(
        sink("item STRING, n BIGINT, top INT, a TIMESTAMP(3), b TIMESTAMP(3)")
        + f"INSERT INTO kept SELECT item, COUNT(*) AS n, MAX(price) AS top, window_start, window_end FROM TABLE({minute}) GROUP BY item, window_start, window_end;"
    )
    start, end = "2024-01-01 00:00:00.000", "2024-01-01 00:01:00.000"
    assert saving.kept(made, "0_kept/0", "item, n, top, window_start, window_end") == [("a", "2", "10", start, end), (None, "1", "5", start, end)]
    gap = "SESSION(TABLE bids PARTITION BY item, DESCRIPTOR(ts), INTERVAL '20' SECOND)"
    made = saving.saved(
        sink("item STRING, s INT, a TIMESTAMP(3), b TIMESTAMP(3)", "sessions")
        + f"INSERT INTO sessions SELECT item, SUM(price) AS s, window_start, window_end FROM TABLE({gap}) GROUP BY item, window_start, window_end;"
    )
    assert saving.kept(made, "0_sessions/0", "item, s, window_start, window_end") == [
        ("a", "13", "2024-01-01 00:00:01.000", "2024-01-01 00:00:23.000"), (None, "5", "2024-01-01 00:00:02.000", "2024-01-01 00:00:22.000"),
    ]  # fmt: skip


def test_rows_of_a_rank_have_all_their_types(saving: Saving) -> None:
    saving.feed("bids", bid(1, "a", 10), bid(2, "a", 3), bid(3, "a", 7), bid(4, None, None, place=None, tags=None, scores=None, amount=None))
    columns = "id, price, big, amount, small, ts, seen, place, tags, scores, ok, born"
    made = saving.saved(
        sink("id INT, item STRING")
        + "INSERT INTO kept SELECT id, item FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS r FROM bids) WHERE r <= 2;"
    )
    assert saving.kept(made, "0_kept/0", "item, CARDINALITY(`rows`)") == [("a", "2"), (None, "1")]
    kept = f"kept{saving.tables}"
    names = saving.columns()["rows"]
    assert "`price` INT" in names and "`item` STRING" in names
    assert saving.rows(f"SELECT k.item, r.id, r.price FROM {kept} AS k CROSS JOIN UNNEST(k.`rows`) AS r;") == [
        ("a", "1", "10"), ("a", "3", "7"), (None, "4", None),
    ]  # fmt: skip
    made = saving.saved(
        "CREATE TABLE whole WITH ('connector' = 'blackhole') LIKE bids (EXCLUDING ALL);"
        f"INSERT INTO whole SELECT {columns.replace('id, ', 'id, item, ', 1)} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC) AS r"
        " FROM bids) WHERE r <= 1;"
    )
    ((shown,), (nothing,)) = saving.kept(made, "0_whole/0", "`rows`[1]")
    time = "2024-01-01 00:00:01.000"
    assert shown == f"(1, a, 10, 1000000000000001, 1.25, 1.50, {time}, {time}, (c1, 1), [x, NULL], {{a=1}}, FALSE, 2024-02-29)"
    time = "2024-01-01 00:00:04.000"
    assert nothing == f"(4, NULL, NULL, 1000000000000004, NULL, 4.50, {time}, {time}, NULL, NULL, NULL, TRUE, 2024-02-29)"
    made = saving.saved(sink("item STRING, price INT", "seen") + "INSERT INTO seen SELECT DISTINCT item, price FROM bids;")
    assert saving.kept(made, "0_seen/0") == [("a", "10"), ("a", "3"), ("a", "7"), (None, None)]


def test_both_sides_of_joins(saving: Saving) -> None:
    saving.feed("bids", bid(1, "a", 10), bid(2, "b", 5))
    saving.feed("asks", bid(1, "a", 11), bid(3, "c", None))
    made = saving.saved(
        sink("item STRING, place ROW<city STRING, zip INT>") + "INSERT INTO kept SELECT b.item, a.place FROM bids b LEFT JOIN asks a ON b.id = a.id;"
    )
    assert saving.kept(made, "0_kept/0", where="key = 1") == [("1", "[(1, a)]", "[(1, (c1, 1))]")]
    assert saving.kept(made, "0_kept/0", "key, `left`, `right`", "key > 1") == [("2", "[(2, b)]", "[]"), ("3", "[]", "[(3, (c3, 3))]")]
    made = saving.saved(
        sink("item STRING, price INT", "near")
        + """INSERT INTO near SELECT b.item, a.price FROM bids b JOIN asks a ON b.id = a.id
             AND b.ts BETWEEN a.ts - INTERVAL '5' SECOND AND a.ts + INTERVAL '5' SECOND;"""
    )
    at = "2024-01-01 00:00:0{}.000".format
    assert saving.kept(made, "0_near/0") == [
        ("1", f"[(1, a, {at(1)})]", f"[(1, 11, {at(1)})]"), ("2", f"[(2, b, {at(2)})]", "[]"), ("3", "[]", f"[(3, NULL, {at(3)})]"),
    ]  # fmt: skip
    list(
        saving.session.run(
            "CREATE TABLE versions (item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND, "
            "PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'filesystem', 'path' = 'asks', 'format' = 'json', 'source.monitor-interval' = '1 s');"
        )
    )
    saving.feed("bids", bid(9, "a", 1))
    saving.feed("asks", bid(4, "a", 12))
    made = saving.saved(
        sink("item STRING, price INT", "valued")
        + "INSERT INTO valued SELECT b.item, v.price FROM bids b LEFT JOIN versions FOR SYSTEM_TIME AS OF b.ts AS v ON b.item = v.item;"
    )
    kept = saving.kept(made, "0_valued/0", "item, `left`, `right`, version", "item = 'a'")
    assert kept == [("a", f"[(a, {at(9)})]", f"[(a, 12, {at(4)})]", f"(a, 11, {at(1)})")]


def test_rows_that_wait_for_the_watermark_and_those_of_matches(saving: Saving) -> None:
    saving.feed("bids", bid(1, "a", 10), bid(2, "b", 5), bid(3, "a", 3), bid(4, None, None), bid(5, "c", 7))
    at = "2024-01-01 00:00:0{}.000".format
    made = saving.saved(sink("item STRING, s INT") + "INSERT INTO kept SELECT item, SUM(price) OVER (PARTITION BY item ORDER BY ts) AS s FROM bids;")
    assert saving.kept(made, "0_kept/0", "item, waiting, frame IS NULL") == [
        ("a", "[]", "FALSE"), ("b", "[]", "FALSE"), ("c", f"[(c, {at(5)}, 7)]", "TRUE"), (None, "[]", "FALSE"),
    ]  # fmt: skip
    made = saving.saved(
        sink("item STRING, price INT", "firsts")
        + "INSERT INTO firsts SELECT item, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) AS r FROM bids) WHERE r = 1;"
    )
    assert saving.kept(made, "0_firsts/0", where="item IN ('a', 'c')") == [("a", "[]", "TRUE"), ("c", f"[(c, 7, {at(5)})]", "FALSE")]
    made = saving.saved(
        sink("item STRING, p INT, q INT", "found")
        + """INSERT INTO found SELECT * FROM bids MATCH_RECOGNIZE (PARTITION BY item ORDER BY ts MEASURES A.price AS p, LAST(C.price) AS q
             ONE ROW PER MATCH PATTERN (A B* C) DEFINE B AS B.price < 100, C AS C.price > 1000) AS m;"""
    )
    assert saving.kept(made, "0_found/0", where="item IN ('a', 'c')") == [
        ("a", "[]", f"[(a, 10, {at(1)}), (a, 3, {at(3)})]"), ("c", f"[(c, 7, {at(5)})]", "[]"),
    ]  # fmt: skip
    made = saving.saved(sink("item STRING, ts TIMESTAMP(3)", "ordered") + "INSERT INTO ordered SELECT item, ts FROM bids ORDER BY ts;")
    assert saving.kept(made, "0_ordered/0") == [(f"[(c, {at(5)})]",)]


def test_a_state_that_is_not_what_was_recorded_is_refused(saving: Saving) -> None:
    saving.feed("bids", bid(1, "a", 10))
    made = saving.saved(
        sink("item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED") + "INSERT INTO kept SELECT item, COUNT(*) FROM bids GROUP BY item;"
    )
    (record,) = (made / "operators").glob("*.json")
    text = record.read_text()
    record.write_text(text.replace('\\"long\\"', '\\"integer\\"'))
    with pytest.raises(SqlStreamError, match="was recorded with"):
        saving.kept(made, "0_kept/0")
    record.write_text(text.replace('"row"', '"newer"'))
    with pytest.raises(SqlStreamError, match="in a way that this release does not know: newer"):
        saving.kept(made, "0_kept/0")


def test_a_state_that_is_not_as_it_was_written_is_refused(saving: Saving) -> None:
    saving.feed("bids", bid(1, "a", 10))
    made = saving.saved(
        sink("item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED") + "INSERT INTO kept SELECT item, COUNT(*) FROM bids GROUP BY item;"
    )
    assert saving.kept(made, "0_kept/0") == [("a", "1")]
    state = next(
        p for p in sorted((made / "checkpoint" / "0_kept" / "state").rglob("*")) if p.suffix in (".zip", ".delta", ".changelog", ".snapshot")
    )
    whole = state.read_bytes()
    state.write_bytes(whole[:-1])
    with pytest.raises(SqlStreamError, match=rf"is damaged. Its file checkpoint/0_kept/state/.*{state.name} is not as it was written"):
        saving.kept(made, "0_kept/0")
    state.write_bytes(whole)
    assert saving.kept(made, "0_kept/0") == [("a", "1")]
    shutil.rmtree(made / "checkpoint" / "0_kept")
    with pytest.raises(SqlStreamError, match=r"is damaged. Its file checkpoint/0_kept/\S+ is not there"):
        saving.kept(made, "0_kept/0")


def test_a_job_of_an_earlier_release_says_its_columns_when_it_goes_on(saving: Saving) -> None:
    saving.feed("bids", bid(1, "a", 10))
    insert = "INSERT INTO kept SELECT item, COUNT(*) AS n FROM bids GROUP BY item;"
    first = saving.saved(sink("item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED") + insert)
    (record,) = (saving.path / ".sqlstream" / "jobs").glob("*/1/operators/*.json")
    told = json.loads(record.read_text())
    for folder in (record, first / "operators" / record.name):
        folder.write_text(json.dumps({**told, "operators": [{k: v for k, v in o.items() if k != "table"} for o in told["operators"]]}))
    with pytest.raises(NotSupported, match="can't be read as a table") as caught:
        saving.kept(first, "0_kept/0")
    assert "run its job with this one" in (caught.value.hint or "")
    saving.feed("bids", bid(2, "a", 10))
    assert saving.kept(saving.saved(insert), "0_kept/0") == [("a", "2")]


def test_states_of_many_keys_are_read_by_several_tasks(saving: Saving) -> None:
    saving.feed("bids", *(bid(i, f"k{i % 20_000}", i, second=i % 60) for i in range(40_000)))
    made = saving.saved(
        sink("item STRING, n BIGINT, s INT, PRIMARY KEY (item) NOT ENFORCED")
        + "INSERT INTO kept SELECT item, COUNT(*) AS n, SUM(price) AS s FROM bids GROUP BY item;"
    )
    assert saving.kept(made, "0_kept/0", "COUNT(*), COUNT(DISTINCT item), SUM(n), SUM(CAST(s AS BIGINT))") == [
        ("20000", "20000", "40000", "799980000")
    ]
    assert saving.rows(f"SELECT * FROM kept{saving.tables} WHERE item = 'k7';") == [("k7", "2", "20014")]
