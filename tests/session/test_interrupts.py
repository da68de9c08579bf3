"""An interrupt before there are rows: while Spark starts, for the first statement that needs it, or while a broker does not answer."""

from __future__ import annotations

import io
import socket
import threading
import time
from typing import TYPE_CHECKING, Any, cast

import pytest

from sqlstream.session.session import Session
from sqlstream.shell.foreground import Ending
from sqlstream.shell.runner import Runner
from sqlstream.shell.screen import Screen, Script
from sqlstream.shell.script import run_script

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.engine.session import Engine

SCRIPT = """CREATE TABLE a (n INT) WITH ('connector' = 'datagen'); CREATE TABLE b (n INT) WITH ('connector' = 'blackhole');
INSERT INTO b SELECT n FROM a; INSERT INTO b SELECT n + 1 FROM a;"""


class Starting:
    """An engine whose Spark starts until the statement was interrupted."""

    started = False

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()

    def awaited(self, _notify: object) -> Any:
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


@pytest.mark.spark
@pytest.mark.parametrize(
    "statement", ["SELECT * FROM far", "SET 'execution.runtime-mode' = 'batch'; SELECT * FROM far", "INSERT INTO gone SELECT n FROM far"]
)
def test_a_broker_that_does_not_answer_is_not_waited_for(tmp_path: Path, engine: Engine, statement: str) -> None:
    told, out = threading.Event(), io.StringIO()

    class Told(Screen):
        def notify(self, text: str = "") -> None:
            super().notify(text)
            if "has not answered" in text:
                told.set()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        tables = f"""CREATE TABLE far (n INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = '127.0.0.1:{port}',
          'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
          CREATE TABLE gone (n INT) WITH ('connector' = 'blackhole');"""
        screen = Told(out, out)
        session = Session(tmp_path, engine=engine, notify=screen.notify)
        runner = Runner(session, screen)
        pressed: list[float] = []

        def press() -> None:
            assert told.wait(120)
            pressed.append(time.monotonic())
            runner.interrupt()

        thread = threading.Thread(target=press)
        thread.start()
        ending = runner.run(Script(tables + statement))
        thread.join()
        session.close()
        assert ending is Ending.INTERRUPTED
        assert time.monotonic() - pressed[0] < 10
    assert f"Kafka at 127.0.0.1:{port} has not answered for 5 s. Ctrl-C ends the wait." in out.getvalue()
    assert "ERROR" not in out.getvalue()
