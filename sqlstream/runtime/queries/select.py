"""The rows of a SELECT: all at once, or as an iterator of changes.

Cells arrive from Spark as the text that Flink's client shows: Python sees no other form of a row.
"""

from __future__ import annotations

import glob
import os
import queue
import shutil
import socket
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlstream.connectors.local_rows import LocalRows
from sqlstream.core import private
from sqlstream.core.changelog import KIND, VALUES, Change, Nested, changes
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.formats.json import value_text, writes_value
from sqlstream.plan.properties import bounded, fields, window_column
from sqlstream.runtime.engine.failures import job_error, while_it_runs
from sqlstream.runtime.lower import not_null
from sqlstream.runtime.lower.context import Lowering, readers_of
from sqlstream.runtime.lower.lowering import lower
from sqlstream.runtime.lower.native import in_update_mode
from sqlstream.runtime.lower.python_functions import called_names
from sqlstream.runtime.monitor.why import nothing_yet
from sqlstream.runtime.queries.watch import BatchQuery, Watch
from sqlstream.sql.casts import display_sql, json_sql
from sqlstream.sql.quoting import quote
from sqlstream.sql.types import NESTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from sqlstream.plan.nodes import Node
    from sqlstream.runtime.monitor.metrics import QueryMetrics
    from sqlstream.sql.types import Type


def displayed(frame: DataFrame, node: Node, zone: str, *, values: bool = False) -> DataFrame:
    """``frame`` with every cell as the client shows it; a nested one as a pair of that and its JSON. ``values``: and the column VALUES."""
    from pyspark.sql import functions as F

    shown = [F.expr(_cell_sql(quote(c.name), c.type, zone)).alias(c.name) for c in fields(node)]
    kinds = [F.col(c) for c in frame.columns if c == KIND]
    written = [F.array(*(_value(c.name, c.type) for c in fields(node))).alias(VALUES)] if values else []
    return frame.select(*shown, *kinds, *written)


def _value(name: str, type_: Type) -> Column:
    """A column as JSON, as Flink's JSON writes it, times by ISO 8601, an interval as a number. NULL where the type has no such form."""
    from pyspark.sql import functions as F

    match type_.root:
        case "INTERVAL_MONTHS":
            return F.expr(f"coalesce(CAST(CAST(CAST({quote(name)} AS INTERVAL MONTH) AS INT) AS STRING), 'null')")
        case "INTERVAL_MILLIS":
            millis = f"CAST(CAST({quote(name)} AS INTERVAL SECOND) AS DECIMAL(20, 6)) * 1000"
            return F.expr(f"coalesce(CAST(CAST({millis} AS BIGINT) AS STRING), 'null')")
    return value_text(name, type_) if writes_value(type_) else F.lit(None).cast("STRING")


def _cell_sql(name: str, type_: Type, zone: str) -> str:
    text = display_sql(name, type_, zone)
    return f"if({name} IS NULL, NULL, struct({text}, {json_sql(name, type_, zone)}))" if type_.root in NESTED else text


def cells(row: Iterable[Any]) -> tuple[Any, ...]:
    """The cells of a row of a ``displayed`` frame."""
    return tuple(Nested(*cell) if isinstance(cell, tuple) else cell for cell in row)


def in_order(frame: DataFrame, column: str | None) -> DataFrame:
    """Rows of windows as Flink emits them: window after window. Cells are the client's texts, which sort as their times do."""
    return frame if column is None else frame.repartition(1).sortWithinPartitions(quote(column))


class Collection:
    """A SELECT over static input. ``stop`` ends it from another thread. ``drop_nulls``: rows with NULL in a NOT NULL column don't fail it.
    ``leaves_out``: as of Lowering. ``values``: changes have them.
    """

    def __init__(
        self, node: Node, limit: int | None, spark: SparkSession, zone: str, project: Path, *, batch: bool, drop_nulls: bool,
        leaves_out: bool = False, values: bool = False,
    ) -> None:  # fmt: skip
        self._node = node
        self._limit = limit
        self._drop_nulls = drop_nulls
        self._spark = spark
        self._folder = _scratch(project)
        self._to = Lowering(
            spark, streaming=False, batch=batch, bounded=True, zone=zone, project=project,
            state=self._folder, shared=self._folder, control=self._folder, leaves_out=leaves_out,
        )  # fmt: skip
        self._values = values
        self._query = BatchQuery(spark, self._folder.name)
        self._rows: LocalRows | None = None
        self.ended = threading.Event()

    def changes(self, report: Callable[[QueryMetrics], None]) -> Iterator[Change]:
        """All rows, as inserts, when the query has ended; ``report`` hears about once a second how far it is, from another thread.

        Raises JobFailed.
        """
        try:
            rows = not_null.delivered(self._node, lower(self._node, self._to), self._to, drop=self._drop_nulls)
            frame = in_order(displayed(rows, self._node, self._to.zone, values=self._values), window_column(self._node))
            frame = frame if self._limit is None else frame.limit(self._limit)
            self._query.run(frame, partial(self._run, frame), report)
        except Exception as error:
            raise job_error(error, called_names(self._node), (self._node,), self._folder) from error
        finally:
            self.ended.set()
            shutil.rmtree(self._folder, ignore_errors=True)
        return self._read(frame.columns)

    def _run(self, frame: DataFrame) -> None:
        self._rows = LocalRows(frame)
        try:
            self._rows.await_all()
        except Exception:
            with while_it_runs():
                self._rows.close()
            raise

    def _read(self, columns: Sequence[str]) -> Iterator[Change]:
        assert self._rows is not None
        try:
            for rows in self._rows.in_lists():
                yield from changes(map(cells, rows), columns)
        except Exception as error:
            raise job_error(error, folder=self._folder) from error

    def stop(self) -> None:
        """End it: ``changes`` fails, and there are no more rows."""
        if not self.ended.is_set():
            self._query.stop()
        elif self._rows is not None:
            with while_it_runs():
                self._rows.close()


class Changes:
    """A running SELECT: an iterator of its changes. ``stop`` ends it from another thread. ``drop_nulls``, ``leaves_out`` and ``values``: as in
    Collection.
    """

    def __init__(
        self, node: Node, limit: int | None, spark: SparkSession, zone: str, project: Path, *, drop_nulls: bool, values: bool = False,
        leaves_out: bool = False, idle_ms: int = 0, future_ms: int = 0,
    ) -> None:  # fmt: skip
        self._folder = _scratch(project)
        self._to = Lowering(
            spark, streaming=True, batch=False, bounded=bounded(node), zone=zone, project=project,
            state=self._folder / "inputs", shared=self._folder / "shared", control=self._folder / "control", idle_ms=idle_ms, future_ms=future_ms,
            readers=readers_of([node]), leaves_out=leaves_out,
        )  # fmt: skip
        (self._folder / "control").mkdir()
        self._watch = Watch(spark, self._to)
        self._idle_ms = idle_ms
        self._node = node
        self._limit = limit
        self._order = window_column(node)
        self._queue: queue.Queue[list[Change] | BaseException | None] = queue.Queue(maxsize=64)
        self._stopped = threading.Event()
        self.ended = threading.Event()
        try:
            rows = not_null.delivered(node, lower(node, self._to), self._to, drop=drop_nulls)
            self._frame = self._watch.counted(displayed(rows, node, zone, values=values))
        except Exception as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise job_error(error, folder=self._folder) from error
        threading.Thread(target=self._run, name="select", daemon=True).start()

    def stop(self) -> None:
        """End the query; the iterator ends."""
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def reasons(self) -> list[str]:
        """Why no row has come yet, in words; the JVM is asked."""
        said = nothing_yet(self._watch.sample(look=True), self._node, self._idle_ms, self._to.zone)
        return [" ".join(filter(None, (reason.text, reason.hint))) for reason in said]

    def __iter__(self) -> Iterator[Change]:
        emitted = 0
        limit = self._limit
        try:
            while limit is None or emitted < limit:
                try:
                    batch = self._queue.get(timeout=0.1)
                except queue.Empty:
                    if self._stopped.is_set():
                        return
                    continue
                if batch is None:
                    return
                if isinstance(batch, BaseException):
                    raise batch
                for change in batch:
                    if self._stopped.is_set() or (limit is not None and emitted >= limit):
                        return
                    emitted += 1
                    yield change
        finally:
            self._stopped.set()

    def _run(self) -> None:
        try:
            self._once()
            self._put(None)
        except Exception as error:
            self._put(job_error(error, called_names(self._node), (self._node,), self._folder))
        finally:
            self._watch.end()
            shutil.rmtree(self._folder, ignore_errors=True)
            self.ended.set()

    def _once(self) -> None:
        def take(batch: DataFrame, _: int) -> None:
            for rows in LocalRows(in_order(batch, self._order)).in_lists():
                self._put(changes(map(cells, rows), self._frame.columns))
                if self._stopped.is_set():
                    return

        writer = self._frame.writeStream.foreachBatch(take).outputMode("update" if in_update_mode(self._node) else "append")
        writer = writer.option("checkpointLocation", str(self._folder / "checkpoint"))
        running = (writer.trigger(availableNow=True) if bounded(self._node) else writer).start()
        self._watch.follow(running)
        while not running.awaitTermination(0.2):  # type: ignore[arg-type]
            if self._stopped.is_set():
                running.stop()

    def _put(self, item: list[Change] | BaseException | None) -> None:
        while True:
            try:
                self._queue.put(item, timeout=0.2)
                return
            except queue.Full:
                if self._stopped.is_set():
                    return


def _scratch(project: Path) -> Path:
    """A new folder of a SELECT's own. Raises JobFailed."""
    place = ProjectFolder(project).scratch
    try:
        _forget(private.folder(place))
        return Path(tempfile.mkdtemp(prefix=f"select-{os.getpid()}@{socket.gethostname()}-", dir=place))
    except OSError as error:
        raise job_error(error, folder=place) from error


def _forget(place: Path) -> None:
    """Delete what SELECTs have left of which the process was killed on this machine."""
    for left in place.glob(f"select-*@{glob.escape(socket.gethostname())}-*"):
        try:
            os.kill(int(left.name.removeprefix("select-").partition("@")[0]), 0)
        except ProcessLookupError:
            shutil.rmtree(left, ignore_errors=True)
        except (PermissionError, ValueError):
            # Its number is another user's by now, or it is none.
            continue
