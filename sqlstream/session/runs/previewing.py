"""Statements whose jobs are compared with those that have stopped under their names: ``jobs diff``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.session import results
from sqlstream.session.runs.job import planned_job
from sqlstream.session.script import run_script
from sqlstream.sql.statements.form import Needs
from sqlstream.sql.statements.table import needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot import exp

    from sqlstream.runtime.jobs.begin.placement import Preview
    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome


class Previewing:
    """Declares and plans as ``Planning``, but ends at an error. ``seen``: what would become of each job."""

    def __init__(self) -> None:
        self.seen: list[Preview] = []

    def carries_out(self, node: exp.Expr) -> bool:
        """Unless it needs something that runs, or a result."""
        return needs(node) not in (Needs.RUN, Needs.RESULT)

    def script(self, context: Context, text: str, name: str) -> Iterator[Outcome]:
        """See Runs."""
        return run_script(context, text, name)

    def select(self, context: Context, query: exp.Expr) -> Outcome:
        """The query is planned."""
        return self.explain(context, (query,))

    def explain(self, context: Context, statements: Sequence[exp.Expr]) -> Outcome:
        """The statements are planned."""
        for node in statements:
            context.planner.planned(node, context.planner.environment())
        return results.Done()

    def submit(self, context: Context, statements: Sequence[exp.Expr]) -> Outcome:
        """The job of the statements is compared."""
        env = context.planner.environment()
        sinks, name, how = planned_job(context, [context.planner.planned(node, env) for node in statements], env)
        if sinks:
            self.seen.append(context.jobs.preview(sinks, name, how, [one.folder for one in self.seen]))
        return results.Done()
