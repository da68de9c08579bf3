"""Row kinds and changelog modes, as Flink has them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class RowKind(Enum):
    """What a row does to the result: the value is the ``op`` column's text."""

    INSERT = "+I"
    UPDATE_BEFORE = "-U"
    UPDATE_AFTER = "+U"
    DELETE = "-D"


class ChangelogMode(Enum):
    """The kinds of rows a plan node gives; the value is what EXPLAIN prints. append < upsert < retract."""

    APPEND = "[I]"
    UPSERT = "[I,UA]"
    UPSERT_DELETE = "[I,UA,D]"
    RETRACT = "[I,UB,UA]"
    RETRACT_DELETE = "[I,UB,UA,D]"

    @property
    def updates(self) -> bool:
        """Whether rows can change after they were given."""
        return self is not ChangelogMode.APPEND


@dataclass(frozen=True)
class Change:
    """One row of a result: its kind and its cells as Flink's client shows them (None is NULL)."""

    kind: RowKind
    row: tuple[str | None, ...]
