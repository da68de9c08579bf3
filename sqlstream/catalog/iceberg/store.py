"""The stores of Iceberg's catalogs: a service, by pyiceberg's client, and the folders that Iceberg calls a catalog of Hadoop's.

A definition is a CREATE TABLE of the connector ``iceberg``, made of what the table's metadata says. A table is made when it is created, as in Flink.
DROP removes a service's entry, and no file.
"""

from __future__ import annotations

import gzip
import os
import re
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.transforms import IdentityTransform

from sqlstream.catalog import declare
from sqlstream.catalog.base import Store
from sqlstream.catalog.ddl import create_table_file
from sqlstream.catalog.iceberg.schema import flink_columns, iceberg_schema
from sqlstream.connectors.iceberg.options import TABLE
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.options import find_option
from sqlstream.sql.quoting import quote
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import ObjectPath, PhysicalColumn, PrimaryKey, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyiceberg.schema import Schema

_DEFAULT = "default"
# With 'write.metadata.compression-codec' = 'gzip' Iceberg writes the second form.
_VERSION = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json")
_PLAIN = "It keeps columns, a PRIMARY KEY, partitions and options. CREATE TEMPORARY TABLE .. LIKE it has the others beside."


class IcebergStore(Store):
    """``given``: the options of its tables, which say where the catalog is; ``base``: the namespace in which the databases are."""

    def __init__(self, given: Mapping[str, str], base: Sequence[str]) -> None:
        self._given = dict(given)
        self._base = tuple(base)

    @abstractmethod
    def _metadata(self, database: str, name: str) -> TableMetadata | None:
        """What Iceberg knows of a table; None where there is none."""

    @abstractmethod
    def _create(self, database: str, name: str, schema: Schema, spec: PartitionSpec, location: str | None, properties: dict[str, str]) -> None:
        """Make a table, and its database where that is missing."""

    @abstractmethod
    def _set(self, database: str, name: str, properties: Mapping[str, str], removed: Sequence[str]) -> None:
        """Change properties of a table."""

    def options(self, database: str, name: str) -> Mapping[str, str]:
        return {**self._given, "catalog-database": database, "catalog-table": name}

    def read(self, database: str, name: str) -> str | None:
        found = self._metadata(database, name)
        if found is None:
            return None
        schema = found.schema()
        keys = tuple(field.name for field in schema.fields if field.field_id in schema.identifier_field_ids)
        names = {field.field_id: field.name for field in schema.fields}
        partitions = tuple(names[f.source_id] for f in found.spec().fields if isinstance(f.transform, IdentityTransform) and f.source_id in names)
        own = {key: value for key, value in found.properties.items() if find_option(TABLE, key) is not None}
        columns = tuple(flink_columns(schema))
        options = {**self.options(database, name), **own}
        key = PrimaryKey(keys) if keys else None
        return create_table_file(Table(ObjectPath("", database, name), columns, options, primary_key=key, partition_keys=partitions), quote(name))

    def save(self, database: str, name: str, definition: str) -> None:
        """Raises NotSupported for what Iceberg has no place for."""
        declared = _declared(definition)
        properties = _properties(declared.options)
        keys = declared.primary_key.columns if declared.primary_key else ()
        schema = iceberg_schema(declared.physical, keys)
        there = self._metadata(database, name)
        if there is None:
            location = properties.pop("location", None)
            self._create(database, name, schema, _spec(schema, declared.partition_keys), location, properties)
            return
        if [(c.name, c.type) for c in flink_columns(schema)] != [(c.name, c.type) for c in flink_columns(there.schema())]:
            raise NotSupported(
                "Columns of an Iceberg table are not changed here.", hint="ALTER TABLE SET and RESET change its properties; Spark its columns."
            )
        known = {key: value for key, value in there.properties.items() if find_option(TABLE, key) is not None}
        changed = {key: value for key, value in properties.items() if known.get(key) != value}
        self._set(database, name, changed, [key for key in known if key not in properties])


class Service(IcebergStore):
    """A catalog that is asked over the network: ``kind`` is pyiceberg's name of it."""

    def __init__(self, name: str, kind: str, settings: Mapping[str, str], given: Mapping[str, str], base: Sequence[str]) -> None:
        super().__init__(given, base)
        self._catalog = load_catalog(name, type=kind, **settings)

    def databases(self) -> list[str]:
        found = {namespace[-1] for namespace in self._catalog.list_namespaces(self._base)}
        return sorted(found | {_DEFAULT})

    def tables(self, database: str) -> list[str]:
        if not self._catalog.namespace_exists(self._namespace(database)):
            return []
        return sorted(identifier[-1] for identifier in self._catalog.list_tables(self._namespace(database)))

    def remove(self, database: str, name: str) -> None:
        self._catalog.drop_table((*self._namespace(database), name))

    def rename(self, database: str, name: str, to: str, definition: str) -> None:
        self._catalog.rename_table((*self._namespace(database), name), (*self._namespace(database), to))

    def create_database(self, database: str) -> None:
        self._catalog.create_namespace(self._namespace(database))

    def drop_database(self, database: str) -> None:
        if self._catalog.namespace_exists(self._namespace(database)):
            for name in self.tables(database):
                self.remove(database, name)
            self._catalog.drop_namespace(self._namespace(database))

    def _namespace(self, database: str) -> tuple[str, ...]:
        return (*self._base, database)

    def _metadata(self, database: str, name: str) -> TableMetadata | None:
        try:
            return self._catalog.load_table((*self._namespace(database), name)).metadata
        except NoSuchTableError:
            return None

    def _create(self, database: str, name: str, schema: Schema, spec: PartitionSpec, location: str | None, properties: dict[str, str]) -> None:
        self._catalog.create_namespace_if_not_exists(self._namespace(database))
        self._catalog.create_table((*self._namespace(database), name), schema, location, spec, properties=properties)

    def _set(self, database: str, name: str, properties: Mapping[str, str], removed: Sequence[str]) -> None:
        table = self._catalog.load_table((*self._namespace(database), name))
        with table.transaction() as transaction:
            transaction.set_properties(dict(properties))
            transaction.remove_properties(*removed)


class Folders(IcebergStore):
    """A catalog of type ``hadoop`` below ``warehouse``, a folder of this machine: a database is a folder, and so is a table, with its metadata.

    Iceberg's rules: versions are numbered, each a file that is never changed; who writes the next number first has made it.
    """

    def __init__(self, warehouse: Path, given: Mapping[str, str], base: Sequence[str]) -> None:
        super().__init__(given, base)
        self._root = warehouse.joinpath(*base)

    def databases(self) -> list[str]:
        return sorted({folder.name for folder in _folders(self._root) if not _versions(folder)} | {_DEFAULT})

    def tables(self, database: str) -> list[str]:
        return sorted(folder.name for folder in _folders(self._root / database) if _versions(folder))

    def remove(self, database: str, name: str) -> None:
        raise NotSupported(
            "In a catalog of type 'hadoop' a table is its files: without them it is gone, and DROP deletes no data.",
            hint=f"Delete the folder '{self._root / database / name}' where its rows may go.",
        )

    def rename(self, database: str, name: str, to: str, definition: str) -> None:
        raise NotSupported(
            "Tables in a catalog of type 'hadoop' can't be renamed: they are called as their folders.", hint="CREATE TABLE .. AS SELECT."
        )

    def create_database(self, database: str) -> None:
        (self._root / database).mkdir(parents=True)

    def drop_database(self, database: str) -> None:
        if tables := self.tables(database):
            self.remove(database, tables[0])
        if (folder := self._root / database).exists():
            folder.rmdir()

    def _metadata(self, database: str, name: str) -> TableMetadata | None:
        versions = _versions(self._root / database / name)
        return _newest(versions) if versions else None

    def _create(self, database: str, name: str, schema: Schema, spec: PartitionSpec, location: str | None, properties: dict[str, str]) -> None:
        folder = self._root / database / name
        if location is not None:
            raise ValidationError("A table in a catalog of type 'hadoop' has no other location than its folder.", hint="Leave out 'location'.")
        _write(folder, 1, new_table_metadata(schema, spec, UNSORTED_SORT_ORDER, str(folder), properties))

    def _set(self, database: str, name: str, properties: Mapping[str, str], removed: Sequence[str]) -> None:
        folder = self._root / database / name
        versions = _versions(folder)
        there = _newest(versions)
        kept = {key: value for key, value in there.properties.items() if key not in removed}
        _write(folder, max(versions) + 1, there.model_copy(update={"properties": {**kept, **properties}}))


def _folders(parent: Path) -> list[Path]:
    return [path for path in parent.iterdir() if path.is_dir() and not path.name.startswith(".")] if parent.is_dir() else []


def _versions(table: Path) -> dict[int, Path]:
    """The metadata files of a table by their numbers; none where the folder is no table."""
    named = ((path, _VERSION.fullmatch(path.name)) for path in (table / "metadata").glob("v*"))
    return {int(match[1]): path for path, match in named if match is not None}


def _newest(versions: Mapping[int, Path]) -> TableMetadata:
    newest = versions[max(versions)]
    text = gzip.decompress(newest.read_bytes()) if ".gz" in newest.name else newest.read_bytes()
    return TableMetadataUtil.parse_raw(text.decode())


def _write(table: Path, version: int, metadata: TableMetadata) -> None:
    folder = table / "metadata"
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f".{os.getpid()}-v{version}.metadata.json"
    new.write_text(metadata.model_dump_json())
    try:
        # It fails where another process has written this version.
        os.link(new, folder / f"v{version}.metadata.json")
    finally:
        new.unlink()
    hint = folder / f".{os.getpid()}-version-hint.text"
    hint.write_text(str(version))
    hint.replace(folder / "version-hint.text")


def _declared(definition: str) -> Table:
    """The table that ``definition``, a CREATE TABLE, declares. Raises NotSupported for what is more than Iceberg keeps."""
    (statement,) = split(definition)
    node: Any = parse(statement)
    if not isinstance(node, ast.CreateTable):
        raise NotSupported("A catalog of Iceberg's keeps no views.", hint="CREATE TEMPORARY VIEW, or keep it in the project's folder catalog/.")
    parts = declare.components([*node.columns, *node.watermarks, *node.primary_keys])
    if parts.watermarks or any(not isinstance(c, PhysicalColumn) for c in parts.columns):
        raise NotSupported("A catalog of Iceberg's keeps no WATERMARK, and no computed and metadata columns.", hint=_PLAIN)
    return Table(
        ObjectPath("", "", ""), tuple(parts.columns), declare.options_of(node.options), primary_key=parts.keys[0] if parts.keys else None,
        partition_keys=tuple(p.name for p in node.partitioned_by),
    )  # fmt: skip


def _properties(options: Mapping[str, str]) -> dict[str, str]:
    """The properties of a table with ``options``. Raises NotSupported for an option that is none."""
    if wrong := sorted(key for key in options if find_option(TABLE, key) is None):
        hint = "Options of a read stand behind the table: /*+ OPTIONS('streaming' = 'true') */."
        raise NotSupported(f"'{wrong[0]}' is no property of an Iceberg table.", hint=hint)
    return dict(options)


def _spec(schema: Schema, partitions: Sequence[str]) -> PartitionSpec:
    fields = [PartitionField(schema.find_field(name).field_id, 1000 + i, IdentityTransform(), name) for i, name in enumerate(partitions)]
    return PartitionSpec(*fields)
