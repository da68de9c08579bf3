"""The catalog of type ``iceberg``, with the options of Iceberg's for Flink."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlstream.catalog.base import CatalogType, Store
from sqlstream.connectors.iceberg import options as rows
from sqlstream.connectors.paths import one_spelling
from sqlstream.core.errors import NotSupported, SetupError, ValidationError
from sqlstream.core.storage import scheme

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# What pyiceberg has a client for.
_SERVICES = ("rest", "hive", "glue")
_DECLARE = "Declare its tables: CREATE TABLE .. WITH ('connector' = 'iceberg', 'catalog-name' = .., ..)."


class Iceberg(CatalogType):
    """The tables of one of Iceberg's catalogs."""

    name = "iceberg"
    summary = "The tables of a catalog of Iceberg's: a folder, a REST catalog, a Hive metastore or Glue."
    example = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');"
    options = (*rows.CATALOG, *rows.NAMESPACE, *rows.WITHOUT_EFFECT)

    def open(self, options: Mapping[str, str], project: Path) -> Store:
        """Raises NotSupported, SetupError, ValidationError."""
        kind = options.get("catalog-type", "hive").lower()
        if "catalog-impl" in options or kind not in ("hadoop", *_SERVICES):
            what = f"of type '{kind}'" if "catalog-impl" not in options else "of a class"
            raise NotSupported(f"A catalog {what} can't be opened.", hint=_DECLARE)
        own = {key: value for key, value in options.items() if key not in {row.key for row in (*rows.NAMESPACE, *rows.WITHOUT_EFFECT)}}
        base = [level for level in options.get("base-namespace", "").split(".") if level]
        given = {"connector": "iceberg", "catalog-name": "iceberg", "catalog-type": kind, **own}
        given |= {"base-namespace": options["base-namespace"]} if base else {}
        store: Any = _store()
        if kind != "hadoop":
            if "uri" not in options and kind != "glue":
                raise ValidationError(f"A catalog of type '{kind}' needs the option 'uri'.", hint="It is the address of the service.")
            settings = {key: value for key, value in own.items() if key != "catalog-type"}
            service: Store = store.Service("iceberg", kind, settings, given, base)
            return service
        if "warehouse" not in options:
            raise ValidationError("A catalog of type 'hadoop' needs the option 'warehouse'.", hint="It is the folder of its tables.")
        warehouse = options["warehouse"]
        if scheme(warehouse) is not None:
            raise NotSupported(f"A catalog of type 'hadoop' in '{warehouse}' can't be opened: only folders of this machine can.", hint=_DECLARE)
        folder = (project / one_spelling(warehouse)).absolute()
        folders: Store = store.Folders(folder, {**given, "warehouse": str(folder)}, base)
        return folders


def _store() -> Any:
    """The module of the stores, which needs pyiceberg. Raises SetupError."""
    try:
        return import_module("sqlstream.catalog.iceberg.store")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyiceberg":
            raise
        raise SetupError("The package pyiceberg is missing.", hint="pip install 'sqlstream[iceberg]' has it.") from None
