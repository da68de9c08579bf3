"""Catalogs whose definitions a store keeps: names are listed without reading definitions, and a definition is read when it is first used.

What a store raises or answers comes out as an answer or as a SqlStreamError with the catalog's name. How a definition is read and written as text is
given: nothing here knows syntax.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from sqlstream.catalog.base import Store
from sqlstream.core.errors import NotSupported, SetupError, SqlStreamError, ValidationError
from sqlstream.core.secrets import without
from sqlstream.sql.tables import ObjectPath, Table, View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

T = TypeVar("T")
Define = Callable[[ObjectPath, str], Table | View]
"""The relation of a path that a text defines. Raises SqlStreamError."""
Write = Callable[[Table | View], str]
"""The text that defines a relation. Raises SqlStreamError."""

_WRITING = {
    "save": ("save", "remove"),
    "remove": ("save", "remove"),
    "rename": ("save", "remove"),
    "create_database": ("create_database",),
    "drop_database": ("drop_database",),
}
_DOING = {
    "databases": "list its databases",
    "tables": "list its tables",
    "read": "read a definition",
    "save": "save a table or a view",
    "remove": "drop a table or a view",
    "rename": "rename a table or a view",
    "options": "tell a table's options",
    "create_database": "create a database",
    "drop_database": "drop a database",
}


@contextmanager
def placed(at: Any) -> Iterator[None]:
    """Errors of no place that are raised inside are about ``at``."""
    try:
        yield
    except SqlStreamError as error:
        if error.at is None:
            error.at = at
        raise


@contextmanager
def guarded(catalog: str, doing: str, secrets: Iterable[str]) -> Iterator[None]:
    """Whatever code of another package raises inside is a SqlStreamError that names the catalog, without ``secrets``."""
    try:
        yield
    except SqlStreamError as error:
        raise type(error)(f"Catalog '{catalog}' can't {doing}: {without(error.message, secrets)}", hint=error.hint) from error
    except Exception as error:
        text = without(f"{type(error).__name__}: {error}", secrets).rstrip(".: ")
        raise SetupError(f"Catalog '{catalog}' can't {doing}: {text}.") from error


class GuardedStore:
    """The store of the catalog ``name``. ``secrets`` are values of its options that no message may show."""

    def __init__(self, name: str, store: Store, secrets: tuple[str, ...], define: Define, write: Write) -> None:
        self.name = name
        self._store = store
        self._secrets = secrets
        self._define = define
        self._write = write
        # Completion asks from a thread of its own.
        self._lock = threading.RLock()

    def databases(self) -> list[str]:
        """The names of the databases. Raises SqlStreamError."""
        return self._names("databases")

    def tables(self, database: str) -> list[str]:
        """The names of the tables and views of ``database``. Raises SqlStreamError."""
        return self._names("tables", database)

    def read(self, database: str, name: str) -> Table | View | None:
        """A table or a view; None where there is none. Raises SqlStreamError, also for a definition that can't be used."""
        path = ObjectPath(self.name, database, name)
        text = self._asked("read", database, name)
        if text is None:
            return None
        if not isinstance(text, str):
            raise self._nonsense(text, f"the definition of {path.quoted}")
        return self._define(path, text)

    def has(self, database: str, name: str) -> bool:
        """Whether there is a definition, whatever it is. Raises SqlStreamError."""
        return self._asked("read", database, name) is not None

    def save(self, item: Table | View, *, writes: bool) -> None:
        """Keep the definition of ``item``. ``writes``, here and below: or only raise what forbids it. Raises SqlStreamError."""
        self._refuse("save")
        self._changed("save", item.path.database, item.path.name, self._write(self._bare(item)), writes=writes)

    def rename(self, name: str, item: Table | View, *, writes: bool) -> None:
        """Keep what is called ``name`` as ``item``. Raises SqlStreamError."""
        self._refuse("rename")
        self._changed("rename", item.path.database, name, item.path.name, self._write(self._bare(item)), writes=writes)

    def completed(self, item: Table | View) -> Table | View:
        """``item`` with the options that it has as one of this catalog. Raises SqlStreamError."""
        return item if isinstance(item, View) else replace(item, options={**self._options(item), **item.options})

    def _bare(self, item: Table | View) -> Table | View:
        """``item`` without them."""
        if isinstance(item, View):
            return item
        given = self._options(item)
        return replace(item, options={key: value for key, value in item.options.items() if given.get(key) != value})

    def _options(self, item: Table) -> dict[str, str]:
        return dict(self._asked("options", item.path.database, item.path.name))

    def remove(self, database: str, name: str, *, writes: bool) -> None:
        """Forget a definition. Raises SqlStreamError."""
        self._changed("remove", database, name, writes=writes)

    def create_database(self, database: str, *, writes: bool) -> StoredTables:
        """Add a database; its tables, of which there are none, come back. Raises SqlStreamError."""
        self._changed("create_database", database, writes=writes)
        return StoredTables(self, database, writes=writes, empty=True)

    def drop_database(self, database: str, *, writes: bool) -> None:
        """Forget a database. Raises SqlStreamError."""
        self._changed("drop_database", database, writes=writes)

    def _changed(self, method: str, *arguments: str, writes: bool) -> None:
        self._refuse(method)
        if writes:
            self._asked(method, *arguments)

    def _refuse(self, method: str) -> None:
        """Raises NotSupported for what the store has no method for."""
        if any(getattr(type(self._store), m) is getattr(Store, m) for m in _WRITING[method]):
            raise NotSupported(
                f"Catalog '{self.name}' is read-only: it can't {_DOING[method]}.",
                hint="Change it where its definitions come from; CREATE TEMPORARY TABLE and VIEW last for the session.",
            )

    def _names(self, method: str, *arguments: str) -> list[str]:
        names = self._asked(method, *arguments)
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
            raise self._nonsense(names, f"the names of {method}")
        return list(names)

    def _asked(self, method: str, *arguments: str) -> Any:
        with self._lock, guarded(self.name, _DOING[method] if not arguments else f"{_DOING[method]} ({'.'.join(arguments[:2])})", self._secrets):
            return getattr(self._store, method)(*arguments)

    def _nonsense(self, answer: object, wanted: str) -> SetupError:
        return SetupError(
            f"Catalog '{self.name}' gave a value of type {type(answer).__name__} for {wanted}.", hint="The package of its type has a fault."
        )


class _Definitions:
    """What a store has said of a database, which no session is told again. ``empty``: nothing is in it that it would have to be asked for."""

    def __init__(self, store: GuardedStore, database: str, *, empty: bool) -> None:
        self._store, self._database, self._empty = store, database, empty
        self._names: dict[str, None] | None = {} if empty else None
        self.read: dict[str, Table | View | None] = {}

    def names(self) -> Mapping[str, None]:
        if self._names is None:
            self._names = dict.fromkeys(self._store.tables(self._database))
        return self._names

    def get(self, name: str) -> Table | View | None:
        if self._empty:
            return None
        if name not in self.read:
            self.read[name] = self._store.read(self._database, name)
        return self.read[name]

    def renew(self, name: str) -> None:
        there = self._store.has(self._database, name)
        self._empty = False
        self.read.pop(name, None)
        if not there:
            self.read[name] = None
        if self._names is not None:
            self._names.pop(name, None)
            if there:
                self._names[name] = None


class StoredTables(MutableMapping[str, "Table | View"]):
    """The tables and views of a database that a store keeps: ``in`` and iteration ask for names alone. What is put in or deleted is so in the store
    as well, where it ``writes``. Whatever asks the store raises SqlStreamError."""

    def __init__(self, store: GuardedStore, database: str, *, writes: bool, empty: bool = False) -> None:
        self._store, self._database, self._writes = store, database, writes
        self._there = _Definitions(store, database, empty=empty)
        # What the session has put in, None for what it has deleted.
        self._own: dict[str, Table | View | None] = {}

    def isolated(self) -> StoredTables:
        """The same ones, whose changes are neither seen here nor in the store."""
        other = copy(self)
        other._own, other._writes = dict(self._own), False
        return other

    def renew(self, name: str) -> None:
        """What the store has of ``name`` now, which is about to be changed: another session may have changed it, too."""
        if self._writes:
            self._own.pop(name, None)
            self._there.renew(name)

    @property
    def known(self) -> dict[str, Table | View]:
        """Those whose definitions need not be asked for."""
        return {name: item for name, item in (dict(self._there.read) | self._own).items() if item is not None}

    def __getitem__(self, name: str) -> Table | View:
        item = self._own[name] if name in self._own else self._there.get(name)
        if item is None:
            raise KeyError(name)
        return item

    def __contains__(self, name: object) -> bool:
        return self._own[name] is not None if name in self._own else name in self._there.names()

    def __setitem__(self, name: str, item: Table | View) -> None:
        self._store.save(item, writes=self._writes)
        self._own[name] = self._store.completed(item)

    def rename(self, name: str, item: Table | View) -> None:
        """What is called ``name`` is ``item`` from now on."""
        self._store.rename(name, item, writes=self._writes)
        self._own[item.path.name], self._own[name] = self._store.completed(item), None

    def __delitem__(self, name: str) -> None:
        self._store.remove(self._database, name, writes=self._writes)
        self._own[name] = None

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in self._there.names() if name not in self._own)
        yield from (name for name, item in self._own.items() if item is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class UnusableDefinition(ValidationError):
    """The error of a definition that can't be used."""


def refused_definition(path: ObjectPath, why: str, hint: str | None = None) -> UnusableDefinition:
    """The error of the definition of ``path``."""
    return UnusableDefinition(f"The definition of {path.quoted} in catalog '{path.catalog}' can't be used: {why}", hint=hint)
