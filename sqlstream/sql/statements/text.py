"""Statements with a grammar of their own back to Flink SQL, on one line; and their clauses. All are rows of a sqlglot generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp, generator

from sqlstream.sql.quoting import flink_string
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Generator = generator.Generator


def _join(*parts: str | None) -> str:
    return " ".join(p for p in parts if p)


def _flag(node: exp.Expr, key: str, words: str) -> str:
    return words if node.args.get(key) else ""


def _clause(self: Generator, node: exp.Expr, words: str, key: str) -> str:
    text = self.sql(node, key)
    return f"{words} {text}" if text else ""


def _names(self: Generator, nodes: Sequence[exp.Expr]) -> str:
    return f"({', '.join(self.sql(n) for n in nodes)})" if nodes else ""


def _options(self: Generator, node: exp.Expr) -> str:
    options = node.args.get("options")
    return f"WITH {_names(self, options)}" if options else ""


def create_table(self: Generator, node: ast.CreateTable) -> str:
    parts = [*node.columns, *node.watermarks, *node.primary_keys]
    distribution = self.sql(node, "distribution")
    first = "CREATE" if not node.or_replace else "CREATE OR REPLACE" if node.or_create else "REPLACE"
    return _join(
        first,
        _flag(node, "temporary", "TEMPORARY"),
        "TABLE",
        _flag(node, "if_not_exists", "IF NOT EXISTS"),
        self.sql(node, "this"),
        _names(self, parts),
        _clause(self, node, "COMMENT", "comment"),
        f"DISTRIBUTED {distribution}" if distribution else "",
        f"PARTITIONED BY {_names(self, node.partitioned_by)}" if node.partitioned_by else "",
        _options(self, node),
        _clause(self, node, "LIKE", "like"),
        _clause(self, node, "AS", "query"),
    )


def _physical(self: Generator, node: ast.PhysicalColumnDef) -> str:
    key = node.primary_key
    constraint = ""
    if isinstance(key, ast.PrimaryKeyDef):
        # Without its column, which it stands behind.
        constraint = _join(_clause(self, key, "CONSTRAINT", "this"), "PRIMARY KEY", "" if key.enforced else "NOT ENFORCED")
    return _join(self.sql(node, "this"), self.sql(node, "kind"), constraint, _tail(self, node))


def _tail(self: Generator, node: exp.Expr) -> str:
    return _join(_clause(self, node, "COMMENT", "comment"), self.sql(node, "position"))


def _metadata(self: Generator, node: ast.MetadataColumnDef) -> str:
    return _join(
        self.sql(node, "this"),
        self.sql(node, "kind"),
        "METADATA",
        _clause(self, node, "FROM", "key"),
        _flag(node, "virtual", "VIRTUAL"),
        _tail(self, node),
    )


def _primary_key(self: Generator, node: ast.PrimaryKeyDef) -> str:
    enforced = "" if node.enforced else "NOT ENFORCED"
    return _join(_clause(self, node, "CONSTRAINT", "this"), "PRIMARY KEY", _names(self, node.expressions), enforced)


def _distribution(self: Generator, node: ast.DistributionDef) -> str:
    columns, buckets = node.expressions, self.sql(node, "buckets")
    by = f"BY {node.kind or ''}{_names(self, columns)}" if columns else ""
    return _join(by, f"INTO {buckets} BUCKETS" if buckets else "")


def _like(self: Generator, node: exp.Expr) -> str:
    chosen = " ".join(self.sql(o) for o in node.expressions)
    return _join(self.sql(node, "this"), f"({chosen})" if chosen else "")


def create_view(self: Generator, node: ast.CreateView) -> str:
    # The query as it was written, comments and all.
    return _join(
        "CREATE",
        _flag(node, "temporary", "TEMPORARY"),
        "VIEW",
        _flag(node, "if_not_exists", "IF NOT EXISTS"),
        self.sql(node, "this"),
        _names(self, node.columns),
        _clause(self, node, "COMMENT", "comment"),
        "AS",
        node.query_text,
    )


def create_space(kind: str) -> Callable[[Generator, Any], str]:
    return lambda self, node: _join(
        "CREATE",
        kind,
        _flag(node, "if_not_exists", "IF NOT EXISTS"),
        self.sql(node, "this"),
        _clause(self, node, "COMMENT", "comment"),
        _options(self, node),
    )


def function(first: str, exists: str) -> Callable[[Generator, Any], str]:
    def text(self: Generator, node: ast.CreateFunction | ast.AlterFunction) -> str:
        jars = ", ".join(f"JAR {self.sql(j)}" for j in node.jars) if isinstance(node, ast.CreateFunction) else ""
        return _join(
            first,
            _flag(node, "temporary", "TEMPORARY"),
            _flag(node, "system", "SYSTEM"),
            "FUNCTION",
            _flag(node, exists, "IF NOT EXISTS" if exists == "if_not_exists" else "IF EXISTS"),
            self.sql(node, "this"),
            "AS",
            self.sql(node, "identifier"),
            f"LANGUAGE {node.language}" if node.language else "",
            f"USING {jars}" if jars else "",
            _options(self, node),
        )

    return text


def alter(kind: str) -> Callable[[Generator, Any], str]:
    return lambda self, node: _join("ALTER", kind, _flag(node, "if_exists", "IF EXISTS"), self.sql(node, "this"), self.sql(node, "action"))


def _components(word: str) -> Callable[[Generator, Any], str]:
    def text(self: Generator, node: exp.Expr) -> str:
        first = node.expressions[0]
        if isinstance(first, ast.DistributionDef):
            return f"{word} DISTRIBUTION {self.sql(first)}"
        return f"{word} {_names(self, node.expressions)}"

    return text


def _drop_components(self: Generator, node: ast.DropComponents) -> str:
    return f"DROP {_names(self, node.expressions)}" if node.kind == "COLUMNS" else _join("DROP", node.kind, self.sql(node, "this"))


def drop(self: Generator, node: ast.Drop) -> str:
    return _join(
        "DROP",
        _flag(node, "temporary", "TEMPORARY"),
        _flag(node, "system", "SYSTEM"),
        node.kind,
        _flag(node, "if_exists", "IF EXISTS"),
        self.sql(node, "this"),
        _flag(node, "cascade", "CASCADE"),
    )


def describe(self: Generator, node: ast.Describe) -> str:
    return _join("DESCRIBE", "" if node.kind == "TABLE" else node.kind, _flag(node, "extended", "EXTENDED"), self.sql(node, "this"))


def explain(self: Generator, node: ast.Explain) -> str:
    return _join("EXPLAIN", ", ".join(node.details), self.sql(node, "this").removeprefix("EXECUTE "))


def use(self: Generator, node: ast.Use) -> str:
    return _join("USE", "" if node.kind == "DATABASE" else node.kind, self.sql(node, "this"), self.expressions(node, flat=True))


def set_(_self: Generator, node: ast.Set) -> str:
    return f"SET {flink_string(node.args['this'])} = {flink_string(node.args['expression'])}" if node.args.get("this") else "SET"


def insert(self: Generator, node: ast.Insert) -> str:
    return _join(
        "INSERT",
        "OVERWRITE" if node.overwrite else "INTO",
        self.sql(node, "this"),
        f"/*+ {', '.join(self.sql(h) for h in node.hints)} */" if node.hints else "",
        f"PARTITION {_names(self, node.partition)}" if node.partition else "",
        _names(self, node.columns),
        self.sql(node, "query"),
        f"ON CONFLICT DO {node.conflict.this}" if node.conflict else "",
    )


def statement_set(self: Generator, node: exp.Expr) -> str:
    return f"EXECUTE STATEMENT SET BEGIN {' '.join(self.sql(e) + ';' for e in node.expressions)} END"


def reset(_self: Generator, node: ast.Reset) -> str:
    return f"RESET {flink_string(node.args['this'])}" if node.args.get("this") else "RESET"


def module(self: Generator, node: ast.Module) -> str:
    return _join(node.kind, "MODULE", self.sql(node, "this"), _options(self, node))


def execute_query(self: Generator, node: exp.Expr) -> str:
    return _join("EXECUTE QUERY", self.sql(node, "this"), f"({self.expressions(node, flat=True)})" if node.expressions else None)


def help_on(_self: Generator, node: ast.Help) -> str:
    return _join("HELP", node.args.get("this"))


def as_written(_self: Generator, node: exp.Expr) -> str:
    return str(node.args["text"])


def jar(self: Generator, node: ast.Jar) -> str:
    return _join(node.kind, "JAR", self.sql(node, "this"))


def explain_upgrade(self: Generator, node: ast.ExplainUpgrade) -> str:
    return _join("EXPLAIN UPGRADE", self.sql(node, "this"))


def alter_job(self: Generator, node: ast.AlterJob) -> str:
    return _join("ALTER JOB", self.sql(node, "this"), f"SET OFFSETS {_names(self, node.expressions) or '()'}")


def skip_records(self: Generator, node: ast.SkipRecords) -> str:
    return _join("ALTER JOB", self.sql(node, "this"), f"SKIP RECORDS {_names(self, node.expressions) or '()'}")


def drop_job(self: Generator, node: ast.DropJob) -> str:
    return _join("DROP JOB", _flag(node, "if_exists", "IF EXISTS"), self.sql(node, "this"))


def stop(self: Generator, node: ast.StopJob) -> str:
    return _join(
        "STOP JOB",
        self.sql(node, "this"),
        _flag(node, "savepoint", "WITH SAVEPOINT"),
        _flag(node, "drain", "WITH DRAIN"),
    )


CLAUSES: dict[type[exp.Expr], Callable[[Generator, Any], str]] = {
    ast.OptionDef: lambda self, e: f"{self.sql(e, 'this')} = {self.sql(e, 'expression')}",
    ast.PhysicalColumnDef: _physical,
    ast.ComputedColumnDef: lambda self, e: _join(f"{self.sql(e, 'this')} AS {self.sql(e, 'expression')}", _tail(self, e)),
    ast.MetadataColumnDef: _metadata,
    ast.NameDef: lambda self, e: self.sql(e, "this"),
    ast.ColumnPosition: lambda self, e: f"AFTER {self.sql(e, 'this')}" if e.args.get("this") else "FIRST",
    ast.WatermarkDef: lambda self, e: f"WATERMARK FOR {self.sql(e, 'this')} AS {self.sql(e, 'expression')}",
    ast.PrimaryKeyDef: _primary_key,
    ast.DistributionDef: _distribution,
    ast.LikeDef: _like,
    ast.LikeOption: lambda self, e: f"{e.args['this']} {e.kind}",
    ast.AddComponents: _components("ADD"),
    ast.ModifyComponents: _components("MODIFY"),
    ast.DropComponents: _drop_components,
    ast.RenameColumn: lambda self, e: f"RENAME {self.sql(e, 'this')} TO {self.sql(e, 'to')}",
    ast.RenameTo: lambda self, e: f"RENAME TO {self.sql(e, 'this')}",
    ast.SetOptions: lambda self, e: f"SET {_names(self, e.expressions) or '()'}",
    ast.ResetOptions: lambda self, e: f"RESET {_names(self, e.expressions) or '()'}",
    ast.SetComment: lambda self, e: f"COMMENT {self.sql(e, 'this')}",
    ast.AsQuery: lambda self, e: f"AS {e.query_text}",
    ast.Unsupported: as_written,
}
