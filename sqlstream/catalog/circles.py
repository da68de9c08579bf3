"""Views that would read themselves: in comes a view that is to be declared, altered or renamed, out comes the refusal that names the circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import ValidationError
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlstream.catalog.namespaces import CatalogManager

_HINT = "A view stands for its query wherever it is named: give one of them another query, or another name."


def reads_itself(circle: Iterable[ObjectPath], at: exp.Expr | None) -> ValidationError:
    """The error about views of which each reads the next; the last is the first."""
    first, *others = (p.quoted for p in circle)
    return ValidationError(f"The view {first} would read itself: {' -> '.join([first, *others])}.", at=at, hint=_HINT)


def refuse_circle(view: View, manager: CatalogManager, at: exp.Expr | None = None) -> None:
    """Raises ValidationError, at the table that leads there, where ``view``, whose query has full names, would read itself once it is in
    ``manager``.
    """
    if not view.temporary and view.path in manager.temporary:
        return  # its name means the temporary one
    for path, node in _read(view):
        if circle := _way(path, view.path, manager):
            raise reads_itself((view.path, *circle), at or node)


def _way(start: ObjectPath, end: ObjectPath, manager: CatalogManager) -> list[ObjectPath]:
    """From ``start`` to ``end`` through the queries of views; nothing where none leads there."""
    ways, seen = [[start]], {start}
    while ways:
        way = ways.pop()
        if way[-1] == end:
            return way
        item: Table | View | None = manager.get(way[-1])
        for path, _ in _read(item) if isinstance(item, View) else ():
            if path not in seen:
                seen.add(path)
                ways.append([*way, path])
    return []


def _read(view: View) -> list[tuple[ObjectPath, exp.Expr]]:
    named = ((ast.parts(table), table) for table in view.query.find_all(exp.Table))
    return [(ObjectPath(*parts), table) for parts, table in named if len(parts) == len(ObjectPath._fields)]
