"""Row kinds and changelog modes, as Flink has them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from sqlstream.core.hidden import hidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class RowKind(Enum):
    """What a row does to the result: the value is the ``op`` column's text."""

    INSERT = "+I"
    UPDATE_BEFORE = "-U"
    UPDATE_AFTER = "+U"
    DELETE = "-D"

    @property
    def code(self) -> int:
        """Its number in the column KIND."""
        return list(RowKind).index(self)

    @property
    def spark(self) -> str:
        """Its number as a value of the column KIND in Spark's SQL."""
        return f"CAST({self.code} AS {KIND_TYPE})"

    @property
    def removes(self) -> bool:
        """Whether a row of this kind takes an earlier one away."""
        return self in (RowKind.UPDATE_BEFORE, RowKind.DELETE)


# The column that rows carry their kind in: the place among RowKind's.
KIND = hidden("kind")
KIND_TYPE = "TINYINT"
# The column of the cells as JSON, where rows have one.
VALUES = hidden("values")
# Whether a row takes an earlier one away, in Spark's SQL.
REMOVES = f"{KIND} IN ({', '.join(str(kind.code) for kind in RowKind if kind.removes)})"


class ChangelogMode(Enum):
    """The kinds of rows that a plan node emits; the value is what EXPLAIN prints. append < upsert < retract."""

    APPEND = "[I]"
    UPSERT = "[I,UA]"
    UPSERT_DELETE = "[I,UA,D]"
    RETRACT = "[I,UB,UA]"
    RETRACT_DELETE = "[I,UB,UA,D]"

    @property
    def updates(self) -> bool:
        """Whether rows can change after they were emitted."""
        return self is not ChangelogMode.APPEND

    @property
    def carries_kinds(self) -> bool:
        """Whether rows have a column KIND. Of UPSERT each replaces the one of its key, of APPEND all are new."""
        return self not in (ChangelogMode.APPEND, ChangelogMode.UPSERT)

    @property
    def deletes(self) -> bool:
        """Whether rows can go."""
        return self in (ChangelogMode.UPSERT_DELETE, ChangelogMode.RETRACT_DELETE)

    @property
    def retracts(self) -> bool:
        """Whether an update is preceded by the retraction of the row as it was."""
        return self in (ChangelogMode.RETRACT, ChangelogMode.RETRACT_DELETE)


class Nested(str):
    """A cell of a nested type: the client's text, which does not show where its parts end, and the same value as JSON."""

    json: str

    def __new__(cls, text: str, json: str) -> Nested:
        made = super().__new__(cls, text)
        made.json = json
        return made


@dataclass(frozen=True)
class Change:
    """One row of a result: its kind and its cells as Flink's client shows them (None is NULL).

    ``values`` are the cells as JSON, where that was asked for: None where a type has none.
    """

    kind: RowKind
    row: tuple[str | None, ...]
    values: tuple[str | None, ...] | None = None


def changes(rows: Iterable[tuple[Any, ...]], columns: Sequence[str]) -> list[Change]:
    """``rows`` as changes: inserts, or of the kind whose code each has in the column KIND; with the values of the column VALUES."""
    every = list(RowKind)
    kind, values = (columns.index(name) if name in columns else None for name in (KIND, VALUES))
    width = len(columns) - (kind is not None) - (values is not None)
    return [
        Change(
            RowKind.INSERT if kind is None else every[row[kind]],
            row[:width],
            None if values is None else tuple(row[values]),
        )
        for row in rows
    ]
