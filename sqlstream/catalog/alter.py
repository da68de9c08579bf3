"""ALTER TABLE as pure functions Table -> Table. Each raises Flink's error where the change is not possible.

The result of a change to columns, key or watermark still has to pass ``schema.checked``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlstream.catalog.entries import check_reset
from sqlstream.catalog.schema import Places, references, with_key
from sqlstream.core.errors import ValidationError, did_you_mean
from sqlstream.sql.quoting import quote
from sqlstream.sql.tables import Column, ComputedColumn, Distribution, PrimaryKey, Table, WatermarkStrategy

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Placed:
    """A column with the place that ALTER wants for it: FIRST, AFTER a column, or none."""

    column: Column
    first: bool = False
    after: str | None = None
    at: Any = None


def failed(reason: str, at: Any = None, hint: str | None = None) -> ValidationError:
    """Flink's error for an ALTER that is not possible."""
    return ValidationError(f"Failed to execute ALTER TABLE statement.\n{reason}", at=at, hint=hint)


def add_columns(table: Table, added: tuple[Placed, ...]) -> Table:
    """ADD columns, in their order; each may stand after one added before it."""
    for i, placed in enumerate(added):
        if placed.column.name in {p.column.name for p in added[:i]}:
            raise failed(f"Encounter duplicate column `{placed.column.name}`.", placed.at)
    columns = list(table.columns)
    for placed in added:
        if any(c.name == placed.column.name for c in columns):
            raise failed(f"Column `{placed.column.name}` already exists in the table.", placed.at)
        _insert(columns, placed, len(columns))
    return replace(table, columns=tuple(columns))


def modify_columns(table: Table, modified: tuple[Placed, ...]) -> Table:
    """MODIFY columns: each is replaced as a whole, and moved where a place is given."""
    columns = list(table.columns)
    seen: set[str] = set()
    for placed in modified:
        names = [c.name for c in columns]
        if placed.column.name not in names:
            raise failed(
                f"Column `{placed.column.name}` does not exist in the table.",
                placed.at,
                did_you_mean(placed.column.name, names),
            )
        if placed.column.name in seen:
            raise failed(f"Encounter duplicate column `{placed.column.name}`.", placed.at)
        seen.add(placed.column.name)
        index = names.index(placed.column.name)
        del columns[index]
        _insert(columns, replace(placed, after=None) if placed.after == placed.column.name else placed, index)
    altered = replace(table, columns=tuple(columns))
    if altered.primary_key is None:
        return altered
    return with_key(altered, altered.primary_key, {}, None, altering=True)


def _insert(columns: list[Column], placed: Placed, default: int) -> None:
    index = 0 if placed.first else default
    if placed.after is not None:
        names = [c.name for c in columns]
        if placed.after not in names:
            raise failed(
                f"Referenced column `{placed.after}` by 'AFTER' does not exist in the table.",
                placed.at,
                did_you_mean(placed.after, names),
            )
        index = names.index(placed.after) + 1
    columns.insert(index, placed.column)


def drop_columns(table: Table, dropped: tuple[str, ...], at: Any = None) -> Table:
    """DROP columns that nothing that stays refers to."""
    for i, name in enumerate(dropped):
        if name in dropped[:i]:
            raise failed(f"Duplicate column `{name}`.", at)
    names = [c.name for c in table.columns]
    for name in dropped:
        if name not in names:
            raise failed(f"The column `{name}` does not exist in the base table.", at, did_you_mean(name, names))
        _check_unreferenced(table, name, dropped, at)
        if table.primary_key is not None and name in table.primary_key.columns:
            raise failed(f"The column `{name}` is used as the primary key.", at, "ALTER TABLE ... DROP PRIMARY KEY first.")
    return replace(table, columns=tuple(c for c in table.columns if c.name not in dropped))


def _check_unreferenced(table: Table, name: str, going: tuple[str, ...], at: Any) -> None:
    for column in table.columns:
        if isinstance(column, ComputedColumn) and column.name not in going and name in references(column.expression):
            raise failed(f"The column `{name}` is referenced by computed column `{column.name}`.", at)
    if name in table.partition_keys:
        raise failed(f"The column `{name}` is used as the partition keys.", at)
    if table.watermark is not None and name in {table.watermark.column, *references(table.watermark.expression)}:
        raise failed(f"The column `{name}` is referenced by watermark expression.", at)
    if table.distribution is not None and name in table.distribution.columns:
        raise failed(f"The column `{name}` is used as a distribution key.", at)


def rename_column(table: Table, old: str, new: str, at: Any = None) -> Table:
    """RENAME a column; the primary key follows, anything else that refers to it forbids it."""
    names = [c.name for c in table.columns]
    if old not in names:
        raise failed(f"The column `{old}` does not exist in the base table.", at, did_you_mean(old, names))
    if new in names:
        raise failed(f"The column `{new}` already existed in table schema.", at)
    _check_unreferenced(table, old, (), at)
    key = table.primary_key
    return replace(
        table,
        columns=tuple(replace(c, name=new) if c.name == old else c for c in table.columns),
        primary_key=key and replace(key, columns=tuple(new if c == old else c for c in key.columns)),
    )


def add_key(table: Table, key: PrimaryKey, places: Places) -> Table:
    """ADD PRIMARY KEY."""
    if table.primary_key is not None:
        present = ", ".join(quote(c) for c in table.primary_key.columns)
        raise failed(
            f"The current table has already defined the primary key constraint [{present}]. You might want to drop it before adding a new one.",
            places.get(("key", key.columns[0])),
        )
    return with_key(table, key, places, None, altering=True)


def modify_key(table: Table, key: PrimaryKey, places: Places) -> Table:
    """MODIFY PRIMARY KEY."""
    if table.primary_key is None:
        raise failed(
            "The current table does not define any primary key constraint. You might want to add a new one.",
            places.get(("key", key.columns[0])),
        )
    return with_key(table, key, places, None, altering=True)


def drop_key(table: Table, name: str | None, at: Any = None) -> Table:
    """DROP PRIMARY KEY, or DROP CONSTRAINT ``name``."""
    if table.primary_key is None:
        raise failed("The current table does not define any primary key.", at)
    if name is not None and name != table.primary_key.name:
        raise failed(
            f"The current table does not define a primary key constraint named '{name}'. Available constraint name: ['{table.primary_key.name}'].",
            at,
        )
    return replace(table, primary_key=None)


def add_watermark(table: Table, watermark: WatermarkStrategy, text: str, at: Any = None) -> Table:
    """ADD WATERMARK; ``text`` shows the present one."""
    if table.watermark is not None:
        raise failed(
            f"The current table has already defined the watermark strategy {text}. You might want to drop it before adding a new one.",
            at,
        )
    return replace(table, watermark=watermark)


def modify_watermark(table: Table, watermark: WatermarkStrategy, at: Any = None) -> Table:
    """MODIFY WATERMARK."""
    if table.watermark is None:
        raise failed("The current table does not define any watermark. You might want to add a new one.", at)
    return replace(table, watermark=watermark)


def drop_watermark(table: Table, at: Any = None) -> Table:
    """DROP WATERMARK."""
    if table.watermark is None:
        raise failed("The current table does not define any watermark strategy.", at)
    return replace(table, watermark=None)


def add_distribution(table: Table, distribution: Distribution, at: Any = None) -> Table:
    """ADD DISTRIBUTION."""
    if table.distribution is not None:
        raise failed(
            f"The current table has already defined the distribution '{distribution_text(table.distribution)}'. "
            "You can modify it or drop it before adding a new one.",
            at,
        )
    return replace(table, distribution=distribution)


def modify_distribution(table: Table, distribution: Distribution, at: Any = None) -> Table:
    """MODIFY DISTRIBUTION."""
    if table.distribution is None:
        raise failed("The base table does not define any distribution. You might want to add a new one.", at)
    return replace(table, distribution=distribution)


def drop_distribution(table: Table, at: Any = None) -> Table:
    """DROP DISTRIBUTION."""
    if table.distribution is None:
        raise ValidationError(f"Table {table.path.quoted} does not have a distribution to drop.", at=at)
    return replace(table, distribution=None)


def set_options(table: Table, options: Mapping[str, str]) -> Table:
    """SET."""
    return replace(table, options=dict(table.options) | dict(options))


def reset_options(table: Table, keys: tuple[str, ...], at: Any = None) -> Table:
    """RESET; unknown keys are ignored."""
    check_reset("TABLE", keys, "connector", at)
    return replace(table, options={k: v for k, v in table.options.items() if k not in keys})


def distribution_text(distribution: Distribution) -> str:
    """``DISTRIBUTED BY HASH(`a`) INTO 2 BUCKETS``."""
    columns = ", ".join(quote(c) for c in distribution.columns)
    by = f" BY {distribution.kind or ''}({columns})" if distribution.columns else ""
    into = f" INTO {distribution.buckets} BUCKETS" if distribution.buckets is not None else ""
    return f"DISTRIBUTED{by}{into}"
