"""Statements that Spark runs: a SELECT whose rows are read, a job, and what EXPLAIN says of both."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlstream.core import settings
from sqlstream.core.errors import Declined, JobFailed, SetupError, SqlStreamError, ValidationError
from sqlstream.lint import registry as lint
from sqlstream.lint.subject import Subject
from sqlstream.plan.differences import differences
from sqlstream.plan.explain import tree
from sqlstream.plan.nodes import Sink
from sqlstream.plan.planner import without_limit
from sqlstream.plan.properties import fields, static
from sqlstream.plan.real_time import RealTime, prevented
from sqlstream.runtime.jobs.machine import JobStatus
from sqlstream.runtime.monitor.metrics import JobMetrics
from sqlstream.runtime.queries import select
from sqlstream.session import results
from sqlstream.session.context import Interrupted
from sqlstream.session.export import LastResult
from sqlstream.session.job_settings import future_ms, idle_ms
from sqlstream.session.runs.job import planned_job
from sqlstream.session.script import run_script
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot import exp

    from sqlstream.core.changelog import Change
    from sqlstream.plan.builder import scope
    from sqlstream.plan.nodes import Field
    from sqlstream.plan.planned import Planned
    from sqlstream.session.context import Context, User
    from sqlstream.session.results import Outcome

# For so long the end of a session waits for that of a SELECT.
_CLOSING_SECONDS = 10


class OnSpark:
    """Runs all that a session is asked to. It has one SELECT at a time."""

    def __init__(self, *, values: bool = False) -> None:
        """``values``: the rows of a SELECT come as changes that have their values, in batch mode, too."""
        self._values = values
        self._select: select.Changes | select.Collection | None = None

    def carries_out(self, node: exp.Expr) -> bool:
        """Always."""
        return True

    def script(self, context: Context, text: str, name: str) -> Iterator[Outcome]:
        """See Runs."""
        return run_script(context, text, name)

    # --- SELECT -------------------------------------------------------------------------------------------------------

    def select(self, context: Context, query: exp.Expr) -> Outcome:
        """Rows as they come, or all of them in batch mode."""
        env = context.planner.environment()
        plan, limit = context.planner.selected(query, env)
        columns = fields(plan)
        if not self._values:
            # What fails before its first row is the last result, too.
            context.last_result = LastResult(columns, 0, failed=True)
        spark, project, zone, drop_nulls = context.engine.spark, context.project, env.settings.zone, env.settings.drop_nulls
        leaves_out = env.settings.dead_letters is not None
        notices = tuple(dict.fromkeys([*env.notices, *differences(plan)]))
        if env.settings.batch or static(plan):
            batch = env.settings.batch
            collection = self._select = select.Collection(
                plan, limit, spark, zone, project, batch=batch, drop_nulls=drop_nulls, leaves_out=leaves_out, values=self._values
            )
            self._stop_if_interrupted(context.user)
            with _interruptible(context.user):
                collected = _collected(collection, context.user)
            changes = self._passing(context, columns, collected)
            if batch and not self._values:
                return results.Rows(columns=columns, rows=tuple(c.row for c in changes), notices=notices, query=True)
            return results.Stream(columns=columns, changes=changes, notices=notices, stop=collection.stop)
        idle, ahead = idle_ms(context.options), future_ms(context.options)
        with _interruptible(context.user):
            running = self._select = select.Changes(
                plan, limit, spark, zone, project, drop_nulls=drop_nulls, leaves_out=leaves_out, values=self._values, idle_ms=idle, future_ms=ahead
            )
        self._stop_if_interrupted(context.user)
        changes = self._passing(context, columns, iter(running))

        def reasons() -> list[str]:
            return [context.secrets.masked(reason) for reason in running.reasons()]

        return results.Stream(columns=columns, changes=changes, notices=notices, stop=running.stop, reasons=reasons)

    def _passing(self, context: Context, columns: tuple[Field, ...], changes: Iterator[Change]) -> Iterator[Change]:
        """``changes``; those that are read are the last result from now on, unless another program reads them."""
        return changes if self._values else remembered(context, columns, changes)

    def _stop_if_interrupted(self, user: User) -> None:
        # The interrupt may have come before there was anything to end.
        if user.interrupted():
            self.interrupt()

    def interrupt(self) -> None:
        """End the SELECT that runs."""
        if self._select is not None:
            self._select.stop()

    def await_end(self) -> None:
        """Wait until the SELECT that was ended has."""
        if self._select is not None:
            self._select.ended.wait(_CLOSING_SECONDS)

    # --- jobs ---------------------------------------------------------------------------------------------------------

    def submit(self, context: Context, statements: Sequence[exp.Expr]) -> Outcome:
        """A job that goes on behind the statement; that has ended with ``table.dml-sync``."""
        env = context.planner.environment()
        planned = [context.planner.planned(node, env) for node in statements]
        clause = planned[0].clause if len(planned) == 1 else ast.StatementSet(expressions=[p.clause for p in planned])
        env.notices.extend([*lint.notices(Subject(clause, tuple(planned))), *(d for p in planned for d in differences(p.plan))])
        sinks, name, how = planned_job(context, planned, env)
        if not context.engine.started:
            context.jobs.check_free(sinks, name, how)
        spark = context.engine.spark
        if context.user.interrupted():
            # It came while Spark was starting.
            raise Interrupted
        statement = context.statement
        context.jobs.report(context.options)
        try:
            with _interruptible(context.user):
                job = context.jobs.submit(
                    spark, sinks, name, how, context.secrets.masked(statement.text), statement.locate,
                    script=context.journal.script(context), keep_stopped=context.keep_stopped,
                )  # fmt: skip
        except Declined as declined:
            return results.Declined(notices=(declined.message, *([] if declined.hint is None else [declined.hint])))
        notices = tuple(dict.fromkeys(env.notices))
        if job.held_back:
            return results.HeldBack(job_id=job.id, notices=notices)
        if not settings.read(context.options, "table.dml-sync"):
            return results.Submitted(job_id=job.id, job_name=job.name, notices=notices)
        while not job.done.wait(0.2):
            context.user.progress([job.metrics])
            if context.user.interrupted():
                context.jobs.cut_off(job)
        context.user.progress([])
        if job.error is not None:
            raise job.error
        if job.status is JobStatus.CANCELED:
            raise JobFailed(f"Job {job.id} was cancelled.")
        return results.Completed(job_id=job.id, job_name=job.name, notices=notices)

    # --- EXPLAIN ------------------------------------------------------------------------------------------------------

    def explain(self, context: Context, statements: Sequence[exp.Expr]) -> Outcome:
        """The tree as it is written, the one after the rules, Spark's plan where Spark has started, the job that it would be."""
        env = context.planner.environment()
        planned = [context.planner.planned(s, env) for s in statements]
        plans = [p.plan for p in planned]
        sections = ["== Abstract Syntax Tree ==", *(tree(p.logical, modes=False) for p in planned), ""]
        sections += ["== Optimized Physical Plan ==", *(tree(n) for n in plans), ""]
        sections += ["== Spark Plan ==", *_spark_plans(context, planned, env)]
        if any(isinstance(plan, Sink) for plan in plans):
            if not env.settings.batch:
                sinks = [plan for plan in plans if isinstance(plan, Sink)]
                told_of = [(f"{sink.table.path.name}: " if len(sinks) > 1 else "") + _real_time(sink, env) for sink in sinks]
                sections += ["", "== Real Time ==", *told_of]
            sections += ["", "== Job ==", _version(context, planned, env)]
        told = dict.fromkeys([*env.notices, *(d for plan in plans for d in differences(plan))])
        if told:
            sections += ["", "== Notices ==", *told]
        text = "\n".join(sections) + "\n"
        return results.text_rows(("result",), ((context.secrets.masked_message(text, context.statement.text),),))


def remembered(context: Context, columns: tuple[Field, ...], changes: Iterator[Change]) -> Iterator[Change]:
    """``changes``; those that are read are the last result from now on."""
    context.last_result = LastResult(columns, int(settings.read(context.options, "sql-client.execution.max-table-result.rows")))
    return context.last_result.passing(changes)


@contextmanager
def _interruptible(user: User) -> Iterator[None]:
    """What the user interrupts has not failed: Spark calls it so, and whatever was waited for does not answer."""
    try:
        yield
    except SqlStreamError as error:
        if user.interrupted():
            raise Interrupted from error
        raise


def _collected(query: select.Collection, user: User) -> Iterator[Change]:
    began = time.time()
    try:
        return query.changes(lambda metrics: user.progress([JobMetrics("", "SELECT", JobStatus.RUNNING.value, began, (metrics,))]))
    finally:
        user.progress([])


def _spark_plans(context: Context, planned: Sequence[Planned], env: scope.Environment) -> Iterator[str]:
    if not context.engine.started:
        yield "(Spark has not started: a SELECT or INSERT starts it)"
        return
    from sqlstream.runtime.lower.explain import spark_plan

    for one in planned:
        try:
            yield spark_plan(without_limit(one.plan)[0], context.engine.spark, env.settings, context.project)
        except (SetupError, ValidationError, JobFailed) as error:  # a source that does not answer, or is not there yet
            yield f"(unknown: {error.message})"


def _real_time(sink: Sink, env: scope.Environment) -> str:
    """Whether the query of ``sink`` runs in real time, could, or what keeps it from that."""
    why = prevented(sink, env.settings.release, asked=env.settings.real_time is not RealTime.AUTO)
    if why is not None:
        return f"By micro-batches. {why}"
    match env.settings.real_time:
        case RealTime.TRUE:
            return "Row by row."
        case RealTime.AUTO:
            slots = "where Spark has a slot for each partition that is read, or that an operator with state has, beside one for each core"
            return f"Row by row, {slots}: DESCRIBE JOB says whether it does."
    return "By micro-batches. SET 'execution.real-time' = 'true' runs it row by row."


def _version(context: Context, planned: Sequence[Planned], env: scope.Environment) -> str:
    """What a job that is submitted now is called, and its version."""
    try:
        return context.jobs.preview(*planned_job(context, planned, env), taken=None).lines[0]
    except ValidationError as error:  # its folder is of a newer release
        return f"(unknown: {error.message})"
