"""DDL and USE statements, executed: the one entry point that the session needs.

``apply`` changes the CatalogManager and, where the session says so, the project's files; returns lines for the user.
A statement is checked as a whole before anything changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlstream import connectors
from sqlstream.catalog import alter, declare, functions, types
from sqlstream.catalog.calcite import expression_text
from sqlstream.catalog.circles import refuse_circle
from sqlstream.catalog.declare import SchemaOf, components, options_of, text_of
from sqlstream.catalog.entries import Catalog, Database
from sqlstream.catalog.namespaces import keeps_no_options
from sqlstream.catalog.project import CatalogFiles, Item, ObjectKey, lower_case_path, user_function
from sqlstream.catalog.schema import NOTHING, checked
from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError
from sqlstream.sql.quoting import quote
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.sql.bind import Scope


@dataclass(frozen=True)
class StatementContext:
    """What a statement runs in.

    ``scope`` has the zone and the user's functions; its columns don't count. ``schema_of`` asks the planner what a
    query gives. ``script``: a file runs (-f), whose own definitions win over the project's. ``save``: permanent objects
    are written to the project's files.
    """

    scope: Scope = NOTHING
    schema_of: SchemaOf | None = None
    project: CatalogFiles | None = None
    script: bool = False
    save: bool = False


CORE = "core"
"""The module of the built-in functions."""
STATE = "state"
"""That of savepoint_metadata."""

APPLIED = (
    ast.CreateTable, ast.CreateView, ast.CreateDatabase, ast.CreateCatalog, ast.CreateFunction, ast.AlterTable,
    ast.AlterView, ast.AlterDatabase, ast.AlterCatalog, ast.AlterFunction, ast.Drop, ast.Use,
    ast.Module,
)  # fmt: skip
"""The statements that ``apply`` takes. Of CREATE TABLE ... AS it creates the table; the INSERT is the session's."""


def apply(manager: CatalogManager, statement: exp.Expression, context: StatementContext) -> list[str]:
    """Execute ``statement``; returns notices for the user. Raises Flink's error, and then nothing has changed."""
    match statement:
        case ast.CreateTable():
            return _create_table(manager, statement, context)
        case ast.CreateView():
            return _create_view(manager, statement, context)
        case ast.CreateFunction():
            return _create_function(manager, statement, context)
        case ast.CreateDatabase():
            return _create_database(manager, statement, context)
        case ast.CreateCatalog():
            return _create_catalog(manager, statement, context)
        case ast.AlterTable():
            return _alter_table(manager, statement, context)
        case ast.AlterView():
            return _alter_view(manager, statement, context)
        case ast.AlterDatabase():
            names = declare.names_of(statement.this)
            database = manager.database(names, "alter", statement.this)
            catalog, name = manager.database_path(names, "alter", statement.this)
            if manager.catalogs[catalog].store is not None:
                raise keeps_no_options(catalog, statement.this)
            database.options.update(options_of(statement.action.expressions))
            return _saved(manager, ObjectKey("DATABASE", ObjectPath(catalog, name, "")), database, context)
        case ast.AlterCatalog():
            return _alter_catalog(manager, statement, context)
        case ast.AlterFunction():
            function = user_function(statement, manager)
            if functions.alter(manager, function, if_exists=statement.if_exists, at=statement.this):
                return _saved(
                    manager,
                    ObjectKey("FUNCTION", lower_case_path(function.path)),
                    replace(function, path=lower_case_path(function.path)),
                    context,
                )
            return []
        case ast.Drop():
            return _drop(manager, statement, context)
        case ast.Use():
            return _use(manager, statement)
        case ast.Module():
            return _module(statement)
    raise NotSupported("This statement is not supported.", at=statement, hint="HELP lists those that are.")


def _saved(manager: CatalogManager, key: ObjectKey, item: Item, context: StatementContext) -> list[str]:
    """Save a permanent object where that is wanted, and no store has kept it."""
    if context.project is None or not context.save or (key.kind != "CATALOG" and manager.catalogs[key.path.catalog].store is not None):
        return []
    line = context.project.save(key, item, manager)
    return [line] if line else []


def _removed(key: ObjectKey, context: StatementContext) -> list[str]:
    if context.project is None or not context.save:
        return []
    line = context.project.remove(key)
    return [line] if line else []


def _overrides(key: ObjectKey, manager: CatalogManager, context: StatementContext) -> bool:
    """Whether a script's definition takes the place of the project's."""
    return context.script and context.project is not None and context.project.owns(key) and key not in manager.overridden


def _overridden(key: ObjectKey, wins: bool, manager: CatalogManager, context: StatementContext) -> list[str]:
    """Note that the session has its own ``key`` now: a second CREATE of it fails, as in Flink."""
    manager.overridden.add(key)
    if not wins or context.save or context.project is None:
        return []
    file = context.project.shown(context.project.sources[key].file)
    return [f"{key.path.quoted} of {file} is replaced by this script's own definition."]


def _create_table(manager: CatalogManager, node: ast.CreateTable, context: StatementContext) -> list[str]:
    path = manager.path(declare.names_of(node.this), node.this)
    key = ObjectKey("RELATION", path)
    temporary, exists = node.temporary, node.if_not_exists
    present = manager.temporary.get(path) if temporary else manager.permanent(path, node.this)
    wins = not temporary and _overrides(key, manager, context)
    replaces = node.or_replace
    if present is not None and exists and not wins and not replaces:
        return []
    if replaces and not node.or_create and present is None:
        raise ValidationError(
            f"The table {path.quoted} to be replaced doesn't exist. You can try to use CREATE TABLE AS statement or "
            "CREATE OR REPLACE TABLE AS statement.",
            at=node.this,
        )
    made = declare.table(node, path, manager, context.schema_of, context.scope)
    manager.create(made, if_not_exists=exists, replace_existing=wins or replaces, at=node.this)
    doubts = list(connectors.doubts(made.options))
    if temporary:
        return doubts
    return doubts + _overridden(key, wins, manager, context) + _saved(manager, key, made, context)


def _create_view(manager: CatalogManager, node: ast.CreateView, context: StatementContext) -> list[str]:
    path = manager.path(declare.names_of(node.this), node.this)
    key = ObjectKey("RELATION", path)
    temporary, exists = node.temporary, node.if_not_exists
    present = manager.temporary.get(path) if temporary else manager.permanent(path, node.this)
    wins = not temporary and _overrides(key, manager, context)
    if present is not None and exists and not wins:
        return []
    view = declare.view(node, path, manager, context.schema_of)
    manager.create(view, if_not_exists=exists, replace_existing=wins, at=node.this)
    if temporary:
        return []
    return _overridden(key, wins, manager, context) + _saved(manager, key, view, context)


def _create_function(manager: CatalogManager, node: ast.CreateFunction, context: StatementContext) -> list[str]:
    function = user_function(node, manager)
    key = ObjectKey("FUNCTION", lower_case_path(function.path))
    wins = not function.temporary and _overrides(key, manager, context)
    if not functions.create(manager, function, if_not_exists=node.if_not_exists, replace_existing=wins, at=node.this):
        return []
    if function.temporary:
        return []
    registered = replace(function, path=lower_case_path(function.path))
    return _overridden(key, wins, manager, context) + _saved(manager, key, registered, context)


def _create_catalog(manager: CatalogManager, node: ast.CreateCatalog, context: StatementContext) -> list[str]:
    name = declare.names_of(node.this)[-1]
    key = ObjectKey("CATALOG", ObjectPath(name, "", ""))
    fresh = name not in manager.catalogs
    manager.create_catalog(
        name,
        lambda: _opened(manager, name, options_of(node.options), text_of(node.comment), context, node.this),
        if_not_exists=node.if_not_exists or _overrides(key, manager, context),
        at=node.this,
    )
    manager.overridden.add(key)
    return _saved(manager, key, manager.catalogs[name], context) if fresh else []


def _opened(manager: CatalogManager, name: str, options: Mapping[str, str], comment: str | None, context: StatementContext, at: exp.Expr) -> Catalog:
    project = context.project.root if context.project is not None else None
    return types.opened(manager, name, options, comment, scope=context.scope, project=project, at=at)


def _create_database(manager: CatalogManager, node: ast.CreateDatabase, context: StatementContext) -> list[str]:
    names = declare.names_of(node.this)
    catalog, name = manager.database_path(names, "create", node.this)
    key = ObjectKey("DATABASE", ObjectPath(catalog, name, ""))
    from_project = context.script and context.project is not None and context.project.holds(key) and key not in manager.overridden
    exists = node.if_not_exists or from_project
    fresh = name not in manager.catalog(catalog, node.this).databases
    database = Database(text_of(node.comment), options_of(node.options))
    manager.create_database(names, database.comment, database.options, if_not_exists=exists, at=node.this)
    manager.overridden.add(key)
    return _saved(manager, key, database, context) if fresh else []


def _alter_table(manager: CatalogManager, node: ast.AlterTable, context: StatementContext) -> list[str]:
    path = manager.path(declare.names_of(node.this), node.this)
    table = manager.to_alter(path, Table, if_exists=node.if_exists, at=node.this)
    if table is None:
        return []
    assert isinstance(table, Table)
    action = node.action
    if isinstance(action, ast.RenameTo):
        return _rename(manager, table, action, context)
    altered = declare.without_places(_altered(table, action, context.scope), manager)
    manager.put(altered, node.this)
    return _saved(manager, ObjectKey("RELATION", path), altered, context)


def _rename(manager: CatalogManager, item: Table | View, action: ast.RenameTo, context: StatementContext) -> list[str]:
    if isinstance(item, View):
        refuse_circle(replace(item, path=item.path._replace(name=declare.names_of(action.this)[-1])), manager, action)
    renamed = manager.rename(item, declare.names_of(action.this)[-1], action)
    lines = _removed(ObjectKey("RELATION", item.path), context)
    return lines + _saved(manager, ObjectKey("RELATION", renamed.path), renamed, context)


def _altered(table: Table, action: exp.Expression, scope: Scope) -> Table:
    """``table`` after one ALTER TABLE action."""
    match action:
        case ast.AddComponents():
            return _changed(table, action, scope, adding=True)
        case ast.ModifyComponents():
            return _changed(table, action, scope, adding=False)
        case ast.DropComponents():
            return _dropped(table, action)
        case ast.RenameColumn():
            return alter.rename_column(table, action.this.name, action.args["to"].name, action)
        case ast.SetOptions():
            return alter.set_options(table, options_of(action.expressions))
        case ast.ResetOptions():
            return alter.reset_options(table, tuple(k.name for k in action.expressions), action)
    raise NotSupported("This ALTER TABLE is not supported.", at=action, hint="HELP ALTER TABLE shows what it can change.")


def _placed(node: exp.Expr) -> alter.Placed:
    assert isinstance(node, ast.PhysicalColumnDef | ast.MetadataColumnDef | ast.ComputedColumnDef)
    position = node.position
    if position is None:
        return alter.Placed(declare.column(node), at=node)
    return alter.Placed(declare.column(node), position.this is None, position.name or None, node)


def _changed(table: Table, action: exp.Expression, scope: Scope, *, adding: bool) -> Table:
    parts = components(action.expressions)
    kinds = (ast.PhysicalColumnDef, ast.ComputedColumnDef, ast.MetadataColumnDef)
    placed = tuple(_placed(n) for n in action.expressions if isinstance(n, kinds))
    changed = (alter.add_columns if adding else alter.modify_columns)(table, placed)
    for mark in parts.watermarks:
        at = parts.places["watermark", mark.column]
        if adding:
            present = f"{quote(changed.watermark.column)} AS {expression_text(changed.watermark.expression)}" if changed.watermark else ""
            changed = alter.add_watermark(changed, mark, present, at)
        else:
            changed = alter.modify_watermark(changed, mark, at)
        names = [c.name for c in changed.columns]
        if mark.column not in names:
            raise ValidationError(
                f"Invalid column name '{mark.column}' for rowtime attribute in watermark declaration. Available columns are: [{', '.join(names)}]",
                at=at,
            )
    for key in parts.keys:
        changed = (alter.add_key if adding else alter.modify_key)(changed, key, parts.places)
    if parts.distribution is not None:
        changed = (alter.add_distribution if adding else alter.modify_distribution)(changed, parts.distribution, action)
    return checked(changed, parts.places, scope=scope)


def _dropped(table: Table, action: ast.DropComponents) -> Table:
    match str(action.kind).upper():
        case "COLUMNS":
            return alter.drop_columns(table, tuple(c.name for c in action.expressions), action)
        case "PRIMARY KEY":
            return alter.drop_key(table, None, action)
        case "CONSTRAINT":
            return alter.drop_key(table, action.this.name, action)
        case "WATERMARK":
            return alter.drop_watermark(table, action)
        case "DISTRIBUTION":
            return alter.drop_distribution(table, action)
    raise NotSupported(
        "ALTER TABLE ... DROP PARTITION is not supported.",
        at=action,
        hint="Remove the partition where the data is stored.",
    )


def _alter_view(manager: CatalogManager, node: ast.AlterView, context: StatementContext) -> list[str]:
    path = manager.path(declare.names_of(node.this), node.this)
    view = manager.to_alter(path, View, at=node.this)
    assert isinstance(view, View)
    action = node.action
    if isinstance(action, ast.RenameTo):
        return _rename(manager, view, action, context)
    assert isinstance(action, ast.AsQuery)
    text = text_of(action.query_text) or ""
    altered = declare.checked_view(replace(view, query=action.this, text=text, columns=()), manager, context.schema_of)
    manager.put(altered, node.this)
    return _saved(manager, ObjectKey("RELATION", path), altered, context)


def _alter_catalog(manager: CatalogManager, node: ast.AlterCatalog, context: StatementContext) -> list[str]:
    name = declare.names_of(node.this)[-1]
    action = node.action
    manager.alter_catalog(
        name,
        lambda options: _opened(manager, name, options, None, context, node.this),
        set_options=options_of(action.expressions) if isinstance(action, ast.SetOptions) else None,
        reset=tuple(k.name for k in action.expressions) if isinstance(action, ast.ResetOptions) else None,
        comment=text_of(action.this) if isinstance(action, ast.SetComment) else None,
        at=node.this,
    )
    return _saved(manager, ObjectKey("CATALOG", ObjectPath(name, "", "")), manager.catalogs[name], context)


def _drop(manager: CatalogManager, node: ast.Drop, context: StatementContext) -> list[str]:
    names = declare.names_of(node.this)
    exists, temporary = node.if_exists, node.temporary
    match str(node.kind).upper():
        case "TABLE" | "VIEW" as word:
            path = manager.path(names, node.this)
            dropped = manager.drop(path, Table if word == "TABLE" else View, temporary=temporary, if_exists=exists, at=node.this)
            return _removed(ObjectKey("RELATION", path), context) if dropped and not temporary else []
        case "FUNCTION":
            system = node.system
            dropped = functions.drop(manager, names, temporary=temporary, system=system, if_exists=exists, at=node.this)
            return _removed(ObjectKey("FUNCTION", lower_case_path(manager.path(names))), context) if dropped and not temporary and not system else []
        case "DATABASE":
            catalog, name = manager.database_path(names, "drop", node.this)
            cascade = node.cascade
            paths = manager.drop_database(names, if_exists=exists, cascade=cascade, at=node.this)
            lines = [line for path in paths for kind in ("RELATION", "FUNCTION") for line in _removed(ObjectKey(kind, path), context)]
            return lines + _removed(ObjectKey("DATABASE", ObjectPath(catalog, name, "")), context)
        case "CATALOG":
            manager.drop_catalog(names[-1], if_exists=exists, at=node.this)
            return _removed(ObjectKey("CATALOG", ObjectPath(names[-1], "", "")), context)
    raise NotSupported(f"DROP {node.args['kind']} is not supported.", at=node, hint="HELP DROP shows what can be dropped.")


def _use(manager: CatalogManager, node: ast.Use) -> list[str]:
    match str(node.kind).upper():
        case "CATALOG":
            manager.use_catalog(declare.names_of(node.this)[-1], node.this)
        case "DATABASE":
            manager.use_database(declare.names_of(node.this), node.this)
        case _:
            for i, module in enumerate(node.expressions):
                if module.name != CORE:
                    raise ValidationError(f"No module with name '{module.name}' exists", at=module, hint=f"There is one: {CORE}.")
                if i:
                    raise ValidationError(f"Module '{module.name}' appears more than once", at=module)
    return []


def _module(node: ast.Module) -> list[str]:
    """Of Flink's modules ``core`` and ``state`` are always there. Raises for any other."""
    name = node.this.name
    if name == STATE and node.kind == "LOAD":
        return ["savepoint_metadata, the function of the module 'state', is always there."]
    raise _no_module(node, name)


def _no_module(node: ast.Module, name: str) -> SqlStreamError:
    if node.kind == "UNLOAD":
        if name == CORE:
            return NotSupported(
                "The core module can't be unloaded: its functions are always there.",
                at=node.this,
                hint="CREATE TEMPORARY SYSTEM FUNCTION puts one of your own in the place of a built-in function.",
            )
        return ValidationError(f"No module with name '{name}' exists", at=node.this, hint=f"There is one: {CORE}.")
    if name == CORE:
        return ValidationError(f"A module with name '{name}' already exists", at=node.this)
    return ValidationError(
        f"There is no module '{name}'. There is one: {CORE}.",
        at=node.this,
        hint="Functions of your own are Python files in udfs/.",
    )
