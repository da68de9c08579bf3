"""The thread in which statements run, while the main thread waits and takes Ctrl-C.

Python raises KeyboardInterrupt in the main thread, wherever that is. Inside a call to the JVM it would leave the answer
unread on the connection, to be taken for the answer of the next call. So the main thread never calls the JVM except to
interrupt.
"""

from __future__ import annotations

import signal
import time
from concurrent import futures
from concurrent.futures import Future
from contextlib import contextmanager
from enum import Enum
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from sqlstream.core.depth import deep_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
WAKE_SECONDS = 0.2
# A session that takes longer to close is hurried.
CLOSE_SECONDS = 60
# And then so long.
HURRIED_SECONDS = 15


class Ending(Enum):
    """How what ran in the foreground ended."""

    DONE = "done"
    FAILED = "failed"
    # By what may be over after a while.
    HINDERED = "hindered"
    EXIT = "exit"
    INTERRUPTED = "interrupted"


class Terminated(KeyboardInterrupt):
    """SIGTERM, or SIGHUP: the process is to end at once."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__()
        self.exit_code = 128 + number


@contextmanager
def handled(handler: Callable[..., object]) -> Iterator[None]:
    """``handler`` for the signals that ask a process to end. A signal that is ignored, as SIGHUP is under nohup, stays ignored."""
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


class Foreground:
    """A daemon thread that runs one call after the other: one connection to the JVM, and no wait for it at exit."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        deep_thread(self._work, "foreground")

    def submit(self, call: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        self._tasks.put((call, future))
        return future

    def run(self, call: Callable[[], T], on_interrupt: Callable[[], None]) -> T:
        """The value of ``call()``. The first Ctrl-C calls ``on_interrupt`` and waits on, the second one is raised."""
        future = self.submit(call)
        try:
            return result(future)
        except Terminated:
            raise
        except KeyboardInterrupt:
            on_interrupt()
        return result(future)

    def _work(self) -> None:
        while True:
            call, future = self._tasks.get()
            try:
                future.set_result(call())
            except BaseException as error:  # raised again in the waiting thread
                future.set_exception(error)


def close_in_order(close: Callable[[], None], hurry: Callable[[], None]) -> None:
    """``close()``, in a thread of its own. A further signal calls ``hurry``: its sender has waited long enough."""
    future = Foreground().submit(close)
    if not _done_within(future, CLOSE_SECONDS):
        Foreground().submit(hurry)
        _done_within(future, HURRIED_SECONDS)
    if future.done():
        future.result()


def _done_within(future: Future[None], seconds: float) -> bool:
    """Whether it is done after this long, or when a signal comes."""
    end = time.monotonic() + seconds
    try:
        while not future.done() and time.monotonic() < end:
            futures.wait([future], WAKE_SECONDS)
    except KeyboardInterrupt:
        return future.done()
    return future.done()


def result(future: Future[T]) -> T:
    """The future's value. Waits in slices: a signal that comes just before a wait is noticed when that ends."""
    while not future.done():
        futures.wait([future], WAKE_SECONDS)
    return future.result()
