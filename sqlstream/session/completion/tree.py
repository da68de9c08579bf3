"""A statement that is being typed as a tree of brackets, with the way down to the cursor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlstream.sql.syntax.lexer import Kind, Lexeme

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLOSES = {"(": ")", "[": "]", "/*+": "*/"}
QUERY_WORDS = ("SELECT", "WITH", "VALUES")


@dataclass(eq=False)
class BracketGroup:
    """What stands between brackets; the whole statement is one too. ``place``: where it is in its
    parent."""

    opener: str = ""
    parent: BracketGroup | None = None
    place: int = 0
    closed: bool = True
    items: list[Lexeme | BracketGroup] = field(default_factory=list)

    def word(self, place: int) -> str:
        """The word or sign at ``place``; ``()`` for a group; empty outside and for all else."""
        if not 0 <= place < len(self.items):
            return ""
        item = self.items[place]
        return "()" if isinstance(item, BracketGroup) else item.upper

    @property
    def is_query(self) -> bool:
        """Whether it is a sub-query."""
        return self.word(0) in QUERY_WORDS

    @property
    def before(self) -> str:
        """The word in front of it."""
        return self.parent.word(self.place - 1) if self.parent else ""


@dataclass(frozen=True)
class CursorPlace:
    """Where the cursor is: at ``place`` of ``group``, which is somewhere below ``root``."""

    root: BracketGroup
    group: BracketGroup
    place: int


def tree(before: Sequence[Lexeme], after: Sequence[Lexeme]) -> CursorPlace:
    """The tree of the lexemes before and after the cursor.

    A bracket that is not closed yet ends, unless it holds a query, where a clause of the query around it begins.
    """
    everything = [*before, *after]
    closed = _closed(everything)
    root = group = BracketGroup()
    cursor: tuple[BracketGroup, int] | None = None
    for index, lexeme in enumerate(everything):
        if index == len(before):
            cursor = group, len(group.items)
        while group.parent and not group.closed and not group.is_query and lexeme.upper in ("FROM", "WHERE"):
            group = group.parent
        sign = lexeme.text if lexeme.kind is Kind.SIGN else ""
        if sign in _CLOSES:
            inner = BracketGroup(sign, group, len(group.items), index in closed)
            group.items.append(inner)
            group = inner
        elif group.parent and sign == _CLOSES[group.opener]:
            group = group.parent
        else:
            group.items.append(lexeme)
    if cursor is None:
        cursor = group, len(group.items)
    return CursorPlace(root, *cursor)


def _closed(lexemes: Sequence[Lexeme]) -> set[int]:
    """The places of the brackets that are closed."""
    opened: list[int] = []
    closed = set()
    for index, lexeme in enumerate(lexemes):
        if lexeme.kind is Kind.SIGN and lexeme.text in _CLOSES:
            opened.append(index)
        elif opened and lexeme.text == _CLOSES[lexemes[opened[-1]].text]:
            closed.add(opened.pop())
    return closed
