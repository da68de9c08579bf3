"""Queries and expressions: what of sqlglot's parser Flink SQL changes. Statements are in ``statement_parser``.

Every function call becomes an ``exp.Anonymous``: the function table, not sqlglot, knows what a name means.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, NoReturn

from sqlglot import exp
from sqlglot import parser as base
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from sqlstream.sql import ast
from sqlstream.sql.type_syntax import parse_type

TIME_UNITS = (
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND", "DOW", "ISODOW",
    "DOY", "ISOYEAR", "EPOCH", "DECADE", "CENTURY", "MILLENNIUM",
)  # fmt: skip
_TIME_LITERALS = ("DATE", "TIME", "TIMESTAMP")
_NO_PAREN = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "CURRENT_USER", "USER")


def anonymous(name: str, *args: exp.Expr) -> exp.Anonymous:
    """A call of ``name``."""
    return exp.Anonymous(this=name, expressions=list(args))


class FlinkParser(base.Parser):
    """sqlglot's parser with Flink's functions, types, literals, table functions and hints."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        "CASE": lambda self: self._parse_case(),
        "ARRAY": lambda self: self._parse_constructor("ARRAY"),
        "MAP": lambda self: self._parse_constructor("MAP"),
        **{name: (lambda self, name=name: self._parse_niladic(name)) for name in _NO_PAREN},
    }
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        "CAST": lambda self: self._parse_flink_cast(safe=False),
        "TRY_CAST": lambda self: self._parse_flink_cast(safe=True),
        "EXTRACT": lambda self: self._parse_extract_unit(),
        "CEIL": lambda self: self._parse_rounding("CEIL"),
        "CEILING": lambda self: self._parse_rounding("CEIL"),
        "FLOOR": lambda self: self._parse_rounding("FLOOR"),
        "SUBSTRING": lambda self: self._parse_separated("SUBSTRING", ("FROM", "FOR")),
        "OVERLAY": lambda self: self._parse_separated("OVERLAY", ("PLACING", "FROM", "FOR")),
        "POSITION": lambda self: self._parse_position_in(),
        "TRIM": lambda self: self._parse_trim_from(),
        "TIMESTAMPADD": lambda self: self._parse_unit_first("TIMESTAMPADD"),
        "TIMESTAMPDIFF": lambda self: self._parse_unit_first("TIMESTAMPDIFF"),
        "DESCRIPTOR": lambda self: self.expression(ast.Descriptor(expressions=self._parse_csv(self._parse_name))),
        "JSON_VALUE": lambda self: self._parse_json_call("JSON_VALUE"),
        "JSON_QUERY": lambda self: self._parse_json_call("JSON_QUERY"),
        "JSON_EXISTS": lambda self: self._parse_json_call("JSON_EXISTS"),
        "JSON_OBJECT": lambda self: self._parse_json_call("JSON_OBJECT"),
        "JSON_ARRAY": lambda self: self._parse_json_call("JSON_ARRAY"),
    }
    COLUMN_OPERATORS: ClassVar[dict[TokenType, Any]] = {TokenType.DOT: None}
    RANGE_PARSERS: ClassVar[dict[TokenType, Any]] = {
        k: v
        for k, v in base.Parser.RANGE_PARSERS.items()
        if k in (TokenType.BETWEEN, TokenType.IN, TokenType.IS, TokenType.LIKE, TokenType.OVERLAPS, TokenType.SIMILAR_TO)
    }
    PLACEHOLDER_PARSERS: ClassVar[dict[TokenType, Any]] = {}
    QUERY_MODIFIER_PARSERS: ClassVar[dict[TokenType, Any]] = {
        k: v
        for k, v in base.Parser.QUERY_MODIFIER_PARSERS.items()
        if k
        in (
            TokenType.MATCH_RECOGNIZE, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.WINDOW, TokenType.ORDER_BY,
            TokenType.LIMIT, TokenType.FETCH, TokenType.OFFSET,
        )
    }  # fmt: skip
    # Statements are dispatched by their first words; what is left is a query.
    STATEMENT_PARSERS: ClassVar[dict[TokenType, Any]] = {}

    # --- tokens -------------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        """The current token; at the end of the text, one without text at its last character."""
        if self._curr:
            return self._curr
        return Token(TokenType.STRING, "", start=len(self.sql), end=len(self.sql))

    def at(self, *words: str) -> bool:
        """Whether the next tokens are these words."""
        for i, word in enumerate(words):
            index = self._index + i
            if index >= len(self._tokens):
                return False
            token = self._tokens[index]
            if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) or " ".join(token.text.upper().split()) != word:
                return False
        return True

    def accept(self, *words: str) -> bool:
        """Pass these words where they are next; a keyword of several words (``IS NOT``) may be one token."""
        if self.at(*words):
            self._advance(len(words))
            return True
        if len(words) > 1 and self.at(" ".join(words)):
            self._advance()
            return True
        return False

    def expect(self, *words: str) -> None:
        """Pass these words, or fail."""
        if not self.accept(*words):
            self.unexpected(self.token, " ".join(words))

    def accept_operator(self, text: str) -> bool:
        if self._curr and self._curr.text == text and self._curr.token_type not in (TokenType.STRING, TokenType.IDENTIFIER):
            self._advance()
            return True
        return False

    def expect_operator(self, text: str) -> None:
        if not self.accept_operator(text):
            self.unexpected(self.token, f'"{text}"')

    def close_angle(self) -> None:
        """Pass one ``>``; ``>>`` is two of them."""
        if self._curr and self._curr.text == ">>":
            token = self._curr
            self._tokens[self._index] = self._curr = Token(TokenType.GT, ">", token.line, token.col, token.start + 1, token.end)
            return
        self.expect_operator(">")

    def word(self) -> str:
        """The next token's text in upper case; passes it."""
        if not self._curr:
            self.unexpected(self.token, "a word")
        text = self._curr.text.upper()
        self._advance()
        return text

    def identifier(self) -> str:
        """The name that is next; passes it."""
        return str(self._parse_name().name)

    def integer(self) -> int:
        token = self.token
        if token.token_type != TokenType.NUMBER or not token.text.isdigit():
            self.unexpected(token, "a whole number")
        self._advance()
        return int(token.text)

    def string(self) -> exp.Literal:
        """The string literal that is next; passes it."""
        token = self.token
        if token.token_type != TokenType.STRING or not self._curr:
            self.unexpected(token, "a string in single quotes")
        self._advance()
        return exp.Literal(this=token.text, is_string=True).update_positions(token)

    def unexpected(self, token: Token, expected: str = "") -> NoReturn:
        """Fail at ``token``."""
        self._fail(f"Encountered {_shown(token)}.", token, f"Was expecting: {expected}" if expected else None)

    def refuse(self, message: str, token: Token) -> NoReturn:
        """Fail with a message of its own."""
        self._fail(message, token, None)

    def _fail(self, message: str, token: Token, hint: str | None) -> NoReturn:
        error = ParseError(message)
        error.offset = token.start  # type: ignore[attr-defined]
        error.hint = hint  # type: ignore[attr-defined]
        raise error

    def raise_error(self, message: str, token: Any = None) -> None:
        at = token or self.token
        self._fail(f"Encountered {_shown(at)}.", at, None if "Expecting" not in message else message.replace("Expecting", "Was expecting"))

    def _parse_name(self) -> exp.Identifier:
        found = self._parse_id_var(any_token=False)
        if not isinstance(found, exp.Identifier):
            token = self.token
            # A word that is reserved in sqlglot only.
            if not self._curr or not re.fullmatch(r"[A-Za-z_]\w*", token.text) or token.token_type == TokenType.STRING:
                self.unexpected(token, "an identifier")
            self._advance()
            found = exp.Identifier(this=token.text, quoted=False)
            found.update_positions(token)
        return found

    def text_between(self, start: Token, end: Token) -> str:
        """The source text from ``start`` to ``end``."""
        return self.sql[start.start : end.end + 1]

    # --- expressions --------------------------------------------------------------------------------------------------

    def _parse_type(self, parse_interval: bool = True, fallback_to_identifier: bool = False) -> exp.Expr | None:
        literal = self._parse_time_literal()
        if literal is not None:
            return literal
        return self._parse_column()

    def _parse_types(self, *_: Any, **__: Any) -> exp.Expr:
        start = self.token
        return self.expression(ast.TypeNode(this=parse_type(self)), start)

    def _parse_time_literal(self) -> exp.Expr | None:
        token = self._curr
        if not token or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            return None
        word = token.text.upper()
        after = self._next
        if not after:
            return None
        if word in _TIME_LITERALS and after.token_type == TokenType.STRING:
            self._advance()
            return self.expression(ast.TimeLiteral(kind=word, this=self.string().name), token)
        if word == "INTERVAL" and (after.token_type == TokenType.STRING or after.text in ("-", "+")):
            self._advance()
            negative = self.accept_operator("-")
            self.accept_operator("+")
            text = self.string().name
            unit = self._interval_unit()
            to = self._interval_unit() if self.accept("TO") else None
            return self.expression(ast.IntervalLiteral(this=text, unit=unit, to=to, negative=negative or None), token)
        return None

    def _interval_unit(self) -> str:
        token = self.token
        unit = self.word()
        unit = unit[:-1] if unit.endswith("S") and unit[:-1] in TIME_UNITS else unit
        if unit not in TIME_UNITS:
            self.unexpected(token, "an interval unit, as SECOND or DAY")
        if self.accept_operator("("):
            self.integer()
            if self.accept_operator(","):
                self.integer()
            self.expect_operator(")")
        return unit

    def _parse_interval(self, *_: Any, **__: Any) -> None:
        return None

    def _parse_constructor(self, name: str) -> exp.Expr | None:
        start = self._prev
        if not self.accept_operator("["):
            if self.at("("):
                self._advance()
                args = self._operands()
                self.expect_operator(")")
                return self.expression(anonymous(name, *args), start)
            self._advance(-1)
            return self._parse_plain_column()
        args = [] if self.at("]") else self._operands()
        self.expect_operator("]")
        return self._needed(self._parse_column_ops(self.expression(anonymous(name, *args), start)))

    def _parse_plain_column(self) -> exp.Expr:
        return self.expression(exp.Column(this=self._parse_name()))

    def _operands(self) -> list[exp.Expr]:
        return [o for o in self._parse_csv(self._operand) if o is not None]

    def _operand(self) -> exp.Expr:
        """An expression; fails where there is none."""
        return self._needed(self._parse_disjunction())

    def _term(self) -> exp.Expr:
        """An expression without comparisons and logic, so that IN, FROM and AS behind it are not taken for its own."""
        return self._needed(self._parse_bitwise())

    def _needed(self, found: exp.Expr | None) -> exp.Expr:
        if found is None:
            self.unexpected(self.token, "an expression")
        return found

    def _parse_niladic(self, name: str) -> exp.Expr:
        start = self._prev
        if name in ("USER", "CURRENT_USER"):
            self.refuse(f"Encountered {_shown(start)}.", start)
        if self.accept_operator("("):
            self.expect_operator(")")
        return self.expression(anonymous(name), start)

    def _parse_flink_cast(self, *, safe: bool) -> exp.Expr:
        operand = self._operand()
        self.expect("AS")
        target = self._parse_types()
        node = exp.TryCast if safe else exp.Cast
        return self.expression(node(this=operand, to=target))

    def _unit(self) -> exp.Var:
        token = self.token
        word = self.word().strip("'")
        unit = word.removeprefix("SQL_TSI_")
        unit = unit[:-1] if unit.endswith("S") and unit[:-1] in TIME_UNITS else unit
        if unit not in TIME_UNITS:
            self.unexpected(token, "a time unit, as SECOND or DAY")
        return self.expression(exp.Var(this=unit), token)

    def _parse_extract_unit(self) -> exp.Expr:
        unit = self._unit()
        self.expect("FROM")
        return anonymous("EXTRACT", unit, self._operand())

    def _parse_rounding(self, name: str) -> exp.Expr:
        operand = self._operand()
        if self.accept("TO"):
            return anonymous(name, operand, self._unit())
        return anonymous(name, operand)

    def _parse_separated(self, name: str, separators: tuple[str, ...]) -> exp.Expr:
        args = [self._term()]
        while self.accept_operator(",") or any(self.accept(s) for s in separators):
            args.append(self._term())
        return anonymous(name, *args)

    def _parse_position_in(self) -> exp.Expr:
        needle = self._term()
        self.expect("IN")
        return anonymous("POSITION", needle, self._term())

    def _parse_trim_from(self) -> exp.Expr:
        token = self.token
        side = next((s for s in ("BOTH", "LEADING", "TRAILING") if self.accept(s)), None)
        if side is None:
            first = self._term()
            if not self.accept("FROM"):
                return anonymous("TRIM", first)
            return anonymous("TRIM", exp.Var(this="BOTH"), first, self._term())
        characters = exp.Literal.string(" ") if self.at("FROM") else self._term()
        self.expect("FROM")
        return anonymous("TRIM", self.expression(exp.Var(this=side), token), characters, self._term())

    def _parse_unit_first(self, name: str) -> exp.Expr:
        unit = self._unit()
        self.expect_operator(",")
        return anonymous(name, unit, *self._operands())

    def _parse_json_call(self, name: str) -> exp.Expr:
        """Arguments as they are; each word or type of a clause (``NULL ON EMPTY``, ``RETURNING INT``) as a Var or TypeNode."""
        args: list[exp.Expr] = []
        while not self.at(")") and self._curr:
            token = self.token
            if self.accept_operator(","):
                continue
            if self.accept("RETURNING"):
                args += [exp.Var(this="RETURNING"), self._parse_types()]
            elif token.text.upper() in ("ON", "VALUE", "KEY", "NULL", "ERROR", "DEFAULT", "WITH", "WITHOUT", "EMPTY", "ABSENT", "TRUE",
                                        "FALSE", "UNKNOWN", "CONDITIONAL", "UNCONDITIONAL", "ARRAY", "WRAPPER", "OBJECT") and (
                token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)
            ):  # fmt: skip
                self._advance()
                args.append(self.expression(exp.Var(this=token.text.upper()), token))
            else:
                args.append(self._term())
        return anonymous(name, *args)

    # --- tables -------------------------------------------------------------------------------------------------------

    def _parse_table(self, *args: Any, **more: Any) -> exp.Expr | None:
        lateral = self.accept("LATERAL") or None
        if self.at("TABLE", "("):
            self._advance(2)
            function = self._parse_table_function(self.token)
            self.expect_operator(")")
            return self._table_alias(function, lateral)
        if lateral:
            subquery = self._needed(self._parse_select(table=True))
            return self.expression(exp.Lateral(this=subquery, alias=subquery.args.pop("alias", None)))
        if self.accept("TABLE"):
            return self._parse_named_table(*args, **more)
        following = self._next
        if self._curr and following and following.text == "(" and self._curr.token_type not in (
            TokenType.VALUES, TokenType.UNNEST, TokenType.L_PAREN, TokenType.SELECT, TokenType.WITH,
        ):  # fmt: skip
            return self._table_alias(self._parse_table_function(self.token), None)
        if self._curr and self._curr.token_type in (TokenType.VALUES, TokenType.UNNEST, TokenType.L_PAREN, TokenType.SELECT, TokenType.WITH):
            return super()._parse_table(*args, **more)
        return self._parse_named_table(*args, **more)

    def _parse_named_table(self, *_: Any, **more: Any) -> exp.Expr:
        table = self._parse_table_parts()
        hints = self.parse_hints()
        if hints:
            table.set("hints", hints)
        if self.accept("FOR"):
            token = self.token
            self.expect("SYSTEM_TIME") if self.at("SYSTEM_TIME") else self.expect("SYSTEM", "TIME")
            self.expect("AS", "OF")
            table.set("system_time", self.expression(exp.Version(this="TIMESTAMP", kind="AS OF", expression=self._term()), token))
        if self._curr and self._curr.token_type == TokenType.MATCH_RECOGNIZE:
            return self._parse_match_recognize_of(table)
        alias = self._parse_table_alias(alias_tokens=self.TABLE_ALIAS_TOKENS)
        if alias:
            table.set("alias", alias)
        if self._curr and self._curr.token_type == TokenType.MATCH_RECOGNIZE:
            return self._parse_match_recognize_of(table)
        if more.get("joins"):
            for join in self._parse_joins():
                table.append("joins", join)
        return table

    def _parse_match_recognize_of(self, table: exp.Expr) -> exp.Expr:
        match = self._parse_match_recognize()
        return self.expression(exp.Subquery(this=table, match=match))

    def _parse_function_parameter(self) -> exp.Expr | None:
        # The columns of a table's alias: ``AS t(a, b)``.
        return self._parse_name()

    def _parse_table_parts(self, *_: Any, **more: Any) -> Any:
        if more.get("fast"):
            return None
        names = [self._parse_name()]
        while self.accept_operator("."):
            names.append(self._parse_name())
        if len(names) > 3:
            self.unexpected(self.token, "at most catalog.database.table")
        table = exp.Table(this=names[-1])
        if len(names) > 1:
            table.set("db", names[-2])
        if len(names) > 2:
            table.set("catalog", names[-3])
        return table

    def _parse_table_function(self, start: Token) -> exp.Expr:
        name = self.word()
        self.expect_operator("(")
        args = [] if self.at(")") else self._parse_csv(self._parse_table_argument)
        self.expect_operator(")")
        return self.expression(ast.TableFunction(this=name, expressions=args), start)

    def _parse_table_argument(self) -> exp.Expr:
        token = self.token
        following = self._tokens[self._index + 1] if self._index + 1 < len(self._tokens) else None
        if following and following.text == "=>":
            name = self.word()
            self._advance()
            return self.expression(ast.NamedArgument(this=name, expression=self._parse_table_argument()), token)
        if self.accept("TABLE"):
            table = self._parse_table_parts()
            hints = self.parse_hints()
            if hints:
                table.set("hints", hints)
            return self.expression(ast.TableArgument(this=table, partition=self._partition_by()), token)
        if self.at("(", "SELECT") or self.at("(", "WITH"):
            self._advance()
            query = self._needed(self._parse_select())
            self.expect_operator(")")
            return self.expression(ast.TableArgument(this=query, partition=self._partition_by()), token)
        return self._operand()

    def _partition_by(self) -> list[exp.Identifier] | None:
        if self.accept("PARTITION", "BY"):
            return [self._parse_name(), *self._more_names()]
        return None

    def _more_names(self) -> list[exp.Identifier]:
        names = []
        # A comma that is followed by DESCRIPTOR or a named argument ends the list of columns.
        while self.at(",") and not self._argument_follows():
            self._advance()
            names.append(self._parse_name())
        return names

    def _argument_follows(self) -> bool:
        rest = self._tokens[self._index + 1 : self._index + 3]
        return len(rest) == 2 and (rest[0].text.upper() == "DESCRIPTOR" or rest[1].text == "=>")

    def _table_alias(self, function: exp.Expr, lateral: bool | None) -> exp.Expr:
        function.set("lateral", lateral)
        alias = self._parse_table_alias(alias_tokens=self.TABLE_ALIAS_TOKENS)
        if alias:
            function.set("alias", alias)
        return function

    def parse_hints(self) -> list[exp.Expr]:
        """``/*+ NAME(..), .. */`` where it stands."""
        hints: list[exp.Expr] = []
        while self._curr and self._curr.token_type == TokenType.HINT:
            token = self._curr
            comment = token.comments[0] if token.comments else ""
            self._advance()
            start = self.sql.find(comment, token.start) if comment else token.start
            hints += hints_of(comment, start)
        return hints

    def _parse_hint(self) -> Any:
        hints = self.parse_hints()
        return self.expression(exp.Hint(expressions=hints)) if hints else None

    def _parse_table_hints(self) -> None:
        return None

    def _parse_lateral(self) -> None:
        return None


def hints_of(text: str, start: int) -> list[exp.Expr]:
    """The hints in the text of a ``/*+ .. */`` that begins at offset ``start``."""
    hints: list[exp.Expr] = []
    for match in re.finditer(r"(\w+)\s*(?:\(((?:[^()']|'(?:[^']|'')*')*)\))?", text):
        name, inside = match[1].upper(), match[2] or ""
        if name == "OPTIONS":
            pairs = re.findall(r"'((?:[^']|'')*)'\s*=\s*'((?:[^']|'')*)'", inside)
            options = [
                ast.OptionDef(this=exp.Literal.string(k.replace("''", "'")), expression=exp.Literal.string(v.replace("''", "'")))
                for k, v in pairs
            ]
            hint = ast.OptionsHint(this=name, expressions=options)
        else:
            hint = ast.OptionsHint(this=name, expressions=[exp.Literal.string(inside)])
        hint.meta["start"] = start + match.start()
        hints.append(hint)
    return hints


def _shown(token: Token) -> str:
    return f'"{token.text}"' if token.text else '"<EOF>"'
