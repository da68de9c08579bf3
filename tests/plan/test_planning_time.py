"""Planning takes no JVM and no time that a user sees: a script of two hundred lines under 100 ms."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.sessions import open_session

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = Path(__file__).with_name("planned.sql").read_text()
PROMISED = 0.1
# What the loop below takes on a machine on which the promise is meant.
LOOP = 0.04


def _loop() -> None:
    count = 0
    for i in range(1_000_000):
        count += i & 3


def _taken(work: Callable[[], object]) -> float:
    """Seconds of this process, whatever else the machine does."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def test_a_script_is_planned_in_a_tenth_of_a_second(tmp_path: Path) -> None:
    def planned() -> None:
        session = open_session(tmp_path)
        *_, explained = session.run(SCRIPT)
        assert explained.rows[0][0].count("Sink(") == 2 * SCRIPT.count("INSERT INTO")

    planned()
    # On a slower machine, or one with much else to do, the loop takes longer too; what comes between only adds.
    assert any(_taken(planned) / max(1, _taken(_loop) / LOOP) < PROMISED for _ in range(150))
