"""A regular join of streams runs as one operator over the rows of both sides, keyed by what must be equal: one state, one scan of a shared source.

Join(a.k = b.k AND c)              KeyedJoin(keys=[k], condition c)
+- a                          ->   +- Union
+- b                                  +- a, SIDE 0, NULLs for b's columns
                                      +- b, SIDE 1, NULLs for a's columns

A join with a static table stays as it is: Spark joins each row of the stream with it.
"""

from __future__ import annotations

from sqlstream.plan import make
from sqlstream.plan.nodes import SIDE, Join, KeyedJoin, Named, Node, Project, Union
from sqlstream.plan.places import placed
from sqlstream.plan.properties import fields, static
from sqlstream.sql.expressions import Call, Expr
from sqlstream.sql.generated_names import generated

_NULL_SAFE = {"=": False, "IS NOT DISTINCT FROM": True}


def keyed_join(node: Node) -> Node:
    """``node`` with every such join below it rewritten."""
    node = node.with_inputs(tuple(keyed_join(i) for i in node.inputs))
    if type(node) is not Join or static(node) or node.of_static:
        return node
    names = [[f.name for f in fields(i)] for i in node.inputs]
    pairs: list[tuple[Expr, Expr]] = []
    null_safe: list[bool] = []
    rest: list[Expr] = []
    for condition in make.conjuncts(node.condition):
        pair = _equal(condition, set(names[0]), set(names[1]))
        if pair is None:
            rest.append(condition)
        else:
            pairs.append(pair[0])
            null_safe.append(pair[1])
    keys = tuple(generated(f"k{i}") for i in range(len(pairs)))
    held = tuple(tuple(generated(f"{side}.{name}") for name in own) for side, own in enumerate(names))
    branches = []
    for side, source in enumerate(node.inputs):
        columns = [Named(SIDE, make.number(side)), *(Named(k, pair[side]) for k, pair in zip(keys, pairs, strict=True))]
        for other, holder in enumerate(node.inputs):
            for name, f in zip(held[other], fields(holder), strict=True):
                columns.append(Named(name, make.ref(f) if other == side else make.null(f.type)))
        branches.append(Project(source, tuple(columns)))
    return placed(KeyedJoin(Union(tuple(branches)), node, keys, tuple(null_safe), (held[0], held[1]), make.all_of(rest)), node.at)


def _equal(condition: Expr, left: set[str], right: set[str]) -> tuple[tuple[Expr, Expr], bool] | None:
    """What ``condition`` says is equal, of the left and of the right input; and whether NULL is equal to NULL."""
    if not (isinstance(condition, Call) and condition.function.name in _NULL_SAFE):
        return None
    a, b = condition.args
    read = (make.columns(a), make.columns(b))
    if a.type.spark != b.type.spark or not all(read) or "MAP<" in a.type.spark:
        return None
    if read[0] <= left and read[1] <= right:
        return (a, b), _NULL_SAFE[condition.function.name]
    return ((b, a), _NULL_SAFE[condition.function.name]) if read[1] <= left and read[0] <= right else None
