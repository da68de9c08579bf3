"""FROM: its items joined from left to right, with the names that each column then has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.plan import make
from sqlstream.plan.correlate import collection, correlated
from sqlstream.plan.joins import apart, filtered, joined
from sqlstream.plan.nodes import JoinKind, Named, Node, Project, Values
from sqlstream.plan.properties import fields
from sqlstream.plan.relations import Query, relation
from sqlstream.plan.scope import Relation
from sqlstream.sql.bind import bind, cast_to, common_type, equal
from sqlstream.sql.expressions import AggregateCall, Call, Expr, OverCall
from sqlstream.sql.types import BOOLEAN

if TYPE_CHECKING:
    from sqlstream.plan.scope import Environment
    from sqlstream.sql.bind import Scope

NOTHING = Relation(Values(((),), ()), ())


def from_clause(select: exp.Expr, env: Environment, query: Query) -> Relation:
    """What the clauses of ``select`` read: the joined items of its FROM. Raises ValidationError, NotSupported."""
    clause = select.args.get("from_")
    return NOTHING if clause is None else _items(clause.this, select.args.get("joins") or [], env, query)


def _items(first: exp.Expr, joins: list[exp.Join], env: Environment, query: Query) -> Relation:
    alone = collection(first, NOTHING, env)
    found = _item(first, env, query) if alone is None else correlated(NOTHING, first, alone, outer=False)[0]
    for join in joins:
        found = _join(found, join, env, query)
    return found


def _item(node: exp.Expr, env: Environment, query: Query) -> Relation:
    """One item, which may be joins in parentheses."""
    inner = node.this if isinstance(node, exp.Subquery) else None
    joins = inner.args.get("joins") if isinstance(inner, exp.Table | exp.Subquery) else None
    if inner is None or not joins:
        return relation(node, env, query)
    first = inner.copy()
    first.set("joins", None)
    return _items(first, joins, env, query)


def _join(left: Relation, join: exp.Join, env: Environment, query: Query) -> Relation:
    kind = JoinKind[join.side or "INNER"]
    if (elements := collection(join.this, left, env)) is not None:
        return _correlate(left, join, kind, elements, env)
    right = _item(join.this, env, query)
    inner = apart(right.node, [f.name for f in fields(left.node)])
    named = replace(right, node=inner)
    both = left.beside(named)
    names = _common(left, right, join)
    if names:
        return _using(left, named, kind, names, join, env.settings.zone)
    on = join.args.get("on")
    asked = condition(on, both.scope(env.settings.zone), "ON") if on is not None else None
    return replace(both, node=joined(left.node, inner, kind, asked))


def _correlate(left: Relation, join: exp.Join, kind: JoinKind, elements: Expr, env: Environment) -> Relation:
    if kind not in (JoinKind.INNER, JoinKind.LEFT):
        raise ValidationError(f"Unknown join type {join.side}", at=join, hint="UNNEST and table functions take INNER, LEFT and CROSS JOIN.")
    if join.args.get("method") or join.args.get("using"):
        raise NotSupported("NATURAL JOIN and USING are not supported with UNNEST and table functions.", at=join, hint="Write CROSS JOIN.")
    found, node = correlated(left, join.this, elements, outer=kind is JoinKind.LEFT)
    on = join.args.get("on")
    asked = condition(on, found.scope(env.settings.zone), "ON") if on is not None else None
    if asked is None or asked == make.true():
        return found
    if kind is JoinKind.INNER:
        return replace(found, node=filtered(node, asked))
    if make.columns(asked) & {f.name for f in fields(left.node)}:
        raise NotSupported("The condition of this LEFT JOIN reads the left side: Flink does not support it either.", at=on, hint="Write ON TRUE.")
    return replace(found, node=replace(node, condition=asked))


def _common(left: Relation, right: Relation, join: exp.Join) -> list[str]:
    """The names of columns that USING lists, or that both sides of a NATURAL JOIN have."""
    names = [[side.names[i][1] for i in side.visible] for side in (left, right)]
    if using := join.args.get("using"):
        for name in using:
            if missing := [known for known in names if name.name not in known]:
                raise ValidationError(f"Column '{name.name}' not found in any table", at=name, hint=did_you_mean(name.name, missing[0]))
        return [name.name for name in using]
    return [name for name in names[0] if name in names[1]] if join.args.get("method") else []


def _using(left: Relation, right: Relation, kind: JoinKind, names: list[str], join: exp.Join, zone: str) -> Relation:
    """The join by equal columns of the names ``names``, each of which is one column for who does not say of which side."""
    pairs = [(bind(exp.column(name), left.scope(zone)), bind(exp.column(name), right.scope(zone))) for name in names]
    both = left.beside(right)
    node: Node = joined(left.node, right.node, kind, make.all_of([equal(a, b, join) for a, b in pairs]))
    places = {f.name: i for i, f in enumerate(fields(node))}
    by_name = {f.name: make.ref(f) for f in fields(node)}
    sides = [tuple(by_name[column] for side in pair for column in make.columns(side)) for pair in pairs]
    own = [tuple(places[c.name] for c in pair) for pair in sides]
    if kind is JoinKind.FULL:
        added = tuple(Named(f"$using{i}", _either(*pair)) for i, pair in enumerate(sides, len(places)))
        node = Project(node, (*(Named(f.name, make.ref(f)) for f in fields(node)), *added))
        chosen = tuple(range(len(places), len(places) + len(added)))
    else:
        chosen = tuple(pair[kind is JoinKind.RIGHT] for pair in own)
    equals = {i for pair in own for i in pair}
    merged = (*chosen, *(i for i in both.merged if i not in equals))
    return Relation(node, (*both.names, *((None, n) for n in names if kind is JoinKind.FULL)), merged, both.hidden | equals - {*chosen})


def _either(left: Expr, right: Expr) -> Expr:
    """``COALESCE(left, right)``."""
    type_ = common_type([left.type, right.type])
    assert type_ is not None
    present = Call(BOOLEAN.not_null(), make.builtin("NOT"), (make.is_null(left),))
    return make.when(present, cast_to(left, type_), cast_to(right, type_))


def condition(node: exp.Expr, scope: Scope, clause: str) -> Expr:
    """The bound condition of a clause, which holds neither aggregates nor calls of OVER. Raises ValidationError."""
    found = bind(node, scope)
    if any(isinstance(e, OverCall) for e in found.walk()):
        raise ValidationError(f"Windowed aggregate expression is illegal in {clause} clause", at=node)
    if any(isinstance(e, AggregateCall) for e in found.walk()):
        raise ValidationError(f"Aggregate expression is illegal in {clause} clause", at=node)
    if not found.type.same(BOOLEAN) and found.type.root != "NULL":
        raise ValidationError(f"{clause} clause must be a condition", at=node)
    return found
