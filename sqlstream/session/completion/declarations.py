"""Inside of declarations: columns and constraints of CREATE TABLE, lists of options."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlstream import connectors
from sqlstream.core import settings
from sqlstream.session.completion import options, queries, scope, words
from sqlstream.session.completion.suggestion import Candidate, identifier, keywords, string
from sqlstream.session.completion.tree import BracketGroup
from sqlstream.sql.syntax.lexer import Kind, Lexeme

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlstream.core.options import Option
    from sqlstream.session.completion.context import Columns
    from sqlstream.session.completion.place import Place


class _List(NamedTuple):
    """A list of options: what can be in it, what is in it. ``pairs``: keys have values."""

    declared: tuple[Option, ...]
    written: dict[str, str]
    pairs: bool = True


def option_list(place: Place) -> Iterator[Candidate] | None:
    """Keys or values, where the cursor is in a list of options; None elsewhere."""
    listed = _list(place)
    if listed is None:
        return None
    if place.word() == "=" and place.is_string(2):
        item = place.group.items[place.at - 2]
        assert isinstance(item, Lexeme)
        return (string("value", v, meta) for v, meta in options.values(item.value, listed.declared, listed.written, place.context))
    return _keys(options.keys(listed.declared, listed.written), pairs=listed.pairs) if place.at == 0 or place.word() == "," else iter(())


def set_statement(place: Place) -> Iterator[Candidate]:
    """Keys and values of SET and RESET."""
    if place.at == 1:
        yield from _keys(options.settable(), pairs=place.group.word(0) == "SET", now=place.context.settings)
    elif place.at == 3 and place.word() == "=" and place.is_string(2):
        item = place.group.items[1]
        assert isinstance(item, Lexeme)
        yield from (string("value", v, meta) for v, meta in options.of_option(settings.setting(item.value)))


def setting_keys(place: Place) -> Iterator[Candidate]:
    """The keys of SET, as HELP takes them."""
    return _keys(options.settable(), pairs=False, now=place.context.settings)


def _keys(rows: list[Option], *, pairs: bool, now: Mapping[str, str] | None = None) -> Iterator[Candidate]:
    for row in rows:
        is_set = f"is {now[row.key]}; " if now and row.key in now else ""
        if row.key.endswith("*"):
            yield string("option", row.key[:-1], options.described(row), closed=False)
        else:
            yield string("option", row.key, is_set + options.described(row), more=" = '" if pairs else "")


def _list(place: Place) -> _List | None:
    group, root = place.group, place.root
    if group.parent is None or group.opener != "(":
        return None
    written = _written(group)
    if group.before == "OPTIONS" and group.parent.opener == "/*+":
        return _hint(place, written)
    if group.parent is not root:
        return None
    first, upper = root.word(0), [root.word(i) for i in range(3)]
    if first == "CREATE" and group.before == "WITH":
        if upper[1] == "CATALOG":
            return _List(options.of_catalog(written), written)
        return _List(options.of_table(written, declared_columns(root)), written) if "TABLE" in upper else None
    if first == "ALTER" and upper[1] == "TABLE" and group.before in ("SET", "RESET"):
        parts = _altered(root)
        table = dict(place.context.options_of(parts))
        rows = options.of_table(table | written, place.context.columns_of(parts))
        if group.before == "RESET":
            return _List(tuple(o for o in rows if o.key in table), written, pairs=False)
        return _List(rows, written)
    return None


def _hint(place: Place, written: dict[str, str]) -> _List | None:
    """The options of the table that the hint stands behind."""
    hint = place.group.parent
    assert hint is not None
    around = hint.parent
    start = hint.place - 1 if around else 0
    while around and start >= 2 and around.word(start - 1) == ".":
        start -= 2
    parts = scope.path_at(around, start) if around else ()
    table = dict(place.context.options_of(parts))
    rows = options.of_table(table | written, place.context.columns_of(parts))
    return _List(tuple(o for o in rows if o.key != "connector"), written)


def _written(group: BracketGroup) -> dict[str, str]:
    """What a list of options says."""
    written = {}
    for i in range(len(group.items)):
        key, value = group.items[i], group.items[i + 2] if i + 2 < len(group.items) else None
        is_key = isinstance(key, Lexeme) and key.kind is Kind.STRING and (i == 0 or group.word(i - 1) == ",")
        if is_key and group.word(i + 1) == "=" and isinstance(value, Lexeme) and value.kind is Kind.STRING:
            written[key.value] = value.value  # type: ignore[union-attr]
        elif is_key:
            written[key.value] = ""  # type: ignore[union-attr]
    return written


def declared_columns(root: BracketGroup) -> Columns:
    """The columns that a CREATE TABLE or ALTER TABLE declares."""
    first = next((i for i in root.items if isinstance(i, BracketGroup)), None)
    return scope.definitions(first) if first is not None and is_definitions(first) else ()


def _altered(root: BracketGroup) -> tuple[str, ...]:
    return scope.path_at(root, 2 + 2 * (root.word(2) == "IF"))


def is_definitions(group: BracketGroup) -> bool:
    """Whether the brackets hold the columns of CREATE TABLE or ALTER TABLE .. ADD."""
    root = group.parent
    if root is None or root.parent is not None or group.opener != "(" or "TABLE" not in (root.word(1), root.word(2)):
        return False
    if root.word(0) == "ALTER":
        return group.before in ("ADD", "MODIFY")
    return root.word(0) == "CREATE" and scope.is_name(root.items[group.place - 1])


def definition(place: Place) -> Iterator[Candidate]:
    """What can stand at a place of the column list of CREATE TABLE."""
    item = [i.upper if isinstance(i, Lexeme) else "()" for i in place.since(",")]
    own = (*declared_columns(place.root), *(place.context.columns_of(_altered(place.root)) if place.root.word(0) == "ALTER" else ()))
    below = [scope.FromItem("", own)]
    if place.word() == "<" or place.word(2) == "<" or (len(item) == 1 and item[0] not in ("WATERMARK", "PRIMARY", "CONSTRAINT")):
        yield from types()
        yield from keywords(("AS",))
    elif not item:
        yield from keywords(words.DEFINITIONS)
    elif item[0] == "WATERMARK" and "AS" not in item:
        if item[-1] == "FOR":
            yield from (identifier("column", c.name, c.type) for c in own)
        else:
            yield from keywords(("FOR",) if len(item) == 1 else ("AS",))
    elif "AS" in item:
        yield from queries.operators(place) if queries.ends_operand(place) else queries.operands(place, below)
    elif item[0] in ("PRIMARY", "CONSTRAINT"):
        yield from keywords(("NOT ENFORCED",) if item[-1] == "()" else ("KEY",) if item[-1] == "PRIMARY" else ("PRIMARY KEY",) * (len(item) == 2))
    elif item[-2:] == ["METADATA", "FROM"]:
        yield from _metadata(place.root)
    elif "METADATA" in item:
        yield from keywords(("VIRTUAL",) if place.is_string(1) else ("FROM", "VIRTUAL"))
    else:
        yield from keywords(words.AFTER_TYPE)


def types() -> Iterator[Candidate]:
    return (Candidate("type", t, t) for t in words.TYPES)


def _metadata(root: BracketGroup) -> Iterator[Candidate]:
    """The metadata keys of the connector that WITH names, of all where it does not yet."""
    written = next((_written(i) for i in root.items if isinstance(i, BracketGroup) and i.before == "WITH"), {})
    chosen = written.get("connector")
    for connector in connectors.CONNECTORS:
        if chosen in (None, connector.name):
            yield from (string("value", m.key, f"{connector.name}: {m.type}") for m in connector.metadata)
