"""One submitted job: its state, its queries, its figures, how it ends."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.core.errors import JobFailed, SqlStreamError
from sqlstream.runtime.engine.failures import job_error, while_it_runs
from sqlstream.runtime.jobs.locks import last_holder, lost_lease
from sqlstream.runtime.jobs.restarts import NoRestart, Restarts, Strategy
from sqlstream.runtime.jobs.status import Failure
from sqlstream.runtime.monitor.figures import clock
from sqlstream.runtime.monitor.metrics import JobMetrics, QueryMetrics
from sqlstream.runtime.monitor.why import reasons
from sqlstream.runtime.queries.watch import BatchQuery, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.core.storage import Place
    from sqlstream.plan.nodes import Sink
    from sqlstream.runtime.jobs.locks import Lock
    from sqlstream.runtime.monitor.why import Reason

# So many failures of a job are kept.
_FAILURES = 20

# Gives an error the place of its statement.
Locate: TypeAlias = "Callable[[SqlStreamError], SqlStreamError]"


class JobStatus(Enum):
    """A job's state, as SHOW JOBS prints it."""

    RUNNING = "RUNNING"
    RESTARTING = "RESTARTING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


def unlocated(error: SqlStreamError) -> SqlStreamError:
    """``error`` as it is."""
    return error


@dataclass
class JobSettings:
    """How a job runs. ``trigger_ms``: the least time between two micro-batches; ``streaming`` is False in batch mode.

    ``idle_ms``, ``future_ms``: see Lowering. ``restart``: what happens after a failure. ``upgrade_mode``: what becomes of a job whose statement has
    changed; None where that was not said; ``may_lose``: whether last-state may leave state behind. ``agrees`` puts a question to the user, if there
    is one; ``masked`` takes secrets out of a text about the plan. ``recovery``: the savepoint with which the job begins.
    ``retained``: of how many micro-batches the checkpoint is kept; None for as many as Spark's setting says.
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


@dataclass
class Job:
    """One submitted job. ``locate`` gives its error the place of its statement. ``error`` is what it has failed with for good; ``failure`` the latest
    error after which it was, or is to be, started again. ``failures``: the last ones of all of its runs.
    """

    id: str
    name: str
    sinks: tuple[Sink, ...]
    folder: Place
    started: float = field(default_factory=time.time)
    status: JobStatus = JobStatus.RUNNING
    error: SqlStreamError | None = None
    failure: SqlStreamError | None = None
    failures: tuple[Failure, ...] = ()
    restarts: Restarts = field(default_factory=Restarts)
    queries: list[StreamingQuery] = field(default_factory=list)
    watches: dict[int, Watch | BatchQuery] = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)
    draining: threading.Event = field(default_factory=threading.Event)
    lock: Lock | None = None
    streaming: bool = True
    locate: Locate = field(default=unlocated)
    zone: str = "UTC"
    idle_ms: int = 0
    # The URI of the savepoint with which it was stopped; its folder stays this process's until that is made.
    savepoint: str = ""
    saving: bool = False
    # It was stopped by somebody, and its script has come again by itself.
    kept_back: bool = False

    @property
    def lives(self) -> bool:
        """Whether it runs, or will again by itself."""
        return self.status in (JobStatus.RUNNING, JobStatus.RESTARTING)

    @property
    def checkpoint(self) -> Place:
        return self.folder / "checkpoint"

    @property
    def runs(self) -> set[str]:
        """What Spark calls its queries: their ids, and job groups in batch mode."""
        return {q.id for q in self.queries} | {w.group for w in list(self.watches.values()) if isinstance(w, BatchQuery)}

    @property
    def metrics(self) -> JobMetrics:
        """The job's figures as they were a second ago: nothing is asked for."""
        return self._of(lambda watch: watch.metrics)

    def sampled(self, *, look: bool = False) -> JobMetrics:
        """The job's figures as they are. ``look``: brokers are asked for partitions that are not read yet."""
        return self._of(lambda watch: watch.sample(look=look))

    def _of(self, look: Callable[[Watch | BatchQuery], QueryMetrics]) -> JobMetrics:
        problem = self.failure if self.status is JobStatus.RESTARTING else self.error
        error, hint = (None, None) if problem is None else (problem.message, problem.hint)
        queries = (look(self.watches[i]) if i in self.watches else QueryMetrics() for i in range(len(self.sinks)))
        return JobMetrics(
            self.id, self.name, self.status.value, self.started, tuple(queries), error, self.zone, hint, self.restarts.count, self.restarts.due
        )

    def note(self, error: str, at: float | None = None) -> None:
        """Keep that it has failed, or its process has ended."""
        self.failures = (*self.failures, Failure(time.time() if at is None else at, error))[-_FAILURES:]

    def end(self) -> None:
        """End what runs."""
        self.end_queries()
        with while_it_runs():
            for watch in list(self.watches.values()):
                if isinstance(watch, BatchQuery):
                    watch.stop()

    def end_queries(self) -> None:
        """End the queries that run."""
        with while_it_runs():
            for query in self.queries:
                if query.isActive:
                    query.stop()

    def check_held(self) -> None:
        """Raises JobFailed where another process has the job by now."""
        if self.lock is not None and self.lock.lost:
            raise lost_lease(self.name, last_holder(self.folder.parent))

    def release(self) -> None:
        """Let go of the folder, for another process."""
        if self.lock is not None:
            self.lock.close()
            self.lock = None

    def why(self) -> list[Reason]:
        """Why it emits nothing, or nothing more; brokers are asked for it."""
        return reasons(self.sampled(look=True), self.sinks, self.idle_ms)

    def told(self, error: BaseException) -> SqlStreamError:
        """What the job has failed with, as a user can read it."""
        try:
            self.check_held()
        except JobFailed as lost:
            error = lost
        problem = job_error(error, nodes=self.sinks, folder=self.folder)
        if isinstance(problem, JobFailed):
            problem.job = self.name
        if problem.hint is not None:
            problem.hint = problem.hint.replace("ALTER JOB ..", f"ALTER JOB '{self.name}'")
        return problem


def describe(job: Job) -> Mapping[str, str]:
    """What DESCRIBE JOB shows of a job."""
    metrics = job.sampled()
    return {
        "job id": job.id,
        "job name": job.name,
        "status": job.status.value,
        "start time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(job.started)),
        "restarts": str(job.restarts.count),
        **({"next restart": clock(metrics.due, metrics.zone)} if metrics.due and job.status is JobStatus.RESTARTING else {}),
        "rows read": str(metrics.rows_in),
        "late rows": str(metrics.late),
        "checkpoint": str(job.checkpoint),
        **({"error": job.error.message} if isinstance(job.error, JobFailed) else {"last error": job.failure.message} if job.failure else {}),
    }
