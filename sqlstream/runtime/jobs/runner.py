"""Runs one job: its queries, in a thread; again after failures; to the end of a bounded input, or of what is drained."""

from __future__ import annotations

import json
import random
import re
import threading
import time
import uuid
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.connectors.base import Read, Write
from sqlstream.core import storage
from sqlstream.core.depth import deeply
from sqlstream.core.java import activate
from sqlstream.plan.nodes import scans
from sqlstream.plan.properties import bounded, changelog_mode, static, upsert_key, window_column
from sqlstream.plan.upgrade import node_ids, record
from sqlstream.runtime.jobs.begin.upgrades import write_record
from sqlstream.runtime.jobs.folder.generations import DRAINING, FINISHED, STARTED, interrupted, sink_name
from sqlstream.runtime.jobs.restarts import NoRestart, Restarts, failed
from sqlstream.runtime.lower.context import END_OF_INPUT_MS, Lowering
from sqlstream.runtime.lower.inputs import input_state
from sqlstream.runtime.lower.lowering import lower
from sqlstream.runtime.lower.native import in_update_mode
from sqlstream.runtime.monitor.figures import old_figures
from sqlstream.runtime.queries.watch import BatchQuery, Watch, await_pause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.core.errors import SqlStreamError
    from sqlstream.plan.nodes import Sink
    from sqlstream.runtime.jobs.begin.upgrades import Positions
    from sqlstream.runtime.jobs.job import Job, JobSettings
    from sqlstream.runtime.monitor.metrics import QueryMetrics
    from sqlstream.sql.tables import Table

# A micro-batch that runs so long when its job is to be drained is cut off, and run again.
_PAUSE_SECONDS = 60.0
# An error that comes so often at the same place is told as such.
_ALIKE = 5
# How often one that waits for its restart looks whether it is to be drained.
_LOOK_SECONDS = 0.1


# A query takes this key from the session at its start, and keeps it.
_RETAINED = "spark.sql.streaming.minBatchesToRetain"
_retaining_lock = threading.Lock()


@contextmanager
def _retaining(spark: SparkSession, batches: int | None) -> Iterator[None]:
    """Queries that start inside keep the checkpoints of so many micro-batches; of as many as the session says where it is None."""
    with _retaining_lock:
        before = spark.conf.get(_RETAINED)
        assert before is not None
        if batches is not None:
            spark.conf.set(_RETAINED, str(batches))
        try:
            yield
        finally:
            if batches is not None:
                spark.conf.set(_RETAINED, before)


class JobRunner:
    """Runs one job: its queries, in a thread."""

    def __init__(
        self,
        job: Job,
        spark: SparkSession,
        again: Callable[[], SparkSession],
        settings: JobSettings,
        project: Path,
        emit: Callable[[str], None],
        notify: Callable[[str], None],
        ended: Callable[[Job], None],
    ) -> None:
        """``again`` gives the Spark session after a failure. ``emit`` prints rows, ``notify`` what the user should know."""
        self._job = job
        self._ended = ended
        self._spark = spark
        self._again = again
        self._settings = settings
        self.project = project
        self._emit = emit
        self._notify = notify
        # From where sources go on, by what they read.
        self._positions: dict[str, Mapping[str, Mapping[int, int | None]]] = {}
        self._bounded = all(bounded(s) for s in job.sinks)
        # Those of a static input that are left to be written.
        self._fixed = [i for i, s in enumerate(job.sinks) if static(s)]
        self._ids: dict[int, dict[int, str]] = {}
        # By sink: how it is asked for its table, and which that was.
        self._requests: dict[int, Write] = {}
        self._tables: dict[int, str] = {}
        # What it has failed with at last, and where, and how often in turn.
        self._met: tuple[str, str] | None = None
        self._alike = 0
        # What a sink that Python calls has raised.
        self._of_sink: Exception | None = None

    @property
    def spark(self) -> SparkSession:
        """The session that runs it."""
        return self._spark

    def start(self, *, resumed: bool) -> None:
        """Start the queries, so that their errors are raised here, and continue in a thread."""
        storage.make(self._job.folder / "control")
        if not self._settings.streaming:
            self._in_thread(self._batch, range(len(self._job.sinks)))
            return
        try:
            self._start_streams(resumed=resumed)
        except Exception as error:
            # What has run before can: what it needs may come back, as after the start of a machine.
            if not (resumed and self._job.checkpoint.exists() and self._job.told(error).heals) or isinstance(self._settings.restart, NoRestart):
                raise
            self._in_thread(self._run_on, error)
        else:
            self._in_thread(self._run_on)

    def complete_drain(self) -> None:
        """Drain the job, which ended in the midst of that."""
        try:
            self._drain()
            (self._job.folder / FINISHED).touch()
        finally:
            self._job.end_queries()
            self._job.queries.clear()
            self._job.watches.clear()

    @property
    def _streams(self) -> list[int]:
        return [i for i, s in enumerate(self._job.sinks) if not static(s)]

    def _report(self, metrics: QueryMetrics) -> None:
        self._notify(f"Job '{self._job.name}': {old_figures(metrics, self._job.zone)}")

    def _end_input(self) -> None:
        # What came may have been read already, but not its windows closed: only a new row makes Spark go on.
        control = self._job.folder / "control"
        if all(interrupted(checkpoint) is None for checkpoint in self._job.checkpoint.glob("*")):
            # No micro-batch reads those of before again.
            for ended in control.glob("end-*"):
                ended.unlink()
        storage.write(control / f"end-{uuid.uuid4().hex}", str(END_OF_INPUT_MS))

    def _in_thread(self, body: Callable[..., None], *args: object) -> None:
        def run() -> None:
            job = self._job
            try:
                body(*args)
                job.machine.end(self._finish)
            except Exception as error:
                job.machine.fail(job.locate(job.told(error)))
            finally:
                job.end_queries()
                self._end_watches()
                self._ended(job)

        threading.Thread(target=run, name=f"job-{self._job.id[:8]}", daemon=True).start()

    def _finish(self) -> None:
        self._job.check_held()
        (self._job.folder / FINISHED).touch()

    def _start_streams(self, *, resumed: bool) -> None:
        if self._bounded and resumed:
            self._end_input()
        self._start_queries(self._streams, once=self._bounded)

    def _run_on(self, failure: Exception | None = None) -> None:
        """Run to the end; after a failure that may heal once more, from the checkpoint, as the strategy of the job says.

        ``failure``: why the queries have not started.
        """
        run = self._run
        while True:
            if failure is not None:
                if self._job.machine.stopping.is_set():
                    raise failure
                self._await_restart(failure)
                run = self._run_again
            try:
                return run()
            except Exception as error:
                failure = error

    def _await_restart(self, error: Exception) -> None:
        """Wait until the job may be started again, or has to end. Raises what it has failed with where it is given up."""
        job = self._job
        problem = job.locate(job.told(error))
        # All sinks are started again together.
        job.end_queries()
        self._end_watches()
        job.queries.clear()
        now = round(time.time() * 1000)
        restarts = failed(self._settings.restart, job.restarts, now, random.random()) if problem.heals else Restarts()
        if restarts.due is None:
            if problem.heals and job.restarts.count:
                self._notify(f"Job '{job.name}' is given up after {job.restarts.count} restarts.")
            raise problem
        job.machine.retry(problem, restarts)
        delay = (restarts.due - now) / 1000
        repeated = self._repeated(problem)
        self._notify(f"Job '{job.name}' has failed: {problem.message.rstrip('.')}. It is started again in {delay:.1f} s (restart {restarts.count}).")
        if repeated is not None:
            problem.hint = " ".join(filter(None, (repeated, problem.hint)))
            if self._alike == _ALIKE:
                self._notify(f"Job '{job.name}': {repeated}")
        drained, end = job.machine.draining.is_set(), time.monotonic() + delay
        # A drain need not wait for what may be there already.
        while (
            (left := end - time.monotonic()) > 0
            and job.machine.draining.is_set() == drained
            and not job.machine.stopping.wait(min(left, _LOOK_SECONDS))
        ):
            pass

    def _repeated(self, problem: SqlStreamError) -> str | None:
        """That the job has failed so at the same place several times, if it has."""
        try:
            begun = {c.name.partition("_")[2]: interrupted(c) for c in self._job.checkpoint.glob("*")}
        except OSError:
            # Where it is kept is not to be reached.
            begun = {}
        at = ", ".join(f"micro-batch {number} of '{sink}'" for sink, number in sorted(begun.items()) if number is not None) or "its start"
        # Numbers are of attempts, tasks and times.
        met = re.sub(r"\d+", "0", problem.message), at
        self._alike = self._alike + 1 if met == self._met else 1
        self._met = met
        if self._alike < _ALIKE:
            return None
        return f"It has failed {self._alike} times with the same error at the same place, {at}: it may not be over by itself."

    def _run_again(self) -> None:
        job = self._job
        if job.machine.stopping.is_set():
            return
        self._spark = self._again()
        self._requests.clear()
        if job.lock is not None:
            job.lock.renew()
        if not self._bounded and (job.machine.draining.is_set() or (job.folder / DRAINING).exists()):
            self._drain()
            return
        self._start_streams(resumed=True)
        if job.machine.stopping.is_set():
            job.end_queries()
        self._run()

    def _run(self) -> None:
        while self._fixed:
            self._batch(self._fixed[:1])
            self._fixed = self._fixed[1:]
        draining = threading.Event() if self._bounded else self._job.machine.draining
        self._await(draining)
        if draining.is_set() and not self._job.machine.stopping.is_set():
            self._drain()

    def _drain(self) -> None:
        """Run the queries once more, from where they are up to what their sources have now, and to the end of all time."""
        (self._job.folder / DRAINING).touch()
        for query in self._job.queries:
            await_pause(query, _PAUSE_SECONDS)
            query.stop()
        self._end_watches()
        if any(find_connector(scan.table.connector).reads_in_parts for sink in self._job.sinks for scan in scans(sink)):
            # The end must not come before the last part.
            self._run_once()
        self._end_input()
        self._run_once()

    def _run_once(self) -> None:
        self._start_queries(self._streams, once=True)
        if self._job.machine.stopping.is_set():
            self._job.end_queries()
        self._await(threading.Event())
        self._end_watches()

    def _end_watches(self) -> None:
        for watch in self._job.watches.values():
            if isinstance(watch, Watch):
                watch.end()

    def _await(self, left: threading.Event) -> None:
        """Wait for all queries, the first that fails ends the others, or until it is ``left``."""
        waiting = list(self._job.queries)
        noted = 0.0
        while waiting and not left.is_set():
            if time.monotonic() - noted > 1:
                self._job.sampled()
                self._job.check_held()
                self._tell_if_replaced()
                noted = time.monotonic()
            try:
                waiting = [q for q in waiting if not q.awaitTermination(0.2 / len(waiting))]  # type: ignore[arg-type]
            except Exception as error:
                raise self._of_sink or error  # noqa: B904 # it is the same, with all that is known of it

    def _lowering(self, index: int, *, streaming: bool) -> Lowering:
        state = self._job.folder / "inputs" / str(index)
        ids = self._ids.setdefault(index, node_ids(self._job.sinks[index]))
        # A job in batch mode that is submitted again reads what is there then.
        shared = state.with_name("shared" if self._settings.streaming else self._job.id)
        return Lowering(
            self._spark, streaming=streaming, batch=not self._settings.streaming, bounded=self._bounded, zone=self._settings.zone,
            project=self.project, state=state, control=self._job.folder / "control",
            shared=shared, idle_ms=self._settings.idle_ms, future_ms=self._settings.future_ms,
            node_id=lambda node: ids.get(id(node)),
        )  # fmt: skip

    def await_pause(self) -> None:
        """Wait until no micro-batch runs, or one has run for too long."""
        for query in self._job.queries:
            await_pause(query, _PAUSE_SECONDS)

    def request(self, index: int) -> Write:
        """What the rows of a sink are written by; it has no rows."""
        return self._write(index, self._job.sinks[index], self._spark.range(0))

    def tell_if_gone(self, index: int) -> None:
        """Say so where the table of a sink that has run is not there."""
        table = self._job.sinks[index].table
        if not find_connector(table.connector).is_there(self.request(index)):
            gone = f"The table of '{table.path.name}', into which job '{self._job.name}' has written, is not there"
            self._notify(f"{gone}: it is made anew, and gets the rows that come from now on.")

    def _tell_if_replaced(self) -> None:
        """Say so where the table of a sink was deleted since this was last asked, and is made anew."""
        for index in self._streams:
            sink = self._job.sinks[index]
            if index not in self._requests:
                self._requests[index] = self.request(index)
            identity = find_connector(sink.table.connector).identity(self._requests[index])
            before = self._tables.get(index)
            if identity is not None:
                self._tables[index] = identity
            if None not in (before, identity) and before != identity:
                gone = f"The table of '{sink.table.path.name}' was deleted while job '{self._job.name}' ran"
                gone = f"{gone}: it is made anew, and has the rows since then."
                self._job.machine.note(gone)
                self._notify(gone)

    def positions(self, wanted: Mapping[str, str], index: int) -> Positions:
        """From where the sources of a sink go on that read topics which are ``wanted`` from elsewhere; those that read the same, from the same."""
        shared, zone = self._job.folder / "inputs" / "shared", self._settings.zone
        found = {}
        for name, table in self.sources(index).items():
            # The same table can be read by two sinks.
            reads = repr(table)
            if reads not in self._positions:
                request = Read(self._spark, table, True, False, name, zone, self.project, shared)
                self._positions[reads] = find_connector(table.connector).positions(request, wanted, zone)
            found[name] = self._positions[reads]
        return found

    def sources(self, index: int) -> dict[str, Table]:
        """The names of a sink's sources, with the tables that they read."""
        sink = self._job.sinks[index]
        (known,) = record((sink,), self._settings.zone).sinks
        tables = [scan.table for scan in scans(sink) if not scan.static]
        return {source.name: table for source, table in zip(known.sources, tables, strict=True)}

    def forget(self, sink: str, writer: str) -> None:
        """Let the sink whose checkpoint is called so delete what it keeps of a writer with this id."""
        for index, each in enumerate(self._job.sinks):
            if sink_name(index, each) == sink:
                find_connector(each.table.connector).forget(self.request(index), writer)

    def lowered(self, index: int) -> DataFrame:
        """The rows of a sink, as its query is started with them: what counts them keeps Spark's optimizer from changing what is kept."""
        to = self._lowering(index, streaming=True)
        return Watch(self._spark, to).counted(lower(self._job.sinks[index], to))

    def _start_queries(self, sinks: Iterable[int], *, once: bool) -> None:
        """``once``: up to what the sources have now."""
        self._job.queries.clear()
        self._of_sink = None
        try:
            for index in sinks:
                self._job.queries.append(self._start_query(index, self._job.sinks[index], once=once))
        except Exception:
            for query in self._job.queries:
                query.stop()
            raise
        if self._job.machine.started():
            self._notify(f"Job '{self._job.name}' runs again, from its checkpoint.")

    def _start_query(self, index: int, sink: Sink, *, once: bool) -> StreamingQuery:
        to = self._lowering(index, streaming=True)
        before = self._job.watches.get(index)
        watch = Watch(self._spark, to, None if before is None else before.metrics, self._report)
        frame, mode = watch.counted(lower(sink, to)), "update" if in_update_mode(sink) else "append"
        write_record(self._job.folder, sink_name(index, sink), frame, mode, sink)
        write = replace(self._write(index, sink, frame), watermark=to.reached)
        started = self._job.folder / STARTED / sink_name(index, sink)
        if started.exists():
            self.tell_if_gone(index)
        writer = find_connector(sink.table.connector).write_stream(write)
        writer = writer.outputMode(mode)
        writer = writer.option("checkpointLocation", storage.uri(self._job.checkpoint / sink_name(index, sink)))
        writer = writer.queryName(f"{self._job.name}/{sink_name(index, sink)}/{self._job.id[:8]}")
        if once:
            writer = writer.trigger(availableNow=True)
        elif self._settings.trigger_ms:
            writer = writer.trigger(processingTime=f"{self._settings.trigger_ms} milliseconds")
        with _retaining(self._spark, self._settings.retained):
            query = writer.start()
        if not started.exists():
            storage.write(started, f"{query.id}\n")
        watch.follow(query)
        self._job.watches[index] = watch
        return query

    def _write(self, index: int, sink: Sink, frame: DataFrame, version: tuple[str, int] | None = None) -> Write:
        return Write(
            spark=self._spark,
            table=sink.table,
            frame=frame,
            mode=changelog_mode(sink.input),
            keys=upsert_key(sink.input) or (),
            name=sink_name(index, sink),
            zone=self._settings.zone,
            project=self.project,
            emit=self._emit,
            partition=dict(sink.partition),
            overwrite=sink.overwrite,
            order=window_column(sink),
            version=version,
            met=self._sink_failed,
        )

    def _sink_failed(self, error: Exception) -> None:
        self._of_sink = error

    def _batch(self, sinks: Iterable[int]) -> None:
        activate(self._spark)
        for index in sinks:
            if self._job.machine.stopping.is_set():
                return
            sink = self._job.sinks[index]
            frame = deeply(partial(self._lowered, index))
            query = self._job.watches[index] = BatchQuery(self._spark, f"{self._job.id}/{index}", self._report)
            if self._job.machine.stopping.is_set():
                return
            write = self._write(index, sink, frame, self._batch_version(index, sink, frame))
            query.run(frame, partial(find_connector(sink.table.connector).write_batch, write))

    def _lowered(self, index: int) -> DataFrame:
        return lower(self._job.sinks[index], self._lowering(index, streaming=False))

    def _batch_version(self, index: int, sink: Sink, frame: DataFrame) -> tuple[str, int]:
        """An id that no other write ever gets, kept with the checkpoint, and how often the sink is written by it.

        A job that continues does not write again what is written. In batch mode it does unless the input is known to be the same, and what replaces
        all that is there in any case: it may be another's by now.
        """
        path = self._job.checkpoint / sink_name(index, sink) / "write.json"
        writer, number, read = json.loads(path.read_text()) if path.exists() else (uuid.uuid4().hex, -1, None)
        if number >= 0 and self._settings.streaming:
            return writer, number
        reads = None if sink.overwrite else input_state(frame)
        if reads is None or read != reads:
            number += 1
            storage.write(path, json.dumps([writer, number, reads]))
        return writer, number
