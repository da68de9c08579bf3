"""CREATE, ALTER and DROP: what a table, view, database, catalog or function is declared to be."""

from __future__ import annotations

from sqlglot import exp

from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.cursor import mark
from sqlstream.sql.syntax.query_parser import QueryParser

_LIKE_ACTIONS = ("INCLUDING", "EXCLUDING", "OVERWRITING")
_LIKE_KINDS = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")
_LANGUAGES = ("JAVA", "SCALA", "PYTHON", "SQL")
_DROPPED = ("TABLE", "VIEW", "DATABASE", "CATALOG", "FUNCTION")
_KINDS = "TABLE, VIEW, DATABASE, CATALOG or FUNCTION"


_WHOLE_ROW = "MODIFY (r ROW<..>) declares the row anew, with all of its fields."

_UNIQUE, _KEY = "A table of Flink SQL has no UNIQUE constraint", "PRIMARY KEY (..) NOT ENFORCED names the columns of its one key."


class DefinitionParser(QueryParser):
    """QueryParser with declarations."""

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _if_exists(self) -> bool | None:
        return self.accept("IF", "EXISTS") or None

    def _if_not_exists(self) -> bool | None:
        return self.accept("IF", "NOT", "EXISTS") or None

    def _comment(self) -> exp.Literal | None:
        return self.string() if self.accept("COMMENT") else None

    def _options(self) -> list[exp.Expr] | None:
        return self._option_list() if self.accept("WITH") else None

    def _option_list(self) -> list[exp.Expr]:
        return [] if self.accept("(", ")") else list(self.wrapped(self._option))

    def _option(self) -> exp.Expr:
        start = self.token
        key = self.strings()
        self.expect("=")
        return mark(ast.OptionDef(this=key, expression=self.strings()), start)

    def _query_and_text(self) -> tuple[exp.Expr, str]:
        start = self.token
        query = self.query()
        return query, self.text_from(start)

    # --- CREATE -------------------------------------------------------------------------------------------------------

    def create(self) -> exp.Expr:
        replace = self.accept("OR", "REPLACE") or None
        temporary = self.accept("TEMPORARY") or None
        system = (self.accept("SYSTEM") or None) if temporary else None
        start = self.token
        kind = self.word()
        if (system and kind != "FUNCTION") or (replace and kind != "TABLE") or (temporary and kind in ("DATABASE", "CATALOG")):
            self.unexpected(start, "FUNCTION" if system else "TABLE" if replace else "TABLE, VIEW or FUNCTION")
        match kind:
            case "TABLE":
                return self._create_table(temporary=temporary, replace=replace, create=True)
            case "VIEW":
                return self._create_view(temporary)
            case "FUNCTION":
                return self._create_function(temporary, system)
            case "DATABASE":
                flag = self._if_not_exists()
                path = self.path()
                return ast.CreateDatabase(this=path, if_not_exists=flag, comment=self._comment(), options=self._options())
            case "CATALOG":
                flag = self._if_not_exists()
                return ast.CreateCatalog(this=self.name(), if_not_exists=flag, comment=self._comment(), options=self._options())
        return self.unexpected(start, _KINDS)

    def replace_table(self) -> exp.Expr:
        self.expect("TABLE")
        return self._create_table(temporary=None, replace=True, create=None)

    def _create_table(self, **flags: bool | None) -> ast.CreateTable:
        flags["if_not_exists"] = self._if_not_exists()
        start = self.token
        table = ast.CreateTable(this=self.path(), **flags)
        if self.accept("("):
            self._components(table)
        table.set("comment", self._comment())
        if self.accept("DISTRIBUTED"):
            table.set("distribution", self._distribution())
        if self.accept("PARTITIONED"):
            self.expect("BY")
            table.set("partitioned_by", self.wrapped(self.name))
        table.set("options", self._options())
        if self.accept("LIKE"):
            table.set("like", self._like())
        elif self.accept("AS"):
            table.set("query", self.query())
        if flags["replace"] and not table.args.get("query"):
            self.refuse("REPLACE TABLE takes AS query.", start)
        return table

    def _components(self, table: ast.CreateTable) -> None:
        # Bare names stand alone, without any other component.
        bare = self.peek() in (",", ")")
        for part in self.csv(self.bare_name if bare else self._component):
            match part:
                case ast.WatermarkDef():
                    table.append("watermarks", part)
                case ast.PrimaryKeyDef():
                    table.append("primary_keys", part)
                case _:
                    table.append("columns", part)
        self.expect(")")

    def bare_name(self) -> exp.Expr:
        return ast.NameDef(this=self.name())

    def _component(self) -> exp.Expr:
        start = self.token
        if self.at("WATERMARK", "FOR"):
            self.expect("WATERMARK", "FOR")
            column = self.name()
            if self.at("."):
                self.unsupported(
                    "A watermark is for a column at the top, not for a field of a row.", self.token, "Declare a column of it: ts AS r.ts."
                )
            self.expect("AS")
            return mark(ast.WatermarkDef(this=column, expression=self.expression()), start)
        name = self.name() if self.accept("CONSTRAINT") else None
        if self.at("PRIMARY"):
            self.expect("PRIMARY", "KEY")
            columns = self.wrapped(self.name)
            return mark(ast.PrimaryKeyDef(expressions=columns, this=name, enforced=self._enforced()), start)
        if self.at("UNIQUE"):
            self.refuse(_UNIQUE, start, _KEY)
        if name is not None:
            self.unexpected(self.token, "PRIMARY KEY")
        return mark(self._column(), start)

    def _enforced(self) -> bool | None:
        if self.at("NOT"):
            self.expect("NOT", "ENFORCED")
            return None
        self.accept("ENFORCED")
        return True

    def _column(self) -> exp.Expr:
        name = self.name()
        if self.at("."):
            self.unsupported("Fields of rows are declared in ROW<..>.", self.token, "r ROW<a INT, b STRING> has two.")
        if self.accept("AS"):
            expression = self.expression()
            return ast.ComputedColumnDef(this=name, expression=expression, comment=self._comment(), position=self._place())
        if self.at("INTERVAL") or self.at("NULL"):
            self.unexpected(self.token, "a data type of columns")
        kind = self.type_node()
        if self.accept("METADATA"):
            key = self.string() if self.accept("FROM") else None
            virtual = self.accept("VIRTUAL") or None
            return ast.MetadataColumnDef(this=name, kind=kind, key=key, virtual=virtual, comment=self._comment(), position=self._place())
        return ast.PhysicalColumnDef(this=name, kind=kind, primary_key=self._column_key(name), comment=self._comment(), position=self._place())

    def _column_key(self, column: exp.Identifier) -> exp.Expr | None:
        if self.at("UNIQUE"):
            self.refuse(_UNIQUE, self.token, _KEY)
        name = self.name() if self.accept("CONSTRAINT") else None
        start = self.token
        if name is None and not self.at("PRIMARY"):
            return None
        self.expect("PRIMARY", "KEY")
        return mark(ast.PrimaryKeyDef(expressions=[column.copy()], this=name, enforced=self._enforced()), start)

    def _place(self) -> exp.Expr | None:
        if self.accept("FIRST"):
            return ast.ColumnPosition()
        return ast.ColumnPosition(this=self.name()) if self.accept("AFTER") else None

    def _distribution(self) -> ast.DistributionDef:
        """What follows DISTRIBUTED or DISTRIBUTION."""
        start = self.token
        kind, columns, buckets = None, None, None
        if self.accept("BY"):
            kind = self.one_of("HASH", "RANGE")
            columns = self.wrapped(self.name)
        if columns is None or self.at("INTO"):
            self.expect("INTO")
            buckets = exp.Literal.number(self.integer())
            self.expect("BUCKETS")
        return mark(ast.DistributionDef(kind=kind, expressions=columns, buckets=buckets), start)

    def _like(self) -> ast.LikeDef:
        start = self.token
        like = ast.LikeDef(this=self.path())
        if self.accept("("):
            like.append("expressions", self._like_option())
            while not self.accept(")"):
                like.append("expressions", self._like_option())
        return mark(like, start)

    def _like_option(self) -> exp.Expr:
        start = self.token
        action = self.one_of(*_LIKE_ACTIONS) or self.unexpected(start, ", ".join(_LIKE_ACTIONS))
        token = self.token
        kind = self.one_of(*_LIKE_KINDS) or self.unexpected(token, ", ".join(_LIKE_KINDS))
        return mark(ast.LikeOption(this=action, kind=kind), start)

    def _create_view(self, temporary: bool | None) -> exp.Expr:
        flag = self._if_not_exists()
        path = self.path()
        columns = self.wrapped(self.name) if self.at("(") else None
        comment = self._comment()
        self.expect("AS")
        query, text = self._query_and_text()
        return ast.CreateView(
            this=path,
            columns=columns,
            comment=comment,
            query=query,
            query_text=text,
            temporary=temporary,
            if_not_exists=flag,
        )

    def _create_function(self, temporary: bool | None, system: bool | None) -> exp.Expr:
        flag = self._if_not_exists()
        path = self.path()
        self.expect("AS")
        function = ast.CreateFunction(this=path, identifier=self.string(), if_not_exists=flag, temporary=temporary, system=system)
        function.set("language", self._language())
        using = self.token
        if self.accept("USING"):
            if function.args.get("language") == "PYTHON":
                self.refuse("CREATE FUNCTION USING JAR/ARTIFACT syntax is not applicable to PYTHON language.", using)
            jars = []
            while self.one_of("JAR", "ARTIFACT"):
                jars.append(self.string())
                if not self.accept(","):
                    break
            if not jars:
                self.unexpected(self.token, "JAR or ARTIFACT")
            function.set("jars", jars)
        function.set("options", self._options())
        return function

    def _language(self) -> str | None:
        if not self.accept("LANGUAGE"):
            return None
        token = self.token
        return self.one_of(*_LANGUAGES) or self.unexpected(token, "JAVA, SCALA or PYTHON")

    # --- ALTER --------------------------------------------------------------------------------------------------------

    def alter(self) -> exp.Expr:
        start = self.token
        match self.one_of("TABLE", "VIEW", "DATABASE", "CATALOG", "JOB"):
            case "JOB":
                job = self.string()
                if self.accept("SKIP"):
                    self.expect("RECORDS")
                    return ast.SkipRecords(this=job, expressions=self._option_list())
                self.expect("SET", "OFFSETS")
                return ast.AlterJob(this=job, expressions=self._option_list())
            case "TABLE":
                flag = self._if_exists()
                return ast.AlterTable(this=self.path(), if_exists=flag, action=self._table_action())
            case "VIEW":
                return ast.AlterView(this=self.path(), action=self._view_action())
            case "DATABASE":
                path = self.path()
                self.expect("SET")
                return ast.AlterDatabase(this=path, action=ast.SetOptions(expressions=self._option_list()))
            case "CATALOG":
                return ast.AlterCatalog(this=self.name(), action=self._catalog_action())
        temporary = self.accept("TEMPORARY") or None
        system = (self.accept("SYSTEM") or None) if temporary else None
        if not self.accept("FUNCTION"):
            self.unexpected(start if not temporary else self.token, _KINDS)
        flag = self._if_exists()
        path = self.path()
        self.expect("AS")
        identifier = self.string()
        return ast.AlterFunction(
            this=path,
            identifier=identifier,
            language=self._language(),
            temporary=temporary,
            system=system,
            if_exists=flag,
        )

    def _view_action(self) -> exp.Expr:
        if self.accept("AS"):
            query, text = self._query_and_text()
            return ast.AsQuery(this=query, query_text=text)
        self.expect("RENAME", "TO")
        return ast.RenameTo(this=self.path())

    def _catalog_action(self) -> exp.Expr:
        match self.one_of("SET", "RESET", "COMMENT"):
            case "SET":
                return ast.SetOptions(expressions=self._option_list())
            case "RESET":
                return self._reset_options()
            case "COMMENT":
                return ast.SetComment(this=self.string())
        return self.unexpected(self.token, "SET, RESET or COMMENT")

    def _reset_options(self) -> exp.Expr:
        return ast.ResetOptions(expressions=[] if self.accept("(", ")") else self.wrapped(self.string))

    def _table_action(self) -> exp.Expr:
        start = self.token
        match self.one_of("ADD", "MODIFY", "DROP", "RENAME", "SET", "RESET"):
            case "ADD":
                return ast.AddComponents(expressions=self._changes())
            case "MODIFY":
                return ast.ModifyComponents(expressions=self._changes())
            case "DROP":
                return self._table_drop()
            case "RENAME":
                return self._table_rename()
            case "SET":
                return ast.SetOptions(expressions=self._option_list())
            case "RESET":
                return self._reset_options()
        return self.unexpected(start, "ADD, MODIFY, DROP, RENAME, SET or RESET")

    def _changes(self) -> list[exp.Expr]:
        start = self.token
        if self.accept("DISTRIBUTION"):
            return [mark(self._distribution(), start)]
        if self.at("PARTITION") or self.at("IF", "NOT", "EXISTS"):
            self.unsupported(
                "ALTER TABLE .. ADD PARTITION is not supported.",
                start,
                "Partitions come with the rows that are written.",
            )
        return self.wrapped(self._component) if self.at("(") else [self._component()]

    def _table_drop(self) -> exp.Expr:
        start = self.token
        if self.at("PARTITION") or self.at("IF", "EXISTS"):
            self.unsupported(
                "ALTER TABLE .. DROP PARTITION is not supported.", start, "No statement here deletes data; Spark's own SQL does, from a Delta table."
            )
        if self.at("("):
            return ast.DropComponents(kind="COLUMNS", expressions=self.wrapped(self.name))
        if self.at("PRIMARY"):
            self.expect("PRIMARY", "KEY")
            return ast.DropComponents(kind="PRIMARY KEY")
        if self.accept("CONSTRAINT"):
            return ast.DropComponents(kind="CONSTRAINT", this=self.name())
        if kind := self.one_of("WATERMARK", "DISTRIBUTION"):
            return ast.DropComponents(kind=kind)
        name = self.name()
        if self.at("."):
            self.unsupported("Fields of rows can't be dropped.", self.token, _WHOLE_ROW)
        return ast.DropComponents(kind="COLUMNS", expressions=[name])

    def _table_rename(self) -> exp.Expr:
        if self.accept("TO"):
            return ast.RenameTo(this=self.path())
        column = self.name()
        if self.at("."):
            self.unsupported("Fields of rows can't be renamed.", self.token, _WHOLE_ROW)
        self.expect("TO")
        return ast.RenameColumn(this=column, to=self.name())

    # --- DROP ---------------------------------------------------------------------------------------------------------

    def drop(self) -> exp.Expr:
        temporary = self.accept("TEMPORARY") or None
        system = (self.accept("SYSTEM") or None) if temporary else None
        token = self.token
        kinds = ("FUNCTION",) if system else ("TABLE", "VIEW", "FUNCTION") if temporary else _DROPPED
        kind = self.one_of(*kinds) or self.unexpected(token, " or ".join(kinds))
        flag = self._if_exists()
        path = self.path()
        drop = ast.Drop(kind=kind, this=path, if_exists=flag, temporary=temporary, system=system)
        if kind == "DATABASE":
            drop.set("cascade", self.one_of("CASCADE", "RESTRICT") == "CASCADE" or None)
        return drop
