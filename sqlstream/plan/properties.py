"""Properties of nodes. A node answers them itself, from those of its inputs (``plan/nodes/base``); here they are asked for, and computed once."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast

from sqlstream.core.changelog import ChangelogMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlstream.plan.nodes.base import Node
    from sqlstream.plan.nodes.columns import Field
    from sqlstream.plan.nodes.windows import Windowing

T = TypeVar("T")


def once(of_node: Callable[[Node], T]) -> Callable[[Node], T]:
    """``of_node``, computed once for each node: a node never changes, and those above ask for it again and again."""
    name = f"${of_node.__name__}"

    @wraps(of_node)
    def cached(node: Node) -> T:
        kept = node.__dict__
        if name not in kept:
            kept[name] = of_node(node)
        return cast("T", kept[name])

    return cached


@once
def fields(node: Node) -> tuple[Field, ...]:
    """The columns of ``node``'s output, in order: names, types, time attributes."""
    return node.output()


def field(node: Node, name: str) -> Field:
    """The column ``name`` of ``node``."""
    return next(f for f in fields(node) if f.name == name)


@once
def changelog_mode(node: Node) -> ChangelogMode:
    """The kinds of rows that ``node`` emits. What is computed from static input is final."""
    return ChangelogMode.APPEND if static(node) else node.changelog()


def updating_node(node: Node) -> Node | None:
    """The node nearest to the sources that makes ``node``'s rows change; None where they don't."""
    if not changelog_mode(node).updates:
        return None
    for source in node.inputs:
        if (cause := updating_node(source)) is not None:
            return cause
    return node


@once
def upsert_key(node: Node) -> tuple[str, ...] | None:
    """The columns that identify the earlier row that an update replaces; None where ``node``'s output doesn't have them.

    The key is empty for an aggregate over all rows, which has one row.
    """
    return node.key()


@once
def task_keys(node: Node) -> tuple[frozenset[str], ...] | None:
    """The values by which the rows of ``node`` are spread over Spark's tasks: rows that are equal in all of them come from one, in order.

    Each is a set of columns that have it; the set is empty where ``node``'s output lacks it. There are none where one task has all rows. None where
    that is not known, as of rows that a source gives in any order.
    """
    return node.task_keys()


@once
def unchecked(node: Node) -> Mapping[str, bool]:
    """The columns whose type says NOT NULL and whose values nobody looks at, those of sources and what is computed of them: each with whether Flink
    makes up a value in the place of a NULL.

    Flink trusts a source's NOT NULL until a sink, or whoever runs a SELECT, finds a NULL. A projection that computes anything turns it into a value
    of its own on the way there (-1, an empty text), one that only picks columns keeps it.
    """
    promised = {f.name for f in fields(node) if f.type.holds_not_null}
    return {name: made_up for name, made_up in node.trusted().items() if name in promised}


def windowing(node: Node) -> Windowing | None:
    """The window of ``node``'s rows; None where they have none, or its columns were left out."""
    return node.windowing()


def window_column(node: Node) -> str | None:
    """A column whose order is that in which the windows of rows close, if these are emitted as they do: Flink emits them in it."""
    found = windowing(node)
    return found.closing() if found is not None and found.attached else None


@once
def bounded(node: Node) -> bool:
    """Whether the node's input ends by itself."""
    return node.is_bounded()


@once
def static(node: Node) -> bool:
    """Whether all of the node's input is there from the start, so that no streaming query is needed."""
    return node.is_static()


def state_ttl(node: Node) -> int:
    """For how many milliseconds ``node`` itself keeps the state of a key after its last row; 0 for ever."""
    return node.ttl_ms()


def awaits_watermark(node: Node) -> bool:
    """Whether ``node`` itself emits rows when the watermark passes them or closes their windows."""
    return node.awaits_watermark()


@once
def watermark_lag(node: Node) -> int:
    """By how many milliseconds the times of ``node``'s rows can be behind the watermark though they are not late: operators above wait that much
    longer."""
    return max((watermark_lag(i) for i in node.inputs), default=0) + node.lag()


def on_time(node: Node) -> bool:
    """Whether anything in ``node`` is by event time, or in windows of processing time."""
    return any(n.by_time for n in walk(node))


def walk(node: Node) -> list[Node]:
    """``node`` and all below it, tables that are looked up among them."""
    nodes, waiting = [], [node]
    while waiting:
        nodes.append(top := waiting.pop())
        waiting += reversed((*top.inputs, *top.tables))
    return nodes


def idle_timeout(node: Node, default: int) -> int:
    """After how many milliseconds without rows a split below ``node`` no longer holds the watermark back; 0: never."""
    # Who lists jobs needs no connectors.
    from sqlstream.connectors import find_connector
    from sqlstream.plan.nodes import scans

    said = [find_connector(scan.table.connector).idle_timeout(scan.table) for scan in scans(node)]
    return max((default if ms is None else ms for ms in said), default=default)
