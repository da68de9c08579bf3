"""The Flink dialect of sqlglot: text to syntax tree and back. ``parse`` is the way in for sqlstream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import exp, tokens
from sqlglot.dialects.dialect import Dialect, DialectType, NormalizationStrategy

from sqlstream.core.depth import deeply
from sqlstream.sql.syntax.generator import FlinkGenerator
from sqlstream.sql.syntax.meanings import RESULTS
from sqlstream.sql.syntax.parser import FlinkParser, of_sqlglot, parse_statement
from sqlstream.sql.syntax.tokens import tokenize

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token


class Flink(Dialect):
    """Flink SQL. Identifiers are case-sensitive; strings have no escapes but ``''``."""

    NORMALIZATION_STRATEGY = NormalizationStrategy.CASE_SENSITIVE
    NULL_ORDERING = "nulls_are_small"
    SUPPORTS_USER_DEFINED_TYPES = False
    EXPRESSION_METADATA = {**Dialect.EXPRESSION_METADATA, **RESULTS}

    # sqlglot takes the quotes from here; the text is read by ``lexer``.
    class Tokenizer(tokens.Tokenizer):
        QUOTES: ClassVar[list[Any]] = ["'"]
        IDENTIFIERS: ClassVar[list[Any]] = ["`"]
        STRING_ESCAPES: ClassVar[list[str]] = ["'"]
        HEX_STRINGS: ClassVar[list[Any]] = [("X'", "'")]

    Parser = FlinkParser
    Generator = FlinkGenerator

    def tokenize(self, sql: str, dialect: DialectType = None) -> list[Token]:
        """The tokens of ``sql``. Raises ParseError."""
        with of_sqlglot(sql):
            return tokenize(sql)


def parse(text: str) -> exp.Expression:
    """The syntax tree of one statement (without its ``;``).

    Raises SyntaxProblem with the place of the offending token; NotSupported for syntax of Flink that is refused here.
    """
    return deeply(lambda: parse_statement(text, tokenize(text)))
