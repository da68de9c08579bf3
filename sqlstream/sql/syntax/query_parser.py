"""Queries: SELECT, VALUES, TABLE, set operations, WITH. What stands in FROM is in ``table_parser``."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sqlstream.sql.syntax.calls import call_args, is_called
from sqlstream.sql.syntax.cursor import mark
from sqlstream.sql.syntax.table_parser import TableParser

_MOST_ROWS = 2**31 - 1
_SET_OPERATIONS: dict[str, type[exp.SetOperation]] = {
    "UNION": exp.Union,
    "EXCEPT": exp.Except,
    "INTERSECT": exp.Intersect,
}


class QueryParser(TableParser):
    """TableParser with queries."""

    def query(self) -> exp.Expr:
        """A query with all its clauses; fails where there is none."""
        start = self.token
        with_ = self._with()
        node = self._set_operations()
        order = self.order_by() if self.at("ORDER", "BY") else None
        limit, offset = self._limit()
        for key, clause in (("with_", with_), ("order", order), ("limit", limit), ("offset", offset)):
            if clause is None:
                continue
            if isinstance(node, exp.Values) or node.args.get(key):
                node = exp.Subquery(this=node)
            node.set(key, clause)
        return mark(node, start)

    def _with(self) -> exp.With | None:
        start = self.token
        if not self.accept("WITH"):
            return None
        if self.at("RECURSIVE"):
            self.unsupported("WITH RECURSIVE is not supported by Flink SQL.", self.token, "Join as often as there are levels.")
        return mark(exp.With(expressions=self.csv(self._cte)), start)

    def _cte(self) -> exp.CTE:
        start = self.token
        alias = exp.TableAlias(this=self.name(), columns=self.wrapped(self.name) if self.at("(") else None)
        self.expect("AS")
        self.expect("(")
        query = self.query()
        self.expect(")")
        return mark(exp.CTE(this=query, alias=alias), start)

    def _set_operations(self) -> exp.Expr:
        # INTERSECT binds more tightly than the others.
        left = self._intersections()
        while word := self.one_of("UNION", "EXCEPT"):
            left = self._set_operation(word, left, self._intersections)
        if self.at("MINUS"):
            self.refuse("MINUS is not allowed under the current SQL conformance level.", self.token, "Write EXCEPT.")
        return left

    def _intersections(self) -> exp.Expr:
        left = self._query_term()
        while self.accept("INTERSECT"):
            left = self._set_operation("INTERSECT", left, self._query_term)
        return left

    def _set_operation(self, word: str, left: exp.Expr, operand: object) -> exp.Expr:
        start = self.tokens[self.index - 1]
        every = self.accept("ALL")
        if not every:
            self.accept("DISTINCT")
        assert callable(operand)
        return mark(_SET_OPERATIONS[word](this=left, expression=operand(), distinct=not every), start)

    def _query_term(self) -> exp.Expr:
        start = self.token
        if self.at("SELECT"):
            return self._select()
        if self.accept("VALUES"):
            return mark(exp.Values(expressions=self.csv(self._values_row)), start)
        if self.accept("TABLE"):
            table = self.named_table(self.path())
            return mark(exp.Select(expressions=[exp.Star()], from_=exp.From(this=table)), start)
        if self.accept("("):
            node = mark(exp.Subquery(this=self.query()), start)
            self.expect(")")
            return node
        self.unexpected(start, "a query")
        return None

    def _values_row(self) -> exp.Expr:
        start = self.token
        row = self.expression()
        if isinstance(row, exp.Tuple):
            return row
        if is_called(row, "ROW"):
            return mark(exp.Tuple(expressions=call_args(row)), start)
        inner = row.this if isinstance(row, exp.Paren) else row
        return mark(exp.Tuple(expressions=[inner]), start)

    # --- SELECT -------------------------------------------------------------------------------------------------------

    def _select(self) -> exp.Select:
        start = self.expect("SELECT")
        select = exp.Select(hint=self._select_hint())
        quantifier = self.token
        if self.accept("DISTINCT"):
            select.set("distinct", mark(exp.Distinct(), quantifier))
        elif not self.accept("ALL") and self.at("STREAM") and self.peek() != "(":
            self.unexpected(quantifier, "an expression")
        select.set("expressions", self.csv(self.select_item))
        if self.at("FROM"):
            clause = self.next_token()
            first, joins = self.from_items()
            select.set("from_", mark(exp.From(this=first), clause))
            if joins:
                select.set("joins", joins)
        else:
            # The other clauses need a FROM.
            return mark(select, start)
        clause = self.token
        if self.accept("WHERE"):
            select.set("where", mark(exp.Where(this=self.expression()), clause))
        clause = self.token
        if self.accept("GROUP"):
            self.expect("BY")
            select.set("group", mark(self.group(), clause))
        clause = self.token
        if self.accept("HAVING"):
            select.set("having", mark(exp.Having(this=self.expression()), clause))
        if self.accept("WINDOW"):
            select.set("windows", self.csv(self.named_window))
        clause = self.token
        if self.accept("QUALIFY"):
            select.set("qualify", mark(exp.Qualify(this=self.expression()), clause))
        return mark(select, start)

    def _select_hint(self) -> exp.Hint | None:
        start = self.token
        hints = self.hints()
        return mark(exp.Hint(expressions=hints), start) if hints else None

    def select_item(self) -> exp.Expr:
        start = self.token
        if self.accept("*"):
            return mark(exp.Star(), start)
        item = self.expression()
        explicit = self.accept("AS")
        if explicit or self.at_name():
            return mark(exp.Alias(this=item, alias=self.name()), start)
        if self.token.token_type == TokenType.STRING:
            self.refuse("Expecting alias, found character literal", self.token, "A name with spaces is in back-ticks.")
        return item

    # --- GROUP BY, LIMIT ----------------------------------------------------------------------------------------------

    def group(self) -> exp.Group:
        if self.at("DISTINCT"):
            self.unsupported("GROUP BY DISTINCT is not supported.", self.token, "Leave out the groupings that come twice.")
        self.accept("ALL")
        return exp.Group(expressions=self.csv(self._grouping))

    def _grouping(self) -> exp.Expr:
        start = self.token
        if self.accept("GROUPING", "SETS"):
            return mark(exp.GroupingSets(expressions=self.wrapped(self._grouping_set)), start)
        if self.accept("ROLLUP"):
            return mark(exp.Rollup(expressions=self.wrapped(self.expression)), start)
        if self.accept("CUBE"):
            return mark(exp.Cube(expressions=self.wrapped(self.expression)), start)
        return self._empty_set(start) or self.expression()

    def _grouping_set(self) -> exp.Expr:
        grouping = self._grouping()
        return mark(exp.Tuple(expressions=[grouping.this]), self.token) if isinstance(grouping, exp.Paren) else grouping

    def _empty_set(self, start: Token) -> exp.Expr | None:
        return mark(exp.Tuple(expressions=[]), start) if self.accept("(", ")") else None

    def _limit(self) -> tuple[exp.Expr | None, exp.Expr | None]:
        start = self.token
        limit: exp.Expr | None = None
        offset = None
        if self.accept("LIMIT"):
            if not self.accept("ALL"):
                limit = mark(exp.Limit(expression=self._count()), start)
            if self.at(","):
                self.refuse(
                    "'LIMIT start, count' is not allowed under the current SQL conformance level",
                    self.token,
                    "Write LIMIT count OFFSET start.",
                )
        start = self.token
        if self.accept("OFFSET"):
            offset = mark(exp.Offset(expression=self._count()), start)
            self.one_of("ROWS", "ROW")
            if self.at("LIMIT"):
                self.refuse(
                    "'OFFSET start LIMIT count' is not allowed under the current SQL conformance level",
                    self.token,
                    "LIMIT comes before OFFSET.",
                )
        start = self.token
        if limit is None and self.accept("FETCH"):
            direction = self.one_of("FIRST", "NEXT") or self.unexpected(self.token, "FIRST or NEXT")
            count = self._count()
            if not self.one_of("ROWS", "ROW"):
                self.unexpected(self.token, "ROWS")
            self.expect("ONLY")
            limit = mark(exp.Fetch(direction=direction, count=count, limit_options=exp.LimitOptions(rows=True)), start)
        return limit, offset

    def _count(self) -> exp.Expr:
        """What LIMIT, OFFSET and FETCH count: a number, of which Flink takes the whole part."""
        start = self.token
        if start.token_type != TokenType.NUMBER:
            self.unexpected(start, "a whole number")
        count = Decimal(start.text)
        if count > _MOST_ROWS:
            self.unsupported(f"LIMIT, OFFSET and FETCH count at most {_MOST_ROWS} rows.", start, "Leave it out for all rows.")
        self.index += 1
        return mark(exp.Literal(this=str(int(count)), is_string=False), start)
