"""Checks of ORDER BY and OVER: on a stream they need the order of a time attribute; in batch mode any order will do."""

from __future__ import annotations

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan.explain import describe
from sqlstream.plan.nodes import Node, Over, Sort, TimeAttribute
from sqlstream.plan.properties import changelog_mode, field, updating_node
from sqlstream.plan.time_attributes import why_none
from sqlstream.sql.functions.aggregates import OF_DISTINCT


def in_time_order(node: Over | Sort) -> None:
    """Raises ValidationError or NotSupported where ``node`` can't run on a stream."""
    if isinstance(node, Sort):
        _sort(node)
    else:
        _over(node)
    _append_only(node)


def _sort(node: Sort) -> None:
    first, *further = node.keys
    time = field(node.input, first.name).time
    if time is None or first.descending:
        raise ValidationError(
            "Sort on a non-time-attribute field is not supported.",
            hint="ORDER BY a time attribute first, ascending; or LIMIT the rows; or SET 'execution.runtime-mode' = 'batch'.",
        )
    if time is TimeAttribute.PROCTIME and further:
        raise NotSupported("ORDER BY a processing time and further columns is not supported.", hint="ORDER BY the processing time alone.")


def _over(node: Over) -> None:
    for named in node.aggregates:
        name = named.call.function.name
        if named.call.function.batch_only:  # they need all rows
            raise ValidationError(f"{name} Function is not supported in stream mode.", hint="Use batch mode. ROW_NUMBER and LAG work in both modes.")
        if name in ("RANK", "DENSE_RANK"):
            raise NotSupported(f"{name}() over a stream would change with each row that comes.", hint="Use ROW_NUMBER(), or batch mode.")
    if len(node.order) != 1:
        raise ValidationError("The window can only be ordered by a single time column.", hint="ORDER BY the time attribute alone.")
    (key,) = node.order
    if key.descending:
        hint = "Leave out DESC: a window of a stream holds the rows up to the current one. For the latest rows, limit a ROW_NUMBER (WHERE n <= 3)."
        raise ValidationError("The window can only be ordered in ASCENDING mode.", hint=hint)
    frame = node.frame
    if frame.last != 0 or (frame.first or 0) > 0:
        raise ValidationError("An OVER window of a stream has no rows that FOLLOW.", hint="A window of a stream ends with CURRENT ROW.")
    if field(node.input, key.name).time is None:
        if frame.first is not None:
            raise ValidationError("Non-time attribute sort is not supported for bounded OVER window.", hint="ORDER BY a time attribute.")
        raise NotSupported(
            "OVER (ORDER BY ..) of a stream is only supported by a time attribute.",
            hint=f"ORDER BY a time attribute, or limit a ROW_NUMBER (WHERE n <= 3). {why_none(node.input, key.name)}",
        )
    if frame.first is not None or any(n.call.distinct and n.call.function.name == "LAST_VALUE" for n in node.aggregates):
        distinct_in_frames(node)


def takes_no_changes(name: str, cause: Node, kinds: str = "update") -> ValidationError:
    """That what Flink calls ``name`` takes only rows that never change, and ``cause`` makes changes of these ``kinds``."""
    hint = "It takes rows that never change. Aggregate below it by windows (TUMBLE, HOP, CUMULATE), or move the query that changes rows behind it."
    return ValidationError(f"{name} doesn't support consuming {kinds} changes which is produced by node {describe(cause)}", hint=hint)


def distinct_in_frames(node: Over) -> None:
    """Raises NotSupported for a call with DISTINCT that can't be computed over the rows of a frame."""
    for named in node.aggregates:
        call = named.call
        if call.distinct and call.function.of_set is None and not call.function.same_distinct:
            raise NotSupported(
                f"{call.function.name}(DISTINCT ..) over the rows of a window is not supported.",
                hint=f"These are: {OF_DISTINCT}.",
            )


def _append_only(node: Node) -> None:
    cause = updating_node(node)
    if cause is not None and changelog_mode(cause).updates:
        raise takes_no_changes(f"StreamPhysical{'TemporalSort' if isinstance(node, Sort) else 'OverAggregate'}", cause)
