"""Servers for tests: each on a port of its own, in this process."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import uvicorn

from sqlstream.server.app import application
from sqlstream.server.server import Server
from tests.server.client import Client
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlstream.core.tokens import Tokens
    from sqlstream.runtime.engine.session import Engine

# Declares the table f of the fixture ``files``, a stream.
FILES = "CREATE TABLE f (id INT, n INT) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json', 'source.monitor-interval' = '1 s')"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """An empty folder of JSON lines."""
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


@contextmanager
def serving(project: Path, options: dict[str, str], engine: object, tokens: Tokens | None = None, **more: object) -> Iterator[Client]:
    """A server of ``project``, and a client of it."""
    server = Server(project, {"table.local-time-zone": "UTC", **options}, print, engine)
    config = uvicorn.Config(application(server, tokens), port=0, log_level="warning", timeout_graceful_shutdown=1, **more)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    try:
        until(lambda: running.started)
        (listener,) = running.servers[0].sockets
        client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}")
        client.server = server
        yield client
    finally:
        running.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture
def serve(tmp_path: Path) -> Callable[..., AbstractContextManager[Client]]:
    """Servers without Spark."""
    return lambda **options: serving(tmp_path, options, _NoEngine())


class _NoEngine:
    """Where no statement needs Spark."""

    started = False

    def start(self, *, warm: bool = False) -> None:
        raise AssertionError("Spark is started")

    def kill(self) -> None:
        pass


@pytest.fixture
def no_engine() -> _NoEngine:
    """Of a server without Spark."""
    return _NoEngine()


@pytest.fixture
def client(tmp_path: Path, no_engine: _NoEngine) -> Iterator[Client]:
    """A client of a server without Spark."""
    with serving(tmp_path, {}, no_engine) as made:
        yield made


@pytest.fixture
def on_spark(tmp_path: Path, engine: Engine) -> Iterator[Client]:
    """A client of a server with Spark; ``queries`` are the streaming ones that run."""
    # Other tests may have left some.
    others = {query.id for query in engine.spark.streams.active}
    with serving(tmp_path, {}, engine) as made:
        made.queries = lambda: [query for query in engine.spark.streams.active if query.id not in others]
        yield made
