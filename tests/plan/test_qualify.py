"""QUALIFY is planned as the sub-query that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import open_session, optimized_plan

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = """
CREATE TABLE s (id INT, k STRING, p AS PROCTIME(), ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
"""
ROWS = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {}) AS rn FROM s)"


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("SELECT id FROM s QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1", f"SELECT id FROM {ROWS.format('ts DESC')} WHERE rn = 1"),
        ("SELECT id, k FROM s QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) <= 3", f"SELECT id, k FROM {ROWS.format('id')} WHERE rn <= 3"),
        ("SELECT id, k FROM s QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) = 1", f"SELECT id, k FROM {ROWS.format('p')} WHERE rn = 1"),
        ("SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) AS rn FROM s QUALIFY rn < 4", f"SELECT id, rn FROM {ROWS.format('id')} WHERE rn < 4"),
    ],
)  # fmt: skip
def test_it_is_a_sub_query(tmp_path: Path, written: str, same: str) -> None:
    session = open_session(tmp_path, DECLARED)
    assert optimized_plan(session, written) == optimized_plan(session, same)
