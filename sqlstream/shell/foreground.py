"""The thread in which statements run, while the main thread waits and takes Ctrl-C.

Python raises KeyboardInterrupt in the main thread, wherever that is. Inside a call to the JVM it would leave the answer
unread on the connection, to be taken for the answer of the next call. So the main thread never calls the JVM except to
interrupt.
"""

from __future__ import annotations

import signal
import time
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from enum import Enum
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

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


def terminate(number: int, *_: object) -> NoReturn:
    """A handler that raises Terminated."""
    raise Terminated(number)


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


class Call(Future[T]):
    """What runs in the foreground. Who waits for it holds no lock of Python's meanwhile, which a signal might let go of in the midst of the wait."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = False
        self._woken: SimpleQueue[None] = SimpleQueue()

    def run(self, call: Callable[[], T]) -> None:
        """Carry it out, in the thread of the foreground."""
        try:
            self.set_result(call())
        except BaseException as error:  # raised again in the waiting thread
            self.set_exception(error)
        self._ended = True
        self._woken.put(None)

    def wait(self, seconds: float = float("inf")) -> bool:
        """Whether it is done after this long. In slices: a signal that comes just before a wait is noticed when that ends."""
        end = time.monotonic() + seconds
        while not self._ended and (left := end - time.monotonic()) > 0:
            with suppress(Empty):
                self._woken.get(timeout=min(left, WAKE_SECONDS))
        return self._ended


class Foreground:
    """A daemon thread that runs one call after the other: one connection to the JVM, and no wait for it at exit."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Callable[[], Any], Call[Any]]] = SimpleQueue()
        deep_thread(self._work, "foreground")

    def submit(self, call: Callable[[], T]) -> Call[T]:
        submitted: Call[T] = Call()
        self._calls.put((call, submitted))
        return submitted

    def run(self, call: Callable[[], T], on_interrupt: Callable[[], None]) -> T:
        """The value of ``call()``. The first Ctrl-C calls ``on_interrupt`` and waits on, the second one is raised."""
        submitted = self.submit(call)
        try:
            return result(submitted)
        except Terminated:
            raise
        except KeyboardInterrupt:
            on_interrupt()
        return result(submitted)

    def _work(self) -> None:
        while True:
            call, submitted = self._calls.get()
            submitted.run(call)


def close_in_order(close: Callable[[], None], hurry: Callable[[], None]) -> None:
    """``close()``, in a thread of its own. A further signal calls ``hurry``: its sender has waited long enough."""
    closing = Foreground().submit(close)
    if not _done_within(closing, CLOSE_SECONDS):
        Foreground().submit(hurry)
        _done_within(closing, HURRIED_SECONDS)
    if closing.done():
        closing.result()


def _done_within(call: Call[None], seconds: float) -> bool:
    """Whether it is done after this long, or when a signal comes."""
    try:
        return call.wait(seconds)
    except KeyboardInterrupt:
        return call.done()


def result(call: Call[T]) -> T:
    """The value of what runs, when it is done."""
    call.wait()
    return call.result()
