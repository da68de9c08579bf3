"""The client's own statements: saved queries, topics without tables, the last result as a file or chart; and the questions of DROP, STOP and QUIT."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.catalog.apply import apply
from sqlstream.core import settings
from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs import registry
from sqlstream.runtime.monitor.figures import size
from sqlstream.session import dependents, export, inspection, plot, queries, raw_topics, results
from sqlstream.sql.masking import masked_text
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession
    from sqlglot import exp

    from sqlstream.core.changelog import Change
    from sqlstream.plan.nodes import Field
    from sqlstream.plan.planner import Planner
    from sqlstream.runtime.jobs.jobs import Jobs
    from sqlstream.session.results import Outcome

# Puts a question to the user; the second argument tells of an interrupt.
Ask: TypeAlias = "Callable[[str, Callable[[], bool]], bool]"


def leaving(jobs: list[str]) -> str:
    """The question before these jobs stop with the shell."""
    those = "1 job is running and stops" if len(jobs) == 1 else f"{len(jobs)} jobs are running and stop"
    return f"{those} with the shell: {', '.join(jobs)}.\nTheir state is kept: submitted again, the same statements continue from there. Quit?"


class Client:
    """What a session does for the user at the terminal. ``ask`` is None for scripts: they are never asked."""

    def __init__(
        self, planner: Planner, jobs: Jobs, spark: Callable[[], SparkSession | None], ask: Ask | None, interrupted: Callable[[], bool]
    ) -> None:
        self._planner = planner
        self._jobs = jobs
        self._spark = spark
        self._ask = ask
        self._interrupted = interrupted
        self._kept: export.Kept | None = None

    def saved_queries(self, node: ast.Show) -> Outcome:
        """The answer of SHOW QUERIES."""
        like = inspection.like_of(node)
        listed = [q for q in queries.saved_queries(self._planner.project) if like is None or like.keeps(q.name)]
        rows = [(q.name, queries.signature(q), q.question) for q in listed]
        return results.text_rows(("query name", "parameters", "question"), rows)

    def peeked(self, node: ast.Peek) -> Outcome:
        """The answer of PEEK. Raises SqlStreamError."""
        planner = self._planner
        return raw_topics.peeked(node, planner.catalog, planner.options, planner.project)

    def inferred(self, node: ast.Infer) -> Iterator[Outcome]:
        """The answer of INFER, and that of the CREATE TABLE where it is saved. Raises SqlStreamError."""
        planner = self._planner
        text = raw_topics.proposed(node, planner.catalog, planner.options, planner.project)
        yield results.Text(lines=masked_text(text) + ";")
        if node.save or (self._ask is not None and self._agrees("Save it to the project's catalog?")):
            notices = apply(planner.catalog, parse(text), planner.context(script=False, save=True))
            yield results.Done(notices=tuple(notices))

    def plotted(self, node: ast.Plot) -> Outcome:
        """The answer of PLOT. Raises ValidationError."""
        kept, by = self._last(node), node.by
        width = shutil.get_terminal_size().columns
        lines = plot.chart(kept.columns, kept.changes, node.this.name if node.this else None, by.name if by else None, width)
        return results.Text(lines="\n".join(lines))

    def keeping(self, columns: tuple[Field, ...], changes: Iterator[Change]) -> Iterator[Change]:
        """``changes`` of a SELECT; those that are read are the last result from now on."""
        self._kept = export.Kept(columns, int(settings.read(self._planner.options, "sql-client.execution.max-table-result.rows")))
        return self._kept.passing(changes)

    def agreed(self, node: exp.Expr) -> bool:
        """Whether the user agrees to a DROP, STOP or QUIT; the question names what depends on it. Nothing else is asked about."""
        if self._ask is None:
            return True
        match node:
            case ast.Quit():
                running = [j.name for j in self._jobs if j.lives]
                return not running or self._agrees(leaving(running))
            case ast.StopJob():
                return self._agrees(f"Stop the job {self._name(node.this.name)}? Its state is kept: the same statement continues from there.")
            case ast.DropJob() if registry.exists(self._jobs.kept.jobs, node.this.name):
                record = registry.find(self._jobs.kept.jobs, node.this.name)
                record.check_stopped()
                return self._agrees(f"Delete job '{record.name}' ({size(record.size())})? Its state and offsets are lost; tables keep their rows.")
            case ast.DropSavepoint():
                return self._agrees(f"Delete the savepoint {node.this.name}? No job can begin with it then.")
            case ast.Drop():
                return self._agrees(self._dropping(node))
        return True

    def _name(self, job_id: str) -> str:
        """That of a job, of whatever process."""
        return str(self._jobs.find(job_id).name) if job_id in self._jobs else registry.find(self._jobs.kept.jobs, job_id).name

    @property
    def asks(self) -> Callable[[str], bool] | None:
        """Puts a question to the user; None for scripts."""
        return None if self._ask is None else self._agrees

    def _dropping(self, node: ast.Drop) -> str:
        catalog, names = self._planner.catalog, ast.parts(node.this)
        needed: list[str] = []
        if node.kind in ("TABLE", "VIEW") and catalog.get(catalog.path(names)) is not None:
            needed = dependents.of_object(catalog.path(names), catalog, self._jobs, self._planner.project)
        depending = f" These depend on it: {', '.join(sorted(needed))}." if needed else ""
        return f"DROP {node.args['kind']} {'.'.join(names)}?{depending}"

    def _agrees(self, question: str) -> bool:
        return self._ask is None or self._ask(question, self._interrupted)

    def _last(self, at: exp.Expr) -> export.Kept:
        if self._kept is None:
            raise ValidationError("There is no last result: no SELECT has run in this session.", at=at)
        return self._kept

    def exported(self, node: ast.Export) -> Outcome:
        """The answer of EXPORT. Raises ValidationError."""
        kept = self._last(node)
        path = self._planner.project / Path(node.this.name).expanduser()
        format_ = (node.format or path.suffix[1:]).lower()
        if format_ not in export.FORMATS:
            raise ValidationError(
                f"The name '{path.name}' does not say which format to write.", at=node.this, hint="Add FORMAT CSV, FORMAT JSON or FORMAT PARQUET."
            )
        export.check_free(path, node.this, overwrite=node.overwrite)
        count = export.write(kept, path, format_, self._planner.zone, self._spark)
        left = f"; {kept.forgotten} earlier ones are no longer kept" if kept.forgotten else ""
        return results.Done(notices=(f"{count} {'row' if count == 1 else 'rows'} written to {path}{left}.",))
