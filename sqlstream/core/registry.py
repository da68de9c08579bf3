"""What has a name and may come from other packages: connectors, formats, types of catalogs.

Nothing of another package is imported before its name is used.
"""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from sqlstream.core.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import EntryPoint


class _Named(Protocol):
    name: ClassVar[str]


T = TypeVar("T", bound=_Named)


class _Unusable(Exception):
    """What is wrong with an entry point: the end of a sentence."""


class Registry(Generic[T]):
    """Connectors, formats or types of catalogs by name: the ``builtin`` ones, and the plug-ins, entry points of installed packages.

    ``base`` is their class, ``kind`` what messages call them: its name where nothing else is said. That of connectors makes the group of entry
    points ``sqlstream.connectors``. The name of an entry point is the plug-in's, its value a class below ``base``, or a value of one. It is imported
    when its name is first asked for.
    """

    def __init__(self, base: type[Any], builtin: tuple[T, ...], kind: str | None = None) -> None:
        self.builtin = builtin
        self._base = base
        self._kind = kind or base.__name__.lower()
        self._loaded: dict[str, T | str] = {}
        self._own: dict[str, T] = {}

    def take(self, own: Iterable[T]) -> None:
        """The project's own are ``own`` from now on. A process has one project."""
        self._own = {row.name: row for row in own}

    @cached_property
    def _entries(self) -> dict[str, list[EntryPoint]]:
        """The entry points by their names, of which none but a fault of two packages has several."""
        found: dict[str, list[EntryPoint]] = {}
        for entry in entry_points(group=f"sqlstream.{self._kind}s"):
            found.setdefault(entry.name, []).append(entry)
        return found

    def names(self) -> list[str]:
        """All names, sorted. Nothing is imported."""
        return sorted({row.name for row in self.builtin} | self._own.keys() | self._entries.keys())

    def find(self, name: str, at: Any = None) -> T | None:
        """What is called ``name``; None where nothing is. Raises SetupError for a plug-in that can't be used."""
        if name not in self._entries:
            return next((row for row in (*self.builtin, *self._own.values()) if row.name == name), None)
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        found = self._loaded[name]
        if isinstance(found, str):
            raise SetupError(found, at=at, hint="Install a version of the package without this fault, or uninstall it.")
        return found

    def usable(self, name: str) -> T | None:
        """What is called ``name``; None also for a plug-in that can't be used, of which whoever uses it is told."""
        try:
            return self.find(name)
        except SetupError:
            return None

    def __iter__(self) -> Iterator[T]:
        """All that can be used, by name: every plug-in is imported."""
        return filter(None, map(self.usable, self.names()))

    def _load(self, name: str) -> T | str:
        """The plug-in called ``name``, or what is wrong."""
        entry, *others = self._entries[name]
        try:
            if any(row.name == name for row in self.builtin):
                raise _Unusable(f"sqlstream has a {self._kind} of this name itself")
            if others:
                raise _Unusable(f"package '{_package(others[0])}' has a {self._kind} of this name, too")
            return self._checked(entry)
        except _Unusable as fault:
            return f"The {self._kind} '{name}' of package '{_package(entry)}' can't be used: {fault}."

    def _checked(self, entry: EntryPoint) -> T:
        """The plug-in of an entry point. Raises _Unusable."""
        try:
            value = entry.load()
            if isinstance(value, type) and issubclass(value, self._base):
                value = value()
        except Exception as error:
            # What other packages do while they are imported is theirs.
            raise _Unusable(f"'{entry.value}' can't be loaded: {type(error).__name__}: {error}".rstrip(".: ")) from error
        if not isinstance(value, self._base):
            raise _Unusable(f"'{entry.value}' is no {self._base.__name__}")
        # Texts that the base declares without a value.
        for own in (key for key in self._base.__annotations__ if not hasattr(self._base, key)):
            if not isinstance(getattr(value, own, None), str):
                raise _Unusable(f"it has no {own}")
        found: T = value
        if found.name != entry.name:
            raise _Unusable(f"it calls itself '{found.name}'")
        return found


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module
