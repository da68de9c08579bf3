"""Waiting for an answer from outside: whoever waits is told after a while, and can end it.

Who runs a statement says so with ``patiently``; what asks a broker waits with ``await_answer``, in the same thread. A job that restarts by itself
has nobody to tell.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sqlstream.core.lines import Waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

# So long an answer may take before somebody is told.
TELL_SECONDS = 5.0
SLICE_SECONDS = 0.2


class Impatient(Exception):
    """The wait was interrupted."""


@dataclass(frozen=True)
class _Who:
    interrupted: Callable[[], bool] = lambda: False
    notify: Callable[[str], None] = lambda text: None


_NOBODY = _Who()
_who: ContextVar[_Who] = ContextVar("who", default=_NOBODY)


@contextmanager
def patiently(interrupted: Callable[[], bool], notify: Callable[[str], None]) -> Iterator[None]:
    """Within this, ``await_answer`` ends when ``interrupted``, and tells ``notify`` of a long wait."""
    token = _who.set(_Who(interrupted, notify))
    try:
        yield
    finally:
        _who.reset(token)


def await_answer(ask: Callable[[float], T | None], what: str) -> T:
    """The first answer of ``ask``, which waits for so many seconds and then gives None. ``what`` has not answered, as the user reads it.

    Raises Impatient, and what ``ask`` raises.
    """
    who, told = _who.get(), False
    tell_at = time.monotonic() + TELL_SECONDS
    while (answer := ask(SLICE_SECONDS)) is None:
        if who.interrupted():
            raise Impatient
        if not told and time.monotonic() >= tell_at:
            told = True
            who.notify(Waiting(f"{what} has not answered for {TELL_SECONDS:.0f} s."))
    return answer
