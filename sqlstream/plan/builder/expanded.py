"""Expands a query so that it is independent of its surroundings: stars are written out, and every column is qualified by its item of FROM.

SELECT *, UPPER(b) FROM t JOIN u ON t.a = u.k    ->    SELECT t.a, t.b, u.k, UPPER(t.b) FROM t AS t JOIN u AS u ON t.a = u.k
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.plan.builder.from_clause import from_clause
from sqlstream.plan.builder.queries import query as planned
from sqlstream.plan.builder.queries import row_of_star, with_names
from sqlstream.sql.names import unique
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.clauses import alias_of, ctes, from_of, hints_of, joins_of, on_of, order_of, qualify_of, windows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.plan.builder.scope import Environment, Relation
    from sqlstream.sql.bind import Scope

Known = tuple[tuple[str | None, str], ...]


def expanded(query: exp.Query, env: Environment) -> exp.Query:
    """An expanded copy of ``query``. Raises what planning it would raise."""
    copy = query.copy()
    _Expansion().query(copy, env, ())
    return copy


class _Expansion:
    """Counts the items of FROM that have no name: ``EXPR$0``."""

    def __init__(self) -> None:
        self._unnamed = 0

    def query(self, node: exp.Expr, env: Environment, outer: Known) -> None:
        """Expands ``node`` itself; ``outer`` are the columns of the queries around it."""
        env = with_names(node, env)
        for cte in ctes(node):
            self.query(cte.this, env, outer)
        match node:
            case exp.Select():
                self._select(node, env, outer)
            case exp.SetOperation():
                self.query(node.this, env, outer)
                self.query(node.expression, env, outer)
            case exp.Subquery():
                self.query(node.this, env, outer)

    def _select(self, node: exp.Select, env: Environment, outer: Known) -> None:
        items = list(_items(node))
        for item in items:
            self._name(item)
        relation = from_clause(node, env, planned)
        known = (*(name for i, name in enumerate(relation.names) if i not in relation.hidden), *outer)
        called = {e.alias for e in node.expressions if isinstance(e, exp.Alias)}
        node.set("expressions", _listed(node, relation, relation.scope(env.settings)))
        for item in items:
            self._item(item, env, known)
        parts = [node.args.get(key) for key in ("where", "group", "having")]
        conditions = [on_of(join) for join in joins_of(node)]
        order = order_of(node)
        keys = [o for o in order.expressions if o.this.name not in called] if order is not None else []
        for part in (*node.expressions, *parts, *windows_of(node), *keys, *conditions):
            if part is not None:
                self._columns(part, env, known)
        if (qualify := qualify_of(node)) is not None:
            self._columns(qualify, env, tuple((table, name) for table, name in known if name not in called))

    def _name(self, item: exp.Expr) -> None:
        if alias_of(item) is not None:
            return
        if isinstance(item, exp.Table):
            if not hints_of(item):
                item.set("alias", exp.TableAlias(this=exp.to_identifier(item.name, quoted=True)))
        elif isinstance(item, exp.Subquery | ast.TableFunction | ast.MatchRecognize):
            item.set("alias", exp.TableAlias(this=exp.to_identifier(f"EXPR${self._unnamed}", quoted=True)))
            self._unnamed += 1

    def _item(self, item: exp.Expr, env: Environment, known: Known) -> None:
        match item:
            case exp.Subquery():
                self.query(item.this, env, ())
            case exp.Lateral():
                self.query(item.this.this, env, known)
            case exp.Unnest() | ast.TableFunction():
                for argument in item.expressions:
                    self._columns(argument, env, known)

    def _columns(self, node: exp.Expr, env: Environment, known: Known) -> None:
        """Puts the qualifier before the columns below ``node`` that have none."""
        if isinstance(node, exp.Query):
            self.query(node, env, known)
            return
        if isinstance(node, exp.Column):
            parts = [part.name for part in node.parts]
            qualifier = next((q for q, name in known if name == parts[0]), None)
            if qualifier is not None and parts[0] not in {q for q, _ in known} and len(parts) < len(exp.COLUMN_PARTS):
                for key, part in zip(exp.COLUMN_PARTS, reversed([qualifier, *parts]), strict=False):
                    node.set(key, exp.to_identifier(part, quoted=True))
            return
        for child in list(node.iter_expressions()):
            self._columns(child, env, known)


def _items(node: exp.Select) -> Iterator[exp.Expr]:
    """The items of FROM, including those in parentheses."""
    clause = from_of(node)
    waiting = [] if clause is None else [clause.this, *(join.this for join in joins_of(node))]
    while waiting:
        item = waiting.pop(0)
        inner = item.this if isinstance(item, exp.Subquery) else None
        if isinstance(inner, exp.Table | exp.Subquery) and joins_of(inner):
            waiting = [inner, *(join.this for join in joins_of(inner)), *waiting]
        else:
            yield item


def _listed(node: exp.Select, relation: Relation, scope: Scope) -> list[exp.Expr]:
    """The select list with its stars replaced by columns, under the names that these have in the result."""
    listed: list[exp.Expr] = []
    names: list[str] = []
    for item in node.expressions:
        if not isinstance(item, exp.Star) and not (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
            listed.append(item)
            names.append(item.alias_or_name)
            continue
        row = row_of_star(item, relation, scope)
        if row is not None:
            path = [part.name for part in item.parts[:-1]] if isinstance(item, exp.Column) else []
            for name in row.type.names:
                parts = (exp.to_identifier(part, quoted=True) for part in reversed([*path, name]))
                listed.append(_called(exp.Column(**dict(zip(exp.COLUMN_PARTS, parts, strict=False))), name, names))
            continue
        of = item.table if isinstance(item, exp.Column) else None
        for i in range(len(relation.names)) if of else relation.visible:
            qualifier, name = relation.names[i]
            if of and qualifier != of:
                continue
            column = exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(qualifier, quoted=True) if qualifier else None)
            listed.append(_called(column, name, names))
    return listed


def _called(column: exp.Expr, name: str, names: list[str]) -> exp.Expr:
    """``column`` under a name that is not among ``names``, which is added to them."""
    own = unique([*names, name])[-1]
    names.append(own)
    return column if own == name else exp.alias_(column, own, quoted=True)
