"""Functions of Flink that are not here: why, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AbsentFunction:
    """A function, or all whose names begin with what stands before ``*``."""

    name: str
    reason: str
    hint: str

    def is_called(self, name: str) -> bool:
        """Whether ``name``, in upper case, is one of them."""
        return name.startswith(self.name[:-1]) if self.name.endswith("*") else name == self.name


ROWS: tuple[AbsentFunction, ...] = (
    AbsentFunction(
        "BITMAP_*", "Spark has no type BITMAP.", "Use COUNT(DISTINCT x), or arrays of integers: ARRAY_UNION, ARRAY_INTERSECT, ARRAY_EXCEPT."
    ),
    AbsentFunction("OBJECT_OF", "There are no types of Java classes.", "Use ROW(..), with names by CAST(ROW(..) AS ROW<name STRING, ..>)."),
    AbsentFunction("OBJECT_UPDATE", "There are no types of Java classes.", "Build a new ROW(..) of the fields."),
)


def absent(name: str) -> AbsentFunction | None:
    """What there is to say about ``name``, in upper case, if Flink has it."""
    return next((row for row in ROWS if row.is_called(name)), None)
