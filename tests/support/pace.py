"""What a piece of work costs, told so that others' load on the machine changes it little. A test that looks at a clock fails by chance."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

# Seconds that the piece of ``slowness`` takes on a machine without load.
_REST = 0.011


def calls(work: Callable[[], object]) -> int:
    """How many functions ``work`` calls, those in C included: the same number each time, on every machine."""
    counted = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return counted


def seconds(work: Callable[[], object]) -> float:
    """Seconds of the processor that ``work`` would take on a machine without load: those that it took, by the machine's speed before and after."""
    slow = slowness()
    before = time.process_time()
    work()
    taken = time.process_time() - before
    return taken / max(slow, slowness())


def slowness() -> float:
    """How many times as long as on a machine without load a piece of Python takes now, the best of five; 1 where it takes less."""

    def once() -> float:
        before = time.process_time()
        sum(len(str(i)) for i in range(200_000))
        return time.process_time() - before

    return max(1, min(once() for _ in range(5)) / _REST)
