"""The thread in which statements run, while the main thread waits and takes Ctrl-C.

Python raises KeyboardInterrupt in the main thread, wherever that is. Inside a call to the JVM it would leave the answer
unread on the connection, to be taken for the answer of the next call. So the main thread never calls the JVM except to
interrupt.
"""

from __future__ import annotations

from concurrent import futures
from concurrent.futures import Future
from enum import Enum
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from sqlstream.depth import deep_thread

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
WAKE_SECONDS = 0.2


class Ending(Enum):
    """How what ran in the foreground ended."""

    DONE = "done"
    FAILED = "failed"
    EXIT = "exit"
    INTERRUPTED = "interrupted"


class Terminated(KeyboardInterrupt):
    """SIGTERM: the process is to end at once."""

    exit_code = 143


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


def result(future: Future[T]) -> T:
    """The future's value. Waits in slices: a signal that comes just before a wait is noticed when that ends."""
    while not future.done():
        futures.wait([future], WAKE_SECONDS)
    return future.result()
