"""The jobs of a session: submitted, found, stopped, waited for."""

from __future__ import annotations

import json
import shutil
import threading
import uuid
from typing import TYPE_CHECKING

from sqlstream.core import private
from sqlstream.core.errors import JobFailed, SqlStreamError, ValidationError
from sqlstream.plan.nodes import Watermark
from sqlstream.plan.properties import field as field_of
from sqlstream.plan.properties import walk
from sqlstream.runtime.engine.failures import job_error
from sqlstream.runtime.jobs.folder import DRAINING, claim, drained_before, generation, stopped_before
from sqlstream.runtime.jobs.job import Job, JobSettings, JobStatus, Locate, unlocated
from sqlstream.runtime.jobs.runner import JobRunner
from sqlstream.sql.masking import masked_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from sqlstream.plan.nodes import Sink
    from sqlstream.runtime.monitor.metrics import JobMetrics

_ANEW = "starts anew, without state, and reads its sources from where their options say"


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

    @property
    def _folders(self) -> set[Path]:
        return {j.folder.parent for j in self if j.status is JobStatus.RUNNING}

    def find(self, job_id: str) -> Job:
        """The job with this id, or whose id begins so. Raises ValidationError."""
        matching = [j for key, j in self._jobs.items() if job_id and key.startswith(job_id)]
        if len(matching) != 1:
            known = "SHOW JOBS lists the jobs of this session."
            raise ValidationError(f"Job {job_id} does not exist." if not matching else f"Several jobs begin with {job_id}.", hint=known)
        return matching[0]

    def submit(self, spark: SparkSession, sinks: tuple[Sink, ...], name: str, settings: JobSettings, sql: str, locate: Locate | None = None) -> Job:
        """Start a job and return; raises what its start met (JobFailed, ValidationError)."""
        try:
            home, lock = claim(self._project, sinks, name, settings.zone, self._folders)
        except OSError as error:
            raise job_error(error, folder=self._project) from error
        folder, resumed = generation(home)
        zone = _time_zone(sinks, settings.zone)
        job = Job(
            uuid.uuid4().hex,
            name,
            sinks,
            folder,
            lock=lock,
            locate=locate or unlocated,
            streaming=settings.streaming,
            zone=zone,
            idle_ms=settings.idle_ms,
        )
        private.write_file(home / "job.json", json.dumps({"name": name, "sql": masked_text(sql)}, indent=2) + "\n")
        runner = JobRunner(job, spark, settings, self._project, self._emit, self._notify, self._job_ended)
        try:
            if resumed and (folder / DRAINING).exists():
                self._notify(f"Job '{name}' ended while it was being drained: the drain is completed first ({folder}).")
                runner.complete_drain()
                job.folder, resumed = generation(home)
            if resumed and settings.streaming and not job.checkpoint.exists():
                self._notify(f"Job '{name}' has no checkpoint ({folder}): it {_ANEW}.")
            elif resumed:
                self._notify(f"Job '{name}' continues where it stopped ({folder}).")
            elif drained_before(job.folder):
                self._notify(f"Job '{name}' was drained: it {_ANEW}.")
            elif settings.streaming and (before := stopped_before(home, name, self._folders)):
                self._notify(
                    f"Job '{name}' {_ANEW}: the job that stopped under this name "
                    f"({before}) had another statement, or other declarations or settings; it continues when those are submitted again."
                )
            runner.start(resumed=resumed)
        except Exception as error:
            if not resumed and not job.checkpoint.exists():
                # Nothing has run: a later start must not find what this one had looked up.
                shutil.rmtree(job.folder, ignore_errors=True)
            job.release()
            raise job.failure(error) from error
        self._jobs[job.id] = job
        return job

    def stop(self, job_id: str, *, savepoint: bool = False, drain: bool = False, interrupted: Callable[[], bool] = lambda: False) -> Job:
        """Stop a job; its checkpoint stays. ``drain``: first what has arrived up to now is processed and every open window closed.

        Raises ValidationError, and what a drain met (JobFailed).
        """
        job = self.find(job_id)
        if job.status is not JobStatus.RUNNING:
            raise ValidationError(f"Job {job_id} is not running: it is {job.status.value}.")
        if (savepoint or drain) and not job.streaming:
            hint = f"In batch mode there is no state to keep, and a job ends with its input: STOP JOB '{job_id}' cancels it."
            raise ValidationError(f"Job {job_id} is not a streaming job.", hint=hint)
        if drain:
            return self._drained(job, interrupted)
        job.stopping.set()
        job.end()
        job.done.wait(60)
        return job

    def _drained(self, job: Job, interrupted: Callable[[], bool]) -> Job:
        job.draining.set()
        while not job.done.wait(0.05):
            if interrupted():
                job.stopping.set()
                job.end()
                hint = "Submit the same statement again to complete the drain."
                raise JobFailed(f"Job {job.id} was stopped while it was being drained.", hint=hint)
        if job.error is not None:
            raise job.error
        return job

    def wait(self, progress: Callable[[list[JobMetrics]], None] = lambda jobs: None, interrupted: Callable[[], bool] = lambda: False) -> None:
        """Wait until no job runs, calling ``progress`` about once a second. Raises the error of a job that has failed, while others still run."""
        while True:
            self._ended.clear()
            error = next((j.error for j in self if j.error is not None), None)
            running = [j for j in self if j.status is JobStatus.RUNNING]
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
        running = [j for j in self if j.status is JobStatus.RUNNING]
        for job in running:
            job.stopping.set()
        for job in running:
            job.end()
        for job in running:
            job.done.wait(60)

    def let_go(self) -> None:
        """Let go of the folders of all jobs, for another process: nothing writes into them any more."""
        for job in self:
            job.release()

    def _job_ended(self, job: Job) -> None:
        if not self._locked:
            job.release()
        job.done.set()
        self._ended.set()
        if job.error is not None:
            self.on_failure(job.error)


def _time_zone(sinks: tuple[Sink, ...], zone: str) -> str:
    """The zone in which the times of a job are shown: those of TIMESTAMP are of none."""
    local = (field_of(n, n.column).type.root == "TIMESTAMP_LTZ" for s in sinks for n in walk(s) if isinstance(n, Watermark))
    return zone if any(local) else "UTC"
