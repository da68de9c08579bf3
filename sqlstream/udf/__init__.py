"""Functions in Python: what a module in ``udfs/`` imports. ``from pyflink.table.udf import udf`` imports the same if pyflink is not installed."""

from sqlstream.udf.api import AggregateFunction, AsyncScalarFunction, FunctionContext, ScalarFunction, TableFunction, udaf, udf, udtf
from sqlstream.udf.data_types import DataTypes
from sqlstream.udf.row import Row
from sqlstream.udf.views import ListView, MapView

__all__ = [
    "AggregateFunction", "AsyncScalarFunction", "DataTypes", "FunctionContext", "ListView", "MapView", "Row", "ScalarFunction", "TableFunction",
    "udaf", "udf", "udtf",
]  # fmt: skip
