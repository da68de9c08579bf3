"""Aggregates over groups, windows and OVER frames, and ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.plan.nodes.rows import SortKey, Unary

if TYPE_CHECKING:
    from sqlstream.plan.nodes.windows import Window
    from sqlstream.sql.expressions import AggregateCall, Frame


@dataclass(frozen=True)
class NamedAggregate:
    """An aggregate call and the name of its column."""

    name: str
    call: AggregateCall


@dataclass(frozen=True)
class GroupAggregate(Unary):
    """One row for each group, updated as rows arrive. ``keys`` are columns of the input; output: keys, then aggregates.

    ``upserts``: the nodes above take each row as a replacement of that of its key, and need not know what it was. ``ttl``: for how many
    milliseconds idle state is kept, if a hint says so (0: for ever).
    """

    keys: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...]
    upserts: bool = False
    ttl: int | None = None


@dataclass(frozen=True)
class WindowAggregate(Unary):
    """One row for each group and window, emitted when the window closes. The input has the columns of ``window``'s TVF.

    ``keys`` as in GroupAggregate; those among them that are window columns are ``start``, ``end`` and ``time`` (the input's
    names, ``time`` is always there, also where it is not a key). ``attached``: the windows are those of an operator below, and
    have closed when its rows arrive. Output: keys, then aggregates.
    """

    window: Window
    zone: str
    keys: tuple[str, ...]
    aggregates: tuple[NamedAggregate, ...]
    start: str
    end: str
    time: str
    attached: bool = False


@dataclass(frozen=True)
class Over(Unary):
    """The input's columns and those of ``aggregates`` over the rows of ``frame`` around each row in ``order``, within ``partition``."""

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    aggregates: tuple[NamedAggregate, ...]
    frame: Frame


@dataclass(frozen=True)
class WindowRank(Unary):
    """The rows of ranks ``first`` to ``last`` in ``order``, of each ``partition`` and window, emitted when the window closes.

    Of equal rows the earlier comes first, or the later where ``latest``. Output: the input's columns, then ``rank`` (BIGINT, from 1).
    """

    window: Window
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    rank: str
    first: int
    last: int
    start: str
    end: str
    time: str
    latest: bool = False


@dataclass(frozen=True)
class Rank(Unary):
    """The rows of ranks ``first`` to ``last`` in ``order`` of each ``partition``, updated as rows arrive: Top-N and deduplication.

    Of equal rows the earlier comes first, or the later where ``latest``. ``once``: the first row of a partition to arrive is final. ``ttl``:
    for how many milliseconds idle state is kept (0: for ever). Output: the input's columns, then ``rank`` (BIGINT, from 1), if it
    has a name.
    """

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    rank: str | None
    first: int
    last: int
    latest: bool = False
    once: bool = False
    ttl: int | None = None
