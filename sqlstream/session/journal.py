"""What a session has declared: the script with which another session runs a job of this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.catalog.apply import APPLIED
from sqlstream.catalog.ddl import create_table_file
from sqlstream.catalog.declare import names_of
from sqlstream.sql.quoting import flink_string
from sqlstream.sql.statements.table import sets_up
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

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

    def note(self, node: exp.Expr, text: str, context: Context) -> None:
        """A statement that was carried out."""
        if context.statement_set is not None:
            self._set.append(text)
            return
        self._set = []
        if _kept_elsewhere(node, context):
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

    def script(self, context: Context) -> str | None:
        """The script of the job whose statement runs now. It has the secrets that its statements have. None where it would be too long."""
        if self._length > _MOST:
            return None
        changed = {k: v for k, v in context.options.items() if self._given.get(k) != v}
        options = [f"SET {flink_string(k)} = {flink_string(v)}" for k, v in sorted(changed.items())]
        running = [*self._set, "END"] if self._set else [context.statement.text]
        return "".join(f"{text.strip().removesuffix(';')}\n;\n" for text in (*options, *self._declared, *running))


def _kept_elsewhere(node: exp.Expr, context: Context) -> bool:
    """Whether what a statement has declared is there for the other session: a file of the project keeps it, or the store of a catalog."""
    if not isinstance(node, APPLIED) or isinstance(node, ast.Use | ast.Module) or node.args.get("temporary"):
        return False
    return context.user.save or _is_stored(node, context)


def _is_stored(node: exp.Expr, context: Context) -> bool:
    dropped = node.kind.upper() if isinstance(node, ast.Drop) else ""
    # A store keeps databases, and what is in them but for functions.
    if isinstance(node, _CATALOGS + _FUNCTIONS) or dropped in ("CATALOG", "FUNCTION"):
        return False
    names = names_of(node.this)
    whole = 2 if isinstance(node, _DATABASES) or dropped == "DATABASE" else 3
    catalog = context.catalog.catalogs.get(names[0] if len(names) == whole else context.catalog.current_catalog)
    return catalog is not None and catalog.store is not None
