"""Statements without their secrets: what may be shown of a script, or kept.

In: text, right or not. Out: the same text with a star for each character of a secret, so that every place in it stays what it is. What a statement
says is seen in its syntax tree: options, settings, parameters of a saved query, values beside columns; where text does not parse, by its tokens,
and then rather too much is struck out. Passwords inside of values (see ``secrets``) go everywhere, in comments too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sqlstream.core.errors import SqlStreamError, length_of, offset_of
from sqlstream.core.secrets import MASK, is_secret, masked_option, masked_value, places, starred, without
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.tokens import tolerant_tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_TEXTS = (TokenType.STRING, TokenType.IDENTIFIER)
_CONSTANTS = (TokenType.STRING, TokenType.NUMBER, TokenType.HEX_STRING)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.In)
# Without any of these, and without the name of a secret, there is none: an address with a user, what is escaped.
_MAY_HIDE = re.compile(r"[@%\\]|[uU]&'|PRIVATE KEY")
# A command of the shell: name=value, where quotes hold words together; a forgotten sign is none to show it for.
_WORD = re.compile(r"""(?P<key>[^\s=]+)(?:\s*=\s*|(?<=\w)\s+(?!\S*=))(?P<secret>(?:"(?:[^"\\]|\\.)*(?:"|\Z)|'[^']*(?:'|\Z)|\\.|[^\s"'\\;])+)""", re.S)


@dataclass(frozen=True, order=True)
class Secret:
    """Where one stands in a text. ``option``: it is the value of the option ``key``, or in it."""

    begin: int
    end: int
    key: str = ""
    option: bool = False


def masked_text(sql: str, known: Collection[str] = ()) -> str:
    """``sql`` without its secrets, and without the values that are ``known`` to be such. Never fails."""
    return starred(sql, [(s.begin, s.end) for s in secrets(sql, known)])


def secrets(sql: str, known: Collection[str] = ()) -> list[Secret]:
    """The secrets of a script, in order."""
    if sql.lstrip().startswith("\\"):
        return sorted({*_of_command(sql), *_inside(0, sql, known)})
    if not (is_secret(sql) or _MAY_HIDE.search(sql) or any(value in sql for value in known)):
        return []
    tokens = tolerant_tokens(sql)
    hidden = {s for t in tokens for s in _of_token(t, sql, known)}
    keys = [t for t in tokens if t.token_type != TokenType.COMMENT]
    named = is_secret(sql) or any(is_secret(t.text) for t in keys)
    starts = [t.start for t in keys]
    for piece in split(sql):
        end = piece.start + len(piece.text)
        here = keys[bisect_left(starts, piece.start) : bisect_left(starts, end)]
        hidden |= set(_of_set(here, sql, end))
        if hidden or named:
            hidden |= set(_of_statement(piece.text, piece.start, here, sql))
    return sorted(hidden)


def _of_command(line: str) -> Iterator[Secret]:
    for match in _WORD.finditer(line):
        if is_secret(re.sub(r"[\"'\\]", "", match["key"])):
            yield Secret(*match.span("secret"), match["key"])


# --- what stands inside of a token ------------------------------------------------------------------------------------


def _inside(start: int, text: str, known: Collection[str] = ()) -> Iterator[Secret]:
    for begin, end in places(text):
        yield Secret(start + begin, start + end)
    for value in filter(None, known):
        for match in re.finditer(re.escape(value), text):
            yield Secret(start + match.start(), start + match.end())


def _of_token(token: Token, sql: str, known: Collection[str]) -> Iterator[Secret]:
    """The secrets inside of a string, a quoted name or a comment; a constant that is ``known``."""
    text = sql[token.start : token.end + 1]
    if token.token_type == TokenType.COMMENT:
        yield from _inside(token.start, text, known)
        inner = re.sub(r"^(--|//|/\*)|\*/$", lambda m: " " * len(m[0]), text)
        yield from (Secret(token.start + s.begin, token.start + s.end, s.key) for s in secrets(inner, known))
    elif token.token_type in _TEXTS:
        yield from _inside(token.start, text, known)
        decoded = set(_inside(0, token.text, known))
        if decoded and token.text not in text:
            yield Secret(token.start, token.end + 1)
    elif text in known:
        yield Secret(token.start, token.end + 1)


# --- what is seen from what stands before it --------------------------------------------------------------------------


def _of_set(tokens: Sequence[Token], sql: str, end: int) -> Iterator[Secret]:
    """The value of SET, which is all that stands behind the first ``=``."""
    sign = next((i for i, t in enumerate(tokens) if t.text == "=" and t.token_type == TokenType.EQ), 0)
    if sign < 2 or tokens[0].token_type != TokenType.VAR or tokens[0].text.upper() != "SET":
        return
    key = tokens[1].text if sign == 2 and tokens[1].token_type in _TEXTS else sql[tokens[1].start : tokens[sign].start].strip()
    if sign + 1 < len(tokens):
        yield from _option(key, tokens[sign + 1 :], sql[tokens[sign + 1].start : end], end)


def _option(key: str, tokens: Sequence[Token], written: str, end: int) -> Iterator[Secret]:
    """What is secret in the value of an option: ``tokens``, up to ``end``."""
    strings = all(t.token_type == TokenType.STRING for t in tokens)
    value = "".join(t.text for t in tokens) if strings else written
    shown = masked_option(key, value)
    begin = tokens[0].start
    if shown == value:
        return
    if not is_secret(key) and len(tokens) == 1 and (at := written.find(value)) >= 0:
        for inside in places(value, pairs=True):
            yield Secret(begin + at + inside[0], begin + at + inside[1], key, True)
    else:
        yield Secret(begin, end, key, True)


def _of_statement(text: str, start: int, tokens: Sequence[Token], sql: str) -> Iterator[Secret]:
    try:
        tree = parse(text)
    except (SqlStreamError, RecursionError, ValueError, OverflowError):
        yield from _of_tokens(tokens, sql)
        return
    if isinstance(tree, ast.Jar | ast.Unsupported):
        yield from _of_tokens(tokens, sql)
    for node in tree.walk():
        match node:
            case ast.OptionDef(this=key, expression=exp.Literal() as value):
                literal = _literal(value, start, tokens)
                yield from _option(key.name, literal, sql[literal[0].start : literal[-1].end + 1], literal[-1].end + 1) if literal else ()
            case ast.NamedArgument(this=str() as key, expression=value) if is_secret(key):
                yield from _constants(value, key, start, tokens)
            case exp.Alias(this=value, alias=key) if is_secret(key):
                yield from _constants(value, key, start, tokens)
            case _ if isinstance(node, _COMPARISONS):
                sides = [node.this, *([node.expression] if "expression" in node.args else []), *(node.args.get("expressions") or [])]
                named = next((s.name for s in sides if isinstance(s, exp.Column | exp.Dot | exp.Identifier) and is_secret(s.name)), None)
                for side in sides if named is not None else ():
                    yield from _constants(side, named or "", start, tokens)
            case ast.Insert() if node.columns:
                yield from _of_insert(node, start, tokens)


def _of_insert(node: ast.Insert, start: int, tokens: Sequence[Token]) -> Iterator[Secret]:
    """The constants of INSERT .. VALUES in the columns of secrets."""
    hidden = [(place, c.name) for place, c in enumerate(node.columns) if is_secret(c.name)]
    for row in node.query.find_all(exp.Tuple):
        for place, key in hidden:
            if place < len(row.expressions):
                yield from _constants(row.expressions[place], key, start, tokens)


def _constants(node: exp.Expr, key: str, start: int, tokens: Sequence[Token]) -> Iterator[Secret]:
    """The constants that an expression begins with, or is: it holds no others' columns."""
    at = offset_of(node)
    if at is None or node.find(exp.Column) is not None:
        return
    begin, end = start + at, start + at + length_of(node)
    for token in tokens:
        if begin <= token.start < end and token.token_type in _CONSTANTS:
            for part in _following(token, tokens):
                yield Secret(part.start, part.end + 1, key)


def _literal(node: exp.Literal, start: int, tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a string: several in a row are one."""
    at = offset_of(node)
    first = next((t for t in tokens if at is not None and t.start == start + at), None)
    return _following(first, tokens) if first is not None else []


def _following(first: Token, tokens: Sequence[Token]) -> list[Token]:
    """``first`` and, where it is a string, the strings that go on with it."""
    place = tokens.index(first)
    end = place + 1
    while first.token_type == TokenType.STRING and end < len(tokens) and tokens[end].token_type == TokenType.STRING:
        end += 1
    return list(tokens[place:end])


def _of_tokens(tokens: Sequence[Token], sql: str) -> Iterator[Secret]:
    """What stands behind the name of a secret and a sign, or behind a string that is one: all up to a blank or a comma."""
    place = 0
    while place + 1 < len(tokens):
        token, at = tokens[place], place + 1
        signs = at
        while signs < len(tokens) and signs < at + 3 and tokens[signs].text in ("=", "=>", ">", ":", "(") and tokens[signs].token_type not in _TEXTS:
            signs += 1
        place = at
        beside = token.token_type == tokens[at].token_type == TokenType.STRING
        if (signs == at and not beside) or signs == len(tokens) or not is_secret(name := _name(at - 1, tokens, sql)):
            continue
        value = _run(tokens, signs)
        place = signs + len(value)
        if masked_option(name, value[0].text) != value[0].text:
            yield Secret(value[0].start, value[-1].end + 1, name, True)


def _name(place: int, tokens: Sequence[Token], sql: str) -> str:
    """The name that ends with a token: dots and dashes belong to it where no blank does."""
    token = tokens[place]
    if token.token_type in _TEXTS:
        return token.text
    first = place
    while place - 40 < first > 0 and tokens[first - 1].end + 1 == tokens[first].start and re.fullmatch(r"[\w$.-]+", tokens[first - 1].text):
        first -= 1
    return sql[tokens[first].start : token.end + 1]


def _run(tokens: Sequence[Token], first: int) -> list[Token]:
    """The token at ``first`` with those that follow without a blank; strings go on over blanks."""
    end = first + 1
    while end < len(tokens):
        before, token = tokens[end - 1], tokens[end]
        touching = token.start == before.end + 1 and token.text not in (",", ")", ";")
        if not touching and not (token.token_type == before.token_type == TokenType.STRING):
            break
        end += 1
    return list(tokens[first:end])


def masked_message(text: str, sql: str, known: Collection[str] = ()) -> str:
    """What is said of the statement ``sql``, without its secrets, which are strings there, and without values that are ``known`` to be such: of
    four characters or more, for others could be any word.
    """
    written = (f"'{sql[s.begin : s.end].strip(chr(39))}'" for s in secrets(sql))
    for value in set(written) - {"''"}:
        text = text.replace(value, f"'{MASK}'")
    return without(masked_value(text), (v for v in known if len(v) > 3))
