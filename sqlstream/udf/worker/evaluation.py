"""Functions at work, in a Spark worker: Arrow arrays of arguments in, an Arrow array of values out.

A function is made of its pickle and opened once a process. What goes wrong in the user's code is told with the row that it happened for.
"""

from __future__ import annotations

import asyncio
import atexit
import dataclasses
import functools
import inspect
import json
import os
import pickle
import signal
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa  # noqa: TC002  (Spark reads the annotations of what it calls)

from sqlstream.core.secrets import MASK, is_secret
from sqlstream.udf import shim
from sqlstream.udf.api import GENERAL, RAISED, FunctionContext, UserDefinedFunction
from sqlstream.udf.row import Row
from sqlstream.udf.worker import concurrent, masking, sources
from sqlstream.udf.worker.values import WrongType, arrow_array, python_values, zone_of

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Iterable

    from sqlstream.sql.types import Type
    from sqlstream.udf.worker.concurrent import Calls
    from sqlstream.udf.worker.sources import Source

# Between these, as JSON, stands what the user is to read of an error.
BEGIN, END = "<<python function ", " python function>>"
_LONGEST = 120


@dataclass(frozen=True)
class Task:
    """One function at one place of a plan. ``pickled`` is it; ``secrets`` are the places of arguments that are never printed.

    ``rows``: it is a table function, whose value is the list of its rows. With ``dead_letters``, a folder, a row for which it fails is kept
    there: the last argument is then the row as JSON, and the value a pair of it and whether it failed. ``sources`` are the modules
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
    dead_letters: str = ""
    sources: tuple[Source, ...] = ()
    aggregate: bool = False
    calls: Calls | None = None


class FunctionFailed(Exception):
    """What a user's function has done wrong, for ``sqlstream.runtime.engine.failures`` to find in what Spark says of it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(f"{BEGIN}{json.dumps([message, hint])}{END}")
        self.message = message
        self.hint = hint


def evaluator(task: Task) -> Callable[..., pa.Array]:
    """What Spark calls with a batch of arguments."""

    def call(*arrays: pa.Array) -> pa.Array:
        return evaluated(task, arrays)

    return call


def evaluated(task: Task, arrays: tuple[pa.Array, ...]) -> pa.Array:
    """The values of ``task``'s function for a batch. Raises FunctionFailed."""
    if task.dead_letters:
        from sqlstream.udf.worker import dead_letters

        return dead_letters.evaluated(task, arrays)
    return values(task, arrays)


def values(task: Task, arrays: tuple[pa.Array, ...]) -> pa.Array:
    """The values of ``task``'s function for a batch. Raises FunctionFailed for the first row that has none."""
    body, zone = opened(task), zone_of(task.zone)
    if task.aggregate:
        from sqlstream.udf.worker import groups

        return groups.values(task, body, arrays[0])
    given = arrays[: len(task.arguments)]
    if task.func_type == GENERAL:
        return _by_row(task, body, given, len(arrays[0]), zone)
    from sqlstream.udf.worker import vectors

    columns = [vectors.given(a, t, zone, task.func_type) for a, t in zip(given, task.arguments, strict=True)]
    try:
        found = body(*columns)
    except RAISED as error:
        where = f"for a batch of {len(arrays[0])} rows that begins with {shown(task, given, 0, zone)}"
        raise failure(task, error, body, given, range(len(arrays[0])), where) from None
    try:
        return vectors.taken(found, task.result, zone, len(arrays[0]), task.func_type)
    except WrongType as problem:
        said = masking.struck(vectors.described(problem), secrets(task, given, range(len(arrays[0]))))
        raise FunctionFailed(f"The Python function {task.name} gave {said} for a batch of {len(arrays[0])} rows.") from None


def _by_row(task: Task, body: Callable[..., Any], arrays: tuple[pa.Array, ...], count: int, zone: datetime.tzinfo) -> pa.Array:
    columns = [python_values(a, t, zone) for a, t in zip(arrays, task.arguments, strict=True)]
    found: list[Any] = []
    try:
        if task.calls is not None:
            rows = list(zip(*columns, strict=True)) if columns else [()] * count
            found, problem = concurrent.values(body, rows, task.calls, _waiting())
            if problem is not None:
                raise problem
        elif task.rows:
            is_record = _records(task.result.children[0])
            for row in zip(*columns, strict=True) if columns else ((),) * count:
                found.append([r if is_record(r) else (r,) for r in body(*row) or ()])
        elif columns:
            found.extend(map(body, *columns))
        else:
            found.extend(body() for _ in range(count))
    except RAISED as error:
        place = len(found)
        raise failure(task, error, body, arrays, range(place, place + 1), f"for {shown(task, arrays, place, zone)}") from None
    made, wrong = arrow_array(found, task.result, zone)
    if wrong is None:
        return made
    place, misfit = wrong
    said = masking.struck(of_wrong_type(misfit), secrets(task, arrays, range(place, place + 1)))
    raise FunctionFailed(f"The Python function {task.name} gave {said}, for {shown(task, arrays, place, zone)}.")


def _records(row: Type) -> Callable[[Any], bool]:
    """What tells a row of the columns of ``row`` from the value of its only one."""
    classes = (tuple, Row) if len(row.names) == 1 and row.children[0].root == "MAP" else (tuple, Row, dict)
    return lambda value: isinstance(value, classes) or dataclasses.is_dataclass(value) or type(value).__name__ == "Row"


def of_wrong_type(problem: WrongType) -> str:
    """What is wrong with a value, in words."""
    why = f": {problem.why}" if problem.why else ""
    value = "NULL" if problem.value is None else f"{cut(repr(masking.masked(problem.value)))} ({type(problem.value).__name__})"
    return f"{value}, which is no {problem.type.full}{why}"


# --- the function -----------------------------------------------------------------------------------------------------

_open: dict[tuple[bytes, tuple[tuple[str, str], ...]], tuple[Any, Callable[..., Any]]] = {}


def opened(task: Task) -> Callable[..., Any]:
    """The function of ``task``, opened once a process."""
    key = (task.pickled, task.parameters)
    if key not in _open:
        sources.enter()
        shim.install()
        sources.install(task.sources)
        try:
            function = pickle.loads(task.pickled)
        except ModuleNotFoundError as error:
            hint = "Install it where Spark's workers run, or ship it: python.archives, python.files."
            message = f"The Python function {task.name} needs the module '{error.name}', which Spark's workers don't have."
            raise FunctionFailed(message, hint) from None
        except RAISED as error:  # whatever the user's modules raise
            raise FunctionFailed(f"The Python function {task.name} could not be loaded in Spark's workers: {told(error, ())}.") from error
        body = function
        if isinstance(function, UserDefinedFunction) or hasattr(function, "open"):
            try:
                opening = function.open(FunctionContext(dict(task.parameters)))
                if inspect.isawaitable(opening):
                    _waiting().run_until_complete(opening)
            except RAISED as error:
                said = f"{told(error, secrets(task))}{_place(error, function.open)}"
                raise FunctionFailed(f"The Python function {task.name} could not be opened: {said}.") from None
            body = function if task.aggregate else function.eval
        _open[key] = (function, body)
    function, body = _open[key]
    if hasattr(function, "close") and type(function).close is not UserDefinedFunction.close:
        _close_at_end()
    return body


_loops: list[asyncio.AbstractEventLoop] = []


def _waiting() -> asyncio.AbstractEventLoop:
    """The loop of all that is waited for, one a process: what ``open`` has made belongs to it."""
    if not _loops:
        _loops.append(asyncio.new_event_loop())
    return _loops[0]


def close() -> None:
    """Close what is open."""
    while _open:
        function, _ = _open.popitem()[1]
        if hasattr(function, "close"):
            closing = function.close()
            if inspect.isawaitable(closing):
                _waiting().run_until_complete(closing)


@functools.cache
def _close_at_end() -> None:
    """A worker of Spark's ends by ``os._exit``, or idle by SIGHUP, whose handler Spark would take away before each task."""
    atexit.register(close)
    if "SPARK_REUSE_WORKER" not in os.environ:
        return
    plain, leave = signal.signal, os._exit

    def ended(status: int) -> NoReturn:
        try:
            close()
        finally:
            leave(status)

    def kept(number: Any, handler: Any) -> Any:
        return _end if number == signal.SIGHUP and handler is signal.SIG_DFL else plain(number, handler)

    plain(signal.SIGHUP, _end)
    os._exit = ended
    signal.signal = kept  # type: ignore[assignment]


def _end(number: int, frame: object) -> NoReturn:
    os._exit(0)


# --- errors -----------------------------------------------------------------------------------------------------------


def failure(task: Task, error: BaseException, body: Any, arrays: tuple[pa.Array, ...], places: range, where: str) -> FunctionFailed:
    """What ``body``, given the arguments at ``places``, which ``where`` says in words, has done wrong."""
    said = told(error, secrets(task, arrays, places))
    return FunctionFailed(f"The Python function {task.name} failed {where}: {said}{_place(error, body)}.")


def secrets(task: Task, arrays: tuple[pa.Array, ...] = (), places: range = range(0)) -> list[str]:
    """The texts, among the arguments at ``places`` and the job's parameters, that are never printed."""
    zone, found = zone_of(task.zone), [value for key, value in task.parameters if is_secret(key)]
    for array, type_, secret in zip(arrays, task.arguments, task.secrets or (False,) * len(arrays), strict=False):
        for value in python_values(array[places.start : places.stop], type_, zone):
            found += masking.texts(value, secret=secret)
    return found


def shown(task: Task, arrays: tuple[pa.Array, ...], place: int, zone: datetime.tzinfo) -> str:
    """The arguments of one row."""
    if not arrays or place >= len(arrays[0]):
        return "no arguments"
    row = [python_values(a.slice(place, 1), t, zone)[0] for a, t in zip(arrays, task.arguments, strict=True)]
    hidden = task.secrets or (False,) * len(row)
    texts = ("NULL" if v is None else MASK if s else cut(repr(masking.masked(v))) for v, s in zip(row, hidden, strict=True))
    return f"({', '.join(texts)})"


def told(error: BaseException, secrets: Iterable[str]) -> str:
    """``error`` in a line, without ``secrets``."""
    text = " ".join(masking.struck(str(error), secrets).split())
    return cut(f"{type(error).__name__}: {text}" if text else type(error).__name__, 4 * _LONGEST)


def _place(error: BaseException, body: Any) -> str:
    """The file and line of the user's code that raised ``error``."""
    code = getattr(getattr(body, "__func__", body), "__code__", None)
    frames, ours = traceback.extract_tb(error.__traceback__), Path(__file__).parents[1]
    in_it = [f for f in frames if code is not None and f.filename == code.co_filename]
    own = in_it or [f for f in frames if not Path(f.filename).is_relative_to(ours)]
    return f", at {own[-1].filename}:{own[-1].lineno}" if own else ""


def cut(text: str, most: int = _LONGEST) -> str:
    """``text``, its end left out where it is long."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
