"""Runs catalog statements as the session does, and gives each answer in the form of the recorded ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.catalog import show
from sqlstream.catalog.apply import APPLIED, StatementContext, apply
from sqlstream.catalog.schema import SchemaColumn, expression_type, table_columns
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import Table, View

if TYPE_CHECKING:
    from sqlstream.catalog.namespaces import CatalogManager

FUNCTIONS = ("ABS", "FIRST_VALUE", "FLOOR")


def answer(manager: CatalogManager, text: str, context: StatementContext | None = None) -> str:
    """What the client says to ``text``: ``OK``, ``! message`` or rows of cells, headers first."""
    try:
        node = parse(text)
        if isinstance(node, APPLIED):
            apply(manager, node, context or StatementContext(schema_of=lambda query: schema_of(manager, query)))
            return "OK"
        rows = shown(manager, node)
    except SqlStreamError as error:
        return f"! {error.message}"
    if not rows.rows:
        return "Empty set"
    return "\n".join(" | ".join(cell or "" for cell in row).rstrip() for row in (rows.headers, *rows.rows))


def schema_of(manager: CatalogManager, query: exp.Query) -> tuple[SchemaColumn, ...]:
    """What a query gives, for simple queries over one table: the planner is not part of these tests."""
    source = query.find(exp.Table)
    table = manager.resolve(ast.parts(source), source) if source is not None else None
    columns = {} if table is None else {c[0]: c for c in relation_schema(manager, table)}
    found: list[SchemaColumn] = []
    for i, item in enumerate(query.selects):
        value = item.unalias()
        if isinstance(value, exp.Star):
            found += columns.values()
        elif isinstance(value, exp.Column):
            if value.name not in columns:
                raise ValidationError(f"Column '{value.name}' not found in any table", at=value)
            found.append((item.alias_or_name, *columns[value.name][1:]))
        else:
            type_ = expression_type(value, [(c[0], c[1]) for c in columns.values()])
            found.append((item.alias or f"EXPR${i}", type_, None, type_.nullable))
    return tuple(found)


def relation_schema(manager: CatalogManager, item: Table | View) -> tuple[SchemaColumn, ...]:
    """The source schema of a table or a view."""
    if isinstance(item, Table):
        return table_columns(item)
    schema = schema_of(manager, item.query)
    return tuple((name, *c[1:]) for name, c in zip(item.columns or [c[0] for c in schema], schema, strict=True))


def described(manager: CatalogManager, parts: tuple[str, ...], at: exp.Expression, like: show.Like | None = None) -> show.Listing:
    """DESCRIBE and SHOW COLUMNS."""
    item = manager.described(parts, at)
    return show.describe(item, relation_schema(manager, item), like)


def shown(manager: CatalogManager, node: exp.Expression) -> show.Listing:
    """The rows of SHOW and DESCRIBE."""
    kind = str(node.args["kind"])
    of = node.this
    parts = () if of is None else ast.parts(of) if isinstance(of, exp.Table) else (of.name,)
    if isinstance(node, ast.Describe):
        extended = bool(node.args.get("extended"))
        if kind == "CATALOG":
            return show.describe_catalog(manager, parts[-1], extended=extended, at=of)
        if kind == "DATABASE":
            return show.describe_database(manager, parts, extended=extended, at=of)
        if kind == "FUNCTION":
            return show.describe_function(manager, parts, FUNCTIONS, extended=extended, at=of)
        return described(manager, parts, of)
    like = node.args.get("like")
    pattern = None if like is None else show.Like(like.name, bool(node.args.get("negated")), bool(node.args.get("ilike")))
    match kind:
        case "CATALOGS":
            return show.catalogs(manager, pattern)
        case "DATABASES":
            return show.databases(manager, parts[-1] if parts else None, pattern, of)
        case "TABLES":
            return show.tables(manager, parts, pattern, of)
        case "VIEWS":
            return show.views(manager, parts, pattern, of)
        case "COLUMNS":
            return described(manager, parts, of, pattern)
        case "FUNCTIONS" | "USER FUNCTIONS":
            return show.function_names(manager, FUNCTIONS, pattern, user=kind != "FUNCTIONS")
        case "CURRENT CATALOG":
            return show.current_catalog(manager)
        case "CURRENT DATABASE":
            return show.current_database(manager)
        case "MODULES" | "FULL MODULES":
            return show.modules(full=kind != "MODULES")
        case "PARTITIONS":
            return show.partitions(manager, parts, of)
        case "CREATE TABLE":
            return show.create_table(manager, parts, of)
        case "CREATE VIEW":
            view = show.view_to_show(manager, parts, of)
            return show.create_view(view, tuple(c[0] for c in schema_of(manager, view.query)))
        case "CREATE CATALOG":
            return show.create_catalog(manager, parts[-1], of)
    raise AssertionError(kind)
