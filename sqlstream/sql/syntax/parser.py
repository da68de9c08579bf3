"""sqlglot's door to the Flink grammar: what ``sqlglot.parse(.., read="flink")`` calls."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot import parser as base
from sqlglot.errors import ParseError

from sqlstream.core.depth import too_deep
from sqlstream.core.errors import NotSupported, SqlStreamError, SyntaxProblem
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.comments import commented, comments_of
from sqlstream.sql.syntax.cursor import mark
from sqlstream.sql.syntax.lexer import message
from sqlstream.sql.syntax.meanings import exact
from sqlstream.sql.syntax.misspelt import misspelt
from sqlstream.sql.syntax.nesting import refuse_depth, refuse_open
from sqlstream.sql.syntax.relations import related
from sqlstream.sql.syntax.statement_form import StatementForm, listed, read
from sqlstream.sql.syntax.statement_parser import StatementParser
from sqlstream.sql.syntax.statement_table import BY_FIRST_WORD, REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlglot.tokenizer_core import Token

_QUERY_STARTS = ("SELECT", "WITH", "VALUES", "TABLE", "(")
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
    """A sqlglot parser that has none of sqlglot's grammar: Flink's has its own in ``statement_table``."""

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
            tree = exact(related(statement(cursor) if _begins_statement(cursor) else _expression(cursor)))
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


def _begins_statement(cursor: StatementParser) -> bool:
    """Whether the next word does; sqlglot's builders parse expressions as well."""
    word = cursor.peek(0)
    return word in BY_FIRST_WORD or word in _QUERY_STARTS or any(refused.words[0] == word for refused in REFUSED)


def _from(cursor: StatementParser) -> exp.Expr:
    cursor.accept("FROM")
    return exp.From(this=cursor.from_items()[0])


def _group(cursor: StatementParser) -> exp.Expr:
    cursor.accept("GROUP", "BY")
    return cursor.group()


def _condition(cursor: StatementParser, word: str, node: type[exp.Expr]) -> exp.Expr:
    cursor.accept(word)
    return node(this=cursor.expression())


def statement(cursor: StatementParser) -> exp.Expr:
    """The statement that begins at ``cursor``, up to the end or a ``;``."""
    start = cursor.token
    for refused in REFUSED:
        if cursor.accept(*refused.words):
            # A compiled plan may be of a statement set, with its semicolons.
            while not cursor.at_end and (start.text.upper() == "COMPILE" or not cursor.at(";")):
                cursor.index += 1
            return mark(ast.Unsupported(kind=" ".join(refused.words), this=refused.reason, hint=refused.hint, text=cursor.text_from(start)), start)
    if forms := BY_FIRST_WORD.get(cursor.peek(0)):
        form = _chosen(forms, cursor)
        if form.parse is None:
            return mark(read(form, cursor), start)
        cursor.index += 1
        node = form.parse(cursor)
        return node if isinstance(node, ast.Set) and node.meta else mark(node, start)
    if cursor.peek(0) not in _QUERY_STARTS:
        cursor.unexpected(start, "a statement")
    return cursor.query()


def _chosen(forms: list[StatementForm], cursor: StatementParser) -> StatementForm:
    """The one of ``forms``, which have their first word in common, that has most with the statement. Raises SyntaxProblem."""

    def in_common(lead: tuple[str, ...]) -> tuple[int, bool]:
        """How many words of ``lead`` are there, and whether those are all."""
        count = next((i for i, word in enumerate(lead) if cursor.peek(i) != word), len(lead))
        return count, count == len(lead)

    most = max(in_common(lead) for form in forms for lead in form.leads)
    fitting = [form for form in forms if any(in_common(lead) == most for lead in form.leads)]
    count, whole = most
    if whole or len(fitting) == 1 or all(form.parse for form in fitting):  # their methods tell what is missing
        return fitting[0]
    documented = [form for form in fitting if form.summary] or fitting
    following = [" ".join(lead[1 : count + 1]) for form in documented for lead in form.leads if in_common(lead) == most]
    cursor.index += 1
    return cursor.unexpected(cursor.token, listed(list(dict.fromkeys(following))))


def parse_statement(sql: str, tokens: list[Token]) -> exp.Expression:
    """The one statement that ``tokens`` are."""
    cursor = StatementParser(sql, tokens)
    if cursor.at_end:
        raise SyntaxProblem("There is no statement here.", at=0)
    refuse_open(tokens)
    try:
        tree = _only(cursor)
    except RecursionError:
        raise too_deep(cursor.token) from None
    except SyntaxProblem as error:
        raise _with_keyword(error, cursor, tokens) from None
    refuse_depth(tree, len(tokens))
    assert isinstance(tree, exp.Expression)
    return tree


def _only(cursor: StatementParser) -> exp.Expr:
    tree = statement(cursor)
    if not cursor.at_end:
        cursor.unexpected(cursor.token)
    return tree


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

    meant = misspelt(tokens, cursor.index, came)
    if meant is None:
        return error
    token = meant.token
    return SyntaxProblem(message(cursor.sql, token.start, f'"{token.text}"'), at=token, hint=f"Did you mean '{meant.keyword}'?")
