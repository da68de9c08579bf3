"""The jdbc connector on a real MariaDB, by the driver of MySQL: what is read, what goes down to the database, and what is written by primary key."""

from __future__ import annotations

import pytest

from sqlstream.core.changelog import KIND, ChangelogMode, RowKind
from sqlstream.sql.types import BIGINT, BOOLEAN, BYTES, DATE, DOUBLE, FLOAT, INT, SMALLINT, STRING, TINYINT, decimal, time, timestamp, timestamp_ltz
from tests.support.databases import fresh_tables, keyed
from tests.support.mariadb import PASSWORD

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

ALL = [
    ("b", BOOLEAN), ("y", TINYINT), ("s", SMALLINT), ("i", INT), ("l", BIGINT), ("f", FLOAT), ("d", DOUBLE), ("n", decimal(10, 2)), ("t", STRING),
    ("x", BYTES), ("day", DATE), ("clock", time(0)), ("ts", timestamp(6)), ("at", timestamp_ltz(6)), ("j", STRING), ("big", decimal(20, 0)),
]  # fmt: skip
ALL_THERE = (
    "b tinyint(1), y tinyint, s smallint, i int, l bigint, f float, d double, n decimal(10, 2), t text, x varbinary(10), day date, clock time, "
    "ts datetime(6), at timestamp(6) NULL, j json, big bigint unsigned"
)


@pytest.fixture
def there(mariadb):
    yield from fresh_tables(mariadb)


@pytest.fixture
def options(mariadb):
    """A function: the options of a table."""

    def of(name: str, **more: str) -> dict[str, str]:
        url = f"jdbc:mysql://127.0.0.1:{mariadb.port}/shop?sslMode=DISABLED&allowPublicKeyRetrieval=true"
        return {"connector": "jdbc", "url": url, "table-name": name, "username": "app", "password": PASSWORD, **more}

    return of


def test_every_type_there_and_back(run, make_table, texts, there, options, mariadb):
    row = (
        "(true, 1, 2, 3, 4, 1.5, 2.5, 12.34, 'grün ''q'' \\\\ 😀', x'00ff', '2024-02-29', '12:30:15', '2024-03-31 02:30:00.123456', "
        "'2024-03-31 00:30:00', '{\"a\": 1}', 18446744073709551615)"
    )
    there("types", ALL_THERE, row, f"({', '.join(['NULL'] * len(ALL))})")
    source = make_table(ALL, options("types"))
    expected = [
        ("true", "1", "2", "3", "4", "1.5", "2.5", "12.34", "grün 'q' \\ 😀", "00ff", "2024-02-29", "12:30:15", "2024-03-31 02:30:00.123456",
         "2024-03-31 00:30:00", '{"a": 1}', "18446744073709551615"),
        (None,) * len(ALL),
    ]  # fmt: skip
    assert texts(run.frame(source)) == expected
    there("copies", ALL_THERE)
    copies = make_table(ALL, options("copies"))
    run.insert(copies, run.frame(source))
    assert texts(run.frame(copies)) == expected
    assert mariadb.run("SELECT * FROM copies EXCEPT ALL SELECT * FROM types") == []


def test_odd_names(run, make_table, there, options):
    there("`Sel ect`", "`Or``der` int PRIMARY KEY, `größe` text, `user` text")
    columns = [("Or`der", INT), ("größe", STRING), ("user", STRING)]
    sink = keyed(make_table([(n, t.not_null() if n == "Or`der" else t) for n, t in columns], options("Sel ect")), "Or`der")
    frame = run.spark.createDataFrame([(1, "ü", "me"), (2, None, None)], "`Or``der` int, `größe` string, user string")
    run.insert(sink, frame)
    assert sorted(run.rows(sink)) == [(1, "ü", "me"), (2, None, None)]


def test_parts_leave_no_row_out(run, make_table, there, options):
    there("parts", "id int, name text", *(f"({i}, 'n')" for i in (-100, 1, 2, 3, 4, 500)), "(NULL, 'n')")
    bounds = {"scan.partition.column": "id", "scan.partition.num": "3", "scan.partition.lower-bound": "1", "scan.partition.upper-bound": "4"}
    frame = run.frame(make_table([("id", INT)], options("parts", **bounds)))
    assert frame.rdd.getNumPartitions() == 3
    assert sorted(r[0] or 0 for r in frame.collect()) == [-100, 0, 1, 2, 3, 4, 500]


def test_changes_by_primary_key(run, make_table, there, options, mariadb):
    there("totals", "id int PRIMARY KEY, total bigint", "(1, 10)", "(2, 20)", "(3, 30)")
    sink = keyed(make_table([("id", INT.not_null()), ("total", BIGINT)], options("totals")), "id")
    changes = [(1, 11, RowKind.UPDATE_AFTER), (2, None, RowKind.DELETE), (4, 40, RowKind.INSERT), (4, 41, RowKind.UPDATE_AFTER)]
    frame = run.spark.createDataFrame([(i, total, kind.code) for i, total, kind in changes], f"id int, total bigint, {KIND} tinyint")
    for _ in range(2):
        # Repeated, as after a failure, the result is the same.
        run.insert(sink, frame, mode=ChangelogMode.UPSERT_DELETE, keys=("id",))
        assert mariadb.run("SELECT id, total FROM totals ORDER BY id") == [["1", "11"], ["3", "30"], ["4", "41"]]
