"""SHOW and DESCRIBE: questions about the catalog and the jobs, answered as rows of text."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING

from sqlstream.catalog import show
from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.core.secrets import masked_value
from sqlstream.runtime.jobs import describe as describe_job
from sqlstream.runtime.jobs import registry, savepoints
from sqlstream.runtime.jobs.versions import Version
from sqlstream.runtime.monitor.figures import OVERVIEW, details, last_error, overview, short_name, size
from sqlstream.runtime.monitor.why import reasons
from sqlstream.session import results
from sqlstream.sql.functions import CALLABLE
from sqlstream.sql.syntax import ast
from sqlstream.udf.declarations.left_out import count as left_out_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.plan.planner import Planner
    from sqlstream.runtime.jobs import Job, Jobs


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
            columns = ("job id", "job name", "status", "start time", "restarts", "late rows", "last error", "process", "version")
            return results.text_rows(columns, [*(_listed(j) for j in jobs), *_listed_elsewhere(jobs, planner)])
        case "SAVEPOINTS":
            return results.text_rows(("savepoint path", "job name", "created", "size", "status"), _savepoints(jobs.savepoint_folder))
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
    started = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(job.started))
    process = f"{os.getpid()}@{socket.gethostname()}" if job.lives else None
    version = Version.read(job.folder)
    number = None if version is None else str(version.number)
    return job.id, job.name, job.status.value, started, str(figures.restarts), str(figures.late), last_error(figures), process, number


def _listed_elsewhere(jobs: Jobs, planner: Planner) -> Iterator[tuple[str | None, ...]]:
    """The rows of SHOW JOBS of the project's jobs that are not this session's."""
    own = {j.folder.parent for j in jobs}
    for record in registry.records(planner.project):
        if record.path not in own:
            status = record.status
            figures = {} if status is None else status.figures
            started = None if status is None else time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(status.since))
            yield (
                record.id or None,
                record.name,
                record.state,
                started,
                figures.get("restarts"),
                figures.get("late rows"),
                record.error,
                record.process,
                None if record.version is None else str(record.version.number),
            )


def _metrics(jobs: Jobs) -> tuple[tuple[str | None, ...], ...]:
    return tuple(overview(j.sampled()) for j in jobs)


def explained(node: ast.ExplainJob, jobs: Jobs) -> results.Advice:
    """The answer of EXPLAIN JOB: of one, else of each that runs, else of the last one. Raises ValidationError."""
    at = node.args.get("this")
    asked = [jobs.find(at.name)] if at is not None else [j for j in jobs if j.lives] or list(jobs)[-1:]
    if not asked:
        raise ValidationError("There are no jobs.", at=node, hint="INSERT INTO submits one.")
    rows = tuple((short_name(j.name), r.text, r.hint) for j in asked for r in reasons(j.sampled(look=True), j.sinks, j.idle_ms))
    return results.Advice(columns=results.text_columns(("job", "reason", "what to do")), rows=rows)


def like_of(node: ast.Show) -> show.Like | None:
    """The LIKE of a SHOW."""
    pattern = node.like_pattern
    return None if pattern is None else show.Like(pattern.name, node.negated, node.is_ilike)


def described_job(node: ast.DescribeJob, jobs: Jobs, planner: Planner) -> results.Rows:
    """The answer of a DESCRIBE JOB. Raises ValidationError."""
    job, extended = jobs.find(node.this.name), node.extended
    rows = list(describe_job(job).items())
    more = details(job.metrics, [s.table.path.name for s in job.sinks]) if extended else []
    if extended and (left_out := left_out_rows(ProjectFolder(planner.project).dead_letters, job.runs)):
        more.append(("rows left out", str(left_out)))
    return results.text_rows(("info name", "info value"), _masked((*rows, *more)))


def _savepoints(folder: Path) -> Iterator[tuple[str | None, ...]]:
    """The rows of SHOW SAVEPOINTS."""
    for path, savepoint in savepoints.below(folder):
        where, bytes_ = path.absolute().as_uri(), size(sum(f.stat().st_size for f in path.rglob("*") if f.is_file()))
        if savepoint is None:
            yield where, None, None, bytes_, "INCOMPLETE"
        else:
            created = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(savepoint.created))
            yield where, savepoint.job, created, bytes_, "DRAINED" if savepoint.drained else "COMPLETED"


def described_savepoint(node: ast.DescribeSavepoint, project: Path) -> results.Rows:
    """The answer of a DESCRIBE SAVEPOINT. Raises ValidationError."""
    rows = savepoints.describe(savepoints.find(node.this.name, project))
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
