"""Accumulators of a stream's groups: rows beyond a bound are folded into them, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.torture.tables import DeltaTable
from sqlstream.core.errors import JobFailed
from tests.support.sessions import submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from sqlstream.runtime.jobs.job import Job
    from tests.udf.conftest import Stream

MODULE = '''
import os
import threading

from pyflink.table.udf import AggregateFunction, udaf


class State:
    def __init__(self):
        self.total, self.rows, self.nulls, self.gone, self.last, self.ordered, self.processes = 0, 0, 0, 0, -1, True, []


class Traced(AggregateFunction):
    """The sum; rows, NULLs and rows taken out; how many rows the process of the value took in itself; whether they came in order."""

    def create_accumulator(self):
        return State()

    def accumulate(self, state, x: int):
        assert type(state) is State
        state.processes.append(os.getpid())
        state.rows += 1
        if x is None:
            state.nulls += 1
            return
        state.ordered &= x > state.last
        state.last = x
        state.total += x

    def get_value(self, state) -> str:
        return f"{state.total} {state.rows}/{state.nulls} here {state.processes.count(os.getpid())} {state.ordered}"


class Drawn(Traced):
    def retract(self, state, x: int):
        state.total -= x
        state.gone += 1

    def get_value(self, state) -> str:
        return f"{state.total} {state.rows} gone {state.gone}"


class Total(AggregateFunction):
    def create_accumulator(self): return [0]
    def accumulate(self, accumulator, x: int): accumulator[0] += x or 0
    def get_value(self, accumulator) -> int: return accumulator[0]


class Shown(AggregateFunction):
    """What a row behind the bound has come as, and one before."""

    def create_accumulator(self): return {}

    def accumulate(self, accumulator, x: int, *values):
        if x in (5, 1100):
            accumulator[x] = repr(values)

    def get_value(self, accumulator) -> str:
        return f"{accumulator[5] == accumulator[1100].replace('1100', '5')} {accumulator[1100]}"


class Fails(Total):
    def accumulate(self, accumulator, x: int, password: str):
        if x == 13:
            raise ValueError(f"no {password}")
        accumulator[0] += x


class Opened(Total):
    def create_accumulator(self): return [0, threading.Lock()]


traced = udaf(Traced())
drawn = udaf(Drawn())
total = udaf(Total())
shown = udaf(Shown())
fails = udaf(Fails())
opened = udaf(Opened())
'''
AT = "00:00:01"

pytestmark = pytest.mark.spark


def failure(job: Job) -> str:
    until(lambda: job.error is not None)
    assert isinstance(job.error, JobFailed)
    return job.error.message


def test_a_group_of_many_rows(stream: Stream, tmp_path) -> None:
    """Rows that were folded are not taken in again, nor after a restart, with another value of the function."""
    session, put = stream
    list(session.run("CREATE TABLE o (k STRING, v STRING, n BIGINT) WITH ('connector' = 'print')"))
    insert = "INSERT INTO o SELECT k, traced(x), COUNT(*) FROM r GROUP BY k"
    job = submit(session, insert)
    assert put(*(("a", x, AT) for x in range(2500)), ("b", 1, AT), lines=2) == [
        "+I[a, 3123750 2500/0 here 500 True, 2500]",
        "+I[b, 1 1/0 here 1 True, 1]",
    ]
    found = put(*(("a", x, AT) for x in range(2500, 5200)), lines=2)
    assert found == ["+U[a, 13517400 5200/0 here 200 True, 5200]", "-U[a, 3123750 2500/0 here 500 True, 2500]"]
    session.jobs.stop(job.id)
    module = tmp_path / "project" / "udfs" / "groups.py"
    module.write_text(module.read_text().replace('return f"{state.total} {state.rows}', 'return f"again {state.total} {state.rows}'))
    submit(session, insert)
    assert put(("a", None, AT), lines=2) == ["+U[a, again 13517400 5201/1 here 201 True, 5201]", "-U[a, again 13517400 5200/0 here 200 True, 5200]"]


def test_rows_that_go(stream: Stream) -> None:
    """One that is folded is taken out by the function's retract, one behind it without; a group without rows is gone. DISTINCT has its first and last."""
    session, put = stream
    list(session.run("CREATE TABLE o (big BOOLEAN, v STRING, d STRING, n BIGINT) WITH ('connector' = 'print')"))
    submit(
        session,
        "INSERT INTO o SELECT s > 999999, drawn(s), drawn(DISTINCT MOD(s, 10)), COUNT(*) FROM (SELECT k, SUM(x) AS s FROM r GROUP BY k) GROUP BY s > 999999",
    )
    digits = "45 10 gone 0"
    assert put(*((f"k{x}", x, AT) for x in range(1000)), lines=1) == [f"+I[false, 499500 1000 gone 0, {digits}, 1000]"]
    found = put(("new", 7, AT), ("newer", 0, AT), lines=2)
    assert found == [f"+U[false, 499507 1002 gone 0, {digits}, 1002]", f"-U[false, 499500 1000 gone 0, {digits}, 1000]"]
    found = put(("new", 1000000, AT), ("k9", 1000000, AT), lines=3)
    assert found == [
        "+I[true, 2000016 2 gone 0, 16 2 gone 0, 2]", f"+U[false, 499491 1001 gone 1, {digits}, 1000]", f"-U[false, 499507 1002 gone 0, {digits}, 1002]",
    ]  # fmt: skip
    found = put(("new", -1000000, AT), lines=4)
    assert found == [
        f"+U[false, 499498 1002 gone 1, {digits}, 1001]", "+U[true, 1000009 1 gone 0, 9 1 gone 0, 1]", f"-U[false, 499491 1001 gone 1, {digits}, 1000]",
        "-U[true, 2000016 2 gone 0, 16 2 gone 0, 2]",
    ]  # fmt: skip
    found = put(("k9", -1000000, AT), lines=3)
    assert found == [
        f"+U[false, 499507 1003 gone 1, {digits}, 1002]", "-D[true, 1000009 1 gone 0, 9 1 gone 0, 1]", f"-U[false, 499498 1002 gone 1, {digits}, 1001]",
    ]  # fmt: skip


def test_values_of_every_kind(stream: Stream) -> None:
    """They come to the process that folds as they come to Spark's workers."""
    session, put = stream
    list(session.run("SET 'table.local-time-zone' = 'Europe/Prague'; CREATE TABLE o (v STRING) WITH ('connector' = 'print')"))
    columns = (
        "CAST(x AS DECIMAL(10, 2))", "ts", "CAST(ts AS TIMESTAMP_LTZ(3))", "CAST(ts AS DATE)", "ROW(x, k)", "ARRAY[x, NULL]", "MAP[k, x]", "x > 1",
        "CAST(x AS DOUBLE)", "CAST(k AS BYTES)", "TIMESTAMPDIFF(DAY, ts, ts)", "CAST(NULL AS STRING)", "INTERVAL '1' DAY",
    )  # fmt: skip
    submit(session, f"INSERT INTO o SELECT shown(x, {', '.join(columns)}) FROM r")
    (found,) = put(*(("a", x, AT) for x in range(1200)), lines=1)
    assert found.startswith(
        "+I[True (Decimal('1100.00'), datetime.datetime(2024, 1, 1, 0, 0, 1), datetime.datetime(2024, 1, 1, 0, 0, 1, tzinfo=zoneinfo.ZoneInfo(key='Europe/Prague')), "
    )
    assert "datetime.date(2024, 1, 1), Row(" in found
    assert found.endswith("[1100, None], {'a': 1100}, True, 1100.0, b'a', 0, None, datetime.timedelta(days=1))]")


def test_beside_others(stream: Stream) -> None:
    """Each call has an accumulator of its own; FILTER and DISTINCT say which rows it sees."""
    session, put = stream
    list(session.run("CREATE TABLE o (a STRING, b BIGINT, c BIGINT, d BIGINT, e BIGINT, f BIGINT) WITH ('connector' = 'print')"))
    submit(
        session, "INSERT INTO o SELECT traced(x), total(x) FILTER (WHERE x > 1198), total(DISTINCT MOD(x, 7)), total(2 * x), SUM(x), COUNT(*) FROM r"
    )
    found = put(*(("a", x, AT) for x in range(1200)), ("b", None, AT), lines=1)
    assert found == ["+I[719400 1201/1 here 201 True, 1199, 21, 1438800, 719400, 1201]"]
    found = put(("a", 1200, AT), ("a", None, AT), lines=2)
    assert found[0] == "+U[720600 1203/2 here 203 True, 2399, 21, 1441200, 720600, 1203]"


def test_failures(stream: Stream) -> None:
    session, put = stream
    list(session.run("CREATE TABLE o (k STRING, v BIGINT) WITH ('connector' = 'print')"))
    job = submit(session, "INSERT INTO o SELECT k, fails(x, CONCAT('ge', 'heim')) FROM r GROUP BY k")
    put(*(("a", x, AT) for x in range(1000)), lines=0)
    message = failure(job)
    assert message.startswith("The Python function FAILS failed for (13, ******): ValueError: no ******, at ")
    assert "groups.py:" in message
    job = submit(session, "INSERT INTO o SELECT k, opened(x) FROM r WHERE x = 1 GROUP BY k")
    message = failure(job)
    assert message.startswith("The accumulator of the Python function OPENED can't be kept, since it can't be pickled: TypeError: cannot pickle")


def test_one_row_an_upsert(stream: Stream, tmp_path) -> None:
    """A sink by key needs no more than what is: Spark's own aggregate is none for accumulators."""
    session, put = stream
    list(session.run(
        f"CREATE TABLE o (k STRING, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = '{tmp_path / 'out'}')"
    ))  # fmt: skip
    job = submit(session, "INSERT INTO o SELECT k, traced(x) FROM r GROUP BY k")
    put(*(("a", x, AT) for x in range(1001)), lines=0)
    put(("a", 1001, AT), ("b", None, AT), lines=0)
    expected = {("a", "501501 1002/0 here 2 True"), ("b", "0 1/1 here 1 True")}

    table = DeltaTable(tmp_path / "out")

    def found() -> set[tuple]:
        assert job.error is None, job.error
        return set(table.rows())

    until(lambda: found() == expected, said=found)
