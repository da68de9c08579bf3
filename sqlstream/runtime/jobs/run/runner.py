"""Runs one job, in a thread; again after failures; to the end of a bounded input, or of what is drained."""

from __future__ import annotations

import random
import re
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from sqlstream.core import storage
from sqlstream.core.job_names import short_name
from sqlstream.runtime.jobs.folder.generations import DRAINING, FINISHED, interrupted
from sqlstream.runtime.jobs.restarts import NoRestart, Restarts, failed
from sqlstream.runtime.jobs.run.batch import run_batch
from sqlstream.runtime.jobs.run.drain import drain, end_input
from sqlstream.runtime.jobs.run.streams import Streams
from sqlstream.runtime.jobs.run.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from sqlstream.core.errors import SqlStreamError
    from sqlstream.runtime.jobs.job import Job, JobSettings

# An error that comes so often at the same place is told as such.
_ALIKE = 5
# How often one that waits for its restart looks whether it is to be drained.
_LOOK_SECONDS = 0.1
# So long it may take until what runs of a job that has failed is ended.
_ENDING_SECONDS = 60.0


class JobRunner:
    """Runs one job: its queries, in a thread. ``work``: what it reads and writes."""

    def __init__(
        self,
        job: Job,
        spark: SparkSession,
        again: Callable[[], SparkSession],
        settings: JobSettings,
        project: Path,
        emit: Callable[[str], None],
        notify: Callable[[str], None],
        busy: Callable[[], int],
        ended: Callable[[Job], None],
    ) -> None:
        """``again`` gives the Spark session after a failure. ``emit`` prints rows, ``notify`` what the user should know; ``busy``: as of Work."""
        self.work = Work(job, spark, settings, project, emit, notify, busy)
        self._streams = Streams(self.work)
        self._job = job
        self._ended = ended
        self._again = again
        self._settings = settings
        self._notify = notify
        # Sinks of a static input that are left to be written.
        self._fixed = list(self.work.fixed)
        # What it has failed with at last, and where, and how often in turn.
        self._met: tuple[str, str] | None = None
        self._alike = 0

    def start(self, *, resumed: bool) -> None:
        """Start the queries, so that their errors are raised here, and continue in a thread."""
        storage.make(self._job.folder / "control")
        if not self._settings.streaming:
            self._in_thread(partial(run_batch, self.work, range(len(self._job.sinks))))
            return
        try:
            self._start_streams(resumed=resumed)
        except Exception as error:
            # What has run before can: what it needs may come back, as after the start of a machine.
            if not (resumed and self._job.checkpoint.exists() and self._job.problem(error).heals) or isinstance(self._settings.restart, NoRestart):
                raise
            self._in_thread(partial(self._run_on, error))
        else:
            self._in_thread(self._run_on)

    def complete_drain(self) -> None:
        """Drain the job, which ended in the midst of that."""
        try:
            drain(self._job, self._streams)
            (self._job.folder / FINISHED).touch()
        finally:
            self._job.end_queries()
            self._job.queries.clear()
            self._job.watches.clear()

    def _in_thread(self, body: Callable[[], None]) -> None:
        def run() -> None:
            job = self._job
            try:
                body()
                job.machine.end(self._finish)
            except Exception as error:
                job.machine.fail(job.locate(job.problem(error)))
            finally:
                try:
                    job.end_queries()
                    self._streams.end_watches()
                finally:
                    self._ended(job)

        threading.Thread(target=run, name=f"job-{self._job.id[:8]}", daemon=True).start()

    def _finish(self) -> None:
        self._job.check_held()
        (self._job.folder / FINISHED).touch()

    def _start_streams(self, *, resumed: bool) -> None:
        if self.work.bounded and resumed:
            end_input(self._job)
        self._streams.start(once=self.work.bounded)

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
        problem = job.locate(job.problem(error))
        # All sinks are started again together.
        self._end_queries()
        job.queries.clear()
        now = round(time.time() * 1000)
        restarts = failed(self._settings.restart, job.restarts, now, random.random()) if problem.heals else Restarts()
        if restarts.due is None:
            if problem.heals and job.restarts.count:
                self._notify(f"Job '{short_name(job.name)}' is given up after {job.restarts.count} restarts.")
            raise problem
        job.machine.retry(problem, restarts)
        delay = (restarts.due - now) / 1000
        repeated = self._repeated(problem)
        self._notify(
            f"Job '{short_name(job.name)}' has failed: {problem.message.rstrip('.')}. "
            f"It is started again in {delay:.1f} s (restart {restarts.count})."
        )
        if repeated is not None:
            problem.hint = " ".join(filter(None, (repeated, problem.hint)))
            if self._alike == _ALIKE:
                self._notify(f"Job '{short_name(job.name)}': {repeated}")
        drained, end = job.machine.draining.is_set(), time.monotonic() + delay
        # A drain need not wait for what may be there already.
        while (
            (left := end - time.monotonic()) > 0
            and job.machine.draining.is_set() == drained
            and not job.machine.stopping.wait(min(left, _LOOK_SECONDS))
        ):
            pass

    def _end_queries(self) -> None:
        """End what still runs: Spark that is about to die, as where the memory is full, may answer with errors until it is gone."""
        end = time.monotonic() + _ENDING_SECONDS
        while True:
            try:
                self._job.end_queries()
                return self._streams.end_watches()
            except Exception as error:
                if not self._job.problem(error).heals or time.monotonic() > end or self._job.machine.stopping.wait(_LOOK_SECONDS):
                    raise

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
        self.work.renew(self._again())
        if job.lock is not None:
            job.lock.renew()
        if not self.work.bounded and (job.machine.draining.is_set() or (job.folder / DRAINING).exists()):
            drain(self._job, self._streams)
            return
        self._start_streams(resumed=True)
        if job.machine.stopping.is_set():
            job.end_queries()
        self._run()

    def _run(self) -> None:
        while self._fixed:
            run_batch(self.work, self._fixed[:1])
            self._fixed = self._fixed[1:]
        draining = threading.Event() if self.work.bounded else self._job.machine.draining
        self._streams.wait(draining)
        if draining.is_set() and not self._job.machine.stopping.is_set():
            drain(self._job, self._streams)
