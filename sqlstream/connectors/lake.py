"""What tables of a lake, of Delta and of Iceberg, have in common: unless streamed they are static, and they have columns of their own."""

from __future__ import annotations

from operator import eq
from typing import TYPE_CHECKING

from sqlstream.connectors.base import Connector
from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.errors import ValidationError
from sqlstream.formats.base import refuse_types

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sqlstream.sql.tables import Table


class Lake(Connector):
    """Base of such connectors."""

    is_source = True
    is_sink = True
    can_be_looked_up = True

    def check_columns(self, table: Table) -> None:
        """Raises NotSupported for a type that Spark's files have not, ValidationError for a partition key that is no column."""
        refuse_types(self.library, tuple((c.name, c.type) for c in table.physical), lambda t: t.is_interval or t.root in ("TIME", "NULL"))
        for key in table.partition_keys:
            if key not in {c.name for c in table.physical}:
                raise ValidationError(f"Partition column '{key}' not defined in the table schema.")

    def static(self, table: Table) -> bool:
        return self.bounded(table)

    def sink_modes(self, table: Table) -> tuple[ChangelogMode, ...]:
        return tuple(ChangelogMode) if table.primary_key else super().sink_modes(table)


def differences(
    declared: Mapping[str, str],
    actual: Mapping[str, str],
    lacking: Collection[str] = (),
    *,
    same: Callable[[str, str], bool] = eq,
    undeclared: bool = True,
) -> list[str]:
    """How the ``actual`` columns of a table, with their types in Spark, are others than those ``declared``.

    Columns that are ``lacking`` are about to be added. ``same``: whether an actual type is as a declared one. ``undeclared``: columns that are not
    declared count as well.
    """
    found = []
    for name, type_ in declared.items():
        if name in lacking:
            continue
        if name not in actual:
            found.append(f"column '{name}' is not in it")
        elif not same(actual[name], type_):
            found.append(f"column '{name}' is {actual[name].upper()} in it, and {type_.upper()} here")
    return found + [f"column '{name}' is only in it" for name in actual if undeclared and name not in declared]


def spark_type(ddl: str) -> str:
    """The type ``ddl`` as Spark writes one."""
    from pyspark.sql.types import StructType

    struct: StructType = StructType.fromDDL(f"c {ddl}")  # type: ignore[assignment]
    return str(struct.fields[0].dataType.simpleString())
