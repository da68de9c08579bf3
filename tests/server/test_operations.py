"""An operation over a session of the test's own: how much of a result waits for a client that does not read."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.changelog import Change, RowKind
from sqlstream.server.gateway import operations
from sqlstream.server.gateway.operations import Operation, Turn
from sqlstream.server.rows import MOST_ROWS
from sqlstream.session.results import Done, Stream, text_columns
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MB = 1_000_000


def operation(project: Path, rows: Iterator[object]) -> Operation:
    """One that answers with these rows of one column."""
    stream = Stream(columns=text_columns(("x",)), changes=(Change(RowKind.INSERT, (row,)) for row in rows))
    user = SimpleNamespace(notify=print)
    session = SimpleNamespace(
        run=lambda statement: iter((stream,)), options={}, project=project, context=SimpleNamespace(user=user), interrupt=lambda: None
    )
    made = Operation(Turn(session), "SELECT 1", None, {})
    made.start()
    return made


@pytest.mark.parametrize(
    ("row", "waiting"),
    [
        (1, MOST_ROWS),
        ("x" * MB, 31),
        (b"x" * 10 * MB, 3),
        ([{"a": "x" * MB}, ("x" * MB,)], 15),
        ("x" * 40 * MB, 1),
    ],
    ids=["many", "texts", "bytes", "nested", "one that is longer than all may be"],
)
def test_what_waits_is_bounded_by_rows_and_by_size(tmp_path: Path, row: object, waiting: int) -> None:
    taken = 0

    def rows() -> Iterator[object]:
        nonlocal taken
        for _ in range(3 * waiting):
            taken += 1
            yield row

    made = operation(tmp_path, rows())
    until(lambda: made.waiting == waiting and taken == waiting + 1)
    found, token = 0, 0
    while token is not None:
        page = asyncio.run(made.page(token))
        assert page is not None and len(page.changes) <= waiting
        found, token = found + len(page.changes), page.token
    assert found == taken == 3 * waiting


def test_one_that_waits_for_its_client_is_closed(tmp_path: Path) -> None:
    made = operation(tmp_path, iter(["x"] * (MOST_ROWS + 1)))
    until(lambda: made.waiting == MOST_ROWS)
    assert made.close() is operations.Status.CLOSED
    made.await_end(10)
    assert made.waiting == 0 and not made._thread.is_alive()


def test_statements_run_in_the_order_in_which_they_are_asked_for(tmp_path: Path) -> None:
    """Also where the client waits for none of them, as dbt does with SET."""
    ran: list[str] = []
    begun = threading.Event()

    def run(statement: str) -> Iterator[Done]:
        begun.wait(60)
        ran.append(statement)
        yield Done()

    session = SimpleNamespace(
        run=run, options={}, project=tmp_path, context=SimpleNamespace(user=SimpleNamespace(notify=print)), interrupt=lambda: None
    )
    turn = Turn(session)
    asked = [Operation(turn, f"SET 'a' = '{number}'", None, {}) for number in range(50)]
    for one in reversed(asked):
        turn.awaited_by(one)
    for one in asked:
        one._thread.start()
    begun.set()
    for one in asked:
        one.await_end(60)
    assert ran == [f"SET 'a' = '{number}'" for number in reversed(range(50))]
