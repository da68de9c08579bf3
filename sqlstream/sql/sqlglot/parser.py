"""sqlglot's door to the Flink grammar: what ``sqlglot.parse(.., read="flink")`` calls."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot import parser as base
from sqlglot.errors import ParseError

from sqlstream.core.errors import SqlStreamError
from sqlstream.sql.sqlglot.comments import commented, comments_of
from sqlstream.sql.sqlglot.meanings import exact
from sqlstream.sql.sqlglot.relations import related
from sqlstream.sql.statements.parsing import begins_statement, statement
from sqlstream.sql.syntax.statement_parser import StatementParser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlglot.tokenizer_core import Token

_PARTS: dict[Any, Callable[[StatementParser], exp.Expr]] = {
    exp.Table: StatementParser.path,
    exp.Identifier: StatementParser.name,
    exp.Select: StatementParser.query,
    exp.Query: StatementParser.query,
    exp.DataType: StatementParser.type_node,
    exp.Order: StatementParser.order_by,
    exp.From: lambda cursor: _from(cursor),
    exp.Group: lambda cursor: _group(cursor),
    exp.Where: lambda cursor: _condition(cursor, "WHERE", exp.Where),
    exp.Having: lambda cursor: _condition(cursor, "HAVING", exp.Having),
}


class FlinkParser(base.Parser):
    """A sqlglot parser that has none of sqlglot's grammar: Flink's is in ``sql/statements`` and ``sql/syntax``."""

    def parse(self, raw_tokens: list[Token], sql: str | None = None) -> list[exp.Expr | None]:
        """The statements among the tokens. Raises ParseError."""
        with of_sqlglot(sql or ""):
            return self._statements(StatementParser(sql or "", raw_tokens))

    def _statements(self, cursor: StatementParser) -> list[exp.Expr | None]:
        trees: list[exp.Expr | None] = []
        comments = deque(comments_of(cursor.sql))
        while not cursor.at_end:
            if cursor.accept(";"):
                continue
            tree = exact(related(statement(cursor) if begins_statement(cursor) else _expression(cursor)))
            if not cursor.at_end and not cursor.at(";"):
                cursor.unexpected(cursor.token)
            own = []
            while comments and (cursor.at_end or comments[0].start < cursor.token.start):
                own.append(comments.popleft())
            trees.append(commented(tree, cursor.sql, own))
        if trees:
            # What stands behind the last ``;``.
            commented(tree, cursor.sql, comments)
        return trees or [None]

    def parse_into(self, expression_types: Any, raw_tokens: list[Token], sql: str | None = None) -> list[exp.Expr | None]:
        """One expression or part of a query. Raises ParseError."""
        cursor = StatementParser(sql or "", raw_tokens)
        first = expression_types[0] if isinstance(expression_types, list | tuple) else expression_types
        with of_sqlglot(cursor.sql):
            tree = _PARTS.get(first, StatementParser.select_item)(cursor)
            if not cursor.at_end:
                cursor.unexpected(cursor.token)
            return [commented(exact(related(tree)), cursor.sql, comments_of(cursor.sql))]


@contextmanager
def of_sqlglot(sql: str) -> Iterator[None]:
    """Errors in ``sql`` as sqlglot's tools expect them. Raises ParseError."""
    try:
        yield
    except SqlStreamError as error:
        before = sql[: error.offset or 0]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise ParseError.new(f"{error.message}{f' {error.hint}' if error.hint else ''}", description=error.message, line=line, col=column) from error


def _expression(cursor: StatementParser) -> exp.Expr:
    """What sqlglot's builders parse: an item of a select list, whose name stands behind AS. Two words are no statement of Flink's."""
    start = cursor.token
    item = cursor.select_item()
    if isinstance(item, exp.Alias) and cursor.words[cursor.index - 2] != "AS":
        cursor.unexpected(start, "a statement")
    return item


def _from(cursor: StatementParser) -> exp.Expr:
    cursor.accept("FROM")
    return exp.From(this=cursor.from_items()[0])


def _group(cursor: StatementParser) -> exp.Expr:
    cursor.accept("GROUP", "BY")
    return cursor.group()


def _condition(cursor: StatementParser, word: str, node: type[exp.Expr]) -> exp.Expr:
    cursor.accept(word)
    return node(this=cursor.expression())
