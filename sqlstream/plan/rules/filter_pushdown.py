"""Conditions are tested early: a filter above an inner join becomes part of its condition, and what reads one input only is tested there.

Filter(a.k = b.k AND a.n > 1 AND b.m < 5)        Join(a.k = b.k)
+- Join                                     ->   +- Filter(n > 1)
   +- a                                          |  +- a
   +- b                                          +- Filter(m < 5)
                                                    +- b

Through a temporal join only conditions on the left side move: the version that holds is chosen among all of the right's. A filter above a window join
stays where it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.nodes import Filter, Join, JoinKind, LookupJoin, Node, TemporalJoin, WindowJoin, filtered
from sqlstream.plan.properties import fields
from sqlstream.plan.rules.lookup_join import with_conditions

if TYPE_CHECKING:
    from sqlstream.sql.expressions import Expr


def filter_pushdown(node: Node) -> Node:
    """``node`` with its conditions moved into the join below it or into the join's inputs; ``node`` itself where none can move."""
    match node:
        case Filter(input=TemporalJoin() as join, condition=condition):
            return _above_temporal_join(node, join, make.conjuncts(condition))
        case Filter(input=WindowJoin()):
            return node
        case Filter(input=Join(kind=JoinKind.INNER) as join, condition=condition):
            whole = make.all_of([*make.conjuncts(join.condition), *make.conjuncts(condition)])
            return Join(join.left, join.right, join.kind, whole, hints=join.hints, at=join.at)
        case Filter(input=LookupJoin(kind=JoinKind.INNER) as join, condition=condition):
            return with_conditions(join, make.conjuncts(condition))
        case Join(kind=JoinKind.INNER) if type(node) is Join:
            return _into_inputs(node)
    return node


def _above_temporal_join(node: Filter, join: TemporalJoin, conditions: list[Expr]) -> Node:
    names = {f.name for f in fields(join.left)}
    lefts = [c for c in conditions if make.columns(c) <= names]
    rest = make.all_of([c for c in conditions if c not in lefts])
    if not lefts and rest == node.condition:
        return node
    return filtered(replace(join, left=filtered(join.left, make.all_of(lefts))), rest)


def _into_inputs(node: Join) -> Node:
    names = [{f.name for f in fields(side)} for side in node.inputs]
    of_sides: tuple[list[Expr], list[Expr]] = ([], [])
    rest: list[Expr] = []
    for condition in make.conjuncts(node.condition):
        read = make.columns(condition)
        side = next((own for own, known in zip(of_sides, names, strict=True) if read and read <= known), rest)
        side.append(condition)
    of_both = make.all_of(rest)
    if not any(of_sides) and of_both == node.condition:
        return node
    left, right = (filtered(source, make.all_of(own)) for source, own in zip(node.inputs, of_sides, strict=True))
    return replace(node, left=left, right=right, condition=of_both)
