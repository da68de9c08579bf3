"""The Spark of a session: its own, which begins when it is first needed, or one that other sessions have, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core import storage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from sqlstream.core.errors import SqlStreamError
    from sqlstream.core.storage import JobFolders, Place
    from sqlstream.runtime.engine.session import Engine


class SessionEngine:
    """An engine, and what a session has by it. Without it there is no JVM, and nothing of Spark is imported."""

    def __init__(
        self,
        project: Path,
        options: Mapping[str, str],
        notify: Callable[[str], None],
        given: Engine | None = None,
        *,
        owned: bool = False,
        starts_anew: bool = False,
    ) -> None:
        """``given``: another's engine, or one for this session alone, which is ``owned``: the session's options hold, and it ends with the session.
        ``starts_anew``: see Engine.
        """
        self._project = project
        self._options = options
        self._notify = notify
        self._owned = owned or given is None
        self._starts_anew = starts_anew
        self.given = given
        if given is not None and owned:
            given.options = lambda: options
            given.starts_anew = starts_anew

    @property
    def engine(self) -> Engine:
        """The engine, which need not have started."""
        if self.given is None:
            from sqlstream.runtime.engine.session import Engine

            self.given = Engine(self._project, lambda: self._options, self._notify, starts_anew=self._starts_anew)
        return self.given

    @property
    def started(self) -> bool:
        """Whether Spark was asked to start."""
        return self.given is not None and self.given.started

    @property
    def spark(self) -> SparkSession:
        """Spark, which starts now where it has not. Raises SetupError."""
        return self.engine.awaited(self._notify)

    @property
    def running(self) -> SparkSession | None:
        """Spark, where it has started."""
        return self.spark if self.started else None

    def again(self) -> SparkSession:
        """Spark for a job that is started again: a new one where that of before has ended."""
        return self.engine.again(self._notify)

    def death(self, error: Exception) -> SqlStreamError | None:
        """The error of Spark's death, if it caused ``error``."""
        if self.given is None:
            return None
        from sqlstream.runtime.engine.failures import death

        return death(error)

    def place(self, location: str) -> Place:
        """The folder that ``location`` names."""
        return storage.place(location, self._project, self._hadoop)

    def job_folders(self) -> JobFolders:
        """Where jobs and savepoints are, by the options that are set."""
        return storage.job_folders(self._options, self._project, self._hadoop)

    @property
    def _hadoop(self) -> storage.Hadoop:
        return storage.Hadoop(lambda: self.engine)

    def stop(self) -> None:
        """End Spark, where it is this session's."""
        if self._owned and self.given is not None:
            self.given.stop()

    def kill(self) -> None:
        """The same at once, as if it were killed."""
        if self._owned and self.given is not None:
            self.given.kill()
