"""Rows for other programs: what ``--output csv`` and ``--output json`` print. Of a streaming SELECT each row has its ``op``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.session import export, results

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTPUTS = ("tableau", "csv", "json")


def lines(outcome: results.Rows | results.Stream, output: str) -> Iterator[str]:
    """The lines of an answer, as its rows come."""
    rows = ((None, row) for row in outcome.rows) if isinstance(outcome, results.Rows) else ((c.kind.value, c.row) for c in outcome.changes)
    if output == "json":
        yield from (export.json_line(outcome.columns, row, op) for op, row in rows)
        return
    # A line of CSV ends with CR LF; the screen writes the LF.
    op_column = [] if isinstance(outcome, results.Rows) else [export.op_name(outcome.columns)]
    yield export.csv_line([*op_column, *(c.name for c in outcome.columns)]) + "\r"
    for op, row in rows:
        yield export.csv_line([*([] if op is None else [op]), *row]) + "\r"
