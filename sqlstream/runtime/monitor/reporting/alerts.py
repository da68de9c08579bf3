"""Tells somebody of a job that fails, keeps being started again, lags, or reads nothing: by a command, or by an address on the web."""

from __future__ import annotations

import json
import shlex
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlstream.core import settings
from sqlstream.core.errors import ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.core.options import resolve_environment
from sqlstream.runtime.monitor.figures import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlstream.core.errors import SqlStreamError
    from sqlstream.runtime.monitor.metrics import JobMetrics

TO = "alert.to"
_LOOK_SECONDS = 5.0
# So long somebody who is told may take.
_SECONDS = 10.0
# Where nobody could be told, it is tried again after the first, and twice as late each time up to the second; so many alerts wait for it.
_AGAIN_SECONDS = (5.0, 300.0)
_WAITING = 1_000
_HOUR = 3600.0


@dataclass(frozen=True)
class Limits:
    """What is told of besides failures: ``restarts`` within an hour, records that wait, milliseconds without a row; None for nothing."""

    restarts: int
    lag: int | None = None
    quiet_ms: int | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Limits:
        """Those that are set."""
        return cls(*(settings.read(options, f"alert.{name}") for name in ("restarts", "lag", "quiet")))


@dataclass(frozen=True)
class Alert:
    """What is told. ``event``: failed, restarts, lag or quiet; ``over``: it is so no more. ``text`` says it in a sentence."""

    text: str
    event: str
    over: bool
    job: str
    job_id: str
    status: str
    error: str | None
    hint: str | None
    project: str
    time: str


class Alerts:
    """What is the matter with the jobs of a process, and who was told of it. ``notify`` hears where nobody could be."""

    def __init__(self, project: str, notify: Callable[[str], None]) -> None:
        self._project = project
        self._notify = notify
        self._to: str | None = None
        self._limits = Limits(0)
        # By job and event, when it was told.
        self._known: dict[tuple[str, str], float] = {}
        # By job, since when it is known to read.
        self._since: dict[str, float] = {}
        # By job: how often it was started again when somebody last looked, and when it was within the last hour.
        self._restarts: dict[str, tuple[int, list[float]]] = {}
        # What nobody could be told of yet, when it is tried again (by the clock of time.monotonic), and what is waited then.
        self._waiting: deque[Alert] = deque(maxlen=_WAITING)
        self._again = 0.0
        self._pause = _AGAIN_SECONDS[0]
        self._looking = threading.Lock()
        self._over = threading.Event()

    def watch(self, jobs: Callable[[], Iterable[JobMetrics]], options: Mapping[str, str]) -> None:
        """Look at the jobs from now on, where somebody is to be told. Raises ValidationError for a variable of the environment that is not set."""
        if self._to is not None or not (to := settings.read(options, TO)):
            return
        self._to = resolve_environment({TO: to})[TO]
        if not _is_address(self._to) and not _words(self._to):
            self._to = None
            raise ValidationError(f"'{TO}' is no command: its quotes do not match.", hint="Write it as in a shell: page-me --team 'data platform'.")
        self._limits = Limits.of(options)
        threading.Thread(target=self._run, args=(jobs,), name="alerts", daemon=True).start()

    def _run(self, jobs: Callable[[], Iterable[JobMetrics]]) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            for job in jobs():
                self.look(job)
            with self._looking:
                if self._waiting and time.monotonic() >= self._again:
                    self._tell_those_that_wait()

    def look(self, job: JobMetrics) -> None:
        """Tell of what is new about a job: when this returns somebody was told."""
        if self._to is None:
            return
        with self._looking:
            now = time.time()
            runs = job.status == "RUNNING" and bool(job.queries)
            since = self._since.setdefault(job.id, now) if runs else None
            if since is None:
                self._since.pop(job.id, None)
            found = dict(problems(job, self._limits, self._restarts_within_an_hour(job, now), since, now))
            for event, over in _OVER.items():
                told = self._known.get((job.id, event))
                if event in found and told is None:
                    self._tell(job, event, found[event], now, over=False)
                    self._known[job.id, event] = now
                elif event not in found and told is not None and (ends := over(job, told, runs)) is not None:
                    self._tell(job, event, ends, now, over=True)
                    del self._known[job.id, event]

    def left(self, name: str, why: SqlStreamError) -> None:
        """Tell that the job called ``name`` of a process of before was not started again."""
        if self._to is None:
            return
        with self._looking:
            text = f"was not started again: {why.message}"
            self._deliver(Alert(_said(name, text), "failed", False, name, "", "FAILED", why.message, why.hint, self._project, _at(time.time())))

    def _restarts_within_an_hour(self, job: JobMetrics, now: float) -> int:
        last, times = self._restarts.get(job.id, (0, []))
        # One that has run for long counts from 0 again.
        more = job.restarts - last if job.restarts >= last else job.restarts
        times = [at for at in times if at > now - _HOUR] + [now] * more
        self._restarts[job.id] = job.restarts, times
        return len(times)

    def _tell(self, job: JobMetrics, event: str, text: str, now: float, *, over: bool) -> None:
        said = _said(job.name, text)
        self._deliver(Alert(said, event, over, job.name, job.id, job.status, job.error, job.hint, self._project, _at(now)))

    def _deliver(self, alert: Alert) -> None:
        self._waiting.append(alert)
        if (problem := self._tell_those_that_wait()) is not None:
            # The address may be a secret; what is said of the error has none of it.
            self._notify(f"Nobody could be told that {alert.text[:1].lower()}{alert.text[1:]} '{TO}': {_why(problem)}. It is tried again.")

    def _tell_those_that_wait(self) -> Exception | None:
        """In the order in which it happened; what has hindered it."""
        assert self._to is not None
        try:
            while self._waiting:
                deliver(self._to, asdict(self._waiting[0]))
                self._waiting.popleft()
                self._pause = _AGAIN_SECONDS[0]
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._again = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, _AGAIN_SECONDS[1])
            return error
        return None

    def close(self) -> None:
        """Look no more."""
        self._over.set()


def _said(name: str, text: str) -> str:
    return f"Job '{short_name(name)}' {text}"


def _at(now: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))


# How each event ends, in the order in which they are told: the rest of the sentence, or None while it has not; of the job, when it was told of,
# and whether the job runs. What is not seen while a job is started again has not ended.
_Ends: TypeAlias = "Callable[[JobMetrics, float, bool], str | None]"


def _ended(job: JobMetrics) -> str | None:
    return f"is {job.status}." if job.status in _ENDED else None


def _caught_up(job: JobMetrics, _: float, runs: bool) -> str | None:
    return "has caught up." if runs else _ended(job)


def _reads_again(job: JobMetrics, told: float, runs: bool) -> str | None:
    last = _last_input(job)
    return "reads rows again." if runs and last is not None and last > told else _ended(job)


_ENDED = ("FINISHED", "FAILED", "CANCELED")
_OVER: Mapping[str, _Ends] = {
    "failed": lambda *_: "runs again.",
    "restarts": lambda *_: "has run for an hour without being started again too often.",
    "lag": _caught_up,
    "quiet": _reads_again,
}


def _last_input(job: JobMetrics) -> float | None:
    """When a row was last read since its queries run, in seconds since 1970."""
    return max((q.last_input / 1000 for q in job.queries if q.last_input is not None), default=None)


def problems(job: JobMetrics, limits: Limits, restarts: int, since: float | None, now: float) -> Iterator[tuple[str, str]]:
    """What is the matter with a job, each with the rest of a sentence about it. ``since`` it is known to read, None where it does not; ``now``: both
    in seconds since 1970.
    """
    if job.status == "FAILED":
        yield "failed", f"has failed: {job.error}"
    if restarts > limits.restarts:
        yield "restarts", f"was started again {restarts} times within an hour: {job.error or 'it runs now.'}"
    if since is None:
        return
    if limits.lag is not None and job.lag is not None and job.lag > limits.lag:
        yield "lag", f"is {job.lag:,} records behind."
    if limits.quiet_ms:
        quiet = now - max(since, _last_input(job) or 0.0)
        if quiet * 1000 > limits.quiet_ms:
            yield "quiet", f"has read no row for {duration(quiet)}."


def deliver(to: str, alert: Mapping[str, Any]) -> None:
    """Send an alert to an address, or give it to a command. Raises OSError, ValueError, SubprocessError where that fails."""
    body = json.dumps(alert, ensure_ascii=False).encode()
    if _is_address(to):
        request = urllib.request.Request(to, body, {"Content-Type": "application/json"}, method="POST")
        with urllib.request.urlopen(request, timeout=_SECONDS):
            return
    subprocess.run(_words(to), input=body, timeout=_SECONDS, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _is_address(to: str) -> bool:
    return to.startswith(("https://", "http://"))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quote that nothing closes
        return []


def _why(error: Exception) -> str:
    match error:
        case urllib.error.HTTPError(code=code):
            return f"the address answered with status {code}"
        case subprocess.CalledProcessError(returncode=code):
            return f"the command ended with exit code {code}"
        case subprocess.TimeoutExpired() | TimeoutError():
            return f"it took longer than {_SECONDS:.0f} s"
        case urllib.error.URLError(reason=reason):
            return str(getattr(reason, "strerror", None) or reason)
        case OSError(strerror=str() as reason):
            return reason
    return type(error).__name__
