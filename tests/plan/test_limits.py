"""How many rows a SELECT ends after: its LIMIT, where the rows never change once they are emitted, as those of windows don't."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sqlstream.session.session import Session
from sqlstream.sql.statements.parsing import parse

if TYPE_CHECKING:
    from pathlib import Path

WINDOWS = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(p), INTERVAL '1' SECOND)) GROUP BY window_start, window_end LIMIT 1"


@pytest.mark.parametrize(
    ("query", "count"), [(WINDOWS, 1), ("SELECT item FROM bids LIMIT 2", 2), ("SELECT COUNT(*) FROM bids GROUP BY item LIMIT 1", None)]
)
def test_a_select_ends_after_its_limit(tmp_path: Path, query: str, count: int | None) -> None:
    session = Session(tmp_path, notify=lambda line: None)
    table = "CREATE TABLE bids (item STRING, p AS PROCTIME()) WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json', 'source.monitor-interval' = '1 s');"
    list(session.run(table))
    planner = session.planner
    assert planner.selected(parse(query), planner.environment())[1] == count
