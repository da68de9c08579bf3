"""Planning takes no JVM and no time that a user sees: a script of two hundred lines under 100 ms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import pace
from tests.support.sessions import open_session

SCRIPT = Path(__file__).with_name("planned.sql").read_text()
PROMISED = 0.1
# Of functions, in 90 ms of such a machine.
CALLS = 500_000


def _planned(project: Path) -> None:
    session = open_session(project)
    *_, explained = session.run(SCRIPT)
    assert explained.rows[0][0].count("Sink(") == 2 * SCRIPT.count("INSERT INTO")


def test_a_script_is_planned_by_so_many_calls(tmp_path: Path) -> None:
    _planned(tmp_path)
    assert CALLS / 2 < pace.calls(lambda: _planned(tmp_path)) < CALLS


@pytest.mark.slow
def test_a_script_is_planned_in_a_tenth_of_a_second(tmp_path: Path) -> None:
    _planned(tmp_path)
    assert any(pace.seconds(lambda: _planned(tmp_path)) < PROMISED for _ in range(50))
