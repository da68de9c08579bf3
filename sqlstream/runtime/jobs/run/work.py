"""What a job reads and writes, as Spark is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.connectors.base import Read, Write
from sqlstream.core.errors import ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.core.spark_releases import running
from sqlstream.plan.nodes import scans
from sqlstream.plan.properties import bounded, changelog_mode, static, upsert_key, window_column
from sqlstream.plan.real_time import RealTime, clocks, prevented, replaces, stateful
from sqlstream.plan.upgrade import node_ids, record
from sqlstream.runtime.checkpoints import shuffle_partitions
from sqlstream.runtime.jobs.folder.generations import PAUSE, sink_name
from sqlstream.runtime.jobs.run.dead_letters import DeadLetters
from sqlstream.runtime.jobs.run.slots import Slots, executor_slots
from sqlstream.runtime.lower.context import Lowering, readers_of
from sqlstream.runtime.lower.lowering import lower
from sqlstream.runtime.monitor.figures import old_figures
from sqlstream.runtime.queries.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from sqlstream.runtime.jobs.begin.upgrades import Positions
    from sqlstream.runtime.jobs.job import Job, JobSettings
    from sqlstream.runtime.monitor.metrics import QueryMetrics
    from sqlstream.sql.tables import Table


class Work:
    """What ``job`` reads and writes. ``spark`` is another session after Spark has ended; sinks are known by their place in the job.

    ``failed``: what a sink that Python calls has raised, with all that is known of it. ``emit`` prints rows, ``notify`` what the user should know.
    ``busy``: how many slots other jobs have for as long as they run.
    """

    def __init__(
        self,
        job: Job,
        spark: SparkSession,
        settings: JobSettings,
        project: Path,
        emit: Callable[[str], None],
        notify: Callable[[str], None],
        busy: Callable[[], int],
    ) -> None:
        self.job = job
        self.spark = spark
        self.settings = settings
        self.project = project
        self.notify = notify
        self.failed: Exception | None = None
        self.bounded = all(bounded(s) for s in job.sinks)
        self.streams = [i for i, s in enumerate(job.sinks) if not static(s)]
        self.fixed = [i for i, s in enumerate(job.sinks) if static(s)]
        self.emit = emit
        self.letters = DeadLetters(self)
        self._slots = Slots(
            lambda: executor_slots(self.spark), busy, self._on_one_machine, job.machine.stopping, asked=settings.real_time is RealTime.TRUE
        )
        # From where sources go on, by what they read.
        self._positions: dict[str, Mapping[str, Mapping[int, int | None]]] = {}
        self._ids: dict[int, dict[int, str]] = {}
        self._readers = readers_of(job.sinks[i] for i in self.streams)
        # By sink: how it is asked for its table, and which that was.
        self._requests: dict[int, Write] = {}
        self._tables: dict[int, str] = {}
        # Of those that run in real time: how many tasks the operators have that keep state.
        self._keyed_tasks: dict[int, int] = {}

    def _on_one_machine(self) -> bool:
        return bool(self.spark.sparkContext._jsc.isLocal())

    def renew(self, spark: SparkSession) -> None:
        """From now on in this session of Spark."""
        self.spark = spark
        self._requests.clear()

    def report(self, metrics: QueryMetrics) -> None:
        """Say that the figures of a query are old."""
        self.notify(f"Job '{short_name(self.job.name)}': {old_figures(metrics, self.job.zone)}")

    def lowering(self, index: int, *, streaming: bool, real_time: bool = False) -> Lowering:
        """How the rows of a sink are made."""
        state, sink = self.job.folder / "inputs" / str(index), self.job.sinks[index]
        ids = self._ids.setdefault(index, node_ids(sink))
        # A job in batch mode that is submitted again reads what is there then.
        shared = state.with_name("shared" if self.settings.streaming else self.job.id)
        return Lowering(
            self.spark, streaming=streaming, batch=not self.settings.streaming, bounded=self.bounded, zone=self.settings.zone,
            project=self.project, state=state, control=self.job.folder / "control", pause=self.job.folder / PAUSE,
            shared=shared, idle_ms=self.settings.idle_ms, future_ms=self.settings.future_ms,
            node_id=lambda node: ids.get(id(node)), real_time=real_time, readers=self._readers,
            letters=self.letters.folder(sink_name(index, sink)), dead_letters=sink.dead_letters, leaves_out=sink.dead_letters is not None,
        )  # fmt: skip

    def request(self, index: int) -> Write:
        """What the rows of a sink are written by; it has no rows."""
        return self.write(index, self.spark.range(0))

    def tell_if_gone(self, index: int) -> None:
        """Say so where the table of a sink that has run is not there."""
        table = self.job.sinks[index].table
        if not find_connector(table.connector).is_there(self.request(index)):
            gone = f"The table of '{table.path.name}', into which job '{short_name(self.job.name)}' has written, is not there"
            self.notify(f"{gone}: it is made anew, and gets the rows that come from now on.")

    def tell_if_replaced(self) -> None:
        """Say so where the table of a sink was deleted since this was last asked, and is made anew."""
        for index in self.streams:
            sink = self.job.sinks[index]
            if index not in self._requests:
                self._requests[index] = self.request(index)
            identity = find_connector(sink.table.connector).identity(self._requests[index])
            before = self._tables.get(index)
            if identity is not None:
                self._tables[index] = identity
            if None not in (before, identity) and before != identity:
                gone = f"The table of '{sink.table.path.name}' was deleted while job '{short_name(self.job.name)}' ran"
                gone = f"{gone}: it is made anew, and has the rows since then."
                self.job.machine.note(gone)
                self.notify(gone)

    def positions(self, wanted: Mapping[str, str], index: int) -> Positions:
        """From where the sources of a sink go on that read topics which are ``wanted`` from elsewhere; those that read the same, from the same."""
        shared, zone = self.job.folder / "inputs" / "shared", self.settings.zone
        found = {}
        for name, table in self.sources(index).items():
            # The same table can be read by two sinks.
            reads = repr(table)
            if reads not in self._positions:
                request = Read(self.spark, table, True, False, name, zone, self.project, shared)
                self._positions[reads] = find_connector(table.connector).positions(request, wanted, zone)
            found[name] = self._positions[reads]
        return found

    def sources(self, index: int) -> dict[str, Table]:
        """The names of a sink's sources, with the tables that they read."""
        sink = self.job.sinks[index]
        (known,) = record((sink,), self.settings.zone).sinks
        tables = [scan.table for scan in scans(sink) if not scan.static]
        return {source.name: table for source, table in zip(known.sources, tables, strict=True)}

    def may_be_in_real_time(self, index: int) -> bool:
        """Whether the query of a sink runs in real time, if there are slots for its tasks, which are not known before it is lowered."""
        wanted = self.settings.real_time
        if wanted is not RealTime.AUTO:
            return wanted is RealTime.TRUE
        if prevented(self.job.sinks[index], running(), asked=False) is not None:
            return False
        free = self._slots.free() > self.job.long_tasks
        self.job.lacks_slots |= not free
        return free

    def in_real_time(self, index: int, to: Lowering) -> bool:
        """Whether the query of a sink, lowered so, runs in real time: it has a slot for each of its tasks then.

        Raises ValidationError where it has to, and can't; as ``Slots.suffice`` where there are too few.
        """
        if find_connector(self.job.sinks[index].table.connector).shows_changes and not self._on_one_machine():
            raise ValidationError(
                "In real time rows are shown where they are made, which is on other machines here.",
                hint="RESET 'execution.real-time': micro-batches show them here.",
            )
        if self.settings.real_time is RealTime.AUTO and to.copied_bytes > self._most_copied():
            return False
        tasks = to.source_tasks
        # They stay as many, whatever partitions are read.
        self._keyed_tasks[index] = self._keyed(index)
        tasks += self._keyed_tasks[index]
        self.job.long_tasks += tasks
        if self._slots.suffice(self.job.long_tasks, self.job.name):
            return True
        self.job.long_tasks -= tasks
        self.job.lacks_slots = True
        return False

    def takes_back(self, index: int) -> bool:
        """Whether what a sink in real time writes after the last offsets is taken back when its query has died."""
        sink = self.job.sinks[index]
        return bool(stateful(sink)) and find_connector(sink.table.connector).takes_back

    def _most_copied(self) -> int:
        """How many bytes Spark itself gives each task a copy of."""
        return int(self.spark._jsparkSession.sessionState().conf().autoBroadcastJoinThreshold())

    def _keyed(self, index: int) -> int:
        """How many tasks the operators of a sink have that keep state, by its checkpoint or, where it has none yet, by the session."""
        operators = stateful(sink := self.job.sinks[index])
        if not operators:
            return 0
        kept = shuffle_partitions(self.job.checkpoint / sink_name(index, sink))
        return clocks(sink) + operators * int(kept or self.spark.conf.get("spark.sql.shuffle.partitions") or 0)

    def has_slots(self) -> bool:
        """Whether there is a slot for each partition that is read in real time by now: without one it would wait for ever.

        Raises as ``Slots.suffice``.
        """
        watches = {i: watch for i in self.streams if isinstance(watch := self.job.watches[i], Watch) and watch.real_time}
        tasks = sum(watch.partitions() + self._keyed_tasks[i] for i, watch in watches.items())
        if tasks <= self.job.long_tasks:
            return True
        self.job.long_tasks = tasks
        return self._slots.suffice(self.job.long_tasks, self.job.name)

    def forget(self, sink: str, writer: str) -> None:
        """Let the sink whose checkpoint is called so delete what it keeps of a writer with this id."""
        for index, each in enumerate(self.job.sinks):
            if sink_name(index, each) == sink:
                find_connector(each.table.connector).forget(self.request(index), writer)

    def lowered(self, index: int) -> DataFrame:
        """The rows of a sink, as its query is started with them: what counts them keeps Spark's optimizer from changing what is kept."""
        to = self.lowering(index, streaming=True)
        return Watch(self.spark, to).counted(lower(self.job.sinks[index], to))

    def write(self, index: int, frame: DataFrame, version: tuple[str, int] | None = None) -> Write:
        """What writes ``frame`` to a sink; ``version`` is that of a batch."""
        sink = self.job.sinks[index]
        return Write(
            spark=self.spark,
            table=sink.table,
            frame=frame,
            mode=changelog_mode(sink.input),
            keys=upsert_key(sink.input) or (),
            name=sink_name(index, sink),
            zone=self.settings.zone,
            project=self.project,
            emit=self.emit,
            partition=dict(sink.partition),
            overwrite=sink.overwrite,
            order=window_column(sink),
            version=version,
            met=self._sink_failed,
            replaces=replaces(sink),
        )

    def _sink_failed(self, error: Exception) -> None:
        self.failed = error
