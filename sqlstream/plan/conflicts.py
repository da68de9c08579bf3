"""Rows of one primary key of a sink that are not one row of its query, and what INSERT .. ON CONFLICT says of them.

A query's upsert key tells its rows apart. Where the sink's primary key does not hold all of it, two rows may meet in the sink.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan.nodes import Conflict, LookupJoin, Node, Scan, Sink
from sqlstream.plan.properties import changelog_mode, static, upsert_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STRATEGIES = (
    "ON CONFLICT DO DEDUPLICATE (update to the latest record, state intensive, since we need to keep the entire history), or ON CONFLICT DO ERROR "
    "(fail on conflict), or ON CONFLICT DO NOTHING (keep first record)"
)


def may_conflict(node: Sink) -> bool:
    """Whether two rows of the query may have one primary key in the sink, which keeps one of them."""
    key, own = node.table.primary_key, upsert_key(node.input)
    return key is not None and _is_upsert_sink(node) and (own is None or not set(own) <= set(key.columns))


def check_conflicts(node: Node, *, required: bool | None, notify: Callable[[str], None]) -> None:
    """Check the ON CONFLICT clause of a whole plan of a stream, and whether it needs one. ``required``: as Flink 2.3 has it; None only says so.

    Raises ValidationError, NotSupported.
    """
    if not isinstance(node, Sink):
        return
    table, meets = node.table, may_conflict(node)
    if node.conflict is not None:
        _check_clause(node, node.conflict, meets=meets)
    elif meets and required is not False:
        assert table.primary_key is not None
        key, own = ", ".join(table.primary_key.columns), upsert_key(node.input)
        if required:
            raise ValidationError(
                f"The query has an upsert key that differs from the primary key of the sink table '{table.path}'. Primary key: [{key}], upsert key: "
                f"{'none' if own is None else _listed(own)}. This can lead to non-deterministic results when multiple records with different upsert "
                f"keys map to the same primary key. Please specify an ON CONFLICT clause to define how conflicts should be handled: {_STRATEGIES}.",
                at=node.at,
                hint="ON CONFLICT DO DEDUPLICATE does what Flink did before 2.3.",
            )
        if not any(_scans(node)):
            # Whoever lists rows sees them.
            return
        differs = "has no key of its own" if own is None else f"is by {_listed(own)}"
        notify(
            f"Rows of the query may meet at one PRIMARY KEY ({key}) of {table.path.name}, and the latest is kept: the query {differs}. "
            "ON CONFLICT DO DEDUPLICATE says that this is meant; Flink 2.3 asks for it."
        )


def _listed(names: tuple[str, ...]) -> str:
    return f"[{', '.join(names)}]"


def _is_upsert_sink(node: Sink) -> bool:
    """Whether the sink replaces rows by key. One that takes changes as they come does where some come."""
    connector = find_connector(node.table.connector)
    return ChangelogMode.UPSERT in connector.sink_modes(node.table) and (changelog_mode(node.input).updates or not connector.takes_any_change)


def _check_clause(node: Sink, conflict: Conflict, *, meets: bool) -> None:
    if static(node) and find_connector(node.table.connector).takes_any_change:
        # Rows of bounded input are final here, and may change with Flink.
        return
    if not _is_upsert_sink(node):
        raise ValidationError(
            f"ON CONFLICT clause is only allowed for upsert sinks. The sink '{node.table.path}' is not an upsert sink because it only accepts INSERT "
            "(append-only) changes.",
            at=node.on_conflict,
            hint="Leave the clause out.",
        )
    if conflict is Conflict.DEDUPLICATE:
        return
    if without := [str(path) for path in dict.fromkeys(s.table.path for s in _scans(node) if s.table.watermark is None)]:
        raise ValidationError(
            f"ON CONFLICT DO {conflict.value} requires all source tables to define watermarks, but the following source(s) do not: "
            f"{', '.join(without)}. Please add a WATERMARK declaration to these tables.",
            at=node.on_conflict,
            hint="ON CONFLICT DO DEDUPLICATE needs none.",
        )
    if meets and changelog_mode(node.input).updates:
        raise NotSupported(
            f"ON CONFLICT DO {conflict.value} of rows that change is not supported: it waits for the watermark to see which rows are left.",
            at=node.on_conflict,
            hint="ON CONFLICT DO DEDUPLICATE keeps the latest row of each key.",
        )


def _scans(node: Node) -> Iterator[Scan]:
    """The tables that are read from beginning to end, or as they grow."""
    if isinstance(node, Scan):
        yield node
    for source in node.inputs[:1] if isinstance(node, LookupJoin) else node.inputs:
        yield from _scans(source)
