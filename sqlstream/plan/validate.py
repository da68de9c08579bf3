"""Refusals that need the whole plan: what Spark would get wrong or can't do, and sinks that can't take the changes they'd get."""

from __future__ import annotations

from sqlstream.connectors import find
from sqlstream.errors import NotSupported, ValidationError
from sqlstream.plan.explain import describe
from sqlstream.plan.nodes import (
    Filter,
    GroupAggregate,
    Limit,
    Node,
    Sink,
    TimeAttribute,
    Union,
    WindowAggregate,
    WindowTvf,
)
from sqlstream.plan.properties import changelog_mode, field, scans, static, updating_node, upsert_key


def validate(node: Node, *, batch: bool) -> None:
    """Raises ValidationError or NotSupported for the first node that can't run."""
    if batch:
        for scan in scans(node):
            if not scan.bounded:
                raise ValidationError(
                    f"Querying an unbounded table '{scan.table.path}' in batch mode is not allowed. The table source is unbounded.",
                    hint="Give the table a bound, as 'scan.bounded.mode' = 'latest-offset', or SET 'execution.runtime-mode' = 'streaming'.",
                )
    _check(node, streaming=not batch and not static(node))


def _check(node: Node, *, streaming: bool) -> None:
    for source in node.inputs:
        _check(source, streaming=streaming)
    match node:
        case WindowTvf(input=source, window=window):
            time = field(source, window.time)
            if time.time is TimeAttribute.PROCTIME and streaming:
                raise NotSupported("Windows on processing time are not supported yet.", hint="Use a rowtime attribute (WATERMARK FOR).")
        case WindowAggregate() | GroupAggregate() | Union() | Filter() if streaming:
            _append_inputs(node)
            _aggregates(node)
        case Limit() if streaming:
            raise NotSupported(
                "LIMIT inside a streaming query is not supported yet.", hint="LIMIT at the end of a SELECT to the screen is."
            )
        case Sink(input=source, table=table) if streaming:
            mode = changelog_mode(source)
            if mode not in find(table.connector).sink_modes:
                cause = updating_node(source)
                assert cause is not None
                raise ValidationError(
                    f"Table sink '{table.path}' doesn't support consuming update changes which is produced by node {describe(cause)}",
                    hint="Aggregate in windows (GROUP BY window_start, window_end), which gives final rows, or SELECT it to the screen.",
                )
            if mode.updates and upsert_key(source) is None:
                raise NotSupported(
                    "An updating query into a sink must keep its grouping key among its columns.", hint="Add the GROUP BY columns."
                )


def _append_inputs(node: Node) -> None:
    for source in node.inputs:
        if changelog_mode(source).updates:
            cause = updating_node(source)
            assert cause is not None
            what = {Filter: "HAVING or a filter", Union: "UNION ALL"}.get(type(node), "An aggregate")
            raise NotSupported(f"{what} over the updating result of {describe(cause)} is not supported yet.")


def _aggregates(node: Node) -> None:
    for named in getattr(node, "aggregates", ()):
        if named.call.distinct:
            raise NotSupported(f"{named.call.function.name}(DISTINCT ..) is not supported yet in streaming mode.")
