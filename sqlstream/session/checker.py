"""A script that is checked without running anything: the way of each statement through the session, up to its plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.core.errors import SqlStreamError
from sqlstream.lint.scripts import Checked, script_findings
from sqlstream.session.findings import declared_errors
from sqlstream.session.masked_text import refuse_masked
from sqlstream.session.runs.planning import Planning
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import Table

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.lint.scripts import Finding
    from sqlstream.session.queries import SavedQuery
    from sqlstream.session.session import Session
    from sqlstream.sql.statements.split import StatementText
    from sqlstream.sql.tables import View


def query_findings(query: SavedQuery, name: str, session: Session) -> list[Finding]:
    """What is to be said about a script, whose file is called ``name``. A parameter that is not declared may be a number or a text: the one with
    fewer errors is assumed.
    """
    checked: list[list[Finding]] = []
    for undeclared in ("1", "a"):
        text, places = query.sample(undeclared)
        checked.append([_moved(f, text, places) for f in script_findings(text, name, Checker(session))])
        if not places or not any(f.error for f in checked[-1]):
            break
    return min(checked, key=lambda several: sum(f.error for f in several))


def _moved(finding: Finding, text: str, places: list[tuple[int, int, int]]) -> Finding:
    """A finding at its column in the file, where parameters have their names."""
    begin = sum(len(line) for line in text.splitlines(keepends=True)[: finding.line - 1])
    at = begin + finding.column - 1
    longer = sum(written - named for place, written, named in places if begin <= place < at)
    return replace(finding, column=finding.column - longer)


class Checker:
    """A script in the catalog and with the options of ``session``, which learns nothing of it."""

    def __init__(self, session: Session) -> None:
        self._planning = Planning(selected=session.context.last_result is not None)
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
        try:
            refuse_masked(tree, statement.text)
        except SqlStreamError as error:
            findings.errors.append(error)
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
