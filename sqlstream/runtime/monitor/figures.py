"""A job's figures as text: cells of a table, the lines of a status bar and of a progress line. Pure functions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sqlstream.core.counts import counted
from sqlstream.core.job_names import short_name, short_names
from sqlstream.core.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlstream.runtime.monitor.metrics import BrokerContact, JobMetrics, Partition, QueryMetrics

OVERVIEW = ("job", "status", "rows in", "rows out", "rows/s", "lag", "watermark", "state rows", "state bytes", "late rows",
            "lag by partition", "restarts", "last error", "job id")  # fmt: skip
SUMMARY = ("job name", "status", "rows/s", "lag", "restarts", "since")
# Partitions that a cell of the overview names: those with the most lag.
_MOST_PARTITIONS = 8
_BAR = 20


def moment(millis: int, zone: str) -> str:
    """A moment as the wall shows it in ``zone``, with milliseconds where it has any."""
    near, years = within_calendar(millis)
    at = datetime.fromtimestamp(near // 1000, UTC).astimezone(zone_of(zone))
    fraction = millis % 1000
    return f"{at.year + years:04d}" + at.strftime("-%m-%d %H:%M:%S") + (f".{fraction:03d}" if fraction else "")


# The calendar repeats itself after 400 years; Python's has the years from 1 to 9999.
_CYCLE_YEARS, _CYCLE_MS = 400, 146_097 * 86_400_000
_FIRST_MS, _LAST_MS = -62_103_628_800_000, 253_370_764_800_000


def within_calendar(millis: int) -> tuple[int, int]:
    """A moment on the same day of a year that Python's calendar has, and how many years that is before it."""
    if _FIRST_MS <= millis < _LAST_MS:
        return millis, 0
    cycles = millis // _CYCLE_MS
    return millis - cycles * _CYCLE_MS, cycles * _CYCLE_YEARS


def clock(millis: int, zone: str) -> str:
    """The time of day of a moment."""
    return datetime.fromtimestamp(millis / 1000, UTC).astimezone(zone_of(zone)).strftime("%H:%M:%S")


def duration(seconds: float) -> str:
    """``1 h 5 min``, ``2 min 7 s``, ``12 s``."""
    whole = round(seconds)
    parts = [(whole // 3600, "h"), (whole % 3600 // 60, "min"), (whole % 60, "s")]
    return " ".join(f"{count} {unit}" for count, unit in [p for p in parts if p[0]][:2]) or "0 s"


def size(count: float) -> str:
    """Bytes, in the unit that fits."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def bar(fraction: float) -> str:
    """How far something is."""
    full = int(fraction * _BAR)
    return f"[{'#' * full}{'-' * (_BAR - full)}]"


def overview(job: JobMetrics) -> tuple[str | None, ...]:
    """A row of SHOW JOB METRICS, under OVERVIEW."""
    lagging = sorted((p for p in job.partitions if p.lag), key=lambda p: -p.lag)
    return (
        short_name(job.name), job.status, str(job.rows_in), _known(job.rows_out), f"{job.rows_per_second:.0f}", _known(job.known_lag),
        None if job.watermark is None else moment(job.watermark, job.zone), _known(job.state_rows), _known(job.state_bytes), str(job.late),
        _lags(lagging), str(job.restarts), last_error(job), job.id,
    )  # fmt: skip


def by_column(job: JobMetrics) -> dict[str, str | None]:
    """The same by the names of the columns."""
    return dict(zip(OVERVIEW, overview(job), strict=True))


def summaries(jobs: Sequence[tuple[str, float | None, Mapping[str, str | None]]], time: Callable[[float], str]) -> list[tuple[str | None, ...]]:
    """Rows under SUMMARY, of each job's name, the second since 1970 at which its status began, and its row under OVERVIEW; ``time`` writes a second.

    What a job does now is of one that runs.
    """
    names = short_names([name for name, _, _ in jobs])
    found: list[tuple[str | None, ...]] = []
    for name, (_, since, figures) in zip(names, jobs, strict=True):
        rate, lag = (figures.get(f) if figures.get("status") == "RUNNING" else None for f in ("rows/s", "lag"))
        found.append((name, figures.get("status"), rate, lag, figures.get("restarts"), None if since is None else time(since)))
    return found


def last_error(job: JobMetrics) -> str | None:
    """Why the job has failed, or does not go on, or its figures are old."""
    if job.silent is not None:
        return no_answer(job.silent, job.zone)
    if job.status == "RESTARTING":
        return f"{next_restart(job)}: {job.error}"
    return job.error if job.stale is None else old_figures(job.stale, job.zone)


def next_restart(job: JobMetrics) -> str:
    """When a job that has failed is started again, and for the how manieth time."""
    number = f" {job.restarts}" if job.restarts > 1 else ""
    return f"restart{number} at {clock(job.due, job.zone)}" if job.due is not None else f"restart{number}"


def no_answer(brokers: BrokerContact, zone: str) -> str:
    """What is known of brokers that don't answer."""
    return f"Kafka at {brokers.servers} has not answered since {moment((brokers.silent or 0) // 1000 * 1000, zone)}"


def old_figures(query: QueryMetrics, zone: str) -> str:
    """How old the figures of a query are that can't be sampled, and why."""
    age = f"The figures are as of {clock(query.at, zone)}" if query.at else "There are no figures yet"
    return f"{age}, since Spark answered with an error: {query.failure}"


def _age(query: QueryMetrics, zone: str) -> str:
    return f"figures as of {clock(query.at, zone)}" if query.at else "no figures yet"


def _lags(partitions: Sequence[Partition]) -> str | None:
    named = [f"{p.name}: {p.lag}" for p in partitions[:_MOST_PARTITIONS]]
    more = len(partitions) - len(named)
    return ", ".join([*named, *([f"and {more} more"] if more else [])]) or None


def _known(count: int | None) -> str | None:
    return None if count is None else str(count)


def details(job: JobMetrics, sinks: Sequence[str]) -> list[tuple[str, str | None]]:
    """What DESCRIBE JOB EXTENDED adds, ``sinks`` being the tables that its queries write."""
    lines: list[tuple[str, str | None]] = [
        ("rows out", _known(job.rows_out)), ("rows/s", f"{job.rows_per_second:.0f}"), ("lag", _known(job.known_lag)),
        ("watermark", None if job.watermark is None else moment(job.watermark, job.zone)), ("state rows", _known(job.state_rows)),
        ("state bytes", _known(job.state_bytes)), ("last micro-batch", None if job.batch_ms is None else f"{job.batch_ms} ms"),
    ]  # fmt: skip
    for sink, query in zip(sinks, job.queries, strict=False):
        of = f" of the query into {sink}" if len(job.queries) > 1 else ""
        lines += [(f"input {i.name}{of}", counted(i.rows, "row")) for i in query.inputs]
        lines += [
            (f"partition {p.name}{of}", f"read up to offset {p.read} of {p.end}, lag {p.lag}")
            for i in query.inputs for p in i.partitions
        ]  # fmt: skip
        for timed in query.timed:
            for split in timed.splits:
                name = f"{timed.table}, {split.name}" if split.name else timed.table
                known = "none yet" if split.watermark is None else moment(split.watermark, job.zone)
                lines.append((f"watermark of {name}{of}", known + (", idle" if split.idle else "")))
        lines += [(f"filter {f.condition}{of}", f"{f.passed} of {counted(f.arrived, 'row')} passed") for f in query.filters]
    return lines


def status_line(place: str, mode: str, jobs: Sequence[JobMetrics]) -> str:
    """The status bar: where one is, and what the running jobs do together."""
    running = [j for j in jobs if j.status == "RUNNING"]
    failed = sum(j.status == "FAILED" for j in jobs)
    restarting = sum(j.status == "RESTARTING" for j in jobs)
    parts = [place, mode, f"{counted(len(running), 'job')} running"]
    if restarting:
        parts.append(f"{restarting} restarting")
    if failed:
        parts.append(f"{failed} failed")
    if running:
        parts.append(f"{sum(j.rows_per_second for j in running):,.0f} rows/s")
        lags = [j.known_lag for j in running if j.known_lag is not None]
        if lags:
            parts.append(f"lag {max(lags):,}")
        behind = min((j for j in running if j.watermark is not None), key=lambda j: j.watermark or 0, default=None)
        parts.append("no watermark" if behind is None or behind.watermark is None else f"watermark {moment(behind.watermark, behind.zone)}")
        parts += [_age(j.stale, j.zone) for j in running if j.stale is not None][:1]
    return " | ".join(parts)


class JobProgress(NamedTuple):
    """How far a job is: its status, a line for a terminal, and one for where a line stays."""

    status: str
    line: str
    plain: str


def job_progress(job: JobMetrics) -> JobProgress:
    """How far a job is."""
    return JobProgress(job.status, progress_line(job), plain_progress(job))


def progress_line(job: JobMetrics) -> str:
    """How far a job is, on one line: a bar where the end of what it reads is known."""
    parts = [short_name(job.name)]
    if job.status == "RESTARTING":
        return f"{parts[0]}  {next_restart(job)}"
    known = job.remaining
    rate = job.rows_per_second
    if (fraction := job.fraction) is not None:
        parts.append(f"{bar(fraction)} {int(fraction * 100)} %")
    if known is not None:
        parts.append(f"{known[0]:,} of {counted(known[1], 'row')}")
    else:
        parts.append(f"{counted(job.rows_in, 'row')} read")
    parts.append(f"{rate:,.0f} rows/s")
    done, tasks = job.tasks
    if tasks:
        parts.append(f"{done} of {tasks} tasks")
    if known is not None and rate > 0 and known[1] > known[0]:
        parts.append(f"{duration((known[1] - known[0]) / rate)} left")
    if job.silent is not None:
        parts.append(no_answer(job.silent, job.zone))
    if job.stale is not None:
        parts.append(_age(job.stale, job.zone))
    return "  ".join(parts)


def plain_progress(job: JobMetrics) -> str:
    """The same for where a line stays: a log, a pipe."""
    if job.status == "RESTARTING":
        return f"{short_name(job.name)}: {next_restart(job)}"
    progress = counted(job.rows_in, "row") if job.remaining is None else f"{job.remaining[0]:,} of {counted(job.remaining[1], 'row')}"
    silent = "" if job.silent is None else f", {no_answer(job.silent, job.zone)}"
    stale = "" if job.stale is None else f", {_age(job.stale, job.zone)}"
    return f"{short_name(job.name)}: {progress} read, {job.rows_per_second:.0f} rows/s{silent}{stale}"
