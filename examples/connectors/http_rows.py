"""A connector of a project's own: rows of an HTTP server. Put it into the folder connectors/ of a project."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

from pyspark.sql.datasource import DataSource, DataSourceStreamWriter, SimpleDataSourceStreamReader, WriterCommitMessage

from sqlstream.core.options import Option, OptionKind, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Row
    from pyspark.sql.types import StructType

Offset = dict[str, int]


class Http(DataSource):
    """Asks a server for further rows, as JSON, again and again, and sends it rows."""

    OPTIONS = (
        Option("url", required=True, summary="The address; ?after=N asks for the rows behind the first N.", role=Role.PLACE),
        Option("interval-seconds", OptionKind.INT, "1", "How long to wait between two requests.", role=Role.TUNING),
    )

    @classmethod
    def name(cls) -> str:
        return "http"

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:
        return Reader(self.options, schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        return Writer(self.options)


class Reader(SimpleDataSourceStreamReader):
    """The offset is the number of rows that were read."""

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        self.url, self.names = options["url"], schema.names
        self.interval = int(options.get("interval-seconds", "1"))

    def initialOffset(self) -> Offset:
        return {"after": 0}

    def read(self, start: Offset) -> tuple[Iterator[tuple[Any, ...]], Offset]:
        time.sleep(self.interval)
        rows = self._rows(start["after"])
        return iter(rows), {"after": start["after"] + len(rows)}

    def readBetweenOffsets(self, start: Offset, end: Offset) -> Iterator[tuple[Any, ...]]:
        """The same rows again, after a failure."""
        return iter(self._rows(start["after"])[: end["after"] - start["after"]])

    def _rows(self, after: int) -> list[tuple[Any, ...]]:
        with urlopen(f"{self.url}?after={after}", timeout=30) as answer:
            return [tuple(map(row.get, self.names)) for row in json.load(answer)]


class Writer(DataSourceStreamWriter):
    """Sends the rows of each task of a micro-batch together; after a failure they are sent again."""

    def __init__(self, options: dict[str, str]) -> None:
        self.url = options["url"]

    def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
        if rows := [row.asDict(recursive=True) for row in iterator]:
            body = json.dumps(rows, default=str).encode()
            urlopen(Request(self.url, body, {"Content-Type": "application/json"}), timeout=30).close()
        return WriterCommitMessage()
