"""What stands in FROM: tables with hints and versions, joins, table functions, UNNEST, sub-queries, MATCH_RECOGNIZE."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sqlstream.core.errors import SyntaxProblem
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.call_parser import CallParser
from sqlstream.sql.syntax.cursor import mark

_JOINS = ("INNER", "LEFT", "RIGHT", "FULL", "CROSS", "JOIN", "NATURAL")
_CONDITION = "INNER, LEFT, RIGHT or FULL join requires a condition (NATURAL keyword or ON or USING clause)"
_NO_CONDITION = "Cannot specify condition (NATURAL keyword, or ON or USING clause) following CROSS JOIN"
_SKIPS = ("PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST", "TO")
_EACH = "Match each of the patterns by a MATCH_RECOGNIZE of its own, and UNION ALL the results."
# What is refused in a PATTERN, and what to write instead.
_REFUSED_PATTERNS = {
    "(": ("Group patterns are not supported.", "Write the variables of the group as often as they are to come."),
    "|": ("Currently, CEP doesn't support branching patterns.", _EACH),
    "{": ("Currently, CEP doesn't support '{-' '-}' patterns.", "Leave the braces out: ONE ROW PER MATCH shows none of the rows."),
    "PERMUTE": ("Currently, CEP doesn't support PERMUTE patterns.", _EACH),
}

# Behind a table, in other dialects.
_INSTEAD = {
    "PIVOT": "Write a column for each value: SUM(x) FILTER (WHERE k = 'a') AS a.",
    "UNPIVOT": "Write CROSS JOIN UNNEST(ARRAY[ROW('a', a), ROW('b', b)]) AS t (name, x).",
    "TABLESAMPLE": "Write WHERE RAND() < 0.1.",
}


class TableParser(CallParser):
    """CallParser with the items of FROM."""

    # --- joins --------------------------------------------------------------------------------------------------------

    def from_items(self) -> tuple[exp.Expr, list[exp.Expr]]:
        """The first item, and joins with all others; a comma is a join without kind and condition."""
        first = self._table_reference()
        joins = self._joins()
        while self.at(","):
            start = self.next_token()
            joins.append(mark(exp.Join(this=self._table_reference()), start))
            # Flink joins from left to right: JOIN does not bind more tightly than a comma.
            joins += self._joins()
        return first, joins

    def _joins(self) -> list[exp.Expr]:
        joins: list[exp.Expr] = []
        while self.words[self.index] in _JOINS:
            joins.append(self._join())
        return joins

    def _join(self) -> exp.Expr:
        start = self.token
        natural = self.accept("NATURAL")
        side = self.one_of("LEFT", "RIGHT", "FULL")
        kind = None
        if side:
            self.accept("OUTER")
        else:
            kind = self.one_of("INNER", "CROSS")
        self.expect("JOIN")
        join = exp.Join(this=self._table_reference(), side=side, kind=kind, method="NATURAL" if natural else None)
        condition = self.token
        word = self.one_of("ON", "USING")
        if natural and word:
            self.refuse("Cannot specify NATURAL keyword with ON or USING clause", condition)
        if kind == "CROSS" and (natural or word):
            self.refuse(_NO_CONDITION, condition)
        if kind != "CROSS" and not (natural or word):
            self.refuse(_CONDITION, start)
        if word == "ON":
            join.set("on", self.expression())
        elif word == "USING":
            join.set("using", self.wrapped(self.name))
        return mark(join, start)

    # --- items --------------------------------------------------------------------------------------------------------

    def _table_reference(self) -> exp.Expr:
        table = self._table_primary()
        if self.at("MATCH_RECOGNIZE"):
            table = self._match_recognize(table)
        if self.peek(0) in _INSTEAD:
            self.unsupported(f"{self.peek(0)} is not Flink SQL.", self.token, _INSTEAD[self.peek(0)])
        return table

    def _table_primary(self) -> exp.Expr:
        start = self.token
        if self.accept("LATERAL"):
            if self.at("TABLE"):
                return self._table_function_in_table(start, lateral=True)
            if not self.at("("):
                if self.at("SNAPSHOT"):
                    self.unsupported("LATERAL SNAPSHOT is not supported.", self.token, "Use FOR SYSTEM_TIME AS OF.")
                self.unexpected(self.token, "TABLE(function) or a query in parentheses")
            lateral = mark(exp.Lateral(this=self._derived(alias=False)), start)
            return self._with_alias(lateral)
        if self.at("TABLE"):
            return self._table_function_in_table(start, lateral=False)
        if self.at("UNNEST", "("):
            return self._unnest()
        if self.at("("):
            return self._parenthesised_table()
        path = self.path()
        if self.at("("):
            return self._with_alias(self._table_function(path, start))
        return self.named_table(path)

    def named_table(self, table: exp.Table) -> exp.Expr:
        """What may stand behind a table's name: hints, FOR SYSTEM_TIME AS OF, an alias."""
        if hints := self.hints():
            table.set("hints", hints)
        start = self.token
        if self.accept("FOR"):
            self.expect("SYSTEM_TIME", "AS", "OF")
            version = exp.Version(this="TIMESTAMP", kind="AS OF", expression=self.term())
            table.set("system_time", mark(version, start))
        return self._with_alias(table)

    def _with_alias(self, node: exp.Expr) -> exp.Expr:
        explicit = self.accept("AS")
        if explicit or self.at_name():
            start = self.token
            alias = exp.TableAlias(this=self.name(), columns=self.wrapped(self.name) if self.at("(") else None)
            node.set("alias", mark(alias, start))
        return node

    def _derived(self, *, alias: bool) -> exp.Expr:
        """``( query ) [alias]``."""
        start = self.expect("(")
        query = self.query()
        self.expect(")")
        node = query if isinstance(query, exp.Values) and alias else mark(exp.Subquery(this=query), start)
        return self._with_alias(node) if alias else node

    def _parenthesised_table(self) -> exp.Expr:
        if not self.at_query():
            return self._joined_tables()
        before = self.index
        try:
            return self._derived(alias=True)
        except SyntaxProblem:
            # ``((SELECT ..) AS a JOIN b ON ..)`` begins as a query in parentheses does.
            if self.tokens[before + 1].token_type != TokenType.L_PAREN:
                raise
            reached, self.index = self.index, before
            try:
                return self._joined_tables()
            except SyntaxProblem:
                if self.index > reached:
                    raise
            raise

    def _joined_tables(self) -> exp.Expr:
        start = self.expect("(")
        first = self._table_reference()
        joins = self._joins()
        self.expect(")")
        if not joins:
            self.refuse("Expected query or join", start, "A single table stands without parentheses.")
        if self.at_name() or self.at("AS"):
            self.refuse(
                "Join expression encountered in illegal context",
                self.token,
                "Joined tables in parentheses have no alias.",
            )
        if not isinstance(first, exp.Table | exp.Subquery):
            self.unsupported(
                "In joined tables in parentheses the first must be a table or a query.",
                start,
                "Put a table or a query first: the order of inner joins changes no row.",
            )
        first.set("joins", joins)
        return mark(exp.Subquery(this=first), start)

    def _unnest(self) -> exp.Expr:
        start = self.expect("UNNEST")
        unnest = exp.Unnest(expressions=self.wrapped(self.expression))
        if self.at("WITH"):
            self.expect("WITH", "ORDINALITY")
            unnest.set("offset", True)
        return self._with_alias(mark(unnest, start))

    # --- table functions ----------------------------------------------------------------------------------------------

    def _table_function_in_table(self, start: Token, *, lateral: bool) -> exp.Expr:
        self.expect("TABLE", "(")
        name = self.token
        function = self._table_function(self.path(), name)
        self.expect(")")
        function.set("lateral", lateral or None)
        return self._with_alias(mark(function, start))

    def _table_function(self, path: exp.Table, start: Token) -> exp.Expr:
        self.expect("(")
        args = [] if self.at(")") else self.csv(self._table_argument)
        self.expect(")")
        name = ".".join(ast.parts(path))
        return mark(ast.TableFunction(this=name, expressions=args), start)

    def _table_argument(self) -> exp.Expr:
        start = self.token
        if self.peek() == "=>":
            name = self.name().name
            self.expect("=>")
            return mark(ast.NamedArgument(this=name.upper(), expression=self._table_argument()), start)
        if self.accept("TABLE"):
            table = self.path()
            if hints := self.hints():
                table.set("hints", hints)
            return mark(ast.TableArgument(this=table, partition=self._partition_by()), start)
        if self.at("(") and self.at_query():
            before = self.index
            self.expect("(")
            query = self.query()
            if self.accept(")") and self.words[self.index] in (",", ")", "PARTITION"):
                return mark(ast.TableArgument(this=query, partition=self._partition_by()), start)
            self.index = before
        return self.expression()

    def _partition_by(self) -> list[exp.Identifier] | None:
        if not self.accept("PARTITION", "BY"):
            return None
        if self.at("("):
            names = self.wrapped(self.name)
        else:
            names = [self.name()]
            # A comma before DESCRIPTOR or a named argument ends the list of columns.
            while self.at(",") and self.peek() != "DESCRIPTOR" and self.peek(2) in (",", ")", "ORDER"):
                self.expect(",")
                names.append(self.name())
        if self.at("ORDER"):
            self.unsupported("ORDER BY of a table argument is not supported.", self.token, "Leave it out: rows come in the order of the stream.")
        return names

    # --- hints --------------------------------------------------------------------------------------------------------

    def hints(self) -> list[exp.Expr]:
        """``/*+ NAME [(args)], .. */`` where it stands."""
        listed: list[exp.Expr] = []
        if self.accept("/*+"):
            listed = list(self.csv(self._hint))
            self.expect("*/")
        return listed

    def _hint(self) -> exp.Expr:
        start = self.token
        name = self.word()
        args: list[exp.Expr] = []
        if self.accept("(") and not self.accept(")"):
            args = self.csv(self._hint_argument)
            self.expect(")")
        if name == "OPTIONS" and not all(isinstance(a, ast.OptionDef) for a in args):
            self.unexpected(start, "OPTIONS('key' = 'value', ..)")
        return mark(ast.OptionsHint(this=name, expressions=args), start)

    def _hint_argument(self) -> exp.Expr:
        start = self.token
        if start.token_type == TokenType.NUMBER:
            return mark(exp.Literal(this=str(self.integer()), is_string=False), start)
        if self.at_string():
            key: exp.Expr = self.string()
        else:
            names = [self.name()]
            while self.accept("."):
                names.append(self.name())
            key = names[0] if len(names) == 1 else mark(exp.Literal.string(".".join(n.name for n in names)), start)
        if self.accept("="):
            name = mark(exp.Literal.string(key.name), start)
            return mark(ast.OptionDef(this=name, expression=self.string()), start)
        return key

    # --- MATCH_RECOGNIZE ----------------------------------------------------------------------------------------------

    def _match_recognize(self, table: exp.Expr) -> exp.Expr:
        start = self.expect("MATCH_RECOGNIZE", "(")
        match = ast.MatchRecognize(this=table)
        if self.accept("PARTITION"):
            self.expect("BY")
            match.set("partition_by", self.csv(self.expression))
        if self.at("ORDER"):
            match.set("order", self.order_by())
        if self.accept("MEASURES"):
            match.set("measures", self.csv(self._measure))
        if self.at("ALL"):
            self.unsupported("All rows per match mode is not supported.", self.token, "ONE ROW PER MATCH is the default.")
        if self.at("ONE"):
            self.expect("ONE", "ROW", "PER", "MATCH")
        if self.at("AFTER"):
            self.expect("AFTER", "MATCH", "SKIP")
            token = self.token
            skip = self.one_of(*_SKIPS) or self.unexpected(token, "PAST LAST ROW, TO NEXT ROW, TO FIRST, TO LAST or TO")
            match.set("after", skip)
            if skip.startswith("TO") and skip != "TO NEXT ROW":
                match.set("after_variable", self.name())
        self.expect("PATTERN")
        match.set("pattern", self._pattern())
        if self.accept("WITHIN"):
            match.set("within", self.interval())
        if self.at("SUBSET"):
            self.unsupported("SUBSET is not supported.", self.token, "Name each of its variables where it is used.")
        self.expect("DEFINE")
        match.set("define", self.csv(self._definition))
        self.expect(")")
        return self._with_alias(mark(match, start))

    def _measure(self) -> exp.Expr:
        expression = self.expression()
        self.expect("AS")
        return exp.Alias(this=expression, alias=self.name())

    def _definition(self) -> exp.Expr:
        name = self.name()
        self.expect("AS")
        return exp.Alias(this=self.expression(), alias=name)

    def _pattern(self) -> list[exp.Expr]:
        self.expect("(")
        variables: list[exp.Expr] = [self._pattern_variable()]
        while not self.accept(")"):
            variables.append(self._pattern_variable())
        return variables

    def _pattern_variable(self) -> exp.Expr:
        start = self.token
        word = self.words[self.index]
        if word in ("(", "|", "{", "^", "$", "PERMUTE"):
            self._refuse_pattern(word, start)
        variable = ast.PatternVariable(this=self.name())
        if self.at("|"):
            self._refuse_pattern("|", self.token)
        low, high = self._quantifier()
        reluctant = (low, high) != (1, 1) and self.at("?")
        if reluctant:
            if (low, high) == (0, 1):
                self.unsupported("Reluctant optional variables are not supported.", self.token, "A variable followed by ? takes a row where it can.")
            self.expect("?")
        for key, value in (("low", low), ("high", high), ("reluctant", reluctant or None)):
            variable.set(key, value)
        return mark(variable, start)

    def _refuse_pattern(self, word: str, at: Token) -> NoReturn:
        other = f"{word} in a PATTERN is not supported: variables with quantifiers are.", "Leave it out."
        text, hint = _REFUSED_PATTERNS.get(word, other)
        self.unsupported(text, at, hint)

    def _quantifier(self) -> tuple[int, int | None]:
        """Least and most; None for any number."""
        if self.accept("*"):
            return 0, None
        if self.accept("+"):
            return 1, None
        if self.accept("?"):
            return 0, 1
        if not self.accept("{"):
            return 1, 1
        if self.at("-"):
            self._refuse_pattern("{", self.token)
        bounded = self.at(",")
        low = 0 if bounded else self.integer()
        high: int | None = low
        if self.accept(","):
            high = None if not bounded and self.at("}") else self.integer()
        self.expect("}")
        return low, high
