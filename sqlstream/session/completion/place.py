"""Where the cursor is: a place in a statement's tree, and the snapshot of the catalog that names mean something in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlstream.session.completion.suggestion import Candidate, identifier
from sqlstream.sql.syntax.lexer import Kind, Lexeme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.session.completion.context import Context
    from sqlstream.session.completion.tree import BracketGroup


@dataclass(frozen=True)
class Place:
    """``at`` is the place in ``group``; ``qualifier`` is what is written with a dot in front of the name that is being typed."""

    root: BracketGroup
    group: BracketGroup
    at: int
    context: Context
    qualifier: tuple[str, ...] = ()

    def word(self, back: int = 1) -> str:
        """The word that is ``back`` places in front of the cursor."""
        return self.group.word(self.at - back)

    @property
    def previous(self) -> Lexeme | BracketGroup | None:
        return self.group.items[self.at - 1] if self.at else None

    @property
    def outside(self) -> Place:
        """The place of the brackets that the cursor is in."""
        assert self.group.parent is not None
        return replace(self, group=self.group.parent, at=self.group.place)

    def is_string(self, back: int) -> bool:
        """Whether a string stands ``back`` places in front of the cursor."""
        item = self.group.items[self.at - back] if self.at >= back else None
        return isinstance(item, Lexeme) and item.kind is Kind.STRING

    def since(self, *stops: str) -> list[Lexeme | BracketGroup]:
        """What stands between the last of ``stops`` in these brackets and the cursor."""
        start = next((i + 1 for i in range(self.at - 1, -1, -1) if self.group.word(i) in stops), 0)
        return self.group.items[start : self.at]


def databases(context: Context, catalog: str) -> Iterator[Candidate]:
    return (identifier("database", d) for d in context.names.get(catalog, {}))


def catalogs(context: Context) -> Iterator[Candidate]:
    return (identifier("catalog", c) for c in context.names)


def relations(place: Place, *, tables: bool = True, views: bool = True, more: bool = True) -> Iterator[Candidate]:
    """Names of tables and views behind ``place``'s qualifier; with ``more`` also databases and catalogs, which can stand in front."""
    context = place.context
    match place.qualifier:
        case ():
            known = context.relations
        case (first,):
            known = context.names.get(context.catalog, {}).get(first, ())
            if first in context.names:
                yield from databases(context, first)
        case (first, second):
            known = context.names.get(first, {}).get(second, ())
        case _:
            return
    for relation in known:
        if relation.is_view is None or (views if relation.is_view else tables):
            yield identifier("view" if relation.is_view else "table", relation.name, "view" if relation.is_view else relation.connector)
    if more and not place.qualifier:
        yield from (d for d in databases(context, context.catalog) if d.name != context.database)
        yield from (c for c in catalogs(context) if c.name != context.catalog)
