"""The jdbc connector on a real PostgreSQL: what is read, what goes down to the database, and what is written by primary key."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from sqlstream.core.changelog import KIND, ChangelogMode, RowKind
from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.sql.types import BIGINT, BOOLEAN, BYTES, DATE, DOUBLE, FLOAT, INT, SMALLINT, STRING, decimal, time, timestamp, timestamp_ltz
from tests.support.databases import fresh_tables, keyed

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

ALL = [
    ("b", BOOLEAN), ("s", SMALLINT), ("i", INT), ("l", BIGINT), ("f", FLOAT), ("d", DOUBLE), ("n", decimal(10, 2)), ("t", STRING),
    ("x", BYTES), ("day", DATE), ("clock", time(0)), ("ts", timestamp(6)), ("at", timestamp_ltz(6)), ("u", STRING), ("j", STRING),
]  # fmt: skip
ALL_THERE = (
    "b boolean, s smallint, i integer, l bigint, f real, d double precision, n numeric(10, 2), t text, x bytea, day date, clock time, "
    "ts timestamp, at timestamptz, u uuid, j jsonb"
)


@pytest.fixture
def there(postgres):
    yield from fresh_tables(postgres)


def test_every_type_there_and_back(run, make_table, texts, there, postgres):
    row = (
        "(true, 1, 2, 3, 1.5, 2.5, 12.34, 'grün ''q'' \\ 😀', '\\x00ff', '2024-02-29', '12:30:15', '2024-03-31 02:30:00.123456', "
        "'2024-03-31 02:30:00+02', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{\"a\": 1}')"
    )
    there("types", ALL_THERE, row, f"({', '.join(['NULL'] * len(ALL))})")
    source = make_table(ALL, postgres.options("types"))
    expected = [
        ("true", "1", "2", "3", "1.5", "2.5", "12.34", "grün 'q' \\ 😀", "00ff", "2024-02-29", "12:30:15", "2024-03-31 02:30:00.123456",
         "2024-03-31 00:30:00", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", '{"a": 1}'),
        (None,) * len(ALL),
    ]  # fmt: skip
    assert texts(run.frame(source)) == expected
    there("copies", ALL_THERE)
    copies = make_table(ALL, postgres.options("copies"))
    run.insert(copies, run.frame(source))
    assert texts(run.frame(copies)) == expected
    assert postgres.run("SELECT * FROM copies EXCEPT ALL SELECT * FROM types") == []
    assert postgres.run("SELECT count(*) FROM copies") == [[2]]


def test_what_is_read_goes_down_to_the_database(run, make_table, there, postgres):
    there("wide", "id int, name text, rest text", *(f"({i}, 'n{i}', 'r')" for i in range(10)))
    source = make_table([("id", INT), ("name", STRING), ("rest", STRING)], postgres.options("wide"))
    since = postgres.mark()
    assert [tuple(r) for r in run.frame(source).where("id > 7 AND name IS NOT NULL").select("name").collect()] == [("n8",), ("n9",)]
    (sent,) = [s for s in postgres.sent(since) if "wide" in s and "1=0" not in s]
    assert '"id" > 7' in sent
    assert "rest" not in sent
    since = postgres.mark()
    source = make_table([("id", INT), ("name", STRING)], postgres.options("wide", **{"filter.handling.policy": "never"}))
    assert run.frame(source).where("id > 7").count() == 2
    assert not any("> 7" in s for s in postgres.sent(since))


def test_parts_leave_no_row_out(run, make_table, there, postgres):
    there("parts", "id int, name text", *(f"({i}, 'n')" for i in (-100, 1, 2, 3, 4, 500)), "(NULL, 'n')")
    options = postgres.options(
        "parts", **{"scan.partition.column": "id", "scan.partition.num": "3", "scan.partition.lower-bound": "1", "scan.partition.upper-bound": "4"}
    )
    frame = run.frame(make_table([("id", INT)], options))
    assert frame.rdd.getNumPartitions() == 3
    assert sorted(r[0] or 0 for r in frame.collect()) == [-100, 0, 1, 2, 3, 4, 500]


def test_odd_names(run, make_table, there, postgres):
    there('"Sel ect"', '"Or""der" int PRIMARY KEY, "größe" text, "user" text, lower text')
    columns = [('Or"der', INT), ("größe", STRING), ("user", STRING), ("LOWER", STRING)]
    sink = keyed(make_table([(n, t.not_null() if n == 'Or"der' else t) for n, t in columns], postgres.options('"Sel ect"')), 'Or"der')
    frame = run.spark.createDataFrame([(1, "ü", "me", "x"), (2, None, None, None)], '`Or"der` int, `größe` string, user string, LOWER string')
    run.insert(sink, frame)
    assert sorted(run.rows(sink)) == [(1, "ü", "me", "x"), (2, None, None, None)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([("missing", INT)], "Column 'missing' .* is not in the database's table"),
        ([("name", INT)], "Column 'name' is declared INT, and is STRING in the database"),
        ([("big", INT)], "Column 'big' is declared INT, and is BIGINT in the database"),
        ([("ts", timestamp_ltz(3))], "Column 'ts' is declared TIMESTAMP_LTZ\\(3\\), and is TIMESTAMP_NTZ"),
    ],
)
def test_a_declaration_that_does_not_fit(run, make_table, there, postgres, columns, message):
    there("declared", "name text, big bigint, ts timestamp")
    with pytest.raises(ValidationError, match=message):
        run.frame(make_table(columns, postgres.options("declared")))


def test_a_database_that_does_not_answer(run, make_table, postgres):
    options = postgres.options("missing")
    with pytest.raises(JobFailed, match='relation "missing" does not exist'):
        run.frame(make_table([("a", INT)], options))
    with pytest.raises(JobFailed, match="password authentication failed") as error:
        run.frame(make_table([("a", INT)], {**options, "password": "wrong"}))
    assert "wrong" not in error.value.message
    with pytest.raises(JobFailed, match="Connection to 127.0.0.1:1 refused"):
        run.frame(make_table([("a", INT)], {**options, "url": "jdbc:postgresql://127.0.0.1:1/postgres"}))


def test_every_thread_finds_the_driver(run, make_table, there, postgres):
    there("found", "id int", "(1)")
    source = make_table([("id", INT)], postgres.options("found"))
    assert run.rows(source) == [(1,)]
    with ThreadPoolExecutor(1) as other:
        assert other.submit(run.rows, source).result() == [(1,)]


def test_appended(run, make_table, there, postgres):
    there("log", "id int, name text")
    sink = make_table([("id", INT), ("name", STRING)], postgres.options("log", **{"sink.buffer-flush.max-rows": "2"}))
    for _ in range(2):
        run.insert(sink, run.spark.range(5).selectExpr("CAST(id AS INT) id", "'x' name"))
    assert postgres.run("SELECT id, count(*) FROM log GROUP BY id ORDER BY id") == [[i, 2] for i in range(5)]


def changes(run, rows):
    kinds = {k.value: k.code for k in RowKind}
    return run.spark.createDataFrame([(*r[1:], kinds[r[0]]) for r in rows], f"id int, name string, {KIND} tinyint").coalesce(1).repartition(3, "id")


def test_changes_by_primary_key(run, make_table, there, postgres):
    there("latest", "id int PRIMARY KEY, name text UNIQUE", "(1, 'one')", "(2, 'two')", "(9, 'nine')")
    sink = keyed(make_table([("id", INT.not_null()), ("name", STRING)], postgres.options("latest")), "id")
    more = {"mode": ChangelogMode.RETRACT_DELETE, "keys": ("id",)}
    run.insert(sink, changes(run, [("-U", 1, "one"), ("+U", 1, "ONE"), ("-D", 2, "two"), ("+I", 3, "two"), ("+I", 4, "x"), ("-D", 4, "x")]), **more)
    expected = [[1, "ONE"], [3, "two"], [9, "nine"]]
    assert postgres.run("SELECT id, name FROM latest ORDER BY id") == expected
    run.insert(sink, changes(run, [("-U", 1, "ONE"), ("+U", 1, None)]), **more)
    assert postgres.run("SELECT name FROM latest WHERE id = 1") == [[None]]


def test_a_transaction_is_whole(run, make_table, there, postgres):
    there("strict", "id int PRIMARY KEY, name text NOT NULL")
    sink = keyed(make_table([("id", INT.not_null()), ("name", STRING)], postgres.options("strict", **{"sink.buffer-flush.max-rows": "1"})), "id")
    rows = run.spark.createDataFrame([(1, "a"), (2, "b"), (3, None)], "id int, name string").coalesce(1)
    with pytest.raises(Exception, match="null value in column"):
        run.insert(sink, rows, keys=("id",), mode=ChangelogMode.UPSERT)
    assert postgres.run("SELECT * FROM strict") == []


def test_what_failed_for_a_while_is_written_again(run, make_table, there, postgres):
    there("late", "id int PRIMARY KEY, name text")
    sink = keyed(make_table([("id", INT.not_null()), ("name", STRING)], postgres.options("late")), "id")
    # The first transaction waits for the lock until its time is over.
    postgres.run("ALTER ROLE app SET lock_timeout = '300ms'")
    holder = postgres.connection()
    try:
        holder.run("BEGIN")
        holder.run("LOCK TABLE late IN EXCLUSIVE MODE")
        import threading

        timer = threading.Timer(1.0, lambda: holder.run("COMMIT"))
        timer.start()
        run.insert(sink, run.spark.createDataFrame([(1, "a")], "id int, name string"))
        timer.join()
    finally:
        holder.close()
        postgres.run("ALTER ROLE app RESET lock_timeout")
    assert postgres.run("SELECT id, name FROM late") == [[1, "a"]]


def test_streams_are_upserted_and_go_on(run, make_table, there, postgres, tmp_path):
    there("counts", "k text PRIMARY KEY, n bigint")
    sink = keyed(make_table([("k", STRING.not_null()), ("n", BIGINT)], postgres.options("counts")), "k")
    folder = tmp_path / "in"
    folder.mkdir()

    def add(name: str, lines: str) -> None:
        (folder / name).write_text(lines)
        frame = run.spark.readStream.name("lines").schema("value string").text(str(folder)).selectExpr("value AS k", "length(value) AS n")
        run.stream(sink, frame.selectExpr("k", "CAST(n AS BIGINT) AS n"))

    add("1", "a\nbb\na\n")
    add("2", "ccc\n")
    assert postgres.run("SELECT k, n FROM counts ORDER BY k") == [["a", 1], ["bb", 2], ["ccc", 3]]
