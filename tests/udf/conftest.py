"""A stream of rows for the functions of a test module, which are its MODULE."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from sqlstream.session.session import Session
from tests.support.sessions import catch_up, feed, open_session
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Row = tuple[str, int | None, str]
Stream = tuple[Session, Callable[..., list[str]]]


@pytest.fixture
def stream(request: pytest.FixtureRequest, engine, tmp_path: Path) -> Iterator[Stream]:
    """A session with a table of files that come, ``r``; what puts rows there, a micro-batch each time, and waits for so many lines of output."""
    (tmp_path / "in").mkdir()
    (tmp_path / "project" / "udfs").mkdir(parents=True)
    (tmp_path / "project" / "udfs" / "groups.py").write_text(request.module.MODULE)
    emitted: list[str] = []
    declared = (
        f"CREATE TABLE r (k STRING, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', "
        "'format' = 'json', 'source.monitor-interval' = '1 s')"
    )
    made = open_session(tmp_path / "project", declared, engine=engine, emit=emitted.append)

    def put(*given: Row, lines: int) -> list[str]:
        feed(tmp_path / "in", *({"k": k, "x": x, "ts": f"2024-01-01 {at}"} for k, x, at in given))
        if lines:
            until(lambda: len(emitted) >= lines, said=lambda: emitted)
            for job in made.jobs:
                catch_up(job)
        found, emitted[:] = sorted(emitted), []
        return found

    yield made, put
    made.jobs.stop_all()
    made.close()
