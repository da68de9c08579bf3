"""A user's session: opened on a project, it runs scripts until it is closed."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.catalog.namespaces import CatalogManager
from sqlstream.catalog.project import CatalogFiles
from sqlstream.core import settings
from sqlstream.core.depth import deeply
from sqlstream.core.job_names import short_names
from sqlstream.core.secrets import is_secret
from sqlstream.plan.planner import Planner
from sqlstream.runtime.engine.java_functions import ProjectJavaFunctions
from sqlstream.runtime.jobs.begin import savepoints
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.jobs import Jobs
from sqlstream.session.completion.topic_names import TopicNames
from sqlstream.session.context import MOST_ERRORS, Context, Secrets, User, shown
from sqlstream.session.engine import SessionEngine
from sqlstream.session.files import LocalFiles
from sqlstream.session.journal import Journal
from sqlstream.session.runs.on_spark import OnSpark
from sqlstream.session.script import run_init, run_script
from sqlstream.session.standing import Standing, standing
from sqlstream.sql.statements.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence

    from sqlstream.core.errors import SqlStreamError
    from sqlstream.core.storage import Place
    from sqlstream.runtime.engine.session import Engine
    from sqlstream.runtime.monitor.metrics import JobMetrics
    from sqlstream.session import completion
    from sqlstream.session.completion import Suggestion
    from sqlstream.session.context import Ask, StartsInBackground
    from sqlstream.session.files import Files
    from sqlstream.session.results import Outcome


class Session:
    """One user's session: ``run`` executes scripts, one statement after the other."""

    def __init__(
        self,
        project: Path,
        *,
        options: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        interactive: bool = False,
        notify: Callable[[str], None] = print,
        emit: Callable[[str], None] = print,
        save: bool = False,
        engine: Engine | None = None,
        owns_engine: bool = False,
        ask: Ask | None = None,
        progress: Callable[[list[JobMetrics]], None] = lambda running: None,
        background: StartsInBackground | None = None,
        python: bool = True,
        keep_stopped: bool = False,
        jobs: Jobs | None = None,
        values: bool = False,
        given: Mapping[str, str] | None = None,
        files: Files | None = None,
        width: Callable[[], int] = lambda: shutil.get_terminal_size().columns,
    ) -> None:
        """``engine``: another's, or one for this session alone, which it ``owns``: its options hold, and it ends with the session. ``save``,
        ``ask``, ``progress`` and ``background``: see User. ``python``: see Planner; ``keep_stopped``: jobs that somebody has stopped are not
        started by a script. ``jobs``: those of several sessions, which go on when this one is closed. ``values``: see OnSpark; answers are those that
        clients of Flink's know. ``given``: see
        Journal; ``files``, ``width``: the user's, where those are not of this machine.
        """
        project = project.resolve()
        initial, variables = dict(options or {}), dict(variables or {})
        for key, value in initial.items():
            if notice := settings.check(key, value):
                notify(notice)
        own = dict(initial)
        catalog = CatalogManager()
        planner = Planner(project, catalog, CatalogFiles(project, catalog, parse), own, ProjectJavaFunctions(project, own, notify), python=python)
        access = SessionEngine(project, own, notify, engine, owned=owns_engine, starts_anew=interactive)
        self._on_spark = OnSpark(values=values)
        self.context = Context(
            user=User(notify, progress, ask, interactive, save or interactive, files or LocalFiles(project), width, background),
            planner=planner,
            engine=access,
            jobs=jobs or Jobs(project, access.job_folders, emit, notify, access.again),
            runs=self._on_spark,
            initial=initial,
            variables=variables,
            secrets=Secrets({v for k, v in variables.items() if is_secret(k)}),
            journal=Journal(given or {}),
            owns_jobs=jobs is None,
            keep_stopped=keep_stopped,
            flinks_client=values,
        )
        self._topics = TopicNames()
        self._closed = False
        errors = deeply(planner.load)
        wrong = [*map(shown, errors), *(planner.files.doubts() if interactive else ())]
        for line in wrong[:MOST_ERRORS]:
            notify(line)
        if len(wrong) > MOST_ERRORS:
            notify(f"... and {len(wrong) - MOST_ERRORS} more in {planner.files.folder}; sqlstream check lists all.")

    @property
    def project(self) -> Path:
        """The project's folder."""
        return self.context.project

    @property
    def options(self) -> MutableMapping[str, str]:
        """The options that are set."""
        return self.context.options

    @property
    def jobs(self) -> Jobs:
        """The session's jobs."""
        return self.context.jobs

    @property
    def planner(self) -> Planner:
        """The way from a statement to its plan, which needs no Spark."""
        return self.context.planner

    @property
    def place(self) -> str:
        """The current catalog and database."""
        return f"{self.context.catalog.current_catalog}.{self.context.catalog.current_database}"

    def start_spark(self) -> None:
        """Begin to start Spark in the background, for it will soon be needed."""
        self.context.engine.engine.start(warm=True)

    def run(self, script: str, name: str | None = None) -> Iterator[Outcome]:
        """Execute the statements of ``script``, lazily; errors carry their place in it, ``name`` is its file."""
        return run_script(self.context, script, name)

    def initialize(self, script: str, name: str | None = None) -> Iterator[Outcome]:
        """Execute an init file, which only declares and sets: ``run`` of it."""
        return run_init(self.context, script, name)

    def interrupt(self, *, for_good: bool = False) -> None:
        """End the running statement: a SELECT, or the wait for a job (which is stopped); ``for_good``: those that are still to come, too."""
        user = self.context.user
        user.leaving = user.leaving or for_good
        user.interrupt.set()
        self.jobs.wake()
        self._on_spark.interrupt()

    def wait(self) -> None:
        """Wait until the session's jobs have ended, one has failed, or for an interrupt. Raises the failed job's error."""
        user = self.context.user
        user.interrupt.clear()
        self.jobs.wait(user.progress, user.interrupted)

    def close(self) -> None:
        """Stop the session's jobs and its Spark, where they are its own."""
        if self._closed:
            return
        self._closed = True
        self.interrupt()
        self._on_spark.await_end()
        if self.context.owns_jobs:
            stopped = [job.name for job in self.jobs.stop_all() if job.streaming]
            self.jobs.settle()
            # A prompt has asked before.
            if stopped and not self.context.user.interactive:
                whose, go = ("its state", "statement goes") if len(stopped) == 1 else ("their state", "statements go")
                self.context.user.notify(f"Stopped, with {whose}: {', '.join(short_names(stopped))}. The same {go} on from there.")
        self.context.engine.stop()
        if self.context.owns_jobs:
            self.jobs.let_go()

    def hurry(self) -> None:
        """From another thread: make ``close`` quick. Spark's JVM ends as if killed; the state of jobs stays intact."""
        self.context.engine.kill()

    def completion(self) -> completion.Context:
        """A snapshot for the prompt's completion."""
        from sqlstream.session.completion.context import snapshot

        planner = self.planner
        return snapshot(
            self.context.catalog, self.project, schema=planner.schema, functions=planner.functions(), settings=self.options,
            jobs=self._job_names, savepoints=self._savepoint_paths, topics=self._topics,
        )  # fmt: skip

    def suggester(self) -> Callable[[str, int], Sequence[Suggestion]]:
        """What could be written into a text at a place of it, as things are now."""
        from sqlstream.session.completion import suggest

        return partial(suggest, context=self.completion())

    def standing(self) -> Standing:
        """How it stands, for the prompt."""
        return standing(self.place, self.options, self.jobs)

    def on_failure(self, hear: Callable[[SqlStreamError], None]) -> None:
        """``hear`` of each job that fails for good, from its thread."""
        self.jobs.on_failure = hear

    def _job_names(self) -> list[str]:
        """The jobs that completion offers, as SHOW JOBS names them: of every process where that waits for no start of Spark."""
        names = [job.name for job in self.jobs]
        folder = self.jobs.folders.jobs
        if self._is_at_hand(folder):
            names += [record.name for record in registry.records(folder)]
        return short_names(sorted(set(names)))

    def _is_at_hand(self, folder: Place) -> bool:
        """Whether a folder can be read without a start of Spark."""
        return isinstance(folder, Path) or self.context.engine.started

    def _savepoint_paths(self) -> list[str]:
        """The savepoints that completion offers, which waits for no start of Spark."""
        folder = self.context.engine.job_folders().savepoints
        if not self._is_at_hand(folder):
            return []
        try:
            return [str(path) for path, _ in savepoints.below(folder)]
        except OSError:
            return []
