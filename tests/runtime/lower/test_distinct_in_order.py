"""DISTINCT beside functions that depend on the order of rows, of inputs that are all there: as real Flink answered in streaming mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import open_session, rows

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session

VALUES = (1, 2, 1, None, 3, 2, 3, 2, 3, 1)
TABLE = """
CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'rows', 'format' = 'json');
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, engine) -> Session:
    project: Path = tmp_path_factory.mktemp("project")
    (project / "rows").mkdir()
    lines = (json.dumps({"k": "k", "v": v, "ts": f"2026-01-01 00:00:0{at}"}) for at, v in enumerate(VALUES))
    (project / "rows" / "1.json").write_text("\n".join(lines) + "\n")
    return open_session(project, TABLE, options={"spark.master": "local[2]"}, engine=engine)


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize(
    ("calls", "last"),
    [
        ("LAST_VALUE(DISTINCT v), FIRST_VALUE(DISTINCT v), LAST_VALUE(v), COUNT(DISTINCT v)", ["3", "1", "1", "3"]),
        ("LAST_VALUE(DISTINCT v) FILTER (WHERE v < 3), LISTAGG(DISTINCT CAST(v AS STRING))", ["2", "1,2,3"]),
        ("LISTAGG(CAST(v AS STRING)), COUNT(DISTINCT v), SUM(DISTINCT v), MAX(DISTINCT v)", ["1,2,1,3,2,3,2,3,1", "3", "6", "3"]),
        ("LAST_VALUE(DISTINCT v) FILTER (WHERE v > 5), LAST_VALUE(v), AVG(DISTINCT v)", [None, "1", "2"]),
    ],
)
@pytest.mark.parametrize("read", ["t GROUP BY k", "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR) GROUP BY k, window_start, window_end"])
def test_the_order_of_rows_is_kept(client: Session, mode: str, calls: str, last: list[str | None], read: str) -> None:
    list(client.run(f"SET 'execution.runtime-mode' = '{mode}'"))
    found = rows(client, f"SELECT {calls} FROM {read}")
    assert list(found[-1]) == last
