"""Functions that wait, ``async def``: those of a batch's rows run at the same time, as many as the options allow, and are tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from sqlstream.udf.api import RAISED


@dataclass(frozen=True)
class Calls:
    """How calls are made: so many at once, each with so many attempts, ``delay`` apart, within ``timeout``; both in milliseconds."""

    most: int = 10
    timeout: int = 180_000
    attempts: int = 3
    delay: int = 100


class TimedOut(Exception):
    """A call that took too long."""


Body = Callable[..., Coroutine[Any, Any, Any]]
Rows = Sequence[tuple[Any, ...]]


def concurrent_values(body: Body, rows: Rows, calls: Calls, loop: asyncio.AbstractEventLoop) -> tuple[list[Any], BaseException | None]:
    """What ``body`` returns for each of ``rows``, in their order; where a call fails for good, for those before it, and its error."""
    return loop.run_until_complete(_all(body, rows, calls))


async def _all(body: Body, rows: Rows, calls: Calls) -> tuple[list[Any], BaseException | None]:
    found: list[Any] = [None] * len(rows)
    failed: list[tuple[int, BaseException]] = []
    left = iter(enumerate(rows))

    async def work() -> None:
        for place, row in left:
            if failed:
                return
            try:
                found[place] = await _one(body, row, calls)
            except RAISED as error:
                failed.append((place, error))

    workers = [asyncio.ensure_future(work()) for _ in range(min(calls.most, len(rows)))]
    for worker in workers:
        await worker
    return (found[: failed[0][0]], failed[0][1]) if failed else (found, None)


async def _one(body: Body, row: tuple[Any, ...], calls: Calls) -> Any:
    limit = asyncio.timeout(calls.timeout / 1000)
    try:
        async with limit:
            for attempt in range(1, calls.attempts + 1):
                try:
                    return await body(*row)
                except RAISED:
                    if attempt == calls.attempts:
                        raise
                await asyncio.sleep(calls.delay / 1000)
    except TimeoutError:
        if limit.expired():
            raise TimedOut(f"no result within {calls.timeout} ms, all attempts included") from None
        raise
    raise AssertionError(calls)
