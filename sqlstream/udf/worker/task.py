"""The task of a worker, and how it reports a failure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlstream.sql.types import Type
    from sqlstream.udf.worker.concurrent import Calls
    from sqlstream.udf.worker.sources import Source

# Between these is, as JSON, what the user reads of an error.
BEGIN, END = "<<python function ", " python function>>"


@dataclass(frozen=True)
class Task:
    """One function at one place of a plan. ``pickled`` is it; ``secrets`` are the places of arguments that are never printed.

    ``rows``: it is a table function, whose value is the list of its rows. With ``keeps_failures`` a row for which it
    fails does not fail the query: the last argument is then the row as JSON, and the value a struct, see dead_letters. ``sources`` are the modules
    of its project. ``aggregate``: its one argument are the rows of a group. ``calls``: it is an ``async def``.
    """

    name: str
    pickled: bytes
    func_type: str
    arguments: tuple[Type, ...]
    result: Type
    zone: str
    parameters: tuple[tuple[str, str], ...] = ()
    secrets: tuple[bool, ...] = ()
    rows: bool = False
    keeps_failures: bool = False
    sources: tuple[Source, ...] = ()
    aggregate: bool = False
    calls: Calls | None = None


class FunctionFailed(Exception):
    """What a user's function has done wrong, for ``sqlstream.runtime.engine.failures`` to find in what Spark says of it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(f"{BEGIN}{json.dumps([message, hint])}{END}")
        self.message = message
        self.hint = hint
