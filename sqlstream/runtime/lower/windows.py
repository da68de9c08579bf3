"""Window table-valued functions: the windows of a row as SQL over milliseconds of wall time.

A window is known by its last millisecond, ``window_time``: its bounds are computed from that, so that an aggregate has one column to
group by and to close by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.hidden import hidden
from sqlstream.plan.nodes import WINDOW_END, WINDOW_START, WINDOW_TIME, Window, WindowTvf
from sqlstream.plan.properties import field, fields
from sqlstream.sql.functions.base import instant, local
from sqlstream.sql.generated_names import bound
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

# The name that Spark gives to the column of sessions.
SESSION = "session_window"
_START, _END = hidden("start"), hidden("end")
# A row without a time belongs to no window: Flink fails the job, and so do we.
NO_TIME = "raise_error('RowTime field should not be null, please convert it to a non-null long value.')"


@dataclass(frozen=True)
class WindowLowering:
    """How rows come into the windows of a function: ``assign`` adds the columns _START and _END to a frame, a row for each window of a row, whose
    wall time is ``time``. ``start`` is SQL for the start of the window that ends at ``end``, whose last millisecond is ``last``.
    """

    assign: Callable[[Window, DataFrame, list[str], str], DataFrame]
    start: Callable[[Window, str, str], str]


def assigned(node: WindowTvf, frame: DataFrame) -> DataFrame:
    """``frame`` with window_start, window_end and window_time: a row for each window of a row."""
    from pyspark.sql import functions as F

    window = node.window
    kind = field(node.input, window.time).type
    if window.kind.merges:
        # Where a session begins and ends is known when it closes; until then only its rows' own times are.
        unknown = [F.expr("CAST(NULL AS TIMESTAMP)").alias(name) for name in (WINDOW_START, WINDOW_END)]
        own = F.expr(f"coalesce({quote(window.time)}, CAST({NO_TIME} AS TIMESTAMP))").alias(WINDOW_TIME)
        return frame.select(*[F.col(quote(f.name)) for f in fields(node.input)], *unknown, own)
    columns = [quote(f.name) for f in fields(node.input)]
    time = f"unix_millis({local(quote(window.time), kind, node.zone)})"
    closing = instant(f"timestamp_millis({_END} - 1L)", kind, node.zone)
    return (
        LOWERINGS[window.kind.name]
        .assign(window, frame, columns, time)
        .select(
            *columns,
            F.expr(f"timestamp_millis({_START})").alias(WINDOW_START),
            F.expr(f"timestamp_millis({_END})").alias(WINDOW_END),
            F.expr(closing).alias(WINDOW_TIME),
        )
    )


def _of_one_size(window: Window, frame: DataFrame, columns: list[str], time: str) -> DataFrame:
    """A window begins every slide."""
    from pyspark.sql import functions as F

    latest = frame.select("*", F.expr(f"coalesce({_floor(time, window.slide, window.offset)}, {NO_TIME})").alias(_START))
    count = -(-window.size // window.slide)
    if count > 1:
        every = ", ".join(f"{_START} - {i * window.slide}L" for i in range(count))
        counted = bound(lambda i: f"{_START} - {i} * {window.slide}L")
        starts = f"array({every})" if count <= 64 else f"transform(sequence(0, {count - 1}), {counted})"
        latest = latest.select(*columns, F.explode(F.expr(starts)).alias(_START))
    if window.size % window.slide:
        latest = latest.where(f"{_START} + {window.size}L > {time}")
    return latest.select("*", F.expr(f"{_START} + {window.size}L").alias(_END))


def _growing(window: Window, frame: DataFrame, columns: list[str], time: str) -> DataFrame:
    """Windows of all multiples of the slide, up to the size, begin together every size."""
    from pyspark.sql import functions as F

    begun = frame.select("*", F.expr(f"coalesce({_floor(time, window.size, window.offset)}, {NO_TIME})").alias(_START))
    first = f"CAST(({time} - {_START}) DIV {window.slide} + 1 AS INT)"
    ends = f"transform(sequence({first}, {window.size // window.slide}), {bound(lambda i: f'{_START} + {i} * {window.slide}L')})"
    return begun.select(*columns, _START, F.explode(F.expr(ends)).alias(_END))


def _size_before(window: Window, _last: str, end: str) -> str:
    return f"({end} - make_dt_interval(0, 0, 0, {window.size // 1000}.{window.size % 1000:03d}))"


def _multiple_before(window: Window, last: str, _end: str) -> str:
    return f"timestamp_millis({_floor(f'unix_millis({last})', window.size, window.offset)})"


# Of all window functions but those that merge windows.
LOWERINGS = {
    "TUMBLE": WindowLowering(_of_one_size, _size_before),
    "HOP": WindowLowering(_of_one_size, _size_before),
    "CUMULATE": WindowLowering(_growing, _multiple_before),
}


def sessions(window: Window, time: str) -> tuple[Column, str, str]:
    """The session that a row opens as a grouping column, and SQL for the first and the last millisecond of a merged one.

    Spark closes a session when its end is reached; a millisecond earlier, Flink's rule, is reached by times that are one earlier.
    """
    from pyspark.sql import functions as F

    grouping = F.session_window(F.col(quote(time)), f"{window.size} milliseconds")
    return grouping, f"({SESSION}.start + INTERVAL '0.001' SECOND)", f"{SESSION}.end"


def bounds(window: Window, last: str) -> tuple[str, str]:
    """SQL for the start and the end of the window whose last millisecond, as wall time, is ``last``."""
    end = f"({last} + INTERVAL '0.001' SECOND)"
    return LOWERINGS[window.kind.name].start(window, last, end), end


def _floor(time: str, size: int, offset: int) -> str:
    return f"({time} - pmod({time} - {offset}L, {size}L))"
