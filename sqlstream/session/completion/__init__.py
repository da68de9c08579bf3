"""Completion: ``suggest`` tells what could be written at a cursor, from the text and a snapshot of the catalog. Pure; nothing is wrong for it.

text, cursor -> lexemes -> tree of brackets -> place -> candidates -> those that fit what is typed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.session.backslash import summary
from sqlstream.session.completion import declarations, grammar, queries, scope, words
from sqlstream.session.completion.context import Context
from sqlstream.session.completion.place import Place, catalogs, databases, relations
from sqlstream.session.completion.suggestion import Candidate, Suggestion, fitting, identifier, keyword, keywords, string
from sqlstream.session.completion.tree import QUERY_WORDS, tree
from sqlstream.sql import functions
from sqlstream.sql.statements.table import SET_BEGINS, SHORT_FORMS
from sqlstream.sql.syntax.expression_parser import TIME_UNITS
from sqlstream.sql.syntax.lexer import Kind, Lexeme, lexemes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Context", "Suggestion", "suggest"]

# A backslash command, and what is typed of its first word.
_COMMAND = re.compile(r"\s*(\\\S*)(?:\s+(\S*))?\Z")
# The end of the string that the cursor is in, rather than the beginning of the next one.
_CLOSING = re.compile(r"[^'\n=,()]*'")
_EXECUTE_SET = ["EXECUTE", *SET_BEGINS]
_HINTS = {
    "OPTIONS(": "options of the table for this query",
    "STATE_TTL(": "for how long the rows of an input are kept",
    "BROADCAST(": "how a table is joined",
    "LOOKUP(": "how a table is looked up",
}
_QUOTED = ("column", "table", "view", "alias", "database", "catalog", "query")


def suggest(text: str, cursor: int, context: Context) -> tuple[Suggestion, ...]:
    """What could stand at ``cursor`` of ``text``, the likeliest first."""
    if command := _COMMAND.match(text[:cursor]):
        return tuple(_of_command(command[1], command[2], context))
    before = list(lexemes(text[:cursor], open_ends=True))
    last = before[-1] if before and before[-1].end == cursor else None
    kind = last.kind if last else None
    if last and (kind is Kind.NUMBER or (kind is Kind.COMMENT and (last.is_open or not last.text.startswith("/*")))):
        return ()
    typed, length, quote = "", 0, ""
    if last and (kind is Kind.WORD or (kind in (Kind.STRING, Kind.QUOTED) and last.is_open)):
        quote = {Kind.STRING: "'", Kind.QUOTED: "`"}.get(last.kind, "")
        typed, length = last.text.partition(quote)[2] if quote else last.text, len(last.text)
        before.pop()
    rest = text[cursor:]
    closing = _CLOSING.match(rest) if quote == "'" else None
    behind = rest[closing.end() :] if closing else rest
    after = list(lexemes(behind, open_ends=True))
    place, lower = _place(before, after, context, typed if not quote else "")
    candidates = [c for c in fitting(_candidates(place), typed) if _fits(c, quote, bool(place.qualifier))]
    suggestions = (Suggestion(_written(c, quote, bool(closing), behind, lower), length, c.kind, c.meta) for c in candidates)
    return tuple(s for s in dict.fromkeys(suggestions) if s.text != text[cursor - length : cursor])


def _of_command(name: str, typed: str | None, context: Context) -> Iterator[Suggestion]:
    """What begins with ``name``, or what its first word can be."""
    if typed is None:
        candidates = fitting((Candidate("command", n, n, summary(*row)) for n, row in SHORT_FORMS.items()), name)
        yield from (Suggestion(c.text, len(name), c.kind, c.meta) for c in candidates if c.text != name)
    elif name in SHORT_FORMS and (sql := SHORT_FORMS[name][0].before):
        for s in suggest(sql + typed, len(sql + typed), context):
            if s.kind not in ("keyword", "catalog"):
                yield Suggestion(s.text.strip(sql[-1]), len(typed), s.kind, s.meta)


def _place(before: list[Lexeme], after: list[Lexeme], context: Context, typed: str) -> tuple[Place, bool]:
    """The place of the cursor in its statement; whether that is written in lower case."""
    before, after = ([x for x in some if x.kind is not Kind.COMMENT] for some in (before, after))
    before = before[max((i + 1 for i, x in enumerate(before) if x.text == ";"), default=0) :]
    after = after[: next((i for i, x in enumerate(after) if x.text == ";"), len(after))]
    if [x.upper for x in before[: len(_EXECUTE_SET)]] == _EXECUTE_SET:
        before = before[len(_EXECUTE_SET) :]
    first = before[0].text if before else typed
    qualifier: list[str] = []
    while len(before) >= 2 and before[-1].text == "." and before[-2].kind in (Kind.WORD, Kind.QUOTED):
        qualifier.insert(0, before[-2].name)
        before = before[:-2]
    cursor = tree(before, after)
    return Place(cursor.root, cursor.group, cursor.place, context, tuple(qualifier)), first.islower()


def _fits(candidate: Candidate, quote: str, qualified: bool) -> bool:
    """Whether a candidate can end what the quote begins, and follow a dot."""
    if quote == "'":
        return candidate.text.startswith("'") and candidate.kind != "interval"
    return candidate.kind in _QUOTED or not (quote or qualified)


def _written(candidate: Candidate, quote: str, closed: bool, behind: str, lower: bool) -> str:
    """The text of a candidate, in the statement's case, without what stands behind the cursor already."""
    text = candidate.text
    if candidate.kind in ("keyword", "function", "type"):
        text = text.lower() if lower else text
        return text.removesuffix("(") if behind.startswith("(") else text
    if text.startswith("'"):
        if behind.lstrip().startswith("="):
            text = text.removesuffix(" = '")
        return text.removesuffix("'") if closed and not text.endswith("= '") else text
    return text if quote != "`" or text.startswith("`") else f"`{text}`"


def _candidates(place: Place) -> Iterator[Candidate]:
    group, root = place.group, place.root
    if (options := declarations.option_list(place)) is not None:
        yield from options
    elif group.opener == "/*+":
        yield from (keyword(h, meta) for h, meta in _HINTS.items()) if place.at == 0 or place.word() == "," else ()
    elif group is root:
        yield from _statement(place)
    elif group.is_query and place.at:
        yield from queries.query(place)
    else:
        yield from _bracket(place)


def _statement(place: Place) -> Iterator[Candidate]:
    """Outside of brackets."""
    root = place.root
    if root.word(0) in ("SET", "RESET") and place.at:
        yield from declarations.set_statement(place)
        return
    expected = grammar.expected(root, place.at)
    if expected.query is not None:
        yield from queries.query(place)
        return
    for slot in dict.fromkeys(expected.slots):
        yield from _slot(slot, place)
    if not place.qualifier:
        yield from keywords(expected.words)


def _slot(slot: str, place: Place) -> Iterable[Candidate]:
    context = place.context
    match slot:
        case "query" if not place.qualifier:
            return keywords(QUERY_WORDS)
        case "table":
            return relations(place, views=False)
        case "view":
            return relations(place, tables=False)
        case "relation":
            return relations(place)
        case "database":
            inner = databases(context, place.qualifier[0] if place.qualifier else context.catalog)
            return inner if place.qualifier else (*inner, *catalogs(context))
        case "catalog":
            return catalogs(context)
        case "function":
            offered = queries.own_calls(context) if place.root.word(0) in ("DROP", "ALTER") else queries.calls(context)
            return (c._replace(text=c.text.removesuffix("(")) for c in offered)
        case "column":
            table = scope.path_at(place.root, 2 + 2 * (place.root.word(2) == "IF"))
            return (identifier("column", c.name, c.type) for c in context.columns_of(table))
        case "job":
            return (string("job", j) for j in context.jobs())
        case "savepoint":
            return (string("savepoint", path) for path in context.savepoints())
        case "file":
            return (string("file", f"queries/{q}.sql") for q in context.queries())
        case "saved_query":
            return (identifier("query", q) for q in context.queries())
        case "topic":
            return _topics()
        case "catalog_type":
            return _catalog_types()
        case "connector":
            return _connectors()
        case "format":
            return _formats()
        case "setting":
            return declarations.setting_keys(place)
        case "stream":
            return (string("topic", t) for t in context.topics({}))
    return ()


def _topics() -> Iterator[Candidate]:
    """What HELP explains."""
    from sqlstream.session.help import PAGES
    from sqlstream.session.help.query_forms import QUERY_FORMS

    yield from (keyword(t.name, t.summary) for t in QUERY_FORMS)
    yield from keywords(PAGES)
    yield from _catalog_types()
    yield from _connectors()
    yield from _formats()


def _catalog_types() -> Iterator[Candidate]:
    from sqlstream.catalog.types import CATALOGS

    return (Candidate("catalog_type", c.name, c.name, c.summary) for c in CATALOGS)


def _connectors() -> Iterator[Candidate]:
    from sqlstream.connectors import CONNECTORS

    return (Candidate("connector", c.name, c.name, c.summary) for c in CONNECTORS)


def _formats() -> Iterator[Candidate]:
    from sqlstream.formats import FORMATS

    return (Candidate("format", f.name, f.name) for f in FORMATS)


def _bracket(place: Place) -> Iterator[Candidate]:
    """Inside brackets that do not hold a sub-query."""
    group, before = place.group, place.group.before
    assert group.parent is not None
    around = place.outside
    if declarations.is_definitions(group):
        yield from declarations.definition(place)
    elif group.parent is place.root and (named := _named_columns(place)) is not None:
        yield from named
    elif before == "KEY" and declarations.is_definitions(group.parent):
        yield from (identifier("column", c.name, c.type) for c in declarations.declared_columns(place.root))
    elif before == "TABLE":
        yield from (Candidate("function", n, f"{n}(", meta) for n, meta in words.WINDOW_FUNCTIONS.items()) if not place.at else ()
        yield from queries.own_calls(place.context) if not place.at else ()
    elif before in words.WINDOW_FUNCTIONS and group.parent.before == "TABLE":
        yield from _window_arguments(place)
    elif before == "DESCRIPTOR":
        columns = place.context.columns_of(scope.table_argument(group.parent))
        yield from (identifier("column", c.name, c.type) for c in columns if c.type.startswith("TIMESTAMP"))
    elif before in ("CAST", "TRY_CAST") and place.word() == "AS":
        yield from declarations.types()
    elif before == "OVER" or (before == "AS" and queries.clause(around) == "WINDOW"):
        yield from _clauses(place, words.IN_OVER)
    elif before == "MATCH_RECOGNIZE":
        yield from _clauses(place, words.IN_MATCH, _matched(around))
    elif before == "USING":
        yield from _common(place)
    elif before in words.TYPES and declarations.is_definitions(group.parent) and before != "ROW":
        return
    else:
        if not place.at and not place.qualifier and before in ("FROM", "JOIN", ",", "IN", "EXISTS", "AS", "ALL", "LATERAL", "", *words.SET_OPERATORS):
            yield from keywords(QUERY_WORDS)
        if place.at or before not in ("FROM", "JOIN", "EXISTS", "AS", "LATERAL"):
            yield from _expression(place)


def _named_columns(place: Place) -> Iterator[Candidate] | None:
    """Lists of columns in statements: INSERT INTO t (..), PARTITIONED BY (..), ALTER TABLE t DROP (..)."""
    root, before = place.root, place.group.before
    match root.word(0):
        case "INSERT" if root.word(place.group.place - 1) not in ("VALUES", "AS") and not any(
            root.word(i) in (*QUERY_WORDS, ",") for i in range(place.group.place)
        ):
            columns = place.context.columns_of(scope.path_at(root, 2))
        case "CREATE" if before in ("BY", "HASH", "RANGE"):
            columns = declarations.declared_columns(root)
        case "ALTER" if before == "DROP":
            columns = place.context.columns_of(scope.path_at(root, 2))
        case "CREATE" if (
            "VIEW" in (root.word(1), root.word(2), root.word(4))
            and before != "AS"
            and not any(root.word(i) in QUERY_WORDS for i in range(place.group.place))
        ):
            columns = ()
        case _:
            return None
    used = scope.name_list(place.group)
    return (identifier("column", c.name, c.type) for c in columns if c.name not in used)


def _window_arguments(place: Place) -> Iterator[Candidate]:
    if place.word() == "TABLE":
        known = scope.common_tables(place.group, place.context, 0)
        yield from (identifier("table", n, "WITH") for n in known if not place.qualifier)
        yield from relations(place)
    elif not place.at:
        yield from keywords(("TABLE", "DATA =>"))
    elif place.word() == "INTERVAL":
        yield from queries.intervals()
    elif place.word() == ",":
        yield from keywords(("DESCRIPTOR(", "INTERVAL"))
    elif place.word() == "BY":
        columns = place.context.columns_of(scope.table_argument(place.group))
        yield from (identifier("column", c.name, c.type) for c in columns)
    elif queries.needs_unit(place):
        yield from keywords(words.UNITS)
    elif place.word() == "PARTITION":
        yield keyword("BY")
    else:
        yield keyword("PARTITION BY")


def _matched(match: Place) -> list[scope.FromItem]:
    """The rows that MATCH_RECOGNIZE looks at."""
    start = next((i for i in range(match.at, -1, -1) if match.group.word(i) in ("FROM", "JOIN", ",")), 0)
    return [scope.FromItem("", match.context.columns_of(scope.path_at(match.group, start + 1)))]


def _clauses(place: Place, phrases: tuple[str, ...], below: list[scope.FromItem] | None = None) -> Iterator[Candidate]:
    """Inside of OVER and MATCH_RECOGNIZE: clauses of their own around expressions. A variable of a pattern stands for the rows."""
    if place.word() in ("PARTITION", "ORDER"):
        yield keyword("BY")
        return
    value = place.at and not queries.ends_operand(place)
    if value and below is not None:
        yield from queries.operands(replace(place, qualifier=place.qualifier[1:]), below)
    elif value:
        yield from _expression(place)
    if not value or place.word() == "RANGE":
        yield from keywords(phrases)
        yield from queries.operators(place) if place.at else ()


def _common(place: Place) -> Iterator[Candidate]:
    """The columns that USING can name: those of both sides."""
    below = queries.in_scope(place.outside)
    for column in below[-1].columns if len(below) > 1 else ():
        if any(c.name == column.name for s in below[:-1] for c in s.columns):
            yield identifier("column", column.name, column.type)


def _expression(place: Place) -> Iterator[Candidate]:
    if place.group.before in words.UNIT_FIRST and place.at < 2 and not place.qualifier:
        yield from keywords(() if place.at else TIME_UNITS)
        yield from keywords(("FROM",) if place.at and place.group.before == "EXTRACT" else ())
        return
    if queries.ends_operand(place):
        if place.group.before in ("CAST", "TRY_CAST") and "AS" not in [place.group.word(i) for i in range(place.at)]:
            yield keyword("AS")
        yield from queries.operators(place)
        return
    below = queries.in_scope(place)
    if not below and (declared := declarations.declared_columns(place.root)):
        below = [scope.FromItem("", declared)]
    function = functions.find(place.group.before)
    if not place.at and function is not None and function.aggregate and function.params and not function.over_only:
        yield from queries.operands(place, below)
        yield keyword("DISTINCT")
        return
    yield from queries.operands(place, below)
