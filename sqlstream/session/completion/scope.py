"""Which columns a place in a query can mean: tables, views, common table expressions and sub-queries of its FROM.

In: the tree of a statement that is being typed, a snapshot of the catalog. Out: sources by alias. What is not known yet has no columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.session.completion.context import Column, Columns
from sqlstream.session.completion.tree import BracketGroup
from sqlstream.session.completion.words import CLAUSES, SET_OPERATORS, WINDOW_COLUMNS, WINDOW_FUNCTIONS
from sqlstream.sql.syntax.lexer import RESERVED, Kind, Lexeme

if TYPE_CHECKING:
    from sqlstream.session.completion.context import Context

_DEEPEST = 12


@dataclass(frozen=True)
class FromItem:
    """An item of FROM: its alias, what it is, its columns."""

    alias: str
    columns: Columns
    parts: tuple[str, ...] = ()


def sources(group: BracketGroup, place: int, context: Context, depth: int = 0) -> list[FromItem]:
    """The items of FROM of the query of ``group`` that ``place`` is in."""
    if depth > _DEEPEST:
        return []
    select, end = query_at(group, place)
    start = next((i for i in range(select, end) if group.word(i) == "FROM"), end)
    stop = next((i for i in range(start + 1, end) if group.word(i) in CLAUSES), end)
    reader = _Reader(group, stop, context, depth)
    return [s for i in range(start, stop) if group.word(i) in ("FROM", "JOIN", ",") and (s := reader.source(i + 1))]


def query_at(group: BracketGroup, place: int) -> tuple[int, int]:
    """From its SELECT to its end, the query of ``group`` that ``place`` is in."""
    selects = [i for i in range(len(group.items)) if group.word(i) == "SELECT"]
    start = max((i for i in selects if i < place), default=selects[0] if selects else 0)
    stops = (*SET_OPERATORS, "SELECT", ";")
    return start, next((i for i in range(start + 1, len(group.items)) if group.word(i) in stops), len(group.items))


def enclosing_query(group: BracketGroup, place: int) -> tuple[BracketGroup, int] | None:
    """The nearest query around a place: its group, and the place in it."""
    while not any(group.word(i) == "SELECT" for i in range(len(group.items))):
        if group.parent is None:
            return None
        group, place = group.parent, group.place
    return group, place


def output(group: BracketGroup, context: Context, depth: int = 0) -> Columns:
    """The columns that the first query of ``group`` gives; those without a name are left out."""
    select, end = query_at(group, 0)
    if group.word(select) != "SELECT" or depth > _DEEPEST:
        return ()
    stop = next((i for i in range(select + 1, end) if group.word(i) in CLAUSES), end)
    below = sources(group, select + 1, context, depth + 1)
    columns: list[Column] = []
    for item in split(group.items[select + 1 : stop]):
        columns += _named(item, below)
    return tuple(columns)


def _named(item: list[Lexeme | BracketGroup], below: list[FromItem]) -> Columns:
    """The columns of one item of SELECT."""
    while item and ((isinstance(item[0], BracketGroup) and item[0].opener == "/*+") or _word(item[0]) in ("DISTINCT", "ALL")):
        item = item[1:]
    if not item:
        return ()
    last = item[-1]
    if _word(last) == "*":
        alias = item[0].name if len(item) == 3 and isinstance(item[0], Lexeme) else None
        return tuple(c for s in below if alias in (None, s.alias) for c in s.columns)
    if not is_name(last):
        return ()
    assert isinstance(last, Lexeme)
    path = [i for i in item if _word(i) != "."]
    if len(item) == 2 * len(path) - 1 and all(is_name(i) for i in path):
        aliases = [s for s in below if len(path) == 1 or s.alias == path[0].name]  # type: ignore[union-attr]
        return (next((c for s in aliases for c in s.columns if c.name == last.name), Column(last.name)),)
    return (Column(last.name),)


def common_tables(group: BracketGroup | None, context: Context, depth: int) -> dict[str, Columns]:
    """Common table expressions that a query in ``group`` can name."""
    tables: dict[str, Columns] = {}
    while group is not None:
        for i in range(len(group.items)):
            body = group.items[i]
            if not isinstance(body, BracketGroup) or not body.is_query or group.word(i - 1) != "AS":
                continue
            names = group.items[i - 2] if i >= 2 else None
            named = tuple(Column(n) for n in name_list(names)) if isinstance(names, BracketGroup) else ()
            name = group.items[i - 3] if isinstance(names, BracketGroup) and i >= 3 else names
            if isinstance(name, Lexeme) and is_name(name):
                tables.setdefault(name.name, named or output(body, context, depth + 1))
        group = group.parent
    return tables


def definitions(group: BracketGroup) -> Columns:
    """The columns that a CREATE TABLE declares."""
    columns = []
    for item in split(group.items):
        if item and is_name(item[0]):
            assert isinstance(item[0], Lexeme)
            columns.append(Column(item[0].name, _word(item[1]) if len(item) > 1 else ""))
    return tuple(columns)


def name_list(group: BracketGroup) -> list[str]:
    """The names in brackets."""
    return [i.name for i in group.items if isinstance(i, Lexeme) and is_name(i)]


def path_at(group: BracketGroup, place: int) -> tuple[str, ...]:
    """``catalog.database.name`` that begins at ``place``; empty where none does."""
    parts: list[str] = []
    while place < len(group.items) and is_name(group.items[place]):
        item = group.items[place]
        assert isinstance(item, Lexeme)
        parts.append(item.name)
        if group.word(place + 1) != ".":
            break
        place += 2
    return tuple(parts)


def split(items: list[Lexeme | BracketGroup]) -> list[list[Lexeme | BracketGroup]]:
    """``items`` between commas."""
    parts: list[list[Lexeme | BracketGroup]] = [[]]
    for item in items:
        if _word(item) == ",":
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


def is_name(item: Lexeme | BracketGroup) -> bool:
    """Whether it can name something: a word that is not reserved, or one in back-ticks."""
    return isinstance(item, Lexeme) and (item.kind is Kind.QUOTED or (item.kind is Kind.WORD and item.upper not in RESERVED))


def _word(item: Lexeme | BracketGroup) -> str:
    return item.upper if isinstance(item, Lexeme) else ""


@dataclass(frozen=True)
class _Reader:
    """Reads items of FROM, up to ``stop``."""

    group: BracketGroup
    stop: int
    context: Context
    depth: int

    def source(self, at: int) -> FromItem | None:
        """The item that begins at ``at``."""
        group = self.group
        at += group.word(at) == "LATERAL"
        if at >= self.stop:
            return None
        item = group.items[at]
        parts: tuple[str, ...] = ()
        if isinstance(item, BracketGroup):
            columns, at = output(item, self.context, self.depth + 1), at + 1
        elif item.upper in ("TABLE", "UNNEST") and group.word(at + 1) == "()":
            columns, at = self._called(at + 1), at + 2
        else:
            parts = path_at(group, at)
            if not parts:
                return None
            columns, at = self._relation(parts), at + 2 * len(parts) - 1
        at = self._version(at)
        if group.word(at) == "MATCH_RECOGNIZE" and group.word(at + 1) == "()":
            columns, at = _measures(group.items[at + 1]), at + 2  # type: ignore[arg-type]
        at += group.word(at) == "AS"
        alias = parts[-1] if parts else ""
        if at < self.stop and is_name(group.items[at]):
            alias = group.items[at].name  # type: ignore[union-attr]
            if group.word(at + 1) == "()":
                names = name_list(group.items[at + 1])  # type: ignore[arg-type]
                columns = tuple(Column(n, columns[i].type if i < len(columns) else "") for i, n in enumerate(names))
        return FromItem(alias, columns, parts)

    def _relation(self, parts: tuple[str, ...]) -> Columns:
        known = common_tables(self.group, self.context, self.depth) if len(parts) == 1 else {}
        return known[parts[0]] if parts[0] in known and len(parts) == 1 else self.context.columns_of(parts)

    def _called(self, at: int) -> Columns:
        """The columns of TABLE(TUMBLE(TABLE t, ..))."""
        call = self.group.items[at]
        assert isinstance(call, BracketGroup)
        if call.word(0) in WINDOW_FUNCTIONS and call.word(1) == "()":
            arguments = call.items[1]
            assert isinstance(arguments, BracketGroup)
            return (*self._relation(table_argument(arguments)), *(Column(*c) for c in WINDOW_COLUMNS))
        return ()

    def _version(self, at: int) -> int:
        """Behind a hint and FOR SYSTEM_TIME AS OF a time."""
        group = self.group
        while at < self.stop and isinstance(hint := group.items[at], BracketGroup) and hint.opener == "/*+":
            at += 1
        if group.word(at) == "FOR" and group.word(at + 1) == "SYSTEM_TIME":
            at += 4
            at += max(1, 2 * len(path_at(group, at)) - 1)
            at += group.word(at) == "()"
        return at


def table_argument(arguments: BracketGroup) -> tuple[str, ...]:
    """The table that a window function is called with."""
    at = next((i for i in range(len(arguments.items)) if arguments.word(i) == "TABLE"), len(arguments.items))
    return path_at(arguments, at + 1) or ("",)


def _measures(group: BracketGroup) -> Columns:
    """The columns that MATCH_RECOGNIZE gives: those it is partitioned by, and its measures."""
    names: list[str] = []
    clause = ""
    for i, item in enumerate(group.items):
        clause = group.word(i) if group.word(i) in ("PARTITION", "ORDER", "MEASURES", "ONE", "AFTER", "PATTERN", "DEFINE") else clause
        if is_name(item) and (clause == "PARTITION" or (clause == "MEASURES" and group.word(i - 1) == "AS")):
            names.append(item.name)  # type: ignore[union-attr]
    return tuple(Column(n) for n in names)
