"""The print connector: every row as a line on the session's output, as real Flink's prints it.

Spark turns the cells into text (the toString of Java's classes, which is what Flink prints); Python adds the row's kind.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import TYPE_CHECKING, ClassVar

from sqlstream.connectors.base import Connector, Write, plain_options
from sqlstream.connectors.local_rows import LocalRows
from sqlstream.core import options as option_rows
from sqlstream.core.changelog import KIND, Change, ChangelogMode, changes
from sqlstream.core.java import classes
from sqlstream.core.options import Option, OptionKind, Role, Support
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type


class Print(Connector):
    """A sink for looking at rows."""

    name = "print"
    summary = "Prints every row with its kind."
    example = "CREATE TABLE seen (item STRING, total BIGINT) WITH ('connector' = 'print');"
    is_sink = True
    shows_changes = True
    takes_any_change = True
    options = (
        Option("print-identifier", OptionKind.STRING, summary="Stands before every row, with '> '.", role=Role.TUNING),
        Option("standard-error", OptionKind.BOOLEAN, "false", "Print to standard error."),
        Option("sink.parallelism", OptionKind.INT, use=Support.NOTICE, why="rows are printed by one task"),
    )

    def check(self, table: Table) -> list[str]:
        return option_rows.check_options(self.name, plain_options(table), self.options)

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        return tuple(ChangelogMode)

    def write_stream(self, request: Write) -> DataStreamWriter:
        shown, emit = _texts(request), self._emitter(request)
        if request.real_time:
            return request.row_by_row(shown, _viewed(shown, emit))

        def show(batch: DataFrame, _: int) -> None:
            _show(_in_order(batch, request), emit)

        return request.in_batches(show, shown)

    def writes_in_real_time(self, table: Table, mode: ChangelogMode, *, in_order: bool) -> bool:
        return True

    def landed(self, request: Write, query: str, batch: int) -> bool | None:
        return False  # what was printed is kept nowhere

    def write_batch(self, request: Write) -> None:
        _show(_in_order(_texts(request), request), self._emitter(request))

    def _emitter(self, request: Write) -> Callable[[str], None]:
        options = request.table.options
        start = f"{options['print-identifier']}> " if options.get("print-identifier") else ""
        if option_rows.value(options, self.options, "standard-error"):
            return lambda line: print(start + line, file=sys.stderr, flush=True)
        return lambda line: request.emit(start + line)


def _texts(request: Write) -> DataFrame:
    columns = [f"{java_text(quote(c.name), c.type)} AS {quote(c.name)}" for c in request.table.persisted]
    return request.frame.selectExpr(*columns, *[c for c in request.frame.columns if c == KIND])


def _in_order(batch: DataFrame, request: Write) -> DataFrame:
    return batch if request.order is None else batch.repartition(1).sortWithinPartitions(quote(request.order))


def _show(frame: DataFrame, emit: Callable[[str], None]) -> None:
    for rows in LocalRows(frame).in_lists():
        for change in changes(rows, frame.columns):
            emit(printed_line(change))


def _viewed(frame: DataFrame, emit: Callable[[str], None]) -> str:
    """The id of targets in Java by which ``emit`` prints each row of ``frame``."""
    from pyspark.java_gateway import ensure_callback_server_started

    gateway = frame.sparkSession.sparkContext._gateway
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    viewer = _Viewer(emit, frame.columns)
    targets: str = classes(frame.sparkSession).realtime.ShownRows.begin(frame._jdf.schema(), viewer)
    return targets


class _Viewer:
    """Java's Consumer of the rows of all tasks: JSON of some rows of one."""

    class Java:
        implements: ClassVar = ["java.util.function.Consumer"]

    def __init__(self, emit: Callable[[str], None], columns: Sequence[str]) -> None:
        self._emit = emit
        self._columns = columns
        self._lock = threading.Lock()

    def accept(self, rows: str) -> None:
        with self._lock:
            for change in changes(map(tuple, json.loads(rows)), self._columns):
                self._emit(printed_line(change))


def printed_line(change: Change) -> str:
    """``+I[1, a, null]``."""
    return f"{change.kind.value}[{', '.join('null' if cell is None else cell for cell in change.row)}]"


def java_text(x: str, type_: Type, depth: int = 0) -> str:
    """SQL for the text of ``x`` as Java's toString gives it; NULL stays NULL at the top, and is ``null`` inside."""

    def inside(value: str, child: Type) -> str:
        return f"coalesce({java_text(value, child, depth + 1)}, 'null')"

    match type_.root:
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            text = _thousands(f"replace(CAST({x} AS STRING), ' ', 'T')")
            return f"concat({text}, 'Z')" if type_.root == "TIMESTAMP_LTZ" else _without_seconds(text)
        case "TIME":
            return _without_seconds(_thousands(f"CAST({x} AS STRING)"))
        case "BINARY" | "VARBINARY":
            octets = f"regexp_extract_all(hex({x}), '..', 0)"
            signed = f"CAST(CAST(conv(b{depth}, 16, 10) AS INT) - if(b{depth} >= '80', 256, 0) AS STRING)"
            return f"concat('[', array_join(transform({octets}, b{depth} -> {signed}), ', '), ']')"
        case "ARRAY":
            e = f"e{depth}"
            return f"concat('[', array_join(transform({x}, {e} -> {inside(e, type_.children[0])}), ', '), ']')"
        case "MAP" | "MULTISET":
            e = f"e{depth}"
            value = inside(f"{e}.value", type_.children[1]) if type_.root == "MAP" else f"CAST({e}.value AS STRING)"
            pair = f"concat({inside(f'{e}.key', type_.children[0])}, '=', {value})"
            return f"concat('{{', array_join(transform(map_entries({x}), {e} -> {pair}), ', '), '}}')"
        case "ROW":
            cells = (inside(f"{x}.{quote(n)}", c) for n, c in zip(type_.names, type_.children, strict=True))
            return f"if({x} IS NULL, NULL, concat('+I[', concat_ws(', ', {', '.join(cells)}), ']'))"
    return f"CAST({x} AS STRING)"


def _thousands(text: str) -> str:
    """Fractions of a second in groups of three digits, as java.time writes them."""
    fraction = f"substring_index({text}, '.', -1)"
    padded = f"rpad({fraction}, CAST(3 * ceil(length({fraction}) / 3) AS INT), '0')"
    return f"if(contains({text}, '.'), concat(substring_index({text}, '.', 1), '.', {padded}), {text})"


def _without_seconds(text: str) -> str:
    """java.time leaves out ``:00`` seconds without a fraction."""
    return f"if(endswith({text}, ':00') AND NOT contains({text}, '.'), left({text}, length({text}) - 3), {text})"
