"""What tables of a lake, of Delta and of Iceberg, have in common: unless streamed they are static, they have columns of their own, and rows go into
them in types of theirs, by MERGE where that is by key.
"""

from __future__ import annotations

import time
from dataclasses import replace
from operator import eq
from typing import TYPE_CHECKING

from sqlstream.connectors.base import Connector
from sqlstream.connectors.not_null import refused
from sqlstream.connectors.upserts import DELETED, upserts
from sqlstream.core.changelog import REMOVES, ChangelogMode
from sqlstream.core.errors import ValidationError
from sqlstream.formats.base import refuse_types
from sqlstream.sql.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pyspark.sql import DataFrame

    from sqlstream.connectors.base import Write
    from sqlstream.sql.tables import PhysicalColumn, Table

_ATTEMPTS = 20


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

    def without_nulls(self, request: Write, required: Collection[str]) -> Write:
        """``request`` whose rows fail where one of the ``required`` columns of the lake's table is NULL: its own error does not show the row."""
        columns = request.table.physical
        excuse = REMOVES if request.mode.carries_kinds else "FALSE"
        checked = {c.name: excuse for c in columns if c.name in required and c.type.nullable}
        problem = f"is NOT NULL in the {self.library} table, however, a null value is being written into it"
        return replace(request, frame=refused(request.frame, checked, problem, [c.name for c in columns]))


def stored(frame: DataFrame, table: Table) -> DataFrame:
    """``frame`` in the types of the lake's table."""
    return frame.selectExpr(*_cells(table))


def by_key(frame: DataFrame, request: Write) -> DataFrame:
    """What ``frame`` does to each primary key: rows in these types, and DELETED."""
    return upserts(frame, request).selectExpr(*_cells(request.table), DELETED)


def last_of_each_key(frame: DataFrame, request: Write) -> DataFrame:
    """The rows of ``frame`` that stay: one of each primary key."""
    return by_key(frame, request).where(f"NOT {DELETED}").drop(DELETED)


def _cells(table: Table) -> list[str]:
    return [f"CAST({quote(c.name)} AS {c.type.stored}) AS {quote(c.name)}" for c in table.physical]


def merged(merge: Callable[[], None], is_conflict: Callable[[Exception], bool]) -> None:
    """Carry out ``merge``, again where its error says that another writer has changed the table in the meantime."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            merge()
            return
        except Exception as error:
            if attempt == _ATTEMPTS or not is_conflict(error):
                raise
            time.sleep(0.1 * attempt)


def added(table: Table, names: Collection[str], there: Collection[str], place: str) -> list[PhysicalColumn]:
    """The columns with ``names`` that ``place``, which has those ``there``, lacks. Raises ValidationError for one that takes no NULL."""
    known = {name.lower() for name in there}
    found = [c for c in table.physical if c.name in names and c.name.lower() not in known]
    if sure := [c.name for c in found if not c.type.nullable]:
        raise ValidationError(
            f"Column '{sure[0]}' can't be added to {place}: the rows that are in it have no value there.", hint="Declare it without NOT NULL."
        )
    return found


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
