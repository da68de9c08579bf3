"""The jobs of a session: submitted, found, stopped, waited for."""

from __future__ import annotations

import json
import shlex
import threading
import uuid
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from sqlstream.core import storage
from sqlstream.core.errors import Declined, JobFailed, SqlStreamError, ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.core.lines import OfJob, of_job
from sqlstream.plan.nodes import Watermark
from sqlstream.plan.properties import field as field_of
from sqlstream.plan.properties import walk
from sqlstream.runtime.engine.failures import job_error
from sqlstream.runtime.jobs.begin import savepoints
from sqlstream.runtime.jobs.begin.carry_out import Beginning, NotContinued
from sqlstream.runtime.jobs.begin.decide import refuses
from sqlstream.runtime.jobs.begin.digests import digest
from sqlstream.runtime.jobs.begin.placement import Preview, preview
from sqlstream.runtime.jobs.control import requests
from sqlstream.runtime.jobs.control.attendant import Attendant
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.jobs.control.status import Status, status_of
from sqlstream.runtime.jobs.folder import locks
from sqlstream.runtime.jobs.folder.generations import Damaged, JobFolder, find
from sqlstream.runtime.jobs.folder.retention import retain
from sqlstream.runtime.jobs.folder.versions import Version
from sqlstream.runtime.jobs.job import Job, JobSettings, Locate, unlocated
from sqlstream.runtime.jobs.machine import SAID, Event, JobStatus
from sqlstream.runtime.jobs.run.runner import JobRunner
from sqlstream.runtime.monitor.reporting.alerts import Alerts
from sqlstream.runtime.monitor.reporting.lineage import Lineage
from sqlstream.runtime.monitor.reporting.reporter import Reporter
from sqlstream.sql.masking import masked_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from pyspark.sql import SparkSession

    from sqlstream.core.storage import JobFolders, Place
    from sqlstream.plan.nodes import Sink
    from sqlstream.runtime.jobs.script import JobScript
    from sqlstream.runtime.monitor.metrics import JobMetrics


@dataclass(frozen=True)
class _Submission:
    """What a job is submitted by: see ``Jobs.submit``."""

    sinks: tuple[Sink, ...]
    name: str
    settings: JobSettings
    sql: str
    locate: Locate
    script: JobScript | None
    keep_stopped: bool


# So long a job that is stopped may take to end.
_END_SECONDS = 60.0


class Jobs:
    """The jobs of a session."""

    def __init__(
        self,
        project: Path,
        folders: Callable[[], JobFolders],
        emit: Callable[[str], None],
        notify: Callable[[str], None],
        again: Callable[[], SparkSession],
    ) -> None:
        """``folders``: where jobs are, as it is set. ``again`` gives the Spark session to jobs that are started again: a new one where that of before
        has ended.
        """
        self._project = project
        self._folders = folders
        self._again = again
        self._emit = emit
        self._notify = notify
        self._jobs: dict[str, Job] = {}
        self._runners: dict[str, JobRunner] = {}
        self._submissions: dict[str, _Submission] = {}
        # One at a time: another process asks for some.
        self._submitting = threading.RLock()
        # The ids of those that are stopped to be started again; who looks whether any job runs sees them.
        self._restarting: set[str] = set()
        self._looking = threading.Lock()
        self._script: list[Job] = []
        self._ended = threading.Event()
        self._locked = self._closing = False
        self._attendant = Attendant(self.carry_out)
        # Tells other programs of them.
        self.reporter = Reporter(self.__iter__, project)
        self._alerts = Alerts(str(project), notify)
        self._lineage = Lineage(project, notify)
        # Hears of the error of each job that fails, in that one's thread.
        self.on_failure: Callable[[SqlStreamError], None] = lambda error: None
        # Hears of each before it begins, with the script that submits it, and gives what undoes that; hears of each that has ended.
        self.on_begin: Callable[[Job, str | None], Callable[[], None]] = lambda job, script: _nothing
        self.on_end: Callable[[Job], None] = lambda job: None

    def __iter__(self):  # type: ignore[no-untyped-def]
        # Others look while a job is submitted.
        return iter(list(self._jobs.values()))

    def latest(self) -> list[Job]:
        """Of each job the run that was begun last: what the others have done is over."""
        return list({job.folder.parent: job for job in self}.values())

    def __contains__(self, job_id: str) -> bool:
        """Whether one of them has this id, or one that begins so."""
        return any(job_id and key.startswith(job_id) for key in list(self._jobs))

    @property
    def folders(self) -> JobFolders:
        """Where jobs are that are submitted now."""
        return self._folders()

    def report(self, options: Mapping[str, str]) -> None:
        """Tell other programs of them, where ``options`` say so. Raises ValidationError, SetupError."""
        self.reporter.listen(options, self._notify)
        self._alerts.watch(lambda: [job.metrics for job in self], options)
        self._lineage.tell(options)

    def tell_of_left(self, name: str, why: SqlStreamError) -> None:
        """Tell whoever is told of failures that the job called ``name``, which ran in a process of before, was not started again."""
        self._alerts.left(name, why)

    def begin_script(self) -> None:
        """From here on jobs of one name are told apart by their order."""
        self._script = []

    def _taken(self) -> set[Place]:
        """The folders that another job of this name can't have: of what runs, and of what the script has submitted."""
        return {j.folder.parent for j in self if j.lives or (j in self._script and (j.held_back or j.status is not JobStatus.CANCELED))}

    def find(self, job_id: str) -> Job:
        """The job with this id, or whose id begins so. Raises ValidationError."""
        matching = [j for key, j in self._jobs.items() if job_id and key.startswith(job_id)]
        if len(matching) != 1:
            known = "SHOW JOBS lists the jobs of this session."
            raise ValidationError(f"Job {job_id} does not exist." if not matching else f"Several jobs begin with {job_id}.", hint=known)
        return matching[0]

    def script(self, job: Job) -> str | None:
        """What submits ``job`` in another session; None where that is not known."""
        script = self._submissions[job.id].script
        return None if script is None else script.of(job.name)

    def masked(self, job: Job) -> Callable[[str], str]:
        """What takes the secrets of ``job``'s statement out of a text about its plan."""
        return self._submissions[job.id].settings.masked

    def preview(self, sinks: tuple[Sink, ...], name: str, settings: JobSettings, taken: Collection[Place] | None = ()) -> Preview:
        """What would become of a job that is submitted now, were it stopped. ``taken``: the folders of those that the same script submits before;
        None for those that another of this name can't have, as it is.
        """
        zone, streaming, taken = settings.zone, settings.streaming, self._taken() if taken is None else taken
        recovery = settings.recovery if streaming else None
        made = preview(self.folders.jobs, sinks, name, zone, taken, settings.masked, streaming=streaming, recovery=recovery, spark=settings.spark)
        refused = made.verdict is not None and refuses(settings.upgrade_mode, made.verdict, may_lose=settings.may_lose)
        return replace(made, refused=refused)

    def check_free(self, sinks: tuple[Sink, ...], name: str, settings: JobSettings) -> None:
        """Raises ValidationError where another process has the job that ``submit`` would start, if that is known without Spark."""
        if isinstance(self.folders.jobs, Path):
            home = find(self.folders.jobs, sinks, name, digest(sinks, settings.zone), settings.zone, self._taken())
            if (owner := locks.holder(home.path)) is not None:
                raise locks.busy(home.name, owner)

    def await_ended(self) -> None:
        """Wait until those that have ended have let go of their folders."""
        for job in self:
            if not job.lives:
                job.done.wait(_END_SECONDS)

    def forget(self, folder: Place) -> None:
        """The job in ``folder``, which has ended, is no more."""
        self._jobs = {key: j for key, j in self._jobs.items() if j.folder.parent != folder or j.lives}
        self._attendant.forget(folder)

    def submit(
        self, spark: SparkSession, sinks: tuple[Sink, ...], name: str, settings: JobSettings, sql: str, locate: Locate | None = None,
        declined: frozenset[Place] = frozenset(), *, script: JobScript | None = None, keep_stopped: bool = False,
    ) -> Job:  # fmt: skip
        """Start a job and return; raises what its start met (JobFailed, ValidationError). ``declined``: the folders of jobs that it is not.
        ``script``: what submits it in another session, where that is known.

        ``keep_stopped``: one that was stopped, and is to stay so, is not started: it is CANCELED.
        """
        with self._submitting:
            return self._submit(spark, _Submission(sinks, name, settings, sql, locate or unlocated, script, keep_stopped), declined)

    def _submit(self, spark: SparkSession, asked: _Submission, declined: frozenset[Place] = frozenset(), home: JobFolder | None = None) -> Job:
        """``home``: that of the job, where it was stopped and somebody starts it."""
        if self._closing:
            raise JobFailed("The session ends: no job is started any more.")
        by_script = home is None
        self.await_ended()
        home, job, before = self._reserve(asked, home, declined)
        if by_script and asked.keep_stopped and home.stays_stopped and (last := home.latest()) is not None:
            job.folder = last.folder
            if before is not None:
                # It has not begun anew.
                job.started = before.since
            return self._keep_back(job, asked, before, finished=not last.is_open)
        emit, notify = of_job(self._emit, job.name), of_job(self._notify, job.name)
        runner = JobRunner(job, spark, self._again, asked.settings, self._project, emit, notify, lambda: self._busy(job), self._job_ended)
        resumed, forget = False, _nothing
        try:
            if by_script and not declined:
                self._agree_to_another(job, asked)
            resumed = Beginning(job, runner, asked.settings, masked_text(asked.sql), notify).place(home, self._taken())
            forget = self.on_begin(job, None if asked.script is None else asked.script.of(job.name))
            self._lineage.begin(job, asked.sql)
            runner.start(resumed=resumed)
        except Exception as error:
            _did_not_begin(job, home, before, error, resumed=resumed)
            if job.status is not JobStatus.FAILED:
                forget()
                # It is as if it had not been submitted, but who was told that it begins is told how that ended.
                job.machine.heard(Event.REFUSED, replace(job.machine.state, error=job.problem(error)))
            agrees, others = asked.settings.agrees, declined | {home.path}
            if isinstance(error, NotContinued) and agrees is not None:
                other = short_name(self._home(asked, others).name)
                if agrees(f"Submit it as another job, '{other}'?"):
                    return self._submit(spark, asked, others)
            raise job.problem(error) from error
        self._jobs[job.id], self._submissions[job.id], self._runners[job.id] = job, asked, runner
        self._script.append(job)
        self._attendant.attend(job)
        if by_script and not resumed and job.name != asked.name:
            self._tell_of(job, f"There is a job '{short_name(asked.name)}' already: this one is '{short_name(job.name)}', and writes beside it.")
        self._noted(job, home.let_start)
        self._retain(home, job, runner)
        return job

    def _agree_to_another(self, job: Job, asked: _Submission) -> None:
        """Ask the user about ``job`` where another one runs the same statement. Raises Declined where there is not to be one."""
        agrees = asked.settings.agrees
        if agrees is None or job.name == asked.name:
            return
        own = digest(asked.sinks, asked.settings.zone)
        same = (j for j in self if j.lives and digest(j.sinks, self._submissions[j.id].settings.zone) == own)
        if (other := next(same, None)) is not None:
            runs, second = short_name(other.name), short_name(job.name)
            if not agrees(f"This statement runs already, as job '{runs}'. A second job, '{second}', writes each row once more. Start it?"):
                raise Declined(f"Job '{second}' was not started.", hint=f"Job '{runs}' goes on.")

    def _home(self, asked: _Submission, but: Collection[Place] = ()) -> JobFolder:
        """The folder of a job, without those ``but`` and of others."""
        sinks, zone = asked.sinks, asked.settings.zone
        return find(self.folders.jobs, sinks, asked.name, digest(sinks, zone), zone, self._taken() | set(but))

    def _reserve(self, asked: _Submission, home: JobFolder | None, declined: Collection[Place]) -> tuple[JobFolder, Job, Status | None]:
        """The folder of the job, which is this process's from now on, the job, and what was written down of it before."""
        by_script, run = home is None, uuid.uuid4().hex
        try:
            home = home or self._home(asked, declined)
            lock = home.lock(run, self._notify)
            # Who has asked for it waits for the answer.
            if by_script:
                requests.forget(home.path)
        except OSError as error:
            raise job_error(error, folder=self._project) from error
        settings = asked.settings
        job = Job(
            run, home.name, asked.sinks, home.path, lock=lock, locate=asked.locate, streaming=settings.streaming,
            zone=_time_zone(asked.sinks, settings.zone), idle_ms=settings.idle_ms,
        )  # fmt: skip
        if (before := Status.read(home.path)) is not None:
            job.before = before
            job.machine.continues(before.failures)
            if before.lives:
                job.machine.note(f"Process {before.pid} on {before.host} ended without stopping it.", before.written)
        return home, job, before

    def _keep_back(self, job: Job, asked: _Submission, before: Status | None, *, finished: bool) -> Job:
        """The job as one that stays stopped, as it was ``before``, until somebody starts it, or as one that has ``finished``."""
        job.machine.hold_back(finished=finished)
        self._jobs[job.id], self._submissions[job.id] = job, asked
        self._script.append(job)
        self._attendant.keep_back(job, before)
        job.release()
        job.done.set()
        start = f"stays stopped: sqlstream jobs start {shlex.quote(short_name(job.name))} starts it"
        self._tell_of(job, f"Job '{short_name(job.name)}' {'has finished, and does not begin anew by itself' if finished else start}.")
        return job

    def start(self, job_id: str) -> Job:
        """Start a job again that was stopped, or has failed, under another id. Raises ValidationError, and what its start met."""
        # Two may ask for it at once: to the second it is another job by then.
        with self._submitting:
            stopped = self.find(job_id)
            if stopped.lives or stopped.status is JobStatus.FINISHED:
                raise ValidationError(f"Job {job_id} can't be started again: {SAID[stopped.status.value]}.")
            asked = self._submissions[stopped.id]
            # Nobody is there whom it could ask.
            asked = replace(asked, settings=replace(asked.settings, agrees=None))
            job = self._submit(self._again(), asked, home=JobFolder(stopped.folder.parent, stopped.name))
            for known in (self._jobs, self._submissions, self._runners):
                known.pop(stopped.id, None)
            return job

    def restart(self, job_id: str) -> Job:
        """Stop a job, and start it again: for ``wait`` it has not ended. Raises ValidationError, JobFailed."""
        job = self.find(job_id)
        with self._looking:
            self._restarting.add(job.id)
        try:
            self.stop(job.id, stays=False)
            return self.start(job.id)
        finally:
            with self._looking:
                self._restarting.discard(job.id)
            self.wake()

    def _busy(self, job: Job) -> int:
        """How many slots of Spark's other jobs than ``job`` have for as long as they run."""
        return sum(other.long_tasks for other in list(self._jobs.values()) if other is not job and other.lives)

    def _retain(self, home: JobFolder, job: Job, runner: JobRunner) -> None:
        """Delete what is superseded by ``job``, which has begun: it goes on where that is not possible."""
        try:
            retain(home, job.id, runner.work.forget)
        except Exception as error:
            self._tell_of(job, f"What job '{short_name(job.name)}' kept before can't be deleted: {job_error(error, folder=home.path).message}")

    def stop(
        self, job_id: str, *, savepoint: bool = False, drain: bool = False, stays: bool = True, interrupted: Callable[[], bool] = lambda: False
    ) -> Job:
        """Stop a job; its checkpoint stays. ``drain``: first what has arrived up to now is processed and every open window closed.

        ``savepoint``: make one then. ``stays``: until somebody starts it, also where its script comes again by itself.

        Raises ValidationError, and what a drain met (JobFailed).
        """
        job = self.find(job_id)
        if not job.lives:
            raise _not_running(job)
        if (savepoint or drain) and not job.streaming:
            hint = f"In batch mode there is no state to keep, and a job ends with its input: STOP JOB '{job_id}' cancels it."
            raise ValidationError(f"Job {job_id} is not a streaming job.", hint=hint)
        if savepoint:
            # One that can't be made must not cost a job that runs.
            self._savepoint_folder()
        if stays:
            self._noted(job, JobFolder(job.folder.parent, job.name).keep_stopped)
        with self._reading(job) if savepoint else nullcontext():
            if savepoint and not drain:
                job.await_pause()
            if not job.machine.ask(drain=drain):
                job.done.wait(_END_SECONDS)
                raise _not_running(job)
            if drain:
                self._await_drain(job, interrupted)
            else:
                self._await_end(job)
            if savepoint:
                job.savepoint = self._save(job, drained=drain)
        return job

    def cut_off(self, job: Job) -> None:
        """End a job whose statement was interrupted, if it still runs: its script starts it again. Raises JobFailed."""
        if job.machine.ask():
            self._await_end(job)

    @contextmanager
    def _reading(self, job: Job) -> Iterator[None]:
        """The job's folder stays this process's meanwhile."""
        try:
            with job.machine.reading():
                yield
        finally:
            if job.done.is_set():
                self._release(job)

    def _tell_of(self, job: Job, line: str) -> None:
        self._notify(OfJob(line, job.name))

    def _noted(self, job: Job, note: Callable[[], None]) -> None:
        """Write down whether the job stays stopped: what it does goes on where that is not possible."""
        try:
            note()
        except OSError as error:
            self._tell_of(
                job, f"Whether job '{short_name(job.name)}' stays stopped can't be written down: {job_error(error, folder=job.folder).message}"
            )

    def save(self, job_id: str) -> str:
        """The URI of a new savepoint of a job that runs. Raises ValidationError, and what making it met (JobFailed)."""
        job = self.find(job_id)
        with self._reading(job):
            if not job.lives:
                raise _not_running(job)
            if not job.streaming:
                raise ValidationError(f"Job {job_id} is not a streaming job.", hint="In batch mode there is no state to keep.")
            return self._save(job, drained=False)

    def _save(self, job: Job, *, drained: bool) -> str:
        """The URI of a new savepoint of a job; the error of one that has stopped says so."""
        try:
            made = savepoints.make(job, self._runners[job.id].work, self._savepoint_folder(), drained=drained, notify=self._notify)
        except Exception as error:
            problem = job.problem(error)
            if not job.lives:
                problem.hint = f"Job '{short_name(job.name)}' has stopped, and its checkpoint is kept: the same statement resumes from it."
            raise problem from error
        return made.folder.absolute().as_uri()

    def _savepoint_folder(self) -> Place:
        folder = self.folders.savepoints
        try:
            return storage.make(folder)
        except OSError as error:
            raise ValidationError(f"Savepoints can't be written to '{folder}': {error.strerror or error}.",
                                  hint="SET 'execution.checkpointing.savepoint-dir' = '<folder>' says where they go.") from error  # fmt: skip

    def _await_end(self, job: Job) -> None:
        """End a job that was asked to, and wait until it has. Raises JobFailed."""
        job.end()
        if not job.done.wait(_END_SECONDS):
            hint = "SHOW JOBS says when it has ended."
            raise JobFailed(f"Job {job.id} has not ended within {_END_SECONDS:.0f} s: its sink is still writing.", hint=hint)

    def _await_drain(self, job: Job, interrupted: Callable[[], bool]) -> None:
        """Wait until a job is drained that was asked to be; that may be ``interrupted``. Raises JobFailed."""
        while not job.done.wait(0.05):
            if interrupted():
                job.machine.ask()
                job.end()
                hint = "Submit the same statement again to complete the drain."
                raise JobFailed(f"Job {job.id} was stopped while it was being drained.", hint=hint)
        if job.error is not None:
            raise job.error

    def wait(self, progress: Callable[[list[JobMetrics]], None] = lambda jobs: None, interrupted: Callable[[], bool] = lambda: False) -> None:
        """Wait until no job runs, calling ``progress`` about once a second. Raises the error of a job that has failed, while others still run."""
        while True:
            self._ended.clear()
            error = next((j.error for j in self if j.error is not None), None)
            with self._looking:
                restarting, running = bool(self._restarting), [j for j in self if j.lives]
            if error is not None or not (running or restarting) or interrupted():
                break
            progress([j.metrics for j in running])
            self._ended.wait(1.0)
        progress([])
        if error is not None:
            raise error

    def wake(self) -> None:
        """From another thread: let ``wait`` see at once that it is interrupted."""
        self._ended.set()

    def stop_all(self) -> list[Job]:
        """Stop every running job, for good: one that is being submitted is awaited, and none comes after it. Folders stay locked until ``let_go``.
        Those that were stopped so come back.
        """
        self._locked = self._closing = True
        if self._submitting.acquire(timeout=_END_SECONDS):
            self._submitting.release()
        # One that ends by itself just now has still to be written down.
        running = [j for j in self if not j.done.is_set()]
        for job in running:
            job.machine.ask()
        for job in running:
            job.end()
        for job in running:
            job.done.wait(60)
        return [job for job in running if job.status is JobStatus.CANCELED]

    def settle(self) -> None:
        """Do what Spark is needed for: what other processes have asked for is answered, leases of jobs that have ended are let go of."""
        self._attendant.close()
        for job in self:
            if job.done.is_set() and not isinstance(job.folder, Path):
                job.release()

    def let_go(self) -> None:
        """Let go of the folders of all jobs, for another process: nothing writes into them any more."""
        self.reporter.close()
        self._alerts.close()
        self._lineage.close()
        for job in self:
            job.release()

    def carry_out(self, job: Job, action: Action, interrupted: Callable[[], bool] = lambda: False) -> str:
        """Do what is asked of a job, also by another process; what came of it."""
        match action:
            case Action.SAVEPOINT:
                return self.save(job.id)
            case Action.START:
                return self.start(job.id).id
            case Action.RESTART:
                return self.restart(job.id).id
            case Action.WHY:
                return json.dumps([[reason.text, reason.hint] for reason in job.why()])
            case Action.STOP | Action.STOP_WITH_SAVEPOINT | Action.DRAIN | Action.DRAIN_WITH_SAVEPOINT:
                self.stop(job.id, savepoint=action.saves, drain=action.drains, interrupted=interrupted)
                return job.savepoint
        assert_never(action)

    def _job_ended(self, job: Job) -> None:
        self._attendant.leave(job)
        self._release(job)
        self.on_end(job)
        if job.error is not None:
            # The process may end with it.
            self._alerts.look(job.metrics)
        job.done.set()
        self._ended.set()
        if job.error is not None:
            self.on_failure(job.error)

    def _release(self, job: Job) -> None:
        """Let go of its folder, unless it is still to be read."""
        if not self._locked:
            job.machine.unread(job.release)


def _nothing() -> None:
    pass


def _did_not_begin(job: Job, home: JobFolder, before: Status | None, error: Exception, *, resumed: bool) -> None:
    """Leave the folder of a job as it was, or say in it why the job has failed, and let go of it. One that goes on as it was has not failed where
    what it met may be over after a while.
    """
    problem = job.problem(error)
    passing = problem.heals and before is not None and before.generation == job.folder.name
    if not resumed and job.folder != home.path and not job.checkpoint.exists():
        # Nothing has run: a later start must not find what this one had looked up.
        with suppress(OSError):
            storage.delete(job.folder)
            if home.latest() is None:
                home.forget()
    elif isinstance(error, Damaged) or (not passing and job.folder != home.path and Version.read(job.folder) is not None):
        job.machine.refuse(problem)
        now = status_of(job)
        if before is not None and job.folder == home.path:
            # No generation was looked at: what is known of it stays.
            now = replace(now, generation=before.generation, figures=before.figures)
        with suppress(OSError):
            now.write(home.path)
    job.release()


def _not_running(job: Job) -> ValidationError:
    return ValidationError(f"Job {job.id} is not running: {SAID[job.status.value]}.")


def _time_zone(sinks: tuple[Sink, ...], zone: str) -> str:
    """The zone in which the times of a job are shown: those of TIMESTAMP are of none."""
    local = (field_of(n, n.column).type.root == "TIMESTAMP_LTZ" for s in sinks for n in walk(s) if isinstance(n, Watermark))
    return zone if any(local) else "UTC"
