"""Two projections in a row become one, unless an expression would then be computed twice.

Project(a + 1 AS c)             Project(x * 2 + 1 AS c)
+- Project(x * 2 AS a)     ->   +- input(x)
   +- input(x)
"""

from __future__ import annotations

from collections import Counter

from sqlstream.plan.nodes import Named, Node, Project
from sqlstream.plan.properties import fields
from sqlstream.sql.expressions import Cast, ColumnRef, Expr, Literal


def project_merge(node: Node) -> Node:
    """``node`` with such pairs merged, and projections that change nothing left out."""
    node = node.with_inputs(tuple(project_merge(i) for i in node.inputs))
    match node:
        case Project(input=Project(input=source, columns=below, at=place), columns=above) if _mergeable(above, below):
            inner = {c.name: c.expr for c in below}

            def outer(expr: Expr) -> Expr | None:
                return inner[expr.name] if isinstance(expr, ColumnRef) else None

            merged = tuple(Named(c.name, c.expr.transform(outer)) for c in above)
            return project_merge(Project(source, merged, at=node.at if any(map(_computes, above)) else place))
        case Project(input=source, columns=columns) if _identity(columns, source):
            return source
    return node


def _mergeable(above: tuple[Named, ...], below: tuple[Named, ...]) -> bool:
    uses = Counter(e.name for c in above for e in c.expr.walk() if isinstance(e, ColumnRef))
    return all(uses[c.name] <= 1 or isinstance(c.expr, ColumnRef | Literal) for c in below)


def _computes(column: Named) -> bool:
    return any(not isinstance(e, ColumnRef | Literal | Cast) for e in column.expr.walk())


def _identity(columns: tuple[Named, ...], source: Node) -> bool:
    names = [f.name for f in fields(source)]
    return [c.name for c in columns] == names and all(isinstance(c.expr, ColumnRef) and c.expr.name == c.name for c in columns)
