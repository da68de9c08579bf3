"""From the syntax tree of a query to logical nodes. A clause that is not supported is refused at its place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.counts import counted
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan import make
from sqlstream.plan.builder.aggregate import aggregate
from sqlstream.plan.builder.decorrelate import aggregate_calls, conjuncts, decorrelated, is_of, over_calls, reading
from sqlstream.plan.builder.from_clause import NOTHING, condition, from_clause, inside_of, plain, sub_queries
from sqlstream.plan.builder.group_windows import group_window
from sqlstream.plan.builder.order_by import sort, with_order_columns
from sqlstream.plan.builder.over import below_over, over
from sqlstream.plan.builder.qualify import with_qualify_columns
from sqlstream.plan.builder.relations import relation
from sqlstream.plan.builder.scope import Relation
from sqlstream.plan.builder.set_operations import distinct, matching, union
from sqlstream.plan.builder.subqueries import QUALIFIER, SAME_NUMBER, is_sub_query, refuse_of_no_rows
from sqlstream.plan.naming import without_names
from sqlstream.plan.nodes import Field, Join, JoinKind, Limit, Named, Node, Project, Union, Values, filtered
from sqlstream.plan.properties import fields
from sqlstream.sql.bind import ONE_TYPE, Scope, bind, cast_to, common_type, equal
from sqlstream.sql.expressions import AggregateCall, ColumnRef, Expr, FieldAccess, OverCall
from sqlstream.sql.keys import require_key
from sqlstream.sql.names import UNIQUE, refuse_repeated, repeated, unique
from sqlstream.sql.over import with_named_windows
from sqlstream.sql.syntax.calls import call_args, is_called
from sqlstream.sql.syntax.clauses import alias_of, group_of, having_of, is_distinct, limit_count, query_of, unwrapped, where_of, with_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlstream.plan.builder.scope import Environment
    from sqlstream.plan.builder.subqueries import SubQueries

_SELECT_PARTS = {
    "with_", "expressions", "hint", "distinct", "from_", "joins", "laterals", "where", "group", "having", "order", "limit", "offset",
    "windows", "qualify", "operation_modifiers",
}  # fmt: skip


_BELOW_WINDOW = "A sub-query in a key or in an aggregate is not supported beside GROUP BY TUMBLE, HOP or SESSION."
_ONE_WINDOW = (
    "Over Agg: Unsupported use of OVER windows. All aggregates must be computed on the same window. please re-check the over window statement."
)


def query(node: exp.Expr, env: Environment) -> Node:
    """The plan of a query: SELECT, VALUES, UNION ALL, WITH, TABLE t, parentheses. Raises ValidationError, NotSupported."""
    return env.placed(_query(node, with_names(node, env)), node)


def _query(node: exp.Expr, env: Environment) -> Node:
    match node:
        case exp.Select():
            return _select(node, env)
        case exp.Values():
            return _values(node, env)
        case exp.SetOperation():
            made = _set_operation(node, env)
        case exp.Subquery():
            made = query(node.this, env)
        case exp.Table():
            return relation(node, env, query).node
        case _:
            raise NotSupported("This is no query.", at=node, hint="A query begins with SELECT, VALUES, TABLE or WITH.")
    return _ordered(node, made, env.names(node, made), env)


def with_names(node: exp.Expr, env: Environment) -> Environment:
    """``env`` with the queries of the WITH of ``node``."""
    clause = with_of(node)
    if clause is None:
        return env
    if clause.args.get("recursive"):
        raise NotSupported("WITH RECURSIVE is not supported by Flink SQL.", at=clause, hint="Join as often as there are levels.")
    for cte in clause.expressions:
        alias = cte.args["alias"]
        made = query(cte.this, env)
        written = env.names(cte.this, made)
        if not alias.columns and (twice := repeated(written)) is not None:
            raise ValidationError(f"Column has duplicate column name '{twice}' and no column list specified", at=cte, hint=UNIQUE)
        built = _renamed(made, alias.columns, alias)
        env = replace(env, ctes={**env.ctes, alias.name: built})
    return env


def _renamed(node: Node, names: list[exp.Identifier], at: exp.Expr) -> Node:
    if not names:
        return node
    columns = fields(node)
    if len(names) != len(columns):
        raise ValidationError(f"{len(names)} column names are given for {len(columns)} columns.", at=at)
    refuse_repeated(names, "column list")
    return Project(node, tuple(Named(n.name, ColumnRef(f.type, f.name)) for n, f in zip(names, columns, strict=True)))


def _select(select: exp.Select, env: Environment) -> Node:
    for part, value in select.args.items():
        if value and part not in _SELECT_PARTS:
            raise NotSupported(
                f"{part.strip('_').upper()} is not supported in SELECT.",
                at=select if value is True else value,
                hint="Leave it out: Flink SQL has no such clause.",
            )
    asked_for = select
    select, qualify, hidden = with_qualify_columns(select)
    select, order_columns = with_order_columns(with_named_windows(select))
    source = from_clause(select, env, query)
    scope = source.scope(env.settings)
    node = source.node
    if where := where_of(select):
        node = env.placed(_where(where.this, source, scope, env), where.this)
    select, node, added = group_window(select, node, scope, env.settings.zone)
    if added:
        node = env.placed(node, group_of(asked_for) or asked_for)
        source = replace(source, node=node, names=(*source.names, *((None, name) for name in added)))
        scope = source.scope(env.settings)
    below = sub_queries(node, scope, env, query)
    select = below.aggregated(select)
    if added and below.joins:
        raise NotSupported(_BELOW_WINDOW, at=group_of(asked_for), hint="Use the window functions, as in FROM TABLE(TUMBLE(TABLE t, ..)).")
    node, scope = below.apply(node), below.inner
    group, having = group_of(select), having_of(select)
    inner = sub_queries(node, replace(scope, grouped=bool(group)), env, query)
    expressions = [inner.replaced(e) for e in select.expressions]
    asked = inner.replaced(having.this, condition=True) if having else None
    listed = _listed(expressions, source, inner.inner)
    wanted = _named(listed)
    written = tuple(name for name, _ in listed[: len(listed) - len(order_columns) - len(hidden)])
    if repeated(written) is not None:
        env.written[id(asked_for)] = asked_for, written
    items, calls = below_over(wanted)
    if group or having or any(map(_aggregates, [*(i.expr for i in items), *inner.conditions])):
        bound_having = condition(asked, inner.inner, "HAVING") if asked is not None else None
        node = env.placed(aggregate(node, group, items, bound_having, scope, select, inner, source.hint.ttl), group or having or select)
    else:
        node = Project(inner.apply(node), tuple(items))
    if calls:
        if not env.settings.batch and len({c.window for c in calls}) > 1:
            raise ValidationError(_ONE_WINDOW, at=select, hint="Compute one of them in a sub-query.")
        node = env.placed(over(node, items, calls, wanted), next(over_calls(select.expressions)))
    if qualify is not None:
        computed = Relation.of(node, None)
        kept = env.placed(_where(qualify, computed, computed.scope(env.settings), env, "QUALIFY"), qualify)
        node = Project(kept, tuple(Named(f.name, make.ref(f)) for f in fields(kept) if f.name not in hidden))
    if is_distinct(select):
        for f in fields(node):
            require_key(f.type, asked_for, "DISTINCT")
        node = distinct(node, source.hint.ttl)
    return _ordered(select, node, written, env)


def _where(where: exp.Expr, source: Relation, scope: Scope, env: Environment, clause: str = "WHERE") -> Node:
    """The rows of ``source`` for which ``where`` holds; IN and EXISTS with a sub-query are semi and anti joins."""
    parts = conjuncts(where)
    joins = [p for p in parts if _sub_query(p) is not None]
    values = [p for p in parts if p not in joins and any(is_sub_query(n) for n in p.walk())]
    simple = make.all_of([condition(p, scope, clause) for p in parts if p not in joins and p not in values])
    node = filtered(source.node, simple)
    for part in joins:
        with reading(scope):
            node = env.placed(_semi_join(part, node, scope, env), part)
    if not values:
        return node
    inner = sub_queries(node, scope, env, query)
    asked = [inner.replaced(p, condition=True) for p in values]
    kept = filtered(inner.apply(node), make.all_of([condition(p, inner.inner, clause) for p in asked]))
    return Project(kept, tuple(Named(f.name, make.ref(f)) for f in fields(node)))


def _sub_query(part: exp.Expr) -> exp.Expr | None:
    """The sub-query of [NOT] EXISTS (..) and of .. [NOT] IN (SELECT ..)."""
    test = part.this if isinstance(part, exp.Not) else part
    while isinstance(test, exp.Paren):
        test = test.this
    inner_query = test.this if isinstance(test, exp.Exists) else query_of(test) if isinstance(test, exp.In) else None
    return None if inner_query is None else unwrapped(inner_query)


_PLAIN = {"expressions", "from_", "joins", "laterals", "where"}


def _semi_join(part: exp.Expr, node: Node, scope: Scope, env: Environment) -> Node:
    kind = JoinKind.ANTI if isinstance(part, exp.Not) else JoinKind.SEMI
    test = part.find(exp.In, exp.Exists)
    select = _sub_query(part)
    assert test is not None and select is not None
    conditions: list[Expr] = []
    items: Sequence[Expr]
    used = [f.name for f in fields(node)]
    simple = isinstance(select, exp.Select) and all(k in _PLAIN for k, v in select.args.items() if v)
    if simple and not any(aggregate_calls(e, scope) for e in select.expressions) and not any(over_calls(select.expressions)):
        # What the sub-query asks of columns around it is the join's condition.
        read = from_clause(select, env, query)
        inner = replace(read, node=without_names(read.node, used))
        both = replace(inner.scope(env.settings), outer=scope)
        right, names = inner.node, {f.name for f in fields(inner.node)}
        where = where_of(select)
        for part in conjuncts(where.this) if where is not None else []:
            if any(is_sub_query(n) for n in part.walk()):
                right = _where(part, replace(inner, node=right), inner.scope(env.settings), env)
                continue
            bound = condition(part, both, "WHERE")
            if make.columns(bound) <= names:
                right = filtered(right, bound)
            else:
                conditions.append(bound)
        listed = [] if isinstance(test, exp.Exists) else _listed(select.expressions, replace(inner, node=right), both)
        items = [e for _, e in listed]
    else:
        split = decorrelated(select, inside_of(env, query), scope, node)
        right = without_names(query(split.query, split.environment(env)), used)
        items = [make.ref(f) for f in fields(right)]
        width = len(items) - len(split.keys)
        conditions += split.asked(items[width:], scope)
        items = items[:width]
        if split.scalar and isinstance(test, exp.Exists):
            refuse_of_no_rows(split, test)
            return node if kind is JoinKind.SEMI else filtered(node, make.false())
        if split.scalar and any(split.of_no_rows(i) is not None for i in range(width)):
            raise NotSupported("An aggregate without GROUP BY in IN has a result for no rows, too.", at=test, hint="Write GROUP BY.")
    if isinstance(test, exp.In):
        compared = test.this.expressions if isinstance(test.this, exp.Tuple) else [test.this]
        if len(compared) != len(items):
            raise ValidationError("The sub-query of IN has a different number of columns.", at=test, hint=SAME_NUMBER)
        for value, item in zip(compared, items, strict=True):
            conditions.append(equal(bind(value, scope), item, test, unknown=kind is JoinKind.ANTI))
    return Join(node, right, kind, make.all_of(conditions))


def _aggregates(expr: Expr) -> bool:
    windowed = [e.call for e in expr.walk() if isinstance(e, OverCall)]
    return any(isinstance(e, AggregateCall) and e not in windowed for e in expr.walk())


def _listed(expressions: Iterable[exp.Expr], source: Relation, scope: Scope) -> list[tuple[str, Expr]]:
    """The select list with names: columns of stars get unique names, other items may share one."""
    listed: list[tuple[str, Expr]] = []
    for item in expressions:
        for name, expr in _expanded(item, source, scope):
            # EXPR$n counts the positions of the expanded select list.
            called = name if name is not None else f"EXPR${len(listed)}"
            listed.append((unique([*(n for n, _ in listed), called])[-1] if item.is_star else called, expr))
    return listed


def _named(listed: list[tuple[str, Expr]]) -> list[Named]:
    """The columns of a select list, under unique names."""
    return [Named(name, expr) for name, (_, expr) in zip(unique([n for n, _ in listed]), listed, strict=True)]


def _expanded(item: exp.Expr, source: Relation, scope: Scope) -> Iterable[tuple[str | None, Expr]]:
    if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
        if isinstance(item, exp.Star) and any(item.args.values()):
            raise NotSupported("SELECT * with EXCEPT or REPLACE is not Flink SQL.", at=item, hint="List the columns.")
        row = row_of_star(item, source, scope)
        if row is not None:
            yield from _fields(row, item)
            return
        qualifier = item.table if isinstance(item, exp.Column) else None
        columns = fields(source.node)
        places = [i for i in (range(len(columns)) if qualifier else source.visible) if not qualifier or source.names[i][0] == qualifier]
        if not places:
            named = ".".join(p.name for p in item.parts[:-1]) if isinstance(item, exp.Column) else ""
            raise ValidationError(f"Unknown identifier '{named}'" if qualifier else "SELECT * requires a FROM clause", at=item)
        if twice := [source.names[i][1] for i in places if i in source.repeated]:
            raise ValidationError(f"Column '{twice[0]}' is ambiguous", at=item, hint=UNIQUE)
        yield from ((source.names[i][1], make.ref(columns[i])) for i in places)
        return
    if isinstance(item, exp.Dot) and isinstance(item.expression, exp.Star):
        yield from _fields(bind(item.this, scope), item)
        return
    if isinstance(item, exp.Alias):
        yield item.alias, bind(item.this, scope)
        return
    yield _derived_name(item), bind(item, scope)


def row_of_star(item: exp.Expr, source: Relation, scope: Scope) -> Expr | None:
    """The column before the star of ``person.*`` or ``t.person.*``; None where that is the name of a table in FROM."""
    names = item.parts[:-1] if isinstance(item, exp.Column) else []
    if not names or (len(names) == 1 and any(table == names[0].name for table, _ in source.names)):
        return None
    column = exp.Column(**dict(zip(exp.COLUMN_PARTS, (n.copy() for n in reversed(names)), strict=False)))
    return bind(column, scope) if is_of(column, scope) else None


def _fields(row: Expr, item: exp.Expr) -> Iterable[tuple[str, Expr]]:
    if row.type.root != "ROW":
        raise ValidationError(f"Not a record type. The '*' operator requires a record: this is of type {row.type}", at=item)
    for name, type_ in zip(row.type.names, row.type.children, strict=True):
        yield name, FieldAccess(type_ if not row.type.nullable else type_.null(), row, name)


def _derived_name(item: exp.Expr) -> str | None:
    match item:
        case exp.Column():
            return None if item.table == QUALIFIER else str(item.name)
        case exp.Dot():
            return str(item.expression.name) if isinstance(item.expression, exp.Identifier) else None
        case exp.Paren():
            return _derived_name(item.this)
    return None


def _values(node: exp.Values, env: Environment) -> Node:
    scope = Scope((), zone=env.settings.zone, functions=env.settings.functions, database=env.settings.database)
    # The sub-queries of each row, and its cells.
    made = [(sub_queries(NOTHING.node, scope, env, query), _cells(row)) for row in node.expressions]
    rows = []
    for inner, cells in made:
        replaced = [inner.replaced(cell) for cell in cells]
        rows.append(tuple(plain(cell, inner.inner, "VALUES") for cell in replaced))
    width = len(rows[0])
    for bound, row in zip(rows, node.expressions, strict=True):
        if len(bound) != width:
            raise ValidationError("Values passed to VALUES operator must have compatible types: rows differ in length", at=row)
    columns = []
    for i in range(width):
        type_ = common_type([r[i].type for r in rows])
        if type_ is None:
            raise ValidationError("Values passed to VALUES operator must have compatible types", at=node, hint=ONE_TYPE)
        columns.append(Field(f"EXPR${i}", type_))
    cast = tuple(tuple(cast_to(cell, f.type) for cell, f in zip(r, columns, strict=True)) for r in rows)
    alias = alias_of(node)
    return _renamed(_of_rows(cast, columns, [inner for inner, _ in made]), alias.columns if alias else [], node)


def _of_rows(rows: Sequence[tuple[Expr, ...]], columns: Sequence[Field], inner: Sequence[SubQueries]) -> Node:
    """``rows``, whose sub-queries are those of ``inner``."""
    parts: list[Node] = []
    if plain_rows := tuple(row for row, own in zip(rows, inner, strict=True) if not own.joins):
        parts.append(Values(plain_rows, tuple(columns)))
    for row, own in zip(rows, inner, strict=True):
        if own.joins:
            parts.append(Project(own.apply(own.node), tuple(Named(f.name, cell) for cell, f in zip(row, columns, strict=True))))
    return parts[0] if len(parts) == 1 else Union(tuple(parts))


def _cells(row: exp.Expr) -> list[exp.Expr]:
    if isinstance(row, exp.Tuple):
        return list(row.expressions)
    if is_called(row, "ROW"):
        return call_args(row)
    return [row.this if isinstance(row, exp.Paren) else row]


def _set_operation(node: exp.SetOperation, env: Environment) -> Node:
    name = type(node).__name__.upper() + ("" if is_distinct(node) else " ALL")
    branches = [query(node.this, env), query(node.expression, env)]
    widths = [len(fields(b)) for b in branches]
    if widths[0] != widths[1]:
        sides = f"The first query has {counted(widths[0], 'column')}, the second {counted(widths[1], 'column')}: select the same number."
        raise ValidationError(f"Column count mismatch in {name}", at=node, hint=sides)
    targets = []
    for left, right in zip(*(fields(b) for b in branches), strict=True):
        type_ = common_type([left.type, right.type])
        if type_ is None:
            problem = f"Type mismatch in column '{left.name}' of {name}: {left.type.full} and {right.type.full}"
            raise ValidationError(problem, at=node, hint=ONE_TYPE)
        targets.append(type_)
    left, right = (converted(branch, targets) for branch in branches)
    keeps_all = not is_distinct(node)
    if not (isinstance(node, exp.Union) and keeps_all):
        for target in targets:
            require_key(target, node, name)
    if isinstance(node, exp.Union):
        return union(left, right, keeps_all=keeps_all)
    return matching(left, right, intersect=isinstance(node, exp.Intersect), keeps_all=keeps_all)


def converted(node: Node, targets: Iterable[object]) -> Node:
    """``node`` with its columns cast to ``targets`` where they differ in more than nullability."""
    columns = []
    for f, target in zip(fields(node), targets, strict=True):
        ref = ColumnRef(f.type, f.name)
        columns.append(Named(f.name, ref if f.type.same(target) else cast_to(ref, target)))  # type: ignore[arg-type]
    if all(isinstance(c.expr, ColumnRef) for c in columns):
        return node
    return Project(node, tuple(columns))


def _ordered(clause: exp.Expr, node: Node, names: tuple[str, ...], env: Environment) -> Node:
    """``node`` with the ORDER BY and LIMIT of ``clause``, and only the columns ``names``."""
    order, limit, offset = (clause.args.get(k) for k in ("order", "limit", "offset"))
    kept = fields(node)[: len(names)]
    if order:
        scope = Relation.of(node, None).scope(env.settings)
        node = env.placed(sort(order, node, names, lambda key: plain(key, scope, "ORDER BY")), order)
    if limit or offset:
        node = env.placed(Limit(node, _number(limit), _number(offset) or 0), limit or clause)
    return node if fields(node) == kept else Project(node, tuple(Named(f.name, make.ref(f)) for f in kept))


def _number(clause: exp.Expr | None) -> int | None:
    if clause is None:
        return None
    value = limit_count(clause)
    if not isinstance(value, exp.Literal) or value.is_string:
        raise NotSupported(
            "LIMIT, FETCH and OFFSET take a whole number.", at=clause, hint="Write the number itself, as in LIMIT 10; a saved query has parameters."
        )
    return int(value.this)
