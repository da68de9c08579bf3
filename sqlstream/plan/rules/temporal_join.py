"""Temporal joins: FROM o JOIN r FOR SYSTEM_TIME AS OF o.rowtime ON o.k = r.k. A row is joined with the version of ``r``'s row that held at its time.

Join(o.k = r.k)                        TemporalJoin(o.k = r.k, key=[k])
+- o                              ->   +- o
+- Snapshot(o.rowtime)                 +- the versions of r
   +- r

Two things have versions: a table with a primary key and a watermark, and a query that keeps the last row of each key. The versions of such a query
are the rows below the operator that keeps the last.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan import make
from sqlstream.plan.explain import describe
from sqlstream.plan.nodes import (
    ChangelogNormalize,
    Field,
    Filter,
    Join,
    JoinKind,
    Named,
    Node,
    OneByOne,
    Project,
    Rank,
    Scan,
    Snapshot,
    TemporalJoin,
    TimeAttribute,
    names_of,
)
from sqlstream.plan.properties import changelog_mode, field, fields
from sqlstream.sql.bind import to_text
from sqlstream.sql.expressions import Call, ColumnRef, Expr, Literal

_NO_KEY = "Temporal Table Join requires primary key in versioned table, but no primary key can be found."


def temporal_join(node: Node) -> Node:
    """The temporal join that ``node`` is, or ``node`` itself. Raises ValidationError, NotSupported."""
    if not isinstance(node, Join) or not isinstance(node.right, Snapshot):
        return node
    time = field(node.left, node.right.time)
    return _temporal_join(node, node.right.input, time) if time.time is TimeAttribute.ROWTIME else node


def _temporal_join(node: Join, right: Node, time: Field) -> TemporalJoin:
    """The join of the left with the versions of ``right`` by ``time``, a rowtime of the left."""
    if node.kind not in (JoinKind.INNER, JoinKind.LEFT):
        raise ValidationError(f"Unknown join type {node.kind.name}", hint="A temporal join is inner, or LEFT.")
    names = {f.name for f in fields(right)}
    equal = [(c, e) for c in make.conjuncts(node.condition) if (e := _right_of(c, names)) is not None]
    if not equal:
        raise ValidationError("Currently the join key in Temporal Table Join can not be empty.", hint="Write ON left.k = right.key.")
    versions = _versions(right)
    if versions is None:
        hint = "Declare a PRIMARY KEY, or keep the last row of each key: ROW_NUMBER() OVER (PARTITION BY key ORDER BY rowtime DESC) of 1."
        raise ValidationError(_NO_KEY, hint=hint)
    columns = {e.name for _, e in equal if isinstance(e, ColumnRef)}
    if not set(versions.key) <= columns:
        raise ValidationError(_NO_KEY, hint=f"ON must have an equality with each column of the key: {', '.join(versions.key)}.")
    rowtime = next((f for f in fields(versions.node) if f.time is TimeAttribute.ROWTIME), None)
    if rowtime is None:
        raise ValidationError(
            "Event-Time Temporal Table Join requires both primary key and row time attribute in versioned table, but no row time attribute "
            "can be found.",
            hint="Declare WATERMARK FOR in the table.",
        )
    if rowtime.type.root != time.type.root:
        raise ValidationError(
            "Event-Time Temporal Table Join requires same rowtime type in left table and versioned table, but the rowtime types are "
            f"{time.type} *ROWTIME* and {rowtime.type} *ROWTIME*.",
        )
    for part, expr in equal:
        if not isinstance(expr, ColumnRef) or expr.name not in versions.key:
            raise NotSupported(
                f"{to_text(part)} in a temporal join is not supported: Flink takes it for a part of the key, under which versions that were replaced "
                "still hold.",
                hint="Move it to WHERE.",
            )
    return TemporalJoin(node.left, versions.node, node.kind, node.condition, (time.name, rowtime.name), versions.key)


def _right_of(condition: Expr, right: set[str]) -> Expr | None:
    """The right side of ``condition`` if it is an equality between the inputs."""
    if not (isinstance(condition, Call) and condition.function.name == "="):
        return None
    read = [make.columns(arg) for arg in condition.args]
    for i in (0, 1):
        if read[i] and read[1 - i] and read[i] <= right and not read[1 - i] & right:
            return condition.args[i]
    return None


@dataclass(frozen=True)
class _Versions:
    """A node whose rows are versions, and the columns of their key."""

    node: Node
    key: tuple[str, ...]


def _versions(node: Node) -> _Versions | None:
    """The versions of ``node``'s rows; None where it has no key. Raises NotSupported where it keeps other rows than the last of a key."""
    match node:
        case Scan(table=table):
            return _Versions(node, table.primary_key.columns) if table.primary_key else None
        case ChangelogNormalize(input=source, keys=keys):
            # What each version was needs not be known.
            return _Versions(source, keys)
        case OneByOne(input=source) if not node.leaves_out:
            below = _versions(source)
            key = None if below is None else names_of(below.key, node.sources)
            return None if below is None or key is None else _Versions(node.with_inputs((below.node,)), key)
        case Filter(input=source, condition=condition) if changelog_mode(node).updates or _versions(source) is not None:
            raise ValidationError(
                "Filter is not allowed for right changelog input of event time temporal join, it will corrupt the versioning of data. Please "
                f"consider removing the filter '{to_text(condition)}' before joining.",
                hint="Move the condition into ON.",
            )
        case OneByOne(input=source) if changelog_mode(node).updates or _versions(source) is not None:
            raise NotSupported(
                f"A temporal join with the versions of {describe(node)} is not supported: it leaves some out.",
                hint="Leave rows out of the result instead.",
            )
        case Rank():
            return _last_rows(node)
        case _ if changelog_mode(node).updates:
            raise NotSupported(
                f"A temporal join with the versions of {describe(node)} is not supported.",
                hint="Write them into a table of 'upsert-kafka' with a watermark, and join that.",
            )
    return None


def _last_rows(node: Rank) -> _Versions:
    """The rows among which ``node`` keeps the last of each key."""
    by_rowtime = node.latest and field(node.input, node.order[0].name).time is TimeAttribute.ROWTIME
    if not by_rowtime or changelog_mode(node.input).updates:
        raise NotSupported(
            "A temporal join with a query that keeps other rows than the last of each key is not supported.",
            hint="Number by ROW_NUMBER() OVER (PARTITION BY key ORDER BY rowtime DESC), keep number 1, and put other conditions into ON.",
        )
    columns = [Named(f.name, make.ref(f)) for f in fields(node.input)]
    if node.rank is not None:
        # Each version has been the first.
        columns.append(Named(node.rank, Literal(field(node, node.rank).type, 1)))
    return _Versions(Project(node.input, tuple(columns)), node.partition)
