"""Inside of a query: clauses, items of FROM, expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.session.completion import scope, words
from sqlstream.session.completion.place import relations
from sqlstream.session.completion.suggestion import Candidate, identifier, keyword, keywords
from sqlstream.session.completion.tree import QUERY_WORDS, BracketGroup
from sqlstream.sql import functions
from sqlstream.sql.quoting import flink_name
from sqlstream.sql.syntax.lexer import RESERVED, Kind, Lexeme

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlstream.session.completion.context import Column, Context
    from sqlstream.session.completion.place import Place
    from sqlstream.session.completion.scope import FromItem

_OPENERS = ("FROM", "JOIN", ",")


def query(place: Place) -> Iterator[Candidate]:
    """What can stand at a place of a query, outside of further brackets."""
    previous = place.word()
    if previous in words.FOLLOWING and place.word(2) != ".":
        yield from keywords(words.FOLLOWING[previous])
        if previous != "NOT":
            return
    if previous in ("ALL", "DISTINCT") and place.word(2) in words.SET_OPERATORS:
        yield keyword("SELECT")
        return
    if needs_unit(place):
        yield from keywords(words.UNITS)
        return
    match clause(place):
        case "":
            yield from _before_select(place)
        case "FROM":
            yield from _from(place)
        case "LIMIT" | "OFFSET" | "FETCH" | "VALUES" as name:
            if ends_operand(place):
                yield from keywords(words.AFTER[name])
        case "WINDOW":
            if place.word() == "()":
                yield from keywords(words.AFTER["WINDOW"])
        case name:
            yield from _columns_clause(place, f"{name} BY" if name in ("GROUP", "ORDER") else name)


def clause(place: Place) -> str:
    """The word that begins the clause which ``place`` is in."""
    start = scope.query_at(place.group, place.at)[0]
    for i in range(place.at - 1, start - 1, -1):
        if place.group.word(i) in words.CLAUSES:
            return place.group.word(i)
    return ""


def _before_select(place: Place) -> Iterator[Candidate]:
    """WITH name AS (..), .. SELECT."""
    if place.word() == "()":
        yield from keywords(("SELECT",))
    elif place.previous is not None and scope.is_name(place.previous):
        yield keyword("AS")
    elif place.word() != "WITH":
        yield from keywords(QUERY_WORDS)


def _columns_clause(place: Place, name: str) -> Iterator[Candidate]:
    below = in_scope(place)
    if not ends_operand(place):
        if name == "ORDER BY":
            yield from (identifier("column", c.name, c.type) for c in scope.output(place.group, place.context) if not place.qualifier)
        yield from operands(place, below)
        if place.word() == "SELECT":
            yield from keywords(("DISTINCT",))
        return
    if name == "SELECT":
        yield from keywords(("FROM", "AS"))
    if name == "ORDER BY":
        yield from keywords(("ASC", "DESC", "NULLS LAST", "NULLS FIRST"))
    yield from operators(place)
    yield from keywords(words.AFTER[name] if name != "SELECT" else ())


def _from(place: Place) -> Iterator[Candidate]:
    inside = place.since(*_OPENERS)
    upper = [i.upper if isinstance(i, Lexeme) else "()" for i in inside]
    if not inside:
        known = scope.common_tables(place.group, place.context, 0)
        if not place.qualifier:
            yield from (identifier("table", n, "WITH") for n in known)
        yield from relations(place)
        yield from keywords(("TABLE(", "LATERAL TABLE(", "UNNEST("))
    elif upper[-1] == "OF":
        yield from operands(place, in_scope(place)[:-1] or in_scope(place))
    elif upper[-1] == "FOR":
        yield keyword("SYSTEM_TIME AS OF")
    elif "ON" in upper:
        if ends_operand(place):
            yield from operators(place)
            yield from keywords(words.AFTER["FROM"])
        else:
            if upper[-1] == "ON" and not place.qualifier:
                yield from join_conditions(in_scope(place))
            yield from operands(place, in_scope(place))
    elif upper[-1] != "AS" and ends_operand(place):
        joined = any(place.group.word(i) == "JOIN" for i in range(scope.query_at(place.group, place.at)[0], place.at))
        yield from keywords((*(("ON", "USING") if joined else ()), *words.AFTER["FROM"], "AS", "FOR SYSTEM_TIME AS OF", "MATCH_RECOGNIZE"))


def in_scope(place: Place) -> list[FromItem]:
    """The sources of the nearest query around ``place``, behind them those of the queries around it."""
    items: list[FromItem] = []
    group: BracketGroup | None = place.group
    at = place.at
    while group is not None:
        if around := scope.enclosing_query(group, at):
            items += scope.sources(*around, place.context)
            group, at = around[0].parent, around[0].place
        else:
            group = None
    return items


def operands(place: Place, below: Iterable[FromItem]) -> Iterator[Candidate]:
    """Columns and aliases, then what else a value can be."""
    below = list(below)
    if place.word() == "INTERVAL":
        yield from intervals()
        return
    if place.qualifier:
        yield from _qualified(place.qualifier, below)
        return
    yield from columns(below)
    yield from (identifier("alias", s.alias, ".".join(s.parts)) for s in below if s.alias)
    yield from calls(place.context)
    yield from keywords(words.OPERANDS)
    if open_case(place):
        yield from keywords(words.IN_CASE)


def _qualified(qualifier: tuple[str, ...], below: list[FromItem]) -> Iterator[Candidate]:
    """The columns of an alias, the fields of a ROW."""
    described: tuple[Column, ...] = tuple(c for s in below if s.alias == qualifier[0] or s.parts == qualifier for c in s.columns)
    rest = qualifier[1:] if described else qualifier
    if any(s.parts == qualifier for s in below):
        rest = ()
    described = described or tuple(c for s in below for c in s.columns)
    for name in rest:
        described = next((c.fields for c in described if c.name == name), ())
    yield from (identifier("column", c.name, c.type) for c in described)


def columns(below: list[FromItem]) -> Iterator[Candidate]:
    """The columns of all sources; a name that several have comes with the alias."""
    seen: dict[str, int] = {}
    for source in below:
        for column in source.columns:
            seen[column.name] = seen.get(column.name, 0) + 1
    for source in below:
        for column in source.columns:
            several = seen[column.name] > 1 and source.alias
            candidate = identifier("column", column.name, column.type, source.alias if several else "")
            yield candidate._replace(name=column.name)


def join_conditions(below: list[FromItem]) -> Iterator[Candidate]:
    """``a.x = b.x`` for columns of one name and type, of the last item of FROM and those before it."""
    if len(below) < 2:
        return
    last = below[-1]
    for source in below[:-1]:
        for column in source.columns:
            if any(c.name == column.name and c.type == column.type for c in last.columns) and source.alias and last.alias:
                name = flink_name(column.name)
                text = f"{flink_name(source.alias)}.{name} = {flink_name(last.alias)}.{name}"
                yield Candidate("condition", column.name, text, "of one name and type")


def calls(context: Context) -> Iterator[Candidate]:
    """Functions, with their arguments."""
    for name in functions.CALLABLE:
        function = functions.find(name)
        meta = f"{function.signature}: {function.summary}" if function else ""
        yield Candidate("function", name, name if name in words.BARE else f"{name}(", meta)
    yield from own_calls(context)


def own_calls(context: Context) -> Iterator[Candidate]:
    """The user's functions."""
    for name in context.functions:
        yield Candidate("function", name, f"{flink_name(name)}(", context.described(name))


def operators(place: Place) -> Iterator[Candidate]:
    if needs_unit(place):
        yield from keywords(words.UNITS)
        return
    if open_case(place):
        yield from keywords(words.IN_CASE)
    yield from keywords(words.OPERATORS)
    if place.word() == "()":
        yield from keywords(("OVER (", "FILTER (WHERE"))


def needs_unit(place: Place) -> bool:
    """Behind INTERVAL '1'."""
    return place.is_string(1) and place.word(2) == "INTERVAL"


def intervals() -> Iterator[Candidate]:
    """Behind INTERVAL."""
    return (Candidate("interval", text, text) for text in words.INTERVALS)


def open_case(place: Place) -> bool:
    upper = [place.group.word(i) for i in range(place.at)]
    return upper.count("CASE") > upper.count("END")


def ends_operand(place: Place) -> bool:
    """Whether a value has just ended: then an operator comes, else a value."""
    if place.qualifier:
        return False
    item = place.previous
    match item:
        case None:
            return False
        case BracketGroup():
            return item.opener != "/*+"
        case Lexeme(kind=Kind.SIGN):
            return item.text == "*" and (place.at == 1 or place.word(2) in ("SELECT", "DISTINCT", "ALL", ",", "."))
        case Lexeme(kind=Kind.WORD):
            return place.word(2) == "." or item.upper in words.VALUES or item.upper not in RESERVED
    return True
