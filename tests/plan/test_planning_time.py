"""Planning takes no JVM and no time that a user sees: a script of two hundred lines under 100 ms."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import open_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

SCRIPT = Path(__file__).with_name("planned.sql").read_text()
PROMISED = 0.1
# What the loop below takes on a machine on which the promise is meant.
LOOP = 0.04
# Of functions, in 90 ms of such a machine.
CALLS = 500_000


def _planned(project: Path) -> None:
    session = open_session(project)
    *_, explained = session.run(SCRIPT)
    assert explained.rows[0][0].count("Sink(") == 2 * SCRIPT.count("INSERT INTO")


def test_a_script_is_planned_by_so_many_calls(tmp_path: Path) -> None:
    # Time says little where other tests run; the number of calls is the same each time.
    _planned(tmp_path)
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        _planned(tmp_path)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert CALLS / 2 < calls < CALLS


def _loop() -> None:
    count = 0
    for i in range(1_000_000):
        count += i & 3


def _taken(work: Callable[[], object]) -> float:
    """Seconds of this process, whatever else the machine does."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


@pytest.mark.slow
def test_a_script_is_planned_in_a_tenth_of_a_second(tmp_path: Path) -> None:
    _planned(tmp_path)
    # A slower machine takes longer for the loop, too.
    assert any(_taken(lambda: _planned(tmp_path)) / max(1, _taken(_loop) / LOOP) < PROMISED for _ in range(50))
