"""An interrupt while Spark starts, for the first statement that needs it."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING, Any, cast

from sqlstream.session.session import Session
from sqlstream.shell.screen import Screen, Script
from sqlstream.shell.script import run_script

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from sqlstream.runtime.engine.session import Engine

SCRIPT = """CREATE TABLE a (n INT) WITH ('connector' = 'datagen'); CREATE TABLE b (n INT) WITH ('connector' = 'blackhole');
INSERT INTO b SELECT n FROM a; INSERT INTO b SELECT n + 1 FROM a;"""


class Starting:
    """An engine whose Spark starts until the statement was interrupted."""

    started = False

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()

    @property
    def spark(self) -> Any:
        self.asked.set()
        assert self.go_on.wait(30)
        return object()

    def stop(self, **_: object) -> None:
        self.go_on.set()

    kill = stop


def test_an_insert_is_not_submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, screen = Starting(), Screen(io.StringIO(), io.StringIO())

    def press() -> None:
        assert engine.asked.wait(30)
        session[0].interrupt()
        engine.go_on.set()

    session = [Session(tmp_path, engine=cast("Engine", engine), owns_engine=True, notify=screen.notify)]
    submitted: list[object] = []
    monkeypatch.setattr(session[0].jobs, "submit", lambda *asked: submitted.append(asked))
    thread = threading.Thread(target=press)
    thread.start()
    run_script(lambda: session[0], Script(SCRIPT), screen)
    thread.join()
    assert submitted == []
