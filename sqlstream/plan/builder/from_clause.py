"""FROM: its items joined from left to right, with the names that each column then has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.plan import make
from sqlstream.plan.builder.correlate import collection, column_names, correlated
from sqlstream.plan.builder.decorrelate import decorrelated, reading
from sqlstream.plan.builder.hints import select_hints
from sqlstream.plan.builder.relations import Query, relation
from sqlstream.plan.builder.scope import Hint, Relation
from sqlstream.plan.builder.subqueries import SubQueries, is_sub_query
from sqlstream.plan.builder.system_time import as_of, without_period
from sqlstream.plan.naming import free_names, without_names
from sqlstream.plan.nodes import Join, JoinHints, JoinKind, Named, Node, Project, Snapshot, TimeAttribute, Values, filtered
from sqlstream.plan.properties import fields
from sqlstream.plan.time_attributes import time_attribute
from sqlstream.sql.bind import IN_SUB_QUERY, Scope, bind, cast_to, common_type, equal
from sqlstream.sql.expressions import AggregateCall, Call, ColumnRef, Expr, OverCall
from sqlstream.sql.generated_names import generated
from sqlstream.sql.syntax.clauses import alias_of, from_of, items_of, joins_of, on_of, own_parts, unwrapped, using_of, where_of
from sqlstream.sql.types import BOOLEAN

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.plan.builder.scope import Environment

Hints = dict[str, Hint]
# Each takes as long as there are columns before it.
_MOST_JOINS = 256
NOTHING = Relation(Values(((),), ()), ())


def from_clause(select: exp.Expr, env: Environment, query: Query) -> Relation:
    """The joined items of FROM, which the other clauses of ``select`` read. Raises ValidationError, NotSupported."""
    clause = from_of(select)
    hints = select_hints(select, env)
    return NOTHING if clause is None else _items(clause.this, joins_of(select), env, query, hints)


def inside_of(env: Environment, query: Query) -> Callable[[exp.Select], Scope]:
    """A function that returns the scope of a SELECT's own FROM."""
    return lambda select: from_clause(select, env, query).scope(env.settings)


def sub_queries(node: Node, scope: Scope, env: Environment, query: Query) -> SubQueries:
    """Those of a clause in ``scope``, over the rows of ``node``."""
    return SubQueries(node, scope, env, query, inside_of(env, query))


def _items(first: exp.Expr, joins: list[exp.Join], env: Environment, query: Query, hints: Hints) -> Relation:
    if len(joins) > _MOST_JOINS:
        problem = f"The FROM clause has {len(joins):,} joins; at most {_MOST_JOINS} are supported."
        raise NotSupported(problem, at=joins[_MOST_JOINS], hint="Join in steps: INSERT each into a table that the next one reads.")
    elements = collection(first, NOTHING, env)
    joined = _item(first, env, query, hints) if elements is None else correlated(NOTHING, first, elements, outer=False)[0]
    for join in joins:
        joined = _join(joined, join, env, query, hints)
        joined = replace(joined, node=env.placed(joined.node, join))
    return joined


def _item(node: exp.Expr, env: Environment, query: Query, hints: Hints) -> Relation:
    """One item, which may be joins in parentheses."""
    parenthesised = node.this if isinstance(node, exp.Subquery) else None
    joins = joins_of(parenthesised) if isinstance(parenthesised, exp.Table | exp.Subquery) else None
    if isinstance(node, exp.Lateral):  # with nothing to its left it is a sub-query
        bare = node.this.copy()
        bare.set("alias", alias_of(node))
        return relation(bare, env, query)
    if parenthesised is None or not joins:
        item = relation(node, env, query)
        return replace(item, hint=hints.get(item.names[0][0] or "", Hint()))
    first = parenthesised.copy()
    first.set("joins", None)
    return _items(first, joins, env, query, hints)


def _join(left: Relation, join: exp.Join, env: Environment, query: Query, hints: Hints) -> Relation:
    kind = JoinKind[join.side or "INNER"]
    if (elements := collection(join.this, left, env)) is not None:
        return _correlate(left, join, kind, elements, env)
    if isinstance(join.this, exp.Lateral):
        return _lateral(left, join, kind, env, query)
    time = as_of(join.this, left, env.settings)
    right = _item(join.this if time is None else without_period(join.this), env, query, hints)
    _refuse_same(left, right, join)
    node = without_names(right.node, [f.name for f in fields(left.node)])
    if time is not None:
        node = _snapshot(node, left, time, join, right.hint, env)
    named = replace(right, node=node)
    both = left.beside(named)
    names = _common(left, right, join)
    if names:
        return _using(left, named, kind, names, join, env)
    on = on_of(join)
    # In a LEFT JOIN the columns of a lookup table may be NULL, in its condition too.
    looked_up = time is not None and time_attribute(left.node, time) is TimeAttribute.PROCTIME
    cross = Join(left.node, node, kind if looked_up else JoinKind.INNER, None)
    scope = replace(both, node=cross).scope(env.settings)
    if on is None or not any(map(is_sub_query, on.walk())):
        bound = condition(on, scope, "ON") if on is not None else None
        return replace(both, node=Join(left.node, node, kind, bound, hints=_of_join(left, right)))
    if time is not None:
        # The join with the sub-query's row changes, and has no time attribute.
        raise NotSupported("A sub-query in ON of a temporal join is not supported.", at=on, hint="Write the condition in WHERE.")
    inner = sub_queries(cross, scope, env, query)
    bound = condition(_without_sub_queries(on, inner), inner.inner, "ON")
    whole = Join(inner.apply(left.node), node, kind, bound, hints=_of_join(left, right))
    added = {c.ref.name for c in inner.columns}
    return replace(both, node=Project(whole, tuple(Named(f.name, make.ref(f)) for f in fields(whole) if f.name not in added)))


def _without_sub_queries(on: exp.Expr, inner: SubQueries) -> exp.Expr:
    """``on`` with columns in the place of its sub-queries, all of which are values for the whole join. Raises NotSupported."""
    if (test := next(filter(is_sub_query, own_parts(on, exp.Exists, exp.In)), None)) is not None:
        # Flink 2.3 takes EXISTS in ON as TRUE, and fails at IN.
        problem = f"{'EXISTS' if isinstance(test, exp.Exists) else 'IN'} with a sub-query is not supported in ON."
        raise NotSupported(problem, at=test, hint="Write it in WHERE, or compare a value, as in (SELECT COUNT(*) ..) > 0.")
    replaced = inner.replaced(on, condition=True)
    if inner.conditions:
        # Flink 2.3 fails, or gives other rows.
        raise NotSupported("A sub-query in ON that reads the row around it is not supported.", at=on, hint="Write the condition in WHERE.")
    return replaced


def _snapshot(node: Node, left: Relation, time: str, join: exp.Join, hint: Hint, env: Environment) -> Snapshot:
    """The rows of ``node`` as of ``time``, a time attribute of the left. Raises ValidationError for a kind of join that can't look rows up."""
    looked_up = time_attribute(left.node, time) is TimeAttribute.PROCTIME
    if looked_up and join.side not in ("", "LEFT"):
        problem = f"Temporal table join currently only support INNER JOIN and LEFT JOIN, but was {join.side} JOIN."
        raise ValidationError(problem, at=join, hint="Write JOIN or LEFT JOIN: rows are looked up for those of the left side.")
    return Snapshot(node, time, hint.retry, at=env.place(join.this))


def _of_join(left: Relation, right: Relation) -> JoinHints:
    return JoinHints((left.hint.ttl, right.hint.ttl), (left.hint.strategy, right.hint.strategy))


def _lateral(left: Relation, join: exp.Join, kind: JoinKind, env: Environment, query: Query) -> Relation:
    """A sub-query that may read columns to its left: a join with the decorrelated query, see ``decorrelate``."""
    _refuse_sides(join, kind)
    if (select := _of_unnest(join.this.this)) is not None:
        return _lateral_unnest(left, join, select, kind, env)
    settings = env.settings
    around = left.scope(settings)
    with reading(around):
        split = decorrelated(join.this.this, inside_of(env, query), around, left.node)
        built = query(split.query, split.environment(env))
    width = len(fields(built)) - len(split.keys)
    alias = alias_of(join.this)
    names = column_names(list(env.names(split.query, built)[:width]), alias)
    source = without_names(built, [f.name for f in fields(left.node)])
    keys = [make.ref(f) for f in fields(source)[width:]]
    qualifier = alias.name if alias is not None else None
    hidden = frozenset(range(width, width + len(keys)))
    right = replace(Relation.of(source, qualifier, [*names, *split.keys]), hidden=hidden)
    right = replace(right, names=(*right.names[:width], *((None, k) for k in split.keys)))
    _refuse_same(left, right, join)
    both = left.beside(right)
    on = on_of(join)
    bound = condition(on, both.scope(settings), "ON") if on is not None else None
    empty = {i: e for i in range(width) if (e := split.of_no_rows(i)) is not None} if kind is JoinKind.LEFT else {}
    if empty and bound not in (None, make.true()):
        raise NotSupported("A condition on what an aggregate in LATERAL gives is not supported in a LEFT JOIN.", at=on, hint="Write ON TRUE.")
    whole = [*make.conjuncts(None if bound == make.true() else bound), *split.asked(keys, around)]
    node: Node = Join(left.node, source, kind, make.all_of(whole))
    if empty:
        columns, first = [Named(f.name, make.ref(f)) for f in fields(node)], len(left.names)
        for i, value in empty.items():
            column = columns[first + i]
            of_none = cast_to(bind(value, Scope((), zone=settings.zone, functions=settings.functions)), column.expr.type)
            columns[first + i] = Named(column.name, make.when(make.is_null(columns[first + width].expr), of_none, column.expr))
        node = Project(node, tuple(columns))
    return replace(both, node=node)


def _of_unnest(query: exp.Expr) -> exp.Select | None:
    """The SELECT of ``query``, where all that it reads is an UNNEST."""
    select = unwrapped(query)
    read = items_of(select) if isinstance(select, exp.Select) else []
    return select if isinstance(select, exp.Select) and len(read) == 1 and isinstance(read[0], exp.Unnest) else None


def _lateral_unnest(left: Relation, join: exp.Join, select: exp.Select, kind: JoinKind, env: Environment) -> Relation:
    """Elements of a collection of the left row, some of their columns, under other names."""
    (unnest,), settings, width = items_of(select), env.settings, len(left.names)
    if other := next((v for k, v in select.args.items() if v and k not in ("expressions", "from_", "where")), None):
        at = other if isinstance(other, exp.Expr) else select
        raise NotSupported("A sub-query over UNNEST can have nothing but WHERE.", at=at, hint="Write CROSS JOIN UNNEST(..) in the outer query.")
    elements = collection(unnest, left, env)
    assert elements is not None
    both, correlate = correlated(left, unnest, elements, outer=kind is JoinKind.LEFT)
    scope = both.scope(settings)
    inside = replace(scope, columns=scope.columns[width:])
    with reading(left.scope(settings)):
        bound = condition(where.this, inside, "WHERE") if (where := where_of(select)) is not None else None
        chosen = [column for item in select.expressions for column in _elements(item, inside)]
    node: Node = replace(correlate, condition=bound) if kind is JoinKind.LEFT else filtered(correlate, bound)
    columns, alias = fields(node), alias_of(join.this)
    names = column_names([name for name, _ in chosen], alias)
    own = free_names([generated(f"u{i}") for i in range(len(chosen))], (f.name for f in columns))
    added = (Named(name, ref) for name, (_, ref) in zip(own, chosen, strict=True))
    node = Project(node, (*(Named(f.name, make.ref(f)) for f in columns[:width]), *added))
    right = Relation.of(node, alias.name if alias is not None else None, [*(f.name for f in columns[:width]), *names])
    _refuse_same(left, replace(right, names=right.names[width:]), join)
    both = replace(left, node=node, names=(*left.names, *right.names[width:]), repeated=left.repeated | {i for i in right.repeated if i >= width})
    if (on := on_of(join)) is None or (asked := condition(on, both.scope(settings), "ON")) == make.true():
        return both
    if kind is JoinKind.LEFT:
        raise NotSupported(
            "A condition on a sub-query over UNNEST is not supported in a LEFT JOIN.", at=on, hint="Write it in the sub-query's WHERE."
        )
    return replace(both, node=filtered(node, asked))


def _elements(item: exp.Expr, inside: Scope) -> list[tuple[str, Expr]]:
    """The columns that an item of a select list over UNNEST names."""
    if item.is_star and not (isinstance(item, exp.Column) and item.table not in {c.qualifier for c in inside.columns}):
        return [(c.name, c.ref) for c in inside.columns]
    bound = bind(item.unalias(), inside)
    if not isinstance(bound, ColumnRef):
        raise NotSupported(
            "A sub-query over UNNEST selects columns.", at=item, hint="Compute from them in the outer query; Flink 2.3 leaves it undone."
        )
    return [(item.alias_or_name, bound)]


def _correlate(left: Relation, join: exp.Join, kind: JoinKind, elements: Expr, env: Environment) -> Relation:
    _refuse_sides(join, kind)
    both, node = correlated(left, join.this, elements, outer=kind is JoinKind.LEFT)
    _refuse_same(left, replace(both, names=both.names[len(left.names) :]), join)
    on = on_of(join)
    bound = condition(on, both.scope(env.settings), "ON") if on is not None else None
    if bound is None or bound == make.true():
        return both
    if kind is JoinKind.INNER:
        return replace(both, node=filtered(node, bound))
    if make.columns(bound) & {f.name for f in fields(left.node)}:
        raise NotSupported("The condition of this LEFT JOIN reads the left side: Flink does not support it either.", at=on, hint="Write ON TRUE.")
    return replace(both, node=replace(node, condition=bound))


def _refuse_same(left: Relation, right: Relation, join: exp.Join) -> None:
    """Raises where both sides have an item of the same name."""
    known = {qualifier for qualifier, _ in left.names if qualifier is not None}
    if same := next((qualifier for qualifier, _ in right.names if qualifier in known), None):
        raise ValidationError(f"Duplicate relation name '{same}' in FROM clause", at=join.this, hint="Give it another name with AS.")


def _refuse_sides(join: exp.Join, kind: JoinKind) -> None:
    """Raises for kinds of joins in which an item can't read what is to its left."""
    if kind not in (JoinKind.INNER, JoinKind.LEFT):
        raise ValidationError(f"Unknown join type {join.side}", at=join, hint="UNNEST, LATERAL and table functions take INNER, LEFT and CROSS JOIN.")
    if join.args.get("method") or using_of(join):
        raise NotSupported("NATURAL JOIN and USING are not supported with UNNEST, LATERAL and table functions.", at=join, hint="Write CROSS JOIN.")


def _common(left: Relation, right: Relation, join: exp.Join) -> list[str]:
    """The names of columns that USING lists, or that both sides of a NATURAL JOIN have."""
    names = [[side.names[i][1] for i in side.visible] for side in (left, right)]
    if using := using_of(join):
        for name in using:
            if missing := [known for known in names if name.name not in known]:
                raise ValidationError(f"Column '{name.name}' not found in any table", at=name, hint=did_you_mean(name.name, missing[0]))
        return [name.name for name in using]
    return [name for name in names[0] if name in names[1]] if join.args.get("method") else []


def _using(left: Relation, right: Relation, kind: JoinKind, names: list[str], join: exp.Join, env: Environment) -> Relation:
    """The join by equal columns of the names ``names``; without a qualifier each name means one column."""
    pairs = [(bind(exp.column(name), left.scope(env.settings)), bind(exp.column(name), right.scope(env.settings))) for name in names]
    both = left.beside(right)
    equalities = make.all_of([equal(a, b, join) for a, b in pairs])
    node: Node = Join(left.node, right.node, kind, equalities, hints=_of_join(left, right))
    places = {f.name: i for i, f in enumerate(fields(node))}
    by_name = {f.name: make.ref(f) for f in fields(node)}
    sides = [tuple(by_name[column] for side in pair for column in make.columns(side)) for pair in pairs]
    own = [tuple(places[c.name] for c in pair) for pair in sides]
    if kind is JoinKind.FULL:
        added = tuple(Named(generated(f"using{i}"), _either(*pair)) for i, pair in enumerate(sides, len(places)))
        node = Project(node, (*(Named(f.name, make.ref(f)) for f in fields(node)), *added))
        chosen = tuple(range(len(places), len(places) + len(added)))
    else:
        chosen = tuple(pair[kind is JoinKind.RIGHT] for pair in own)
    equals = {i for pair in own for i in pair}
    merged = (*chosen, *(i for i in both.merged if i not in equals))
    shown = (*both.names, *((None, n) for n in names if kind is JoinKind.FULL))
    return Relation(node, shown, merged, both.hidden | equals - {*chosen}, repeated=both.repeated)


def _either(left: Expr, right: Expr) -> Expr:
    """``COALESCE(left, right)``."""
    type_ = common_type([left.type, right.type])
    assert type_ is not None
    present = Call(BOOLEAN.not_null(), make.builtin("NOT"), (make.is_null(left),))
    return make.when(present, cast_to(left, type_), cast_to(right, type_))


def plain(node: exp.Expr, scope: Scope, clause: str) -> Expr:
    """The bound expression of a clause without calls of OVER and, except in HAVING, without aggregates. Raises ValidationError."""
    bound = bind(node, scope)
    if any(isinstance(e, OverCall) for e in bound.walk()):
        hint = "Select it in a sub-query and compare its column outside, or write QUALIFY behind WHERE."
        raise ValidationError(
            f"Windowed aggregate expression is illegal in {clause} clause", at=node, hint=hint if clause == "WHERE" else IN_SUB_QUERY
        )
    if clause != "HAVING" and any(isinstance(e, AggregateCall) for e in bound.walk()):
        hint = "HAVING, behind GROUP BY, takes conditions on aggregates." if clause == "WHERE" else IN_SUB_QUERY
        raise ValidationError(f"Aggregate expression is illegal in {clause} clause", at=node, hint=hint)
    return bound


def condition(node: exp.Expr, scope: Scope, clause: str) -> Expr:
    """The bound condition of a clause, see ``plain``. Raises ValidationError."""
    bound = plain(node, scope, clause)
    if not bound.type.same(BOOLEAN) and bound.type.root != "NULL":
        raise ValidationError(f"{clause} clause must be a condition", at=node, hint=f"It is {bound.type}: compare it, as in x > 0.")
    return bound
