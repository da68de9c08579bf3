"""sqlglot's door to the Flink grammar: what ``sqlglot.parse(.., read="flink")`` calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot import parser as base

from sqlstream.core.depth import too_deep
from sqlstream.core.errors import NotSupported, SqlStreamError, SyntaxProblem
from sqlstream.sql.syntax.lexer import message
from sqlstream.sql.syntax.misspelt import misspelt
from sqlstream.sql.syntax.nesting import refuse_depth, refuse_open
from sqlstream.sql.syntax.statement_parser import StatementParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot.tokenizer_core import Token

_PARTS: dict[Any, Callable[[StatementParser], exp.Expr]] = {
    exp.Table: StatementParser.path,
    exp.Identifier: StatementParser.name,
    exp.Select: StatementParser.query,
    exp.Query: StatementParser.query,
}


class FlinkParser(base.Parser):
    """A sqlglot parser that has none of sqlglot's grammar: Flink's has its own in ``statement_parser``."""

    def parse(self, raw_tokens: list[Token], sql: str | None = None) -> list[exp.Expr | None]:
        """The statements among the tokens. Raises SyntaxProblem, NotSupported."""
        cursor = StatementParser(sql or "", raw_tokens)
        found: list[exp.Expr | None] = []
        while not cursor.at_end:
            if cursor.accept(";"):
                continue
            found.append(cursor.statement())
            if not cursor.at_end and not cursor.at(";"):
                cursor.unexpected(cursor.token)
        return found or [None]

    def parse_into(self, expression_types: Any, raw_tokens: list[Token], sql: str | None = None) -> list[exp.Expr | None]:
        """One expression or part of a query."""
        cursor = StatementParser(sql or "", raw_tokens)
        first = expression_types[0] if isinstance(expression_types, list | tuple) else expression_types
        found = _PARTS.get(first, StatementParser.expression)(cursor)
        if not cursor.at_end:
            cursor.unexpected(cursor.token)
        return [found]


def parse_statement(sql: str, tokens: list[Token]) -> exp.Expression:
    """The one statement that ``tokens`` are."""
    cursor = StatementParser(sql, tokens)
    if cursor.at_end:
        raise SyntaxProblem("There is no statement here.", at=0)
    refuse_open(tokens)
    try:
        found = _only(cursor)
    except RecursionError:
        raise too_deep(cursor.token) from None
    except SyntaxProblem as error:
        raise _with_keyword(error, cursor, tokens) from None
    refuse_depth(found, len(tokens))
    assert isinstance(found, exp.Expression)
    return found


def _only(cursor: StatementParser) -> exp.Expr:
    found = cursor.statement()
    if not cursor.at_end:
        cursor.unexpected(cursor.token)
    return found


def _with_keyword(error: SyntaxProblem, cursor: StatementParser, tokens: list[Token]) -> SyntaxProblem:
    """``error``, or one about the keyword that is misspelt before the place where ``cursor`` stopped."""

    def came(changed: list[Token]) -> int | None:
        other = StatementParser(cursor.sql, changed)
        try:
            _only(other)
        except NotSupported:  # what Flink takes
            return None
        except (SqlStreamError, RecursionError):
            return other.index
        return None

    found = misspelt(tokens, cursor.index, came)
    if found is None:
        return error
    token = found.token
    return SyntaxProblem(message(cursor.sql, token.start, f'"{token.text}"'), at=token, hint=f"Did you mean '{found.keyword}'?")
