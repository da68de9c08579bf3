"""Statements that are only planned: ``check``, and saved queries without their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import SqlStreamError
from sqlstream.session import results
from sqlstream.session.context import RunningStatement
from sqlstream.session.findings import Findings
from sqlstream.session.statements import carried_out
from sqlstream.sql.statements.form import Needs
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.statements.table import needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome


class Planning:
    """Plans what would run, and collects in ``findings`` the plans and the errors, which it does not raise.

    ``selected``: there is a result before the first statement.
    """

    def __init__(self, *, selected: bool = False) -> None:
        self.findings = Findings()
        self._selected = selected

    def carries_out(self, node: exp.Expr) -> bool:
        """Unless it needs something that runs; a result is not there, but for a query before it there would be."""
        needed = needs(node)
        return not (needed is Needs.RUN or (needed is Needs.RESULT and self._selected))

    def carry_out(self, context: Context, node: exp.Expr, text: str) -> None:
        """What ``node`` declares and plans; all its errors are found."""
        statement = RunningStatement(text)
        self.findings.attempt(node, text, lambda tree: list(carried_out(tree, context, statement)))

    def script(self, context: Context, text: str, name: str) -> Iterator[Outcome]:
        """Its errors are found with their places in it; its plans are not looked at."""
        findings = self.findings
        planned = findings.planned
        for statement in split(text):
            before = len(findings.errors)
            try:
                self.carry_out(context, parse(statement), statement.text)
            except SqlStreamError as error:
                findings.errors.append(error)
            for made in findings.errors[before:]:
                made.located(context.secrets.masked(text), name, statement.start)
        findings.planned = planned
        yield from ()

    def select(self, context: Context, query: exp.Expr) -> Outcome:
        """The plan of a query. Raises SqlStreamError."""
        self._selected = True
        self._plan(context, query)
        return results.Done()

    def submit(self, context: Context, statements: Sequence[exp.Expr]) -> Outcome:
        """The plan of each."""
        for node in statements:
            self.findings.attempt(node, None, lambda tree: self._plan(context, tree))
        return results.Done()

    explain = submit

    def _plan(self, context: Context, node: exp.Expr) -> None:
        planner = context.planner
        self.findings.planned.append(planner.planned(node, planner.environment()))
