"""The statements that have a grammar of their own. Which method reads which statement is said in ``sql/statements/table``."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.cursor import mark
from sqlstream.sql.syntax.definition_parser import DefinitionParser
from sqlstream.sql.syntax.tokens import tokenize

_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "PLAN_ADVICE", "JSON_EXECUTION_PLAN")


class StatementParser(DefinitionParser):
    """DefinitionParser with all statements."""

    # --- SHOW, DESCRIBE, EXPLAIN, USE ---------------------------------------------------------------------------------

    def show_partitions(self) -> exp.Expr:
        self.expect("PARTITIONS")
        show = ast.Show(kind="PARTITIONS", this=self.path())
        if self.at("PARTITION"):
            self.unsupported("SHOW PARTITIONS .. PARTITION (..) is not supported.", self.token, "SHOW PARTITIONS lists them all.")
        return show

    def describe(self) -> exp.Expr:
        # A table may have one of these names: then nothing follows it.
        following = self.peek(1) or ("name" if self.index + 1 < self.size else "")
        for kind in ("CATALOG", "DATABASE", "FUNCTION", "JOB", "SAVEPOINT"):
            if following not in ("", ".") and self.accept(kind):
                if kind == "SAVEPOINT":
                    return ast.DescribeSavepoint(this=self.string())
                extended = self.accept("EXTENDED") or None
                if kind == "JOB":
                    return ast.DescribeJob(this=self.string(), extended=extended)
                return ast.Describe(kind=kind, extended=extended, this=self.path())
        self.accept("TABLE")
        extended = self.accept("EXTENDED") or None
        return ast.Describe(kind="TABLE", extended=extended, this=self.path())

    def explain(self) -> exp.Expr:
        if self.accept("UPGRADE"):
            self.accept("EXECUTE")
            start = self.token
            if self.at("STATEMENT"):
                return ast.ExplainUpgrade(this=mark(self.statement_set(), start))
            self.expect("INSERT")
            return ast.ExplainUpgrade(this=mark(self.insert(), start))
        details: list[str] = []
        if self.at("PLAN", "FOR"):
            self.expect("PLAN", "FOR")
        elif self.words[self.index] in _DETAILS:
            details = self.csv(self._detail)
        self.accept("EXECUTE")
        start = self.token
        if self.accept("INSERT"):
            return ast.Explain(this=mark(self.insert(), start), details=details)
        if self.at("STATEMENT"):
            return ast.Explain(this=mark(self.statement_set(), start), details=details)
        if self.at("CREATE") or self.at("REPLACE"):
            self.unsupported("EXPLAIN of CREATE TABLE .. AS is not supported.", start, "EXPLAIN its query.")
        return ast.Explain(this=self.query(), details=details)

    def _detail(self) -> str:
        token = self.token
        return self.one_of(*_DETAILS) or self.unexpected(token, ", ".join(_DETAILS))

    def use(self) -> exp.Expr:
        if self.accept("CATALOG"):
            return ast.Use(kind="CATALOG", this=exp.Table(this=self.name()))
        if self.accept("MODULES"):
            return ast.Use(kind="MODULES", expressions=self.csv(self.name))
        return ast.Use(kind="DATABASE", this=self.path())

    # --- SET ----------------------------------------------------------------------------------------------------------

    def set(self) -> exp.Expr:
        """``SET``, ``SET 'key' = 'value'``, and bare: everything behind the first ``=`` is the value."""
        if self.at_end or self.at(";"):
            return ast.Set()
        start = self.token
        key, sign, value = self._setting().partition("=")
        if not sign or not key.strip() or not value.strip():
            self.unexpected(start, "'key' = 'value'")
        node = ast.Set(this=_bare(key), expression=_bare(value))
        # What is wrong with a SET is wrong with its value, but for a key that is none.
        named = exp.Var(this=key.rstrip())
        named.meta.update(start=start.start, end=start.start + len(key.rstrip()) - 1)
        node.meta["key"] = named
        begin = start.start + len(key) + len(sign) + len(value) - len(value.lstrip())
        node.meta.update(start=begin, end=begin + len(value.strip()) - 1)
        return node

    def reset(self) -> exp.Expr:
        return ast.Reset(this=None if self.at_end or self.at(";") else _bare(self._setting()))

    def _setting(self) -> str:
        start = self.token
        while not self.at_end and not self.at(";"):
            self.index += 1
        return self.text_from(start)

    # --- INSERT and sets ----------------------------------------------------------------------------------------------

    def insert(self) -> ast.Insert:
        """What follows INSERT."""
        overwrite = self.accept("OVERWRITE") or None
        if not overwrite:
            self.expect("INTO")
        insert = ast.Insert(this=self.path(), overwrite=overwrite, hints=self.hints())
        if self.accept("PARTITION"):
            insert.set("partition", self.wrapped(self._partition_value))
        if self.at("(") and not self.at_query():
            insert.set("columns", self.wrapped(self._target))
        insert.set("query", self.query())
        start = self.token
        if self.accept("ON", "CONFLICT"):
            self.expect("DO")
            what = self.one_of(*ast.CONFLICT_ACTIONS)
            if what is None:
                self.unexpected(self.token, " or ".join(ast.CONFLICT_ACTIONS))
            insert.set("conflict", mark(ast.OnConflict(this=what), start))
        return insert

    def _target(self) -> exp.Identifier:
        name = self.name()
        if self.at("."):
            self.unsupported("Fields of rows can't be the target of an INSERT.", self.token, "Select the whole row: ROW(..).")
        return name

    def _partition_value(self) -> exp.Expr:
        start = self.token
        name = self.name()
        self.expect("=")
        return mark(ast.OptionDef(this=name, expression=self.term()), start)

    def execute(self) -> exp.Expr:
        if self.at("STATEMENT"):
            return self.statement_set()
        if self.accept("INSERT"):
            return self.insert()
        return self.query()

    def execute_query(self) -> exp.Expr:
        self.expect("QUERY")
        query = ast.ExecuteQuery(this=self.name())
        if self.at("(") and not self.accept("(", ")"):
            query.set("expressions", self.wrapped(self._argument_of_query))
        return query

    def _argument_of_query(self) -> ast.NamedArgument:
        start = self.token
        name = self.name().name
        self.expect("=>")
        return mark(ast.NamedArgument(this=name, expression=self.term()), start)

    def statement_set(self) -> ast.StatementSet:
        """``STATEMENT SET BEGIN INSERT ..; INSERT ..; END``."""
        self.expect("STATEMENT", "SET", "BEGIN")
        inserts: list[exp.Expr] = []
        while not inserts or not self.at("END"):
            start = self.expect("INSERT")
            inserts.append(mark(self.insert(), start))
            self.expect(";")
        self.expect("END")
        return ast.StatementSet(expressions=inserts)

    def begin(self) -> exp.Expr:
        self.expect("STATEMENT", "SET")
        return ast.BeginStatementSet()

    # --- jobs and the client ------------------------------------------------------------------------------------------

    def stop(self) -> exp.Expr:
        self.expect("JOB")
        stop = ast.StopJob(this=self.string())
        if self.at("WITH", "DRAIN"):
            self.refuse("WITH DRAIN could only be used after WITH SAVEPOINT.", self.token)
        for word, key in (("SAVEPOINT", "savepoint"), ("DRAIN", "drain")):
            if self.at("WITH"):
                self.expect("WITH", word)
                stop.set(key, True)
        return stop

    def drop_job(self) -> exp.Expr:
        self.expect("JOB")
        if_exists = self.accept("IF", "EXISTS") or None
        return ast.DropJob(this=self.string(), if_exists=if_exists)

    def drop_savepoint(self) -> exp.Expr:
        self.expect("SAVEPOINT")
        return ast.DropSavepoint(this=self.string())

    def help(self) -> exp.Expr:
        return ast.Help(this=None if self.at_end else self.rest())

    def load_module(self) -> exp.Expr:
        return self._module("LOAD")

    def unload_module(self) -> exp.Expr:
        return self._module("UNLOAD")

    def _module(self, kind: str) -> exp.Expr:
        self.expect("MODULE")
        return ast.Module(kind=kind, this=self.name(), options=self._options() if kind == "LOAD" else None)

    def jar(self) -> exp.Expr:
        """What follows ADD or REMOVE: a file, which may be written without quotes."""
        kind = self.tokens[self.index - 1].text.upper()
        self.expect("JAR")
        if self.at_end or self.at(";"):
            self.unexpected(self.token, "a name")
        at = self.token
        file = mark(exp.Literal.string(_bare(self._setting())), at)
        return ast.Jar(kind=kind, this=file)


def _bare(text: str) -> str:
    """``text``, or what it is a string of: ``'a'``, ``U&'\\0061'``."""
    text = text.strip()
    if text[-1:] != "'":
        return text
    tokens = tokenize(text)
    return tokens[0].text if len(tokens) == 1 and tokens[0].token_type == TokenType.STRING else text
