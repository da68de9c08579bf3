"""Jobs that there are, of this process or of another: SHOW JOBS, DESCRIBE, EXPLAIN, STOP, DETACH, SAVEPOINT, ALTER and DROP JOB."""

from __future__ import annotations

import os
import shlex
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.connectors.kafka import positions, skipped
from sqlstream.core.errors import JobFailed, SqlStreamError, ValidationError
from sqlstream.core.job_names import short_name, short_names
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.runtime.jobs.control import handed_over, registry
from sqlstream.runtime.jobs.control.ask import ask, find
from sqlstream.runtime.jobs.control.requests import Action
from sqlstream.runtime.jobs.job import Job
from sqlstream.runtime.jobs.job import describe as describe_job
from sqlstream.runtime.jobs.machine import SAID
from sqlstream.runtime.monitor.figures import OVERVIEW, SUMMARY, by_column, details, last_error, overview, size, summaries
from sqlstream.session import results
from sqlstream.sql.syntax import ast
from sqlstream.udf.declarations.left_out import count as left_out_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlglot import exp

    from sqlstream.runtime.jobs.control.registry import JobRecord
    from sqlstream.runtime.jobs.folder.generations import Generation
    from sqlstream.runtime.jobs.jobs import Jobs
    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler

_FLINKS = ("job id", "job name", "status", "start time")
_JOBS = (*_FLINKS, "restarts", "late rows", "last error", "process", "version", "size", "last progress")


def listed(jobs: Jobs, *, extended: bool = False, flinks: bool = False) -> Outcome:
    """SHOW JOBS; ``flinks``: with the columns that Flink's clients read."""
    if flinks and not extended:
        return results.text_rows(_FLINKS, [*map(_flinks, jobs), *map(_flinks_elsewhere, _elsewhere(jobs))])
    if extended:
        return results.text_rows(_JOBS, [*(_listed(j) for j in jobs), *(_listed_elsewhere(r) for r in _elsewhere(jobs))])
    elsewhere = list(_elsewhere(jobs))
    rows = [(j.name, j.state_since, by_column(j.sampled())) for j in _runs(jobs, elsewhere)] + [(r.name, r.state_since, r.figures) for r in elsewhere]
    return results.text_rows(SUMMARY, summaries(rows, _time))


def metrics(jobs: Jobs) -> Outcome:
    """SHOW JOB METRICS."""
    return results.Figures(columns=results.text_columns(OVERVIEW), rows=_metrics(jobs), again=lambda: _metrics(jobs))


def _flinks(job: Job) -> tuple[str | None, ...]:
    """What Flink says of a job."""
    return job.id, job.name, job.status.value, _time(job.started)


def _flinks_elsewhere(record: JobRecord) -> tuple[str | None, ...]:
    """The same of a job that is not this session's."""
    return record.id or None, record.name, record.state, None if record.since is None else _time(record.since)


def _listed(job: Job) -> tuple[str | None, ...]:
    """A row of SHOW JOBS EXTENDED."""
    figures = job.sampled()
    process = f"{os.getpid()}@{socket.gethostname()}" if job.lives else None
    stored = _storage(registry.JobRecord(job.folder.parent, job.name, None))
    return *_flinks(job), str(figures.restarts), str(figures.late), last_error(figures), process, *stored


def _listed_elsewhere(record: JobRecord) -> tuple[str | None, ...]:
    """The same of a job that is not this session's."""
    figures = record.figures
    return (
        *_flinks_elsewhere(record), figures.get("restarts"), figures.get("late rows"), figures.get("last error"), record.process, *_storage(record),
    )  # fmt: skip


def _storage(record: JobRecord) -> tuple[str | None, str, str | None]:
    """Of what a job keeps: the number of its version, bytes on disk, when it last progressed."""
    progressed = record.progressed
    return (
        None if record.version is None else str(record.version.number),
        size(record.size()),
        None if progressed is None else _time(progressed),
    )


def _skipped(record: JobRecord) -> Iterator[tuple[str, str]]:
    """The records of topics that a job leaves out."""
    if record.latest is not None:
        yield from ((f"records left out of {topic}", skipped.written(of)) for topic, of in skipped.known(record.latest.shared).items())


def _elsewhere(jobs: Jobs) -> Iterator[JobRecord]:
    """The project's jobs that are not this session's, or that another process has continued."""
    own = list(jobs)
    ids, folders = {j.id for j in own}, {j.folder.parent for j in own if j.lives}
    return (r for r in registry.records(jobs.folders.jobs) if r.id not in ids and r.path not in folders)


def _runs(jobs: Jobs, elsewhere: Sequence[JobRecord]) -> list[Job]:
    """The jobs of this session, but for those that have become one of ``elsewhere``."""
    others = {r.path for r in elsewhere}
    return [j for j in jobs.latest() if j.folder.parent not in others]


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _metrics(jobs: Jobs) -> tuple[tuple[str | None, ...], ...]:
    """The rows of SHOW JOB METRICS: this session's jobs, and those that other processes run."""
    elsewhere = [r for r in _elsewhere(jobs) if r.held]
    rows = [(j.name, overview(j.sampled())) for j in _runs(jobs, elsewhere)]
    rows += [(r.name, tuple(r.figures.get(column) for column in OVERVIEW)) for r in elsewhere]
    return tuple((name, *row[1:]) for name, (_, row) in zip(short_names([name for name, _ in rows]), rows, strict=True))


def explain(node: ast.ExplainJob, context: Context) -> Outcome:
    """EXPLAIN JOB: of one, of whatever process, else of each of the session's that runs, else of its last one, else of each that other
    processes run. Raises ValidationError, and JobFailed where another process does not answer.
    """
    jobs, at = context.jobs, node.args.get("this")
    asked: list[Job | JobRecord] = [find(jobs, at.name)] if at is not None else [j for j in jobs if j.lives] or [*list(jobs)[-1:]]
    if not asked:
        known = registry.records(jobs.folders.jobs)
        asked = [r for r in known if r.held]
        if not asked and known:
            hint = f"EXPLAIN JOB '{short_name(known[0].name)}' says it of one that has ended; SHOW JOBS lists them."
            raise ValidationError("No job runs.", at=node, hint=hint)
    if not asked:
        raise ValidationError("There are no jobs.", at=node, hint="INSERT INTO submits one.")
    names = short_names([job.name for job in asked])
    rows = [(name, *reason) for name, job in zip(names, asked, strict=True) for reason in _reasons(job, context.user.interrupted)]
    return results.Advice(columns=results.text_columns(("job", "reason", "what to do")), rows=tuple(rows))


def _reasons(job: Job | JobRecord, interrupted: Callable[[], bool]) -> list[tuple[str, str | None]]:
    return [(r.text, r.hint) for r in job.why()] if isinstance(job, Job) else job.why(interrupted)


def describe(node: ast.DescribeJob, context: Context) -> Outcome:
    """DESCRIBE JOB, of this session or of another process. Raises ValidationError."""
    job, extended = find(context.jobs, node.this.name), node.extended
    if not isinstance(job, Job):
        rows = [(n, value) for n, value in _described_elsewhere(job, extended=extended) if value is not None]
        return results.masked_rows(("info name", "info value"), rows)
    record = registry.JobRecord(job.folder.parent, job.name, None)
    stored = zip(_JOBS[-3:], _storage(record), strict=True)
    rows = [*describe_job(job).items(), *((n, value) for n, value in stored if value is not None), *_skipped(record)]
    more = details(job.metrics, job.sink_names) if extended else []
    if extended and (left_out := left_out_rows(ProjectFolder(context.project).dead_letters, job.runs) + job.left_out):
        more.append(("rows left out", str(left_out)))
    return results.masked_rows(("info name", "info value"), (*rows, *more))


def _described_elsewhere(record: JobRecord, *, extended: bool) -> Iterator[tuple[str, str | None]]:
    """The rows of DESCRIBE JOB of a job that is not this session's."""
    figures = record.figures
    yield from (("job id", record.id or None), ("job name", record.name), ("status", record.state), ("process", record.process))
    yield "mode", None if record.status is None else record.status.mode
    yield "start time", None if record.since is None else _time(record.since)
    yield from (("restarts", figures.get("restarts")), ("rows read", figures.get("rows in")), ("late rows", figures.get("late rows")))
    yield "checkpoint", None if record.latest is None else str(record.latest.folder / "checkpoint")
    yield from zip(_JOBS[-3:], _storage(record), strict=True)
    yield "last error", figures.get("last error")
    yield from _skipped(record)
    if extended:
        yield from ((n, figures.get(n)) for n in ("rows out", "rows/s", "lag", "lag by partition", "watermark", "state rows", "state bytes"))
        for version in record.versions():
            yield f"version {version.number}, {_time(version.created)}", version.sql


def stop(node: ast.StopJob, context: Context) -> Outcome:
    """STOP JOB; an interrupt ends the wait. Where nobody is asked, a part of a name could mean another job tomorrow."""
    action, whole = Action.stop(savepoint=node.savepoint, drain=node.drain), context.user.ask is None
    made = ask(context.jobs, node.this.name, action, context.user.interrupted, whole=whole)
    return _path(made) if made else results.Done()


def detach(node: ast.DetachJob, context: Context) -> Outcome:
    """DETACH JOB. Raises ValidationError where the job can't be handed over, and what handing it over met."""
    if not isinstance(job := find(context.jobs, node.this.name), Job) or not job.lives:
        raise _not_of_this_process(job)
    if (why := hindrance(job, context)) is not None:
        raise ValidationError(f"Job '{short_name(job.name)}' can't be handed over: {why[0]}.", at=node.this, hint=why[1])
    return results.text_rows(("job name", "log", "what stops it"), (hand_over(job, context),))


def _not_of_this_process(job: Job | JobRecord) -> ValidationError:
    if isinstance(job, Job) or not job.held:
        state = job.status.value if isinstance(job, Job) else job.state
        return ValidationError(
            f"Job '{short_name(job.name)}' is not running: {SAID[state]}.", hint="INSERT INTO submits it, and DETACH JOB hands it over then."
        )
    return ValidationError(
        f"Job '{short_name(job.name)}' does not run in this process, but in {job.process}.", hint="It goes on when this process ends."
    )


def hindrance(job: Job, context: Context) -> tuple[str, str | None] | None:
    """Why a job that runs can't be handed over to the background, and a hint; None where it can."""
    if not context.owns_jobs:
        return "it is the server's, where it goes on when its client leaves", None
    if context.user.background is None:
        return "this session starts no process in the background", "In sqlstream's own shell DETACH JOB can."
    if not job.streaming:
        return "in batch mode it keeps no state, and would begin again", None
    if context.jobs.script(job) is None:
        return "the session has declared more than a script may hold", "sqlstream jobs start FILE --detach runs a file with its statements."
    return None


def hand_over(job: Job, context: Context) -> tuple[str, str, str]:
    """Stop a job, and have a process in the background go on with it: its name, the log there, the command that stops it.

    Raises JobFailed where it runs on, or was stopped and does not run in the background, and what stopping it met.
    """
    start, script, folder, user = context.user.background, context.jobs.script(job), job.folder.parent, context.user
    assert start is not None and script is not None
    name, asked, stopped = shlex.quote(short_name(job.name)), False, False

    def stop() -> None:
        nonlocal asked, stopped
        asked = True
        context.jobs.stop(job.id, stays=False)
        stopped = True

    try:
        begun = start(handed_over.keep(context.project, folder, job.name, script), folder.parent, stop, user.interrupted)
    except (OSError, SqlStreamError) as error:
        if asked and not stopped:
            # It has ended by itself, or its end takes long.
            raise
        what = error.message if isinstance(error, SqlStreamError) else error.strerror or str(error)
        hint = error.hint if isinstance(error, SqlStreamError) else None
        if not stopped:
            raise JobFailed(f"Job '{short_name(job.name)}' was not handed over, and runs on: {what}", hint=hint) from error
        again = f"Its state is kept: its statement resumes it here, and sqlstream jobs start {name} --detach in the background."
        raise JobFailed(
            f"Job '{short_name(job.name)}' was stopped, and does not run in the background: {what}", hint=f"{hint or ''} {again}".strip()
        ) from error
    context.jobs.forget(folder)
    if not begun.begun:
        user.notify(f"Job '{short_name(job.name)}' has not begun in the background yet: its log says how far it is.")
    here, project = Path.cwd(), context.project
    where = "" if project in (here, *here.parents) else f" --project {shlex.quote(str(project))}"
    return short_name(job.name), str(begun.log), f"sqlstream jobs stop {name}{where}"


def save(node: ast.SavepointJob, context: Context) -> Outcome:
    """SAVEPOINT JOB; an interrupt ends the wait."""
    return _path(ask(context.jobs, node.this.name, Action.SAVEPOINT, context.user.interrupted))


def alter(node: ast.AlterJob, context: Context) -> Outcome:
    """ALTER JOB .. SET OFFSETS. Raises ValidationError."""
    zone, record = context.planner.zone, _stopped(node, context)
    wanted = {}
    for option in node.expressions:
        positions.check(option.expression.name, zone)
        wanted[option.this.name] = option.expression.name
    with record.folder.lock():
        last = _open(record)
        if last is None or not last.has_read:
            problem = f"Job '{short_name(record.name)}' has nothing to resume from: the options of its sources say where it begins."
            raise ValidationError(problem, at=node.this)
        last.set_offsets({**last.offsets, **wanted} if wanted else {})
    return results.Done()


def skip_records(node: ast.SkipRecords, context: Context) -> Outcome:
    """ALTER JOB .. SKIP RECORDS. Raises ValidationError."""
    record = _stopped(node, context)
    with record.folder.lock():
        last = _open(record)
        # In real time a record may be met before the first offsets are recorded.
        if last is None or not last.has_begun:
            raise ValidationError(f"Job '{short_name(record.name)}' has read nothing yet, of which it could leave something out.", at=node.this)
        wanted = {option.this.name: skipped.parsed(option.expression.name) for option in node.expressions}
        skipped.add(last.shared, wanted)
    return results.Done()


def _stopped(node: ast.AlterJob | ast.SkipRecords, context: Context) -> JobRecord:
    """The job that a statement names whole, which must not run. Raises ValidationError."""
    context.jobs.await_ended()
    record = registry.find(context.jobs.folders.jobs, node.this.name, whole=True)
    record.check_stopped()
    return record


def _open(record: JobRecord) -> Generation | None:
    """The generation with which a job goes on, if it is submitted again as it is."""
    last = record.folder.latest()
    return last if last is not None and last.is_open else None


def drop(node: ast.DropJob, context: Context) -> Outcome:
    """DROP JOB. Raises ValidationError where it runs, or there is none."""
    jobs = context.jobs
    if node.if_exists and not registry.exists(jobs.folders.jobs, node.this.name, whole=True):
        return results.Done()
    jobs.await_ended()
    record = registry.find(jobs.folders.jobs, node.this.name, whole=True)
    record.check_stopped()
    record.drop()
    jobs.forget(record.path)
    handed_over.forget(context.project, record.path)
    return results.Done()


def _path(made: str) -> Outcome:
    return results.text_rows(("savepoint path",), ((made,),))


HANDLERS: Mapping[type[exp.Expr], Handler] = {
    ast.AlterJob: alter,
    ast.SkipRecords: skip_records,
    ast.DescribeJob: describe,
    ast.DetachJob: detach,
    ast.DropJob: drop,
    ast.ExplainJob: explain,
    ast.SavepointJob: save,
    ast.StopJob: stop,
}
