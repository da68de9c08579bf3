"""SHOW and DESCRIBE: questions about the catalog, answered as rows of text; those about jobs are passed on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.catalog import show
from sqlstream.core import user_jars
from sqlstream.core.errors import NotSupported
from sqlstream.session import results
from sqlstream.session.queries import saved_queries, signature
from sqlstream.session.statements import jobs, savepoints
from sqlstream.sql.functions import CALLABLE
from sqlstream.sql.syntax import ast
from sqlstream.sql.types import BOOLEAN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


def answer(node: ast.Show, context: Context) -> Outcome:
    """SHOW. Raises ValidationError, NotSupported."""
    catalog, planner = context.catalog, context.planner
    kind, at = node.kind, node.args.get("this")
    parts = ast.parts(at) if at is not None else ()
    like = _like(node)
    match kind:
        case "CATALOGS":
            rows = show.catalogs(catalog, like)
        case "DATABASES":
            rows = show.databases(catalog, parts[-1] if parts else None, like, at)
        case "TABLES":
            rows = show.tables(catalog, parts, like, at)
        case "VIEWS":
            rows = show.views(catalog, parts, like, at)
        case "COLUMNS":
            item = catalog.described(parts, at)
            return _columns(show.describe(item, planner.schema(item), like))
        case "FUNCTIONS" | "USER FUNCTIONS":
            rows = show.function_names(catalog, (n.lower() for n in CALLABLE), like, user=kind == "USER FUNCTIONS")
        case "CURRENT CATALOG":
            rows = show.current_catalog(catalog)
        case "CURRENT DATABASE":
            rows = show.current_database(catalog)
        case "MODULES" | "FULL MODULES":
            rows = show.modules(full=kind == "FULL MODULES")
        case "CREATE TABLE":
            rows = show.create_table(catalog, parts, at)
        case "CREATE VIEW":
            view = show.view_to_show(catalog, parts, at)
            rows = show.create_view(view, tuple(c[0] for c in planner.schema(view)), planner.expanded(view))
        case "CREATE CATALOG":
            rows = show.create_catalog(catalog, parts[-1], at)
        case "PARTITIONS":
            rows = show.partitions(catalog, parts, at)
        case "JARS":
            return results.text_rows(("jars",), [(jar,) for jar in user_jars.written(context.options)])
        case "PROCEDURES":
            return results.text_rows(("procedure name",), ())
        case "JOBS":
            return jobs.listed(context.jobs, extended=node.extended, flinks=context.flinks_client)
        case "JOB METRICS":
            return jobs.metrics(context.jobs)
        case "SAVEPOINTS":
            return savepoints.listed(context.jobs.folders.savepoints)
        case "QUERIES":
            listed = [q for q in saved_queries(context.project) if like is None or like.keeps(q.name)]
            return results.text_rows(("query name", "parameters", "question"), [(q.name, signature(q), q.question) for q in listed])
        case _:
            raise NotSupported(f"SHOW {kind} is not supported.", at=node, hint="HELP SHOW lists what it shows.")
    return results.masked_rows(rows.headers, rows.rows)


def _like(node: ast.Show) -> show.Like | None:
    """The LIKE of a SHOW."""
    pattern = node.like_pattern
    return None if pattern is None else show.Like(pattern.name, node.negated, node.is_ilike)


def describe(node: ast.Describe, context: Context) -> Outcome:
    """DESCRIBE. Raises ValidationError."""
    catalog, planner, extended = context.catalog, context.planner, node.extended
    match node.kind:
        case "CATALOG":
            rows = show.describe_catalog(catalog, ast.parts(node.this)[-1], extended=extended, at=node.this)
        case "DATABASE":
            rows = show.describe_database(catalog, ast.parts(node.this), extended=extended, at=node.this)
        case "FUNCTION":
            rows = show.describe_function(catalog, ast.parts(node.this), CALLABLE, planner.functions().described, extended=extended, at=node.this)
        case _:
            item = catalog.described(ast.parts(node.this), node.this)
            return _columns(show.describe(item, planner.schema(item)))
    return results.masked_rows(rows.headers, rows.rows)


def _columns(described: show.Listing) -> Outcome:
    """The columns of a table: whether one may be NULL is a BOOLEAN."""
    rows = results.masked_rows(described.headers, described.rows, blank=True)
    return replace(rows, columns=tuple(replace(c, type=BOOLEAN) if c.name == "null" else c for c in rows.columns))


HANDLERS: Mapping[type[exp.Expr], Handler] = {ast.Show: answer, ast.Describe: describe}
