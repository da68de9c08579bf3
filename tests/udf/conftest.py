"""A stream of rows for the functions of a test module, which are its MODULE."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from sqlstream.session.session import Session
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
    made = Session(tmp_path / "project", options={"table.local-time-zone": "UTC"}, engine=engine, emit=emitted.append, notify=lambda line: None)
    list(made.run(
        f"CREATE TABLE r (k STRING, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'in'}', "
        "'format' = 'json', 'source.monitor-interval' = '1 s')"
    ))  # fmt: skip

    def put(*given: Row, lines: int) -> list[str]:
        text = "".join(json.dumps({"k": k, "x": x, "ts": f"2024-01-01 {at}"}) + "\n" for k, x, at in given)
        # Its name begins with a dot until it is whole.
        hidden = tmp_path / "in" / ".next"
        hidden.write_text(text)
        hidden.rename(tmp_path / "in" / f"{time.time_ns()}.json")
        if lines:
            until(lambda: len(emitted) >= lines, said=lambda: emitted)
            for job in made.jobs:
                for query in job.queries:
                    query.processAllAvailable()
        found, emitted[:] = sorted(emitted), []
        return found

    yield made, put
    made.jobs.stop_all()
    made.close()
