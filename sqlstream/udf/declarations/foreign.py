"""What the decorators of an installed pyflink make, as ours: a module for Flink works as it is, whether pyflink is there or not."""

from __future__ import annotations

from typing import Any

from sqlstream.sql import types as t
from sqlstream.udf.api import AggregateFunction, AsyncScalarFunction, Declared, FunctionKind, ScalarFunction, TableAggregateFunction, TableFunction

_KINDS = {
    "UserDefinedScalarFunctionWrapper": FunctionKind.SCALAR,
    "UserDefinedTableFunctionWrapper": FunctionKind.TABLE,
    "UserDefinedAggregateFunctionWrapper": FunctionKind.AGGREGATE,  # TABLE_AGGREGATE where it is of a TableAggregateFunction
}
# pyflink's classes of types, and what they hold besides NOT NULL.
_NAMES = {
    "NullType": "NULL", "BooleanType": "BOOLEAN", "TinyIntType": "TINYINT", "SmallIntType": "SMALLINT", "IntType": "INT", "BigIntType": "BIGINT",
    "FloatType": "FLOAT", "DoubleType": "DOUBLE", "DateType": "DATE", "CharType": "CHAR", "VarCharType": "VARCHAR", "BinaryType": "BINARY",
    "VarBinaryType": "VARBINARY", "DecimalType": "DECIMAL", "TimeType": "TIME", "TimestampType": "TIMESTAMP",
    "LocalZonedTimestampType": "TIMESTAMP_LTZ", "ArrayType": "ARRAY", "MultisetType": "MULTISET", "MapType": "MAP", "RowType": "ROW",
}  # fmt: skip


def from_pyflink(value: Any) -> Declared | None:
    """A function that pyflink's decorators made; None of anything else."""
    if not type(value).__module__.startswith("pyflink."):
        return None
    kind = _KINDS.get(type(value).__name__)
    if kind is None:
        return None
    function = value._func
    for base in (ScalarFunction, AsyncScalarFunction, TableFunction, AggregateFunction, TableAggregateFunction):
        if any(c.__name__ == base.__name__ and c.__module__.startswith("pyflink.") for c in type(function).__mro__):
            base.register(type(function))
    kind = FunctionKind.TABLE_AGGREGATE if isinstance(function, TableAggregateFunction) else kind
    result = getattr(value, "_result_types", None) or getattr(value, "_result_type", None)
    made = Declared(
        kind, function, inputs=_types(value._input_types), result=_types(result),
        accumulator=_types(getattr(value, "_accumulator_type", None)), deterministic=value._deterministic, func_type=value._func_type,
    )  # fmt: skip
    made.__module__ = getattr(function, "__module__", "") or type(function).__module__
    return made


def _types(declared: Any) -> Any:
    if isinstance(declared, list | tuple):
        return [_types(g) for g in declared]
    if declared is None or isinstance(declared, str):
        return declared
    return type_of(declared)


def type_of(declared: Any) -> t.Type:
    """The type that one of pyflink's is."""
    root = _NAMES[type(declared).__name__]
    nullable = bool(declared._nullable)
    match root:
        case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY":
            return t.Type(root, (declared.length,), nullable=nullable)
        case "DECIMAL":
            return t.Type(root, (declared.precision, declared.scale), nullable=nullable)
        case "TIME" | "TIMESTAMP" | "TIMESTAMP_LTZ":
            return t.Type(root, (declared.precision,), nullable=nullable)
        case "ARRAY" | "MULTISET":
            return t.Type(root, children=(type_of(declared.element_type),), nullable=nullable)
        case "MAP":
            return t.Type(root, children=(type_of(declared.key_type), type_of(declared.value_type)), nullable=nullable)
        case "ROW":
            children = tuple(type_of(f.data_type) for f in declared.fields)
            return t.Type(root, children=children, names=tuple(f.name for f in declared.fields), nullable=nullable)
    return t.Type(root, nullable=nullable)
