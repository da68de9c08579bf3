"""Accumulators as bytes, which are the state of a job: pickled, the user's own classes by name, so that other code of theirs reads them later."""

from __future__ import annotations

import importlib
import io
import pickle
from typing import TYPE_CHECKING, Any, BinaryIO

from pyspark import cloudpickle

from sqlstream.udf.api import RAISED
from sqlstream.udf.worker.failures import error_line, secret_texts
from sqlstream.udf.worker.task import FunctionFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from sqlstream.udf.worker.task import Task

_HINT = "Keep in it what can be pickled: values, lists, dictionaries, objects of them; create the rest in open()."
# The functions whose accumulators were pickled once in this process.
_checked: set[bytes] = set()


class _Pickler(cloudpickle.Pickler):
    """Writes by name the classes that ``function`` knows; others, and lambdas, as Spark writes functions."""

    def __init__(self, out: BinaryIO, function: Any) -> None:
        super().__init__(out)  # type: ignore[no-untyped-call]
        known = ((module, name, value) for module, names in _known(function).items() for name, value in names.items())
        self._names = {value: (module, name) for module, name, value in known if isinstance(value, type)}

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, type) and obj in self._names:
            return own_class, self._names[obj]
        return super().reducer_override(obj)  # type: ignore[no-untyped-call]


class _Unpickler(pickle.Unpickler):
    """Reads accumulators of ``function``. It came by value, so its classes are those that it knows itself, not those of its module."""

    def __init__(self, kept: BinaryIO, function: Any) -> None:
        super().__init__(kept)
        self._function = function

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) != (__name__, own_class.__name__):
            return super().find_class(module, name)
        known = _known(self._function)
        return lambda module, name: known[module][name] if name in known.get(module, {}) else own_class(module, name)


def dumped(task: Task, function: Any, accumulator: Any, hidden: Iterable[str]) -> bytes:
    """``accumulator`` as bytes. ``hidden`` are texts that are never printed. Raises FunctionFailed."""
    out = io.BytesIO()
    try:
        _Pickler(out, function).dump(accumulator)  # type: ignore[no-untyped-call]
    except RAISED as error:  # whatever an object of the user's raises
        message = f"The accumulator of the Python function {task.name} can't be kept, since it can't be pickled: {error_line(error, hidden)}."
        raise FunctionFailed(message, _HINT) from None
    return out.getvalue()


def check_accumulators(task: Task, function: Any, accumulator: Any, columns: tuple[pa.Array, ...], places: range) -> None:
    """See once a process whether accumulators, as this one of the rows at ``places``, can be kept: the first is so after many rows only.

    Raises FunctionFailed.
    """
    if task.pickled not in _checked:
        dumped(task, function, accumulator, secret_texts(task, columns, places))
        _checked.add(task.pickled)


def loaded(task: Task, function: Any, kept: bytes) -> Any:
    """The accumulator that ``kept`` is, for ``function``. Raises FunctionFailed."""
    try:
        return _Unpickler(io.BytesIO(kept), function).load()
    except RAISED as error:  # whatever the user's classes raise
        message = f"The stored accumulator of the Python function {task.name} can't be read: {error_line(error, secret_texts(task))}."
        raise FunctionFailed(message, "Its code has changed. Go back to the old code, or start the job anew under another name.") from None


def own_class(module: str, name: str) -> Any:
    """The class ``name`` of a module of the user's."""
    return getattr(importlib.import_module(module), name)


def _known(function: Any) -> dict[str, dict[str, Any]]:
    """The names that ``function`` knows in each of the modules that its classes are of."""
    known: dict[str, dict[str, Any]] = {}
    for base in type(function).__mro__:
        names = known.setdefault(base.__module__, {base.__name__: base})
        for method in vars(base).values():
            names.update(getattr(method, "__globals__", {}))
    return known
