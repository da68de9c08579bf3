"""What SHOW and DESCRIBE answer, as data: (headers, rows) with cells as the client prints them; None is an empty cell.

Nothing here prints; patterns are MySQL's: ``%``, ``_``, and ``\\`` before one of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlstream.catalog import ddl
from sqlstream.catalog.calcite import expression_text
from sqlstream.catalog.entries import UserFunction
from sqlstream.catalog.functions import find_function, names
from sqlstream.core.errors import ValidationError, did_you_mean, listed_by
from sqlstream.core.secrets import masked_option
from sqlstream.sql import functions
from sqlstream.sql.tables import ComputedColumn, MetadataColumn, ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlglot import exp

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.catalog.schema import SchemaColumn
    from sqlstream.sql.functions import Function


class Listing(NamedTuple):
    """An answer: column names, and rows of as many cells."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class Like:
    """``[NOT] LIKE | ILIKE 'pattern'``."""

    pattern: str
    negated: bool = False
    ignore_case: bool = False

    def keeps(self, name: str) -> bool:
        """Whether ``name`` passes."""
        flags = re.DOTALL | (re.IGNORECASE if self.ignore_case else 0)
        return (re.fullmatch(like_regex(self.pattern), name, flags) is not None) is not self.negated


def like_regex(pattern: str) -> str:
    """The regular expression of a MySQL pattern."""
    parts = re.findall(r"\\[%_\\]|.", pattern, re.DOTALL)
    return "".join({"%": ".*", "_": "."}.get(p) or re.escape(p[1:] if len(p) == 2 else p) for p in parts)


def _one(header: str, listed: Iterable[str], like: Like | None = None) -> Listing:
    return Listing((header,), tuple((n,) for n in listed if like is None or like.keeps(n)))


def catalogs(manager: CatalogManager, like: Like | None = None) -> Listing:
    """SHOW CATALOGS."""
    return _one("catalog name", sorted(manager.catalogs), like)


def databases(manager: CatalogManager, catalog: str | None = None, like: Like | None = None, at: Any = None) -> Listing:
    """SHOW DATABASES [FROM catalog]."""
    return _one("database name", sorted(manager.catalog(catalog or manager.current_catalog, at).databases), like)


def _scope(manager: CatalogManager, parts: tuple[str, ...], at: Any) -> tuple[str, str]:
    """(catalog, database) of FROM's name, or the current ones."""
    if not parts:
        manager.database((manager.current_catalog, manager.current_database), "show", at)
        return manager.current_catalog, manager.current_database
    catalog, database = manager.database_path(parts, "show", at)
    if database not in manager.catalog(catalog, at).databases:
        raise ValidationError(f"Database '{catalog}'.'{database}' doesn't exist.", at=at, hint=listed_by("SHOW DATABASES"))
    return catalog, database


def tables(manager: CatalogManager, parts: tuple[str, ...] = (), like: Like | None = None, at: Any = None) -> Listing:
    """SHOW TABLES [FROM database]: views too."""
    return _one("table name", manager.table_names(*_scope(manager, parts, at), at), like)


def views(manager: CatalogManager, parts: tuple[str, ...] = (), like: Like | None = None, at: Any = None) -> Listing:
    """SHOW VIEWS [FROM database]."""
    return _one("view name", manager.view_names(*_scope(manager, parts, at), at), like)


def function_names(manager: CatalogManager, builtin: Iterable[str], like: Like | None = None, *, user: bool = False) -> Listing:
    """SHOW [USER] FUNCTIONS; ``builtin`` are the names of the built-in ones."""
    mine = names(manager)
    return _one("function name", mine if user else sorted({*mine, *(n.lower() for n in builtin)}), like)


def current_catalog(manager: CatalogManager) -> Listing:
    """SHOW CURRENT CATALOG."""
    return _one("current catalog name", (manager.current_catalog,))


def current_database(manager: CatalogManager) -> Listing:
    """SHOW CURRENT DATABASE."""
    return _one("current database name", (manager.current_database,))


def modules(*, full: bool = False) -> Listing:
    """SHOW [FULL] MODULES."""
    return Listing(("module name", "used"), (("core", "TRUE"),)) if full else _one("module name", ("core",))


def partitions(manager: CatalogManager, parts: tuple[str, ...], at: Any = None) -> Listing:
    """SHOW PARTITIONS: in memory no table has registered partitions, as in Flink's in-memory catalog."""
    item = manager.described(parts, at)
    path = item.path
    if isinstance(item, View) or not item.partition_keys:
        raise ValidationError(f"Table {path.database}.{path.name} in catalog {path.catalog} is not partitioned.", at=at)
    return _one("partition name", ())


SCHEMA_HEADERS = ("name", "type", "null", "key", "extras", "watermark")


def describe(item: Table | View, schema: tuple[SchemaColumn, ...], like: Like | None = None) -> Listing:
    """DESCRIBE and SHOW COLUMNS. ``schema`` is what the table, or a view's query, gives.

    The comment column is there only if a column has a comment.
    """
    declared = {c.name: c for c in item.columns} if isinstance(item, Table) else {}
    comments = any(c.comment for c in declared.values())
    rows = []
    for name, type_, time, nullable in schema:
        if like is not None and not like.keeps(name):
            continue
        column = declared.get(name)
        key, extras, watermark = "", "", ""
        if isinstance(item, Table):
            if item.primary_key and name in item.primary_key.columns:
                key = f"PRI({', '.join(item.primary_key.columns)})"
            if item.watermark and item.watermark.column == name:
                watermark = expression_text(item.watermark.expression)
        if isinstance(column, ComputedColumn):
            extras = f"AS {expression_text(column.expression)}"
        elif isinstance(column, MetadataColumn):
            extras = ddl.metadata_text(column)
        row: tuple[str | None, ...] = (
            name,
            f"{type_}{f' *{time}*' if time else ''}",
            str(nullable).upper(),
            key,
            extras,
            watermark,
        )
        rows.append((*row, (column and column.comment) or "") if comments else row)
    return Listing((*SCHEMA_HEADERS, "comment") if comments else SCHEMA_HEADERS, tuple(rows))


def create_table(manager: CatalogManager, parts: tuple[str, ...], at: Any = None) -> Listing:
    """SHOW CREATE TABLE."""
    item = _to_show(manager, manager.path(parts, at), "TABLE", at)
    if isinstance(item, View):
        raise ValidationError(
            f"SHOW CREATE TABLE is only supported for tables, but {item.path.quoted} is a view. Please use SHOW CREATE VIEW instead.",
            at=at,
        )
    return _one("result", (ddl.create_table(item),))


def view_to_show(manager: CatalogManager, parts: tuple[str, ...], at: Any = None) -> View:
    """The view that SHOW CREATE VIEW means."""
    item = _to_show(manager, manager.path(parts, at), "VIEW", at)
    if isinstance(item, Table):
        raise ValidationError(
            f"SHOW CREATE VIEW is only supported for views, but {item.path.quoted} is a table. Please use SHOW CREATE TABLE instead.",
            at=at,
        )
    return item


def create_view(view: View, columns: tuple[str, ...], query: exp.Query) -> Listing:
    """SHOW CREATE VIEW; ``columns`` are the names that its query gives, or those it declares, ``query`` is it with nothing left to be resolved."""
    return _one("result", (ddl.create_view(view, view.columns or columns, query),))


def _to_show(manager: CatalogManager, path: ObjectPath, word: str, at: Any) -> Table | View:
    item = manager.get(path, at)
    if item is None:
        low = word.capitalize()
        raise ValidationError(
            f"Could not execute SHOW CREATE {word}. {low} with identifier {path.quoted} does not exist.",
            at=at,
            hint=manager.meant(path, f"SHOW {word}S"),
        )
    return item


def create_catalog(manager: CatalogManager, name: str, at: Any = None) -> Listing:
    """SHOW CREATE CATALOG."""
    return _one("result", (ddl.create_catalog(name, manager.catalog_metadata(name, at)),))


INFO = ("info name", "info value")


def describe_catalog(manager: CatalogManager, name: str, *, extended: bool = False, at: Any = None) -> Listing:
    """DESCRIBE CATALOG [EXTENDED]."""
    catalog = manager.catalog_metadata(name, at)
    rows = [("name", name), ("type", catalog.options["type"]), ("comment", catalog.comment or "")]
    if extended:
        rows += [(f"option:{k}", masked_option(k, v)) for k, v in sorted(catalog.options.items()) if k != "type"]
    return Listing(INFO, tuple(rows))


def describe_database(manager: CatalogManager, parts: tuple[str, ...], *, extended: bool = False, at: Any = None) -> Listing:
    """DESCRIBE DATABASE [EXTENDED]."""
    database = manager.database(parts, "describe", at)
    catalog, name = manager.database_path(parts, "describe", at)
    rows = [("catalog", catalog), ("name", name), ("comment", database.comment or "")]
    if extended:
        rows += [(f"option:{k}", masked_option(k, v)) for k, v in sorted(database.options.items())]
    return Listing(INFO, tuple(rows))


def describe_function(
    manager: CatalogManager,
    parts: tuple[str, ...],
    builtin: Iterable[str],
    described: Callable[[UserFunction], Function],
    *,
    extended: bool = False,
    at: Any = None,
) -> Listing:
    """DESCRIBE FUNCTION [EXTENDED]. ``described`` says what a function of the user's is."""
    name = parts[-1].lower()
    function = find_function(manager, parts)
    system = function.system if function else len(parts) == 1 and name in {n.lower() for n in builtin}
    if function is None and not system:
        shown = ".".join(f"`{p}`" for p in parts)
        raise ValidationError(f"Function with the identifier '{shown}' doesn't exist.", at=at, hint=did_you_mean(name, builtin, "SHOW FUNCTIONS"))
    rows = [
        ("is system function", str(system).lower()),
        ("is temporary", str(bool(function and function.temporary)).lower()),
    ]
    if extended and isinstance(function, UserFunction):
        rows += [
            ("class name", function.identifier),
            ("function language", function.language),
            ("resource uris", str(list(function.resources))),
        ]
    declared = functions.find(name) if function is None else described(function) if extended else None
    if extended and declared is not None:
        rows += [
            ("kind", declared.group),
            ("requirements", "[]"),
            ("is deterministic", str(declared.deterministic).lower()),
            ("supports constant folding", str(declared.deterministic and function is None).lower()),
            ("signature", declared.signature),
            ("description", declared.summary),
            *([("example", declared.runnable)] if declared.runnable else []),
        ]
    return Listing(INFO, tuple(rows))
