"""One submitted job: its state, its queries, its figures, how it ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.core import storage
from sqlstream.core.errors import JobFailed, SqlStreamError
from sqlstream.core.job_names import short_name
from sqlstream.core.spark_releases import INSTALLED
from sqlstream.plan.real_time import RealTime
from sqlstream.runtime.engine.failures import job_error, while_it_runs
from sqlstream.runtime.jobs.folder.generations import PAUSE
from sqlstream.runtime.jobs.folder.locks import last_holder, lost_lease
from sqlstream.runtime.jobs.machine import JobMachine, JobStatus
from sqlstream.runtime.jobs.restarts import NoRestart, Restarts, Strategy
from sqlstream.runtime.monitor.figures import clock
from sqlstream.runtime.monitor.metrics import JobMetrics, LastKnown, QueryMetrics
from sqlstream.runtime.monitor.why import reasons, sink_names
from sqlstream.runtime.queries.watch import BatchQuery, Watch, await_pause

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.core.storage import Place
    from sqlstream.plan.nodes import Sink
    from sqlstream.runtime.jobs.control.status import Status
    from sqlstream.runtime.jobs.folder.locks import Lock
    from sqlstream.runtime.monitor.why import Reason

# Gives an error the place of its statement.
Locate: TypeAlias = "Callable[[SqlStreamError], SqlStreamError]"


def unlocated(error: SqlStreamError) -> SqlStreamError:
    """``error`` as it is."""
    return error


# A micro-batch that runs so long when its job is to be drained is cut off, and run again.
_PAUSE_SECONDS = 60.0
# One in real time ends at once, but where its sink does not answer.
_END_SECONDS = 10.0
_LACKING = "; real time lacks slots of Spark's"


@dataclass
class JobSettings:
    """How a job runs. ``trigger_ms``: the least time between two micro-batches; ``streaming`` is False in batch mode.

    ``idle_ms``, ``future_ms``: see Lowering. ``restart``: what happens after a failure. ``upgrade_mode``: what becomes of a job whose statement has
    changed; None where that was not said; ``may_lose``: whether last-state may leave state behind. ``agrees`` puts a question to the user, if there
    is one; ``masked`` takes secrets out of a text about the plan. ``recovery``: the savepoint with which the job begins.
    ``retained``: of how many micro-batches the checkpoint is kept; None for as many as Spark's setting says.
    ``real_time``: whether its queries run so. ``spark``: the release of Spark that is wanted.
    """

    zone: str
    streaming: bool = True
    trigger_ms: int | None = None
    idle_ms: int = 0
    future_ms: int = 0
    restart: Strategy = field(default_factory=NoRestart)
    upgrade_mode: str | None = None
    may_lose: bool = False
    agrees: Callable[[str], bool] | None = None
    masked: Callable[[str], str] = str
    recovery: Place | None = None
    retained: int | None = None
    real_time: RealTime = RealTime.FALSE
    spark: str = INSTALLED


@dataclass
class Job:
    """One submitted job. ``locate`` gives its error the place of its statement."""

    id: str
    name: str
    sinks: tuple[Sink, ...]
    folder: Place
    started: float = field(default_factory=time.time)
    machine: JobMachine = field(default_factory=JobMachine)
    queries: list[StreamingQuery] = field(default_factory=list)
    # The ids of those that it has had: also when Spark, which knows them, has died.
    query_ids: set[str] = field(default_factory=set)
    watches: dict[int, Watch | BatchQuery] = field(default_factory=dict)
    lock: Lock | None = None
    streaming: bool = True
    locate: Locate = field(default=unlocated)
    zone: str = "UTC"
    idle_ms: int = 0
    # What the process that had it before has written down of it.
    before: Status | None = None
    # Whether one of its queries runs in real time.
    real_time: bool = False
    # Whether one would, but for slots of Spark's that are not there.
    lacks_slots: bool = False
    # How many slots of Spark's it has for as long as it runs.
    long_tasks: int = 0
    # How many dead letters of it this process has written into tables.
    left_out: int = 0
    # The URI of the savepoint with which it was stopped.
    savepoint: str = ""

    @property
    def status(self) -> JobStatus:
        return self.machine.state.status

    @property
    def state_since(self) -> float:
        """When its status began, in seconds since 1970: of one that runs, when it was started."""
        return self.started if self.status is JobStatus.RUNNING else self.machine.state.since

    @property
    def error(self) -> SqlStreamError | None:
        """What it has failed with for good."""
        return self.machine.state.error

    @property
    def failure(self) -> SqlStreamError | None:
        """The latest error after which it was, or is to be, started again."""
        return self.machine.state.failure

    @property
    def restarts(self) -> Restarts:
        return self.machine.state.restarts

    @property
    def held_back(self) -> bool:
        """Whether it was stopped by somebody, and its script has come again by itself."""
        return self.machine.state.held_back

    @property
    def sink_names(self) -> list[str]:
        """The tables that its queries write; what several write has their numbers."""
        return sink_names(self.sinks)

    @property
    def mode(self) -> str | None:
        """How its queries run, as DESCRIBE JOB shows it; None in batch mode."""
        if not self.streaming:
            return None
        micro = (i for i, watch in sorted(self.watches.items()) if isinstance(watch, Watch) and not watch.real_time)
        others = [self.sink_names[i] for i in micro]
        if not self.real_time or len(others) == len(self.sinks):
            return f"micro-batches{_LACKING if self.lacks_slots else ''}"
        return f"real time; by micro-batches: {', '.join(others)}" if others else "real time"

    @property
    def lives(self) -> bool:
        """Whether it runs, or will again by itself."""
        return self.machine.state.lives

    @property
    def done(self) -> threading.Event:
        return self.machine.done

    @property
    def checkpoint(self) -> Place:
        return self.folder / "checkpoint"

    @property
    def runs(self) -> set[str]:
        """What Spark calls its queries: their ids, and job groups in batch mode."""
        return self.query_ids | {w.group for w in list(self.watches.values()) if isinstance(w, BatchQuery)}

    @property
    def metrics(self) -> JobMetrics:
        """The job's figures as they were a second ago: nothing is asked for."""
        return self._of(lambda watch: watch.metrics)

    def sampled(self, *, look: bool = False) -> JobMetrics:
        """The job's figures as they are. ``look``: brokers are asked for partitions that are not read yet."""
        return self._of(lambda watch: watch.sample(look=look))

    def _of(self, look: Callable[[Watch | BatchQuery], QueryMetrics]) -> JobMetrics:
        state = self.machine.state
        problem = state.failure if state.status is JobStatus.RESTARTING else state.error
        error, hint = (None, None) if problem is None else (problem.message, problem.hint)
        queries = tuple(look(self.watches[i]) if i in self.watches else QueryMetrics() for i in range(len(self.sinks)))
        # Another generation may have begun without the state of the one before.
        before = None if self.before is None or self.before.generation != self.folder.name else LastKnown.of(self.before.figures)
        if before is not None and not state.lives and _has_done_nothing(queries, failed=state.status is JobStatus.FAILED):
            queries = before.queries if len(queries) == 1 and before.queries else tuple(replace(query, rows_out=None) for query in queries)
        return JobMetrics(
            self.id, self.name, state.status.value, self.started, queries, error, self.zone, hint, state.restarts.count, state.restarts.due, before
        )

    def end(self) -> None:
        """End what runs."""
        self.end_queries()
        with while_it_runs():
            for watch in list(self.watches.values()):
                if isinstance(watch, BatchQuery):
                    watch.stop()

    def end_queries(self) -> None:
        """End the queries that run; those in real time when what they have read is written down."""
        with while_it_runs():
            running = [query for query in self.queries if query.isActive]
            if self.real_time and running:
                self.await_pause(_END_SECONDS)
            for query in running:
                query.stop()

    def await_pause(self, seconds: float = _PAUSE_SECONDS) -> None:
        """Wait until no micro-batch of the queries runs, or one has run for too long. Those in real time end theirs, and read nothing more."""
        if self.real_time:
            storage.write(self.folder / PAUSE, "")
        for query in self.queries:
            await_pause(query, seconds)

    def check_held(self) -> None:
        """Raises JobFailed where another process has the job by now."""
        if self.lock is not None and self.lock.lost:
            raise lost_lease(self.name, last_holder(self.folder.parent))

    def release(self) -> None:
        """Let go of the folder, for another process."""
        lock, self.lock = self.lock, None
        if lock is not None:
            lock.close()

    def why(self) -> list[Reason]:
        """Why it emits nothing, or nothing more; brokers are asked for it."""
        return reasons(self.sampled(look=True), self.sinks, self.idle_ms)

    def problem(self, error: BaseException) -> SqlStreamError:
        """What the job has failed with, as a user can read it."""
        try:
            self.check_held()
        except JobFailed as lost:
            error = lost
        problem = job_error(error, nodes=self.sinks, folder=self.folder)
        if isinstance(problem, JobFailed):
            problem.job = self.name
        if problem.hint is not None:
            problem.hint = problem.hint.replace("ALTER JOB ..", f"ALTER JOB '{short_name(self.name)}'")
        return problem


def _has_done_nothing(queries: Sequence[QueryMetrics], *, failed: bool) -> bool:
    """Whether a run is over that has no figures of its own: it never began, or ``failed`` before its first micro-batch ended."""
    return not any(query.batches or query.rows_in or (query.at and not failed) for query in queries)


def describe(job: Job) -> Mapping[str, str]:
    """What DESCRIBE JOB shows of a job."""
    metrics = job.sampled()
    return {
        "job id": job.id,
        "job name": job.name,
        "status": job.status.value,
        **({} if job.mode is None else {"mode": job.mode}),
        "start time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(job.started)),
        "restarts": str(job.restarts.count),
        **({"next restart": clock(metrics.due, metrics.zone)} if metrics.due and job.status is JobStatus.RESTARTING else {}),
        "rows read": str(metrics.rows_in),
        "late rows": str(metrics.late),
        "checkpoint": str(job.checkpoint),
        **({"error": job.error.message} if isinstance(job.error, JobFailed) else {"last error": job.failure.message} if job.failure else {}),
    }
