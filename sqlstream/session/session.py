"""The whole way of a statement: text in, outcomes out. The only module that knows every stage; it owns catalog, options, jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlstream.catalog.apply import APPLIED, apply
from sqlstream.catalog.namespaces import CatalogManager
from sqlstream.catalog.project import CatalogFiles, user_function
from sqlstream.core import settings, storage
from sqlstream.core.defects import defect
from sqlstream.core.depth import deeply, steps
from sqlstream.core.errors import JobFailed, NotSupported, SetupError, SqlStreamError, ValidationError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.core.secrets import is_secret
from sqlstream.lint import registry as lint
from sqlstream.lint.subject import Subject
from sqlstream.plan.differences import differences
from sqlstream.plan.explain import tree
from sqlstream.plan.nodes import Sink
from sqlstream.plan.planner import Planner, without_limit
from sqlstream.plan.properties import fields, static
from sqlstream.runtime.jobs import savepoints
from sqlstream.runtime.jobs.job import JobStatus
from sqlstream.runtime.jobs.jobs import Jobs
from sqlstream.runtime.monitor.metrics import JobMetrics
from sqlstream.runtime.queries import select
from sqlstream.session import administration, inspection, queries, results, set_reset
from sqlstream.session.client import Client
from sqlstream.session.completion.topic_names import TopicNames
from sqlstream.session.job_settings import future_ms, idle_ms, job_settings
from sqlstream.sql.masking import masked_message, masked_text
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import StatementText, split, substitute
from sqlstream.sql.syntax import ast
from sqlstream.udf.declarations.left_out import reporting_left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    from sqlstream.core.storage import Hadoop, Kept, Place
    from sqlstream.plan.builder import scope
    from sqlstream.plan.planned import Planned
    from sqlstream.runtime.engine.session import Engine
    from sqlstream.runtime.jobs.job import JobSettings, Locate
    from sqlstream.session import completion
    from sqlstream.session.client import Ask
    from sqlstream.session.results import Outcome

_IN_SET = "Only 'INSERT/CREATE TABLE AS' statement is allowed in Statement Set or use 'END' statement to submit Statement Set."
# Errors of the catalog's files that are shown when a session starts.
_MOST_ERRORS = 10
# For so long the end of a session waits for that of a SELECT.
_CLOSING_SECONDS = 10
_NO_SET = "No Statement Set to submit. 'END' statement should be used after 'BEGIN STATEMENT SET'."


class Interrupted(Exception):
    """The user has interrupted a statement before it began."""


class Session:
    """One user's session: ``run`` executes scripts, one statement after the other."""

    def __init__(
        self,
        project: Path,
        *,
        options: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        interactive: bool = False,
        notify: Callable[[str], None] = print,
        emit: Callable[[str], None] = print,
        save: bool = False,
        engine: Engine | None = None,
        owns_engine: bool = False,
        ask: Ask | None = None,
        progress: Callable[[list[JobMetrics]], None] = lambda running: None,
        python: bool = True,
        keep_stopped: bool = False,
    ) -> None:
        """``engine``: another's, or one for this session alone, which it ``owns``: its options hold, and it ends with the session. ``progress`` is
        called about once a second with the jobs that are waited for, and with none when that is over. ``python``: see Planner; ``keep_stopped``: see
        Jobs.
        """
        self.project = project.resolve()
        self.options: dict[str, str] = {}
        self._initial = dict(options or {})
        self._variables = dict(variables or {})
        # What parameters and variables have brought into scripts under the name of a secret.
        self._known_secrets = {v for k, v in self._variables.items() if is_secret(k)}
        self._interactive = interactive
        self._notify = notify
        self._save = save or interactive
        self._progress = progress
        self._owns_engine = owns_engine or engine is None
        self._given_engine = engine
        if engine is not None and owns_engine:
            engine.options = lambda: self.options
            engine.starts_anew = interactive
        self._set: list[exp.Expr] | None = None
        self._select: select.Changes | select.Collection | None = None
        self._interrupted = threading.Event()
        self._ending = False
        self._placing: Locate | None = None
        self._closed = False
        self._files_run: list[tuple[Path, str]] = []
        self._jobs = Jobs(self.project, self._kept, emit, notify, lambda: self._engine.again(), keep_stopped=keep_stopped)
        self._catalog = CatalogManager()
        self._topics = TopicNames()
        self._files = CatalogFiles(self.project, self._catalog, parse)
        for key, value in self._initial.items():
            if notice := settings.check(key, value):
                notify(notice)
            self.options[key] = value
        self._planner = Planner(self.project, self._catalog, self._files, self.options, python=python)
        self._client = Client(self._planner, self._jobs, self._started, ask, self._interrupted.is_set)
        errors = deeply(self._planner.load)
        for error in errors[:_MOST_ERRORS]:
            notify(_shown(error))
        if len(errors) > _MOST_ERRORS:
            notify(f"... and {len(errors) - _MOST_ERRORS} more errors in {self._files.folder}")

    # --- what the shell and the runner call --------------------------------------------------------------------------

    def start_spark(self) -> None:
        """Begin to start Spark in the background, for it will soon be needed."""
        self._engine.start(warm=True)

    def run(self, script: str, name: str | None = None) -> Iterator[Outcome]:
        """Execute the statements of ``script``, lazily; errors carry their place in it, ``name`` is its file."""
        try:
            script = substitute(script, self._variables, strict=bool(self._variables))
        except SqlStreamError as error:
            raise error.located(self._masked(script), name, 0) from error.__cause__
        if not self._files_run:
            self._jobs.begin_script()
        for statement in split(script):
            located = self._placing = partial(self._placed, script=script, name=name, statement=statement)
            try:
                for outcome in steps(self._execute(statement)):
                    yield replace(outcome, statement=outcome.statement or self._masked(statement.text))
            except SqlStreamError as error:
                raise located(error) from error.__cause__
            except Exception as error:
                died = self._death(error)
                if died is None and (self._interrupted.is_set() or isinstance(error, BrokenPipeError)):
                    raise
                raise located(died or defect(error, self.project)) from error

    def _placed(self, error: SqlStreamError, *, script: str, name: str | None, statement: StatementText) -> SqlStreamError:
        """An error of ``statement``, with its place."""
        error.message = masked_message(error.message, statement.text, self._known_secrets)
        return error.located(self._masked(script), name, statement.start)

    def interrupt(self, *, for_good: bool = False) -> None:
        """End the running statement: a SELECT, or the wait for a job (which is stopped); ``for_good``: those that are still to come, too."""
        self._ending = self._ending or for_good
        self._interrupted.set()
        self._jobs.wake()
        if self._select is not None:
            self._select.stop()

    def wait(self) -> None:
        """Wait until the session's jobs have ended, one has failed, or for an interrupt. Raises the failed job's error."""
        self._interrupted.clear()
        self._jobs.wait(self._progress, self._interrupted.is_set)

    def close(self) -> None:
        """Stop the session's jobs and its Spark."""
        if self._closed:
            return
        self._closed = True
        self.interrupt()
        if self._select is not None:
            self._select.ended.wait(_CLOSING_SECONDS)
        self._jobs.stop_all()
        self._jobs.settle()
        if self._owns_engine and self._given_engine is not None:
            self._given_engine.stop()
        self._jobs.let_go()

    def hurry(self) -> None:
        """From another thread: make ``close`` quick. Spark's JVM ends as if killed; the state of jobs stays intact."""
        if self._owns_engine and self._given_engine is not None:
            self._given_engine.kill()

    def completion(self) -> completion.Context:
        """A snapshot for the prompt's completion."""
        from sqlstream.session.completion.context import snapshot

        return snapshot(
            self._catalog, self.project, schema=self._planner.schema, functions=self._planner.functions(), settings=self.options,
            jobs=lambda: [j.id for j in self._jobs], savepoints=self._savepoint_paths,
            topics=self._topics,
        )  # fmt: skip

    def _savepoint_paths(self) -> list[str]:
        """The savepoints that completion offers, which waits for no start of Spark."""
        folder = self._kept().savepoints
        if not isinstance(folder, Path) and not self._spark_started:
            return []
        try:
            return [str(path) for path, _ in savepoints.below(folder)]
        except OSError:
            return []

    @property
    def jobs(self) -> Jobs:
        """The session's jobs."""
        return self._jobs

    @property
    def place(self) -> str:
        """The current catalog and database."""
        return f"{self._catalog.current_catalog}.{self._catalog.current_database}"

    @property
    def planner(self) -> Planner:
        """The way from a statement to its plan, which needs no Spark."""
        return self._planner

    # --- statements ---------------------------------------------------------------------------------------------------

    def _execute(self, statement: StatementText) -> Iterator[Outcome]:
        tree_ = parse(statement.text)
        self._interrupted.clear()
        if self._ending:
            self._interrupted.set()
        self._reload()
        yield from self._carry_out(tree_, statement)

    def _carry_out(self, tree_: exp.Expr, statement: StatementText) -> Iterator[Outcome]:
        if self._set is not None and not isinstance(tree_, ast.EndStatementSet | ast.Quit):
            yield self._add_to_set(tree_)
            return
        if not self._client.agreed(tree_):
            yield results.Done(notices=("Nothing was done.",))
            return
        handler = next((HANDLERS[kind] for kind in type(tree_).__mro__ if kind in HANDLERS), Session._refused)
        outcome = handler(self, tree_, statement.text)
        yield from (outcome if isinstance(outcome, Iterator) else (outcome,))

    def _refused(self, node: exp.Expr, text: str) -> Outcome:
        raise NotSupported(f"{type(node).__name__} is not supported.", at=node)

    def _unsupported(self, node: ast.Unsupported) -> Outcome:
        raise NotSupported(f"{node.args['kind']} is not supported: {node.args['this']}", at=node, hint=node.hint)

    def _show(self, node: ast.Show) -> Outcome:
        if node.kind == "QUERIES":
            return self._client.saved_queries(node)
        return inspection.shown(node, self._catalog, self._jobs, self._planner)

    def _execute_query(self, node: ast.ExecuteQuery) -> Iterator[Outcome]:
        query = queries.find(self.project, node.this.name, node.this)
        self._known_secrets |= query.secrets(node.expressions)
        script = query.script(node.expressions, node)
        yield from self._run_file(query.path.resolve(), script, f"queries/{query.path.name}", node.this)

    def _drop_savepoint(self, node: ast.DropSavepoint) -> Outcome:
        savepoints.drop(self._place(node.this.name))
        return results.Done()

    def _set_or_reset(self, node: ast.Set | ast.Reset) -> Outcome:
        return set_reset.answered(node, self.options, self._initial, started=self._spark_started)

    def _begin_set(self) -> Outcome:
        self._set = []
        return results.Done()

    def _apply(self, node: exp.Expression) -> tuple[str, ...]:
        """A declaration, carried out; its notices."""
        return tuple(apply(self._catalog, node, self._planner.context(script=not self._interactive, save=self._save)))

    def _create_function(self, node: ast.CreateFunction | ast.AlterFunction) -> Outcome:
        self._planner.check_function(user_function(node, self._catalog), node)
        return results.Done(notices=self._apply(node))

    def _watched(self, node: exp.Expr) -> Iterator[Outcome]:
        kept = str(ProjectFolder(self.project).dead_letters) if future_ms(self.options) else self._planner.function_settings.dead_letters
        with reporting_left_out(node, kept, self.project, self._notify):
            yield self._query(node)

    @property
    def _hadoop(self) -> Hadoop:
        return storage.Hadoop(lambda: self._engine)

    def _place(self, location: str) -> Place:
        return storage.place(location, self.project, self._hadoop)

    def _kept(self) -> Kept:
        return storage.kept(self.options, self.project, self._hadoop)

    def _masked(self, text: str) -> str:
        """A script or a statement as it may be shown or kept."""
        return masked_text(text, self._known_secrets)

    def _reload(self) -> None:
        version = self._planner.modules.version
        for line in self._planner.reload():
            self._notify(line)
        if self._planner.modules.version != version:
            for error in self._planner.modules.errors[:_MOST_ERRORS]:
                self._notify(_shown(error))

    def _source(self, node: ast.Source) -> Iterator[Outcome]:
        path = (self.project / node.this.name).resolve()
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8"
            raise ValidationError(f"Cannot read '{node.this.name}': {reason}.", at=node.this) from None
        yield from self._run_file(path, text, node.this.name, node.this)

    def _run_file(self, path: Path, text: str, name: str, at: exp.Expr) -> Iterator[Outcome]:
        """Run the script of a file; none of the files that are running may run it again."""
        if path in (running := [p for p, _ in self._files_run]):
            circle = [shown for _, shown in self._files_run[running.index(path) :]]
            raise ValidationError(f"'{name}' runs itself: {' -> '.join([*circle, name])}.", at=at)
        self._files_run.append((path, name))
        try:
            yield from self.run(text, name)
        finally:
            self._files_run.pop()

    def _help(self, node: ast.Help) -> str:
        from sqlstream.session import help as help_

        return help_.text(node.this or "", self._planner.functions().rows(), at=node)

    # --- views and EXPLAIN --------------------------------------------------------------------------------------------

    def _explain(self, node: ast.Explain, text: str) -> Outcome:
        env = self._planner.environment()
        inner = node.this
        statements = inner.expressions if isinstance(inner, ast.StatementSet) else [inner]
        planned = [self._planner.planned(s, env) for s in statements]
        logical, plans = [p.logical for p in planned], [p.plan for p in planned]
        sections = ["== Abstract Syntax Tree ==", *(tree(n, modes=False) for n in logical), ""]
        sections += ["== Optimized Physical Plan ==", *(tree(n) for n in plans), ""]
        if self._spark_started:
            from sqlstream.runtime.lower.explain import spark_plan

            sections += ["== Spark Plan =="]
            for plan in plans:
                try:
                    sections.append(spark_plan(without_limit(plan)[0], self._engine.spark, env.settings, self.project))
                except (SetupError, ValidationError, JobFailed) as error:  # a source that does not answer, or is not there yet
                    sections.append(f"(unknown: {error.message})")
        else:
            sections += ["== Spark Plan ==", "(Spark has not started: a SELECT or INSERT starts it)"]
        if any(isinstance(plan, Sink) for plan in plans):
            sections += ["", "== Job ==", self._would_be(tuple(planned), env, text)]
        told = dict.fromkeys([*env.notices, *(d for plan in plans for d in differences(plan))])
        if told:
            sections += ["", "== Notices ==", *told]
        return results.text_rows(("result",), ((masked_message("\n".join(sections) + "\n", text, self._known_secrets),),))

    def _would_be(self, planned: tuple[Planned, ...], env: scope.Environment, text: str) -> str:
        """What a job that is submitted now is called, and its version."""
        try:
            return self._jobs.preview(*self._job(planned, env, text), taken=None).lines[0]
        except ValidationError as error:  # its folder is of a newer release
            return f"(unknown: {error.message})"

    # --- queries and jobs ---------------------------------------------------------------------------------------------

    def _query(self, node: exp.Expr) -> Outcome:
        env = self._planner.environment()
        plan, limit = self._planner.selected(node, env)
        columns = fields(plan)
        spark = self._engine.spark
        notices = tuple(dict.fromkeys([*env.notices, *differences(plan)]))
        if env.settings.batch or static(plan):
            self._select = select.Collection(
                plan, limit, spark, env.settings.zone, self.project, batch=env.settings.batch, drop_nulls=env.settings.drop_nulls
            )
            self._stop_if_interrupted()
            changes = self._client.keeping(columns, select.inserts(self._collected(self._select)))
            if env.settings.batch:
                return results.Rows(columns=columns, rows=tuple(c.row for c in changes), notices=notices, query=True)
            return results.Stream(columns=columns, changes=changes, notices=notices)
        running = self._select = select.Changes(
            plan,
            limit,
            spark,
            env.settings.zone,
            self.project,
            drop_nulls=env.settings.drop_nulls,
            idle_ms=idle_ms(self.options),
            future_ms=future_ms(self.options),
        )
        self._stop_if_interrupted()
        return results.Stream(columns=columns, changes=self._client.keeping(columns, iter(running)), notices=notices)

    def _stop_if_interrupted(self) -> None:
        # The interrupt may have come before there was anything to end.
        if self._select is not None and self._interrupted.is_set():
            self._select.stop()

    def _collected(self, query: select.Collection) -> tuple[tuple[str | None, ...], ...]:
        began = time.time()
        try:
            return query.rows(lambda metrics: self._progress([JobMetrics("", "SELECT", JobStatus.RUNNING.value, began, (metrics,))]))
        finally:
            self._progress([])

    def _submit(self, inserts: tuple[exp.Expr, ...], text: str) -> Outcome:
        env = self._planner.environment()
        return self._run_job(tuple(self._planner.planned(node, env) for node in inserts), env, text)

    def _run_job(self, planned: tuple[Planned, ...], env: scope.Environment, text: str) -> Outcome:
        tree = planned[0].clause if len(planned) == 1 else ast.StatementSet(expressions=[p.clause for p in planned])
        env.notices.extend([*lint.notices(Subject(tree, planned)), *(d for p in planned for d in differences(p.plan))])
        sinks, name, how = self._job(planned, env, text)
        if not self._spark_started:
            self._jobs.check_free(sinks, name, how)
        spark = self._engine.spark
        if self._interrupted.is_set():
            # It came while Spark was starting.
            raise Interrupted
        job = self._jobs.submit(spark, sinks, name, how, self._masked(text), self._placing)
        notices = tuple(dict.fromkeys(env.notices))
        if job.kept_back:
            return results.KeptBack(job_id=job.id, notices=notices)
        if settings.read(self.options, "table.dml-sync"):
            while not job.done.wait(0.2):
                self._progress([job.metrics])
                if self._interrupted.is_set():
                    self._jobs.stop(job.id, stays=False)
            self._progress([])
            if job.error is not None:
                raise job.error
            if job.status is JobStatus.CANCELED:
                raise JobFailed(f"Job {job.id} was cancelled.")
            return results.Completed(job_id=job.id, notices=notices)
        return results.Submitted(job_id=job.id, notices=notices)

    def _job(self, planned: tuple[Planned, ...], env: scope.Environment, text: str) -> tuple[tuple[Sink, ...], str, JobSettings]:
        """The plan of a job, what it is called, how it runs."""
        sinks = tuple(p.plan for p in planned if isinstance(p.plan, Sink))
        name = self.options.get("pipeline.name") or f"insert-into_{','.join(str(s.table.path) for s in sinks)}"
        masked = lambda shown: masked_message(shown, text, self._known_secrets)
        return sinks, name, job_settings(self.options, env.settings, self._place, self._client.asks, masked)

    def _explain_upgrade(self, node: ast.ExplainUpgrade, text: str) -> Outcome:
        env = self._planner.environment()
        inner = node.this
        inserts = inner.expressions if isinstance(inner, ast.StatementSet) else [inner]
        seen = self._jobs.preview(*self._job(tuple(self._planner.planned(i, env) for i in inserts), env, text))
        return results.text_rows(("result",), (("\n".join(seen.lines) + "\n",),))

    def _create_table(self, node: ast.CreateTable, text: str) -> Outcome:
        notices = self._apply(node)
        if node.query is None:
            return results.Done(notices=notices)
        env = self._planner.environment()
        outcome = self._run_job((self._planner.planned(node, env),), env, text)
        return replace(outcome, notices=(*notices, *outcome.notices))

    def _add_to_set(self, node: exp.Expr) -> Outcome:
        if not isinstance(node, ast.Insert):
            raise ValidationError(_IN_SET, at=node)
        self._planner.planned(node, self._planner.environment())
        assert self._set is not None
        self._set.append(node)
        return results.Done()

    def _submit_set(self) -> Outcome:
        if self._set is None:
            raise ValidationError(_NO_SET)
        inserts, self._set = tuple(self._set), None
        if not inserts:
            return results.Done()
        return self._submit(inserts, "; ".join(str(i) for i in inserts))

    @property
    def _spark_started(self) -> bool:
        return self._given_engine is not None and self._given_engine.started

    def _death(self, error: Exception) -> SqlStreamError | None:
        """The error of Spark's death, if it caused ``error``."""
        if self._given_engine is None:
            return None
        from sqlstream.runtime.engine.failures import death

        return death(error)

    def _started(self) -> SparkSession | None:
        return self._engine.spark if self._spark_started else None

    @property
    def _engine(self) -> Engine:
        if self._given_engine is None:
            from sqlstream.runtime.engine.session import Engine

            self._given_engine = Engine(self.project, lambda: self.options, self._notify, starts_anew=self._interactive)
        return self._given_engine


# What carries a node out: a method that DryRun may have otherwise, of the session, the node and the statement's text.
HANDLERS: dict[type[exp.Expr], Callable[[Session, Any, str], Outcome | Iterator[Outcome]]] = {
    **dict.fromkeys(APPLIED, lambda session, node, text: results.Done(notices=session._apply(node))),
    ast.AcceptedWithoutEffect: lambda session, node, text: results.Done(notices=(f"{node.args['kind']} has no effect: {node.args['this']}",)),
    ast.AlterJob: lambda session, node, text: administration.altered(node, session._jobs, session._planner.zone),
    ast.AlterFunction: lambda session, node, text: session._create_function(node),
    ast.BeginStatementSet: lambda session, node, text: session._begin_set(),
    ast.Clear: lambda session, node, text: results.Cleared(),
    ast.CreateFunction: lambda session, node, text: session._create_function(node),
    ast.CreateTable: lambda session, node, text: session._create_table(node, text),
    ast.Describe: lambda session, node, text: inspection.described(node, session._catalog, session._planner),
    ast.DescribeJob: lambda session, node, text: inspection.described_job(node, session._jobs, session._planner),
    ast.EndStatementSet: lambda session, node, text: session._submit_set(),
    ast.ExecuteQuery: lambda session, node, text: session._execute_query(node),
    ast.DescribeSavepoint: lambda session, node, text: inspection.described_savepoint(session._place(node.this.name)),
    ast.DropJob: lambda session, node, text: administration.dropped(node, session._jobs),
    ast.DropSavepoint: lambda session, node, text: session._drop_savepoint(node),
    ast.Explain: lambda session, node, text: session._explain(node, text),
    ast.ExplainUpgrade: lambda session, node, text: session._explain_upgrade(node, text),
    ast.ExplainJob: lambda session, node, text: inspection.explained(node, session._jobs, session._interrupted.is_set),
    ast.Export: lambda session, node, text: session._client.exported(node),
    ast.Help: lambda session, node, text: results.Text(lines=session._help(node)),
    ast.Infer: lambda session, node, text: session._client.inferred(node),
    ast.Insert: lambda session, node, text: session._submit((node,), text),
    ast.Peek: lambda session, node, text: session._client.peeked(node),
    ast.Plot: lambda session, node, text: session._client.plotted(node),
    ast.Quit: lambda session, node, text: results.Exit(),
    ast.Reset: lambda session, node, text: session._set_or_reset(node),
    ast.SavepointJob: lambda session, node, text: administration.saved(node, session._jobs, session._interrupted.is_set),
    ast.Set: lambda session, node, text: session._set_or_reset(node),
    ast.Show: lambda session, node, text: session._show(node),
    ast.Source: lambda session, node, text: session._source(node),
    ast.StatementSet: lambda session, node, text: session._submit(tuple(node.expressions), text),
    ast.StopJob: lambda session, node, text: administration.stopped(node, session._jobs, session._interrupted.is_set),
    ast.Unsupported: lambda session, node, text: session._unsupported(node),
    exp.Query: lambda session, node, text: session._watched(node),
    exp.Values: lambda session, node, text: session._watched(node),
}


def _shown(error: SqlStreamError) -> str:
    where = f"{error.location}: " if error.location else ""
    return f"{where}{error.message}" + (f" ({error.hint})" if error.hint else "")
