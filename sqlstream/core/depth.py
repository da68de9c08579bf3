"""Room for what is nested deeply: a statement's stages call themselves once for each level of it, and Python's own stack ends at sixty functions.

They run in a thread that has a stack of its own. Its pages cost nothing before they are needed.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from sqlstream.core.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

# Measured: a call through C takes up to 1 KB of C's stack, ``sorted`` with a key 2.5 KB; Python's own frames are elsewhere.
_LEVELS = 150_000
_STACK_BYTES = 512 << 20
_HINT = "Split it into several statements; long lists go into IN, VALUES or UNNEST, whose elements are beside each other."

_here = threading.local()
_lock = threading.Lock()
_running = 0
_plain_limit = 0


def too_deep(at: object = None, most: int | None = None) -> NotSupported:
    """The refusal of what has more levels than there is room for, or than ``most``."""
    than = "" if most is None else f": it has more than {most:,} levels"
    return NotSupported(f"The statement is nested too deeply{than}.", at=at, hint=_HINT)


def deeply(work: Callable[[], T]) -> T:
    """The value of ``work()``, which has room for 150,000 calls in each other. Raises what it raises, NotSupported where that is not enough."""
    with _room() as run:
        value: T = run(work)
        return value


def steps(work: Iterator[T]) -> Iterator[T]:
    """What ``work`` gives, each step with room."""
    with _room() as run:
        while step := run(lambda: list(islice(work, 1))):
            yield from step


@contextmanager
def _room() -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """What runs calls with room: at once in a thread that has it, else in one that lasts as long."""
    if getattr(_here, "enough", False):
        yield _limited
        return
    tasks: SimpleQueue[tuple[contextvars.Context, Callable[[], Any], Future[Any]] | None] = SimpleQueue()

    def run(work: Callable[[], Any]) -> Any:
        future: Future[Any] = Future()
        tasks.put((contextvars.copy_context(), work, future))
        return future.result()

    deep_thread(lambda: _serve(tasks), "statement")
    try:
        yield run
    finally:
        tasks.put(None)


def _serve(tasks: SimpleQueue[tuple[contextvars.Context, Callable[[], Any], Future[Any]] | None]) -> None:
    while (task := tasks.get()) is not None:
        context, work, future = task
        try:
            future.set_result(context.run(_limited, work))
        except BaseException as error:  # raised again in the thread that waits
            future.set_exception(error)
        del task, context, work, future


def deep_thread(work: Callable[[], None], name: str) -> threading.Thread:
    """A daemon thread, started, in which ``deeply`` needs no other."""

    def run() -> None:
        _here.enough = True
        work()

    with _lock:
        before = threading.stack_size(_STACK_BYTES)
        try:
            thread = threading.Thread(target=run, name=name, daemon=True)
            thread.start()
        finally:
            threading.stack_size(before)
    return thread


def _limited(work: Callable[[], T]) -> T:
    try:
        with _raised_limit():
            return work()
    except RecursionError:
        raise too_deep() from None


@contextmanager
def _raised_limit() -> Iterator[None]:
    """Python's limit is one for all threads: it is raised while any of them is in here."""
    global _running, _plain_limit
    with _lock:
        if _running == 0:
            _plain_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_plain_limit, _LEVELS))
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                sys.setrecursionlimit(_plain_limit)
