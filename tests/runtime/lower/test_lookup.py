"""Lookup joins on Spark: which rows they give, what they ask the database for, what a cache keeps, and what is tried again."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed
from sqlstream.session.results import Rows, Stream
from tests.support.sessions import catch_up, feed, open_session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

ORDERS = """
CREATE TABLE orders (id INT, k INT, place STRING, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE lines (id INT, name STRING) WITH ('connector' = 'print');
"""


class Orders:
    """A session whose orders join tables; what a job gives is a list of lines."""

    def __init__(self, project: Path, engine) -> None:
        self.project = project
        (project / "orders").mkdir()
        self.lines: list[str] = []
        self.notices: list[str] = []
        self.session = open_session(project, engine=engine, emit=self.lines.append)
        self.run(ORDERS)

    def run(self, sql: str):
        for outcome in self.session.run(sql):
            self.notices += outcome.notices
        return outcome

    def declare(self, name: str, columns: str, options: dict[str, str]) -> None:
        given = ", ".join(f"'{k}' = '{v.replace(chr(39), chr(39) * 2)}'" for k, v in options.items())
        self.run(f"CREATE TABLE {name} ({columns}) WITH ({given});")

    def start(self, query: str, into: str = "lines"):
        return self.session.jobs.find(self.run(f"INSERT INTO {into} {query}").job_id)

    def gives(self, job, *orders: dict) -> list[str]:
        """What comes out when ``orders`` come in."""
        self.lines.clear()
        feed(self.project / "orders", *orders)
        catch_up(job)
        return sorted(self.lines)


@pytest.fixture
def orders(tmp_path: Path, engine):
    made = Orders(tmp_path, engine)
    yield made
    made.session.close()


@pytest.fixture
def rates(postgres):
    """A table of the database: three names of two keys."""
    postgres.run(
        "DROP TABLE IF EXISTS rates",
        "CREATE TABLE rates (k int, place text, name text, price numeric(10, 2), rest text)",
        "INSERT INTO rates VALUES (1, 'a', 'one', 1.5, 'r'), (2, 'a', 'two', 2.5, 'r'), (2, 'b', 'zwei', 20, 'r'), (3, 'a', 'three', NULL, 'r'), (NULL, 'a', 'none', 0, 'r')",
    )
    yield postgres
    postgres.run("DROP TABLE rates")


COLUMNS = "k INT, place STRING, name STRING, price DECIMAL(10, 2), rest STRING"


def order(id_: int, k: int | None, place: str | None = "a", second: int = 0) -> dict:
    return {"id": id_, "k": k, "place": place, "ts": f"2024-01-01 00:00:{second:02}"}


def asked(postgres, since: int) -> list[str]:
    return [s for s in postgres.sent(since) if "rates" in s and "1=0" not in s]


def test_a_row_gets_the_rows_of_its_key_that_are_there(orders, rates) -> None:
    orders.declare("rates", COLUMNS, rates.options("rates"))
    job = orders.start("SELECT o.id, r.name FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.p AS r ON o.k = r.k")
    since = rates.mark()
    assert orders.gives(job, order(1, 1), order(2, 2), order(3, None), order(4, 9), order(5, 2)) == [
        "+I[1, one]", "+I[2, two]", "+I[2, zwei]", "+I[5, two]", "+I[5, zwei]"
    ]  # fmt: skip
    sent = asked(rates, since)
    assert len(sent) == 1 and " IN ($1, $2, $3, $4)" in sent[0] and "rest" not in sent[0]
    rates.run("UPDATE rates SET name = 'eins' WHERE k = 1", "INSERT INTO rates VALUES (9, 'a', 'nine', 0, 'r')")
    assert orders.gives(job, order(6, 1), order(7, 9)) == ["+I[6, eins]", "+I[7, nine]"]
    # More keys than one statement asks for, and more rows than are held at a time.
    since = rates.mark()
    assert len(orders.gives(job, *(order(i, i % 2500) for i in range(5000)))) == 2 * 5
    assert all(" IN (" in s for s in asked(rates, since)) and len(asked(rates, since)) == 4


def test_left_joins_conditions_and_keys_of_several_columns(orders, rates) -> None:
    orders.declare("rates", COLUMNS, rates.options("rates"))
    query = """SELECT o.id, r.name FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.p AS r
      ON o.k + 1 = r.k AND r.place = o.place AND r.price > 1 AND o.id <> 5 AND CHAR_LENGTH(r.name) < o.id + 3"""
    job = orders.start(query)
    since = rates.mark()
    given = [order(1, 0), order(2, 1), order(3, 1, "b"), order(4, 2), order(5, 0), order(6, 0, None), order(7, None)]
    assert orders.gives(job, *given) == ["+I[1, one]", "+I[2, two]", "+I[3, zwei]", "+I[4, null]", "+I[5, null]", "+I[6, null]", "+I[7, null]"]
    (sent,) = asked(rates, since)
    assert '("k" = $1 AND "place" = $2) OR' in sent and '"price" > 1' in sent


def test_keys_of_every_type_and_columns_called_oddly(orders, rates) -> None:
    rates.run("DROP TABLE IF EXISTS odd", 'CREATE TABLE odd ("a b" timestamp, day date, n numeric(10, 2), u uuid, "Größe" text, ok boolean)')
    try:
        uuid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
        rates.run(f"INSERT INTO odd VALUES ('2024-01-01 00:00:07', '2024-01-01', 3.00, '{uuid}', 'größer ''als'' \\ 😀', true)")
        orders.declare("odd", "`a b` TIMESTAMP(3), `day` DATE, n DECIMAL(10, 2), u STRING, `Größe` STRING, ok BOOLEAN", rates.options("odd"))
        conditions = "o.ts = d.`a b` AND CAST(o.ts AS DATE) = d.`day` AND CAST(o.k AS DECIMAL(10, 2)) = d.n AND o.place = d.u AND (o.id > 0) = d.ok"
        job = orders.start(f"SELECT o.id, d.`Größe` FROM orders AS o JOIN odd FOR SYSTEM_TIME AS OF o.p AS d ON {conditions}")
        assert orders.gives(job, order(1, 3, uuid, 7), order(2, 3, uuid, 8), order(3, 4, uuid, 7)) == ["+I[1, größer 'als' \\ 😀]"]
        orders.session.jobs.stop(job.id)
    finally:
        rates.run("DROP TABLE odd")


def test_a_cache_keeps_rows_and_misses(orders, rates) -> None:
    kept = {"lookup.cache": "PARTIAL", "lookup.partial-cache.max-rows": "100"}
    tables = {
        "kept": kept,
        "found": kept | {"lookup.partial-cache.cache-missing-key": "false"},
        "short": kept | {"lookup.partial-cache.expire-after-write": "1 ms"},
        "single": kept | {"lookup.partial-cache.max-rows": "1"},
        "older": {"lookup.cache.max-rows": "100", "lookup.cache.ttl": "1 h"},
    }
    for name, options in tables.items():
        orders.declare(name, COLUMNS, rates.options("rates", **options))
    joins = " ".join(f"LEFT JOIN {name} FOR SYSTEM_TIME AS OF o.p ON o.k = {name}.k" for name in tables)
    names = ", '/', ".join(f"COALESCE({name}.name, '-')" for name in tables)
    job = orders.start(f"SELECT o.id, CONCAT({names}) FROM orders AS o {joins}")
    assert orders.gives(job, order(1, 1), order(2, 8)) == ["+I[1, one/one/one/one/one]", "+I[2, -/-/-/-/-]"]
    rates.run("UPDATE rates SET name = 'new' WHERE k = 1", "INSERT INTO rates VALUES (8, 'a', 'eight', 0, 'r')")
    since = rates.mark()
    # The cache of one key has the one that came last, which is the one without a row.
    assert orders.gives(job, order(3, 8), order(4, 1)) == ["+I[3, -/eight/eight/-/-]", "+I[4, one/one/new/new/one]"]
    assert len(asked(rates, since)) == 3


RETRY = "/*+ LOOKUP('table'='r', 'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', 'fixed-delay'='200ms', 'max-attempts'='100', 'async'='true') */"


def test_a_miss_is_looked_up_again_until_the_row_is_there(orders, rates) -> None:
    orders.declare("rates", COLUMNS, rates.options("rates", **{"lookup.cache": "PARTIAL"}))
    job = orders.start(f"SELECT {RETRY} o.id, r.name FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.p AS r ON o.k = r.k")
    assert any("'async'" in notice for notice in orders.notices)
    orders.gives(job, order(1, 1))
    late = threading.Timer(1.0, lambda: rates.run("INSERT INTO rates VALUES (8, 'a', 'late', 0, 'r')"))
    late.start()
    assert orders.gives(job, order(2, 8)) == ["+I[2, late]"]
    late.join()


QUERY = "SELECT o.id, r.name FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.p AS r ON o.k = r.k"


def test_a_database_that_is_away_for_a_while_is_asked_again(orders, rates) -> None:
    orders.declare("rates", COLUMNS, rates.options("rates"))
    job = orders.start(QUERY)
    assert orders.gives(job, order(1, 1)) == ["+I[1, one]"]
    rates.stop()
    back = threading.Timer(0.5, rates.start)
    back.start()
    try:
        assert orders.gives(job, order(2, 2)) == ["+I[2, two]", "+I[2, zwei]"]
    finally:
        back.join()


def test_without_retries_the_job_fails_and_goes_on_when_it_is_started_again(orders, rates) -> None:
    list(orders.session.run("SET 'restart-strategy.type' = 'none'"))
    orders.declare("rates", COLUMNS, rates.options("rates", **{"lookup.max-retries": "0"}))
    job = orders.start(QUERY)
    assert orders.gives(job, order(1, 1)) == ["+I[1, one]"]
    rates.stop()
    try:
        with pytest.raises(Exception, match="look-up in 'rates' failed"):
            orders.gives(job, order(2, 2))
        job.done.wait(60)
        assert isinstance(job.error, JobFailed)
    finally:
        rates.start()
    assert orders.gives(orders.start(QUERY)) == ["+I[2, two]", "+I[2, zwei]"]


def test_event_time_goes_on_above_and_a_static_input_is_joined_too(orders, rates) -> None:
    orders.declare("rates", COLUMNS, rates.options("rates"))
    orders.run("CREATE VIEW priced AS SELECT o.ts, r.name, r.price FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.p AS r ON o.k = r.k")
    job = orders.start(
        "SELECT CAST(COUNT(*) AS INT), MAX(name) FROM TABLE(TUMBLE(TABLE priced, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
    )
    assert orders.gives(job, order(1, 1), order(2, 2)) == []
    assert orders.gives(job, order(3, 1, second=30)) == ["+I[3, zwei]"]
    orders.run("CREATE TABLE ended LIKE orders; ALTER TABLE ended RESET ('source.monitor-interval')")
    for mode in ("streaming", "batch"):
        orders.run(f"SET 'execution.runtime-mode' = '{mode}'")
        outcome = orders.run("SELECT o.id, r.name FROM ended AS o JOIN rates FOR SYSTEM_TIME AS OF o.p AS r ON o.k = r.k WHERE r.price > 10")
        assert isinstance(outcome, Stream | Rows)
        assert [c.row for c in outcome.changes] if isinstance(outcome, Stream) else list(outcome.rows) == [("2", "zwei")]


def test_files_and_delta_tables_are_joined_as_they_are_by_then(orders, engine) -> None:
    (orders.project / "names").mkdir()
    (orders.project / "names" / "1.csv").write_text("1,one\n2,two\n")
    orders.run("""
        CREATE TABLE names (k INT, name STRING) WITH ('connector' = 'filesystem', 'path' = 'names', 'format' = 'csv');
        CREATE TABLE kinds (k INT, kind STRING) WITH ('connector' = 'delta', 'table-path' = 'kinds');
        SET 'table.dml-sync' = 'true'; INSERT INTO kinds VALUES (1, 'A'), (2, 'B'); RESET 'table.dml-sync'""")
    job = orders.start("""SELECT o.id, CONCAT(n.name, '/', COALESCE(d.kind, '-')) FROM orders AS o
        JOIN names FOR SYSTEM_TIME AS OF o.p AS n ON o.k = n.k
        LEFT JOIN kinds FOR SYSTEM_TIME AS OF o.p AS d ON o.k = d.k AND d.kind <> 'B'""")
    assert orders.gives(job, order(1, 1), order(2, 2), order(3, 3), order(4, None)) == ["+I[1, one/A]", "+I[2, two/-]"]
    (orders.project / "names" / "2.csv").write_text("3,three\n")
    engine.spark.sql(
        f"MERGE INTO delta.`{orders.project / 'kinds'}` AS t USING (SELECT 1 AS k) AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET kind = 'X'"
    )
    assert orders.gives(job, order(5, 1), order(6, 3)) == ["+I[5, one/X]", "+I[6, three/-]"]


def test_a_database_table_joins_a_stream_as_a_bounded_input(orders, rates) -> None:
    orders.declare("rates", COLUMNS, rates.options("rates"))
    job = orders.start("SELECT o.id, r.name FROM orders AS o JOIN rates AS r ON o.k = r.k WHERE r.price IS NOT NULL")
    assert orders.gives(job, order(1, 1), order(2, 3)) == ["+I[1, one]"]
    orders.session.jobs.stop(job.id)
    rates.run("DELETE FROM rates")
    again = orders.start("SELECT o.id, r.name FROM orders AS o JOIN rates AS r ON o.k = r.k WHERE r.price IS NOT NULL")
    assert orders.gives(again, order(3, 1)) == ["+I[3, one]"]


def test_changes_are_looked_up_and_written_by_key_over_a_restart(orders, postgres) -> None:
    postgres.run(
        "DROP TABLE IF EXISTS people, totals",
        "CREATE TABLE people (k int PRIMARY KEY, name text)",
        "INSERT INTO people VALUES (1, 'one'), (2, 'two')",
    )
    postgres.run("CREATE TABLE totals (k int PRIMARY KEY, name text, n bigint)")
    orders.declare("people", "k INT, name STRING, PRIMARY KEY (k) NOT ENFORCED", postgres.options("people"))
    orders.declare("totals", "k INT, name STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED", postgres.options("totals"))
    query = """SELECT g.k, r.name, g.n
        FROM (SELECT k, COUNT(*) AS n, PROCTIME() AS p FROM orders WHERE k IS NOT NULL GROUP BY k HAVING COUNT(*) < 3) AS g
        JOIN people FOR SYSTEM_TIME AS OF g.p AS r ON g.k = r.k"""

    def there() -> list[list[object]]:
        return postgres.run("SELECT k, name, n FROM totals ORDER BY k")

    job = orders.start(query, "totals")
    orders.gives(job, order(1, 1), order(2, 2), order(3, 3), order(4, None))
    assert there() == [[1, "one", 1], [2, "two", 1]]
    orders.gives(job, order(5, 1), order(6, 1))
    assert there() == [[2, "two", 1]]
    orders.session.jobs.stop(job.id)
    orders.gives(orders.start(query, "totals"), order(7, 2))
    assert there() == [[2, "two", 2]]
    postgres.run("DROP TABLE people, totals")
