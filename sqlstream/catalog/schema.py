"""What a declared table's columns are: their types, time attributes, and the checks that a declaration must pass.

A Table goes in; its source schema (``table_columns``) or the same Table comes out, with primary key columns NOT NULL.
The expressions of computed columns and watermarks are typed by binding them to the table's own columns. Messages are
Flink's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from sqlglot import exp

from sqlstream.core.errors import ValidationError, did_you_mean
from sqlstream.sql.bind import Scope, ScopeColumn, bind
from sqlstream.sql.expressions import ColumnRef
from sqlstream.sql.syntax.calls import call_args, is_called
from sqlstream.sql.tables import Column, ComputedColumn, MetadataColumn, PhysicalColumn, PrimaryKey, Table, WatermarkStrategy
from sqlstream.sql.types import Type, timestamp_ltz

if TYPE_CHECKING:
    from sqlstream.sql.functions import Function

TimeKind = Literal["ROWTIME", "PROCTIME"] | None
SchemaColumn = tuple[str, Type, TimeKind, bool]
Places = Mapping[tuple[str, str], Any]
"""Where the parts of a declaration stand: ("column" | "key" | "partition" | "bucket" | "watermark", name) -> a
place."""

TIME_TYPE = "The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3"


NOTHING = Scope(())


def expression_type(expression: exp.Expression, fields: Iterable[tuple[str, Type]], scope: Scope = NOTHING) -> Type:
    """The type of ``expression`` over the columns ``fields``; ``scope`` has the zone and the user's functions."""
    columns = tuple(ScopeColumn(None, name, ColumnRef(type_, name)) for name, type_ in fields)
    known = {c.name for c in columns}
    for used in expression.find_all(exp.Column):
        if used.parts[0].name not in known:
            name = used.parts[0].name
            raise ValidationError(f"Unknown identifier '{name}'", at=used, hint=did_you_mean(name, known))
    return bind(expression, replace(scope, columns=columns)).type


def is_proctime(expression: exp.Expression) -> bool:
    """Whether ``expression`` is a call of PROCTIME()."""
    call = expression.unnest()
    return is_called(call, "PROCTIME") and not call_args(call)


def references(expression: exp.Expression) -> set[str]:
    """Names of the columns that ``expression`` reads."""
    return {column.parts[0].name for column in expression.find_all(exp.Column)}


def table_columns(table: Table, zone: str = "UTC", functions: Mapping[str, Function] | None = None) -> tuple[SchemaColumn, ...]:
    """(name, type, time attribute, nullable) of each column that a query over ``table`` sees, in declared order."""
    return _columns(table, Scope((), zone, functions or {}))


def _columns(table: Table, scope: Scope) -> tuple[SchemaColumn, ...]:
    fields = stored_fields(table.columns)

    def column(c: Column) -> SchemaColumn:
        time: TimeKind = "ROWTIME" if table.watermark is not None and table.watermark.column == c.name else None
        if not isinstance(c, ComputedColumn):
            type_ = c.type
        elif is_proctime(c.expression):
            type_, time = timestamp_ltz(3).not_null(), "PROCTIME"
        else:
            type_ = expression_type(c.expression, fields, scope)
        return c.name, type_, time, type_.nullable

    return tuple(column(c) for c in table.columns)


def stored_fields(columns: Iterable[Column]) -> tuple[tuple[str, Type], ...]:
    """Names and types of physical and metadata columns: what computed columns may use."""
    return tuple((c.name, c.type) for c in columns if not isinstance(c, ComputedColumn))


def checked(
    table: Table,
    places: Places | None = None,
    *,
    own: frozenset[str] | None = None,
    scope: Scope = NOTHING,
    in_order: bool = False,
) -> Table:
    """``table`` if it is well declared, its primary key columns NOT NULL.

    ``own`` names the columns that the statement itself declares (None: all): only these become NOT NULL by a primary
    key, as in Flink; a nullable column that came by LIKE is an error. ``in_order``: a computed column sees only the
    metadata columns before it.
    """
    places = places or {}
    check_metadata_keys(table, places)
    if in_order:
        check_order(table)
    types = {name: type_ for name, type_, _, _ in _columns(table, scope)}
    if table.primary_key is not None:
        table = with_key(table, table.primary_key, places, own)
    if table.watermark is not None:
        check_watermark(table, table.watermark, types, places, scope)
    check_partitions(table, places)
    check_distribution(table, places)
    return table


def check_order(table: Table) -> None:
    """In CREATE TABLE a computed column can use all physical columns, but only the metadata columns that stand before
    it."""
    later = {c.name for c in table.metadata}
    for column in table.columns:
        if isinstance(column, MetadataColumn):
            later.discard(column.name)
        elif isinstance(column, ComputedColumn):
            for used in column.expression.find_all(exp.Column):
                if used.parts[0].name in later:
                    raise ValidationError(
                        f"Unknown identifier '{used.parts[0].name}'",
                        at=used,
                        hint=f"Declare the metadata column {used.parts[0].name} before {column.name}.",
                    )


def check_metadata_keys(table: Table, places: Places) -> None:
    """Two columns can't read one metadata key."""
    first: dict[str, MetadataColumn] = {}
    for column in table.metadata:
        other = first.setdefault(column.key, column)
        if other is not column:
            raise ValidationError(
                f"The column `{other.name}` and `{column.name}` in the table are both from the same metadata key "
                f"'{column.key}'. Please specify one of the columns as the metadata column and use the computed column "
                "syntax to specify the others.",
                at=places.get(("column", column.name)),
            )


def key_name(key: PrimaryKey) -> str:
    """The constraint's name, or the one that Flink gives it."""
    return key.name or "PK_" + "_".join(key.columns)


def with_key(table: Table, key: PrimaryKey, places: Places, own: frozenset[str] | None, *, altering: bool = False) -> Table:
    """``table`` with its primary key's columns NOT NULL. Raises ValidationError where the key is not valid."""
    columns = {c.name: c for c in table.columns}
    invalid = f"Invalid primary key '{key_name(key)}'."
    for name in key.columns:
        at = places.get(("key", name))
        if name not in columns:
            message = f"{invalid} Column '{name}' does not exist." if altering else f"Primary key column '{name}' is not defined in the schema"
            raise ValidationError(message, at=at, hint=did_you_mean(name, columns))
        if not isinstance(columns[name], PhysicalColumn):
            raise ValidationError(
                f"{invalid} Column '{name}' is not a physical column."
                if altering
                else f"Could not create a PRIMARY KEY with column '{name}'.\nA PRIMARY KEY constraint must be declared on physical columns.",
                at=at,
            )
    repeated = [name for i, name in enumerate(key.columns) if name in key.columns[:i]]
    if repeated:
        raise ValidationError(
            f"{invalid} A primary key must not contain duplicate columns. Found: [{', '.join(dict.fromkeys(repeated))}]",
            at=places.get(("key", repeated[0])),
        )

    def not_null(column: Column) -> Column:
        if column.name not in key.columns or not isinstance(column, PhysicalColumn):
            return column
        if column.type.nullable and own is not None and column.name not in own:
            hint = f"ALTER TABLE .. MODIFY {column.name} {column.type.not_null().full} first."
            raise ValidationError(f"{invalid} Column '{column.name}' is nullable.", at=places.get(("key", column.name)), hint=hint)
        return replace(column, type=column.type.not_null())

    return replace(table, columns=tuple(not_null(c) for c in table.columns), primary_key=replace(key, name=key_name(key)))


def check_watermark(table: Table, watermark: WatermarkStrategy, types: Mapping[str, Type], places: Places, scope: Scope) -> None:
    """The rowtime column exists, is a timestamp of precision 3 or less, and the expression has its type."""
    at = places.get(("watermark", watermark.column), watermark.expression)
    column = next((c for c in table.columns if c.name == watermark.column), None)
    if column is None:
        raise ValidationError(
            f"The rowtime attribute field '{watermark.column}' is not defined in the table schema\n"
            f"Available fields: [{', '.join(repr(n) for n in types)}]",
            at=at,
            hint=did_you_mean(watermark.column, types),
        )
    if isinstance(column, ComputedColumn) and is_proctime(column.expression):
        raise ValidationError("A watermark can not be defined for a processing-time attribute.", at=at, hint="Leave it out: PROCTIME() needs none.")
    rowtime = types[watermark.column]
    if not is_time(rowtime):
        raise ValidationError(
            f"Invalid data type of time field for watermark definition. {TIME_TYPE}, but the time field type is {rowtime.full}",
            at=at,
            hint=f"Declare {watermark.column} as TIMESTAMP(3) or TIMESTAMP_LTZ(3), or compute such a column from it.",
        )
    if is_source_watermark(watermark.expression):
        return
    watermark_type = expression_type(watermark.expression, tuple(types.items()), scope)
    instead = f"Write WATERMARK FOR {watermark.column} AS {watermark.column} - INTERVAL '5' SECOND."
    if not is_time(watermark_type):
        raise ValidationError(
            f"Invalid data type of expression for watermark definition. {TIME_TYPE}, but the watermark expression type is {watermark_type.full}",
            at=watermark.expression,
            hint=instead,
        )
    if watermark_type.root != rowtime.root:
        raise ValidationError(
            f"The watermark declaration's output data type '{watermark_type.full}' is different from the time field's data type '{rowtime.full}'.",
            at=watermark.expression,
            hint=instead,
        )


def is_time(type_: Type) -> bool:
    """Whether a column of this type can be a rowtime attribute."""
    return type_.is_timestamp and type_.args[0] <= 3


def is_source_watermark(expression: exp.Expression) -> bool:
    """Whether ``expression`` is SOURCE_WATERMARK()."""
    return is_called(expression, "SOURCE_WATERMARK")


def check_partitions(table: Table, places: Places) -> None:
    """Partition keys are physical columns."""
    columns = {c.name: c for c in table.columns}
    for name in table.partition_keys:
        at = places.get(("partition", name))
        if name not in columns:
            raise ValidationError(
                f"Partition column '{name}' not defined in the table schema. Available columns: [{', '.join(repr(n) for n in columns)}]",
                at=at,
                hint=did_you_mean(name, columns),
            )
        if not isinstance(columns[name], PhysicalColumn):
            raise ValidationError(
                f"Invalid partition key '{name}'. A partition key must reference a physical column in the schema. "
                f"Available columns are: [{', '.join(c.name for c in table.physical)}]",
                at=at,
            )


def check_distribution(table: Table, places: Places) -> None:
    """Bucket keys are physical columns; there is a bucket at least."""
    if table.distribution is None:
        return
    physical = [c.name for c in table.physical]
    for name in table.distribution.columns:
        if name not in physical:
            raise ValidationError(
                f"Invalid bucket key '{name}'. A bucket key for a distribution must reference a physical column "
                f"in the schema. "
                f"Available columns are: [{', '.join(physical)}]",
                at=places.get(("bucket", name)),
                hint=did_you_mean(name, physical),
            )
    if table.distribution.buckets is not None and table.distribution.buckets < 1:
        raise ValidationError(
            f"Invalid bucket count '{table.distribution.buckets}'. The number of buckets for a distributed table must be at least 1.",
            at=places.get(("bucket", "")),
        )
