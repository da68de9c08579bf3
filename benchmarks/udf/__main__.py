"""``python -m benchmarks.udf --rows 4000000 --runs 3``: functions in SQL beside PySpark's own, over the same rows in the same Spark session.

Each case reads one parquet table, calls one function and gives the rows to Spark's noop sink: by an INSERT in batch mode, parsing and planning
included, and as a DataFrame written by hand, with ``pandas_udf`` for whole columns and ``udf`` for rows. The two take turns; the
best run of each counts. Printed is how much of the hand-written speed SQL reaches.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.udf import functions
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

DECLARATIONS = """
CREATE TEMPORARY TABLE orders (name STRING, price DOUBLE, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'parquet');
CREATE TEMPORARY TABLE nothing (x {type}) WITH ('connector' = 'blackhole');
CREATE TEMPORARY SYSTEM FUNCTION measured AS 'benchmarks.udf.functions.{name}' LANGUAGE PYTHON;
"""


@dataclass(frozen=True)
class Case:
    """One function: its name in ``functions``, the columns that it takes, its type, and whether it takes whole columns."""

    name: str
    columns: tuple[str, ...]
    type: str
    vectorised: bool

    @property
    def plain(self) -> Callable[..., Any]:
        return getattr(functions, f"{self.name}_of")  # type: ignore[no-any-return]


CASES = (
    Case("total", ("price", "n"), "DOUBLE", True),
    Case("initial", ("name",), "STRING", True),
    Case("margin", ("price", "n"), "DOUBLE", False),
    Case("tag", ("name", "n"), "STRING", False),
)


def main(argv: list[str] | None = None) -> int:
    """Measure and print; the exit code says whether the functions over whole columns reach ``--least``."""
    parser = argparse.ArgumentParser(prog="benchmarks.udf", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--least", type=float, default=0.8, help="the least ratio for whole columns")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        options = {"table.local-time-zone": "UTC", "execution.runtime-mode": "batch", "table.dml-sync": "true"}
        session = Session(Path(folder), options=options, notify=lambda line: None)
        try:
            spark = session.context.engine.engine.spark
            columns = "concat('customer ', id % 1000) AS name", "CAST(id % 977 AS DOUBLE) AS price", "id % 13 AS n"
            spark.range(arguments.rows).selectExpr(*columns).write.parquet(f"{folder}/orders")
            ratios = [_measured(case, session, spark, f"{folder}/orders", arguments.runs, arguments.rows) for case in CASES]
        finally:
            session.close()
    return 0 if all(r >= arguments.least for c, r in zip(CASES, ratios, strict=True) if c.vectorised) else 1


def _measured(case: Case, session: Session, spark: SparkSession, path: str, runs: int, rows: int) -> float:
    list(session.run(DECLARATIONS.format(path=path, type=case.type, name=case.name)))
    insert = f"INSERT INTO nothing SELECT measured({', '.join(case.columns)}) FROM orders"
    frame = _by_hand(case, spark, path)
    sql, hand = [], []
    for _ in range(runs + 1):
        sql.append(_seconds(lambda: list(session.run(insert))))
        hand.append(_seconds(lambda: frame.write.format("noop").mode("overwrite").save()))
    list(session.run("DROP TEMPORARY TABLE orders; DROP TEMPORARY TABLE nothing; DROP TEMPORARY SYSTEM FUNCTION measured"))
    # The first runs start Python's workers.
    ours, theirs = min(sql[1:]), min(hand[1:])
    kind = "columns" if case.vectorised else "rows"
    shown = f"{case.name:8} {kind:8} sqlstream {ours:6.2f} s   PySpark {theirs:6.2f} s   {rows / ours:12,.0f} rows/s"
    print(f"{shown}   ratio {theirs / ours:.2f}", flush=True)
    return theirs / ours


def _by_hand(case: Case, spark: SparkSession, path: str) -> DataFrame:
    from pyspark.sql import functions as F

    made: Any = F.pandas_udf(case.plain, case.type) if case.vectorised else F.udf(case.plain, case.type, useArrow=False)
    return spark.read.parquet(path).select(made(*case.columns).alias("x"))


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
