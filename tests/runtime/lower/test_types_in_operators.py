"""Every type as key, value, order and state of operators: a stream, over a restart too, answers as a batch does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.support.sessions import catch_up, feed, open_session, run, submit

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.engine.session import Engine

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted", "two_partitions")]
# A value of each type.
PLAIN = {
    "BOOLEAN": "TRUE", "TINYINT": "CAST(1 AS TINYINT)", "SMALLINT": "CAST(1 AS SMALLINT)", "INT": "1", "BIGINT": "CAST(1 AS BIGINT)",
    "DECIMAL(10, 2)": "1.50", "FLOAT": "CAST(1.5 AS FLOAT)", "DOUBLE": "-0.0e0", "CHAR(2)": "'ab'", "STRING": "'ü'", "BINARY(2)": "x'0102'",
    "BYTES": "x'01'", "DATE": "DATE '2020-01-01'", "TIME(3)": "TIME '10:00:00.123'", "TIMESTAMP(3)": "TIMESTAMP '2020-01-01 00:00:00.123'",
    "TIMESTAMP_LTZ(3)": "CAST(TIMESTAMP '2020-01-01 00:00:00.123' AS TIMESTAMP_LTZ(3))",
}  # fmt: skip
OTHERS = {
    "INTERVAL DAY TO SECOND(3)": "INTERVAL '1 10:00:00.123' DAY TO SECOND(3)", "INTERVAL YEAR TO MONTH": "INTERVAL '1-2' YEAR TO MONTH",
    "ROW<a INT, t TIME(3)>": "CAST(ROW(1, TIME '10:00:00.123') AS ROW<a INT, t TIME(3)>)",
    "ARRAY<TIME(3)>": "ARRAY[TIME '10:00:00.123']", "ARRAY<ROW<t TIME(0)>>": "ARRAY[CAST(ROW(TIME '10:00:00') AS ROW<t TIME(0)>)]",
    "MAP<STRING, TIME(3)>": "MAP['a', TIME '10:00:00.123']",
}  # fmt: skip
VALUES = {**PLAIN, **OTHERS}
COLUMNS = {type_: f"c{i}" for i, type_ in enumerate(VALUES)}
# What is neither compared nor in a print table.
KEYS = [c for t, c in COLUMNS.items() if not t.startswith("MAP")]
SORTED = [COLUMNS[t] for t in PLAIN if not t.startswith(("BINARY", "BYTES"))]


def shown(column: str, call: str = "{}") -> str:
    """``call`` of a column, as text where a table can't have its type."""
    value = call.format(column)
    return f"CAST({value} AS STRING)" if column in [COLUMNS[t] for t in VALUES if t.startswith("INTERVAL")] else value


def declared(prefix: str = "") -> str:
    return ", ".join(f"{prefix}{c} {'STRING' if t.startswith('INTERVAL') else t}" for t, c in COLUMNS.items() if c in KEYS)


ALL, LISTED = ", ".join(map(shown, KEYS)), ", ".join(KEYS)
QUERIES = {
    "grouped": (f"{declared()}, n BIGINT", f"SELECT {ALL}, COUNT(*) FROM v GROUP BY {LISTED}"),
    "distincts": (declared(), f"SELECT DISTINCT {ALL} FROM v"),
    "greatest": (
        ", ".join(f"x{c} {t}, n{c} BIGINT" for t, c in COLUMNS.items() if c in SORTED),
        f"SELECT {', '.join(f'MAX({c}), COUNT(DISTINCT {c})' for c in SORTED)} FROM v",
    ),
    "firsts": (declared(), f"SELECT {', '.join(shown(c, 'FIRST_VALUE({})') for c in KEYS)} FROM v GROUP BY k"),
    "counted": ("n BIGINT, m BIGINT", f"SELECT {', '.join(f'COUNT(DISTINCT {c})' for c in KEYS[-2:])} FROM v"),
    "joined": ("k INT, j INT", f"SELECT v.k, w.k FROM v JOIN w ON {' AND '.join(f'v.{c} = w.{c}' for c in KEYS)}"),
    "held": (declared(), f"SELECT {', '.join(shown(c, 'v.{}') for c in KEYS)} FROM v JOIN w ON v.k = w.k"),
    "ranked": (
        f"k INT, {declared()}",
        f"SELECT k, {ALL} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {LISTED} ORDER BY {', '.join(SORTED)}, k DESC) AS n FROM v) WHERE n = 1",
    ),
}  # fmt: skip


def tables(options: str) -> str:
    cells = ", ".join(f"CASE WHEN k < 3 THEN {value} ELSE CAST(NULL AS {type_}) END AS {COLUMNS[type_]}" for type_, value in VALUES.items())
    sinks = "".join(
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'print', 'print-identifier' = '{name}');" for name, (columns, _) in QUERIES.items()
    )
    return (
        f"CREATE TABLE source (k INT) WITH ('connector' = 'filesystem', 'path' = 'read', 'format' = 'json'{options});"
        f"CREATE VIEW v AS SELECT k, {cells} FROM source; CREATE VIEW w AS SELECT k, {', '.join(KEYS)} FROM v; {sinks}"
    )


INSERTS = f"EXECUTE STATEMENT SET BEGIN {' '.join(f'INSERT INTO {name} {query};' for name, (_, query) in QUERIES.items())} END;"


def folded(emitted: list[str]) -> Counter[str]:
    rows: Counter[str] = Counter()
    for line in emitted:
        name, _, change = line.partition("> ")
        rows[f"{name} {change[3:-1]}"] += 1 if change[:2] in ("+I", "+U") else -1
    return +rows


@pytest.mark.slow
def test_a_stream_answers_as_a_batch(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "read").mkdir()
    emitted: list[str] = []
    session = open_session(tmp_path, tables(", 'source.monitor-interval' = '1 s'"), engine=engine, emit=emitted.append)
    job = submit(session, INSERTS)
    feed(tmp_path / "read", {"k": 1}, {"k": 2}, {"k": 3})
    catch_up(job)
    session.jobs.stop(job.id)
    job = submit(session, INSERTS)
    feed(tmp_path / "read", {"k": 1}, {"k": 4})
    catch_up(job)
    session.jobs.stop(job.id)
    batch: list[str] = []
    static = open_session(tmp_path, tables(""), engine=engine, emit=batch.append)
    run(static, f"SET 'execution.runtime-mode' = 'batch'; SET 'table.dml-sync' = 'true'; {INSERTS}")
    assert folded(emitted) == folded(batch)
    assert {line.partition("> ")[0] for line in batch} == set(QUERIES)
