"""Parts of a node's line in EXPLAIN, as Flink's plans write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan.properties import fields
from sqlstream.sql.expressions import ColumnRef, Expr
from sqlstream.sql.text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlstream.plan.nodes.base import Node
    from sqlstream.plan.nodes.columns import Named, NamedAggregate, SortKey
    from sqlstream.plan.nodes.windows import Window
    from sqlstream.sql.expressions import Frame


def listed(name: str, parts: Iterable[str], *, unless_empty: bool = False) -> tuple[str, ...]:
    """``name=[a, b]``, as one part of a line; none ``unless_empty`` where there is nothing."""
    text = ", ".join(parts)
    return () if unless_empty and not text else (f"{name}=[{text}]",)


def ttls(*kept: int | None) -> tuple[str, ...]:
    """For how long state is kept, where hints say so."""
    return listed("stateTtl", ("default" if ttl is None else duration(ttl) for ttl in kept)) if any(ttl is not None for ttl in kept) else ()


def where(condition: Expr | None) -> str:
    """A condition."""
    return "true" if condition is None else to_text(condition)


def order(keys: Iterable[SortKey]) -> str:
    """``a ASC, b DESC``."""
    return ", ".join(f"{k.name} {'DESC' if k.descending else 'ASC'}" for k in keys)


def names(node: Node) -> str:
    """The names of a node's columns."""
    return ", ".join(f.name for f in fields(node))


def aliased(named: Named) -> str:
    """``expr AS name``, or the name alone."""
    text = to_text(named.expr)
    return text if isinstance(named.expr, ColumnRef) and named.expr.name == named.name else f"{text} AS {named.name}"


def aggregate(named: NamedAggregate) -> str:
    """``COUNT(*) AS name``."""
    return f"{to_text(named.call)} AS {named.name}"


def frame_text(frame: Frame) -> str:
    """A frame of OVER: ``ROWS BETWEEN 2 PRECEDING AND CURRENT ROW``."""
    first, last = (_bound(b, side) for b, side in ((frame.first, "PRECEDING"), (frame.last, "FOLLOWING")))
    return f" {'ROWS' if frame.rows else 'RANGE'} BETWEEN {first} AND {last}"


def _bound(bound: int | None, side: str) -> str:
    if bound is None:
        return f"UNBOUNDED {side}"
    return "CURRENT ROW" if bound == 0 else f"{abs(bound)} {'PRECEDING' if bound < 0 else 'FOLLOWING'}"


def window_text(window: Window) -> str:
    """A window: ``TUMBLE(time_col=[ts], size=[10 s])``."""
    lengths = zip(window.kind.plan_names, (window.size, window.slide), strict=False)
    parts = [f"time_col=[{window.time}]", *(f"{name}=[{duration(length)}]" for name, length in lengths)]
    if window.keys:
        parts.append(f"partition keys=[{', '.join(window.keys)}]")
    if window.offset:
        parts.append(f"offset=[{duration(window.offset)}]")
    return f"{window.kind.name}({', '.join(parts)})"


def duration(millis: int) -> str:
    """Milliseconds in the largest unit of which they are a whole number."""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)):
        if millis % size == 0:
            return f"{millis // size} {unit}"
    return f"{millis} ms"
