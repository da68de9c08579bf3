"""Calls: arguments that are written with words between them, and the clauses behind a call (FILTER, OVER, ..).

The arguments are in Flink's order; ``calls`` makes the node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.calls import call, call_args, call_name
from sqlstream.sql.syntax.cursor import mark
from sqlstream.sql.syntax.expression_parser import ExpressionParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot.tokenizer_core import Token

_TRIM_SIDES = ("BOTH", "LEADING", "TRAILING")
_BOUNDS = ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING", "CURRENT ROW")
# They take no clause behind them.
_BARE = ("JSON_OBJECTAGG", "JSON_ARRAYAGG")
Args = list[exp.Expr]


_TREATED: dict[str, type[exp.Expr]] = {"RESPECT NULLS": exp.RespectNulls, "IGNORE NULLS": exp.IgnoreNulls}


class CallParser(ExpressionParser):
    """ExpressionParser with calls."""

    def call(self, name: str, start: Token) -> exp.Expr:
        word = name.upper() if self.words[self.index - 1] else ""
        if word in ("CAST", "TRY_CAST"):
            return self.cast(safe=word == "TRY_CAST", start=start)
        if word == "DESCRIPTOR":
            return mark(ast.Descriptor(expressions=self.wrapped(self.name)), start)
        self.expect("(")
        if special := _SPECIAL.get(word):
            node = call("CEIL" if word == "CEILING" else word, special(self, word))
        else:
            node = call(name, self._arguments(start))
        self.expect(")")
        return mark(node, start) if word in _BARE else self._clauses(mark(node, start))

    def _arguments(self, start: Token) -> Args:
        if self.at(")"):
            return []
        star = self.token
        if self.at("*", ")"):
            self.index += 1
            return [mark(exp.Star(), star)]
        quantifier = self.token
        distinct = self.accept("DISTINCT")
        if not distinct:
            self.accept("ALL")
        args = self.csv(self._argument)
        if self.at("ORDER", "BY"):
            self.unsupported("ORDER BY in a call is not supported.", self.token, "Leave it out: rows come in the order of the stream.")
        if nulls := self._null_treatment():
            args[0] = _TREATED[nulls](this=args[0])
        return [mark(exp.Distinct(expressions=args), quantifier)] if distinct else args

    def _argument(self) -> exp.Expr:
        start = self.token
        if self.peek() == "=>":
            name = self.name().name
            self.expect("=>")
            return mark(ast.NamedArgument(this=name.upper(), expression=self.expression()), start)
        return self.expression()

    def _null_treatment(self) -> str | None:
        return self.one_of("RESPECT NULLS", "IGNORE NULLS")

    def _treated(self, args: Args, nulls: str, start: Token) -> Args:
        """The arguments with what stands behind the call at the first of them: F(x) IGNORE NULLS is F(x IGNORE NULLS)."""
        if not args:
            self.unsupported(f"{nulls} is not supported here.", start, "Leave it out.")
        first, *rest = args
        if isinstance(first, exp.Distinct):
            first.set("expressions", self._treated(first.expressions, nulls, start))
            return args
        return [_TREATED[nulls](this=first), *rest]

    def _clauses(self, node: exp.Expr) -> exp.Expr:
        start = self.token
        if self.at("WITHIN", "GROUP"):
            self.index += 2
            self.expect("(")
            node = mark(exp.WithinGroup(this=node, expression=self.order_by()), start)
            self.expect(")")
        if nulls := self._null_treatment():
            treated = call(call_name(node), self._treated(call_args(node), nulls, start))
            treated.meta.update(node.meta)
            node = treated
        start = self.token
        if self.at("FILTER", "("):
            self.index += 2
            self.expect("WHERE")
            node = mark(exp.Filter(this=node, expression=exp.Where(this=self.expression())), start)
            self.expect(")")
        start = self.token
        if self.accept("OVER"):
            window = exp.Window(this=node, over="OVER")
            if self.accept("("):
                self._window_body(window)
                self.expect(")")
            else:
                window.set("alias", self.name())
            return mark(window, start)
        return node

    # --- windows of OVER ----------------------------------------------------------------------------------------------

    def named_window(self) -> exp.Expr:
        """``w AS (..)`` of a WINDOW clause."""
        window = exp.Window(this=self.name())
        self.expect("AS")
        self.expect("(")
        self._window_body(window)
        self.expect(")")
        return window

    def _window_body(self, window: exp.Window) -> None:
        if self.at_name() and self.peek() not in ("BY", "."):
            window.set("alias", self.name())
        if self.accept("PARTITION", "BY"):
            window.set("partition_by", self.csv(self.expression))
        if self.at("ORDER", "BY"):
            window.set("order", self.order_by())
        start = self.token
        kind = self.one_of("ROWS", "RANGE")
        if kind is None:
            return
        between = self.accept("BETWEEN")
        spec = exp.WindowSpec(kind=kind)
        self._bound(spec, "start")
        if between:
            self.expect("AND")
            self._bound(spec, "end")
        window.set("spec", mark(spec, start))

    def _bound(self, spec: exp.WindowSpec, which: str) -> None:
        fixed = self.one_of(*_BOUNDS)
        if fixed == "CURRENT ROW":
            spec.set(which, fixed)
            return
        if fixed is not None:
            value, side = fixed.split()
            spec.set(which, value)
        else:
            spec.set(which, self.term())
            token = self.token
            side = self.one_of("PRECEDING", "FOLLOWING") or self.unexpected(token, "PRECEDING or FOLLOWING")
        spec.set(f"{which}_side", side)

    def order_by(self) -> exp.Order:
        """``ORDER BY x [ASC|DESC] [NULLS FIRST|LAST], ..``."""
        start = self.expect("ORDER", "BY")
        return mark(exp.Order(expressions=self.csv(self._ordered)), start)

    def _ordered(self) -> exp.Expr:
        operand = self.expression()
        desc = self.one_of("ASC", "DESC") == "DESC"
        nulls = self.one_of("NULLS FIRST", "NULLS LAST")
        # NULLs are the smallest values.
        first = nulls == "NULLS FIRST" if nulls else not desc
        return exp.Ordered(this=operand, desc=desc or None, nulls_first=first)

    # --- words between arguments --------------------------------------------------------------------------------------

    def _extract(self, _: str) -> Args:
        unit = self.unit()
        self.expect("FROM")
        return [unit, self.expression()]

    def _rounding(self, _: str) -> Args:
        operand = self.expression()
        return [operand, self.unit()] if self.accept("TO") else [operand]

    def _substring(self, _: str) -> Args:
        args = [self.expression()]
        if self.accept("FROM"):
            args.append(self.expression())
            return [*args, self.expression()] if self.accept("FOR") else args
        self.expect(",")
        return [*args, *self.csv(self.expression)]

    def _overlay(self, _: str) -> Args:
        args = [self.expression()]
        for word in ("PLACING", "FROM"):
            self.expect(word)
            args.append(self.expression())
        return [*args, self.expression()] if self.accept("FOR") else args

    def _position(self, _: str) -> Args:
        needle = self.term()
        self.expect("IN")
        args = [needle, self.term()]
        return [*args, self.term()] if self.accept("FROM") else args

    def _trim(self, _: str) -> Args:
        token = self.token
        side = self.one_of(*_TRIM_SIDES)
        if side is None:
            first = self.expression()
            if not self.accept("FROM"):
                return [first]
            return [mark(exp.Var(this="BOTH"), token), first, self.expression()]
        characters = exp.Literal.string(" ") if self.at("FROM") else self.expression()
        self.expect("FROM")
        return [mark(exp.Var(this=side), token), characters, self.expression()]

    def _unit_first(self, _: str) -> Args:
        unit = self.unit()
        self.expect(",")
        return [unit, *self.csv(self.expression)]

    # --- JSON: each word of a clause is a Var, each type an exp.DataType ---------------------------------------------------

    def _var(self, word: str) -> exp.Expr:
        return mark(exp.Var(this=word), self.tokens[self.index - 1])

    def _json_path(self) -> Args:
        value = self.expression()
        if self.at("FORMAT"):
            self.unsupported("FORMAT JSON is not supported.", self.token, "It is the default.")
        self.expect(",")
        return [value, self.expression()]

    def _json_value(self, _: str) -> Args:
        return [*self._json_path(), *self._returning(), *self._on("ERROR", "NULL", "DEFAULT")]

    def _json_query(self, _: str) -> Args:
        args = [*self._json_path(), *self._returning()]
        if word := self.one_of("WITHOUT", "WITH"):
            args.append(self._var(word))
            if word == "WITH" and (kind := self.one_of("CONDITIONAL", "UNCONDITIONAL")):
                args.append(self._var(kind))
            if self.accept("ARRAY"):
                args.append(self._var("ARRAY"))
            self.expect("WRAPPER")
            args.append(self._var("WRAPPER"))
        return [*args, *self._on("ERROR", "NULL", "EMPTY ARRAY", "EMPTY OBJECT")]

    def _json_exists(self, _: str) -> Args:
        args = self._json_path()
        if word := self.one_of("TRUE", "FALSE", "UNKNOWN", "ERROR"):
            args.append(self._var(word))
            for word in ("ON", "ERROR"):
                self.expect(word)
                args.append(self._var(word))
        return args

    def _returning(self) -> Args:
        if not self.accept("RETURNING"):
            return []
        return [self._var("RETURNING"), self.type_node(nullability=False)]

    def _on(self, *answers: str) -> Args:
        """``answer ON EMPTY``, ``answer ON ERROR``: any number of them."""
        args: Args = []
        while answer := self.one_of(*answers):
            args += [exp.Var(this=w) for w in answer.split()]
            if answer == "DEFAULT":
                args.append(self.term())
            self.expect("ON")
            token = self.token
            when = self.one_of("EMPTY", "ERROR") or self.unexpected(token, "EMPTY or ERROR")
            args += [exp.Var(this="ON"), exp.Var(this=when)]
        return args

    def _json_object(self, word: str) -> Args:
        args: Args = []
        if not self.at(")") and not self.at("NULL", "ON") and not self.at("ABSENT", "ON"):
            pairs = [self._json_pair()] if word == "JSON_OBJECTAGG" else self.csv(self._json_pair)
            args = [part for pair in pairs for part in pair]
        return [*args, *self._on_null()]

    def _json_pair(self) -> Args:
        self.accept("KEY")
        key = exp.Var(this="KEY")
        name = self.term()
        if not self.accept(":"):
            self.expect("VALUE")
        return [key, name, exp.Var(this="VALUE"), self.expression()]

    def _json_array(self, word: str) -> Args:
        args: Args = []
        if not self.at(")") and not self.at("NULL", "ON") and not self.at("ABSENT", "ON"):
            args = [self.expression()] if word == "JSON_ARRAYAGG" else self.csv(self.expression)
        if self.at("ORDER", "BY"):
            self.unsupported("ORDER BY in a call is not supported.", self.token, "Leave it out: rows come in the order of the stream.")
        return [*args, *self._on_null()]

    def _on_null(self) -> Args:
        answer = self.one_of("NULL", "ABSENT")
        if answer is None:
            return []
        self.expect("ON", "NULL")
        return [exp.Var(this=answer), exp.Var(this="ON"), exp.Var(this="NULL")]


_SPECIAL: dict[str, Callable[[CallParser, str], Args]] = {
    "EXTRACT": CallParser._extract,
    "CEIL": CallParser._rounding,
    "CEILING": CallParser._rounding,
    "FLOOR": CallParser._rounding,
    "SUBSTRING": CallParser._substring,
    "OVERLAY": CallParser._overlay,
    "POSITION": CallParser._position,
    "TRIM": CallParser._trim,
    "TIMESTAMPADD": CallParser._unit_first,
    "TIMESTAMPDIFF": CallParser._unit_first,
    "JSON_VALUE": CallParser._json_value,
    "JSON_QUERY": CallParser._json_query,
    "JSON_EXISTS": CallParser._json_exists,
    "JSON_OBJECT": CallParser._json_object,
    "JSON_OBJECTAGG": CallParser._json_object,
    "JSON_ARRAY": CallParser._json_array,
    "JSON_ARRAYAGG": CallParser._json_array,
}
CallParser.special_calls = frozenset({*_SPECIAL, "CAST", "TRY_CAST", "ROW"})
