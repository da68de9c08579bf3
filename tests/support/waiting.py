"""Tests wait for what they need, and never for a time: a busy machine takes longer, an idle one less."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def until(condition: Callable[[], T], seconds: float = 120, *, every: float = 0.05, said: Callable[[], object] = lambda: "") -> T:
    """What ``condition`` gives as soon as it is true. After ``seconds``, which no machine needs, the test fails with what was ``said``.

    ``said`` is asked each time; it may fail the test by itself, where nothing is to be waited for any more. ``every``: seconds between two looks.
    """
    end = time.monotonic() + seconds
    while not (found := condition()):
        told = said()
        assert time.monotonic() < end, f"not so after {seconds} s: {told}"
        time.sleep(every)
    return found
