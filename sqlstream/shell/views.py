"""Outcomes as text. In a terminal the result modes ``table`` and ``changelog`` have the whole screen; else they print as ``tableau`` does."""

from __future__ import annotations

import os
import shutil
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.core.changelog import RowKind
from sqlstream.core.settings import EXPANDED
from sqlstream.session import results
from sqlstream.shell import delimited, fitting, prose, tableau
from sqlstream.shell.records import records, titled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlstream.core.changelog import Change
    from sqlstream.plan.nodes import Field
    from sqlstream.session.results import Figures, Outcome, Rows, Stream
    from sqlstream.shell import live
    from sqlstream.shell.screen import Screen
    from sqlstream.sql.types import Type

DEFAULT_MAX_COLUMN_WIDTH = 30
# Flink 2 reads the first key only; older versions had the second.
MAX_COLUMN_WIDTH = ("table.display.max-column-width", "sql-client.display.max-column-width")
RESULT_MODE = "sql-client.execution.result-mode"
MAX_ROWS = "sql-client.execution.max-table-result.rows"
# Rows that stay on the terminal when a full screen is left.
KEPT_BEHIND = 100
# The widest lines of sentences, as they are read.
PROSE_WIDTH = 110
EXPANDED_BEHIND = 5
FIGURES_SECONDS = 1.0
# The widest column of figures on the whole screen.
FIGURES_WIDTH = 40
PRINT_TIME_COST = "sql-client.display.print-time-cost"
OP = "op"
OP_WIDTH = max(len(kind.value) for kind in RowKind)
_FIXED_WIDTHS = {"TINYINT": 4, "SMALLINT": 6, "INT": 11, "BIGINT": 20, "BOOLEAN": 5, "DATE": 10}
# The text of these without a fraction; a fraction adds a point and its digits.
_TIME_WIDTHS = {"TIME": 8, "TIMESTAMP": 19, "TIMESTAMP_LTZ": 19}


def show(
    outcome: Outcome, screen: Screen, options: Mapping[str, str], started: float, stopped: Callable[[], bool], stop: Callable[[], None] = lambda: None
) -> None:
    """Print ``outcome``. Its statement began at ``started`` (``time.monotonic``); ``stopped`` tells of an interrupt, ``stop`` ends a query."""
    screen.notices(outcome.notices)
    if screen.output != "tableau" and isinstance(outcome, results.Rows | results.Stream):
        for line in delimited.lines(outcome, screen.output):
            screen.emit(line)
        return
    match outcome:
        case results.Stream() if screen.interactive and _mode(options) != "tableau":
            _full_screen(outcome, screen, options, stop, stopped)
        case results.Figures(rows=[_, *_]) if screen.interactive and _mode(options) != "tableau":
            _full_screen_of_figures(outcome, screen, options, stopped)
        case results.Advice() if screen.interactive:
            for line in prose.advice(outcome, shutil.get_terminal_size().columns):
                screen.emit(line)
        case results.Rows():
            _rows(outcome, screen, options, started)
        case results.Stream():
            _stream(outcome, screen, options, started, stopped)
        case results.Text():
            lines = outcome.lines.rstrip("\n").split("\n")
            if outcome.is_prose:
                room = shutil.get_terminal_size().columns if screen.to_terminal else PROSE_WIDTH
                lines = prose.within(min(room, PROSE_WIDTH), lines)
            screen.emit("\n".join(lines))
        case results.Submitted():
            screen.info("Submitting SQL update statement to the cluster...")
            screen.info("SQL update statement has been successfully submitted to the cluster:")
            screen.notify(f"Job ID: {outcome.job_id}")
        case results.Completed():
            screen.info("Complete execution of the SQL update statement.")
        case results.Cleared():
            screen.clear()
        case results.Exit() | results.HeldBack() | results.Declined():
            pass
        case _:
            screen.info("Execute statement succeeded.")


def _mode(options: Mapping[str, str]) -> str:
    return options.get(RESULT_MODE, "table").lower()


def _full_screen(outcome: Stream, screen: Screen, options: Mapping[str, str], stop: Callable[[], None], left: Callable[[], bool]) -> None:
    """A result on the whole screen; when the user quits, its last rows stay behind."""
    from sqlstream.shell import live
    from sqlstream.shell.fullscreen import FullScreen

    names = [c.name for c in outcome.columns]
    types: list[Type | None] = [c.type for c in outcome.columns]
    log = _mode(options) == "changelog"
    result = live.Log() if log else live.LiveTable(int(options.get(MAX_ROWS, "1000000")))
    if log:
        names, types = [OP, *names], [None, *types]
    limit = _max_column_width(options)
    with screen.held():
        error = FullScreen(names, result, limit, types=types, colour=_coloured(), reasons=outcome.reasons).show(outcome.changes, stop, left)
    rows = result.rows
    kept = KEPT_BEHIND if not _is_expanded(tableau.content_widths(names, rows[-KEPT_BEHIND:], limit), options) else EXPANDED_BEHIND
    for line in _fitted(names, types, rows[-kept:], limit, options):
        screen.emit(line)
    if error is not None and not rows:
        raise error
    screen.emit(tableau.in_set(len(rows)) + (f", the last {kept} of them shown" if len(rows) > kept else ""))
    if error is not None:
        raise error


def _full_screen_of_figures(outcome: Figures, screen: Screen, options: Mapping[str, str], left: Callable[[], bool]) -> None:
    """Figures on the whole screen, asked for again each second; the last ones stay behind."""
    from sqlstream.shell import live
    from sqlstream.shell.fullscreen import FullScreen

    ended = threading.Event()

    def snapshots() -> Iterator[tuple[live.Row, ...]]:
        yield outcome.rows
        while not ended.wait(FIGURES_SECONDS):
            yield outcome.again()

    latest = live.Snapshot()
    with screen.held():
        error = FullScreen([c.name for c in outcome.columns], latest, FIGURES_WIDTH, colour=_coloured()).show(snapshots(), ended.set, left)
    _rows(replace(outcome, rows=tuple(latest.rows)), screen, options, 0)
    if error is not None:
        raise error


def _coloured() -> bool:
    return "NO_COLOR" not in os.environ


def type_width(type_: Type, unbounded: int) -> int:
    """The width of a streamed column, fixed before its first row; ``unbounded`` for a text of any length."""
    width = unbounded
    if type_.root in _FIXED_WIDTHS:
        width = _FIXED_WIDTHS[type_.root]
    elif type_.root == "DECIMAL":
        width = type_.args[0] + 2  # sign and point
    elif type_.root in _TIME_WIDTHS:
        width = _TIME_WIDTHS[type_.root] + (type_.args[0] + 1 if type_.args[0] else 0)
    return max(width, len(tableau.NULL)) if type_.nullable else width


def _rows(outcome: Rows, screen: Screen, options: Mapping[str, str], started: float) -> None:
    limit = _max_column_width(options) if outcome.query else None
    names, types = [c.name for c in outcome.columns], [c.type for c in outcome.columns]
    lines: Iterable[str]
    if not screen.to_terminal:
        lines = tableau.table(names, outcome.rows, limit)
    elif outcome.is_prose and _expanded(options) == "auto":
        ((text,),) = outcome.rows
        lines = prose.within(shutil.get_terminal_size().columns, map(tableau.escaped, tableau.text(text).split("\n")))
    else:
        lines = _fitted(names, types, outcome.rows, limit, options, blank=outcome.blank)
    for line in lines:
        screen.emit(line)
    screen.emit(tableau.in_set(len(outcome.rows)) + (_time_cost(options, started) if outcome.query else ""))


def _fitted(
    names: Sequence[str],
    types: Sequence[Type | None],
    rows: Sequence[live.Row],
    limit: int | None,
    options: Mapping[str, str],
    *,
    blank: bool = False,
) -> Iterator[str]:
    """Rows as the terminal has room for them, or as the user wants them. ``limit``: they are a query's, each on one line of a table. ``blank``: see
    Rows.
    """
    width, wanted = shutil.get_terminal_size().columns, _expanded(options)
    if wanted == "on":
        return records(names, types, rows, width, blank=blank)
    if limit is not None:
        names, rows = [tableau.escaped(name) for name in names], tuple(map(tableau.escaped_row, rows))
    return tableau.table(names, rows, limit) if wanted == "off" else fitting.lines(names, types, rows, width, limit, blank=blank)


def _expanded(options: Mapping[str, str]) -> str:
    return options.get(EXPANDED, "auto").lower()


def _stream(outcome: Stream, screen: Screen, options: Mapping[str, str], started: float, stopped: Callable[[], bool]) -> None:
    cell, row = (tableau.escaped, tableau.escaped_row) if screen.to_terminal else (str, tuple)
    names = [OP, *(cell(c.name) for c in outcome.columns)]
    limit = _max_column_width(options)
    floors = tableau.content_widths(names, ())
    limits = [OP_WIDTH, *(max(f, type_width(c.type, limit)) for f, c in zip(floors[1:], outcome.columns, strict=True))]
    widths = _streamed_widths(limits, floors, outcome.columns, options) if screen.to_terminal else limits
    for line in () if widths is None else tableau.head(names, widths):
        screen.emit(line)
    count = 0
    for change in outcome.changes:
        count += 1
        cells = (change.kind.value, *row(change.row))
        for line in _change_expanded(change, outcome.columns) if widths is None else fitting.cut_row(cells, widths, limits):
            screen.emit(line)
    terminated = stopped()
    if count and not terminated and widths is not None:
        screen.emit(tableau.border(widths))
    screen.emit(tableau.received(count, terminated=terminated) + _time_cost(options, started))


def _streamed_widths(limits: list[int], floors: list[int], columns: Sequence[Field], options: Mapping[str, str]) -> list[int] | None:
    """The widths of a streamed table on this terminal, those of texts at least ``floors``; None: its rows are expanded."""
    wanted = _expanded(options)
    if wanted != "auto":
        return None if wanted == "on" else limits
    least = fitting.least_widths(limits, floors, [None, *(c.type for c in columns)])
    return fitting.shrunk(limits, least, shutil.get_terminal_size().columns)


def _is_expanded(widths: Sequence[int], options: Mapping[str, str]) -> bool:
    wanted = _expanded(options)
    return wanted == "on" or (wanted == "auto" and not fitting.fits(widths, shutil.get_terminal_size().columns))


def _change_expanded(change: Change, columns: Sequence[Field]) -> Iterator[str]:
    width = shutil.get_terminal_size().columns
    return titled(change.kind.value, [c.name for c in columns], [c.type for c in columns], change.row, width)


def _max_column_width(options: Mapping[str, str]) -> int:
    width = next((options[key] for key in MAX_COLUMN_WIDTH if key in options), "")
    return int(width) if width.isdigit() else DEFAULT_MAX_COLUMN_WIDTH


def _time_cost(options: Mapping[str, str], started: float) -> str:
    if options.get(PRINT_TIME_COST, "true").lower() == "false":
        return ""
    return f" ({time.monotonic() - started:.2f} seconds)"
