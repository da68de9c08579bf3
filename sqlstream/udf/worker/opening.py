"""Functions, made of their pickles and opened once a process; closed at its end."""

from __future__ import annotations

import asyncio
import atexit
import functools
import inspect
import os
import pickle
import signal
from typing import TYPE_CHECKING, Any, NoReturn

from sqlstream.udf import shim
from sqlstream.udf.api import RAISED, FunctionContext, UserDefinedFunction
from sqlstream.udf.worker import sources
from sqlstream.udf.worker.failures import error_line, raised_at, secret_texts
from sqlstream.udf.worker.task import FunctionFailed, Task

if TYPE_CHECKING:
    from collections.abc import Callable


_open: dict[tuple[bytes, tuple[tuple[str, str], ...]], tuple[Any, Callable[..., Any]]] = {}


def opened_function(task: Task) -> Callable[..., Any]:
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
            raise FunctionFailed(f"The Python function {task.name} could not be loaded in Spark's workers: {error_line(error, ())}.") from error
        body = function
        if isinstance(function, UserDefinedFunction) or hasattr(function, "open"):
            try:
                opening = function.open(FunctionContext(dict(task.parameters)))
                if inspect.isawaitable(opening):
                    waiting().run_until_complete(opening)
            except RAISED as error:
                said = f"{error_line(error, secret_texts(task))}{raised_at(error, function.open)}"
                raise FunctionFailed(f"The Python function {task.name} could not be opened: {said}.") from None
            body = function if task.aggregate else function.eval
        _open[key] = (function, body)
    function, body = _open[key]
    if hasattr(function, "close") and type(function).close is not UserDefinedFunction.close:
        _close_at_end()
    return body


_loops: list[asyncio.AbstractEventLoop] = []


def waiting() -> asyncio.AbstractEventLoop:
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
                waiting().run_until_complete(closing)


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

    def set_signal(number: Any, handler: Any) -> Any:
        return _end if number == signal.SIGHUP and handler is signal.SIG_DFL else plain(number, handler)

    plain(signal.SIGHUP, _end)
    os._exit = ended
    signal.signal = set_signal  # type: ignore[assignment]


def _end(_number: int, _frame: object) -> NoReturn:
    os._exit(0)
