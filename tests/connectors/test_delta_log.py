"""The log of a Delta table, read without Spark."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sqlstream.connectors.delta.log import Commit, DeltaTable, read

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "_delta_log").mkdir()
    return tmp_path


def commit(table: Path, version: int, *actions: dict[str, Any]) -> None:
    (table / "_delta_log" / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)))


def info(operation: str, **metrics: str) -> dict[str, Any]:
    return {"commitInfo": {"timestamp": 1_767_225_600_500, "operation": operation, "operationMetrics": metrics}}


def test_there_is_none_yet(table: Path) -> None:
    assert read(table, 20) is None and read(table / "none", 20) is None
    (table / "file").write_text("")
    assert read(table / "file", 20) is None


def test_versions_and_size(table: Path) -> None:
    commit(table, 0, info("CREATE TABLE"), {"metaData": {}})
    commit(table, 1, info("WRITE", numFiles="2", numOutputRows="7", numOutputBytes="900"), {"add": {"path": "a"}})
    commit(table, 2, {"protocol": {}}, info("MERGE", numOutputRows="9", numTargetRowsInserted="2", numTargetRowsUpdated="1", numTargetRowsDeleted="0",
                                          numTargetFilesAdded="1", numTargetFilesRemoved="3"))  # fmt: skip
    (table / "_delta_log" / f"{2:020}.crc").write_text('{"tableSizeBytes": 1234, "numFiles": 2}')
    at = 1_767_225_600.5
    merged = Commit(2, at, "MERGE", ((2, "inserted"), (1, "updated")), 1, 3)
    written = Commit(1, at, "WRITE", ((7, "written"),), 2)
    assert read(table, 20) == DeltaTable((merged, written, Commit(0, at, "CREATE TABLE")), 2, 1234)
    assert read(table, 1) == DeltaTable((merged,), 2, 1234)


def test_what_is_broken_is_left_out(table: Path) -> None:
    log = table / "_delta_log"
    (log / f"{0:020}.json").write_bytes(b"\xff\xfe[[[[\n[1]\n" + b"[" * 100_000)
    (log / f"{1:020}.json").write_text(
        '{"commitInfo": {"timestamp": "no", "operation": 7, "operationMetrics": {"numFiles": "x", "numOutputRows": {}}}}'
    )
    (log / f"{1:020}.crc").write_text('{"tableSizeBytes": "x", "numFiles": true}')
    (log / f"{0:020}.{1:020}.compacted.json").write_text("{}")
    (log / f"{0:020}.checkpoint.parquet").write_text("")
    found = read(table, 20)
    assert found is not None and (found.files, found.bytes) == (None, None)
    assert [(c.version, c.operation, c.rows, c.added) for c in found.commits] == [(1, None, (), None), (0, None, (), None)]
    assert all(c.at for c in found.commits)


def test_a_large_commit_is_not_read_to_its_end(table: Path) -> None:
    commit(table, 0, info("WRITE", numFiles="90000"), *({"add": {"path": "x" * 1000}} for _ in range(1000)))
    found = read(table, 20)
    assert found is not None and found.commits[0].added == 90000
