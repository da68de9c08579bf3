"""QUALIFY: a condition on what OVER computes. Each call in it, and each column that it reads, is selected under a name of its own, and left out.

SELECT a FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY b) = 1
->    SELECT a FROM (SELECT a, ROW_NUMBER() OVER (ORDER BY b) AS $qualify0 FROM t) WHERE $qualify0 = 1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.sql.generated_names import generated
from sqlstream.sql.sqlglot.dialect import flink_sql
from sqlstream.sql.syntax.clauses import group_of, having_of, qualify_of

if TYPE_CHECKING:
    from collections.abc import Callable


def with_qualify_columns(select: exp.Select) -> tuple[exp.Select, exp.Expr | None, tuple[str, ...]]:
    """``select`` with additional columns for its QUALIFY, the condition on its rows, None where there is none, and the names of these columns.

    Raises ValidationError, NotSupported.
    """
    clause = qualify_of(select)
    if clause is None:
        return select, None, ()
    if group_of(select) or having_of(select):
        raise NotSupported("QUALIFY beside GROUP BY is not supported; Flink 2.3 fails at it.", at=clause, hint="Aggregate in a sub-query of FROM.")
    # A name is one of the select list first.
    named = {item.alias: item.this for item in select.expressions if isinstance(item, exp.Alias)}
    asked = _outside(clause.this, lambda n: named[n.name].copy() if isinstance(n, exp.Column) and not n.table and n.name in named else None)
    names: dict[exp.Expr, str] = {}

    def column(node: exp.Expr) -> exp.Expr | None:
        if not isinstance(node, exp.Window | exp.Column):
            return None
        return exp.column(exp.to_identifier(names.setdefault(node, generated(f"qualify{len(names)}")), quoted=True))

    condition = _outside(asked, column)
    if not any(isinstance(node, exp.Window) for node in names):
        raise ValidationError(f"QUALIFY expression '{flink_sql(clause.this)}' must contain a window function", at=clause.this)
    made = select.copy()
    made.set("qualify", None)
    added = [exp.alias_(node.copy(), exp.to_identifier(name, quoted=True)) for node, name in names.items()]
    made.set("expressions", [*made.expressions, *added])
    return made, condition, tuple(names.values())


def _outside(node: exp.Expr, replaced: Callable[[exp.Expr], exp.Expr | None]) -> exp.Expr:
    """``node`` with what ``replaced`` gives in the place of its parts that are in no sub-query, None for what stays."""
    whole = node.copy()
    inside = {id(part) for query in whole.find_all(exp.Query) for part in query.walk()}
    return whole.transform(lambda n: n if id(n) in inside else replaced(n) or n, copy=False)
