"""Aggregate functions in Python in running queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed
from sqlstream.session.results import Submitted
from tests.support.sessions import open_session, rows

if TYPE_CHECKING:
    from sqlstream.session.session import Session
    from tests.udf.conftest import Stream

MODULE = '''
from pyflink.common import Row
from pyflink.table import DataTypes, ListView, MapView
from pyflink.table.udf import AggregateFunction, ScalarFunction, udaf, udf


class WeightedAvg(AggregateFunction):
    """pyflink's own example."""

    def create_accumulator(self):
        return Row(0, 0)

    def get_value(self, accumulator):
        return None if accumulator[1] == 0 else accumulator[0] / accumulator[1]

    def accumulate(self, accumulator, value, weight):
        if value is not None:
            accumulator[0] += value * weight
            accumulator[1] += weight

    def retract(self, accumulator, value, weight):
        accumulator[0] -= value * weight
        accumulator[1] -= weight

    def get_result_type(self):
        return DataTypes.DOUBLE()

    def get_accumulator_type(self):
        return DataTypes.ROW([DataTypes.FIELD("sum", DataTypes.BIGINT()), DataTypes.FIELD("weight", DataTypes.BIGINT())])


weighted_avg = udaf(WeightedAvg(), input_types=[DataTypes.BIGINT(), DataTypes.BIGINT()])


class Listed(AggregateFunction):
    """What was taken in, in order."""

    def open(self, function_context):
        self.mark = function_context.get_job_parameter("mark", "-")

    def create_accumulator(self): return Row(ListView(), MapView())

    def accumulate(self, accumulator, *values):
        accumulator[0].add(values)
        accumulator[1].put(values, accumulator[1].get(values) or 0)

    def get_value(self, accumulator) -> str:
        return self.mark.join("/".join("N" if v is None else str(v) for v in values) for values in accumulator[0])


listed = udaf(Listed())
sorted_values = udaf(type("Sorted", (Listed,), {"get_value": lambda self, acc: ",".join(sorted(str(v[0]) for v in acc[0]))})(), result_type="STRING")


@udaf(result_type="DOUBLE", func_type="pandas")
def mean(values):
    return values.mean()


class MaxAdd(AggregateFunction):
    def create_accumulator(self): return []
    def accumulate(self, accumulator, a, b): accumulator.append(a.max() + b.max())
    def get_value(self, accumulator): return accumulator[0]


max_add = udaf(MaxAdd(), input_types=["BIGINT", "BIGINT"], result_type="BIGINT", func_type="pandas")


@udaf(result_type="ROW<least BIGINT, all_of ARRAY<BIGINT>>", func_type="pandas")
def bounds(values):
    return values.min(), values.tolist()


class Counts(AggregateFunction):
    def create_accumulator(self): return [0]
    def accumulate(self, accumulator): accumulator[0] += 1
    def get_value(self, accumulator) -> int: return accumulator[0]


counts = udaf(Counts())


class Fails(AggregateFunction):
    def create_accumulator(self): return []

    def accumulate(self, accumulator, x: int, password: str):
        if x == 2:
            raise ValueError(f"no {password}")
        accumulator.append(x)

    def get_value(self, accumulator) -> int:
        return 1 // (accumulator[0] - 3) if accumulator[0] != 4 else "four"


fails = udaf(Fails())
spread = udaf(lambda x: x.max() - x.min(), result_type="BIGINT", func_type="pandas")
twice = udf(lambda x: 2 * x, input_types="BIGINT", result_type="BIGINT")
'''

ROWS = "(VALUES ('a', 1, 10), ('a', 2, 20), ('a', CAST(NULL AS INT), 30), ('b', 5, 1), ('a', 2, 20)) AS t (k, x, y)"
TIMED = "(VALUES (TIMESTAMP '2024-01-01 00:00:10', 'a', 1), (TIMESTAMP '2024-01-01 00:00:20', 'a', 2), (TIMESTAMP '2024-01-01 00:01:10', 'a', 4), (TIMESTAMP '2024-01-01 00:03:00', 'b', 8))"

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def session(tmp_path_factory, engine):
    project = tmp_path_factory.mktemp("aggregates")
    (project / "udfs").mkdir()
    (project / "udfs" / "groups.py").write_text(MODULE)
    made = open_session(project, options={"execution.runtime-mode": "batch"}, engine=engine)
    yield made
    made.close()


def test_groups(session: Session) -> None:
    assert rows(session, f"SELECT k, weighted_avg(x, y), COUNT(*), mean(x) FROM {ROWS} GROUP BY k ORDER BY k") == [
        ("a", "1.8", "4", "1.6666666666666667"),
        ("b", "5.0", "1", "5.0"),
    ]
    # NULL is a value, and equal to itself; the arguments of DISTINCT count together.
    found = rows(
        session,
        f"SELECT k, sorted_values(x), sorted_values(DISTINCT x), sorted_values(DISTINCT y), sorted_values(x) FILTER (WHERE y > 10), listed(DISTINCT k, 1) FROM {ROWS} GROUP BY k ORDER BY k",
    )
    assert found == [("a", "1,2,2,None", "1,2,None", "10,20,30", "2,2,None", "a/1"), ("b", "5", "5", "1", "", "b/1")]
    assert rows(
        session,
        f"SELECT k, weighted_avg(twice(x), y) + 1 FROM {ROWS} WHERE x IS NOT NULL GROUP BY k HAVING twice(spread(x)) > -1 AND weighted_avg(x, y) > 4",
    ) == [("b", "11.0")]
    assert rows(session, f"SELECT k, counts() FROM {ROWS} GROUP BY ROLLUP (k) ORDER BY k") == [(None, "5"), ("a", "4"), ("b", "1")]


def test_no_rows(session: Session) -> None:
    """What the function gives for an empty accumulator, and NULL where there is no group."""
    assert rows(session, f"SELECT listed(x), counts(), weighted_avg(x, y), mean(x) FROM {ROWS} WHERE x > 10") == [("", "0", None, None)]
    assert rows(session, f"SELECT k, counts() FROM {ROWS} WHERE x > 10 GROUP BY k") == []
    assert rows(session, f"SELECT s.n, (SELECT counts() FROM {ROWS} WHERE t.x = s.n) FROM (VALUES (2), (7)) AS s (n) ORDER BY n") == [
        ("2", "2"),
        ("7", None),
    ]


def test_whole_columns(session: Session) -> None:
    assert rows(session, f"SELECT k, max_add(x, y) AS m, bounds(x).all_of FROM {ROWS} WHERE x IS NOT NULL GROUP BY k ORDER BY k") == [
        ("a", "22", "[1, 2, 2]"),
        ("b", "6", "[5]"),
    ]


def test_over(session: Session) -> None:
    found = rows(
        session,
        f"SELECT k, y, listed(x) OVER (PARTITION BY k ORDER BY y, x), mean(x) OVER (PARTITION BY k ORDER BY y ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM {ROWS} WHERE y <> 20 ORDER BY k, y",
    )
    assert found == [("a", "10", "1", "1.0"), ("a", "30", "1-N", "1.0"), ("b", "1", "5", "5.0")]


def test_windows(session: Session) -> None:
    list(session.run(f"CREATE TEMPORARY VIEW timed AS SELECT * FROM {TIMED} AS t (ts, k, x)"))
    assert rows(session, "SELECT window_end, listed(x) FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end ORDER BY window_end") == [
        ("2024-01-01 00:01:00.000", "1-2"), ("2024-01-01 00:02:00.000", "4"), ("2024-01-01 00:04:00.000", "8"),
    ]  # fmt: skip
    assert rows(session, "SELECT window_end, listed(DISTINCT x, k) FROM TABLE(SESSION(TABLE timed PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k ORDER BY window_end") == [
        ("2024-01-01 00:02:10.000", "1/a-2/a-4/a"), ("2024-01-01 00:04:00.000", "8/b"),
    ]  # fmt: skip


def test_parameters(session: Session) -> None:
    list(session.run("SET 'pipeline.global-job-parameters' = 'mark:+'"))
    assert rows(session, "SELECT listed(x) FROM (VALUES (1), (2)) AS t (x)") in ([("1+2",)], [("2+1",)])
    list(session.run("RESET 'pipeline.global-job-parameters'"))


@pytest.mark.parametrize(
    ("sql", "problem", "line"),
    [
        ("SELECT fails(x, password) FROM (VALUES (1, 'a'), (2, 'geheim')) AS t (x, password)", "The Python function FAILS failed for (2, ******): ValueError: no ******, at ", "groups.py:"),
        ("SELECT k, fails(x, UPPER(password)) FROM (VALUES (2, 'geheim', 1)) AS t (x, password, k) GROUP BY k", "The Python function FAILS failed for (2, ******): ValueError: no ******, at ", "groups.py:"),
        ("SELECT fails(x, 'geheim') FROM (VALUES (3), (3)) AS t (x)", "The Python function FAILS failed for 2 rows that begin with (3, ******): ZeroDivisionError: ", "groups.py:"),
        ("SELECT fails(x, 'geheim') FROM (VALUES (1)) AS t (x) WHERE x > 1", "The Python function FAILS failed for no rows: IndexError: list index out of range", "groups.py:"),
        ("SELECT fails(x, 'geheim') FROM (VALUES (4)) AS t (x)", "The Python function FAILS returned 'four' (str), which is not of type BIGINT, for 1 row that begins with (4, ******).", ""),
        ("SELECT mean(x) FROM (VALUES ('a'), ('a')) AS t (x)", "The Python function MEAN failed for 2 rows that begin with ('a'): TypeError: ", "groups.py:"),
    ],
)  # fmt: skip
def test_failures(session: Session, sql: str, problem: str, line: str) -> None:
    with pytest.raises(JobFailed) as raised:
        rows(session, sql)
    assert raised.value.message.startswith(problem)
    assert line in raised.value.message
    assert "geheim" not in raised.value.message.lower()


def test_a_group_that_fails_is_never_left_out(session: Session) -> None:
    list(session.run("SET 'udf.on-error' = 'dead-letter'"))
    with pytest.raises(JobFailed) as raised:
        rows(session, "SELECT twice(fails(x, 'geheim')) FROM (VALUES (2)) AS t (x)")
    assert raised.value.message.startswith("The Python function FAILS failed for (2, ******): ValueError: ")
    list(session.run("RESET 'udf.on-error'"))


# --- streams ----------------------------------------------------------------------------------------------------------


def test_rows_that_go(stream: Stream) -> None:
    """An aggregate over an aggregate: each new row of a key takes its count out of one group and puts it into another. It is kept over a restart."""
    session, put = stream
    list(session.run("CREATE TABLE o (odd BOOLEAN, ks STRING, ns STRING, n BIGINT, big STRING) WITH ('connector' = 'print')"))
    insert = (
        "INSERT INTO o SELECT MOD(n, 2) = 1, sorted_values(k), sorted_values(DISTINCT n), counts(), sorted_values(k) FILTER (WHERE n > 2) "
        "FROM (SELECT k, COUNT(*) AS n FROM r GROUP BY k) GROUP BY MOD(n, 2) = 1"
    )
    (job,) = [o for o in session.run(insert) if isinstance(o, Submitted)]
    assert put(("a", 1, "00:00:01"), ("b", 1, "00:00:01"), lines=1) == ["+I[true, a,b, 1, 2, ]"]
    assert put(("a", 1, "00:00:02"), lines=3) == ["+I[false, a, 2, 1, ]", "+U[true, b, 1, 1, ]", "-U[true, a,b, 1, 2, ]"]
    session.jobs.stop(job.job_id)
    list(session.run(insert))
    assert put(("a", 1, "00:00:03"), lines=3) == ["+U[true, a,b, 1,3, 2, a]", "-D[false, a, 2, 1, ]", "-U[true, b, 1, 1, ]"]


def test_windows_of_a_stream(stream: Stream) -> None:
    session, put = stream
    for name in ("tumbled", "sessions", "overs"):
        list(session.run(f"CREATE TABLE {name} (w STRING, k STRING, v STRING, m DOUBLE) WITH ('connector' = 'print', 'print-identifier' = '{name}')"))
    list(session.run(
        "EXECUTE STATEMENT SET BEGIN "
        "INSERT INTO tumbled SELECT CAST(window_start AS STRING), k, listed(x), mean(x) FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k;"
        "INSERT INTO sessions SELECT CAST(window_start AS STRING), k, listed(DISTINCT x), mean(x) FROM TABLE(SESSION(TABLE r PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY window_start, window_end, k;"
        "INSERT INTO overs SELECT CAST(ts AS STRING), k, listed(x) OVER w, mean(x) OVER w FROM r WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW);"
        "END;"
    ))  # fmt: skip
    found = put(
        ("a", 1, "00:00:01.000"), ("a", None, "00:00:02.000"), ("a", 1, "00:00:03.000"), ("b", 5, "00:00:50.000"), ("z", 0, "00:05:00.000"), lines=9
    )
    assert found == [
        "overs> +I[2024-01-01 00:00:01.000, a, 1, 1.0]",
        "overs> +I[2024-01-01 00:00:02.000, a, 1-N, 1.0]",
        "overs> +I[2024-01-01 00:00:03.000, a, N-1, 1.0]",
        "overs> +I[2024-01-01 00:00:50.000, b, 5, 5.0]",
        "overs> +I[2024-01-01 00:05:00.000, z, 0, 0.0]",
        "sessions> +I[2024-01-01 00:00:01.000, a, 1-N, 1.0]",
        "sessions> +I[2024-01-01 00:00:50.000, b, 5, 5.0]",
        "tumbled> +I[2024-01-01 00:00:00.000, a, 1-N-1, 1.0]",
        "tumbled> +I[2024-01-01 00:00:00.000, b, 5, 5.0]",
    ]


def test_over_distinct_of_a_stream(stream: Stream) -> None:
    session, put = stream
    list(session.run("CREATE TABLE o (w STRING, v STRING, d STRING) WITH ('connector' = 'print')"))
    list(
        session.run(
            "INSERT INTO o SELECT CAST(ts AS STRING), listed(x) OVER w, listed(DISTINCT x) OVER w FROM r WINDOW w AS (PARTITION BY k ORDER BY ts)"
        )
    )
    found = put(("a", 1, "00:00:01.000"), ("a", 2, "00:00:02.000"), ("a", 1, "00:00:03.000"), ("z", 0, "00:05:00.000"), lines=4)
    assert found == [
        "+I[2024-01-01 00:00:01.000, 1, 1]",
        "+I[2024-01-01 00:00:02.000, 1-2, 1-2]",
        "+I[2024-01-01 00:00:03.000, 1-2-1, 1-2]",
        "+I[2024-01-01 00:05:00.000, 0, 0]",
    ]
