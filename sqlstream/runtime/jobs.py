"""Jobs: what INSERT and statement sets submit. In: sinks of a checked plan. Out: running Spark queries, and their state on disk.

A job's folder is ``.sqlstream/jobs/<name>-<fingerprint of its plan>/``: the same statements find it again, so a restart goes on where it
stopped. In it is one folder a generation (``1``, ``2``, ...): a job that has finished (bounded input) starts a new one when it is
submitted again, so nothing that identifies its writes (Delta's transaction ids are the checkpoint's own) is used twice. A
generation holds ``checkpoint/<sink>``, ``control`` (see runtime/lower/lowering), ``draining`` from the moment on at which it is to be drained, and
``finished`` when it is done. A lock file keeps a second process out.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import threading
import time
import uuid
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import IO, TYPE_CHECKING, TypeAlias

from sqlstream.connectors import find
from sqlstream.connectors.base import Write
from sqlstream.core import private
from sqlstream.core.depth import deeply
from sqlstream.core.errors import JobFailed, SqlStreamError, ValidationError
from sqlstream.plan.identity import signature
from sqlstream.plan.nodes import Watermark
from sqlstream.plan.properties import bounded, changelog_mode, in_update_mode, scans, static, upsert_key, walk, window_column
from sqlstream.plan.properties import field as field_of
from sqlstream.runtime.engine.failures import job_error, while_it_runs
from sqlstream.runtime.lower.inputs import input_state
from sqlstream.runtime.lower.lowering import END_OF_INPUT_MS, Lowering, lower
from sqlstream.runtime.monitor.metrics import JobMetrics, QueryMetrics
from sqlstream.runtime.watch import BatchQuery, Watch, await_pause
from sqlstream.sql.masking import masked_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sqlstream.plan.nodes import Sink

# What becomes of an error before it is told.
Told: TypeAlias = "Callable[[SqlStreamError], SqlStreamError]"
# In the folder of a generation: it is being drained, or was.
_DRAINING = "draining"
_ANEW = "starts anew, without state, and reads its sources from where their options say"
# A micro-batch that runs so long when its job is to be drained is cut off, and run again.
_PAUSE_SECONDS = 60.0


class Status(Enum):
    """A job's state, as SHOW JOBS prints it."""

    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


def _untold(error: SqlStreamError) -> SqlStreamError:
    return error


@dataclass
class Settings:
    """How a job runs. ``trigger_ms``: the least time between two micro-batches; ``streaming`` is False in batch mode.

    ``idle_ms``, ``future_ms``: see Lowering.
    """

    zone: str
    streaming: bool = True
    trigger_ms: int | None = None
    idle_ms: int = 0
    future_ms: int = 0


@dataclass
class Job:
    """One submitted job. ``told``: its error as it is told, with the place of its statement."""

    id: str
    name: str
    sinks: tuple[Sink, ...]
    folder: Path
    started: float = field(default_factory=time.time)
    status: Status = Status.RUNNING
    error: SqlStreamError | None = None
    queries: list[StreamingQuery] = field(default_factory=list)
    watches: dict[int, Watch | BatchQuery] = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)
    draining: threading.Event = field(default_factory=threading.Event)
    lock: IO[str] | None = None
    streaming: bool = True
    told: Told = field(default=_untold)
    zone: str = "UTC"
    idle_ms: int = 0

    @property
    def checkpoint(self) -> Path:
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
        error, hint = (None, None) if self.error is None else (self.error.message, self.error.hint)
        queries = (look(self.watches[i]) if i in self.watches else QueryMetrics() for i in range(len(self.sinks)))
        return JobMetrics(self.id, self.name, self.status.value, self.started, tuple(queries), error, self.zone, hint)


class Jobs:
    """The jobs of a session."""

    def __init__(self, project: Path, emit: Callable[[str], None], notify: Callable[[str], None]) -> None:
        self._project = project
        self._emit = emit
        self._notify = notify
        self._jobs: dict[str, Job] = {}
        self._ended = threading.Event()
        self._locked = False
        # Hears of the error of each job that fails, in that one's thread.
        self.on_failure: Callable[[SqlStreamError], None] = lambda error: None

    def __iter__(self):  # type: ignore[no-untyped-def]
        # Others look while a job is submitted.
        return iter(list(self._jobs.values()))

    def find(self, job_id: str) -> Job:
        """The job with this id, or whose id begins so. Raises ValidationError."""
        found = [j for key, j in self._jobs.items() if job_id and key.startswith(job_id)]
        if len(found) != 1:
            known = "SHOW JOBS lists the jobs of this session."
            raise ValidationError(f"Job {job_id} does not exist." if not found else f"Several jobs begin with {job_id}.", hint=known)
        return found[0]

    def submit(
        self, spark: SparkSession, sinks: tuple[Sink, ...], name: str, settings: Settings, sql: str, told: Told | None = None
    ) -> Job:
        """Start a job and return; raises what its start met (JobFailed, ValidationError)."""
        try:
            home, lock = self._claim(sinks, name, settings)
        except OSError as error:
            raise job_error(error, folder=self._project) from error
        folder, resumed = _generation(home)
        zone = _time_zone(sinks, settings.zone)
        job = Job(
            uuid.uuid4().hex, name, sinks, folder, lock=lock, told=told or _untold, streaming=settings.streaming, zone=zone, idle_ms=settings.idle_ms
        )
        private.written(home / "job.json", json.dumps({"name": name, "sql": masked_text(sql)}, indent=2) + "\n")
        runner = _Runner(job, spark, settings, self._project, self._emit, self._job_ended)
        try:
            if resumed and (folder / _DRAINING).exists():
                self._notify(f"Job '{name}' ended while it was drained: that is completed first ({folder}).")
                runner.complete_drain()
                job.folder, resumed = _generation(home)
            if resumed and settings.streaming and not job.checkpoint.exists():
                self._notify(f"Job '{name}' has no checkpoint ({folder}): it {_ANEW}.")
            elif resumed:
                self._notify(f"Job '{name}' goes on where it stopped ({folder}).")
            elif _drained_before(job.folder):
                self._notify(f"Job '{name}' was drained: it {_ANEW}.")
            elif settings.streaming and (before := self._stopped_before(home, name)):
                self._notify(
                    f"Job '{name}' {_ANEW}: what stopped under this name "
                    f"({before}) has another statement, or other declarations or settings, and goes on when these are submitted again."
                )
            runner.start(resumed=resumed)
        except Exception as error:
            if not resumed and not job.checkpoint.exists():
                # Nothing has run: a later start must not find what this one had looked up.
                shutil.rmtree(job.folder, ignore_errors=True)
            _release(job)
            raise _failure(job, error) from error
        self._jobs[job.id] = job
        return job

    def stop(
        self, job_id: str, *, savepoint: bool = False, drain: bool = False, interrupted: Callable[[], bool] = lambda: False
    ) -> Job:
        """Stop a job; its checkpoint stays. ``drain``: first what has arrived up to now is processed and every open window closed.

        Raises ValidationError, and what a drain met (JobFailed).
        """
        job = self.find(job_id)
        if job.status is not Status.RUNNING:
            raise ValidationError(f"Job {job_id} is not running: it is {job.status.value}.")
        if (savepoint or drain) and not job.streaming:
            hint = f"In batch mode there is no state to keep, and a job ends with its input: STOP JOB '{job_id}' cancels it."
            raise ValidationError(f"Job {job_id} is not a streaming job.", hint=hint)
        if drain:
            return self._drained(job, interrupted)
        job.stopping.set()
        _end(job)
        job.done.wait(60)
        return job

    def _drained(self, job: Job, interrupted: Callable[[], bool]) -> Job:
        job.draining.set()
        while not job.done.wait(0.05):
            if interrupted():
                job.stopping.set()
                _end(job)
                hint = "The same statement completes that when it is submitted again."
                raise JobFailed(f"Job {job.id} was stopped while it was drained.", hint=hint)
        if job.error is not None:
            raise job.error
        return job

    def wait(
        self, progress: Callable[[list[JobMetrics]], None] = lambda jobs: None, interrupted: Callable[[], bool] = lambda: False
    ) -> None:
        """Wait until no job runs, calling ``progress`` about once a second. Raises the error of a job that has failed, while others still run."""
        while True:
            self._ended.clear()
            error = next((j.error for j in self if j.error is not None), None)
            running = [j for j in self if j.status is Status.RUNNING]
            if error is not None or not running or interrupted():
                break
            progress([j.metrics for j in running])
            self._ended.wait(1.0)
        progress([])
        if error is not None:
            raise error

    def wake(self) -> None:
        """From another thread: let ``wait`` see at once that it is interrupted."""
        self._ended.set()

    def stop_all(self, *, locked: bool = False) -> None:
        """Stop every running job. ``locked``: their folders stay so until ``let_go``."""
        self._locked = locked
        running = [j for j in self if j.status is Status.RUNNING]
        for job in running:
            job.stopping.set()
        for job in running:
            _end(job)
        for job in running:
            job.done.wait(60)

    def let_go(self) -> None:
        """Let go of the folders of all jobs, for another process: nothing writes into them any more."""
        for job in self:
            _release(job)

    def _job_ended(self, job: Job) -> None:
        if not self._locked:
            _release(job)
        job.done.set()
        self._ended.set()
        if job.error is not None:
            self.on_failure(job.error)

    def _stopped_before(self, home: Path, name: str) -> Path | None:
        """The latest of the folders of other plans under ``name`` that keep state and that no job holds, where ``home`` is new."""
        if any(p.name.isdigit() for p in home.iterdir()):
            return None
        running = {j.folder.parent for j in self if j.status is Status.RUNNING}
        others = [p.parent for p in home.parent.glob("*-*/job.json") if p.parent not in (home, *running) and _named(p) == name]
        stopped = [folder for folder, begun in map(_generation, others) if begun and not _runs_elsewhere(folder.parent)]
        return max(stopped, key=lambda folder: folder.stat().st_mtime, default=None)

    def _claim(self, sinks: tuple[Sink, ...], name: str, settings: Settings) -> tuple[Path, IO[str]]:
        """The job's folder and the lock on it. A second job of the same plan in this session gets a folder of its own."""
        digest = hashlib.sha256("\n".join([settings.zone, *(signature(s) for s in sinks)]).encode()).hexdigest()[:12]
        slug = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII)[:80]
        ours = {j.folder.parent for j in self if j.status is Status.RUNNING}
        ordinal = 1
        while True:
            suffix = "" if ordinal == 1 else f"-{ordinal}"
            home = self._project / ".sqlstream" / "jobs" / f"{slug}-{digest}{suffix}"
            if home not in ours:
                break
            ordinal += 1
        lock = private.opened(private.folder(home) / "lock", "a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().strip()
            lock.close()
            raise ValidationError(
                f"Job '{name}' runs already, in process {owner or 'unknown'}.",
                hint="Stop it there, or SET 'pipeline.name' to run it a second time under a name of its own.",
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        return home, lock


def _time_zone(sinks: tuple[Sink, ...], zone: str) -> str:
    """The zone in which the times of a job are shown: those of TIMESTAMP are of none."""
    local = (field_of(n, n.column).type.root == "TIMESTAMP_LTZ" for s in sinks for n in walk(s) if isinstance(n, Watermark))
    return zone if any(local) else "UTC"


def _generation(home: Path) -> tuple[Path, bool]:
    """The generation to run, and whether it was begun before."""
    numbers = sorted(int(p.name) for p in home.iterdir() if p.name.isdigit())
    latest = numbers[-1] if numbers else 0
    if latest and not (home / str(latest) / "finished").exists():
        return home / str(latest), True
    return home / str(latest + 1), False


def _named(description: Path) -> str | None:
    """The name of the job whose job.json this is."""
    try:
        name = json.loads(description.read_text())["name"]
    except (OSError, ValueError, KeyError):
        return None
    return name if isinstance(name, str) else None


def _runs_elsewhere(home: Path) -> bool:
    """Whether the process that held ``home`` last is another one that is there. Who asked for its lock would have it for a moment."""
    try:
        owner = int((home / "lock").read_text())
        os.kill(owner, 0)
    except (OSError, ValueError):
        return False
    return owner != os.getpid()


def _drained_before(folder: Path) -> bool:
    """Whether the generation before that of ``folder`` was drained."""
    finished = folder.with_name(str(int(folder.name) - 1)) / "finished"
    return finished.exists() and finished.with_name(_DRAINING).exists()


def _release(job: Job) -> None:
    if job.lock is not None:
        job.lock.close()
        job.lock = None


def _end(job: Job) -> None:
    """End what runs of a job."""
    _end_queries(job)
    with while_it_runs():
        for watch in list(job.watches.values()):
            if isinstance(watch, BatchQuery):
                watch.stop()


def _end_queries(job: Job) -> None:
    with while_it_runs():
        for query in job.queries:
            if query.isActive:
                query.stop()


def _failure(job: Job, error: BaseException) -> SqlStreamError:
    """What ``job`` has failed with."""
    problem = job_error(error, nodes=job.sinks, folder=job.folder)
    if isinstance(problem, JobFailed):
        problem.job = job.name
    return problem


class _Runner:
    """Runs one job: its queries, in a thread."""

    def __init__(
        self, job: Job, spark: SparkSession, settings: Settings, project: Path, emit: Callable[[str], None], ended: Callable[[Job], None]
    ) -> None:
        self._job = job
        self._ended = ended
        self._spark = spark
        self._settings = settings
        self._project = project
        self._emit = emit
        self._bounded = all(bounded(s) for s in job.sinks)

    def start(self, *, resumed: bool) -> None:
        """Start the queries, so that what is wrong with them is raised here, and go on in a thread."""
        private.folder(self._job.folder / "control")
        if not self._settings.streaming:
            self._in_thread(self._batch, range(len(self._job.sinks)))
            return
        fixed = [i for i, s in enumerate(self._job.sinks) if static(s)]
        if self._bounded and resumed:
            self._end_input()
        self._start_queries(self._streams, once=self._bounded)
        self._in_thread(self._run, fixed)

    def complete_drain(self) -> None:
        """Drain the job, which ended in the midst of that."""
        try:
            self._drain()
            (self._job.folder / "finished").touch()
        finally:
            _end_queries(self._job)
            self._job.queries.clear()
            self._job.watches.clear()

    @property
    def _streams(self) -> list[int]:
        return [i for i, s in enumerate(self._job.sinks) if not static(s)]

    def _end_input(self) -> None:
        # What came may have been read already, but not its windows closed: only a new row makes Spark go on.
        write_atomically(self._job.folder / "control" / f"end-{uuid.uuid4().hex}", str(END_OF_INPUT_MS))

    def _in_thread(self, body: Callable[..., None], *args: object) -> None:
        def run() -> None:
            job = self._job
            try:
                body(*args)
                if job.stopping.is_set():
                    job.status = Status.CANCELED
                else:
                    (job.folder / "finished").touch()
                    job.status = Status.FINISHED
            except Exception as error:
                job.error = None if job.stopping.is_set() else job.told(_failure(job, error))
                job.status = Status.CANCELED if job.stopping.is_set() else Status.FAILED
            finally:
                _end_queries(job)
                self._end_watches()
                self._ended(job)

        threading.Thread(target=run, name=f"job-{self._job.id[:8]}", daemon=True).start()

    def _run(self, fixed: Iterable[int]) -> None:
        self._batch(fixed)
        draining = threading.Event() if self._bounded else self._job.draining
        self._await(draining)
        if draining.is_set() and not self._job.stopping.is_set():
            self._drain()

    def _drain(self) -> None:
        """Run the queries once more, from where they are up to what their sources have now, and to the end of all time."""
        (self._job.folder / _DRAINING).touch()
        for query in self._job.queries:
            await_pause(query, _PAUSE_SECONDS)
            query.stop()
        self._end_watches()
        if any(find(scan.table.connector).reads_in_parts for sink in self._job.sinks for scan in scans(sink)):
            # The end must not come before the last part.
            self._run_once()
        self._end_input()
        self._run_once()

    def _run_once(self) -> None:
        self._start_queries(self._streams, once=True)
        if self._job.stopping.is_set():
            _end_queries(self._job)
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
                noted = time.monotonic()
            waiting = [q for q in waiting if not q.awaitTermination(0.2 / len(waiting))]  # type: ignore[arg-type]

    def _lowering(self, index: int, *, streaming: bool) -> Lowering:
        state = self._job.folder / "inputs" / str(index)
        # A job in batch mode that is submitted again reads what is there then.
        shared = state.with_name("shared" if self._settings.streaming else self._job.id)
        return Lowering(
            self._spark, streaming=streaming, batch=not self._settings.streaming, bounded=self._bounded, zone=self._settings.zone,
            project=self._project, state=state, control=self._job.folder / "control",
            shared=shared, idle_ms=self._settings.idle_ms, future_ms=self._settings.future_ms,
        )  # fmt: skip

    def _start_queries(self, sinks: Iterable[int], *, once: bool) -> None:
        """``once``: up to what the sources have now."""
        self._job.queries.clear()
        try:
            for index in sinks:
                self._job.queries.append(self._start_query(index, self._job.sinks[index], once=once))
        except Exception:
            for query in self._job.queries:
                query.stop()
            raise

    def _start_query(self, index: int, sink: Sink, *, once: bool) -> StreamingQuery:
        to = self._lowering(index, streaming=True)
        before = self._job.watches.get(index)
        watch = Watch(self._spark, to, None if before is None else before.metrics)
        write = replace(self._write(index, sink, watch.counted(lower(sink, to))), watermark=to.reached)
        writer = find(sink.table.connector).write_stream(write)
        writer = writer.outputMode("update" if in_update_mode(sink) else "append")
        writer = writer.option("checkpointLocation", str(self._job.checkpoint / _sink_name(index, sink)))
        writer = writer.queryName(f"{self._job.name}/{_sink_name(index, sink)}/{self._job.id[:8]}")
        if once:
            writer = writer.trigger(availableNow=True)
        elif self._settings.trigger_ms:
            writer = writer.trigger(processingTime=f"{self._settings.trigger_ms} milliseconds")
        query = writer.start()
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
            name=_sink_name(index, sink),
            zone=self._settings.zone,
            project=self._project,
            emit=self._emit,
            partition=dict(sink.partition),
            overwrite=sink.overwrite,
            order=window_column(sink),
            version=version,
        )

    def _batch(self, sinks: Iterable[int]) -> None:
        for index in sinks:
            if self._job.stopping.is_set():
                return
            sink = self._job.sinks[index]
            frame = deeply(partial(lower, sink, self._lowering(index, streaming=False)))
            query = self._job.watches[index] = BatchQuery(self._spark, f"{self._job.id}/{index}")
            if self._job.stopping.is_set():
                return
            write = self._write(index, sink, frame, self._batch_version(index, sink, frame))
            query.run(frame, partial(find(sink.table.connector).write_batch, write))

    def _batch_version(self, index: int, sink: Sink, frame: DataFrame) -> tuple[str, int]:
        """An id that no other write ever has, kept with the checkpoint, and how often the sink is written by it.

        A job that goes on does not write again what is written. In batch mode it does unless the input is known to be the same, and what replaces
        all that is there in any case: it may be another's by now.
        """
        path = self._job.checkpoint / _sink_name(index, sink) / "write.json"
        writer, number, read = json.loads(path.read_text()) if path.exists() else (uuid.uuid4().hex, -1, None)
        if number >= 0 and self._settings.streaming:
            return writer, number
        reads = None if sink.overwrite else input_state(frame)
        if reads is None or read != reads:
            number += 1
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps([writer, number, reads]))
        return writer, number


def _sink_name(index: int, sink: Sink) -> str:
    name = re.sub(r"\W", "_", sink.table.path.name, flags=re.ASCII)
    return f"{index}_{name}"


def write_atomically(path: Path, text: str) -> None:
    # A leading underscore hides the half-written file from Spark's file source.
    part = path.with_name(f"_{path.name}.part")
    private.written(part, text)
    part.replace(path)


def describe(job: Job) -> Mapping[str, str]:
    """What DESCRIBE JOB shows of a job."""
    metrics = job.sampled()
    return {
        "job id": job.id,
        "job name": job.name,
        "status": job.status.value,
        "start time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(job.started)),
        "rows read": str(metrics.rows_in),
        "late rows": str(metrics.late),
        "checkpoint": str(job.checkpoint),
        **({"error": job.error.message} if isinstance(job.error, JobFailed) else {}),
    }
