"""Row: a value of Flink's type ROW, as pyflink has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class Row:
    """Fields by place and, where they have names, by name: ``Row(1, 'a')``, ``Row(id=1, name='a')``; ``row[0]``, ``row['id']``, ``row.id``."""

    __slots__ = ("_fields", "_values")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("Can not use both args and kwargs to create Row")
        self._fields: tuple[str, ...] = tuple(kwargs)
        self._values: list[Any] = list(kwargs.values() if kwargs else args)

    @classmethod
    def of(cls, names: tuple[str, ...], values: list[Any]) -> Row:
        """A row of named fields."""
        row = cls.__new__(cls)
        row._fields, row._values = names, values
        return row

    def set_field_names(self, field_names: list[str]) -> None:
        """Give the fields their names."""
        self._fields = tuple(field_names)

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The fields by name."""
        if not self._fields:
            raise TypeError("Cannot convert a Row without field names to a dict")
        values = (v.as_dict(True) if recursive and isinstance(v, Row) else v for v in self._values)
        return dict(zip(self._fields, values, strict=True))

    def _place(self, key: int | str) -> int:
        if isinstance(key, int):
            return key
        if key not in self._fields:
            raise KeyError(key)
        return self._fields.index(key)

    def __getitem__(self, key: int | str) -> Any:
        return self._values[self._place(key)]

    def __setitem__(self, key: int | str, value: Any) -> None:
        self._values[self._place(key)] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._fields:
            raise AttributeError(name)
        return self._values[self._fields.index(name)]

    def __getstate__(self) -> tuple[tuple[str, ...], list[Any]]:
        return self._fields, self._values

    def __setstate__(self, state: tuple[tuple[str, ...], list[Any]]) -> None:
        self._fields, self._values = state

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, item: Any) -> bool:
        return item in self._values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self._fields == other._fields and self._values == other._values

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __repr__(self) -> str:
        named = (f"{n}={v!r}" for n, v in zip(self._fields, self._values, strict=False)) if self._fields else map(repr, self._values)
        return f"Row({', '.join(named)})"
