"""What is said while Spark starts, to those who wait for it."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from sqlstream.core.lines import Passing
from sqlstream.runtime.engine.session import Engine

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_bar_is_shown_until_spark_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    engine = Engine(tmp_path, dict, said.append)
    starting: Future[Any] = Future()
    monkeypatch.setattr(engine, "_start", lambda session, warm: starting.add_done_callback(lambda done: session.set_result(done.result())))
    monkeypatch.setattr("sqlstream.runtime.engine.session._runs", lambda spark: True)
    answers: list[object] = []
    told: list[str] = []
    waiting = [threading.Thread(target=lambda: answers.append(engine.spark)) for _ in range(2)]
    waiting.append(threading.Thread(target=lambda: answers.append(engine.awaited(told.append))))
    for one in waiting:
        one.start()
    threading.Timer(1.2, starting.set_result, ["spark"]).start()
    for one in waiting:
        one.join(10)
    assert answers == ["spark", "spark", "spark"]
    for lines in (said, told):
        assert [line for line in lines if not isinstance(line, Passing)] == ["Waiting for Spark to start ..."], "whoever hears is told once"
    bars = [line for line in said if isinstance(line, Passing)]
    assert len(bars) >= 3 and bars[0].startswith("Spark is starting  [----") and bars[-1] == "", "the last one takes the bar away"
