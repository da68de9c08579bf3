"""What a module of functions imports: the decorators and the classes, called as pyflink calls them. It runs in Spark's workers too."""

from __future__ import annotations

import functools
import inspect
import sys
from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

GENERAL, PANDAS, ARROW = "general", "pandas", "arrow"
# What the user's code raises: sys.exit, too.
RAISED = (Exception, SystemExit)


class FunctionContext:
    """The argument of ``open``: the parameters of the job, which ``SET 'pipeline.global-job-parameters' = 'key:value,..'`` declares."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._parameters = dict(parameters)

    def get_job_parameter(self, key: str, default_value: str | None = None) -> str | None:
        """The parameter ``key``, or the default."""
        return self._parameters.get(key, default_value)


class UserDefinedFunction(ABC):  # noqa: B024  (its subclasses say what is called)
    """Base of functions that are objects: made where the module is loaded, opened once in each worker."""

    def open(self, function_context: FunctionContext) -> None:
        """Called before the first row: the place to load a model."""

    def close(self) -> None:
        """Called when the worker ends, unless it is killed."""

    def is_deterministic(self) -> bool:
        """Whether the same arguments return the same value."""
        return True


class ScalarFunction(UserDefinedFunction):
    """A value for the values of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """The value."""


class AsyncScalarFunction(UserDefinedFunction):
    """A value for the values of a row; several calls are awaited at the same time."""

    @abstractmethod
    async def eval(self, *args: Any) -> Any:
        """The value."""


class TableFunction(UserDefinedFunction):
    """Any number of rows for the values of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """An iterable of rows, or a generator of them."""


class AggregateFunction(UserDefinedFunction):
    """A value for the rows of a group, kept in an accumulator."""

    @abstractmethod
    def create_accumulator(self) -> Any:
        """The accumulator of no rows."""

    @abstractmethod
    def accumulate(self, accumulator: Any, *args: Any) -> None:
        """Take a row in."""

    @abstractmethod
    def get_value(self, accumulator: Any) -> Any:
        """The value of the accumulated rows."""

    def retract(self, accumulator: Any, *args: Any) -> None:
        """Retract a row that was accumulated before."""
        raise NotImplementedError("retract")

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        """Merge other accumulators into this one."""
        raise NotImplementedError("merge")

    def get_result_type(self) -> Any:
        """The type of the value, where the decorator does not say it."""
        return None

    def get_accumulator_type(self) -> Any:
        """The type of the accumulator, where the decorator does not say it."""
        return None


class TableAggregateFunction(AggregateFunction):
    """Any number of rows for the rows of a group. SQL has no call of one, Flink's neither."""

    def get_value(self, accumulator: Any) -> Any:
        raise NotImplementedError("get_value")

    @abstractmethod
    def emit_value(self, accumulator: Any) -> Any:
        """The rows of the group."""


class FunctionKind(Enum):
    """What a function returns."""

    SCALAR = "SCALAR"
    TABLE = "TABLE"
    AGGREGATE = "AGGREGATE"
    TABLE_AGGREGATE = "TABLE_AGGREGATE"


class Declared:
    """A function with what its decorator says of it: types as they were written, resolved where a statement is planned.

    A call is one of the plain Python function.
    """

    def __init__(
        self,
        kind: FunctionKind,
        function: Any,
        *,
        inputs: Any = None,
        result: Any = None,
        accumulator: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
        func_type: str = GENERAL,
        frame: Any = None,
    ) -> None:
        function = function() if inspect.isclass(function) else function
        if not callable(function) and not isinstance(function, UserDefinedFunction):
            raise TypeError(f"{function!r} is not a function")
        if func_type not in (GENERAL, PANDAS, ARROW):
            raise ValueError(f"func_type must be general, pandas or arrow, not {func_type!r}")
        self.kind = kind
        self.function = function
        self.inputs = inputs
        self.result = result
        self.accumulator = accumulator
        if deterministic is None:
            deterministic = function.is_deterministic() if isinstance(function, UserDefinedFunction) else True
        self.deterministic = deterministic
        self.name = name
        self.func_type = func_type
        functools.update_wrapper(self, function if not isinstance(function, UserDefinedFunction) else type(function), updated=())
        code = getattr(self.body, "__code__", None)
        self.file: str = code.co_filename if code is not None else ""
        self.line: int = code.co_firstlineno if code is not None else 0
        if frame is not None:
            self.__module__, self.file, self.line = frame.f_globals.get("__name__", ""), frame.f_code.co_filename, frame.f_lineno

    @property
    def body(self) -> Callable[..., Any]:
        """What is called with the values of a row; an aggregate's takes its accumulator first."""
        if not isinstance(self.function, UserDefinedFunction):
            return self.function  # type: ignore[no-any-return]
        return self.function.accumulate if isinstance(self.function, AggregateFunction) else self.function.eval  # type: ignore[attr-defined]

    @property
    def waits(self) -> bool:
        """Whether calls are waited for: it is an ``async def``."""
        return inspect.iscoroutinefunction(self.body)

    @property
    def retracts(self) -> bool:
        """Whether rows can be taken out of its accumulators: its class has a ``retract`` that is not that of AggregateFunction."""
        owner = next((c for c in type(self.function).__mro__ if "retract" in vars(c)), AggregateFunction)
        return owner is not AggregateFunction and not owner.__module__.startswith("pyflink.")

    def __call__(self, *args: Any) -> Any:
        return self.body(*args)


def _declaring(kind: FunctionKind, f: Any, **more: Any) -> Any:
    frame = sys._getframe(2)
    return (lambda function: Declared(kind, function, frame=frame, **more)) if f is None else Declared(kind, f, frame=frame, **more)


def udf(
    f: Any = None,
    input_types: Any = None,
    result_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = GENERAL,
    udf_type: str | None = None,
) -> Any:
    """Declares a scalar function: of a function, a lambda, a ScalarFunction. With func_type 'pandas' it takes and gives pandas.Series.

    Of an ``async def``, or an AsyncScalarFunction, the calls of many rows are waited for together.
    Types are DataTypes, or Flink's names of them; where they are left out, annotations say them.
    """
    return _declaring(
        FunctionKind.SCALAR, f, inputs=input_types, result=result_type, deterministic=deterministic, name=name, func_type=udf_type or func_type
    )


def udtf(f: Any = None, input_types: Any = None, result_types: Any = None, deterministic: bool | None = None, name: str | None = None) -> Any:
    """Declares a table function: of a generator, or a TableFunction. ``result_types`` are those of its columns, or a ROW."""
    return _declaring(FunctionKind.TABLE, f, inputs=input_types, result=result_types, deterministic=deterministic, name=name)


def udaf(
    f: Any = None,
    input_types: Any = None,
    result_type: Any = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = GENERAL,
) -> Any:
    """Declares an aggregate function: of an AggregateFunction; with func_type 'pandas' of a function of pandas.Series, which gives a value."""
    return _declaring(
        FunctionKind.AGGREGATE, f, inputs=input_types, result=result_type, accumulator=accumulator_type, deterministic=deterministic, name=name,
        func_type=func_type,
    )  # fmt: skip


def udtaf(
    f: Any = None,
    input_types: Any = None,
    result_type: Any = None,
    accumulator_type: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Declares a table aggregate function: of a TableAggregateFunction."""
    return _declaring(
        FunctionKind.TABLE_AGGREGATE, f, inputs=input_types, result=result_type, accumulator=accumulator_type, deterministic=deterministic, name=name
    )
