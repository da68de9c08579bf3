"""When partitions are committed, over folders that are a dict: what the watermark passes, what a kill and a restart leave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from sqlstream.connectors.files.partition_commit import Partition, PartitionCommit, PartitionTime
from tests.support.sessions import open_session, optimized_plan

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Files:
    """A Folder without a JVM."""

    java: Any = None
    files: dict[tuple[str, ...], str] = field(default_factory=dict)

    def read(self, *parts: str) -> str | None:
        return self.files.get(parts)

    def write(self, text: str, *parts: str) -> None:
        self.files[parts] = text

    @property
    def committed(self) -> list[str]:
        return sorted(p[0] for p in self.files if p[-1] == "_SUCCESS")


class Hour(PartitionTime):
    """The time of ``h=7`` is 7."""

    def millis(self, partition: Partition, java: Any) -> int:
        return int(partition[0].removeprefix("h="))


HOUR = Hour(("h",), None, None, "UTC", 2)


def batch(files: Files, watermark: int | None, *hours: int, time: PartitionTime | None = HOUR, killed: bool = False) -> list[str]:
    """What is committed after a batch of ``hours``."""
    commit = PartitionCommit("_SUCCESS", time, lambda: watermark)
    commit.written(files, "w", [(f"h={h}",) for h in hours])  # type: ignore[arg-type]
    if not killed:
        commit.commit(files, "w")  # type: ignore[arg-type]
    return files.committed


def test_the_watermark_must_be_past_the_time_and_the_delay() -> None:
    files = Files()
    assert batch(files, None, 7, 8) == []
    assert batch(files, 9) == []
    assert batch(files, 10) == ["h=7"]
    assert batch(files, 11, 9) == ["h=7", "h=8"]
    assert batch(files, 100) == ["h=7", "h=8", "h=9"]


def test_a_partition_that_is_written_again_is_committed_again() -> None:
    files = Files()
    batch(files, 100, 7)
    del files.files["h=7", "_SUCCESS"]
    assert batch(files, 100) == []
    assert batch(files, 100, 7) == ["h=7"]


def test_a_restart_knows_the_watermark_and_what_waits() -> None:
    files = Files()
    assert batch(files, 10, 7, killed=True) == []
    # The batch that is tried again sees no rows, and so no watermark.
    assert batch(files, None, 8) == ["h=7"]
    assert batch(files, 3) == ["h=7"]


def test_by_process_time_all_are_committed_at_once() -> None:
    files = Files()
    assert batch(files, None, 7, 8, time=None) == ["h=7", "h=8"]


@pytest.mark.parametrize(
    ("pattern", "partition", "expected"),
    [
        (None, ("dt=2026-01-31", "hour=07"), "2026-01-31"),
        ("$dt $hour:00:00", ("dt=2026-01-31", "hour=07"), "2026-01-31 07:00:00"),
        ("$dt", ("dt=2026-01-31 07%3A00%3A00", "hour=x"), "2026-01-31 07:00:00"),
        ("$hour-$dt-$no", ("dt=1", "hour=2"), "2-1-$no"),
    ],
)
def test_what_a_time_is_read_from(pattern: str | None, partition: Partition, expected: str) -> None:
    assert PartitionTime(("dt", "hour"), pattern, None, "UTC", 0).text(partition) == expected


@pytest.mark.parametrize("trigger", ["partition-time", "process-time"])
def test_the_watermark_is_kept_for_a_sink_that_waits_for_it(trigger: str, tmp_path: Path) -> None:
    session = open_session(tmp_path)
    options = f"'sink.partition-commit.trigger' = '{trigger}', 'sink.partition-commit.policy.kind' = 'success-file'"
    list(session.run(f"""
        CREATE TABLE bids (item STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
        CREATE TABLE days (item STRING, dt STRING) PARTITIONED BY (dt) WITH ('connector' = 'filesystem', 'path' = 'days', 'format' = 'json', {options});
    """))  # fmt: skip
    plan = optimized_plan(session, "INSERT INTO days SELECT item, DATE_FORMAT(ts, 'yyyy-MM-dd') FROM bids")
    assert ("WatermarkAssigner" in plan) is (trigger == "partition-time")
