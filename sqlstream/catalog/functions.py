"""The user's functions in the namespaces: names are compared in lower case; temporary system functions come first.

Functions over the CatalogManager. What implements a function is not looked at here. Messages are Flink's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import AlreadyThere, NotSupported, ValidationError, listed_by

if TYPE_CHECKING:
    from sqlstream.catalog.entries import UserFunction
    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.sql.tables import ObjectPath

_LISTED = listed_by("SHOW USER FUNCTIONS")
_AGAIN = "DROP and CREATE it."


def find_function(manager: CatalogManager, parts: tuple[str, ...]) -> UserFunction | None:
    """The user's function that a call names; temporary system functions first, as in Flink."""
    if len(parts) == 1 and parts[0].lower() in manager.system_functions:
        return manager.system_functions[parts[0].lower()]
    if len(parts) > 3:
        return None
    path = _lower(manager.path(parts))
    database = manager.find_database(path.catalog, path.database)
    return manager.temporary_functions.get(path) or (database.functions.get(path.name) if database else None)


def names(manager: CatalogManager) -> list[str]:
    """Names of the user's functions that a query can write unqualified, sorted; one in two scopes counts once a
    scope."""
    database = manager.find_database(manager.current_catalog, manager.current_database)
    current = (manager.current_catalog, manager.current_database)
    scoped = set(database.functions if database else ()) | {p.name for p in manager.temporary_functions if p[:2] == current}
    return sorted([*manager.system_functions, *scoped])


def _lower(path: ObjectPath) -> ObjectPath:
    return path._replace(name=path.name.lower())


def create(
    manager: CatalogManager,
    function: UserFunction,
    *,
    if_not_exists: bool = False,
    replace_existing: bool = False,
    at: Any = None,
) -> bool:
    """CREATE FUNCTION; False where IF NOT EXISTS left an existing one in place."""
    path = _lower(function.path)
    if function.system:
        if path.name in manager.system_functions and not replace_existing:
            if if_not_exists:
                return False
            raise AlreadyThere(
                f"Could not register temporary system function. A function named '{function.path.name}' does already exist.",
                at=at,
            )
        manager.system_functions[path.name] = replace(function, path=path)
        return True
    if function.temporary:
        if path in manager.temporary_functions and not replace_existing:
            if if_not_exists:
                return False
            raise AlreadyThere(f"Could not register temporary catalog function. A function '{path}' does already exist.", at=at)
        manager.temporary_functions[path] = replace(function, path=path)
        return True
    if manager.catalog(path.catalog, at).store is not None:
        raise NotSupported(
            f"Catalog {path.catalog} keeps tables and views, and no functions.",
            at=at,
            hint="CREATE TEMPORARY FUNCTION lasts for the session; or write the name of another catalog and database in front.",
        )
    functions = manager.database_for(path, at).functions
    if path.name in functions and not replace_existing:
        if if_not_exists:
            return False
        raise AlreadyThere(f"Function {path.database}.{path.name} already exists in Catalog {path.catalog}.", at=at)
    functions[path.name] = replace(function, path=path)
    return True


def drop(
    manager: CatalogManager,
    parts: tuple[str, ...],
    *,
    temporary: bool = False,
    system: bool = False,
    if_exists: bool = False,
    at: Any = None,
) -> bool:
    """DROP [TEMPORARY [SYSTEM]] FUNCTION; False where IF EXISTS found nothing."""
    if system:
        if manager.system_functions.pop(parts[-1].lower(), None) is None and not if_exists:
            raise ValidationError(f"Could not drop temporary system function. A function named '{parts[-1]}' doesn't exist.", at=at, hint=_LISTED)
        return True
    path = _lower(manager.path(parts, at))
    if temporary:
        if manager.temporary_functions.pop(path, None) is None and not if_exists:
            raise ValidationError(f"Temporary catalog function {path.quoted} doesn't exist", at=at, hint=_LISTED)
        return True
    manager.catalog(path.catalog, at)
    functions = _scope(manager, path)
    if path.name in functions:
        del functions[path.name]
        return True
    if if_exists:
        return False
    raise _missing(path, at)


def alter(manager: CatalogManager, function: UserFunction, *, if_exists: bool = False, at: Any = None) -> bool:
    """ALTER FUNCTION."""
    if function.system:
        raise ValidationError("Alter temporary system function is not supported", at=at, hint=_AGAIN)
    if function.temporary:
        raise ValidationError("Alter temporary catalog function is not supported", at=at, hint=_AGAIN)
    path = _lower(function.path)
    functions = _scope(manager, path)
    if path.name not in functions:
        if if_exists:
            return False
        raise _missing(path, at)
    functions[path.name] = replace(function, path=path)
    return True


def _scope(manager: CatalogManager, path: ObjectPath) -> dict[str, UserFunction]:
    database = manager.find_database(path.catalog, path.database)
    return database.functions if database else {}


def _missing(path: ObjectPath, at: Any = None) -> ValidationError:
    """The error for a permanent function that is not there."""
    return ValidationError(f"Function {path.database}.{path.name} does not exist in Catalog {path.catalog}.", at=at, hint=_LISTED)
