"""Keys that share a hash, by which the rows of a micro-batch are sorted: their rows alternate, and what comes out is right all the same."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import catch_up, feed, open_session, run, submit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

_WORD = 2**64
# Of xxHash64.
_P1, _P2, _P3, _P4, _P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
)  # fmt: skip
SEED = 42


def _rotated(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) % _WORD


def _hash(value: int, seed: int) -> int:
    """That of a BIGINT."""
    h = (seed + _P5 + 8) % _WORD ^ _rotated(value * _P2 % _WORD, 31) * _P1 % _WORD
    h = (_rotated(h, 27) * _P1 + _P4) % _WORD
    h = (h ^ h >> 33) * _P2 % _WORD
    h = (h ^ h >> 29) * _P3 % _WORD
    return h ^ h >> 32


def _signed(x: int) -> int:
    return x - _WORD if x >= _WORD // 2 else x


def sharing(a: int, b: int, other: int) -> int:
    """The ``d`` for which the keys (a, b) and (other, d) have one hash."""
    seed, another = _hash(a % _WORD, SEED), _hash(other % _WORD, SEED)
    mixed = (seed + _P5 + 8) % _WORD ^ _rotated(b % _WORD * _P2 % _WORD, 31) * _P1 % _WORD ^ (another + _P5 + 8) % _WORD
    return _signed(_rotated(mixed * pow(_P1, -1, _WORD) % _WORD, 33) * pow(_P2, -1, _WORD) % _WORD)


KEYS = [(1, 2), (5, sharing(1, 2, 5)), (-9, sharing(1, 2, -9))]
TOP = "SELECT a, b, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY v DESC) AS n FROM s) WHERE n <= {}"
QUERIES = {
    "best": ("a BIGINT, b BIGINT, v INT", TOP.format(1)),
    "top": ("a BIGINT, b BIGINT, v INT", TOP.format(3)),
    "counted": ("a BIGINT, b BIGINT, v BIGINT", f"SELECT a, b, COUNT(*) FROM ({TOP.format(3)}) GROUP BY a, b"),
    "listed": ("a BIGINT, b BIGINT, v STRING", "SELECT a, b, LISTAGG(CAST(v AS STRING)) FROM s GROUP BY a, b"),
    "joined": ("a BIGINT, b BIGINT, v INT", "SELECT s.a, s.b, s.v FROM s JOIN t ON s.a = t.a AND s.b = t.b"),
}
FILES = "'connector' = 'filesystem', 'path' = '{}', 'format' = 'json', 'source.monitor-interval' = '1 s'"


def test_keys_that_share_a_hash(spark, two_partitions, interpreted, tmp_path: Path) -> None:
    hashes = {spark.sql(f"SELECT xxhash64({a}L, {b}L)").collect()[0][0] for a, b in KEYS}
    assert len(hashes) == 1 and len(set(KEYS)) == 3
    emitted: dict[str, Counter[tuple]] = defaultdict(Counter)

    def emit(line: str) -> None:
        table, _, change = line.partition("> ")
        row = tuple(change[3:-1].split(", ", 2))
        emitted[table][row] += 1 if change.startswith("+") else -1
        # Nothing is taken back that was not there.
        assert emitted[table][row] >= 0, line

    chance = random.Random(7)
    for folder in ("s", "t"):
        (tmp_path / folder).mkdir()
    feed(tmp_path / "t", *({"a": a, "b": b} for a, b in KEYS))
    tables = (
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'print', 'print-identifier' = '{name}');" for name, (columns, _) in QUERIES.items()
    )
    session = open_session(
        tmp_path,
        f"CREATE TABLE s (a BIGINT, b BIGINT, v INT) WITH ({FILES.format('s')}); CREATE TABLE t (a BIGINT, b BIGINT) WITH ({FILES.format('t')});"
        + "".join(tables),
        emit=emit,
    )
    jobs = [submit(session, f"INSERT INTO {name} {query}") for name, (_, query) in QUERIES.items()]
    numbers = random.Random(1).sample(range(1000), 90)
    given: dict[tuple[int, int], list[int]] = defaultdict(list)
    for part in range(3):
        records = []
        for v in numbers[part * 30 : part * 30 + 30]:
            key = chance.choice(KEYS)
            given[key].append(v)
            records.append({"a": key[0], "b": key[1], "v": v})
        feed(tmp_path / "s", *records)
        for job in jobs:
            catch_up(job)
    for job in jobs:
        plan = job.queries[0]._jsq.streamingQuery().lastExecution().executedPlan().toString()  # type: ignore[attr-defined]
        # Where rows can be retracted the order of a key's rows counts.
        assert len(re.findall(r"Sort \[hash#\d+L ASC NULLS FIRST\], ", plan)) == 1, plan
    run(session, "".join(f"STOP JOB '{job.id}';" for job in jobs))
    rows = [(a, b, v) for (a, b), all_ in given.items() for v in all_]
    best = {key: sorted(all_, reverse=True) for key, all_ in given.items()}
    expected = {
        "best": [(*key, all_[0]) for key, all_ in best.items()],
        "top": [(*key, v) for key, all_ in best.items() for v in all_[:3]],
        "counted": [(*key, 3) for key in best],
        "listed": [(*key, ",".join(map(str, all_))) for key, all_ in given.items()],
        "joined": rows,
    }
    for name, wanted in expected.items():
        assert +emitted[name] == Counter(tuple(map(str, row)) for row in wanted), name
