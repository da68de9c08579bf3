"""Flink's statements: first words to syntax nodes. A statement that sqlstream refuses is parsed by its first words, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlstream.sql import ast
from sqlstream.sql.parser import FlinkParser
from sqlstream.sql.type_syntax import parse_type

_QUERY_STARTS = (TokenType.SELECT, TokenType.WITH, TokenType.VALUES, TokenType.L_PAREN)
_SHOWS = (
    "CATALOGS", "DATABASES", "TABLES", "VIEWS", "COLUMNS", "USER FUNCTIONS", "FUNCTIONS", "FULL MODULES", "MODULES", "JARS", "JOBS",
    "PARTITIONS", "PROCEDURES", "MATERIALIZED TABLES", "MODELS", "CONNECTIONS", "CURRENT CATALOG", "CURRENT DATABASE",
    "CREATE TABLE", "CREATE VIEW", "CREATE CATALOG", "CREATE MODEL", "CREATE OR ALTER MATERIALIZED TABLE", "CREATE MATERIALIZED TABLE",
)  # fmt: skip
_LATER = "It is not supported yet."
# Statements that are refused by name: first words, reason, hint.
REFUSED: tuple[tuple[str, str, str | None], ...] = (
    ("CREATE MODEL", "Models need an inference provider, which Spark has none of.", None),
    ("CREATE TEMPORARY MODEL", "Models need an inference provider, which Spark has none of.", None),
    ("ALTER MODEL", "Models are not supported.", None),
    ("DROP MODEL", "Models are not supported.", None),
    ("DROP TEMPORARY MODEL", "Models are not supported.", None),
    ("DESCRIBE MODEL", "Models are not supported.", None),
    ("DESC MODEL", "Models are not supported.", None),
    ("CREATE CONNECTION", "Connections are not supported.", "Give the options to each table."),
    ("DROP CONNECTION", "Connections are not supported.", None),
    ("CREATE MATERIALIZED TABLE", _LATER, "Create a Delta table and INSERT INTO it."),
    ("CREATE OR ALTER MATERIALIZED TABLE", _LATER, "Create a Delta table and INSERT INTO it."),
    ("ALTER MATERIALIZED TABLE", _LATER, None),
    ("DROP MATERIALIZED TABLE", _LATER, None),
    ("CALL", "There are no procedures.", None),
    ("COMPILE AND EXECUTE PLAN", "Flink's compiled plans mean nothing to Spark.", "Run the INSERT itself: it goes on from its checkpoint."),
    ("COMPILE PLAN", "Flink's compiled plans mean nothing to Spark.", "Run the INSERT itself: it goes on from its checkpoint."),
    ("EXECUTE PLAN", "Flink's compiled plans mean nothing to Spark.", "Run the INSERT itself: it goes on from its checkpoint."),
    ("UPDATE", _LATER, None),
    ("DELETE", _LATER, None),
    ("TRUNCATE TABLE", _LATER, None),
    ("ANALYZE TABLE", "Spark keeps its own statistics.", None),
)


class StatementParser(FlinkParser):
    """FlinkParser with statements."""

    def _parse_statement(self) -> exp.Expr | None:
        if not self._curr:
            return None
        start = self._curr
        for words, reason, hint in REFUSED:
            if self.accept(*words.split()):
                while self._curr:
                    self._advance()
                return self.expression(ast.Unsupported(kind=words, this=reason, hint=hint), start)
        for first, handler in _STATEMENTS:
            if self.at(*first.split()):
                self._advance(len(first.split()))
                return self.expression(handler(self), start)
        return self.query()

    def query(self) -> exp.Expr:
        """A query; fails where there is none."""
        if self._curr and self.at("TABLE") and not self.at("TABLE", "("):
            self._advance()
            table = self._parse_table_parts()
            return exp.Select(expressions=[exp.Star()], from_=exp.From(this=table))
        if not self._curr or self._curr.token_type not in _QUERY_STARTS:
            self.unexpected(self.token, "a statement")
        found = self._parse_select()
        if not isinstance(found, exp.Query | exp.Values):
            self.unexpected(self.token, "a query")
        found = self._parse_set_operations(found)
        return self._needed(self._parse_query_modifiers(found))

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _if_exists(self) -> bool | None:
        return self.accept("IF", "EXISTS") or None

    def _if_not_exists(self) -> bool | None:
        return self.accept("IF", "NOT", "EXISTS") or None

    def _comment_clause(self) -> exp.Literal | None:
        return self.string() if self.accept("COMMENT") else None

    def _list(self, parse: Callable[[], Any]) -> list[Any]:
        self.expect_operator("(")
        found = [parse()]
        while self.accept_operator(","):
            found.append(parse())
        self.expect_operator(")")
        return found

    def _options(self) -> list[exp.Expr] | None:
        return self._option_list() if self.accept("WITH") else None

    def _option_list(self) -> list[exp.Expr]:
        if self.at("(", ")"):
            self._advance(2)
            return []
        return self._list(self._option)

    def _option(self) -> exp.Expr:
        start = self.token
        key = self.string()
        self.expect_operator("=")
        return self.expression(ast.OptionDef(this=key, expression=self.string()), start)

    def _name_or_string(self) -> exp.Expr:
        return self.string() if self.token.token_type == TokenType.STRING else self._parse_name()

    # --- CREATE -------------------------------------------------------------------------------------------------------

    def create(self) -> exp.Expr:
        replace = self.accept("OR", "REPLACE") or None
        temporary = self.accept("TEMPORARY") or None
        system = self.accept("SYSTEM") or None if temporary else None
        if self.accept("TABLE"):
            return self._create_table(temporary=temporary, replace=replace, create=True)
        if self.accept("VIEW"):
            return self._create_view(temporary)
        if self.accept("FUNCTION"):
            return self._create_function(temporary, system)
        if self.accept("DATABASE"):
            flag = self._if_not_exists()
            return ast.CreateDatabase(
                this=self._parse_table_parts(), if_not_exists=flag, comment=self._comment_clause(), options=self._options()
            )
        if self.accept("CATALOG"):
            flag = self._if_not_exists()
            return ast.CreateCatalog(this=self._parse_name(), if_not_exists=flag, comment=self._comment_clause(), options=self._options())
        self.unexpected(self.token, "TABLE, VIEW, DATABASE, CATALOG or FUNCTION")

    def replace_table(self) -> exp.Expr:
        self.expect("TABLE")
        return self._create_table(temporary=None, replace=True, create=None)

    def _create_table(self, **flags: bool | None) -> exp.Expr:
        flags["if_not_exists"] = self._if_not_exists()
        table = ast.CreateTable(this=self._parse_table_parts(), **flags)
        if self.accept_operator("("):
            self._components(table)
        table.set("comment", self._comment_clause())
        table.set("distribution", self._distribution())
        if self.accept("PARTITIONED", "BY"):
            table.set("partitioned_by", self._list(self._parse_name))
        table.set("options", self._options())
        if self.accept("LIKE"):
            table.set("like", self._like())
            if not table.args.get("options"):
                table.set("options", self._options())
        if self.accept("AS"):
            table.set("query", self.query())
        return table

    def _components(self, table: exp.Expr) -> None:
        if self.accept_operator(")"):
            return
        while True:
            part = self._component(allow_bare=True)
            match part:
                case ast.WatermarkDef():
                    kind = "watermarks"
                case ast.PrimaryKeyDef():
                    kind = "primary_keys"
                case _:
                    kind = "columns"
            table.append(kind, part)
            if not self.accept_operator(","):
                break
        self.expect_operator(")")

    def _component(self, *, allow_bare: bool = False) -> exp.Expr:
        start = self.token
        if self.accept("WATERMARK", "FOR"):
            column = self._parse_name()
            self.expect("AS")
            return self.expression(ast.WatermarkDef(this=column, expression=self._operand()), start)
        name = None
        if self.at("CONSTRAINT"):
            self._advance()
            name = self._parse_name()
        if self.accept("PRIMARY", "KEY"):
            columns = self._list(self._parse_name)
            return self.expression(ast.PrimaryKeyDef(expressions=columns, this=name, enforced=self._enforced()), start)
        if name is not None:
            self.unexpected(self.token, "PRIMARY KEY")
        if self.at("DISTRIBUTED") or self.at("DISTRIBUTION"):
            distribution = self._distribution()
            assert distribution is not None
            return distribution
        return self.expression(self._column(allow_bare), start)

    def _enforced(self) -> bool | None:
        if self.accept("NOT", "ENFORCED"):
            return None
        self.accept("ENFORCED")
        return True

    def _column(self, allow_bare: bool) -> exp.Expr:
        name = self._parse_name()
        if allow_bare and (self.at(",") or self.at(")")):
            return ast.NameDef(this=name)
        if self.accept("AS"):
            expression = self._operand()
            return ast.ComputedColumnDef(this=name, expression=expression, comment=self._comment_clause(), position=self._position())
        start = self.token
        kind = self.expression(ast.TypeNode(this=parse_type(self)), start)
        if self.accept("METADATA"):
            key = self.string() if self.accept("FROM") else None
            virtual = self.accept("VIRTUAL") or None
            return ast.MetadataColumnDef(
                this=name, kind=kind, key=key, virtual=virtual, comment=self._comment_clause(), position=self._position()
            )
        primary = None
        if self.at("CONSTRAINT") or self.at("PRIMARY", "KEY") or self.at("PRIMARY KEY"):
            constraint = self._parse_name() if self.accept("CONSTRAINT") else None
            key_start = self.token
            self.expect("PRIMARY", "KEY")
            primary = self.expression(
                ast.PrimaryKeyDef(expressions=[name.copy()], this=constraint, enforced=self._enforced()), key_start
            )
        return ast.PhysicalColumnDef(
            this=name, kind=kind, primary_key=primary, comment=self._comment_clause(), position=self._position()
        )

    def _position(self) -> exp.Expr | None:
        if self.accept("FIRST"):
            return ast.ColumnPosition()
        return ast.ColumnPosition(this=self._parse_name()) if self.accept("AFTER") else None

    def _distribution(self) -> ast.DistributionDef | None:
        if not (self.accept("DISTRIBUTED") or self.accept("DISTRIBUTION")):
            return None
        kind, columns = None, None
        if self.accept("BY"):
            kind = next((k for k in ("HASH", "RANGE") if self.accept(k)), None)
            columns = self._list(self._parse_name)
        buckets = None
        if self.accept("INTO"):
            buckets = exp.Literal.number(self.integer())
            self.expect("BUCKETS")
        return ast.DistributionDef(kind=kind, expressions=columns, buckets=buckets)

    def _like(self) -> ast.LikeDef:
        like = ast.LikeDef(this=self._parse_table_parts())
        if self.accept_operator("("):
            while not self.accept_operator(")"):
                start = self.token
                action, kind = self.word(), self.word()
                if action not in ("INCLUDING", "EXCLUDING", "OVERWRITING"):
                    self.unexpected(start, "INCLUDING, EXCLUDING or OVERWRITING")
                if kind not in ("ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS", "GENERATED", "METADATA", "OPTIONS", "WATERMARKS"):
                    self.unexpected(start, "ALL, CONSTRAINTS, DISTRIBUTION, PARTITIONS, GENERATED, METADATA, OPTIONS or WATERMARKS")
                like.append("expressions", self.expression(ast.LikeOption(this=action, kind=kind), start))
        return like

    def _create_view(self, temporary: bool | None) -> exp.Expr:
        flag = self._if_not_exists()
        path = self._parse_table_parts()
        columns = self._list(self._view_column) if self.at("(") else None
        comment = self._comment_clause()
        self.expect("AS")
        query, text = self._query_and_text()
        return ast.CreateView(
            this=path, columns=columns, comment=comment, query=query, query_text=text, temporary=temporary, if_not_exists=flag
        )

    def _view_column(self) -> exp.Expr:
        name = self._parse_name()
        self._comment_clause()
        return name

    def _query_and_text(self) -> tuple[exp.Expr, str]:
        start = self.token
        query = self.query()
        return query, self.text_between(start, self._prev)

    def _create_function(self, temporary: bool | None, system: bool | None) -> exp.Expr:
        flag = self._if_not_exists()
        path = self._parse_table_parts()
        self.expect("AS")
        function = ast.CreateFunction(this=path, identifier=self.string(), if_not_exists=flag, temporary=temporary, system=system)
        if self.accept("LANGUAGE"):
            function.set("language", self.word())
        if self.accept("USING"):
            jars = []
            while self.accept("JAR") or self.accept("ARTIFACT"):
                jars.append(self.string())
                self.accept_operator(",")
            function.set("jars", jars)
        function.set("options", self._options())
        return function

    # --- ALTER, DROP --------------------------------------------------------------------------------------------------

    def alter(self) -> exp.Expr:
        if self.accept("TABLE"):
            flag = self._if_exists()
            return ast.AlterTable(this=self._parse_table_parts(), if_exists=flag, action=self._table_action())
        if self.accept("VIEW"):
            path = self._parse_table_parts()
            if self.accept("AS"):
                query, text = self._query_and_text()
                return ast.AlterView(this=path, action=ast.AsQuery(this=query, query_text=text))
            self.expect("RENAME", "TO")
            return ast.AlterView(this=path, action=ast.RenameTo(this=self._parse_table_parts()))
        if self.accept("DATABASE"):
            path = self._parse_table_parts()
            self.expect("SET")
            return ast.AlterDatabase(this=path, action=ast.SetOptions(expressions=self._option_list()))
        if self.accept("CATALOG"):
            return ast.AlterCatalog(this=self._parse_name(), action=self._catalog_action())
        temporary = self.accept("TEMPORARY") or None
        system = self.accept("SYSTEM") or None
        self.expect("FUNCTION")
        flag = self._if_exists()
        path = self._parse_table_parts()
        self.expect("AS")
        identifier = self.string()
        language = self.word() if self.accept("LANGUAGE") else None
        return ast.AlterFunction(
            this=path, identifier=identifier, language=language, temporary=temporary, system=system, if_exists=flag
        )

    def _catalog_action(self) -> exp.Expr:
        if self.accept("SET"):
            return ast.SetOptions(expressions=self._option_list())
        if self.accept("RESET"):
            return ast.ResetOptions(expressions=self._list(self.string))
        self.expect("COMMENT")
        return ast.SetComment(this=self.string())

    def _table_action(self) -> exp.Expr:
        if self.accept("ADD"):
            return ast.AddComponents(expressions=self._list(self._component) if self.at("(") else [self._component()])
        if self.accept("MODIFY"):
            return ast.ModifyComponents(expressions=self._list(self._component) if self.at("(") else [self._component()])
        if self.accept("SET"):
            return ast.SetOptions(expressions=self._option_list())
        if self.accept("RESET"):
            if self.at("(", ")"):
                self._advance(2)
                return ast.ResetOptions(expressions=[])
            return ast.ResetOptions(expressions=self._list(self.string))
        if self.accept("RENAME"):
            if self.accept("TO"):
                return ast.RenameTo(this=self._parse_table_parts())
            column = self._parse_name()
            self.expect("TO")
            return ast.RenameColumn(this=column, to=self._parse_name())
        self.expect("DROP")
        if self.at("("):
            return ast.DropComponents(kind="COLUMNS", expressions=self._list(self._parse_name))
        if self.accept("PRIMARY", "KEY"):
            return ast.DropComponents(kind="PRIMARY KEY")
        if self.accept("CONSTRAINT"):
            return ast.DropComponents(kind="CONSTRAINT", this=self._parse_name())
        for kind in ("WATERMARK", "DISTRIBUTION"):
            if self.at(kind) and len(self._tokens) == self._index + 1:
                self._advance()
                return ast.DropComponents(kind=kind)
        if self.at("PARTITION", "("):
            self.refuse("ALTER TABLE .. DROP PARTITION is not supported.", self.token)
        return ast.DropComponents(kind="COLUMNS", expressions=[self._parse_name()])

    def drop(self) -> exp.Expr:
        temporary = self.accept("TEMPORARY") or None
        system = self.accept("SYSTEM") or None
        token = self.token
        kind = self.word()
        if kind not in ("TABLE", "VIEW", "DATABASE", "CATALOG", "FUNCTION"):
            self.unexpected(token, "TABLE, VIEW, DATABASE, CATALOG or FUNCTION")
        flag = self._if_exists()
        drop = ast.Drop(kind=kind, this=self._parse_table_parts(), if_exists=flag, temporary=temporary, system=system)
        if kind == "DATABASE":
            drop.set("cascade", self.accept("CASCADE") or None)
            self.accept("RESTRICT")
        return drop

    # --- SHOW, DESCRIBE, EXPLAIN, USE, SET ----------------------------------------------------------------------------

    def show(self) -> exp.Expr:
        token = self.token
        kind = next((k for k in _SHOWS if self.accept(*k.split())), None)
        if kind is None:
            self.unexpected(token, "CATALOGS, DATABASES, TABLES, VIEWS, COLUMNS, FUNCTIONS, JOBS, JARS, MODULES, CURRENT .. or CREATE ..")
        show = ast.Show(kind=kind)
        if kind.startswith("CREATE ") or self.accept("FROM") or self.accept("IN") or kind == "PARTITIONS":
            show.set("this", self._parse_table_parts())
        show.set("negated", self.accept("NOT") or None)
        for word in ("LIKE", "ILIKE"):
            if self.accept(word):
                show.set("like", self.string())
                show.set("ilike", word == "ILIKE" or None)
        return show

    def describe(self) -> exp.Expr:
        for kind in ("CATALOG", "DATABASE", "FUNCTION"):
            # A table may have such a name: then nothing follows it.
            if self.at(kind) and self._next:
                self._advance()
                extended = self.accept("EXTENDED") or None
                return ast.Describe(kind=kind, extended=extended, this=self._parse_table_parts())
        if self.at("JOB") and self._next and self._next.token_type == TokenType.STRING:
            self._advance()
            return ast.Describe(kind="JOB", this=self.string())
        extended = self.accept("EXTENDED") or None
        return ast.Describe(kind="TABLE", extended=extended, this=self._parse_table_parts())

    def explain(self) -> exp.Expr:
        details: list[str] = []
        if not self.accept("PLAN", "FOR"):
            while any(self.at(d) for d in ("ESTIMATED_COST", "CHANGELOG_MODE", "PLAN_ADVICE", "JSON_EXECUTION_PLAN")):
                details.append(self.word())
                self.accept_operator(",")
        if self.accept("INSERT"):
            return ast.Explain(this=self.insert(), details=details)
        if self.accept("STATEMENT", "SET", "BEGIN"):
            return ast.Explain(this=self.statement_set(), details=details)
        return ast.Explain(this=self.query(), details=details)

    def use(self) -> exp.Expr:
        if self.accept("CATALOG"):
            return ast.Use(kind="CATALOG", this=self._parse_table_parts())
        if self.accept("MODULES"):
            return ast.Use(kind="MODULES", expressions=[self._parse_name(), *self._more_names()])
        return ast.Use(kind="DATABASE", this=self._parse_table_parts())

    def set_option(self) -> exp.Expr:
        if not self._curr:
            return ast.Set()
        key, value = self._rest().partition("=")[::2]
        if not value.strip():
            self.unexpected(self.token, "'key' = 'value'")
        return ast.Set(this=_bare(key), expression=_bare(value))

    def reset_option(self) -> exp.Expr:
        return ast.Reset(this=_bare(self._rest()) if self._curr else None)

    def _rest(self) -> str:
        """The source text from here to the end; passes it."""
        start, end = self.token, self._tokens[-1]
        while self._curr:
            self._advance()
        return self.sql[start.start : end.end + 1]

    # --- INSERT and sets ----------------------------------------------------------------------------------------------

    def insert(self) -> exp.Expr:
        overwrite = self.accept("OVERWRITE") or None
        if not overwrite:
            self.expect("INTO")
        self.accept("TABLE")
        insert = ast.Insert(this=self._parse_table_parts(), overwrite=overwrite, hints=self.parse_hints())
        if self.accept("PARTITION"):
            insert.set("partition", self._list(self._partition_value))
        if self.at("(") and not (self.at("(", "SELECT") or self.at("(", "WITH") or self.at("(", "VALUES")):
            insert.set("columns", self._list(self._parse_name))
        insert.set("query", self.query())
        if self.at("ON", "CONFLICT"):
            self.refuse("INSERT .. ON CONFLICT is not supported yet.", self.token)
        return insert

    def _partition_value(self) -> exp.Expr:
        start = self.token
        name = self._parse_name()
        self.expect_operator("=")
        return self.expression(ast.OptionDef(this=name, expression=self._term()), start)

    def execute(self) -> exp.Expr:
        if self.accept("STATEMENT", "SET", "BEGIN"):
            return self.statement_set()
        if self.accept("INSERT"):
            return self.insert()
        return self.query()

    def statement_set(self) -> exp.Expr:
        inserts = []
        while not self.accept("END"):
            start = self.token
            self.expect("INSERT")
            inserts.append(self.expression(self.insert(), start))
            self.expect_operator(";")
        return ast.StatementSet(expressions=inserts)

    def begin(self) -> exp.Expr:
        self.expect("STATEMENT", "SET")
        return ast.BeginStatementSet()

    # --- jobs and the client ------------------------------------------------------------------------------------------

    def stop(self) -> exp.Expr:
        self.expect("JOB")
        stop = ast.StopJob(this=self.string())
        while self.accept("WITH"):
            if self.accept("SAVEPOINT"):
                stop.set("savepoint", True)
            else:
                self.expect("DRAIN")
                stop.set("drain", True)
        return stop

    def source(self) -> exp.Expr:
        return ast.Source(this=self.string())

    def help(self) -> exp.Expr:
        return ast.Help(this=self._rest() if self._curr else None)

    def _ignored(self, kind: str, why: str) -> exp.Expr:
        self._rest()
        return ast.AcceptedWithoutEffect(kind=kind, this=why)


def _bare(text: str) -> str:
    """``text`` without the quotes around it."""
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


_JARS = "Java classes can't become Spark functions; a JDBC driver goes to --jar."
_MODULES = "The core module is the only one."
_STATEMENTS: tuple[tuple[str, Callable[[StatementParser], exp.Expr]], ...] = (
    ("CREATE", StatementParser.create),
    ("REPLACE", StatementParser.replace_table),
    ("ALTER", StatementParser.alter),
    ("DROP", StatementParser.drop),
    ("SHOW", StatementParser.show),
    ("DESCRIBE", StatementParser.describe),
    ("DESC", StatementParser.describe),
    ("EXPLAIN", StatementParser.explain),
    ("USE", StatementParser.use),
    ("SET", StatementParser.set_option),
    ("RESET", StatementParser.reset_option),
    ("INSERT", StatementParser.insert),
    ("EXECUTE", StatementParser.execute),
    ("BEGIN", StatementParser.begin),
    ("END", lambda self: ast.EndStatementSet()),
    ("STOP", StatementParser.stop),
    ("HELP", StatementParser.help),
    ("CLEAR", lambda self: ast.Clear()),
    ("QUIT", lambda self: ast.Quit()),
    ("EXIT", lambda self: ast.Quit()),
    ("SOURCE", StatementParser.source),
    ("ADD JAR", lambda self: self._ignored("ADD JAR", _JARS)),
    ("REMOVE JAR", lambda self: self._ignored("REMOVE JAR", _JARS)),
    ("LOAD MODULE", lambda self: self._ignored("LOAD MODULE", _MODULES)),
    ("UNLOAD MODULE", lambda self: self._ignored("UNLOAD MODULE", _MODULES)),
)
