"""CURRENT_TIMESTAMP and its kin in SELECT: each row has its own time, which all calls share.

Project(f(CURRENT_TIMESTAMP))   ->   Project(f(CURRENT_TIMESTAMP($now)))
                                     +- Project(.., CURRENT_ROW_TIMESTAMP() AS $now)

In other clauses, and everywhere in batch mode, they are the time at which the micro-batch or the query began.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from sqlstream.plan import make
from sqlstream.plan.nodes import Named, Node, Project
from sqlstream.plan.properties import fields
from sqlstream.sql.expressions import Call, ColumnRef, Expr
from sqlstream.sql.generated_names import generated

_NAME = generated("now")


def row_clock(node: Node) -> Node:
    """``node`` with the calls in its projections reading the row's time."""
    node = node.with_inputs(tuple(row_clock(i) for i in node.inputs))
    match node:
        case Project(input=source, columns=columns) if any(_is_call(e) for c in columns for e in c.expr.walk()):
            row_time = make.builtin("CURRENT_ROW_TIMESTAMP")
            now = ColumnRef(row_time.returns(()), _NAME)

            def timed(expr: Expr) -> Expr | None:
                return replace(expr, args=(now,)) if _is_call(expr) else None

            kept = tuple(Named(f.name, make.ref(f)) for f in fields(source))
            below = Project(source, (*kept, Named(_NAME, Call(now.type, row_time, ()))))
            return Project(below, tuple(Named(c.name, c.expr.transform(timed)) for c in columns))
    return node


def _is_call(expr: Expr) -> TypeGuard[Call]:
    return isinstance(expr, Call) and expr.function.clock and expr.function.name != "PROCTIME"
