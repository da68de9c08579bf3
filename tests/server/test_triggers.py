"""Savepoints that are being made: each is known, ends, and says why it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import Defect, SetupError
from sqlstream.server.answers import NotThere
from sqlstream.server.monitoring.triggers import Triggers
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


def test_what_came_of_it(tmp_path: Path) -> None:
    triggers = Triggers(tmp_path)
    trigger = triggers.find(triggers.begin(lambda: "file:///a"))
    until(lambda: trigger.done)
    assert trigger.result == "file:///a" and trigger.error is None


@pytest.mark.parametrize(("raised", "kind"), [(SetupError("no"), SetupError), (KeyError("x"), Defect)])
def test_it_ends_whatever_is_raised(tmp_path: Path, raised: Exception, kind: type[Exception]) -> None:
    def work() -> str:
        raise raised

    triggers = Triggers(tmp_path)
    trigger = triggers.find(triggers.begin(work))
    until(lambda: trigger.done)
    assert trigger.result is None and type(trigger.error) is kind


def test_one_that_nobody_has_asked_for(tmp_path: Path) -> None:
    with pytest.raises(NotThere, match="There is no operation abc"):
        Triggers(tmp_path).find("abc")
