"""If pyflink is not installed: its modules with the functions' API, made of ours.

What else a module imports from there, for something other than functions, can be imported, and raises at its first use.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import NoReturn

from sqlstream.udf import api, data_types, row, views

_UDF = (
    "AggregateFunction", "AsyncScalarFunction", "FunctionContext", "ScalarFunction", "TableAggregateFunction", "TableFunction",
    "UserDefinedFunction", "udaf", "udf", "udtaf", "udtf",
)  # fmt: skip
_VIEWS: dict[str, object] = {"ListView": views.ListView, "MapView": views.MapView}
# Each module, and where each of its names is ours.
_MODULES: dict[str, dict[str, object]] = {
    "pyflink": {},
    "pyflink.common": {"Row": row.Row},
    "pyflink.common.types": {"Row": row.Row},
    "pyflink.table": {**{n: getattr(api, n) for n in _UDF}, "DataTypes": data_types.DataTypes, "Row": row.Row, **_VIEWS},
    "pyflink.table.data_view": _VIEWS,
    "pyflink.table.types": {"DataTypes": data_types.DataTypes, "Row": row.Row},
    "pyflink.table.udf": {n: getattr(api, n) for n in _UDF},
    "pyflink.table.expressions": {},
    "pyflink.datastream": {},
}
# All of their names are ours.
_WHOLE = ("pyflink", "pyflink.table.udf")


class AbsentName:
    """A name of pyflink's other than functions."""

    def __init__(self, name: str) -> None:
        self._absent = name

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        self._refuse()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ImportError(f"{self._absent} needs pyflink, which is not installed: without it only functions are available")


def _absent(module: str, name: str) -> AbsentName:
    if name.startswith("__"):
        raise AttributeError(name)
    return AbsentName(f"{module}.{name}")


def install() -> None:
    """Make ``from pyflink.table.udf import udf`` work, unless an installed pyflink does."""
    if "pyflink" in sys.modules or importlib.util.find_spec("pyflink") is not None:
        return
    for name, members in _MODULES.items():
        module = ModuleType(name, "The functions' API of pyflink, by sqlstream.")
        module.__spec__ = ModuleSpec(name, None)
        module.__dict__.update(members)
        if name not in _WHOLE:
            module.__dict__["__getattr__"] = partial(_absent, name)
        if any(other.startswith(f"{name}.") for other in _MODULES):
            module.__path__ = []
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
        sys.modules[name] = module
