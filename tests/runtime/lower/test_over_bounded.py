"""OVER of inputs that are all there: as real Flink answered, in streaming mode, where rows of one time come together, and in batch mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported
from tests.support.sessions import open_session, rows

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

ROWS = [(1, 2), (2, 2), (2, 2), (3, 3), (3, 2)]
TABLE = """
CREATE TABLE t (n INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH ('connector' = 'filesystem', 'path' = 'rows', 'format' = 'json');
"""
BATCH = "SET 'execution.runtime-mode' = 'batch';"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, engine) -> Session:
    project: Path = tmp_path_factory.mktemp("project")
    (project / "rows").mkdir()
    lines = (json.dumps({"n": n, "v": v, "ts": f"2026-01-01 00:00:0{at}"}) for n, (at, v) in enumerate(ROWS))
    (project / "rows" / "1.json").write_text("\n".join(lines) + "\n")
    return open_session(project, TABLE, options={"spark.master": "local[2]"}, engine=engine)


def answers(client: Session, sql: str, batch: str = "") -> list[list[str | None]]:
    """What a query says of each row, whose number is its first column."""
    list(client.run(batch or "RESET 'execution.runtime-mode'"))
    return [list(cells) for _, *cells in sorted(rows(client, sql), key=lambda row: int(row[0]))]


LAGS = "SELECT n, LAG(v) OVER w, LAG(v, 2, -1) OVER w, COUNT(*) OVER w FROM t WINDOW w AS (ORDER BY ts)"


@pytest.mark.spark
def test_lag_over_rows_of_one_time(client: Session) -> None:
    of_peers = [[None, "-1", "1"], ["2", "2", "3"], ["2", "2", "3"], ["3", "2", "5"], ["3", "2", "5"]]
    assert answers(client, LAGS) == of_peers
    of_rows = [[None, "-1", "1"], ["2", "-1", "3"], ["2", "2", "3"], ["2", "2", "5"], ["3", "2", "5"]]
    assert answers(client, LAGS, BATCH) == of_rows


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["", BATCH])
def test_distinct_collections(client: Session, mode: str) -> None:
    calls = (
        "COLLECT(DISTINCT v)",
        "ARRAY_AGG(DISTINCT v)",
        "LISTAGG(DISTINCT CAST(v AS STRING))",
        "COUNT(DISTINCT v)",
        "SUM(DISTINCT v)",
        "COLLECT(v)",
    )
    found = answers(client, f"SELECT n, {', '.join(f'{c} OVER w' for c in calls)} FROM t WINDOW w AS (ORDER BY ts)", mode)
    assert found[:3] == [["{2=1}", "[2]", "2", "1", "2", "{2=1}"], *[["{2=1}", "[2]", "2", "1", "2", "{2=3}"]] * 2]
    assert found[3] == found[4] == ["{2=1, 3=1}", "[2, 3]", "2,3", "2", "5", "{2=4, 3=1}"]


@pytest.mark.spark
def test_distinct_collections_of_a_frame(client: Session) -> None:
    frame = "OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    found = answers(client, f"SELECT n, COLLECT(DISTINCT v) {frame}, COLLECT(v) {frame}, ARRAY_AGG(DISTINCT v) {frame} FROM t")
    # A multiset's values have no order.
    assert [[sorted(str(cell).strip("{}").split(", ")) for cell in row[:2]] for row in found] == [
        [["2=1"], ["2=1"]], [["2=1"], ["2=2"]], [["2=1"], ["2=2"]], [["2=1", "3=1"], ["2=1", "3=1"]], [["2=1", "3=1"], ["2=1", "3=1"]],
    ]  # fmt: skip
    assert [row[2] for row in found] == ["[2]", "[2]", "[2]", "[2, 3]", "[3, 2]"]


def test_distinct_without_a_form_over_a_frame_is_refused(tmp_path: Path) -> None:
    session = open_session(tmp_path, TABLE)
    for mode in ("", BATCH):
        with pytest.raises(NotSupported, match="PERCENTILE"):
            list(session.run(f"{mode} EXPLAIN SELECT PERCENTILE(DISTINCT v, 0.5) OVER (ORDER BY ts) FROM t"))
