"""The user's functions as queries find them: by name, where the catalog says what a name is and the modules what it does."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlstream.catalog import functions as catalog
from sqlstream.catalog.entries import UserFunction
from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.sql import functions
from sqlstream.sql.functions import Function
from sqlstream.sql.tables import ObjectPath
from sqlstream.udf.api import FunctionKind
from sqlstream.udf.declarations.functions import PythonFunction, plan_name, python_function
from sqlstream.udf.declarations.java import JavaFunction, java_function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.udf.declarations.functions import FunctionSettings
    from sqlstream.udf.declarations.java import JavaFunctions
    from sqlstream.udf.declarations.modules import Modules

UserFunctionRow = PythonFunction | JavaFunction


class UserFunctions(Mapping[str, Function]):
    """What the names of functions mean besides built-in ones, in the order of Flink: temporary system functions, built-in ones, those of the
    catalog. A name without a usable function raises its error. ``notices`` hear of those of the catalog that a built-in one takes the place of.
    """

    def __init__(
        self, manager: CatalogManager, modules: Modules, java: JavaFunctions, settings: FunctionSettings, notices: list[str] | None = None
    ) -> None:
        self._manager = manager
        self._modules = modules
        self._java = java
        self._settings = settings
        self._notices = [] if notices is None else notices

    def __getitem__(self, name: str) -> UserFunctionRow:
        function = self._named(name)
        if function is None:
            raise KeyError(name)
        if function.kind is FunctionKind.TABLE:
            hint = f"Write FROM t, LATERAL TABLE({function.name}(..))."
            raise ValidationError(f"{function.name} is a table function: it belongs in FROM.", hint=hint)
        return function

    def __iter__(self) -> Iterator[str]:
        return iter(catalog.names(self._manager))

    def __len__(self) -> int:
        return len(catalog.names(self._manager))

    def table(self, at: Any, name: str) -> UserFunctionRow | None:
        """The table function ``name``; None where there is no function of the user's. Raises ValidationError."""
        function = self._named(name, at)
        if function is not None and function.kind is not FunctionKind.TABLE:
            raise ValidationError(
                f"{function.name} is not a table function: it can't be used in FROM.", at=at, hint=f"Write SELECT {function.name}(..)."
            )
        return function

    def line(self, name: str) -> str:
        """What completion shows beside a name."""
        try:
            function = self._named(name)
        except SqlStreamError as error:  # the full error is raised when the function is called
            return error.message
        return f"your function: {function.signature}: {function.summary}" if function is not None else "of yours"

    def rows(self) -> list[UserFunctionRow]:
        """Those that are right."""
        usable = []
        for name in self:
            with suppress(SqlStreamError):  # the error is raised when it is called
                usable.append(self._named(name))
        return [f for f in usable if f is not None]

    def described(self, declared: UserFunction, at: Any = None) -> UserFunctionRow:
        """What ``declared`` is. Raises ValidationError, NotSupported."""
        if declared.language == "PYTHON":
            return python_function(declared, self._modules, self._settings, at)
        return java_function(plan_name(declared.path.name), declared, self._java, self._settings, at)

    def _named(self, name: str, at: Any = None) -> UserFunctionRow | None:
        parts = tuple(name.split("."))
        plain = len(parts) == 1
        if plain and name.lower() not in self._manager.system_functions:
            if functions.find(name) is not None:
                if (hidden := catalog.find_function(self._manager, parts)) is not None:
                    self._notices.append(
                        f"{name.upper()} is the built-in function, as in Flink, and not {hidden.path.quoted}: call that by its whole name."
                    )
                return None
            if (twice := self._modules.twice.get(name.lower())) is not None:
                raise ValidationError(twice.message, at=at, hint=twice.hint)
        declared = catalog.find_function(self._manager, parts)
        return None if declared is None else self.described(declared, at)


def register_functions(manager: CatalogManager, modules: Modules, before: Mapping[str, UserFunction]) -> dict[str, UserFunction]:
    """Make the functions of ``modules`` temporary system functions, in the place of those of ``before``; what a statement has created stays."""
    known = manager.system_functions
    for name, declared in before.items():
        if known.get(name) is declared:
            del known[name]
    placed = {
        name: UserFunction(ObjectPath("", "", name), module_function.identifier, "PYTHON", temporary=True, system=True)
        for name, module_function in modules.functions.items()
        if name not in known
    }
    known.update(placed)
    return placed
