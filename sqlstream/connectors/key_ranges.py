"""What is known of a micro-batch's primary keys: a MERGE leaves out the files and partitions of the table that can have none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type

# Types whose text is a value of theirs again.
_RANGED = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "CHAR", "VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ")


def key_types(table: Table) -> dict[str, Type]:
    """The columns of the PRIMARY KEY, and their types."""
    assert table.primary_key is not None
    return {c.name: c.type for c in table.physical if c.name in table.primary_key.columns}


def key_ranges(source: DataFrame, table: Table, target: str) -> list[str] | None:
    """Conditions in SQL on the keys of ``target``, an alias or a name: the least and the greatest that ``source`` has. None where it has no rows."""
    ranged = {k: t for k, t in key_types(table).items() if t.root in _RANGED}
    ends = [f"CAST({end}({quote(k)}) AS STRING)" for k in ranged for end in ("min", "max")]
    count, *values = source.selectExpr("count(*)", *ends).first() or (0,)
    if not count:
        return None
    least, most = values[::2], values[1::2]
    return [
        f"{target}.{quote(k)} BETWEEN CAST({spark_string(low)} AS {t.stored}) AND CAST({spark_string(high)} AS {t.stored})"
        for (k, t), low, high in zip(ranged.items(), least, most, strict=True)
    ]
