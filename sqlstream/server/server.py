"""What all sessions of a server share: the project, one Spark, its jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core import settings
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.runtime.engine.session import Engine
from sqlstream.runtime.jobs.jobs import Jobs
from sqlstream.server.gateway.sessions import ClientSessions
from sqlstream.server.options import of_server
from sqlstream.session.engine import SessionEngine
from sqlstream.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession


class Server:
    """One Spark, the jobs that run on it, and the sessions of clients. ``options`` are those that each session begins with."""

    def __init__(self, project: Path, options: Mapping[str, str], notify: Callable[[str], None], engine: Engine | None = None) -> None:
        """``engine``: another's, which goes on when the server is closed."""
        self.project = project.resolve()
        self._options = dict(options)
        self._notify = notify
        self._owns_engine = engine is None
        self._engine = engine or Engine(self.project, lambda: self._options, notify, starts_anew=True)
        access = SessionEngine(self.project, self._options, notify, self._engine)
        self.jobs = Jobs(self.project, access.job_folders, notify, notify, access.again)
        self.sessions = ClientSessions(
            self._session,
            notify,
            idle_seconds=settings.read(options, "sql-gateway.session.idle-timeout") / 1000,
            most=settings.read(options, "sql-gateway.session.max-num"),
        )

    @property
    def spark(self) -> SparkSession:
        """Spark, which is awaited. Raises SetupError."""
        return self._engine.spark

    def start(self) -> None:
        """Begin to start Spark, for it will be needed."""
        self._engine.start(warm=True)

    def _session(self, asked: Mapping[str, str]) -> Session:
        """A client's session. Of its options those that Flink's clients send by themselves, and that mean nothing here, are left out."""
        options = dict(self._options)
        for key, value in asked.items():
            if options.get(key) == value:
                continue
            if (problem := of_server(key)) is not None:
                raise problem
            if _means_something(key, value):
                options[key] = value
        return Session(self.project, options=options, notify=self._notify, emit=self._notify, engine=self._engine, jobs=self.jobs, values=True)

    def close(self) -> None:
        """Close the sessions, stop the jobs with their state, and Spark."""
        self.sessions.close_all()
        self.jobs.stop_all()
        self.jobs.settle()
        if self._owns_engine:
            self._engine.stop()
        self.jobs.let_go()


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
