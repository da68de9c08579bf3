"""Change data capture on a real PostgreSQL and a real MariaDB."""

from __future__ import annotations

import io
import os
import random
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from sqlstream.core.errors import JobFailed, ValidationError
from tests.support.background import Background
from tests.support.sessions import open_session, rows, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlstream.runtime.jobs.job import Job

pytestmark = [pytest.mark.spark, pytest.mark.postgres]


@dataclass
class Captured:
    """A database whose tables are captured. ``sql``: of statements that differ, by what they are."""

    server: Any
    connector: str
    login: dict[str, str]
    sql: dict[str, str]
    slots: list[str] = field(default_factory=list)

    def run(self, *statements: str) -> list[Any]:
        return self.server.run(*statements)

    def create(self, name: str, columns: str, *values: str) -> None:
        self.run(f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} ({columns})", *self.whole(name), *self.inserts(name, *values))

    def whole(self, name: str) -> list[str]:
        """What makes a table say the rows before changes."""
        return [f"ALTER TABLE {name} REPLICA IDENTITY FULL"] if self.connector == "postgres-cdc" else []

    def inserts(self, name: str, *values: str) -> list[str]:
        return [f"INSERT INTO {name} VALUES {', '.join(values)}"] if values else []

    def declared(self, name: str, columns: str, *, called: str | None = None, **more: str) -> str:
        options = {**self.login, "table-name": name, **{k.replace("__", "-").replace("_", "."): v for k, v in more.items()}}
        if self.connector == "postgres-cdc":
            options["slot.name"] = f"of_{called or name}"
            self.slots.append(options["slot.name"])
        quoted = ", ".join(f"'{k}' = '{v.replace(chr(39), chr(39) * 2)}'" for k, v in options.items())
        return f"CREATE TABLE {called or name} ({columns}) WITH ({quoted})"


@pytest.fixture(params=["postgres", "mariadb"])
def database(request) -> Iterator[Captured]:
    server = request.getfixturevalue(request.param)
    if request.param == "postgres":
        from tests.support.postgres import HOST, PASSWORD

        login = {"username": "app", "password": PASSWORD, "database-name": "postgres", "schema-name": "public", "decoding.plugin.name": "pgoutput"}
        made = Captured(server, "postgres-cdc", {"connector": "postgres-cdc", "hostname": HOST, "port": str(server.port), **login}, {})
    else:
        from tests.support.mariadb import HOST, PASSWORD

        login = {"username": "app", "password": PASSWORD, "database-name": "shop", "server-time-zone": "UTC"}
        made = Captured(server, "mysql-cdc", {"connector": "mysql-cdc", "hostname": HOST, "port": str(server.port), **login}, {})
    yield made
    for slot in dict.fromkeys(made.slots):
        until(lambda slot=slot: not server.run(f"SELECT 1 FROM pg_replication_slots WHERE active AND slot_name = '{slot}'"), 30)
        server.run(f"SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '{slot}'")
        server.run(f"DROP PUBLICATION IF EXISTS {slot}_publication")


LAKE = "CREATE TABLE lake (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'lake')"
COLUMNS = "id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED"


def lake(session) -> list[tuple]:
    return sorted((int(id_), name) for id_, name in rows(session, "SELECT id, name FROM lake"))


def arrives(session, job: Job, expected: list[tuple], look: Callable[[Any], list[tuple]] = lake) -> None:
    def there() -> bool:
        assert job.error is None, job.error
        try:
            return look(session) == expected
        except Exception as error:
            # The table is made by the first micro-batch.
            if "does not exist" not in str(error):
                raise
            return False

    until(there, 120, every=0.3, said=lambda: (look(session), job.error))


def test_a_table_into_delta(tmp_path: Path, engine, database: Captured) -> None:
    """The rows that are there, each change of them, and what happens while the job does not run."""
    name = "into_delta"
    database.create(name, "id INT PRIMARY KEY, name VARCHAR(20)", "(1, 'a')", "(2, 'grün ''q'' 😀')", "(3, NULL)")
    with closing(open_session(tmp_path, f"{database.declared(name, COLUMNS)}; {LAKE}", engine=engine)) as session:
        insert = f"INSERT INTO lake SELECT id, name FROM {name}"
        job = submit(session, insert)
        arrives(session, job, [(1, "a"), (2, "grün 'q' 😀"), (3, None)])
        database.run(f"UPDATE {name} SET name = 'b' WHERE id = 1", f"DELETE FROM {name} WHERE id = 3", f"INSERT INTO {name} VALUES (4, '')")
        arrives(session, job, [(1, "b"), (2, "grün 'q' 😀"), (4, "")])
        # A key that changes is removed and added.
        database.run(f"UPDATE {name} SET id = 9 WHERE id = 4")
        arrives(session, job, [(1, "b"), (2, "grün 'q' 😀"), (9, "")])
        run(session, f"STOP JOB '{job.id}'")
        assert job.error is None
        database.run(f"DELETE FROM {name} WHERE id = 2", f"INSERT INTO {name} VALUES (5, 'while stopped')")
        job = submit(session, insert)
        arrives(session, job, [(1, "b"), (5, "while stopped"), (9, "")])
        run(session, f"STOP JOB '{job.id}' WITH SAVEPOINT")
        database.run(f"UPDATE {name} SET name = 'c' WHERE id = 1")
        run(session, f"DROP JOB '{job.id}'; SET 'execution.state-recovery.path' = '{job.savepoint}'")
        job = submit(session, insert)
        arrives(session, job, [(1, "c"), (5, "while stopped"), (9, "")])
        run(session, f"STOP JOB '{job.id}'")


TYPES = {
    "postgres-cdc": (
        "id INT PRIMARY KEY, b BOOLEAN, s SMALLINT, l BIGINT, f REAL, d DOUBLE PRECISION, n NUMERIC(20, 2), t TEXT, c CHAR(5), x BYTEA, day DATE, "
        "clock TIME, ts TIMESTAMP, at TIMESTAMPTZ, u UUID, j JSONB, a INT[]",
        "(1, true, 1, 9223372036854775807, 1.5, 'NaN', 123456789012345678.90, 'grün \\ 😀', 'ab', '\\x00ff', '1969-12-31', '12:30:15.123456', "
        "'1969-12-31 23:59:59.999999', '2026-03-29 02:30:00.123456+02', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{\"a\": 1}', '{1, NULL, 3}')",
        ["1", "TRUE", "1", "9223372036854775807", "1.5", "NaN", "123456789012345678.90", "grün \\ 😀", "ab   ", "x'00ff'", "1969-12-31", "12:30:15.123",
         "1969-12-31 23:59:59.999999", "2026-03-29 00:30:00.123", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", '{"a": 1}', "[1, NULL, 3]"],
    ),
    "mysql-cdc": (
        "id INT PRIMARY KEY, b BOOLEAN, s SMALLINT, l BIGINT UNSIGNED, f FLOAT, d DOUBLE, n DECIMAL(20, 2), t TEXT, c CHAR(5), x VARBINARY(10), "
        "day DATE, clock TIME(6), ts DATETIME(6), at TIMESTAMP(6) NULL, u ENUM('small', 'large'), j JSON, a INT",
        "(1, true, 1, 18446744073709551615, 1.5, 2.5, 123456789012345678.90, 'grün \\\\ 😀', 'ab', x'00ff', '1969-12-31', '12:30:15.123456', "
        "'1969-12-31 23:59:59.999999', '2026-03-29 00:30:00.123456', 'large', '{\"a\": 1}', NULL)",
        ["1", "TRUE", "1", "18446744073709551615", "1.5", "2.5", "123456789012345678.90", "grün \\ 😀", "ab", "x'00ff'", "1969-12-31", "12:30:15.123",
         "1969-12-31 23:59:59.999999", "2026-03-29 00:30:00.123", "large", '{"a": 1}', None],
    ),
}  # fmt: skip


def test_values_of_each_type(tmp_path: Path, engine, database: Captured) -> None:
    """As rows that are there, as new ones, and as NULL."""
    there, row, expected = TYPES[database.connector]
    name = "of_each_type"
    columns = (
        f"id INT, b BOOLEAN, s SMALLINT, l {'DECIMAL(20, 0)' if 'UNSIGNED' in there else 'BIGINT'}, f FLOAT, d DOUBLE, n DECIMAL(20, 2), t STRING, "
        "c STRING, x BYTES, `day` DATE, clock TIME(3), ts TIMESTAMP(6), `at` TIMESTAMP_LTZ(3), u STRING, j STRING, "
        f"a {'ARRAY<INT>' if '[]' in there else 'INT'}, PRIMARY KEY (id) NOT ENFORCED"
    )
    database.create(name, there, row)
    # Text of values of the second time zone would tell whether one is used in the place of the other.
    with closing(open_session(tmp_path, database.declared(name, columns), engine=engine)) as session:
        stream = run(session, f"SELECT * FROM {name}")[0]
        found = iter(stream.changes)
        first = next(found)
        database.run(*database.inserts(name, f"(2{', NULL' * 16})"), f"UPDATE {name} SET id = 3 WHERE id = 1")
        others = [next(found) for _ in range(3)]
        stream.stop()
    assert (first.kind.value, list(first.row)) == ("+I", expected)
    kinds = [(change.kind.value, list(change.row)) for change in others]
    # A database may tell a new key as a row that goes and one that comes.
    assert kinds == [("+I", ["2", *[None] * 16]), (kinds[1][0], expected), (kinds[2][0], ["3", *expected[1:]])]
    assert (kinds[1][0], kinds[2][0]) in (("-D", "+I"), ("-U", "+U"))


def test_totals_of_changes(tmp_path: Path, engine, database: Captured) -> None:
    """Two queries of a job, and both sides of a join, have one capture."""
    name = "of_totals"
    database.create(name, "id INT PRIMARY KEY, k VARCHAR(9), v INT", *(f"({i}, 'k{i % 3}', {i})" for i in range(30)))
    declared = f"""{database.declared(name, "id INT, k STRING, v INT, PRIMARY KEY (id) NOT ENFORCED")};
        CREATE TABLE totals (k STRING, n BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'totals');
        CREATE TABLE pairs (a INT, b INT, PRIMARY KEY (a, b) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'pairs')"""
    with closing(open_session(tmp_path, declared, engine=engine)) as session:
        job = submit(
            session,
            f"""EXECUTE STATEMENT SET BEGIN
              INSERT INTO totals SELECT k, COUNT(*), SUM(v) FROM {name} GROUP BY k;
              INSERT INTO pairs SELECT x.id, y.id FROM {name} AS x JOIN {name} AS y ON x.v + 1 = y.v;
            END""",
        )

        def both(session) -> list[tuple]:
            totals = sorted(rows(session, "SELECT k, n, v FROM totals"))
            return [*totals, *rows(session, "SELECT COUNT(*), SUM(b - a) FROM pairs")]

        def expected() -> list[tuple]:
            there = [tuple(map(str, row)) for row in database.run(f"SELECT k, COUNT(*), SUM(v) FROM {name} GROUP BY k ORDER BY k")]
            pairs = database.run(f"SELECT COUNT(*), SUM(y.id - x.id) FROM {name} AS x JOIN {name} AS y ON x.v + 1 = y.v")
            return [*there, *(tuple(map(str, row)) for row in pairs)]

        arrives(session, job, expected(), both)
        for number in range(5):
            database.run(
                f"UPDATE {name} SET v = v + 1, k = 'k9' WHERE id % 5 = {number}", f"DELETE FROM {name} WHERE id = {number}",
                f"INSERT INTO {name} VALUES ({100 + number}, 'k1', {number})",
            )  # fmt: skip
        arrives(session, job, expected(), both)
        # What all have read is deleted.
        files = sorted(tmp_path.rglob("*.captured/*.gz"))
        assert len({file.parent for file in files}) == 1
        database.run(f"DELETE FROM {name} WHERE id > 20")
        arrives(session, job, expected(), both)
        until(lambda: not files[0].exists(), 30, meanwhile=lambda: database.run(f"UPDATE {name} SET v = v + 1"))
        run(session, f"STOP JOB '{job.id}'")


def test_tables_by_pattern(tmp_path: Path, engine, database: Captured) -> None:
    """With where a row is from, and an empty one among them."""
    database.create("orders_1", "id INT PRIMARY KEY, name VARCHAR(9)", "(1, 'a')")
    database.create("orders_2", "id INT PRIMARY KEY, name VARCHAR(9)")
    database.create("x_orders_3", "id INT PRIMARY KEY, name VARCHAR(9)", "(3, 'never')")
    database.create("orders_3x", "id INT PRIMARY KEY, name VARCHAR(9)", "(4, 'never')")
    columns = (
        "id INT, name STRING, t STRING METADATA FROM 'table_name' VIRTUAL, d STRING METADATA FROM 'database_name' VIRTUAL, "
        "at_ TIMESTAMP_LTZ(3) METADATA FROM 'op_ts' VIRTUAL, k STRING METADATA FROM 'row_kind' VIRTUAL, PRIMARY KEY (id) NOT ENFORCED"
    )
    with closing(open_session(tmp_path, database.declared("orders_[0-9]+", columns, called="orders"), engine=engine)) as session:
        stream = run(session, "SELECT id, name, t, d, at_ < TIMESTAMP '2000-01-01 00:00:00', k FROM orders")[0]
        found = iter(stream.changes)
        own = database.login["database-name"]
        assert [(c.kind.value, c.row) for c in [next(found)]] == [("+I", ("1", "a", "orders_1", own, "TRUE", "+I"))]
        database.run("INSERT INTO orders_2 VALUES (2, 'b')")
        database.run("DELETE FROM orders_1")
        assert [(c.kind.value, c.row) for c in (next(found), next(found))] == [
            ("+I", ("2", "b", "orders_2", own, "FALSE", "+I")),
            ("-D", ("1", "a", "orders_1", own, "FALSE", "-D")),
        ]
        stream.stop()


def test_a_database_that_is_away(tmp_path: Path, engine, database: Captured) -> None:
    """Nothing is there at first; the first change is a delete of a row that came while the job started; the server dies meanwhile."""
    name = "of_one_away"
    database.create(name, "id INT PRIMARY KEY, name VARCHAR(9)")
    declared = f"{database.declared(name, COLUMNS)}; {LAKE}"
    options = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "100", "restart-strategy.fixed-delay.delay": "1 s"}
    with closing(open_session(tmp_path, declared, engine=engine, options=options)) as session:
        job = submit(session, f"INSERT INTO lake SELECT id, name FROM {name}")
        database.run(f"INSERT INTO {name} VALUES (1, 'a')", f"DELETE FROM {name} WHERE id = 1", f"INSERT INTO {name} VALUES (2, 'b')")
        arrives(session, job, [(2, "b")])
        database.server.stop()
        database.server.start()
        database.run(f"UPDATE {name} SET name = 'c'", f"INSERT INTO {name} VALUES (3, 'd')")
        arrives(session, job, [(2, "c"), (3, "d")])
        run(session, f"STOP JOB '{job.id}'")


def test_changes_that_come_one_by_one(tmp_path: Path, engine, database: Captured) -> None:
    """Of a snapshot, too: the last one of it is a batch by itself."""
    name = "of_single_ones"
    database.create(name, "id INT PRIMARY KEY, name VARCHAR(9)", *(f"({number}, 'a')" for number in range(5)))
    declared = database.declared(name, COLUMNS)[:-1] + ", 'debezium.max.batch.size' = '1', 'debezium.max.queue.size' = '2')"
    with closing(open_session(tmp_path, f"{declared}; {LAKE}", engine=engine)) as session:
        job = submit(session, f"INSERT INTO lake SELECT id, name FROM {name}")
        arrives(session, job, [(number, "a") for number in range(5)])
        database.run(f"UPDATE {name} SET name = 'b'")
        arrives(session, job, [(number, "b") for number in range(5)])
        run(session, f"STOP JOB '{job.id}'")


def test_what_does_not_fit(tmp_path: Path, engine, database: Captured) -> None:
    """A column of another type, with the change and its place; and a password that is wrong."""
    name = "of_misfits"
    database.create(name, "id INT PRIMARY KEY, name VARCHAR(9)", "(1, 'a')")
    options = {"restart-strategy.type": "none"}
    with closing(open_session(tmp_path, database.declared(name, "id INT, name TIMESTAMP(3)"), engine=engine, options=options)) as session:
        with pytest.raises(JobFailed) as failed:
            rows(session, f"SELECT * FROM {name}")
        assert f"A change of table '{name}' does not fit its columns:" in failed.value.message
        assert '"name":"a"' in failed.value.message
        wrong = database.declared(name, "id INT", called="wrong").replace("s3cret", "other")
        with pytest.raises(JobFailed) as failed:
            rows(session, f"{wrong}; SELECT * FROM wrong")
        assert "can't be captured" in failed.value.message and "app" in failed.value.message
        assert "Exception" not in failed.value.message


def test_options_that_are_wrong(tmp_path: Path, database: Captured) -> None:
    for more, told in (
        ({"debezium.snapshot.mode": "initial_only"}, "'initial', 'never' or 'no_data'"),
        ({"debezium.decimal.handling.mode": "double"}, "can't be set: sqlstream sets it"),
        ({"scan.startup.mode": "snapshot"}, "Invalid value for option 'scan.startup.mode'"),
    ):
        declared = database.declared("t", COLUMNS)
        declared = declared[:-1] + "".join(f", '{k}' = '{v}'" for k, v in more.items()) + ")"
        with closing(open_session(tmp_path, declared)) as session, pytest.raises(ValidationError) as refused:
            rows(session, "EXPLAIN SELECT * FROM t")
        assert told in refused.value.message
    database.slots.clear()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_after_kills_a_table_is_as_in_the_database(tmp_path: Path, engine, database: Captured) -> None:
    """Kills in the snapshot, between what is captured and what is read, while rows change."""
    name = "of_kills"
    database.create(name, "id INT PRIMARY KEY, name VARCHAR(40), v INT")
    for first in range(0, 200_000, 20_000):
        database.run(*database.inserts(name, *(f"({i}, 'row {i}', 0)" for i in range(first, first + 20_000))))
    declared = f"""{database.declared(name, "id INT, name STRING, v INT, PRIMARY KEY (id) NOT ENFORCED")};
        CREATE TABLE lake (id INT, name STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'lake');
        CREATE TABLE totals (k INT, n BIGINT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'totals');
"""
    both = f"""EXECUTE STATEMENT SET BEGIN INSERT INTO lake SELECT id, name, v FROM {name};
        INSERT INTO totals SELECT id % 10, COUNT(*), SUM(v) FROM {name} GROUP BY id % 10; END;
"""
    project = Background(tmp_path, declared + both)
    chance = random.Random(5)
    last = 200_000
    try:
        assert "FAILED" not in project.start()
        for _ in range(int(os.environ.get("SQLSTREAM_TEST_KILLS", "6"))):
            end = time.monotonic() + chance.uniform(2, 20)
            while time.monotonic() < end:
                one, other = chance.sample(range(last), 2)
                last += 1
                database.run(
                    f"UPDATE {name} SET v = v + 1, name = 'changed' WHERE id % 1000 = {one % 1000}", f"DELETE FROM {name} WHERE id = {other}",
                    f"INSERT INTO {name} VALUES ({last}, 'new', {one})",
                )  # fmt: skip
            project.kill()
        with closing(open_session(tmp_path, declared, engine=engine)) as session:

            def same() -> bool:
                there = [[str(x) for x in row] for row in database.run(f"SELECT COUNT(*), SUM(id), SUM(v), MIN(v), MAX(v) FROM {name}")]
                sums = [[str(x) for x in row] for row in database.run(f"SELECT id % 10, COUNT(*), SUM(v) FROM {name} GROUP BY id % 10 ORDER BY 1")]
                query = "SELECT COUNT(*), SUM(CAST(id AS BIGINT)), SUM(CAST(v AS BIGINT)), MIN(v), MAX(v) FROM lake"
                return [list(row) for row in rows(session, query)] == there and sorted(map(list, rows(session, "SELECT * FROM totals"))) == sums

            until(same, 240, every=2)
    finally:
        project.stop()


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
class TestPostgres:
    """What PostgreSQL alone has."""

    def test_changes_without_the_row_before(self, tmp_path: Path, engine, database: Captured) -> None:
        """They are an error with a hint, or come by primary key."""
        name = "of_keys"
        database.create(name, "id INT PRIMARY KEY, name VARCHAR(9)", "(1, 'a')", "(2, 'b')")
        database.run(f"ALTER TABLE {name} REPLICA IDENTITY DEFAULT")
        declared = f"{database.declared(name, COLUMNS)}; {LAKE}"
        with closing(open_session(tmp_path, declared, engine=engine, options={"restart-strategy.type": "none"})) as session:
            job = submit(session, f"INSERT INTO lake SELECT id, name FROM {name}")
            arrives(session, job, [(1, "a"), (2, "b")])
            database.run(f"UPDATE {name} SET name = 'c' WHERE id = 1")
            until(lambda: job.error is not None, 60)
            assert "check the Postgres table has been set REPLICA IDENTITY to FULL level" in job.error.message
            run(session, f"DROP JOB '{job.id}'; ALTER TABLE {name} SET ('changelog-mode' = 'upsert', 'slot.name' = 'of_upserts')")
            database.slots.append("of_upserts")
            job = submit(session, f"INSERT INTO lake SELECT id, name FROM {name}")
            arrives(session, job, [(1, "c"), (2, "b")])
            database.run(f"UPDATE {name} SET name = 'd' WHERE id = 1", f"DELETE FROM {name} WHERE id = 2")
            arrives(session, job, [(1, "d")])
            run(session, f"STOP JOB '{job.id}'")

    def test_other_tables_are_not_touched(self, tmp_path: Path, engine, database: Captured) -> None:
        """One without a key could not be updated if it were published."""
        database.create("of_itself", "id INT PRIMARY KEY, name VARCHAR(9)", "(1, 'a')")
        database.run("DROP TABLE IF EXISTS without_key", "CREATE TABLE without_key (a INT)", "INSERT INTO without_key VALUES (1)")
        with closing(open_session(tmp_path, database.declared("of_itself", COLUMNS), engine=engine)) as session:
            stream = run(session, "SELECT id FROM of_itself")[0]
            assert next(iter(stream.changes)).row == ("1",)
            database.run("UPDATE without_key SET a = 2")
            stream.stop()

    def test_rows_that_are_copied_have_one_position(self, tmp_path: Path, engine, database: Captured) -> None:
        """Each is read once, however often the job stops between two of them."""
        name = "of_copies"
        database.create(name, "id INT PRIMARY KEY, name VARCHAR(9)", "(0, 'a')")
        declared = database.declared(name, COLUMNS)[:-1] + ", 'debezium.max.batch.size' = '7', 'debezium.max.queue.size' = '8')"
        count = "CREATE TABLE n (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'n')"
        with closing(open_session(tmp_path, f"{declared}; {count}", engine=engine)) as session:
            insert = f"INSERT INTO n SELECT 1, COUNT(*) FROM {name}"

            def read() -> int:
                return int(rows(session, "SELECT n FROM n")[0][0])

            job = submit(session, insert)
            arrives(session, job, [("1",)], lambda session: rows(session, "SELECT n FROM n"))
            copying = database.server.connection()
            copying.run(f"COPY {name} FROM STDIN", stream=io.StringIO("".join(f"{number}\tb\n" for number in range(1, 4001))))
            copying.close()
            stops = 0
            while (before := read()) < 4001:
                run(session, f"STOP JOB '{job.id}'")
                stops += 1
                job = submit(session, insert)
                until(lambda before=before, job=job: job.error is not None or read() > before, 60)
                assert job.error is None
            assert stops > 1 and read() == 4001
            database.run(f"UPDATE {name} SET name = 'c' WHERE id < 11", f"DELETE FROM {name} WHERE id = 4000")
            arrives(session, job, [("4000",)], lambda session: rows(session, "SELECT n FROM n"))
            run(session, f"STOP JOB '{job.id}'")


@pytest.mark.parametrize("database", ["mariadb"], indirect=True)
class TestMariaDb:
    """What MariaDB alone has."""

    def test_columns_that_change(self, tmp_path: Path, engine, database: Captured) -> None:
        """While the job runs, and while it does not: the log is read by the columns that there were."""
        name = "of_columns"
        database.create(name, "id INT PRIMARY KEY, name VARCHAR(9)", "(1, 'a')")
        with closing(open_session(tmp_path, f"{database.declared(name, COLUMNS)}; {LAKE}", engine=engine)) as session:
            insert = f"INSERT INTO lake SELECT id, name FROM {name}"
            job = submit(session, insert)
            arrives(session, job, [(1, "a")])
            database.run(f"ALTER TABLE {name} ADD COLUMN other INT FIRST", f"INSERT INTO {name} VALUES (7, 2, 'b')")
            arrives(session, job, [(1, "a"), (2, "b")])
            run(session, f"STOP JOB '{job.id}'")
            database.run(
                f"INSERT INTO {name} VALUES (8, 3, 'c')", f"ALTER TABLE {name} DROP COLUMN other", f"INSERT INTO {name} VALUES (4, 'd')",
                f"ALTER TABLE {name} ADD COLUMN more INT FIRST", f"UPDATE {name} SET name = 'e' WHERE id = 1",
            )  # fmt: skip
            job = submit(session, insert)
            arrives(session, job, [(1, "e"), (2, "b"), (3, "c"), (4, "d")])
            run(session, f"STOP JOB '{job.id}'")
