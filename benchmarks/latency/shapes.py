"""The queries that are measured, and which records an arrival answers.

The n-th record, from 0, has the key ``n % KEYS``, and lies in partition ``n % PARTITIONS``. ``made`` has the second at which each was created.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

KEYS, PARTITIONS = 100, 2

# Of each arrival its second, and its row.
Arrival = tuple[float, "dict[str, Any]"]
Pair = tuple[float, float]

TABLE = """CREATE TABLE {name} (id BIGINT, k INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{bootstrap}', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset'
);"""
KAFKA = """WITH ('connector' = 'kafka', 'topic' = '{out}', 'properties.bootstrap.servers' = '{bootstrap}', 'format' = 'json',
  'json.timestamp-format.standard' = 'ISO-8601')"""
UPSERTS = """WITH ('connector' = 'upsert-kafka', 'topic' = '{out}', 'properties.bootstrap.servers' = '{bootstrap}', 'key.format' = 'json',
  'value.format' = 'json')"""
DELTA = "WITH ('connector' = 'delta', 'table-path' = '{folder}')"


@dataclass(frozen=True)
class Shape:
    """A query. ``sink``: the CREATE TABLE of its sink ``o``; ``pairs``: of records the second at which the last that it needed was created, and that
    of the arrival. ``tables``: what it reads, of the same records each.
    """

    name: str
    sink: str
    insert: str
    pairs: Callable[[Sequence[float], Iterable[Arrival]], Iterator[Pair]]
    tables: tuple[str, ...] = ("e",)
    only: str | None = None


def _by_id(made: Sequence[float], arrivals: Iterable[Arrival]) -> Iterator[Pair]:
    for at, row in arrivals:
        yield made[row["id"]], at


def _by_count(made: Sequence[float], arrivals: Iterable[Arrival]) -> Iterator[Pair]:
    known = [0] * KEYS
    for at, row in arrivals:
        for nth in range(known[row["k"]], row["n"]):
            yield made[row["k"] + nth * KEYS], at
        known[row["k"]] = max(row["n"], known[row["k"]])


def _by_latest(made: Sequence[float], arrivals: Iterable[Arrival]) -> Iterator[Pair]:
    """The latest record of a key answers those before it, too."""
    known = [0] * KEYS
    for at, row in arrivals:
        if row.get("n", 1) == 1:
            count = row["id"] // KEYS + 1
            for nth in range(known[row["k"]], count):
                yield made[row["k"] + nth * KEYS], at
            known[row["k"]] = max(count, known[row["k"]])


def _by_watermark(made: Sequence[float], arrivals: Iterable[Arrival]) -> Iterator[Pair]:
    """A window's rows can come when each partition has had a record of its end or later."""
    times = [[int(second * 1000) for second in made[partition::PARTITIONS]] for partition in range(PARTITIONS)]
    for at, row in arrivals:
        end = round(datetime.fromisoformat(row["window_end"]).timestamp() * 1000)
        passed = [bisect_left(of, end) for of in times]
        if all(index < len(of) for index, of in zip(passed, times, strict=True)):
            yield max(made[index * PARTITIONS + partition] for partition, index in enumerate(passed)), at


SHAPES = (
    Shape("stateless", f"(id BIGINT, k INT, word STRING) {KAFKA}", "SELECT id, k, UPPER(CONCAT('k', CAST(k AS STRING))) FROM e WHERE k >= 0", _by_id),
    Shape("aggregate", f"(k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) {UPSERTS}", "SELECT k, COUNT(*) FROM e GROUP BY k", _by_count),
    Shape(
        "top-n", f"(k INT, n BIGINT, id BIGINT, PRIMARY KEY (k, n) NOT ENFORCED) {UPSERTS}",
        "SELECT k, n, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) AS n FROM e) AS r WHERE n <= 3", _by_latest,
    ),
    Shape(
        "deduplication", f"(k INT, id BIGINT, PRIMARY KEY (k) NOT ENFORCED) {UPSERTS}",
        "SELECT k, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) AS n FROM e) AS r WHERE n = 1", _by_latest,
    ),
    Shape(
        "window", f"(window_end TIMESTAMP_LTZ(3), k INT, n BIGINT) {KAFKA}",
        "SELECT window_end, k, COUNT(*) FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP BY window_start, window_end, k",
        _by_watermark,
    ),
    Shape("regular join", f"(id BIGINT, k INT) {KAFKA}", "SELECT e.id, f.k FROM e JOIN f ON e.id = f.id", _by_id, ("e", "f")),
    Shape(
        "interval join", f"(id BIGINT, k INT) {KAFKA}",
        "SELECT e.id, f.k FROM e JOIN f ON e.id = f.id AND e.ts BETWEEN f.ts - INTERVAL '1' SECOND AND f.ts + INTERVAL '1' SECOND",
        _by_id, ("e", "f"),
    ),
    Shape("into Delta", f"(id BIGINT, k INT) {DELTA}", "SELECT id, k FROM e", _by_id, only="sqlstream"),
)  # fmt: skip
