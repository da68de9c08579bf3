"""The Flink dialect of sqlglot: text to syntax tree and back; its grammar is in ``sql/syntax`` and ``sql/statements``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import tokens
from sqlglot.dialects.dialect import Dialect, DialectType, NormalizationStrategy

from sqlstream.sql.sqlglot.generator import FlinkGenerator
from sqlstream.sql.sqlglot.meanings import RESULTS
from sqlstream.sql.sqlglot.parser import FlinkParser, of_sqlglot
from sqlstream.sql.syntax.tokens import tokenize

if TYPE_CHECKING:
    from sqlglot import exp
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


def flink_sql(node: exp.Expr, **options: Any) -> str:
    """``node`` as Flink SQL; ``options`` are those of sqlglot's generators."""
    return node.sql(dialect=Flink, **options)
