"""What a session has declared: the script with which another session runs a job of this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.catalog.apply import APPLIED
from sqlstream.catalog.ddl import create_table_file
from sqlstream.catalog.declare import names_of
from sqlstream.catalog.project import ObjectKey, lower_case_path
from sqlstream.runtime.jobs.script import JobScript
from sqlstream.sql.quoting import flink_string
from sqlstream.sql.statements.table import sets_up
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.session.context import Context

# A session that has declared more, in characters, has no script.
_MOST = 8_000_000
# They come with the options that are set.
_OPTIONS = (ast.Set, ast.Reset)
_DATABASES = (ast.CreateDatabase, ast.AlterDatabase)
_CATALOGS = (ast.CreateCatalog, ast.AlterCatalog)
_FUNCTIONS = (ast.CreateFunction, ast.AlterFunction)


class Journal:
    """The declarations of a session in their order, as they are written. ``given``: the options with which the other session begins."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = dict(given)
        self._declared: list[str] = []
        self._length = 0
        # The statements since BEGIN STATEMENT SET.
        self._set: list[str] = []
        # What the project's files should have, and have not: secrets are not written into them.
        self._unsaved: set[ObjectKey] = set()

    def note(self, node: exp.Expr, text: str, context: Context) -> None:
        """A statement that was carried out."""
        if context.statement_set is not None:
            self._set.append(text)
            return
        self._set = []
        if self._kept_elsewhere(node, context):
            return
        if isinstance(node, ast.CreateTable) and node.query is not None:
            # Another session's jobs are not to write it once more.
            table = context.catalog.described(ast.parts(node.this), at=node)
            self._declare(create_table_file(table, table.path.quoted) if isinstance(table, Table) else text)
        elif sets_up(node) and not isinstance(node, _OPTIONS):
            self._declare(text)

    def _declare(self, text: str) -> None:
        self._length += len(text)
        if self._length <= _MOST:
            self._declared.append(text)

    def _kept_elsewhere(self, node: exp.Expr, context: Context) -> bool:
        """Whether what a statement has declared is there for the other session: a file of the project keeps it, or the store of a catalog."""
        if not isinstance(node, APPLIED) or isinstance(node, ast.Use | ast.Module) or node.args.get("temporary"):
            return False
        key = _key(node, context)
        return _is_stored(key, context) or (context.user.save and self._is_saved(node, key, context))

    def _is_saved(self, node: exp.Expr, key: ObjectKey, context: Context) -> bool:
        """Whether a file of the project has ``key``, which a statement has declared; where it drops it, whether one had it."""
        known = key in self._unsaved
        self._unsaved.discard(key)
        if isinstance(node, ast.Drop):
            return not known
        if isinstance(action := node.args.get("action"), ast.RenameTo):
            key = ObjectKey(key.kind, key.path._replace(name=names_of(action.this)[-1]))
        if known or not self._in_file(key, context):
            self._unsaved.add(key)
            return False
        return True

    def _in_file(self, key: ObjectKey, context: Context) -> bool:
        """Whether another session finds ``key`` as it is in the project's files: a view only with all that it reads."""
        catalog, source = context.catalog, context.planner.files.sources.get(key)
        if source is None or key.kind != "RELATION":
            return source is not None
        item = catalog.permanent(key.path)
        read = (ast.parts(table) for table in item.query.find_all(exp.Table)) if isinstance(item, View) else ()
        return source.item == item and all(self._is_found(ObjectPath(*parts), context) for parts in read if len(parts) == len(ObjectPath._fields))

    def _is_found(self, path: ObjectPath, context: Context) -> bool:
        """Whether another session finds the table or view at ``path``."""
        catalog, key = context.catalog, ObjectKey("RELATION", path)
        saved = key in context.planner.files.sources and key not in self._unsaved
        return path not in catalog.temporary and (saved or _is_stored(key, context))

    def script(self, context: Context) -> JobScript | None:
        """The script of the job whose statement runs now. It has the secrets that its statements have. None where it would be too long."""
        if self._length > _MOST:
            return None
        # The job's name is said by its script.
        changed = {k: v for k, v in context.options.items() if self._given.get(k) != v and k != "pipeline.name"}
        options = [f"SET {flink_string(k)} = {flink_string(v)}" for k, v in sorted(changed.items())]
        submitted = (*self._set, "END") if self._set else (context.statement.text,)
        return JobScript((*options, *self._declared), submitted, context.script)


def _key(node: exp.Expr, context: Context) -> ObjectKey:
    """What a statement declares, or drops."""
    dropped, names = node.kind.upper() if isinstance(node, ast.Drop) else "", names_of(node.this)
    if isinstance(node, _CATALOGS) or dropped == "CATALOG":
        return ObjectKey("CATALOG", ObjectPath(names[-1], "", ""))
    if isinstance(node, _DATABASES) or dropped == "DATABASE":
        catalog, database = names if len(names) == 2 else (context.catalog.current_catalog, names[-1])
        return ObjectKey("DATABASE", ObjectPath(catalog, database, ""))
    path = context.catalog.path(names)
    if isinstance(node, _FUNCTIONS) or dropped == "FUNCTION":
        return ObjectKey("FUNCTION", lower_case_path(path))
    return ObjectKey("RELATION", path)


def _is_stored(key: ObjectKey, context: Context) -> bool:
    """Whether the store of a catalog keeps it: databases, and what is in them but for functions."""
    if key.kind in ("CATALOG", "FUNCTION"):
        return False
    catalog = context.catalog.catalogs.get(key.path.catalog)
    return catalog is not None and catalog.store is not None
