"""Functions that wait, async def: calls of a batch at the same time, limits, attempts."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from sqlstream.core.errors import SqlStreamError
from sqlstream.udf.worker.concurrent import Calls, TimedOut, concurrent_values
from tests.support.sessions import open_session, rows

MODULE = """
import asyncio

from pyflink.table.udf import AsyncScalarFunction, udf


@udf
async def slow(x: int) -> int:
    await asyncio.sleep(0.05 if x % 2 else 0.02)
    return 2 * x


class Client(AsyncScalarFunction):
    async def open(self, function_context):
        self.lock = asyncio.Lock()
        self.seen = {}

    async def eval(self, x: int) -> str:
        async with self.lock:
            self.seen[x] = self.seen.get(x, 0) + 1
        if self.seen[x] < x:
            raise ValueError(f"attempt {self.seen[x]}")
        return f"{x} after {self.seen[x]}"


client = udf(Client())


@udf
async def wrong(x: int) -> int:
    return "no" if x == 1 else x


@udf
async def never(x: int) -> int:
    await asyncio.sleep(60)
    return x
"""


@pytest.fixture
def loop():
    made = asyncio.new_event_loop()
    yield made
    made.close()


def test_calls_run_together_and_in_order(loop: asyncio.AbstractEventLoop) -> None:
    running, most = 0, 0

    async def call(x: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05 - x / 1000)
        running -= 1
        return x

    assert concurrent_values(call, [(x,) for x in range(40)], Calls(most=20), loop) == (list(range(40)), None)
    assert most == 20
    assert concurrent_values(call, [], Calls(), loop) == ([], None)


def test_a_call_is_tried_again(loop: asyncio.AbstractEventLoop) -> None:
    seen: list[int] = []

    async def call(x: int) -> int:
        seen.append(x)
        if seen.count(x) < x:
            raise ValueError(x)
        return x

    assert concurrent_values(call, [(1,), (3,)], Calls(delay=1), loop) == ([1, 3], None)
    assert sorted(seen) == [1, 3, 3, 3]
    found, problem = concurrent_values(call, [(1,), (9,), (1,)], Calls(most=1, delay=1), loop)
    assert (found, repr(problem), seen.count(9)) == ([1], "ValueError(9)", 3)
    found, problem = concurrent_values(call, [(8,)], Calls(attempts=1), loop)
    assert (repr(problem), seen.count(8)) == ("ValueError(8)", 1)


def test_a_call_has_an_end(loop: asyncio.AbstractEventLoop) -> None:
    async def call(x: int) -> int:
        await asyncio.sleep(x)
        return x

    begun = time.monotonic()
    found, problem = concurrent_values(call, [(0,), (60,)], Calls(timeout=100), loop)
    assert (found, type(problem), str(problem)) == ([0], TimedOut, "no result within 100 ms, all attempts included")

    async def fails() -> None:
        raise TimeoutError("its own")

    # All attempts count, and a function may have limits of its own.
    _, problem = concurrent_values(fails, [()], Calls(timeout=150, attempts=100), loop)
    assert isinstance(problem, TimedOut)
    _, problem = concurrent_values(fails, [()], Calls(delay=1), loop)
    assert repr(problem) == "TimeoutError('its own')"
    assert time.monotonic() - begun < 30


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "calls.py").write_text(MODULE)
    return tmp_path


def test_only_scalar_functions_wait(project: Path) -> None:
    (project / "udfs" / "bad.py").write_text(
        "from sqlstream.udf import udf\n\n\n@udf(result_type='INT', func_type='pandas')\nasync def bad(x):\n    return x\n"
    )
    session = open_session(project)
    with pytest.raises(SqlStreamError) as raised:
        list(session.run("EXPLAIN SELECT bad(1)"))
    assert raised.value.message == "The function 'bad.bad': only a scalar function by row can be async, at udfs/bad.py:4."


@pytest.mark.spark
def test_on_spark(project: Path, engine: Any) -> None:
    session = open_session(project, options={"execution.runtime-mode": "batch"}, engine=engine)
    assert rows(session, "SELECT x, slow(slow(x)) FROM (VALUES (1), (2), (3)) AS t (x) WHERE slow(x) > 2 ORDER BY x") == [("2", "8"), ("3", "12")]
    assert rows(session, "SELECT client(x) FROM (VALUES (3), (2), (1)) AS t (x) ORDER BY x") == [("1 after 1",), ("2 after 2",), ("3 after 3",)]
    for sql, problem in (
        ("SELECT client(x) FROM (VALUES (5)) AS t (x)", "The Python function CLIENT failed for (5): ValueError: attempt 3, at "),
        ("SET 'table.exec.async-scalar.retry-strategy' = 'NO_RETRY'; SELECT client(x) FROM (VALUES (7)) AS t (x)", "The Python function CLIENT failed for (7): ValueError: attempt 1, at "),
        ("SELECT wrong(x) FROM (VALUES (1)) AS t (x)", "The Python function WRONG returned 'no' (str), which is not of type BIGINT, for (1)."),
        ("SET 'table.exec.async-scalar.timeout' = '200 ms'; SELECT never(x) FROM (VALUES (1)) AS t (x)", "The Python function NEVER failed for (1): TimedOut: no result within 200 ms, all attempts included"),
    ):  # fmt: skip
        with pytest.raises(SqlStreamError) as raised:
            rows(session, sql)
        assert raised.value.message.startswith(problem)
    session.close()
