"""Tables that a class in Python is asked for by key: what a task does with the rows of a lookup join.

In: Arrow batches of rows. Out: the same with a further column, for each row the table's rows that have its key. The keys of a batch are asked for
together, each once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa
    from pyspark.sql.types import StructType

Key = tuple[Any, ...]
METHOD = "lookup"


@dataclass(frozen=True)
class Asking:
    """``source`` is a subclass of DataSource with METHOD, ``options`` those of the table, whose columns are ``schema``. ``keys``: columns of
    ``schema``, each with that of a batch which has its value. ``into`` is the new column.

    ``attempts``, ``delay_ms``: how often a key without a row is asked for again, after so long each.
    """

    source: type[Any]
    options: dict[str, str]
    schema: StructType
    keys: Mapping[str, str]
    into: str
    attempts: int
    delay_ms: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyspark.sql.conversion import ArrowTableToRowsConversion, LocalDataToArrowConversion
        from pyspark.sql.types import ArrayType, StructType

        lookup = getattr(self.source(self.options), METHOD)(self.schema, list(self.keys))
        of_keys = StructType([self.schema[name] for name in self.keys])
        found_type = StructType().add(self.into, ArrayType(self.schema))
        for batch in batches:
            asked = pa.Table.from_batches([batch.select(list(self.keys.values()))]).rename_columns(list(self.keys))
            keys = ArrowTableToRowsConversion.convert(asked, of_keys, return_as_tuples=True)
            found = self._found(lookup, [key for key in dict.fromkeys(keys) if None not in key])
            column = LocalDataToArrowConversion.convert([(found.get(key, []),) for key in keys], found_type, False)
            yield pa.RecordBatch.from_arrays([*batch.columns, column[self.into].combine_chunks()], names=[*batch.schema.names, self.into])

    def _found(self, lookup: Any, keys: list[Key]) -> dict[Key, list[Key]]:
        """The rows by key."""
        found: dict[Key, list[Key]] = {}
        for attempt in range(self.attempts + 1):
            if not (missing := [key for key in keys if not found.get(key)]):
                break
            if attempt:
                time.sleep(self.delay_ms / 1000)
            found |= self._given(lookup, missing)
        return found

    def _given(self, lookup: Any, keys: list[Key]) -> dict[Key, list[Key]]:
        """What ``lookup`` gives for ``keys``. Raises ValueError for what is no row, or is one of another key."""
        names = self.schema.names
        places = [names.index(name) for name in self.keys]
        given: dict[Key, list[Key]] = {key: [] for key in keys}
        for row in lookup.read(keys):
            if not isinstance(row, list | tuple) or len(row) != len(names):
                raise ValueError(f"read() of a lookup gives tuples of {', '.join(names)}, and has given a {type(row).__name__}: {row!r}")
            key = tuple(row[place] for place in places)
            if key not in given:
                raise ValueError(f"read() of a lookup gives rows of the keys that it gets, and has given one of {key!r}")
            given[key].append(tuple(row))
        return given
