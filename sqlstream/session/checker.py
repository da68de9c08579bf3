"""A script that is checked without running anything: the way of each statement through the session, up to its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import SqlStreamError
from sqlstream.lint.scripts import Checked
from sqlstream.session.findings import declared_errors
from sqlstream.session.runs.planning import Planning
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import Table

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.session.session import Session
    from sqlstream.sql.statements.split import StatementText
    from sqlstream.sql.tables import View


class Checker:
    """A script in the catalog and with the options of ``session``, which learns nothing of it."""

    def __init__(self, session: Session) -> None:
        self._planning = Planning()
        self._context = session.context.isolated_copy(self._planning)

    @property
    def project(self) -> Path:
        """The project's folder."""
        return self._context.project

    @property
    def undeclared(self) -> set[str]:
        """Tables and views whose declarations are wrong."""
        return self._planning.findings.undeclared

    def checked(self, statement: StatementText) -> Checked:
        """What a statement declares and plans, and its errors, which have their places in its text or in the file that they are of."""
        findings, catalog = self._planning.findings, self._context.catalog
        findings.planned, findings.errors = [], []
        tree = parse(statement)
        self._planning.carry_out(self._context, tree, statement.text)
        table: Table | None = None
        if isinstance(tree, ast.CreateTable | ast.CreateView):
            declared = self._declared(tree)
            if declared is None:
                findings.undeclared.add(tree.this.name)
            table = declared if isinstance(declared, Table) and isinstance(tree, ast.CreateTable) else None
        if table is not None:
            wrong, right = declared_errors(table, self._context.planner.environment(), tree)
            if wrong:
                catalog.put(right)
            findings.reported.update(e.message for e in wrong)
            findings.errors += wrong
        return Checked(tree, () if findings.errors else tuple(findings.planned), table, tuple(findings.errors))

    def _declared(self, tree: ast.CreateTable | ast.CreateView) -> Table | View | None:
        """What the name of a declaration means now; None where nothing."""
        catalog = self._context.catalog
        try:
            return catalog.get(catalog.path(ast.parts(tree.this)))
        except SqlStreamError:  # it is among the errors
            return None
