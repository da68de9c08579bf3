"""What CREATE TABLE ... LIKE and ... AS SELECT make of a base table or a query's schema: pure functions over Table
values.

A plain CREATE TABLE is merged with no base: the checks for duplicate columns are the same ones. Messages are Flink's.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError, did_you_mean
from sqlstream.sql.coercion import implicitly_castable
from sqlstream.sql.tables import Column, ComputedColumn, MetadataColumn, PhysicalColumn, Table, WatermarkStrategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.catalog.schema import Places
    from sqlstream.sql.types import Type


class Merging(Enum):
    """What happens to a feature of the base table."""

    INCLUDING = "INCLUDING"
    EXCLUDING = "EXCLUDING"
    OVERWRITING = "OVERWRITING"


FEATURES = ("CONSTRAINTS", "DISTRIBUTION", "PARTITIONS", "GENERATED", "METADATA", "OPTIONS", "WATERMARKS")
NEVER_OVERWRITTEN = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS")


def strategies(declared: tuple[tuple[str, str], ...]) -> dict[str, Merging]:
    """Strategy of each feature for LIKE's options (strategy, feature). The default is INCLUDING ALL OVERWRITING
    OPTIONS."""
    features = [feature for _, feature in declared]
    if len(features) != len(set(features)):
        raise ValidationError("Each like option feature can be declared only once.")
    for strategy, feature in declared:
        if strategy == "OVERWRITING" and feature in NEVER_OVERWRITTEN:
            raise ValidationError(f"Illegal merging strategy '{strategy}' for '{feature}' option.")
    everything = next((Merging(s) for s, f in declared if f == "ALL"), None)
    merged = {f: everything or (Merging.OVERWRITING if f == "OPTIONS" else Merging.INCLUDING) for f in FEATURES}
    return merged | {f: Merging(s) for s, f in declared if f != "ALL"}


def merge(base: Table | None, derived: Table, how: Mapping[str, Merging], places: Places) -> Table:
    """``derived`` with what LIKE brings from ``base``. The comment does not come along."""
    columns = append_columns(inherited_columns(base, how), derived.columns, how, places)
    if base is None:
        return replace(derived, columns=columns)
    if derived.primary_key and base.primary_key and how["CONSTRAINTS"] is not Merging.EXCLUDING:
        raise ValidationError(
            "The base table already has a primary key. You might want to specify EXCLUDING CONSTRAINTS.",
            at=places.get(("key", derived.primary_key.columns[0])),
        )
    if derived.partition_keys and base.partition_keys and how["PARTITIONS"] is not Merging.EXCLUDING:
        raise ValidationError(
            "The base table already has partitions defined. You might want to specify EXCLUDING PARTITIONS.",
            at=places.get(("partition", derived.partition_keys[0])),
        )
    if derived.distribution and base.distribution and how["DISTRIBUTION"] is not Merging.EXCLUDING:
        raise ValidationError(
            "The base table already has a distribution defined. You might want to specify EXCLUDING DISTRIBUTION.",
            at=places.get(("bucket", "")),
        )
    inherited_key = base.primary_key if how["CONSTRAINTS"] is not Merging.EXCLUDING else None
    return replace(
        derived,
        columns=columns,
        options=_options(base, derived, how),
        watermark=_watermark(base, derived, how, places),
        primary_key=derived.primary_key or inherited_key,
        # EXCLUDING PARTITIONS and EXCLUDING DISTRIBUTION only allow others in their place: without others the base's
        # stay, in Flink too.
        partition_keys=derived.partition_keys or base.partition_keys,
        distribution=derived.distribution or base.distribution,
    )


def _options(base: Table, derived: Table, how: Mapping[str, Merging]) -> dict[str, str]:
    if how["OPTIONS"] is Merging.EXCLUDING:
        return dict(derived.options)
    if how["OPTIONS"] is Merging.INCLUDING:
        for key in derived.options:
            if key in base.options:
                raise ValidationError(
                    f"There already exists an option ['{key}' -> '{base.options[key]}']  in the base table. "
                    "You might want to specify EXCLUDING OPTIONS or OVERWRITING OPTIONS."
                )
    return dict(base.options) | dict(derived.options)


def _watermark(base: Table, derived: Table, how: Mapping[str, Merging], places: Places) -> WatermarkStrategy | None:
    kept = base.watermark if how["WATERMARKS"] is not Merging.EXCLUDING else None
    if kept and derived.watermark and how["WATERMARKS"] is not Merging.OVERWRITING:
        raise ValidationError(
            f"There already exists a watermark spec for column '{kept.column}' in the base table. "
            "You might want to specify EXCLUDING WATERMARKS or OVERWRITING WATERMARKS.",
            at=places.get(("watermark", derived.watermark.column)),
        )
    return derived.watermark or kept


def inherited_columns(base: Table | None, how: Mapping[str, Merging]) -> tuple[Column, ...]:
    """The columns that come from ``base``: physical ones always."""
    feature = {ComputedColumn: "GENERATED", MetadataColumn: "METADATA"}
    return tuple(c for c in (base.columns if base else ()) if type(c) not in feature or how[feature[type(c)]] is not Merging.EXCLUDING)


def append_columns(base: tuple[Column, ...], derived: tuple[Column, ...], how: Mapping[str, Merging], places: Places) -> tuple[Column, ...]:
    """``base`` followed by ``derived``; where overwriting is allowed a derived column takes the place of its
    namesake."""
    columns: dict[str, Column] = {c.name: c for c in base}
    regular: set[str] = set()
    for column in derived:
        if isinstance(column, PhysicalColumn):
            at = places.get(("column", column.name))
            if column.name in regular:
                raise ValidationError(f"A regular Column named '{column.name}' already exists in the table.", at=at)
            if column.name in columns:
                raise ValidationError(f"A column named '{column.name}' already exists in the base table.", at=at)
            regular.add(column.name)
    for column in derived:
        if not isinstance(column, PhysicalColumn):
            _check_generated(column, columns, regular, how, places)
        columns[column.name] = column
    return tuple(columns.values())


def _check_generated(
    column: ComputedColumn | MetadataColumn,
    columns: Mapping[str, Column],
    regular: set[str],
    how: Mapping[str, Merging],
    places: Places,
) -> None:
    computed = isinstance(column, ComputedColumn)
    short, long, feature = ("compute", "generated", "GENERATED") if computed else ("metadata", "metadata", "METADATA")
    at = places.get(("column", column.name))
    present = columns.get(column.name)
    if column.name in regular or isinstance(present, PhysicalColumn):
        raise ValidationError(
            f"A column named '{column.name}' already exists in the table. Duplicate columns exist in the {short} column and regular column.",
            at=at,
        )
    if present is None:
        return
    if type(present) is not type(column):
        kind = "Computed" if computed else "Metadata"
        raise ValidationError(
            f"A column named '{column.name}' already exists in the base table. {kind} columns can only overwrite other {kind.lower()} columns.",
            at=at,
        )
    if how[feature] is not Merging.OVERWRITING:
        raise ValidationError(
            f"A {long} column named '{column.name}' already exists in the base table. You might want to specify "
            f"EXCLUDING {feature} or "
            f"OVERWRITING {feature}.",
            at=at,
        )


def _assignable(source: Type, target: Type) -> bool:
    return implicitly_castable(source, target) and (target.nullable or not source.nullable)


PLAIN = dict.fromkeys(FEATURES, Merging.INCLUDING)


def with_query_schema(table: Table, schema: tuple[tuple[str, Type], ...], order: tuple[str, ...], places: Places) -> Table:
    """The table of CREATE TABLE ... AS SELECT, whose query gives ``schema``.

    Declared columns that the query lacks come first; a declared physical namesake overrides the type at the query's
    place. ``order`` is the bare list of column names, which only reorders.
    """
    query_types = dict(schema)
    if order:
        for name in order:
            if name not in query_types:
                raise ValidationError(
                    f"Column '{name}' not found in the source schema.",
                    at=places.get(("column", name)),
                    hint=did_you_mean(name, query_types),
                )
        if len(order) != len(query_types):
            raise ValidationError("The number of columns in the column list must match the number of columns in the source schema.")
        return replace(table, columns=tuple(PhysicalColumn(n, query_types[n]) for n in order))
    declared = {c.name: c for c in append_columns((), table.columns, PLAIN, places)}
    for name, column in declared.items():
        if name in query_types and isinstance(column, ComputedColumn):
            raise ValidationError(
                f"A column named '{name}' already exists in the source schema. Computed columns cannot overwrite columns from source.",
                at=places.get(("column", name)),
            )
    for position, (name, type_) in enumerate(query_types.items(), 1):
        wanted = declared.get(name)
        if isinstance(wanted, PhysicalColumn) and not _assignable(type_, wanted.type):
            raise ValidationError(
                f"Incompatible types for sink column '{name}' at position {position}. The source column has type "
                f"'{type_.full}', while the target column has type '{wanted.type.full}'.",
                at=places.get(("column", name)),
            )
    extra = tuple(c for n, c in declared.items() if n not in query_types)
    return replace(table, columns=extra + tuple(declared.get(n) or PhysicalColumn(n, t) for n, t in query_types.items()))
