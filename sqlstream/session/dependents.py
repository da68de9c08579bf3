"""What depends on an object of the catalog: views, running jobs, saved queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlglot import exp

from sqlstream.core.errors import SqlStreamError
from sqlstream.core.job_names import short_name
from sqlstream.plan.nodes import scans
from sqlstream.session.queries import saved_queries
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import placeholders, split
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import ObjectPath, View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sqlstream.catalog.namespaces import CatalogManager
    from sqlstream.runtime.jobs.job import Job


class Dependent(NamedTuple):
    """A view, a job or a saved query; ``id`` is that of a job."""

    kind: str
    name: str
    id: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {short_name(self.name) if self.id else self.name}"


def of_object(path: ObjectPath, catalog: CatalogManager, jobs: Iterable[Job], project: Path) -> list[Dependent]:
    """What reads or writes the table or view ``path``, by itself or through views."""
    reached = {path}
    views = dict(_views(catalog))
    while more := {p for p, view in views.items() if p not in reached and any(t in reached for t in _tables(view.query, catalog))}:
        reached |= more
    running = [j for j in jobs if not j.done.is_set() and any(t in reached for t in _of_job(j))]
    queries = [q.name for q in saved_queries(project) if any(t in reached for t in _of_script(q.text, catalog))]
    return [
        *(Dependent("view", p.name) for p in reached - {path}),
        *(Dependent("job", j.name, j.id) for j in running),
        *(Dependent("query", name) for name in queries),
    ]


def _of_job(job: Job) -> Iterator[ObjectPath]:
    for sink in job.sinks:
        yield sink.table.path
        yield from (scan.table.path for scan in scans(sink))


def _views(catalog: CatalogManager) -> Iterator[tuple[ObjectPath, View]]:
    for name, one in catalog.catalogs.items():
        for database, content in one.databases.items():
            for table, item in content.known.items():
                if isinstance(item, View):
                    yield ObjectPath(name, database, table), item
    yield from ((p, item) for p, item in catalog.temporary.items() if isinstance(item, View))


def _of_script(text: str, catalog: CatalogManager) -> Iterator[ObjectPath]:
    # A parameter can stand where a value does.
    ends = [(begin, end) for _, begin, end in placeholders(text)]
    for begin, end in reversed(ends):
        text = f"{text[:begin]}NULL{text[end:]}"
    for statement in split(text):
        try:
            yield from _tables(parse(statement), catalog)
        except SqlStreamError:
            continue


def _tables(tree: exp.Expr, catalog: CatalogManager) -> Iterator[ObjectPath]:
    ctes = {cte.alias for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        parts = ast.parts(table)
        if not (len(parts) == 1 and parts[0] in ctes) and 1 <= len(parts) <= 3:
            yield catalog.path(parts)
