"""Tells of jobs by OpenLineage: what each reads and writes, and how its runs begin and end. It goes to an address, to a file, or to both.

Who is told can be slow, or away: each has a thread and a queue of its own, and no job waits for one. An attempt to run a job is a run: the first has
the job's id, one that follows a failure has another.
"""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlstream.connectors.paths import is_uri
from sqlstream.core import settings, spark_releases
from sqlstream.core.errors import SetupError, SqlStreamError, ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.core.options import resolve_environment
from sqlstream.runtime.jobs.machine import Event
from sqlstream.sql.masking import masked_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from openlineage.client.transport import Transport

    from sqlstream.runtime.jobs.job import Job
    from sqlstream.runtime.jobs.machine import State
    from sqlstream.runtime.monitor.reporting.lineage_events import Described

URL, FILE, NAMESPACE, KEY = "lineage.url", "lineage.file", "lineage.namespace", "lineage.api-key"
_ENDPOINT = "api/v1/lineage"
# How often it is said that a job of a stream still runs.
_RUNNING_SECONDS = 60.0
# So long an address may take, and so long the end of the process waits for what is still to be told.
_SECONDS = 5.0
# How many events wait for somebody who is away.
_WAITING = 1000
# The time before an event is sent again, which doubles up to the second.
_PAUSES = 1.0, 30.0


@dataclass(frozen=True)
class _Told:
    """That an attempt to run a job has come into ``state``, the name of one of OpenLineage's, at a time."""

    job: Described
    attempt: int
    state: str
    at: float
    error: str | None = None


class _Run:
    """The attempts to run a job: the one that runs, or ran last."""

    def __init__(self, job: Described, tell: Callable[[_Told], None]) -> None:
        self._job = job
        self._tell = tell
        self._attempt = 0
        self._open = True
        self._say("START")

    def _say(self, state: str, error: SqlStreamError | None = None) -> None:
        self._tell(_Told(self._job, self._attempt, state, time.time(), None if error is None else error.message))

    def heard(self, event: Event, state: State) -> None:
        """What has happened to the job, in the order in which it does."""
        if event is Event.STARTED and not self._open:
            self._attempt += 1
            self._open = True
            self._say("START")
        elif self._open and event in _ENDS:
            self._open = False
            self._say(_ENDS[event], {Event.RETRIED: state.failure}.get(event, state.error))


_ENDS = {
    Event.RETRIED: "FAIL",
    Event.REFUSED: "FAIL",
    Event.GIVEN_UP: "FAIL",
    Event.FINISHED: "COMPLETE",
    Event.STOPPED: "ABORT",
}


class Lineage:
    """Tells of the jobs of a process. ``notify`` hears, once, where somebody can't be told."""

    def __init__(self, project: Path, notify: Callable[[str], None]) -> None:
        self._project = project
        self._notify = notify
        self._senders: list[_Sender] = []
        self._namespace = self._spark = ""

    def tell(self, options: Mapping[str, str]) -> None:
        """Tell of jobs from now on, where ``options`` say so. Raises SetupError, ValidationError."""
        url, file = settings.read(options, URL), settings.read(options, FILE)
        if self._senders or not (url or file):
            return
        try:
            import openlineage.client  # noqa: F401
        except ModuleNotFoundError as error:
            raise SetupError("Events of OpenLineage need the package openlineage-python.", hint="pip install 'sqlstream[lineage]'") from error
        self._namespace, self._spark = settings.read(options, NAMESPACE), spark_releases.wanted(options).version
        to: list[tuple[str, Transport]] = []
        if url:
            asked = resolve_environment({URL: url, **({KEY: options[KEY]} if options.get(KEY) else {})})
            to.append((URL, _address(asked[URL], asked.get(KEY))))
        if file:
            to.append((FILE, _file(resolve_environment({FILE: file})[FILE], self._project)))
        self._senders = [_Sender(option, transport, self._notify) for option, transport in to]

    def begin(self, job: Job, sql: str) -> None:
        """``job`` begins. Its machine says what becomes of it."""
        if self._senders:
            from sqlstream.runtime.monitor.reporting.lineage_events import Described

            described = Described(job.id, job.name, job.sinks, job.streaming, masked_text(sql), self._namespace, self._project, self._spark)
            job.machine.heard = _Run(described, self._put).heard

    def _put(self, told: _Told) -> None:
        for sender in self._senders:
            sender.put(told)

    def close(self) -> None:
        """Tell what is still to be told, if that does not take long."""
        end = time.monotonic() + _SECONDS
        for sender in self._senders:
            sender.close(end)


class _Sender:
    """Sends what it is given in a thread of its own. ``option`` says to whom."""

    def __init__(self, option: str, transport: Transport, notify: Callable[[str], None]) -> None:
        from openlineage.client import OpenLineageClient

        self._option = option
        self._client = OpenLineageClient(transport=transport)
        self._notify = notify
        self._queue: queue.Queue[_Told | None] = queue.Queue(_WAITING)
        self._over = threading.Event()
        self._said = False
        # What runs, by job, as far as it was told.
        self._running: dict[str, _Told] = {}
        self._thread = threading.Thread(target=self._run, name=option, daemon=True)
        self._thread.start()

    def put(self, told: _Told) -> None:
        """Send it when those before it are sent. Nobody waits: where too many do, it is dropped."""
        try:
            self._queue.put_nowait(told)
        except queue.Full:
            self._complain(f"{_WAITING:,} events wait, and others are dropped")

    def close(self, end: float) -> None:
        """Send what waits, until ``end`` at most, and nothing after it."""
        self._over.set()
        try:
            self._queue.put_nowait(None)
        except queue.Full:
            self._complain(f"{_WAITING:,} events wait, and are dropped")
        self._thread.join(max(0.0, end - time.monotonic()))
        if self._thread.is_alive():
            self._complain("the last events were not sent in time")

    def _run(self) -> None:
        due = time.monotonic() + _RUNNING_SECONDS
        while True:
            try:
                told = self._queue.get(timeout=max(0.0, due - time.monotonic()))
            except queue.Empty:
                due = time.monotonic() + _RUNNING_SECONDS
                for started in list(self._running.values()):
                    self._sent(_Told(started.job, started.attempt, "RUNNING", time.time()))
                continue
            if told is None or not self._delivered(told):
                break
            if told.state == "START" and told.job.streaming:
                self._running[told.job.id] = told
            else:
                self._running.pop(told.job.id, None)
        self._client.close(0)

    def _delivered(self, told: _Told) -> bool:
        """Send it, again and again where that may help; False where it is not sent, and the process ends."""
        pause, longest = _PAUSES
        while not self._sent(told):
            if self._over.wait(pause):
                return False
            pause = min(2 * pause, longest)
        return True

    def _sent(self, told: _Told) -> bool:
        """Send it; whether nothing is to be gained by another attempt."""
        from openlineage.client.event_v2 import RunState

        try:
            event = told.job.event(RunState[told.state], told.attempt, told.at, told.error)
        except Exception as error:  # a connector of another package says what its tables are called
            self._complain(f"what job '{short_name(told.job.name)}' reads and writes is not known: {type(error).__name__}")
            return True
        try:
            self._client.emit(event)
        except Exception as error:  # what transports raise is of many libraries
            self._complain(_why(error))
            return not _heals(error)
        return True

    def _complain(self, why: str) -> None:
        if not self._said:
            self._said = True
            self._notify(f"Events of OpenLineage can't be sent: '{self._option}': {why}. Jobs run on; this is not said again.")


def _address(url: str, key: str | None) -> Transport:
    """What sends to an address: below it, or to its path where it has one. Raises ValidationError."""
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise ValidationError(f"'{URL}' is no address.", hint="Write one as http://marquez:5000, or https://host/path.")
    path = parts.path.strip("/")
    endpoint = f"/{path}{'/' if path and parts.path.endswith('/') else ''}{f'?{parts.query}' if parts.query else ''}" if path else _ENDPOINT
    config: dict[str, Any] = {
        "url": f"{parts.scheme}://{parts.netloc}", "endpoint": endpoint, "timeout": _SECONDS,
        # It is tried again here, where nothing is written down of each attempt.
        "retry": {"total": 0, "connect": 0, "read": 0, "status_forcelist": []},
    }  # fmt: skip
    if key:
        config["auth"] = {"type": "api_key", "apiKey": key}
    return HttpTransport(HttpConfig.from_dict(config))


def _file(path: str, project: Path) -> Transport:
    """What appends to a file, a line an event. Raises ValidationError."""
    from openlineage.client.transport.file import FileConfig, FileTransport

    if is_uri(path):
        raise ValidationError(f"'{FILE}' must be a file of this machine.", hint=f"'{URL}' sends to an address.")
    return FileTransport(FileConfig(log_file_path=str((project / path).absolute()), append=True))


def _heals(error: Exception) -> bool:
    """Whether another attempt can help: not where the address has refused just this event, or who sends it."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status is None or status >= 500 or status in (408, 429)


def _why(error: Exception) -> str:
    """Why nobody was told: nothing of the address, which may hold a secret, nor of what was sent."""
    import requests

    match error:
        case requests.HTTPError(response=response) if response is not None:
            return f"the address answered with status {response.status_code}"
        case requests.Timeout():
            return f"the address took longer than {_SECONDS:.0f} s"
        case requests.ConnectionError():
            return "the address does not answer"
    met = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return met.strerror if isinstance(met, OSError) and met.strerror else type(met).__name__
