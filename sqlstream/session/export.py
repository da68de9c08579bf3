"""Rows for other programs: a result as CSV or JSON lines, and the last result that was shown, as a file.

CSV follows RFC 4180, with a header; NULL is nothing, an empty text ``""``. JSON is one object per line. Changes have their kind as ``op``
(see ``op_name``).
"""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlstream.core.changelog import Change, Nested, RowKind
from sqlstream.core.errors import NotSupported
from sqlstream.sql.types import NESTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from sqlstream.plan.nodes import Field

FORMATS = ("csv", "json", "parquet")
OP = "op"
_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE")
_JSON_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


@dataclass
class LastResult:
    """The last rows of a SELECT that were shown, ``limit`` of them at most. ``forgotten``: there were more. ``failed``: others are missing."""

    columns: tuple[Field, ...]
    limit: int
    changes: deque[Change] = field(default_factory=deque)
    forgotten: int = 0
    failed: bool = False

    def passing(self, changes: Iterator[Change]) -> Iterator[Change]:
        """``changes``, which are kept as they pass."""
        try:
            for change in changes:
                if len(self.changes) >= self.limit:
                    self.forgotten += 1
                    if self.changes:
                        self.changes.popleft()
                if self.limit:
                    self.changes.append(change)
                yield change
        except Exception:
            self.failed = True
            raise

    @property
    def updates(self) -> bool:
        """Whether rows changed."""
        return any(change.kind is not RowKind.INSERT for change in self.changes)


def csv_line(cells: Sequence[str | None]) -> str:
    """A record, without its line end."""
    return ",".join(map(_csv_cell, cells))


def json_line(columns: Sequence[Field], row: Sequence[str | None], op: str | None = None) -> str:
    """An object: numbers, booleans and nested values as such, all else as the text that the client shows."""
    pairs = [] if op is None else [(op_name(columns), json.dumps(op))]
    pairs += [(c.name, _json_value(c, cell)) for c, cell in zip(columns, row, strict=True)]
    return "{" + ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {value}" for name, value in pairs) + "}"


def op_name(columns: Sequence[Field]) -> str:
    """The name of the column of a change's kind: ``op``, after underscores where a column of the result has that name."""
    names, op = {c.name for c in columns}, OP
    while op in names:
        op = f"_{op}"
    return op


def _csv_cell(cell: str | None) -> str:
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if not cell or any(c in cell for c in ',"\r\n') else cell


def _json_value(column: Field, cell: str | None) -> str:
    if cell is None:
        return "null"
    if isinstance(cell, Nested):
        return cell.json
    if column.type.root == "VARIANT":
        return cell  # its text is JSON
    if column.type.root == "BOOLEAN":
        return cell.lower()
    if column.type.root in _NUMBERS and _JSON_NUMBER.fullmatch(cell):
        return cell
    return json.dumps(cell, ensure_ascii=False)


def write(last: LastResult, path: Path, format_: str, zone: str, spark: Callable[[], SparkSession | None]) -> int:
    """Write what is kept to the new file ``path``; how many rows. Raises NotSupported, OSError."""
    if format_ == "parquet":
        _parquet(last, path, zone, spark())
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(_lines(last, format_))
    return len(last.changes)


def _lines(last: LastResult, format_: str) -> Iterator[str]:
    op = last.updates
    if format_ == "json":
        for change in last.changes:
            yield json_line(last.columns, change.row, change.kind.value if op else None) + "\n"
        return
    yield csv_line([*([op_name(last.columns)] if op else []), *(c.name for c in last.columns)]) + "\r\n"
    for change in last.changes:
        yield csv_line([*([change.kind.value] if op else []), *change.row]) + "\r\n"


def _parquet(last: LastResult, path: Path, zone: str, spark: SparkSession | None) -> None:
    nested = [c.name for c in last.columns if c.type.root in NESTED]
    if nested:
        raise NotSupported(f"Parquet of the nested column '{nested[0]}' is not supported.", hint="EXPORT LAST TO 'file' FORMAT json.")
    if spark is None:
        raise NotSupported("Parquet is written by Spark, which has not started.", hint="A SELECT starts it; CSV and JSON are written without it.")
    from pyarrow import parquet

    op = [op_name(last.columns)] if last.updates else []
    rows = [[*([change.kind.value] if op else []), *change.row] for change in last.changes]
    # Two columns may have one name.
    numbers = [f"c{i}" for i in range(len(op) + len(last.columns))]
    cast = [*numbers[: len(op)], *(_cast(c, n, zone) for c, n in zip(last.columns, numbers[len(op) :], strict=True))]
    frame = spark.createDataFrame(rows, ", ".join(f"{n} STRING" for n in numbers)).selectExpr(*cast)
    parquet.write_table(frame.toArrow().rename_columns([*op, *(c.name for c in last.columns)]), path)


def _cast(column: Field, name: str, zone: str) -> str:
    match root := column.type.root:
        case "TIMESTAMP":
            return f"CAST({name} AS TIMESTAMP_NTZ)"
        case "TIMESTAMP_LTZ":
            return f"to_utc_timestamp({name}, '{zone}')"
        case "DECIMAL":
            return f"CAST({name} AS DECIMAL({', '.join(map(str, column.type.args))}))"
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT" | "FLOAT" | "DOUBLE" | "BOOLEAN" | "DATE":
            return f"CAST({name} AS {root})"
    return name
