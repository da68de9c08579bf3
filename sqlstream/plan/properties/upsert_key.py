"""The columns that identify the row that an update replaces."""

from __future__ import annotations

from sqlstream.plan import make
from sqlstream.plan.nodes import (
    ChangelogNormalize,
    CoGroup,
    Correlate,
    Expand,
    GroupAggregate,
    Join,
    JoinKind,
    KeyedJoin,
    LookupJoin,
    Match,
    Node,
    Project,
    Rank,
    Scan,
    Unary,
    Union,
    Values,
    WindowAggregate,
    WindowJoin,
)
from sqlstream.plan.properties.once import once
from sqlstream.plan.properties.origin import looked_up, origin
from sqlstream.sql.expressions import Call, Cast, ColumnRef, Expr
from sqlstream.sql.types import INTEGERS


@once
def upsert_key(node: Node) -> tuple[str, ...] | None:
    """The columns that identify the earlier row that an update replaces; None where ``node``'s output doesn't have them.

    The key is empty for an aggregate over all rows, which has one row.
    """
    match node:
        case GroupAggregate(keys=keys) | WindowAggregate(keys=keys) | ChangelogNormalize(keys=keys):
            return keys
        case Project(input=source, columns=columns):
            below = upsert_key(source)
            names = {_distinct(c.expr): c.name for c in reversed(columns)}
            return tuple(names[k] for k in below) if below is not None and all(k in names for k in below) else None
        case LookupJoin(input=source, table=table, keys=keys):
            unique = looked_up(node).table.primary_key
            # Of a whole primary key there is at most one row.
            by_key = unique is not None and set(unique.columns) <= {origin(table, name) for _, name in keys}
            return upsert_key(source) if by_key else None
        case KeyedJoin(join=join):
            return upsert_key(join)
        case Rank(input=source, partition=partition, rank=rank):
            if node.first == node.last:
                return partition
            return upsert_key(source) if rank is None else (*partition, rank)
        case Join(left=left, right=right, kind=kind) if not isinstance(node, WindowJoin) and kind is not JoinKind.FULL:
            return _join_key(node, upsert_key(left), None if kind.left_only else upsert_key(right))
        case Union() | Values() | Expand() | Correlate() | Join() | CoGroup() | Match():
            return None
        case Scan(table=table):
            return tuple(table.primary_key.columns) if table.primary_key else None
        case Unary(input=source):
            return upsert_key(source)
    return None


def _distinct(expr: Expr) -> str | None:
    """The column whose distinct values stay distinct in ``expr``: the column itself, or a cast to a wider type."""
    if isinstance(expr, Cast) and isinstance(expr.operand, ColumnRef) and {expr.type.root, expr.operand.type.root} <= set(INTEGERS):
        return expr.operand.name if INTEGERS.index(expr.operand.type.root) <= INTEGERS.index(expr.type.root) else None
    return expr.name if isinstance(expr, ColumnRef) else None


def _join_key(node: Join, left: tuple[str, ...] | None, right: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The upsert key of a join: that of one side, if each of its rows finds at most one row of the other; else both together."""
    if node.kind.left_only:
        return left
    pairs = [c.args for c in make.conjuncts(node.condition) if isinstance(c, Call) and c.function.name == "="]
    equal = {e.name for pair in pairs if all(isinstance(e, ColumnRef) for e in pair) for e in pair if isinstance(e, ColumnRef)}
    if left is not None and right is not None and set(right) <= equal and node.kind in (JoinKind.INNER, JoinKind.LEFT):
        return left
    if left is not None and right is not None and set(left) <= equal and node.kind in (JoinKind.INNER, JoinKind.RIGHT):
        return right
    return (*left, *right) if left is not None and right is not None else None
