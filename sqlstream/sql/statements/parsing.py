"""One statement: tokens to its tree, by the table of statements. ``parse`` is the way in for sqlstream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.depth import deeply, too_deep
from sqlstream.core.errors import NotSupported, SqlStreamError, SyntaxProblem
from sqlstream.sql.statements.elsewhere import elsewhere, missing
from sqlstream.sql.statements.form import StatementForm, listed, read
from sqlstream.sql.statements.misspelt import misspelt
from sqlstream.sql.statements.table import BY_FIRST_WORD, REFUSED
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.cursor import mark
from sqlstream.sql.syntax.lexer import message
from sqlstream.sql.syntax.nesting import refuse_depth, refuse_open
from sqlstream.sql.syntax.statement_parser import StatementParser
from sqlstream.sql.syntax.tokens import tokenize
from sqlstream.sql.syntax.type_syntax import OF_ANOTHER

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

    from sqlstream.sql.statements.split import StatementText

_QUERY_STARTS = ("SELECT", "WITH", "VALUES", "TABLE", "(")


def parse(source: str | StatementText) -> exp.Expression:
    """The syntax tree of one statement (without its ``;``); of one that a script was split into no text is lexed again.

    Raises SyntaxProblem with the place of the offending token; NotSupported for syntax of Flink that is refused here.
    """
    if isinstance(source, str):
        return deeply(lambda: _parsed(source, tokenize(source)))
    return deeply(lambda: _parsed(source.text, tokenize(source.text, source.lexemes, source.start)))


def begins_statement(cursor: StatementParser) -> bool:
    """Whether the next word does; sqlglot's builders parse expressions as well."""
    word = cursor.peek(0)
    return word in BY_FIRST_WORD or word in _QUERY_STARTS or any(refused.words[0] == word for refused in REFUSED)


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


def path_of(name: str) -> tuple[str, ...]:
    """The parts of a name of a table, as a statement would write it. Raises SyntaxProblem."""
    cursor = StatementParser(name, tokenize(name))
    path = cursor.path()
    if not cursor.at_end:
        cursor.unexpected(cursor.token)
    return ast.parts(path)


def _parsed(sql: str, tokens: list[Token]) -> exp.Expression:
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
    """``error``, with how Flink writes it where it is another dialect's, or one about the keyword that is misspelt before the place where
    ``cursor`` stopped; else with what is missing there.
    """
    if (hint := elsewhere(cursor.words, cursor.index)) is not None:
        error.hint = hint
        return error
    if error.hint is not None and error.hint.startswith(OF_ANOTHER):
        return error

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
        error.hint = error.hint or missing(cursor.words, cursor.index)
        return error
    token = meant.token
    return SyntaxProblem(message(cursor.sql, token.start, f'"{token.text}"'), at=token, hint=f"Did you mean '{meant.keyword}'?")
