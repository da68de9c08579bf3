"""Catalogs of the type ``folder``: a folder has the databases, each a folder with a file for each table and view."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from sqlstream.catalog.base import CatalogType, Store
from sqlstream.core.options import Option

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Folder(CatalogType):
    """Several projects may share one."""

    name = "folder"
    summary = "A folder of definitions, below it one for each database."
    example = "CREATE CATALOG shared WITH ('type' = 'folder', 'path' = '/srv/tables');"
    options = (Option("path", required=True, summary="The folder."),)

    def open(self, options: Mapping[str, str], project: Path) -> Store:
        return Definitions(project / options["path"])


class Definitions(Store):
    """Definitions in ``<folder>/<database>/<name>.sql``; of a name only letters, digits, ``_``, ``-`` and ``~`` are written as they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def databases(self) -> list[str]:
        return sorted(unquote(each.name) for each in self.folder.iterdir() if each.is_dir())

    def tables(self, database: str) -> list[str]:
        return sorted(unquote(file.stem) for file in self._database(database).glob("*.sql"))

    def read(self, database: str, name: str) -> str | None:
        file = self._file(database, name)
        return file.read_text("utf-8") if file.exists() else None

    def save(self, database: str, name: str, definition: str) -> None:
        self._file(database, name).write_text(definition, "utf-8")

    def remove(self, database: str, name: str) -> None:
        self._file(database, name).unlink()

    def create_database(self, database: str) -> None:
        self._database(database).mkdir()

    def _database(self, name: str) -> Path:
        return self.folder / _escaped(name)

    def _file(self, database: str, name: str) -> Path:
        return self._database(database) / f"{_escaped(name)}.sql"


def _escaped(name: str) -> str:
    return quote(name, safe="").replace(".", "%2E")
