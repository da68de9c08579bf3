"""UNION, INTERSECT and EXCEPT of two queries, with and without ALL.

INTERSECT, EXCEPT                       a semi or anti join of the distinct rows, NULL equal to NULL
INTERSECT ALL, EXCEPT ALL               a count of each row on both sides, and that many copies of it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.naming import without_names
from sqlstream.plan.nodes import Correlate, Field, Filter, GroupAggregate, Join, JoinKind, Named, NamedAggregate, Node, Project, Union
from sqlstream.plan.properties import fields
from sqlstream.sql.expressions import AggregateCall, Call
from sqlstream.sql.functions import Function
from sqlstream.sql.generated_names import generated
from sqlstream.sql.types import BIGINT, BOOLEAN, array

if TYPE_CHECKING:
    from sqlstream.sql.expressions import Expr

# An array of so many elements.
_COPIES = Function("REPLICATE_ROWS", ("bigint",), lambda _: array(BOOLEAN), "array_repeat(TRUE, CAST({0} AS INT))", "Copies of a row.")
_LEFT, _RIGHT, _COPY = generated("left"), generated("right"), generated("copy")


def distinct(node: Node, ttl: int | None = None) -> Node:
    """Each row of ``node`` once."""
    return GroupAggregate(node, tuple(f.name for f in fields(node)), (), ttl=ttl)


def union(left: Node, right: Node, *, keeps_all: bool) -> Node:
    """The rows of both."""
    united = Union((*_flat(left), *_flat(right)))
    return united if keeps_all else distinct(united)


def matching(left: Node, right: Node, *, intersect: bool, keeps_all: bool) -> Node:
    """The rows of ``left`` that are also in ``right`` (``intersect``), or that are not."""
    if keeps_all:
        return _copies(left, right, intersect=intersect)
    other = without_names(right, [f.name for f in fields(left)])
    same = [make.not_distinct(make.ref(a), make.ref(b)) for a, b in zip(fields(left), fields(other), strict=True)]
    return distinct(Join(left, other, JoinKind.SEMI if intersect else JoinKind.ANTI, make.all_of(same)))


def _copies(left: Node, right: Node, *, intersect: bool) -> Node:
    names = [f.name for f in fields(left)]
    branches = []
    for side, node in ((_LEFT, left), (_RIGHT, right)):
        own = [Named(name, make.ref(f)) for name, f in zip(names, fields(node), strict=True)]
        branches.append(Project(node, (*own, *(Named(s, make.number(int(s == side))) for s in (_LEFT, _RIGHT)))))
    both = Union(tuple(branches))
    count, one = BIGINT.null(), {f.name: make.ref(f) for f in fields(both)}
    sums = tuple(NamedAggregate(s, AggregateCall(count, make.builtin("SUM"), (one[s],))) for s in (_LEFT, _RIGHT))
    counted = GroupAggregate(both, tuple(names), sums)
    columns = {f.name: make.ref(f) for f in fields(counted)}
    here, there = columns[_LEFT], columns[_RIGHT]
    fewer = make.when(Call(BOOLEAN, make.builtin("<"), (here, there)), here, there)
    number: Expr = fewer if intersect else Call(count, make.builtin("-"), (here, there))
    kept = Filter(counted, Call(BOOLEAN, make.builtin(">"), (number, make.number(0))))
    copied = Correlate(kept, Call(array(BOOLEAN), _COPIES, (number,)), (Field(_COPY, BOOLEAN),))
    return Project(copied, tuple(Named(n, columns[n]) for n in names))


def _flat(node: Node) -> tuple[Node, ...]:
    return node.branches if isinstance(node, Union) else (node,)
