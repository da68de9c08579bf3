"""Joins don't call Python functions: a call in the condition moves below the join if it reads one side only, and above it if it reads both.

Join(f(a.x) = b.y AND g(a.x, b.z) > 1)      Project(a, b)
+- a                                   ->   +- Filter(g(x, z) > 1)
+- b                                           +- Join($py_left0 = b.y)
                                                  +- Project(a, f(x) AS $py_left0)
                                                  +- b
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.core.errors import NotSupported
from sqlstream.plan import make
from sqlstream.plan.nodes import IntervalJoin, Join, JoinKind, Named, Node, Project, filtered
from sqlstream.plan.places import at_clause, placed
from sqlstream.plan.properties import fields
from sqlstream.plan.rules.python_lift import Lift, is_python_call, outermost_calls
from sqlstream.sql.generated_names import generated

if TYPE_CHECKING:
    from sqlstream.sql.expressions import Expr

_BOTH_SIDES = (
    "Only inner join condition with equality predicates supports the Python UDF taking the inputs from the left table and the right table at "
    "the same time."
)


def python_joins(node: Node) -> Node:
    """``node`` with the Python calls in its joins' conditions moved below or above the joins."""
    node = node.with_inputs(tuple(python_joins(i) for i in node.inputs))
    if not (isinstance(node, Join) and outermost_calls(node.condition)):
        return node
    with at_clause(node):
        return placed(_without_calls(node), node.at)


def _without_calls(node: Join) -> Node:
    # The names of both sides are in one condition.
    both = (*fields(node.left), *fields(node.right))
    sides = [Lift(both, prefix) for prefix in (generated("py_left"), generated("py_right"))]
    columns = [{f.name for f in fields(side)} for side in node.inputs]
    above: list[Expr] = []

    def split(condition: Expr | None) -> Expr | None:
        kept = []
        for part in make.conjuncts(condition):
            reads = [make.columns(call) for call in outermost_calls(part)]
            if any(not (r <= columns[0] or r <= columns[1]) for r in reads):
                if part not in above:
                    above.append(part)
            else:
                kept.append(part.transform(lambda e: sides[0 if make.columns(e) <= columns[0] else 1].column(e) if is_python_call(e) else None))
        return make.all_of(kept)

    plain = replace(node, condition=split(node.condition))
    if isinstance(plain, IntervalJoin):
        plain = replace(plain, rest=split(plain.rest))
    if above and node.kind is not JoinKind.INNER:
        raise NotSupported(_BOTH_SIDES, hint="Call the function in a sub-query, over columns of one side.")
    joined: Node = plain.with_inputs(tuple(lift.below(side) for lift, side in zip(sides, node.inputs, strict=True)))
    joined = filtered(joined, make.all_of(above))
    return Project(joined, tuple(Named(f.name, make.ref(f)) for f in fields(node)))
