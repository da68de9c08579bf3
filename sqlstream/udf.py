"""Python functions of the user's: CREATE FUNCTION f AS 'module.attribute' LANGUAGE PYTHON.

A module is a file in the project's folder ``udfs``, or in the project itself, or whatever Python can import. A table function is a generator
(or returns a list) and says in its annotations what it takes and gives::

    def words(text: str, least: int) -> Iterator[tuple[str, int]]: ...

The columns are called f0, f1, ..., or as the fields of a NamedTuple are. NULL is None.
"""

from __future__ import annotations

import collections.abc
import datetime
import importlib
import importlib.util
import inspect
import typing
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from sqlstream.errors import NotSupported, ValidationError
from sqlstream.sql import types as t
from sqlstream.sql.coercion import implicitly_castable
from sqlstream.sql.functions import Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from types import ModuleType

    from sqlstream.catalog.entries import UserFunction
    from sqlstream.sql.functions.base import Rendered, Types
    from sqlstream.sql.types import Type

_TYPES: dict[Any, Type] = {
    str: t.STRING, int: t.BIGINT, float: t.DOUBLE, bool: t.BOOLEAN, bytes: t.BYTES, Decimal: t.decimal(38, 18), datetime.date: t.DATE,
}  # fmt: skip
_MANY = (collections.abc.Iterator, collections.abc.Iterable, collections.abc.Generator, collections.abc.Sequence, list)


@dataclass(frozen=True, eq=False)
class TableFunction(Function):
    """A function that gives rows: in a plan it is a call that gives an ARRAY of them. ``evaluate`` makes it, of Python values.

    ``module`` is that of the user's, where its code must travel with the function.
    """

    evaluate: Callable[..., list[tuple[Any, ...]]] = list
    module: ModuleType | None = None


def table_function(declared: UserFunction, project: Path, at: Any = None) -> TableFunction:
    """The table function that ``declared`` names. Raises ValidationError, NotSupported."""
    name = declared.path.name.upper()
    if declared.language != "PYTHON":
        raise NotSupported(f"Functions in {declared.language} are not supported.", at=at, hint="Write it in Python: LANGUAGE PYTHON.")
    module, _, attribute = declared.identifier.rpartition(".")
    found, own = _module(module, project, at)
    function = getattr(found, attribute, None)
    if not callable(function):
        raise ValidationError(f"'{declared.identifier}' is no function: the module '{module}' has none of this name.", at=at)
    hints = typing.get_type_hints(function)
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    if unknown := next((p.name for p in parameters if hints.get(p.name) not in _TYPES and _plain(hints.get(p.name)) not in _TYPES), None):
        known = ", ".join(k.__name__ for k in _TYPES)
        raise NotSupported(f"The parameter '{unknown}' of '{declared.identifier}' needs an annotation: one of {known}.", at=at)
    takes = tuple(_TYPES[_plain(hints[p.name])] for p in parameters)
    gives = _row(hints.get("return"))
    if gives is None:
        raise NotSupported(
            f"'{declared.identifier}' is no table function: scalar functions of the user's are not supported yet.",
            at=at, hint="A table function is annotated to give Iterator[tuple[str, int]], or the like.",
        )  # fmt: skip
    return TableFunction(
        name, ("any",) * len(takes), lambda _: t.array(gives.not_null()), partial(_call, name), f"Python's {declared.identifier}.",
        coerce=partial(_coerced, takes), evaluate=partial(_rows, function), module=found if own else None,
    )  # fmt: skip


def _plain(hint: Any) -> Any:
    """``int`` of ``int | None``."""
    others = [a for a in typing.get_args(hint) if a is not type(None)]
    return others[0] if len(others) == 1 and len(typing.get_args(hint)) == 2 and type(None) in typing.get_args(hint) else hint


def _row(hint: Any) -> Type | None:
    """The ROW of which a function with the annotation ``hint`` gives many; None where it gives something else."""
    if typing.get_origin(hint) not in _MANY:
        return None
    element = typing.get_args(hint)[0]
    if hasattr(element, "_fields"):
        parts = typing.get_type_hints(element)
    else:
        parts = {f"f{i}": part for i, part in enumerate(typing.get_args(element) if typing.get_origin(element) is tuple else (element,))}
    if any(_plain(part) not in _TYPES for part in parts.values()):
        return None
    return t.row(tuple(parts), tuple(_TYPES[_plain(part)] for part in parts.values()))


def _rows(function: Callable[..., Iterable[Any] | None], *args: Any) -> list[tuple[Any, ...]]:
    return [row if isinstance(row, tuple) else (row,) for row in function(*args) or ()]


def _call(name: str, call: Rendered) -> str:
    return f"{spark_name(name)}({', '.join(call.args)})"


def spark_name(name: str) -> str:
    """What the function ``name`` is called in Spark SQL."""
    return t.quote(f"sqlstream_{name.lower()}")


def _coerced(takes: Types, given: Types) -> Types | None:
    fits = len(takes) == len(given) and all(implicitly_castable(a, b) for a, b in zip(given, takes, strict=True))
    return takes if fits else None


def _module(name: str, project: Path, at: Any) -> tuple[ModuleType, bool]:
    """The module, and whether it is of the project."""
    relative = name.replace(".", "/") + ".py"
    try:
        for path in (project / "udfs" / relative, project / relative):
            if path.is_file():
                return _loaded(name, path, path.stat().st_mtime_ns), True
        return importlib.import_module(name), False
    except Exception as error:  # whatever the user's module raises
        raise ValidationError(f"The module '{name}' cannot be imported: {error}", at=at, hint=f"It is looked for in {project / 'udfs'}.") from error


@lru_cache
def _loaded(name: str, path: Path, modified: int) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
