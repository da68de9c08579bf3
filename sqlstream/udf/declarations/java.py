"""A function in Java, written for Flink, as a row of the function table. What it takes and gives, Flink's own type inference says."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.sql import types as t
from sqlstream.sql.functions import Function
from sqlstream.sql.functions.base import VARIES
from sqlstream.sql.quoting import spark_string
from sqlstream.udf.api import FunctionKind
from sqlstream.udf.declarations.functions import accumulator
from sqlstream.udf.declarations.signature import type_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sqlstream.catalog.entries import UserFunction
    from sqlstream.sql.functions.base import Rendered, Types
    from sqlstream.sql.types import Type
    from sqlstream.udf.declarations.functions import Accumulator, FunctionSettings

_KINDS = {"SCALAR": FunctionKind.SCALAR, "ASYNC_SCALAR": FunctionKind.SCALAR, "TABLE": FunctionKind.TABLE, "AGGREGATE": FunctionKind.AGGREGATE}
_LITERALS = (bool, int, str)
_PYTHON = "Write it in Python: HELP PYTHON."


class JavaFunctions(Protocol):
    """The functions in the jars of a project. ``rows`` has those that are known."""

    rows: dict[Any, JavaFunction]

    def jars(self, declared: UserFunction, at: Any = None) -> tuple[Path, ...]:
        """The user's jars that have ``declared``: copies, whose names say what is in them. Raises ValidationError."""
        ...

    def ask(
        self, jars: Sequence[Path], implementation: str, name: str, arguments: Sequence[str] | None, literals: Sequence[Any]
    ) -> Mapping[str, Any]:  # fmt: skip
        """What the class ``implementation`` is, and of a call with ``arguments``, types as SQL writes them, what it takes and gives.

        ``literals`` are the values of constant arguments, None for others. In the answer ``error`` is what is wrong with it. Raises SetupError.
        """
        ...

    @property
    def own_jars(self) -> Sequence[Path]:
        """The jars that call functions: Flink's, and ours."""
        ...


@dataclass(frozen=True, eq=False)
class JavaFunction(Function):
    """A scalar function, a table function, which returns an ARRAY of its rows, or an aggregate function, which runs on an ARRAY of the rows of a
    group, of the class ``implementation`` in ``jars``.
    """

    functions: JavaFunctions = field(kw_only=True)
    implementation: str = field(kw_only=True)
    jars: tuple[Path, ...] = field(kw_only=True)
    kind: FunctionKind = field(kw_only=True)
    # As Flink writes them, a line each.
    signatures: tuple[str, ...] = field(kw_only=True)
    settings: FunctionSettings = field(kw_only=True)

    @property
    def group(self) -> str:
        return self.kind.value

    @property
    def signature(self) -> str:
        return ", ".join(self.signatures)

    @property
    def forms(self) -> list[str]:
        return [f"'{form}'" for form in self.signatures]

    def answer(self, types: Types, values: Sequence[Any] = ()) -> Mapping[str, Any]:
        """What it takes and gives for arguments of ``types``, of which constant ones have ``values``."""
        literals = _literals(values) if values else [None] * len(types)
        return self.functions.ask(self.jars, self.implementation, self.name, [x.full for x in types], literals)

    def takes(self, types: Types) -> Types | None:
        """The types of parameters for arguments of ``types``; None where it takes no such."""
        answer = self.answer(types)
        if "error" in answer:
            # What is wrong with its result is said afterwards.
            return None if answer["error"].startswith("Invalid ") else types
        return tuple(type_named(x) for x in answer["arguments"])

    def gives(self, types: Types, values: tuple[Any, ...]) -> Type:
        """The type of its value."""
        result = type_named(self.answer(types, values)["result"])
        return t.array(result.not_null()).not_null() if self.kind is FunctionKind.TABLE else result

    def problem(self, types: Types, values: tuple[Any, ...]) -> str | None:
        """Why it can't be called with these."""
        error = self.answer(types, values).get("error")
        foreign = next((x for type_ in types for x in type_.parts if x.root == "VARIANT"), None)
        if foreign is not None:
            return f"{self.name} can't be called: values of type {foreign} are not passed to Java."
        return None if error is None else f"{self.name} can't be called: {' '.join(error.split())}"

    def accumulates(self, types: Types, *, updates: bool) -> bool:
        """Whether an accumulator of arguments of ``types`` can replace the rows of a group, which are also retracted if it ``updates``."""
        answer = self.answer(types)
        return bool(answer.get("accumulates")) and (bool(answer["retracts"]) or not updates)

    @cached_property
    def accumulator(self) -> Accumulator:
        """What keeps its accumulators. One function a row, so that calls are equal."""
        return accumulator(self)

    def call(self, rendered: Rendered) -> str:
        """A call as Spark SQL."""
        if not self.aggregate:
            return self._called(self.told(rendered.types, rendered.values, rendered.type), rendered.args)
        (group,) = rendered.types
        return self._called(self.of_group(group, rendered.type), rendered.args)

    def of_group(self, group: Type, result: Type) -> str:
        """What the JVM is told of a call with a group: all its rows, or an accumulator and the rows that are not in it yet."""
        accumulates = group.root == "ROW"
        rows = group.children[1] if accumulates else group
        types = rows.children[0].children[1 if accumulates else 0 :]
        return self.told(types, (VARIES,) * len(types), result, accumulates=accumulates)

    def told(self, types: Types, values: Sequence[Any], result: Type, *, accumulates: bool = False) -> str:
        """What the JVM is told of a call with arguments of ``types``, of which constant ones have ``values``; see JavaCall and FlinkFunction."""
        call = {
            "jars": [str(jar) for jar in self.jars], "implementation": self.implementation, "name": self.name,
            "arguments": [x.full for x in types], "literals": _literals(values), "parameters": dict(self.settings.parameters),
            "timeout": self.settings.calls.timeout, "accumulates": accumulates,
        }  # fmt: skip
        return json.dumps({
            "jars": [str(jar) for jar in self.functions.own_jars], "name": self.name, "result": result.spark,
            "deterministic": self.deterministic, "call": json.dumps(call),
        })  # fmt: skip

    def _called(self, told: str, arguments: Sequence[str]) -> str:
        return f"sqlstream_java({', '.join((spark_string(told), *arguments))})"


def _literals(values: Sequence[Any]) -> list[Any]:
    return [value if value is not VARIES and isinstance(value, _LITERALS) else None for value in values]


def java_function(name: str, declared: UserFunction, functions: JavaFunctions, settings: FunctionSettings, at: Any = None) -> JavaFunction:
    """The function that ``declared`` names, called ``name``. Raises ValidationError, NotSupported, SetupError."""
    jars = functions.jars(declared, at)
    key = (name, declared.identifier, jars, settings)
    if key in functions.rows:
        return functions.rows[key]
    answer = functions.ask(jars, declared.identifier, name, None, ())
    if "error" in answer:
        raise ValidationError(
            f"The function '{declared.identifier}': {answer['error']}", at=at, hint="USING JAR 'file.jar' names the jar that has it."
        )
    kind = _KINDS.get(answer["kind"])
    if kind is None:
        shown = answer["kind"].lower().replace("_", " ")
        raise NotSupported(f"Functions in Java of the kind {shown} are not supported.", at=at, hint=_PYTHON)
    bare = JavaFunction(
        name, ("any*",), lambda _: t.NULL, "", f"Java's {declared.identifier}.", deterministic=answer["deterministic"],
        aggregate=kind is FunctionKind.AGGREGATE,
        functions=functions, implementation=declared.identifier, jars=jars, kind=kind, signatures=tuple(answer["signature"].splitlines()),
        settings=settings,
    )  # fmt: skip
    # One row a function: calls of it are equal.
    return functions.rows.setdefault(key, replace(bare, coerce=bare.takes, sized=bare.gives, check=bare.problem, spark=bare.call))
