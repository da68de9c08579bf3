"""What is in the sinks, read without Spark: rows as tuples of integers, and how often each is there."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

from benchmarks.torture.deletion_vectors import removed_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.torture.load import Rows


class DeltaTable:
    """A Delta table, by its log. A file never changes: it is read once for each set of rows that are gone from it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[tuple[str, str], list[tuple[int, ...]]] = {}

    def rows(self) -> Rows:
        files: dict[tuple[str, str], dict[str, Any]] = {}
        for commit in sorted((self._folder / "_delta_log").glob("[0-9]*.json")):
            actions = [json.loads(line) for line in commit.read_text().splitlines()]
            for removed in (action["remove"] for action in actions if "remove" in action):
                files.pop(_identity(removed), None)
            files |= {_identity(action["add"]): action["add"] for action in actions if "add" in action}
        return Counter(row for file in files.values() for row in self._rows(file))

    def _rows(self, file: dict[str, Any]) -> list[tuple[int, ...]]:
        identity = _identity(file)
        if identity not in self._read:
            table = pq.ParquetFile(self._folder / unquote(file["path"])).read()
            gone = removed_rows(file["deletionVector"], self._folder) if file.get("deletionVector") else ()
            rows = enumerate(zip(*(column.to_pylist() for column in table.columns), strict=True))
            self._read[identity] = [row for n, row in rows if n not in gone]
        return self._read[identity]


def _identity(file: dict[str, Any]) -> tuple[str, str]:
    """A file, with the rows of it that are gone."""
    return file["path"], json.dumps(file.get("deletionVector"), sort_keys=True)


class Lines:
    """A folder of files of JSON; what a reader of the table sees of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def rows(self) -> Rows:
        lines = (line for path in self._folder.glob("part-*") for line in path.read_text().splitlines())
        return Counter(tuple(json.loads(line).values()) for line in lines)


class Topic:
    """A topic of one partition, whose records are the latest rows of their keys. It is read on from where it was read to."""

    def __init__(self, name: str, bootstrap: Callable[[], str]) -> None:
        self._name, self._bootstrap = name, bootstrap
        self._next = 0
        self._latest: dict[bytes | None, tuple[int, ...] | None] = {}

    def rows(self) -> Rows:
        consumer = Consumer({"bootstrap.servers": self._bootstrap(), "group.id": "torture", "enable.auto.commit": False, "log_level": 0})
        try:
            partition = TopicPartition(self._name, 0, self._next)
            _, end = consumer.get_watermark_offsets(partition, timeout=20)
            consumer.assign([partition])
            while self._next < end:
                for record in consumer.consume(10_000, timeout=1):
                    if record.error():
                        raise RuntimeError(str(record.error()))
                    value = record.value()
                    self._latest[record.key()] = None if value is None else tuple(json.loads(value).values())
                    self._next = (record.offset() or 0) + 1
        finally:
            consumer.close()
        return Counter(row for row in self._latest.values() if row is not None)
