"""ListView and MapView: what pyflink has for large accumulators, here a list and a dictionary."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class ListView:
    """Values in order."""

    def __init__(self) -> None:
        self._values: list[Any] = []

    def get(self) -> Iterable[Any]:
        """The values."""
        return self._values

    def add(self, value: Any) -> None:
        """Append a value."""
        self._values.append(value)

    def add_all(self, values: Iterable[Any]) -> None:
        """Append values."""
        self._values.extend(values)

    def clear(self) -> None:
        """Let go of all."""
        self._values = []

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListView) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]


class MapView(MutableMapping[Any, Any]):
    """Values by key; of a missing key ``view[key]`` and ``get`` are None."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key."""
        return self._values.get(key, default)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key."""
        self._values[key] = value

    def put_all(self, values: Mapping[Any, Any]) -> None:
        """Set the values of several keys."""
        self._values.update(values)

    def remove(self, key: Any) -> None:
        """Let go of a key."""
        self._values.pop(key, None)

    def contains(self, key: Any) -> bool:
        """Whether there is such a key."""
        return key in self._values

    def is_empty(self) -> bool:
        """Whether there are no keys."""
        return not self._values

    def __getitem__(self, key: Any) -> Any:
        return self._values.get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._values[key] = value

    def __delitem__(self, key: Any) -> None:
        self._values.pop(key, None)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
