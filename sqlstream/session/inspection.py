"""SHOW and DESCRIBE: questions about the catalog and the jobs, answered as rows of text."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING

from sqlstream.catalog import show
from sqlstream.core import storage
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.core.secrets import masked_value
from sqlstream.runtime.jobs import registry, savepoints
from sqlstream.runtime.jobs.job import describe as describe_job
from sqlstream.runtime.monitor.figures import OVERVIEW, details, last_error, overview, short_name, size
from sqlstream.session import results
from sqlstream.sql.functions import CALLABLE
from sqlstream.sql.syntax import ast
from sqlstream.udf.declarations.left_out import count as left_out_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.core.storage import Place
    from sqlstream.plan.planner import Planner
    from sqlstream.runtime.jobs.job import Job
    from sqlstream.runtime.jobs.jobs import Jobs
    from sqlstream.runtime.jobs.registry import JobRecord

_JOBS = ("job id", "job name", "status", "start time", "restarts", "late rows", "last error", "process", "version", "size", "last progress")


def shown(node: ast.Show, catalog: CatalogManager, jobs: Jobs, planner: Planner) -> results.Rows:
    """The answer of a SHOW. Raises ValidationError, NotSupported."""
    kind, at = node.kind, node.args.get("this")
    parts = ast.parts(at) if at is not None else ()
    like = like_of(node)
    match kind:
        case "CATALOGS":
            rows = show.catalogs(catalog, like)
        case "DATABASES":
            rows = show.databases(catalog, parts[-1] if parts else None, like, at)
        case "TABLES":
            rows = show.tables(catalog, parts, like, at)
        case "VIEWS":
            rows = show.views(catalog, parts, like, at)
        case "COLUMNS":
            item = catalog.described(parts, at)
            rows = show.describe(item, planner.schema(item), like)
        case "FUNCTIONS" | "USER FUNCTIONS":
            rows = show.function_names(catalog, (n.lower() for n in CALLABLE), like, user=kind == "USER FUNCTIONS")
        case "CURRENT CATALOG":
            rows = show.current_catalog(catalog)
        case "CURRENT DATABASE":
            rows = show.current_database(catalog)
        case "MODULES" | "FULL MODULES":
            rows = show.modules(full=kind == "FULL MODULES")
        case "CREATE TABLE":
            rows = show.create_table(catalog, parts, at)
        case "CREATE VIEW":
            view = show.view_to_show(catalog, parts, at)
            rows = show.create_view(view, tuple(c[0] for c in planner.schema(view)), planner.expanded(view))
        case "CREATE CATALOG":
            rows = show.create_catalog(catalog, parts[-1], at)
        case "PARTITIONS":
            rows = show.partitions(catalog, parts, at)
        case "JARS":
            return results.text_rows(("jars",), ())
        case "PROCEDURES":
            return results.text_rows(("procedure name",), ())
        case "JOBS":
            return results.text_rows(_JOBS, [*(_listed(j) for j in jobs), *(_listed_elsewhere(r) for r in _elsewhere(jobs))])
        case "SAVEPOINTS":
            return results.text_rows(("savepoint path", "job name", "created", "size", "status"), _savepoints(jobs.kept.savepoints))
        case "JOB METRICS":
            return results.Figures(columns=results.text_columns(OVERVIEW), rows=_metrics(jobs), again=lambda: _metrics(jobs))
        case _:
            raise NotSupported(f"SHOW {kind} is not supported.", at=node)
    return results.text_rows(rows.headers, _masked(rows.rows))


def _masked(rows: Iterable[Sequence[str | None]]) -> list[tuple[str | None, ...]]:
    """``rows`` of what somebody has declared, without the passwords in it."""
    return [tuple(None if cell is None else masked_value(cell) for cell in row) for row in rows]


def _listed(job: Job) -> tuple[str | None, ...]:
    """A row of SHOW JOBS."""
    figures = job.sampled()
    process = f"{os.getpid()}@{socket.gethostname()}" if job.lives else None
    kept = _kept(registry.JobRecord(job.folder.parent, job.name, None))
    return job.id, job.name, job.status.value, _time(job.started), str(figures.restarts), str(figures.late), last_error(figures), process, *kept


def _listed_elsewhere(record: JobRecord) -> tuple[str | None, ...]:
    """The same of a job that is not this session's."""
    figures = record.figures
    started = None if record.status is None else _time(record.status.since)
    return (
        record.id or None, record.name, record.state, started, figures.get("restarts"), figures.get("late rows"), figures.get("last error"),
        record.process, *_kept(record),
    )  # fmt: skip


def _kept(record: JobRecord) -> tuple[str | None, str, str | None]:
    """Of what a job keeps: the number of its version, bytes on disk, when it last progressed."""
    progressed = record.progressed
    return (
        None if record.version is None else str(record.version.number),
        size(record.size()),
        None if progressed is None else _time(progressed),
    )


def _elsewhere(jobs: Jobs) -> Iterator[JobRecord]:
    """The project's jobs that are not this session's, or that another process has continued."""
    own = list(jobs)
    ids, folders = {j.id for j in own}, {j.folder.parent for j in own if j.lives}
    return (r for r in registry.records(jobs.kept.jobs) if r.id not in ids and r.path not in folders)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _metrics(jobs: Jobs) -> tuple[tuple[str | None, ...], ...]:
    """The rows of SHOW JOB METRICS: this session's jobs, and those that other processes run."""
    elsewhere = (r.figures for r in _elsewhere(jobs) if r.held)
    return (*(overview(j.sampled()) for j in jobs), *(tuple(figures.get(column) for column in OVERVIEW) for figures in elsewhere))


def explained(node: ast.ExplainJob, jobs: Jobs, interrupted: Callable[[], bool]) -> results.Advice:
    """The answer of EXPLAIN JOB: of one, of whatever process, else of each of the session's that runs, else of its last one, else of each that other
    processes run. Raises ValidationError, and JobFailed where another process does not answer.
    """
    at = node.args.get("this")
    own: list[Job] = []
    others: list[JobRecord] = []
    if at is not None and at.name not in jobs and registry.exists(jobs.kept.jobs, at.name):
        record = registry.find(jobs.kept.jobs, at.name)
        own = [j for j in jobs if j.lives and j.folder.parent == record.path]
        others = [] if own else [record]
    elif at is not None:
        own = [jobs.find(at.name)]
    else:
        own = [j for j in jobs if j.lives] or list(jobs)[-1:]
        others = [] if own else [r for r in registry.records(jobs.kept.jobs) if r.held]
    if not own and not others:
        raise ValidationError("There are no jobs.", at=node, hint="INSERT INTO submits one.")
    rows = [(short_name(j.name), r.text, r.hint) for j in own for r in j.why()]
    rows += [(short_name(r.name), text, hint) for r in others for text, hint in r.why(interrupted)]
    return results.Advice(columns=results.text_columns(("job", "reason", "what to do")), rows=tuple(rows))


def like_of(node: ast.Show) -> show.Like | None:
    """The LIKE of a SHOW."""
    pattern = node.like_pattern
    return None if pattern is None else show.Like(pattern.name, node.negated, node.is_ilike)


def described_job(node: ast.DescribeJob, jobs: Jobs, planner: Planner) -> results.Rows:
    """The answer of a DESCRIBE JOB, of this session or of another process. Raises ValidationError."""
    name, extended = node.this.name, node.extended
    record = None if name in jobs else registry.find(jobs.kept.jobs, name)
    job = jobs.find(name) if record is None else next((j for j in jobs if j.lives and j.folder.parent == record.path), None)
    if job is None:
        assert record is not None
        rows = [(n, value) for n, value in _described_elsewhere(record, extended=extended) if value is not None]
        return results.text_rows(("info name", "info value"), _masked(rows))
    kept = zip(_JOBS[-3:], _kept(registry.JobRecord(job.folder.parent, job.name, None)), strict=True)
    rows = [*describe_job(job).items(), *((n, value) for n, value in kept if value is not None)]
    more = details(job.metrics, [s.table.path.name for s in job.sinks]) if extended else []
    if extended and (left_out := left_out_rows(ProjectFolder(planner.project).dead_letters, job.runs)):
        more.append(("rows left out", str(left_out)))
    return results.text_rows(("info name", "info value"), _masked((*rows, *more)))


def _described_elsewhere(record: JobRecord, *, extended: bool) -> Iterator[tuple[str, str | None]]:
    """The rows of DESCRIBE JOB of a job that is not this session's."""
    figures = record.figures
    yield from (("job id", record.id or None), ("job name", record.name), ("status", record.state), ("process", record.process))
    yield "start time", None if record.status is None else _time(record.status.since)
    yield from (("restarts", figures.get("restarts")), ("rows read", figures.get("rows in")), ("late rows", figures.get("late rows")))
    yield "checkpoint", None if record.latest is None else str(record.latest.folder / "checkpoint")
    yield from zip(_JOBS[-3:], _kept(record), strict=True)
    yield "last error", figures.get("last error")
    if extended:
        yield from ((n, figures.get(n)) for n in ("rows out", "rows/s", "lag", "lag by partition", "watermark", "state rows", "state bytes"))
        for version in record.versions():
            yield f"version {version.number}, {_time(version.created)}", version.sql


def _savepoints(folder: Place) -> Iterator[tuple[str | None, ...]]:
    """The rows of SHOW SAVEPOINTS."""
    for path, savepoint in savepoints.below(folder):
        where, bytes_ = path.absolute().as_uri(), size(storage.size(path))
        if savepoint is None:
            yield where, None, None, bytes_, "INCOMPLETE"
        else:
            created = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(savepoint.created))
            yield where, savepoint.job, created, bytes_, "DRAINED" if savepoint.drained else "COMPLETED"


def described_savepoint(folder: Place) -> results.Rows:
    """The answer of a DESCRIBE SAVEPOINT of the one in ``folder``. Raises ValidationError."""
    rows = savepoints.describe(savepoints.read(folder))
    return results.text_rows(("info name", "info value"), _masked(rows.items()))


def described(node: ast.Describe, catalog: CatalogManager, planner: Planner) -> results.Rows:
    """The answer of a DESCRIBE. Raises ValidationError."""
    extended = node.extended
    match node.kind:
        case "CATALOG":
            rows = show.describe_catalog(catalog, ast.parts(node.this)[-1], extended=extended, at=node.this)
        case "DATABASE":
            rows = show.describe_database(catalog, ast.parts(node.this), extended=extended, at=node.this)
        case "FUNCTION":
            rows = show.describe_function(catalog, ast.parts(node.this), CALLABLE, planner.functions().described, extended=extended, at=node.this)
        case _:
            item = catalog.described(ast.parts(node.this), node.this)
            rows = show.describe(item, planner.schema(item))
    return results.text_rows(rows.headers, _masked(rows.rows))
