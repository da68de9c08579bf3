"""Dead letters of a job: those of each micro-batch that is committed, from the files of its tasks into their tables.

Tasks write them below the folder of the job's generation, see Java's BatchFiles: ``dead-letters/<sink>/<micro-batch>``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.connectors.base import Write
from sqlstream.core import storage
from sqlstream.core.changelog import ChangelogMode
from sqlstream.core.job_names import short_name
from sqlstream.plan.nodes import scans
from sqlstream.runtime.checkpoints.base import standing
from sqlstream.sql.quoting import quote, spark_string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.run.work import Work
    from sqlstream.sql.tables import Table

FOLDER = "dead-letters"
_WRITTEN = "time STRING, kind STRING, source STRING, place STRING, error STRING, record STRING, row STRING, into STRING, partition INT, number BIGINT"
# Where a task computes the same rows once more, as a sink that reads a micro-batch twice makes it do.
_SAME = ["partition", "number", "kind", "source", "place", "error", "record", "row", "into"]
# By the column of a table: SQL over a letter.
_COLUMNS = {
    "left_out_at": "CAST(time AS TIMESTAMP)", "kind": "kind", "source": "source", "place": "place", "reason": "error",
    "record": "coalesce(record, row)",
}  # fmt: skip


class DeadLetters:
    """Those of the job of ``work``, which knows into which tables they go."""

    def __init__(self, work: Work) -> None:
        self._work = work
        sinks = work.job.sinks
        found = [*(sink.dead_letters for sink in sinks), *(scan.dead_letters for sink in sinks for scan in scans(sink))]
        self.tables: dict[str, Table] = {str(table.path): table for table in found if table is not None}

    def folder(self, sink: str) -> Place | None:
        """Where the tasks of the query of a sink, called so, keep them; None where nothing is kept."""
        return self._work.job.folder / FOLDER / sink if self.tables else None

    def begin(self) -> None:
        """No query runs, and some are about to start: what of their micro-batches comes again is deleted, the other letters are written."""
        for folder in self._work.job.folder.parent.glob(f"*/{FOLDER}/*"):
            checkpoint = folder.parent.parent / "checkpoint" / folder.name
            query, _, committed = standing(self._work.spark, storage.uri(checkpoint))
            for batch in _batches(folder):
                if not query or int(batch.name) > committed:
                    storage.delete(batch)
            self._write(folder, query, committed)

    def write(self) -> None:
        """Write those of the micro-batches that are committed by now."""
        job = self._work.job
        for folder in job.folder.glob(f"{FOLDER}/*") if self.tables else ():
            if not any(_batches(folder)):
                continue
            query, _, committed = standing(self._work.spark, storage.uri(job.checkpoint / folder.name))
            self._write(folder, query, committed)

    def write_batch(self, sink: str) -> None:
        """Write those of a sink that was written all at once."""
        folder = self.folder(sink)
        for batch in _batches(folder) if folder is not None else ():
            self._write_one(batch, None)

    def forget(self, sink: str) -> None:
        """Delete those of a sink that is about to be written all at once."""
        folder = self.folder(sink)
        if folder is not None:
            storage.delete(folder)

    def _write(self, folder: Place, query: str, committed: int) -> None:
        for batch in sorted(_batches(folder), key=lambda one: int(one.name)):
            if int(batch.name) <= committed:
                self._write_one(batch, (f"{query}/{FOLDER}", int(batch.name)))

    def _write_one(self, batch: Place, version: tuple[str, int] | None) -> None:
        """Write the letters of a micro-batch, once where their table knows the version of a write, and delete their files."""
        letters = self._work.spark.read.schema(_WRITTEN).json(storage.uri(batch)).dropDuplicates(_SAME)
        for (into,) in letters.select("into").distinct().collect():
            table = self.tables.get(into)
            if table is None:
                job = short_name(self._work.job.name)
                self._work.notify(f"Job '{job}': dead letters for table '{into}', which nothing names any more, stay in {batch}.")
                return
            frame = letters.where(f"into = {spark_string(into)}").orderBy("time", "partition", "number")
            count = frame.count()
            find_connector(table.connector).write_batch(self._request(table, frame, version))
            self._work.job.left_out += count
        storage.delete(batch)

    def _request(self, table: Table, letters: DataFrame, version: tuple[str, int] | None) -> Write:
        work = self._work
        columns = _COLUMNS | {"job": spark_string(short_name(work.job.name))}
        frame = letters.selectExpr(*[f"CAST({columns[c.name]} AS {c.type.spark}) AS {quote(c.name)}" for c in table.persisted])
        return Write(
            spark=work.spark, table=table, frame=frame, mode=ChangelogMode.APPEND, keys=(), name=FOLDER, zone=work.settings.zone,
            project=work.project, emit=work.emit, version=version,
        )  # fmt: skip


def _batches(folder: Place) -> Iterator[Place]:
    return (batch for batch in folder.glob("[0-9]*") if batch.name.isdigit())
