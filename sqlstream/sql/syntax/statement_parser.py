"""Flink's statements: first words to syntax nodes. What is refused is known by its first words, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.cursor import mark
from sqlstream.sql.syntax.definition_parser import DefinitionParser
from sqlstream.sql.syntax.lexer import tokenize

if TYPE_CHECKING:
    from collections.abc import Callable

_QUERY_STARTS = ("SELECT", "WITH", "VALUES", "TABLE", "(")
# Kinds of SHOW, and the words that may follow: a place (FROM or IN), the object itself, LIKE.
_SHOWS: dict[str, str] = {
    "CATALOGS": "like",
    "DATABASES": "from like",
    "TABLES": "from like",
    "VIEWS": "from like",
    "COLUMNS": "of like",
    "USER FUNCTIONS": "from like",
    "FUNCTIONS": "from like",
    "FULL MODULES": "",
    "MODULES": "",
    "JARS": "",
    "JOBS": "",
    "JOB METRICS": "",
    "PARTITIONS": "object",
    "PROCEDURES": "from like",
    "MATERIALIZED TABLES": "from like",
    "MODELS": "from like",
    "CONNECTIONS": "from like",
    "QUERIES": "like",
    "CURRENT CATALOG": "",
    "CURRENT DATABASE": "",
    "CREATE TABLE": "object",
    "CREATE VIEW": "object",
    "CREATE CATALOG": "object",
    "CREATE MODEL": "object",
    "CREATE MATERIALIZED TABLE": "object",
    "CREATE OR ALTER MATERIALIZED TABLE": "object",
}
_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "PLAN_ADVICE", "JSON_EXECUTION_PLAN")
_MODELS = "Models need an inference provider, which Spark has none of."
_CONNECTIONS = "Connections are not supported."
_PLANS = "Flink's compiled plans mean nothing to Spark."
_RUN = "Run the INSERT itself: it goes on from its checkpoint."
_REFRESH = "Nothing here refreshes a table by a schedule."
_MATERIALIZED = "Create a Delta table and INSERT INTO it."
_ROWS = "Flink runs it in batch mode only, on connectors that take single rows out; none here does."
_CHANGE = "INSERT INTO a table with a PRIMARY KEY upserts; Spark's own SQL changes the rows of a Delta table."
# Statements that are refused by name: first words, reason, hint. Longer ones come before those that begin them.
REFUSED: tuple[tuple[str, str, str | None], ...] = (
    ("CREATE MODEL", _MODELS, None),
    ("CREATE TEMPORARY MODEL", _MODELS, None),
    ("ALTER MODEL", _MODELS, None),
    ("DROP MODEL", _MODELS, None),
    ("DROP TEMPORARY MODEL", _MODELS, None),
    ("DESCRIBE MODEL", _MODELS, None),
    ("DESC MODEL", _MODELS, None),
    ("CREATE CONNECTION", _CONNECTIONS, "Give the options to each table."),
    ("CREATE TEMPORARY CONNECTION", _CONNECTIONS, "Give the options to each table."),
    ("CREATE TEMPORARY SYSTEM CONNECTION", _CONNECTIONS, "Give the options to each table."),
    ("ALTER CONNECTION", _CONNECTIONS, None),
    ("DROP CONNECTION", _CONNECTIONS, None),
    ("DROP TEMPORARY CONNECTION", _CONNECTIONS, None),
    ("DESCRIBE CONNECTION", _CONNECTIONS, None),
    ("DESC CONNECTION", _CONNECTIONS, None),
    ("CREATE MATERIALIZED TABLE", _REFRESH, _MATERIALIZED),
    ("CREATE OR ALTER MATERIALIZED TABLE", _REFRESH, _MATERIALIZED),
    ("ALTER MATERIALIZED TABLE", _REFRESH, None),
    ("DROP MATERIALIZED TABLE", _REFRESH, None),
    ("CALL", "There are no procedures.", None),
    ("COMPILE AND EXECUTE PLAN", _PLANS, _RUN),
    ("COMPILE PLAN", _PLANS, _RUN),
    ("EXECUTE PLAN", _PLANS, _RUN),
    ("UPDATE", _ROWS, _CHANGE),
    ("DELETE FROM", _ROWS, _CHANGE),
    ("MERGE INTO", "Flink itself does not run MERGE.", None),
    ("UPSERT INTO", "Flink itself does not run UPSERT.", "INSERT INTO a table with a PRIMARY KEY upserts."),
    ("TRUNCATE TABLE", "No statement here deletes data.", "Spark's own SQL empties a Delta table."),
    ("ANALYZE TABLE", "Spark keeps its own statistics.", None),
)
_JARS = "Java classes can't become Spark functions; a JDBC driver goes to --jar."


class StatementParser(DefinitionParser):
    """DefinitionParser with all statements."""

    def statement(self) -> exp.Expr:
        """The statement that begins here, up to the end or a ``;``."""
        start = self.token
        for words, reason, hint in REFUSED:
            if self.accept(*words.split()):
                # A compiled plan may be of a statement set, with its semicolons.
                while not self.at_end and (words.startswith("COMPILE") or not self.at(";")):
                    self.index += 1
                return mark(ast.Unsupported(kind=words, this=reason, hint=hint, text=self.text_from(start)), start)
        if handler := _STATEMENTS.get(self.words[self.index]):
            self.index += 1
            found = handler(self)
            return found if isinstance(found, ast.Set) and found.meta else mark(found, start)
        if self.words[self.index] not in _QUERY_STARTS:
            self.unexpected(start, "a statement")
        return self.query()

    # --- SHOW, DESCRIBE, EXPLAIN, USE ---------------------------------------------------------------------------------

    def show(self) -> exp.Expr:
        token = self.token
        kind = self.one_of(*_SHOWS) or self.unexpected(
            token,
            "CATALOGS, DATABASES, TABLES, VIEWS, COLUMNS, FUNCTIONS, JOBS, JARS, MODULES, CURRENT .. or CREATE ..",
        )
        may = _SHOWS[kind].split()
        show = ast.Show(kind=kind)
        if "object" in may:
            show.set("this", self.path())
            if kind == "PARTITIONS" and self.at("PARTITION"):
                self.unsupported("SHOW PARTITIONS .. PARTITION (..) is not supported.", self.token)
        elif "of" in may or ("from" in may and (self.at("FROM") or self.at("IN"))):
            if not self.one_of("FROM", "IN"):
                self.unexpected(self.token, "FROM or IN")
            show.set("this", self.path())
        if "like" in may:
            negated = self.accept("NOT") or None
            word = self.one_of("LIKE", "ILIKE")
            if negated and not word:
                self.unexpected(self.token, "LIKE or ILIKE")
            if word:
                show.set("negated", negated)
                show.set("like", self.string())
                show.set("ilike", word == "ILIKE" or None)
        return show

    def describe(self) -> exp.Expr:
        # A table may have one of these names: then nothing follows it.
        following = self.peek(1) or ("name" if self.index + 1 < self.size else "")
        for kind in ("CATALOG", "DATABASE", "FUNCTION", "JOB"):
            if following not in ("", ".") and self.accept(kind):
                extended = self.accept("EXTENDED") or None
                return ast.Describe(kind=kind, extended=extended, this=self.string() if kind == "JOB" else self.path())
        self.accept("TABLE")
        extended = self.accept("EXTENDED") or None
        return ast.Describe(kind="TABLE", extended=extended, this=self.path())

    def explain(self) -> exp.Expr:
        if self.accept("JOB"):
            return ast.ExplainJob(this=None if self.at_end or self.at(";") else self.string())
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
        found = ast.Set(this=_bare(key), expression=_bare(value))
        # What is wrong with a SET is wrong with its value, but for a key that is none.
        named = exp.Var(this=key.rstrip())
        named.meta.update(start=start.start, end=start.start + len(key.rstrip()) - 1)
        found.meta["key"] = named
        begin = start.start + len(key) + len(sign) + len(value) - len(value.lstrip())
        found.meta.update(start=begin, end=begin + len(value.strip()) - 1)
        return found

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
        if self.at("ON", "CONFLICT"):
            self.unsupported("INSERT .. ON CONFLICT is not supported yet.", self.token)
        return insert

    def _target(self) -> exp.Identifier:
        name = self.name()
        if self.at("."):
            self.unsupported("Fields of rows can't be the target of an INSERT.", self.token)
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
        if self.accept("QUERY"):
            query = ast.ExecuteQuery(this=self.name())
            if self.at("(") and not self.accept("(", ")"):
                query.set("expressions", self.wrapped(self._argument_of_query))
            return query
        return self.query()

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

    def peek_topic(self) -> exp.Expr:
        peek = ast.Peek(this=self.string())
        if self.accept("LIMIT"):
            peek.set("limit", self.integer())
        return peek

    def infer(self) -> exp.Expr:
        self.expect("TABLE")
        infer = ast.Infer(this=None if self.at("FROM") else self.path())
        self.expect("FROM")
        infer.set("topic", self.string())
        infer.set("save", self.accept("SAVE") or None)
        return infer

    def export(self) -> exp.Expr:
        self.expect("LAST", "TO")
        export = ast.Export(this=self.string())
        if self.accept("FORMAT"):
            token = self.token
            export.set("format", (self.one_of("CSV", "JSON", "PARQUET") or self.unexpected(token, "CSV, JSON or PARQUET")).lower())
        export.set("overwrite", self.accept("OVERWRITE") or None)
        return export

    def plot(self) -> exp.Expr:
        plot = ast.Plot(this=self.name() if self.at_name() else None)
        if plot.this and self.accept("BY"):
            plot.set("by", self.name())
        return plot

    def help(self) -> exp.Expr:
        return ast.Help(this=None if self.at_end else self.rest())

    def module(self, kind: str) -> exp.Expr:
        self.expect("MODULE")
        return ast.Module(kind=kind, this=self.name(), options=self._options() if kind == "LOAD" else None)

    def accepted(self, kind: str, why: str) -> exp.Expr:
        """A statement without effect: its second word, then anything."""
        start = self.tokens[self.index - 1]
        self.expect(kind.split()[1])
        if self.at_end or self.at(";"):
            self.unexpected(self.token, "a name")
        self._setting()
        return ast.AcceptedWithoutEffect(kind=kind, this=why, text=self.text_from(start))


def _bare(text: str) -> str:
    """``text``, or what it is a string of: ``'a'``, ``U&'\\0061'``."""
    text = text.strip()
    if text[-1:] != "'":
        return text
    tokens = tokenize(text)
    return tokens[0].text if len(tokens) == 1 and tokens[0].token_type == TokenType.STRING else text


_STATEMENTS: dict[str, Callable[[StatementParser], exp.Expr]] = {
    "CREATE": StatementParser.create,
    "REPLACE": StatementParser.replace_table,
    "ALTER": StatementParser.alter,
    "DROP": StatementParser.drop,
    "SHOW": StatementParser.show,
    "DESCRIBE": StatementParser.describe,
    "DESC": StatementParser.describe,
    "EXPLAIN": StatementParser.explain,
    "USE": StatementParser.use,
    "SET": StatementParser.set,
    "RESET": StatementParser.reset,
    "INSERT": StatementParser.insert,
    "EXECUTE": StatementParser.execute,
    "BEGIN": StatementParser.begin,
    "END": lambda self: ast.EndStatementSet(),
    "STOP": StatementParser.stop,
    "PEEK": StatementParser.peek_topic,
    "INFER": StatementParser.infer,
    "EXPORT": StatementParser.export,
    "PLOT": StatementParser.plot,
    "HELP": StatementParser.help,
    "CLEAR": lambda self: ast.Clear(),
    "QUIT": lambda self: ast.Quit(),
    "EXIT": lambda self: ast.Quit(),
    "SOURCE": lambda self: ast.Source(this=self.string()),
    "ADD": lambda self: self.accepted("ADD JAR", _JARS),
    "REMOVE": lambda self: self.accepted("REMOVE JAR", _JARS),
    "LOAD": lambda self: self.module("LOAD"),
    "UNLOAD": lambda self: self.module("UNLOAD"),
}
