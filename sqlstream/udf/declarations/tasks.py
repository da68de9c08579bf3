"""A call of a function as what the workers are sent: its pickle, with what of the project's modules it needs, and its types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError
from sqlstream.udf.api import FunctionKind
from sqlstream.udf.worker.groups import row_of
from sqlstream.udf.worker.task import Task

if TYPE_CHECKING:
    from sqlstream.sql.functions.base import Types
    from sqlstream.sql.types import Type
    from sqlstream.udf.declarations.functions import PythonFunction


def task(function: PythonFunction, arguments: Types, result: Type, zone: str, columns: tuple[str, ...]) -> Task:
    """The call of ``function`` with ``arguments`` that read the columns of these names. Raises ValidationError."""
    if function.kind is FunctionKind.AGGREGATE:
        columns = row_of(arguments[0]).names
    return Task(
        function.name,
        pickled(function),
        function.found.declared.func_type,
        arguments,
        result,
        zone,
        function.settings.parameters,
        function.secrets(columns),
        rows=function.kind is FunctionKind.TABLE,
        keeps_failures=bool(function.settings.dead_letters),
        sources=function.modules.sources,
        aggregate=function.kind is FunctionKind.AGGREGATE,
        calls=function.settings.calls if function.found.declared.waits else None,
    )


def pickled(function: PythonFunction) -> bytes:
    """The function, by value where its modules are the project's: workers have no such files. Raises ValidationError."""
    from pyspark import cloudpickle

    with function.modules.by_value():
        try:
            return cloudpickle.dumps(function.found.declared.function)  # type: ignore[no-any-return, no-untyped-call]
        except Exception as error:  # whatever an object of the user's raises
            problem = f"The Python function {function.name} can't be sent to Spark's workers: {type(error).__name__}: {error}"
            raise ValidationError(problem, hint="Create what can't be pickled in open().") from error
