"""The thread in which statements run, and the wait for it."""

from __future__ import annotations

import sys
import threading
from itertools import count
from typing import Any

import pytest

from sqlstream.shell.foreground import Foreground, result


def interrupted_at(line: int) -> Any:
    """What traces a thread, and interrupts it, as a signal does, before the line of that number which it runs, and before the one behind it."""
    lines = count()

    def trace(frame: Any, event: str, arg: object) -> Any:
        if event == "line" and next(lines) in (line, line + 1):
            raise KeyboardInterrupt
        return trace

    return trace


@pytest.mark.timeout(60)
def test_an_interrupt_at_any_moment_of_a_wait_upsets_nothing() -> None:
    foreground, before = Foreground(), sys.gettrace()
    for line in count():
        over = threading.Event()
        running = foreground.submit(lambda over=over: over.wait(20))
        threading.Timer(0.05, over.set).start()
        try:
            sys.settrace(interrupted_at(line))
            assert result(running)
        except KeyboardInterrupt:
            pass
        else:
            # All lines that a wait has were interrupted.
            assert line > 5
            break
        finally:
            sys.settrace(before)
        assert result(running)
