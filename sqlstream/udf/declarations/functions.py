"""A function of a module as a row of the function table: what the binder, HELP and the plan see of it."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha1
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import SqlStreamError
from sqlstream.core.secrets import is_secret
from sqlstream.sql import types as t
from sqlstream.sql.coercion import implicitly_castable
from sqlstream.sql.expressions import AggregateCall, Call
from sqlstream.sql.functions import Function
from sqlstream.sql.functions.aggregates import accumulated
from sqlstream.sql.quoting import quote
from sqlstream.sql.text import sql_name
from sqlstream.udf.api import GENERAL, Declared, FunctionKind
from sqlstream.udf.declarations.signature import Signature, signature
from sqlstream.udf.worker.concurrent import Calls

if TYPE_CHECKING:
    from sqlstream.catalog.entries import UserFunction
    from sqlstream.sql.expressions import Expr
    from sqlstream.sql.functions.base import Rendered, Types
    from sqlstream.sql.types import Type
    from sqlstream.udf.declarations.java import JavaFunction
    from sqlstream.udf.declarations.modules import ModuleFunction, Modules


@dataclass(frozen=True)
class FunctionSettings:
    """What of the session's options a function's run depends on: the job's parameters, where rows are kept for which it fails, in words,
    and how calls wait. Where that is nowhere the job fails.
    """

    parameters: tuple[tuple[str, str], ...] = ()
    dead_letters: str = ""
    calls: Calls = field(default_factory=Calls)


@dataclass(frozen=True, eq=False)
class PythonFunction(Function):
    """A function in Python. ``found`` is where it comes from, ``modules`` those that travel with it; ``version`` is that of the modules.

    A table function returns an ARRAY of its rows.
    """

    found: ModuleFunction = field(kw_only=True)
    of: Signature = field(kw_only=True)
    modules: Modules = field(kw_only=True)
    version: int = 0
    settings: FunctionSettings = FunctionSettings()

    @property
    def kind(self) -> FunctionKind:
        return self.found.declared.kind

    @property
    def group(self) -> str:
        return self.kind.value

    @property
    def details(self) -> str:
        _, _, rest = _docstring(self.found.declared).partition("\n\n")
        result = self.of.result
        columns = ", ".join(f"{n} {c.full}" for n, c in zip(result.names, result.children, strict=True)) if self.kind is FunctionKind.TABLE else ""
        kind = self.kind.value.lower().replace("_", " ")
        gives = f"rows of {columns}" if columns else result.full
        return f"{rest}\n\nA{'n' if kind[0] == 'a' else ''} {kind} function, which returns {gives}. Defined at {self.found.place}.".strip()

    @property
    def signature(self) -> str:
        shown = (f"{p.name}{'?' if p.optional else ' ...' if p.repeated else ''} {p.type or 'ANY'}" for p in self.of.parameters)
        return f"{self.name}({', '.join(shown)})"

    @property
    def forms(self) -> list[str]:
        return [f"'{self.name}({', '.join('<ANY>' if p.type is None else f'<{sql_name(p.type)}>' for p in self.of.parameters)})'"]

    def arguments(self, count: int) -> tuple[str, ...]:
        """The names of the parameters that ``count`` arguments are for."""
        names = [p.name for p in self.of.parameters]
        return tuple(names[min(i, len(names) - 1)] if names else f"arg{i}" for i in range(count))

    def secrets(self, columns: tuple[str, ...]) -> tuple[bool, ...]:
        """Which of the arguments, that read columns of these names, must never be printed."""
        return tuple(is_secret(name) or is_secret(column) for name, column in zip(self.arguments(len(columns)), columns, strict=True))

    def accumulates(self, _types: Types, *, updates: bool) -> bool:
        """Whether an accumulator can replace the rows of a group, which are also retracted if it ``updates``."""
        declared = self.found.declared
        return declared.func_type == GENERAL and (declared.retracts or not updates)

    @cached_property
    def accumulator(self) -> Accumulator:
        """What keeps its accumulators. One function a row, so that calls are equal."""
        return accumulator(self)

    def spark_name(self, types: Types, zone: str) -> str:
        """What a call with arguments of ``types`` is in Spark SQL: another version of the function has another name."""
        key = repr((self.found.identifier, self.version, str(id(self.modules)), [x.full for x in types], zone, self.settings))
        # Spark takes no other letters in the name of a function.
        return f"sqlstream_{re.sub('[^a-z0-9_]', '', self.found.attribute.lower())}_{sha1(key.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, eq=False)
class Accumulator(Function):
    """The aggregate that a group's rows are for ``of``, an aggregate function: its accumulator, and the rows that are not in it yet."""

    of: PythonFunction | JavaFunction = field(kw_only=True)

    def kept(self, rows: Type) -> Type:
        """What it keeps of ``rows``, an ARRAY: the accumulator (NULL at first), and rows preceded by 1 or -1 (one that is retracted)."""
        (row,) = rows.children
        signed = t.row(("sign", *row.names), (t.TINYINT.not_null(), *row.children)).not_null()
        return t.row(("accumulator", "rows"), (t.BYTES, t.array(signed).not_null())).not_null()


def accumulator(of: PythonFunction | JavaFunction) -> Accumulator:
    """What keeps the accumulators of a function."""
    return Accumulator("ACCUMULATOR", ("any*",), lambda _: t.NULL, accumulated, "", aggregate=True, signed=accumulated, of=of)


def rows_of_group(types: Types, columns: tuple[str, ...]) -> Type:
    """What an aggregate function gets of a group: the arguments, of ``types`` and over these columns, as the fields of its rows."""
    names = (f"{i} {column}".strip() for i, column in enumerate(columns))
    return t.array(t.row(tuple(names), types).not_null()).not_null()


def calls_python(expr: Expr) -> bool:
    """Whether a function in Python is called in ``expr``."""
    return any(isinstance(e, Call | AggregateCall) and isinstance(e.function, PythonFunction) for e in expr.walk())


def keeps_failures(expr: Expr) -> bool:
    """Whether ``expr`` is a call whose failing rows are kept and left out: then it is a column of its own."""
    return isinstance(expr, Call) and isinstance(expr.function, PythonFunction) and bool(expr.function.settings.dead_letters)


def python_function(declared: UserFunction, modules: Modules, settings: FunctionSettings, at: Any = None) -> PythonFunction:
    """The function that ``declared`` names. Raises ValidationError, NotSupported."""
    name = plan_name(declared.path.name)
    # One row a function: calls of it are equal.
    key = (name, declared.identifier, modules.version, settings)
    if key not in modules.rows:
        module_function = modules.named(declared.identifier, at)
        try:
            modules.rows[key] = _row(name, module_function, signature(module_function.declared, module_function.identifier), modules, settings)
        except SqlStreamError as error:
            message = f"{error.message.removesuffix('.')}, at {module_function.place}."
            raise type(error)(message, at=at, hint=error.hint) from error
    row = modules.rows[key]
    assert isinstance(row, PythonFunction)
    return row


def row_of(function: ModuleFunction, modules: Modules, settings: FunctionSettings) -> PythonFunction:
    """A function of a module, under its own name. Raises ValidationError, NotSupported."""
    name = plan_name(function.declared.name or function.attribute)
    return _row(name, function, signature(function.declared, function.identifier), modules, settings)


def plan_name(name: str) -> str:
    """The name as plans and messages write it: in upper case, but for one that upper case makes another, as straße."""
    return name.upper() if name.upper().lower() == name.lower() else name.lower()


def _row(name: str, found: ModuleFunction, of: Signature, modules: Modules, settings: FunctionSettings) -> PythonFunction:
    declared = found.declared
    result = t.array(of.result.not_null()) if declared.kind is FunctionKind.TABLE else of.result
    params = tuple(f"any{'*' if p.repeated else '?' if p.optional else ''}" for p in of.parameters)
    aggregate = declared.kind in (FunctionKind.AGGREGATE, FunctionKind.TABLE_AGGREGATE)
    # Nothing is left out of a group whose value fails: later rows may replace it.
    settings = replace(settings, dead_letters="") if aggregate else settings
    row = PythonFunction(
        name, params, lambda _: result, "", _documented(declared), aggregate=aggregate, coerce=partial(_coerced, of),
        deterministic=declared.deterministic, found=found, of=of, modules=modules, version=modules.version, settings=settings,
    )  # fmt: skip
    kept = settings.dead_letters
    notice = f"Rows for which {name} fails are left out, and kept in {kept}." if kept else None
    return replace(row, spark=partial(_rendered, row), check=partial(_problem, row), notice=(lambda _: notice) if notice else None)


def _docstring(declared: Declared) -> str:
    """What the user has written of a function; nothing that a class of it has of its base."""
    of = declared.function if inspect.isroutine(declared.function) else type(declared.function)
    return inspect.cleandoc(of.__doc__ or declared.body.__doc__ or "")


def _documented(declared: Declared) -> str:
    text = _docstring(declared)
    return " ".join(text.split("\n\n")[0].split()) or f"Python's {declared.__module__}.{getattr(declared, '__name__', '')}."


def _rendered(row: PythonFunction, call: Rendered) -> str:
    # Spark calls no function of columns without one.
    return f"{quote(row.spark_name(call.types, call.zone))}({', '.join(call.args) or '0'})"


def _problem(row: PythonFunction, types: Types, _values: tuple[Any, ...]) -> str | None:
    if row.kind is FunctionKind.TABLE_AGGREGATE:
        return f"{row.name} can't be called: SQL has no call of table aggregate functions, in Flink either."
    foreign = next((x for type_ in types for x in type_.parts if x.root in ("VARIANT", "INTERVAL_MONTHS", "MULTISET")), None)
    return f"{row.name} can't be called: values of type {foreign} are not passed to Python." if foreign else None


def _coerced(of: Signature, argument_types: Types) -> Types | None:
    parameters = of.parameters
    least = sum(1 for p in parameters if not (p.optional or p.repeated))
    if len(argument_types) < least or (len(argument_types) > len(parameters) and not (parameters and parameters[-1].repeated)):
        return None
    takes = [parameters[min(i, len(parameters) - 1)].type for i in range(len(argument_types))]
    if any(wanted is not None and not implicitly_castable(a, wanted) for a, wanted in zip(argument_types, takes, strict=True)):
        return None
    return tuple(_argument(a, wanted) for a, wanted in zip(argument_types, takes, strict=True))


def _argument(argument_type: Type, wanted: Type | None) -> Type:
    if wanted is not None:
        # To Python a text is a text, however long.
        alike = (argument_type.is_string and wanted.is_string) or (argument_type.is_binary and wanted.is_binary)
        return argument_type if alike else wanted.null()
    return t.STRING if argument_type.root == "NULL" else argument_type
