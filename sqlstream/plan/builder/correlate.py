"""Items of FROM that depend on the row to their left: UNNEST of a collection, and the user's table functions, whose rows are a collection too.

FROM t CROSS JOIN UNNEST(tags) AS u(tag)    ->    Correlate(collection=tags, columns=[tag])
                                                  +- t
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan.builder.scope import Hint
from sqlstream.plan.naming import free_names
from sqlstream.plan.nodes import Correlate, Field
from sqlstream.plan.properties import fields
from sqlstream.sql.bind import Scope, bind
from sqlstream.sql.expressions import AggregateCall, OverCall
from sqlstream.sql.names import refuse_repeated
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.clauses import alias_of, has_ordinality
from sqlstream.sql.text import sql_name
from sqlstream.sql.types import INT

if TYPE_CHECKING:
    from sqlstream.plan.builder.scope import Environment, Relation
    from sqlstream.sql.expressions import Expr
    from sqlstream.sql.types import Type

ORDINALITY = "ORDINALITY"


def collection(node: exp.Expr, left: Relation, env: Environment) -> Expr | None:
    """The collection that ``node`` unnests, over the columns of ``left``; None where it is another item. Raises ValidationError, NotSupported."""
    scope = left.scope(env.settings)
    if isinstance(node, exp.Unnest):
        if len(node.expressions) != 1:
            raise NotSupported(
                "UNNEST of several collections is not supported; Flink does not support it either.",
                at=node,
                hint="UNNEST them one after the other: CROSS JOIN UNNEST(a) CROSS JOIN UNNEST(b) gives each with each.",
            )
        bound = _of_row(node.expressions[0], scope)
        if bound.type.root not in ("ARRAY", "MAP", "MULTISET"):
            problem = f"Cannot apply 'UNNEST' to arguments of type 'UNNEST(<{sql_name(bound.type)}>)'"
            raise ValidationError(problem, at=node, hint="It takes an ARRAY, MAP or MULTISET.")
        return bound
    if not isinstance(node, ast.TableFunction) or (function := env.table_function(node, node.name)) is None:
        return None
    call = exp.Anonymous(this=node.name, expressions=node.copy().expressions)
    call.meta.update(node.meta)
    return _of_row(call, replace(scope, functions=ChainMap({node.name: function}, scope.functions)))  # type: ignore[arg-type]


def _of_row(node: exp.Expr, scope: Scope) -> Expr:
    """``node``, bound, which may not aggregate. Raises ValidationError."""
    bound = bind(node, scope)
    if any(isinstance(e, AggregateCall | OverCall) for e in bound.walk()):
        raise ValidationError("Aggregate expression is illegal in FROM clause", at=node)
    return bound


def correlated(left: Relation, node: exp.Expr, unnested: Expr, *, outer: bool) -> tuple[Relation, Correlate]:
    """``left`` with the elements of ``unnested``, named as ``node`` says. Raises ValidationError."""
    columns = _elements(unnested.type)
    ordinality = has_ordinality(node)
    if ordinality:
        columns.append((ORDINALITY, INT.not_null()))
    alias = alias_of(node)
    qualifier = alias.name if alias is not None else None
    names = [name for name, _ in columns]
    if alias is not None and alias.columns:
        names = column_names(names, alias)
    elif qualifier and len(names) == 1 and isinstance(node, exp.Unnest):
        names = [qualifier]  # as in SQL
    own = free_names(names, {f.name for f in fields(left.node)})
    added = tuple(Field(name, type_) for name, (_, type_) in zip(own, columns, strict=True))
    made = Correlate(left.node, unnested, added, ordinality, outer)
    return replace(left, node=made, names=(*left.names, *((qualifier, name) for name in names)), hint=Hint()), made


def column_names(names: list[str], alias: exp.Expr | None) -> list[str]:
    """``names``, or those that ``alias`` lists in their place. Raises ValidationError."""
    listed = (alias.args.get("columns") or []) if alias is not None else []
    own = [c.name for c in listed]
    if own and len(own) != len(names):
        problem = f"table has {len(names)} columns, whereas alias list has {len(own)} columns"
        raise ValidationError(f"List of column aliases must have same degree as table; {problem}", at=alias)
    refuse_repeated(listed, "column alias list")
    return own or names


def _elements(type_: Type) -> list[tuple[str, Type]]:
    """The columns of a collection's elements."""
    if type_.root == "MAP":
        return list(zip(("KEY", "VALUE"), type_.children, strict=True))
    (element,) = type_.children
    if element.root == "ROW":
        return [(name, t.null() if element.nullable else t) for name, t in zip(element.names, element.children, strict=True)]
    return [("EXPR$0", element)]
