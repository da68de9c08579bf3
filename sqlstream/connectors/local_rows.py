"""Rows of a frame in this process, a piece at a time."""

from __future__ import annotations

from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlstream.core.java import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row


_AT_ONCE = 1000


class LocalRows:
    """The rows of ``frame``, whose query begins. What is not read yet is on the disks of Spark's executors: the memory does not limit how many there
    are. They can be read once.
    """

    def __init__(self, frame: DataFrame) -> None:
        self._pieces = classes(frame.sparkSession).gateway.RowPieces.of(frame._jdf)

    def await_all(self) -> None:
        """Wait for the end of the query; raises what it has met."""
        self._pieces.awaitAll()

    def __iter__(self) -> Iterator[Row]:
        """The rows as they come; a query of which nobody reads all ends with the iterator."""
        from pyspark.serializers import BatchedSerializer, CPickleSerializer, NoOpSerializer
        from pyspark.util import local_connect_and_auth

        pieces: Any = NoOpSerializer()
        batches: Any = BatchedSerializer(CPickleSerializer())  # type: ignore[no-untyped-call]
        try:
            port, secret, _ = self._pieces.serve()
            file, connection = local_connect_and_auth(port, secret)
            with connection, file:
                connection.settimeout(None)
                for piece in pieces.load_stream(file):
                    yield from batches.load_stream(BytesIO(piece))
            self._pieces.checkRead()
        finally:
            self.close()

    def in_lists(self) -> Iterator[list[Row]]:
        """The same, so many at once that little time is spent on each."""
        rows = iter(self)
        while some := list(islice(rows, _AT_ONCE)):
            yield some

    def close(self) -> None:
        """Nothing more is read: end the query, and forget its rows."""
        self._pieces.close()
