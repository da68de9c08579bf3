"""Tests wait for what they need, and never for a time: a busy machine takes longer, an idle one less."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def _nothing() -> None:
    pass


def until(
    condition: Callable[[], T],
    seconds: float = 120,
    *,
    every: float = 0.05,
    meanwhile: Callable[[], object] = _nothing,
    said: Callable[[], object] = _nothing,
) -> T:
    """What ``condition`` gives as soon as it is true. After ``seconds``, which no machine needs, the test fails with what is ``said`` by then.

    ``meanwhile`` is called between two looks, ``every`` so many seconds: it may feed what is waited for, or fail where that can't come any more.
    """
    end = time.monotonic() + seconds
    while not (found := condition()):
        meanwhile()
        assert time.monotonic() < end, f"not so after {seconds} s: {said()}"
        time.sleep(every)
    return found
