"""What all sessions of a server share: the project, one Spark, its jobs."""

from __future__ import annotations

import shlex
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from sqlstream.core import settings
from sqlstream.core.defects import as_defects
from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError
from sqlstream.core.job_names import short_name, short_names
from sqlstream.core.lines import OfJob
from sqlstream.runtime.engine.session import Engine
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.control.ask import ask
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.jobs.jobs import Jobs
from sqlstream.runtime.monitor.history import History
from sqlstream.server.answers import told
from sqlstream.server.gateway.sessions import ClientSessions
from sqlstream.server.job_log import JobLog
from sqlstream.server.kept_jobs import KeptJobs
from sqlstream.server.options import of_server
from sqlstream.session.engine import SessionEngine
from sqlstream.session.results import Submitted
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from sqlstream.runtime.jobs.control.registry import JobRecord
    from sqlstream.runtime.jobs.job import Job
    from sqlstream.server.kept_jobs import KeptJob

# Between two tries to start jobs again that ran before, in seconds.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0


class Server:
    """One Spark, the jobs that run on it, and the sessions of clients. ``options`` are those that each session begins with."""

    def __init__(self, project: Path, options: Mapping[str, str], notify: Callable[[str], None], engine: Engine | None = None) -> None:
        """``engine``: another's, which goes on when the server is closed."""
        self.project = project.resolve()
        self._options = dict(options)
        self.said = JobLog(notify)
        self.tell = notify = self.said
        self._owns_engine = engine is None
        self._engine = engine or Engine(self.project, lambda: self._options, notify, starts_anew=True)
        access = SessionEngine(self.project, self._options, notify, self._engine)
        self.jobs = Jobs(self.project, access.job_folders, notify, notify, access.again)
        self._kept = KeptJobs(self.project)
        self.jobs.on_begin, self.jobs.on_end = self._kept.keep, self._ended
        self._closing = threading.Event()
        self.since = time.time()
        # Those of a server of before that are not started again yet, and what hindered the last try. It is replaced, not changed: others read it.
        self._waiting: dict[KeptJob, SqlStreamError | None] = {}
        self._starting = threading.Lock()
        idle_seconds, most = settings.read(options, "sql-gateway.session.idle-timeout") / 1000, settings.read(options, "sql-gateway.session.max-num")
        self.sessions = ClientSessions(self._session, notify, idle_seconds=idle_seconds, most=most)
        self.shells = Shells(most)
        self.history = History(lambda: [job.metrics for job in self.jobs])

    @property
    def spark(self) -> SparkSession:
        """Spark, which is awaited. Raises SetupError."""
        return self._engine.spark

    def start(self) -> None:
        """Begin to start Spark, for it will be needed, and the jobs again that ran when the server of before ended. Raises SetupError where another
        process serves the project.
        """
        self._kept.hold()
        self.jobs.report(self._options)
        self._engine.start(warm=True)
        self.history.begin()
        threading.Thread(target=self._go_on, name="jobs-go-on", daemon=True).start()

    def _ended(self, job: Job) -> None:
        self._kept.ended(job)
        if job.error is not None:
            self.tell(OfJob(f"[ERROR] Job '{short_name(job.name)}' has failed.\n{told(job.error)}", job.name, job.error))

    def _go_on(self) -> None:
        """Start those jobs again: one that is hindered as often as it takes."""
        self._waiting, pause = dict.fromkeys(self._kept.going_on(self.jobs.folders.jobs)), _FIRST_PAUSE
        while self._waiting and not self._closing.is_set():
            for job in self._waiting:
                hindrance = self._hindrance(job)
                others = {each: problem for each, problem in self._waiting.items() if each is not job}
                self._waiting = others if hindrance is None else {**others, job: hindrance}
            if self._waiting:
                self._closing.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _hindrance(self, job: KeptJob) -> SqlStreamError | None:
        """What hinders a job from being started again, for now; None where it runs again, or need not, or can't."""
        if self._closing.is_set():
            return None
        try:
            with as_defects(self.project):
                self._start_again(job)
        except SqlStreamError as problem:
            what = f"Job '{short_name(job.name)}' of this server was not started again."
            start = f"sqlstream jobs start {shlex.quote(short_name(job.name))}"
            how = "It is tried again." if problem.heals else f"{start} tries it once more; -D KEY=VALUE behind it sets an option."
            self.tell(OfJob(f"[ERROR] {what} {how}\n{told(problem)}", job.name, problem))
            if not problem.heals:
                job.note(self.jobs.folders.jobs, problem.message, how)
                self.jobs.tell_of_left(job.name, problem)
            return problem if problem.heals else None
        return None

    @property
    def starting(self) -> Mapping[str, SqlStreamError | None]:
        """The jobs of the server of before whose turn to start again has not come yet, by their names; what hindered the last try."""
        return {job.name: problem for job, problem in self._waiting.items()}

    def ask(self, name: str, action: Action) -> str:
        """What came of ``action`` on a job, of this process or another. Raises ValidationError where it can't be done, and what doing it met."""
        if action is not Action.START:
            return ask(self.jobs, name, action, self._closing.is_set)
        record = registry.find(self.jobs.folders.jobs, name)
        kept = None if record.is_held() or record.has_process() else self._kept.find(record.path.name)
        if kept is None:
            return ask(self.jobs, name, action, self._closing.is_set)
        # One of a server of before.
        record.folder.let_start()
        self._start_again(kept)
        return ""

    def script_of(self, record: JobRecord) -> str | None:
        """What submits a job of this server, or of one before: the statement, behind what its session had declared and set; None for none."""
        kept = self._kept.find(record.path.name)
        return None if kept is None else kept.script().partition("\n")[2]

    def _start_again(self, job: KeptJob) -> None:
        # Somebody may ask for one whose turn it is.
        with self._starting:
            record = job.record(self.jobs.folders.jobs)
            if record is None:
                job.forget()
            elif not record.held:
                with closing(self._session({}, keep_stopped=True)) as session:
                    for outcome in session.run(job.script()):
                        if isinstance(outcome, Submitted):
                            self.tell(OfJob(f"Job '{short_name(job.name)}' resumes.", job.name))

    def shell_session(self, asked: Mapping[str, str], **user: Any) -> Session:
        """The session of a joined shell, whose ``user`` is as Session has one. Raises SqlStreamError."""
        return self._session(asked, values=False, **user)

    def looking_session(self, hear: Callable[[str], None]) -> Session:
        """One that is asked about the catalog as it is now, and runs none of the code of functions; ``hear`` of what can't be read."""
        return self._session({}, notify=hear, emit=hear, python=False)

    def _session(self, asked: Mapping[str, str], **more: Any) -> Session:
        """A client's session, to which ``more`` is told. Of its options those that Flink's clients send by themselves, and that mean nothing
        here, are left out.
        """
        options = dict(self._options)
        for key, value in asked.items():
            if options.get(key) == value:
                continue
            if (problem := of_server(key)) is not None:
                raise problem
            if _means_something(key, value):
                options[key] = value
        more = {"notify": self.tell, "emit": self.tell, "values": True, **more}
        return Session(self.project, options=options, engine=self._engine, jobs=self.jobs, given=self._options, **more)

    def close(self) -> None:
        """Close the sessions, stop the jobs with their state, and Spark."""
        self._closing.set()
        self.history.close()
        running = [job.name for job in self.jobs if job.lives]
        going = f" Jobs stop with their state, and resume with the next server: {', '.join(short_names(running))}." if running else ""
        self.tell(f"The server ends.{going}")
        self.sessions.close_all()
        self.jobs.stop_all()
        self.jobs.settle()
        if self._owns_engine:
            self._engine.stop()
        self.jobs.let_go()
        self._kept.let_go()


class Shells:
    """How many joined shells there are: ``most`` at most."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._count = 0

    def enter(self) -> bool:
        """Whether there is room for one more, which is there now."""
        if self._count >= self.most:
            return False
        self._count += 1
        return True

    def leave(self) -> None:
        """One has gone."""
        self._count -= 1


def _means_something(key: str, value: str) -> bool:
    """Whether an option has an effect. Raises ValidationError for a value that is none."""
    try:
        return settings.check(key, value) is None
    except NotSupported:
        return False
    except ValidationError:
        if settings.setting(key) is None:  # a key of the client's own configuration
            return False
        raise
