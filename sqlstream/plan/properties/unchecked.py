"""The columns whose type says NOT NULL, and whose values are looked at by nobody: those of sources, and what is computed of them.

Flink trusts a source's NOT NULL until a sink, or whoever runs a SELECT, finds a NULL. A projection that computes anything turns it into a value of
its own on the way there (-1, an empty text), one that only picks columns keeps it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.plan import make
from sqlstream.plan.nodes import (
    CoGroup,
    Correlate,
    Expand,
    GroupAggregate,
    Join,
    KeyedJoin,
    LookupJoin,
    Match,
    Named,
    Node,
    Project,
    Scan,
    Unary,
    Union,
    Values,
    WindowAggregate,
)
from sqlstream.plan.properties.fields import fields
from sqlstream.plan.properties.once import once
from sqlstream.sql.expressions import ColumnRef

if TYPE_CHECKING:
    from collections.abc import Mapping


@once
def unchecked(node: Node) -> Mapping[str, bool]:
    """The names of these columns of ``node``, each with whether Flink makes up a value in the place of a NULL."""
    promised = {f.name for f in fields(node) if f.type.holds_not_null}
    return {name: made_up for name, made_up in _unchecked(node).items() if name in promised}


def _unchecked(node: Node) -> Mapping[str, bool]:
    match node:
        case Scan():
            return dict.fromkeys((f.name for f in fields(node)), False)
        case Values():
            return {}
        case Project(input=source, columns=columns):
            return _projected(unchecked(source), columns)
        case Expand(input=source, projections=projections):
            return _of_any([_projected(unchecked(source), p) for p in projections])
        case Correlate(input=source, collection=collection, columns=added):
            of_elements = make.columns(collection) & {*unchecked(source)}
            return {**unchecked(source), **dict.fromkeys((f.name for f in added) if of_elements else (), False)}
        case WindowAggregate(input=source, keys=keys) | GroupAggregate(input=source, keys=keys) | Match(input=source, partition=keys):
            return {name: made_up for name, made_up in unchecked(source).items() if name in keys}
        case CoGroup(join=join) | KeyedJoin(join=join):
            return unchecked(join)
        case Join(left=left, right=right, kind=kind):
            return unchecked(left) if kind.left_only else {**unchecked(left), **unchecked(right)}
        case LookupJoin(input=source, table=table):
            return {**unchecked(source), **unchecked(table)}
        case Union(branches=branches):
            names = [f.name for f in fields(node)]
            renamed = [dict(zip((f.name for f in fields(b)), names, strict=True)) for b in branches]
            return _of_any([{to[n]: made_up for n, made_up in unchecked(b).items()} for to, b in zip(renamed, branches, strict=True)])
        case Unary(input=source):
            return unchecked(source)
    raise TypeError(type(node).__name__)


def _projected(below: Mapping[str, bool], columns: tuple[Named, ...]) -> Mapping[str, bool]:
    computes = any(not isinstance(c.expr, ColumnRef) for c in columns)
    read = {c.name: make.columns(c.expr) & {*below} for c in columns}
    return {name: computes or any(below[n] for n in names) for name, names in read.items() if names}


def _of_any(branches: list[Mapping[str, bool]]) -> Mapping[str, bool]:
    return {name: any(b.get(name, False) for b in branches) for branch in branches for name in branch}
