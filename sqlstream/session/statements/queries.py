"""Queries, and what is submitted or explained of them: INSERT, statement sets, EXPLAIN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import ValidationError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.session import results
from sqlstream.session.runs.job import planned_job
from sqlstream.sql.syntax import ast
from sqlstream.udf.declarations.left_out import reporting_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler

_IN_SET = "Only 'INSERT/CREATE TABLE AS' statement is allowed in Statement Set or use 'END' statement to submit Statement Set."
_NO_SET = "No Statement Set to submit. 'END' statement should be used after 'BEGIN STATEMENT SET'."


def select(node: exp.Expr, context: Context) -> Iterator[Outcome]:
    """A query; when its rows have been read, how many were left out is reported."""
    dead_letters = ProjectFolder(context.project).dead_letters
    with reporting_left_out(node, dead_letters, context.project, context.user.notify):
        yield context.runs.select(context, node)


def insert(node: ast.Insert, context: Context) -> Outcome:
    """INSERT: a job."""
    return context.runs.submit(context, (node,))


def statement_set(node: ast.StatementSet, context: Context) -> Outcome:
    """EXECUTE STATEMENT SET: a job of several INSERTs."""
    return context.runs.submit(context, node.expressions)


def begin_set(_node: ast.BeginStatementSet, context: Context) -> Outcome:
    """BEGIN STATEMENT SET: up to END statements are collected."""
    context.statement_set = []
    return results.Done()


def add_to_set(node: exp.Expr, context: Context, collected: list[exp.Expr]) -> Outcome:
    """A statement between BEGIN STATEMENT SET and END. Raises ValidationError where it is no INSERT, or has no plan."""
    if not isinstance(node, ast.Insert):
        raise ValidationError(_IN_SET, at=node)
    context.planner.planned(node, context.planner.environment())
    collected.append(node)
    return results.Done()


def end_set(_node: ast.EndStatementSet, context: Context) -> Outcome:
    """END: the statements that were collected are a job. Raises ValidationError."""
    if context.statement_set is None:
        raise ValidationError(_NO_SET)
    inserts, context.statement_set = context.statement_set, None
    if not inserts:
        return results.Done()
    context.statement = context.statement.of_text("; ".join(str(i) for i in inserts))
    return context.runs.submit(context, inserts)


def explain(node: ast.Explain, context: Context) -> Outcome:
    """EXPLAIN."""
    return context.runs.explain(context, _explained(node))


def explain_upgrade(node: ast.ExplainUpgrade, context: Context) -> Outcome:
    """EXPLAIN UPGRADE: what would become of the stopped job that goes on with these INSERTs."""
    env = context.planner.environment()
    planned = [context.planner.planned(insert_, env) for insert_ in _explained(node)]
    seen = context.jobs.preview(*planned_job(context, planned, env))
    return results.text_rows(("result",), (("\n".join(seen.lines) + "\n",),), is_prose=True)


def _explained(node: exp.Expr) -> Sequence[exp.Expr]:
    return node.this.expressions if isinstance(node.this, ast.StatementSet) else (node.this,)


HANDLERS: Mapping[type[exp.Expr], Handler] = {
    exp.Query: select,
    exp.Values: select,
    ast.Insert: insert,
    ast.StatementSet: statement_set,
    ast.BeginStatementSet: begin_set,
    ast.EndStatementSet: end_set,
    ast.Explain: explain,
    ast.ExplainUpgrade: explain_upgrade,
}
