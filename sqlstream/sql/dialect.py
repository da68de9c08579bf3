"""The Flink dialect of sqlglot: text to syntax tree and back. ``parse`` is the way in for sqlstream."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, generator, tokens
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import TokenType

from sqlstream.errors import SyntaxProblem
from sqlstream.sql import ast
from sqlstream.sql.statement_parser import StatementParser
from sqlstream.sql.type_syntax import type_sql

# Words that are keywords to sqlglot's tokenizer but nothing in Flink, or first words of statements that we parse ourselves.
_PLAIN_WORDS = ("CALL", "EXPLAIN", "OPTIMIZE", "PREPARE", "SHOW", "COPY", "ANALYZE", "KILL", "GRANT", "REVOKE", "VACUUM", "DESCRIBE", "COMMENT")


class Flink(Dialect):
    """Flink SQL. Identifiers are case-sensitive; strings have no escapes but ``''``."""

    NORMALIZATION_STRATEGY = NormalizationStrategy.CASE_SENSITIVE
    NULL_ORDERING = "nulls_are_small"
    SUPPORTS_USER_DEFINED_TYPES = False

    class Tokenizer(tokens.Tokenizer):
        QUOTES: ClassVar[list[Any]] = ["'"]
        IDENTIFIERS: ClassVar[list[Any]] = ["`"]
        STRING_ESCAPES: ClassVar[list[str]] = ["'"]
        HEX_STRINGS: ClassVar[list[Any]] = [("X'", "'"), ("x'", "'")]
        UNICODE_STRINGS: ClassVar[list[Any]] = [("U&'", "'"), ("u&'", "'")]
        BYTE_STRINGS: ClassVar[list[Any]] = [("E'", "'"), ("e'", "'")]
        BYTE_STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'"]
        COMMENTS: ClassVar[list[Any]] = ["--", ("/*", "*/")]
        COMMANDS: ClassVar[set[TokenType]] = set()
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            k: v for k, v in tokens.Tokenizer.KEYWORDS.items() if k not in _PLAIN_WORDS and v is not TokenType.COMMAND
        }

    Parser = StatementParser

    class Generator(generator.Generator):
        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **generator.Generator.TRANSFORMS,
            ast.TypeNode: lambda self, e: type_sql(e.args["this"], nested=True),
            ast.TimeLiteral: lambda self, e: f"{e.args['kind']} {_string(e.args['this'])}",
            ast.IntervalLiteral: lambda self, e: _interval(e),
            ast.TableArgument: lambda self, e: _table_argument(self, e),
            ast.Descriptor: lambda self, e: f"DESCRIPTOR({self.expressions(e, flat=True)})",
            ast.NamedArgument: lambda self, e: f"{e.args['this']} => {self.sql(e, 'expression')}",
            ast.TableFunction: lambda self, e: _table_function(self, e),
            exp.NullSafeEQ: lambda self, e: self.binary(e, "IS NOT DISTINCT FROM"),
            exp.NullSafeNEQ: lambda self, e: self.binary(e, "IS DISTINCT FROM"),
        }


def parse(text: str) -> exp.Expression:
    """The syntax tree of one statement (without its ``;``). Raises SyntaxProblem with the place of the offending token."""
    dialect = Flink()
    try:
        found = dialect.tokenize(text)
    except TokenError as error:
        raise SyntaxProblem(str(error).split("\n")[0], at=len(text)) from None
    for token in found:
        if '"' in token.text and token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER, TokenType.BYTE_STRING, TokenType.UNICODE_STRING):
            raise _encountered(
                text, token.start + max(token.text.find('"'), 0), '"\\""', "Strings are in single quotes, identifiers in back-ticks."
            )
    try:
        parser = dialect.parser()
        # Not parse(): that would take a statement set apart at its semicolons.
        parser.reset()
        parser.sql = text
        parser._chunks = [found]
        method: Any = StatementParser._parse_statement
        trees = parser._parse_batch_statements(parse_method=method, sep_first_statement=False)
    except ParseError as error:
        offset = getattr(error, "offset", None)
        message = str(error)
        if offset is None:
            offset = _offset(text, error)
        if message.startswith("Encountered"):
            raise _located(text, offset, message, getattr(error, "hint", None)) from None
        raise SyntaxProblem(message.split(". Line")[0], at=offset, hint=getattr(error, "hint", None)) from None
    if not trees or trees[0] is None:
        raise SyntaxProblem("There is no statement here.", at=0)
    tree = trees[0]
    assert isinstance(tree, exp.Expression)
    if stray := tree.find(exp.Command):
        raise SyntaxProblem(f'Encountered "{stray.name}".', at=stray)
    return tree


def _located(text: str, offset: int, message: str, hint: str | None) -> SyntaxProblem:
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return SyntaxProblem(f"{message.rstrip('.')} at line {line}, column {column}.", at=offset, hint=hint)


def _encountered(text: str, offset: int, shown: str, hint: str) -> SyntaxProblem:
    return _located(text, offset, f"Encountered {shown}.", hint)


def _offset(text: str, error: ParseError) -> int:
    detail = error.errors[0] if error.errors else {}
    line, column = detail.get("line") or 1, detail.get("col") or 1
    begin = 0
    for _ in range(line - 1):
        begin = text.find("\n", begin) + 1
    return int(min(begin + column - 1, len(text)))


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _interval(node: exp.Expr) -> str:
    sign = "-" if node.args.get("negative") else ""
    to = f" TO {node.args['to']}" if node.args.get("to") else ""
    return f"INTERVAL {sign}{_string(node.args['this'])} {node.args['unit']}{to}"


def _table_argument(self: generator.Generator, node: exp.Expr) -> str:
    inner = self.sql(node, "this")
    text = f"TABLE {inner}" if isinstance(node.this, exp.Table) else f"({inner})"
    if node.args.get("partition"):
        text += " PARTITION BY " + ", ".join(self.sql(p) for p in node.args["partition"])
    return text


def _table_function(self: generator.Generator, node: exp.Expr) -> str:
    lateral = "LATERAL " if node.args.get("lateral") else ""
    alias = self.sql(node, "alias")
    return f"{lateral}TABLE({node.name}({self.expressions(node, flat=True)})){' AS ' + alias if alias else ''}"


