"""Flink's types and columns as Iceberg has them, and the other way round, without a JVM: by pyiceberg."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from pyiceberg import types as iceberg
from pyiceberg.schema import Schema

from sqlstream.core.errors import NotSupported
from sqlstream.sql import types as flink
from sqlstream.sql.tables import PhysicalColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlstream.sql.types import Type

# Iceberg has no integers of less than 32 bits, and texts and bytes of any length.
_TO_ICEBERG: dict[str, iceberg.IcebergType] = {
    "BOOLEAN": iceberg.BooleanType(),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT"), iceberg.IntegerType()),
    "BIGINT": iceberg.LongType(),
    "FLOAT": iceberg.FloatType(),
    "DOUBLE": iceberg.DoubleType(),
    **dict.fromkeys(("CHAR", "VARCHAR"), iceberg.StringType()),
    **dict.fromkeys(("BINARY", "VARBINARY"), iceberg.BinaryType()),
    "DATE": iceberg.DateType(),
    "TIMESTAMP": iceberg.TimestampType(),
    "TIMESTAMP_LTZ": iceberg.TimestamptzType(),
}
_TO_FLINK: dict[type[iceberg.IcebergType], Type] = {
    iceberg.BooleanType: flink.BOOLEAN,
    iceberg.IntegerType: flink.INT,
    iceberg.LongType: flink.BIGINT,
    iceberg.FloatType: flink.FLOAT,
    iceberg.DoubleType: flink.DOUBLE,
    iceberg.StringType: flink.STRING,
    # Spark reads it as a text.
    iceberg.UUIDType: flink.STRING,
    iceberg.BinaryType: flink.BYTES,
    iceberg.FixedType: flink.BYTES,
    iceberg.DateType: flink.DATE,
    iceberg.TimestampType: flink.timestamp(6),
    iceberg.TimestamptzType: flink.timestamp_ltz(6),
}


def iceberg_schema(columns: Sequence[PhysicalColumn], keys: Sequence[str]) -> Schema:
    """Iceberg's schema of ``columns``, whose identifier is ``keys``. Raises NotSupported."""
    ids = count(1)
    fields = [
        iceberg.NestedField(next(ids), c.name, _to_iceberg(c.type, c.name, ids), doc=c.comment, required=not c.type.nullable or c.name in keys)
        for c in columns
    ]
    return Schema(*fields, identifier_field_ids=[field.field_id for field in fields if field.name in keys])


def flink_columns(schema: Schema) -> list[PhysicalColumn]:
    """The columns of Iceberg's ``schema``. Raises NotSupported."""
    return [PhysicalColumn(f.name, _to_flink(f.field_type, f.name).with_nullable(not f.required), f.doc) for f in schema.fields]


def _to_iceberg(type_: Type, column: str, ids: Iterator[int]) -> iceberg.IcebergType:
    match type_.root:
        case "DECIMAL":
            return iceberg.DecimalType(*type_.args)
        case "ARRAY":
            (element,) = type_.children
            return iceberg.ListType(next(ids), _to_iceberg(element, column, ids), element_required=not element.nullable)
        case "MAP" | "MULTISET":
            key, value = (*type_.children, flink.INT.not_null())[:2]
            key_id, value_id = next(ids), next(ids)
            return iceberg.MapType(
                key_id, _to_iceberg(key, column, ids), value_id, _to_iceberg(value, column, ids), value_required=not value.nullable
            )
        case "ROW":
            parts = zip(type_.names, type_.children, strict=True)
            return iceberg.StructType(*[iceberg.NestedField(next(ids), n, _to_iceberg(t, column, ids), required=not t.nullable) for n, t in parts])
    if type_.root not in _TO_ICEBERG:
        raise NotSupported(f"An Iceberg table can't have a column of type {type_} ('{column}').", hint="Declare it as STRING or BIGINT.")
    return _TO_ICEBERG[type_.root]


def _to_flink(type_: iceberg.IcebergType, column: str) -> Type:
    match type_:
        case iceberg.DecimalType():
            return flink.decimal(type_.precision, type_.scale)
        case iceberg.ListType():
            return flink.array(_to_flink(type_.element_type, column).with_nullable(not type_.element_required))
        case iceberg.MapType():
            value = _to_flink(type_.value_type, column).with_nullable(not type_.value_required)
            return flink.map_of(_to_flink(type_.key_type, column).not_null(), value)
        case iceberg.StructType():
            return flink.row(
                tuple(f.name for f in type_.fields), tuple(_to_flink(f.field_type, column).with_nullable(not f.required) for f in type_.fields)
            )
    if type(type_) not in _TO_FLINK:
        raise NotSupported(
            f"Column '{column}' has the type {type_}, which can't be read.",
            hint="Declare the table without it: CREATE TABLE .. WITH ('connector' = 'iceberg', ..).",
        )
    return _TO_FLINK[type(type_)]
