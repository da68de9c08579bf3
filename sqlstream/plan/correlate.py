"""What in FROM depends on the row to its left: UNNEST of a collection.

FROM t CROSS JOIN UNNEST(tags) AS u(tag)    ->    Correlate(collection=tags, columns=[tag])
                                                  +- t
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.errors import NotSupported, ValidationError
from sqlstream.plan.joins import free_names
from sqlstream.plan.nodes import Correlate, Field
from sqlstream.plan.properties import fields
from sqlstream.sql.bind import bind
from sqlstream.sql.text import sql_name
from sqlstream.sql.types import INT

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.plan.scope import Environment, Relation
    from sqlstream.sql.types import Type

ORDINALITY = "ORDINALITY"


def unnested(left: Relation, node: exp.Unnest, env: Environment, *, outer: bool) -> tuple[Relation, Correlate]:
    """``left`` with the elements of the collection that ``node`` names. Raises ValidationError, NotSupported."""
    if len(node.expressions) != 1:
        raise NotSupported("UNNEST of several collections is not supported, by Flink neither.", at=node)
    collection = bind(node.expressions[0], left.scope(env.settings.zone))
    if collection.type.root not in ("ARRAY", "MAP", "MULTISET"):
        raise ValidationError(
            f"Cannot apply 'UNNEST' to arguments of type 'UNNEST(<{sql_name(collection.type)}>)'", at=node, hint="It takes an ARRAY, MAP or MULTISET."
        )
    columns = _elements(collection.type)
    ordinality = bool(node.args.get("offset"))
    if ordinality:
        columns.append((ORDINALITY, INT.not_null()))
    alias = node.args.get("alias")
    qualifier = alias.name if alias is not None else None
    names = [name for name, _ in columns]
    if alias is not None and alias.columns:
        given = [c.name for c in alias.columns]
        if len(given) != len(names):
            raise ValidationError(
                f"List of column aliases must have same degree as table; table has {len(names)} columns, whereas alias list has "
                f"{len(given)} columns", at=alias,
            )  # fmt: skip
        names = given
    elif qualifier and len(names) == 1:
        names = [qualifier]  # as in SQL
    own = free_names(names, {f.name for f in fields(left.node)})
    added = tuple(Field(name, type_) for name, (_, type_) in zip(own, columns, strict=True))
    made = Correlate(left.node, collection, added, ordinality, outer)
    return replace(left, node=made, names=(*left.names, *((qualifier, name) for name in names))), made


def _elements(type_: Type) -> list[tuple[str, Type]]:
    """The columns of a collection's elements."""
    if type_.root == "MAP":
        return list(zip(("KEY", "VALUE"), type_.children, strict=True))
    (element,) = type_.children
    if element.root == "ROW":
        return [(name, t.null() if element.nullable else t) for name, t in zip(element.names, element.children, strict=True)]
    return [("EXPR$0", element)]
