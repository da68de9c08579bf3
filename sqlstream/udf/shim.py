"""Where there is no pyflink, its modules that hold the functions' API, made of ours: what is imported from them is what this package has."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from sqlstream.udf import api, data_types, row

_UDF = ("AggregateFunction", "FunctionContext", "ScalarFunction", "TableFunction", "UserDefinedFunction", "udaf", "udf", "udtf")
# Each module, and where each of its names is ours.
_MODULES: dict[str, dict[str, object]] = {
    "pyflink": {},
    "pyflink.common": {"Row": row.Row},
    "pyflink.common.types": {"Row": row.Row},
    "pyflink.table": {**{n: getattr(api, n) for n in _UDF}, "DataTypes": data_types.DataTypes, "Row": row.Row},
    "pyflink.table.types": {"DataTypes": data_types.DataTypes, "Row": row.Row},
    "pyflink.table.udf": {n: getattr(api, n) for n in _UDF},
}


def install() -> None:
    """Make ``from pyflink.table.udf import udf`` work, unless an installed pyflink does."""
    if "pyflink" in sys.modules or importlib.util.find_spec("pyflink") is not None:
        return
    for name, members in _MODULES.items():
        module = ModuleType(name, "The functions' API of pyflink, by sqlstream.")
        module.__dict__.update(members)
        if any(other.startswith(f"{name}.") for other in _MODULES):
            module.__path__ = []
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
        sys.modules[name] = module
