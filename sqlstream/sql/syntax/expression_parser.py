"""Scalar expressions, with the precedence of Calcite's operators: tokens to sqlglot's nodes.

From loose to tight: OR, AND, NOT; comparisons and IS; BETWEEN, IN, LIKE; + -; * / % ||; signs; [] and points. Calls are
in ``call_parser``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sqlstream.core.errors import SyntaxProblem
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.calls import call
from sqlstream.sql.syntax.cursor import Cursor, mark
from sqlstream.sql.syntax.data_types import data_type
from sqlstream.sql.syntax.lexer import CALLABLE, RESERVED
from sqlstream.sql.syntax.nesting import refuse_type_depth
from sqlstream.sql.syntax.type_syntax import parse_type

if TYPE_CHECKING:
    from collections.abc import Callable

TIME_UNITS = (
    "YEAR",
    "QUARTER",
    "MONTH",
    "WEEK",
    "DAY",
    "HOUR",
    "MINUTE",
    "SECOND",
    "MILLISECOND",
    "MICROSECOND",
    "NANOSECOND",
    "DOW",
    "ISODOW",
    "DOY",
    "ISOYEAR",
    "EPOCH",
    "DECADE",
    "CENTURY",
    "MILLENNIUM",
)
# As PostgreSQL and Spark write an interval.
_WITH_UNIT = re.compile(r"\s*(\d+)\s*(years?|months?|weeks?|days?|hours?|minutes?|seconds?)\s*", re.I)
INTERVAL_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_TO_UNITS = {
    "YEAR": ("MONTH",),
    "DAY": ("HOUR", "MINUTE", "SECOND"),
    "HOUR": ("MINUTE", "SECOND"),
    "MINUTE": ("SECOND",),
}
QUERY_STARTS = ("SELECT", "WITH", "VALUES", "TABLE")
_COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_SUMS: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub}
_PRODUCTS: dict[str, type[exp.Binary]] = {"*": exp.Mul, "/": exp.Div, "%": exp.Mod, "||": exp.DPipe}
_LIKES: dict[str, type[exp.Binary]] = {
    "LIKE": exp.Like,
    "ILIKE": exp.ILike,
    "RLIKE": exp.RegexpLike,
    "SIMILAR TO": exp.SimilarTo,
}
# Reserved words that are columns where they stand alone: Flink has no functions of these names.
_COLUMNS = ("CURRENT_USER", "USER", "SESSION_USER", "SYSTEM_USER", "CURRENT_ROLE", "CURRENT_PATH", "CURRENT_CATALOG", "CURRENT_SCHEMA")
_NILADIC = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")


class ExpressionParser(Cursor):
    """Cursor with expressions. Queries and calls come from subclasses."""

    def query(self) -> exp.Expr:
        raise NotImplementedError

    def call(self, name: str, start: Token) -> exp.Expr:
        """A call whose name is passed already."""
        raise NotImplementedError

    # --- operators ----------------------------------------------------------------------------------------------------

    def expression(self) -> exp.Expr:
        left = self._conjunction()
        while self.accept("OR"):
            left = exp.Or(this=left, expression=self._conjunction())
        return left

    def _conjunction(self) -> exp.Expr:
        left = self._negation()
        while self.accept("AND"):
            left = exp.And(this=left, expression=self._negation())
        return left

    def _negation(self) -> exp.Expr:
        start = self.token
        if self.accept("NOT"):
            return mark(exp.Not(this=self._negation()), start)
        return self._comparison()

    def _comparison(self) -> exp.Expr:
        # IS .. binds to all of a comparison on its left: ``a = b IS NULL`` is ``(a = b) IS NULL``.
        left = self._range()
        while True:
            if operator := _COMPARISONS.get(self.words[self.index]):
                self.index += 1
                left = operator(this=left, expression=self._quantified())
            elif self.at("!="):
                self.refuse("Bang equal '!=' is not allowed under the current SQL conformance level", self.token, "Write <>.")
            elif self.at("IS"):
                left = self._is(left)
            elif self.accept("OVERLAPS"):
                left = exp.Overlaps(this=left, expression=self._range())
            else:
                return left

    def _quantified(self) -> exp.Expr:
        start = self.token
        word = self.one_of("ANY", "SOME", "ALL")
        if word is None:
            return self._range()
        self.expect("(")
        inner: exp.Expr = exp.Subquery(this=self.query()) if self.at_query() else exp.Tuple(expressions=self.csv(self.expression))
        self.expect(")")
        return mark(exp.All(this=inner) if word == "ALL" else exp.Any(this=inner), start)

    def _is(self, left: exp.Expr) -> exp.Expr:
        start = self.next_token()
        negated = self.accept("NOT")
        if self.accept("DISTINCT"):
            self.expect("FROM")
            other = self._range()
            return exp.NullSafeEQ(this=left, expression=other) if negated else exp.NullSafeNEQ(this=left, expression=other)
        what: exp.Expr
        if self.accept("NULL") or self.accept("UNKNOWN"):
            what = exp.Null()
        elif self.accept("TRUE"):
            what = exp.Boolean(this=True)
        elif self.accept("FALSE"):
            what = exp.Boolean(this=False)
        elif self.accept("JSON"):
            what = exp.JSON(this=self.one_of("VALUE", "SCALAR", "ARRAY", "OBJECT"))
        else:
            self.unexpected(self.token, "NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or JSON")
        node = mark(exp.Is(this=left, expression=what), start)
        return exp.Not(this=node) if negated else node

    def _range(self) -> exp.Expr:
        start = self.token
        if self.accept("NOT"):
            return mark(exp.Not(this=self._negation()), start)
        left = self.term()
        start = self.token
        negated = self.at("NOT") and self.peek() in ("BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "SIMILAR") and self.accept("NOT")
        if self.accept("BETWEEN"):
            left = mark(self._between(left), start)
        elif self.accept("IN"):
            left = mark(self._in(left), start)
        elif like := self.one_of(*_LIKES):
            left = mark(_LIKES[like](this=left, expression=self.term()), start)
            if like != "RLIKE" and self.accept("ESCAPE"):
                left = exp.Escape(this=left, expression=self.term())
        return exp.Not(this=left) if negated else left

    def _between(self, left: exp.Expr) -> exp.Expr:
        symmetric = self.accept("SYMMETRIC") or None
        if not symmetric:
            self.accept("ASYMMETRIC")
        low = self.term()
        self.expect("AND")
        return exp.Between(this=left, low=low, high=self.term(), symmetric=symmetric)

    def _in(self, left: exp.Expr) -> exp.Expr:
        self.expect("(")
        if (query := self._query_in_parenthesis()) is not None:
            return exp.In(this=left, query=query)
        node = exp.In(this=left, expressions=self.csv(self.expression))
        self.expect(")")
        return node

    def _query_in_parenthesis(self) -> exp.Subquery | None:
        """``query )``; None where only the first of several operands is one, as in ``(SELECT 1) + 1``."""
        if not self.at_query():
            return None
        before, nested = self.index, self.at("(")
        try:
            query = exp.Subquery(this=self.query())
            self.expect(")")
        except SyntaxProblem:
            if not nested:
                raise
            self.index = before
            return None
        return query

    def term(self) -> exp.Expr:
        """An expression without comparisons and logic, so that IN, FROM and AS behind it are not taken for its own."""
        return self._chain(_SUMS, self._product)

    def _product(self) -> exp.Expr:
        return self._chain(_PRODUCTS, self._signed)

    def _chain(self, operators: dict[str, type[exp.Binary]], operand: Callable[[], exp.Expr]) -> exp.Expr:
        left = operand()
        while operator := operators.get(self.words[self.index]):
            self.index += 1
            left = operator(this=left, expression=operand())
            if operator is exp.DPipe:
                left.set("safe", True)
            elif operator is exp.Div:
                left.set("typed", True)
        return left

    def _signed(self) -> exp.Expr:
        start = self.token
        if self.accept("-"):
            return mark(exp.Neg(this=self._signed()), start)
        if self.accept("+"):
            return self._signed()
        return self._accessed(self._primary())

    def _accessed(self, left: exp.Expr) -> exp.Expr:
        """``left`` with the elements and fields that are taken from it."""
        while True:
            start = self.token
            if self.accept("["):
                left = mark(exp.Bracket(this=left, expressions=[self.expression()]), start)
                self.expect("]")
            elif self.accept("."):
                star = mark(exp.Star(), self.next_token()) if self.at("*") else None
                left = exp.Dot(this=left, expression=star or self.name())
                if star is not None:
                    return left
            else:
                return left

    # --- operands -----------------------------------------------------------------------------------------------------

    def at_query(self) -> bool:
        """Whether a query begins here, parentheses before it not counted."""
        i = self.index
        while self.words[i] == "(" and i < self.size:
            i += 1
        return self.words[i] in QUERY_STARTS

    def _primary(self) -> exp.Expr:
        start = self.token
        match start.token_type:
            case TokenType.NUMBER:
                self.index += 1
                return mark(exp.Literal(this=start.text.removesuffix("."), is_string=False), start)
            case TokenType.STRING:
                return self.strings(same_line=False)
            case TokenType.HEX_STRING:
                self.index += 1
                return mark(exp.HexString(this=start.text), start)
            case TokenType.L_PAREN:
                return self._parenthesised()
            case TokenType.IDENTIFIER:
                return self._column_or_call()
            case TokenType.VAR:
                return self._word(start.text.upper(), start)
        self.unexpected(start, "an expression")
        return None

    def strings(self, *, same_line: bool = True) -> exp.Literal:
        """A string, or several in a row, which are one; each on a line of its own unless ``same_line``."""
        literal = self.string()
        while self.at_string():
            if not same_line and self.token.line == self.tokens[self.index - 1].line:
                self.refuse("String literal continued on same line", self.token)
            literal.set("this", literal.name + self.next_token().text)
        return literal

    def _word(self, word: str, start: Token) -> exp.Expr:
        match word:
            case "NULL":
                self.index += 1
                return mark(exp.Null(), start)
            case "TRUE" | "FALSE":
                self.index += 1
                return mark(exp.Boolean(this=word == "TRUE"), start)
            case "CASE":
                return self._case()
            case "EXISTS":
                self.index += 1
                self.expect("(")
                node = mark(exp.Exists(this=self.query()), start)
                self.expect(")")
                return node
            case "DATE" | "TIME" | "TIMESTAMP" if self.at_string(1):
                self.index += 1
                return mark(ast.TimeLiteral(kind=word, this=self.string().name), start)
            case "TIMESTAMP" if self.at("TIMESTAMP", "WITH"):
                self.unsupported(
                    "A TIMESTAMP WITH LOCAL TIME ZONE literal is not supported.",
                    start,
                    "Write CAST('..' AS TIMESTAMP_LTZ(3)).",
                )
            case "INTERVAL":
                return self.interval()
            case "ARRAY" | "MAP" | "MULTISET" if self.peek() == "[":
                return self._constructor(word)
            case "ARRAY" | "MULTISET":
                self.unsupported(
                    f"{word} takes its elements in brackets: {word}[..].", start, f"{word}[1, 2] has two; {word} (SELECT ..) is not supported."
                )
            case "ROW" if self.peek() == "(":
                self.index += 1
                return mark(call("ROW", self.wrapped(self.expression)), start)
            case _ if word in _NILADIC:
                self.index += 1
                args = self.csv(self.expression) if self.accept("(") and not self.at(")") else []
                if self.words[self.index - 1] == "(" or args:
                    self.expect(")")
                return mark(call(word, args), start)
            case _ if word in _COLUMNS and self.peek() not in (".", "("):
                self.index += 1
                return mark(exp.Column(this=mark(exp.Identifier(this=start.text, quoted=True), start)), start)
        return self._column_or_call()

    def _parenthesised(self) -> exp.Expr:
        start = self.token
        self.expect("(")
        if (query := self._query_in_parenthesis()) is not None:
            return mark(query, start)
        items = self.csv(self.expression)
        self.expect(")")
        if len(items) > 1:
            return mark(exp.Tuple(expressions=items), start)
        if isinstance(items[0], exp.Sub) and self.words[self.index] in INTERVAL_UNITS and self.words[self.index] in RESERVED:
            unit = self._interval_unit(INTERVAL_UNITS)
            to = self._interval_unit(_TO_UNITS.get(unit, ())) if self.accept("TO") else None
            return mark(ast.TimeDifference(this=items[0].this, expression=items[0].expression, unit=unit, to=to), start)
        return mark(exp.Paren(this=items[0]), start)

    def _column_or_call(self) -> exp.Expr:
        start = self.token
        word = self.words[self.index]
        if word and self.peek() == "(" and (word not in RESERVED or word in CALLABLE or word in self.special_calls):
            self.index += 1
            return self.call(start.text, start)
        names = [self.name()]
        while self.at(".") and self.peek() != "*":
            self.index += 1
            names.append(self.name())
        if self.at("("):
            if any("." in n.name for n in names):
                self.unsupported("A function's name has no point in it.", start, "CREATE FUNCTION gives it a name of one part.")
            return self.call(".".join(n.name for n in names), start)
        star = mark(exp.Star(), self.tokens[self.index - 1]) if self.accept(".", "*") else None
        if star is not None and len(names) < len(exp.COLUMN_PARTS):
            return exp.Column(this=star, **dict(zip(exp.COLUMN_PARTS[1:], reversed(names), strict=False)))
        node: exp.Expr = exp.Column(this=names[0])
        for key, name in zip(exp.COLUMN_PARTS, reversed(names[:4]), strict=False):
            node.set(key, name)
        for name in names[4:]:
            node = exp.Dot(this=node, expression=name)
        if star is not None:
            node = exp.Dot(this=node, expression=star)
        return node

    special_calls: frozenset[str] = frozenset()

    def _constructor(self, name: str) -> exp.Expr:
        start = self.next_token()
        self.expect("[")
        items = [] if self.at("]") else self.csv(self.expression)
        self.expect("]")
        return mark(call(name, items), start)

    def _case(self) -> exp.Expr:
        start = self.next_token()
        subject = None if self.at("WHEN") else self.expression()
        branches = []
        while self.at("WHEN"):
            when = self.next_token()
            condition = self.expression()
            if self.at(","):
                self.unsupported("WHEN with several values is not supported.", self.token, "Write a WHEN for each.")
            self.expect("THEN")
            branches.append(mark(exp.If(this=condition, true=self.expression()), when))
        if not branches:
            self.unexpected(self.token, "WHEN")
        default = self.expression() if self.accept("ELSE") else None
        self.expect("END")
        return mark(exp.Case(this=subject, ifs=branches, default=default), start)

    def cast(self, *, safe: bool, start: Token) -> exp.Expr:
        """``( x AS type )`` behind CAST or TRY_CAST."""
        self.expect("(")
        operand = self.expression()
        self.expect("AS")
        target = self.type_node(nullability=False)
        self.expect(")")
        node = exp.TryCast if safe else exp.Cast
        return mark(node(this=operand, to=target), start)

    def type_node(self, *, nullability: bool = True) -> exp.DataType:
        start = self.token
        type_ = parse_type(self, nullability=nullability)
        refuse_type_depth(type_, start)
        return mark(data_type(type_), start)

    # --- intervals and units ------------------------------------------------------------------------------------------

    def interval(self) -> exp.Expr:
        """``INTERVAL ['-]text' unit[(p)] [TO unit]``."""
        start = self.expect("INTERVAL")
        negative = self.accept("-") or None
        if not negative:
            self.accept("+")
        if not self.at_string():
            self.unsupported(
                "INTERVAL takes a string.",
                self.token,
                "Write INTERVAL '5' DAY; a computed one is n * INTERVAL '1' DAY.",
            )
        text = self.string().name
        if (both := _WITH_UNIT.fullmatch(text)) is not None:
            self._fail(self.token, f"Write INTERVAL '{both[1]}' {singular(both[2].upper())}: the unit stands behind the string.")
        unit = self._interval_unit(INTERVAL_UNITS)
        node = mark(ast.IntervalLiteral(this=text, unit=unit, negative=negative), start)
        if self.accept("("):
            node.set("precision", self.integer())
            if unit == "SECOND" and self.accept(","):
                node.set("scale", self.integer())
            self.expect(")")
        if self.accept("TO"):
            to = self._interval_unit(_TO_UNITS.get(unit, ()))
            node.set("to", to)
            if to == "SECOND" and self.accept("("):
                node.set("scale", self.integer())
                self.expect(")")
        return node

    def _interval_unit(self, allowed: tuple[str, ...]) -> str:
        token = self.token
        unit = singular(self.word())
        if unit not in allowed:
            self.unexpected(token, f"an interval unit: {', '.join(allowed)}" if allowed else "no TO")
        return unit

    def unit(self) -> exp.Var:
        """The time unit of EXTRACT, FLOOR, TIMESTAMPADD."""
        token = self.token
        unit = singular(self.word().removeprefix("SQL_TSI_"))
        if unit not in TIME_UNITS:
            self.unexpected(token, "a time unit, as SECOND or DAY")
        return mark(exp.Var(this=unit), token)


def singular(unit: str) -> str:
    return unit[:-1] if unit[-1:] == "S" and unit[:-1] in TIME_UNITS else unit
