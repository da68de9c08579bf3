"""A session that carries statements out without running anything: the way of each through the session, up to its plan.

In: the statements of a script, one after the other. Out: what each declares and plans, and all its errors. After an error in a clause the rest of the
statement is planned with a NULL in its place, so that one mistake hides no other.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlstream.core.errors import SqlStreamError, length_of, offset_of
from sqlstream.lint.scripts import Checked
from sqlstream.plan.builder.relations import usable
from sqlstream.session import results
from sqlstream.session.session import Session
from sqlstream.sql.statements.form import Needs
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import StatementText, split
from sqlstream.sql.statements.table import FORMS
from sqlstream.sql.syntax import ast
from sqlstream.sql.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlstream.plan.planned import Planned
    from sqlstream.runtime.jobs.placement import Preview
    from sqlstream.session.results import Outcome

# Of one statement; behind so many there is nothing to learn.
_MOST_ERRORS = 20
# What nodes need of a session that runs.
_NEEDS = {form.node: form.needs for form in FORMS}


class DryRun(Session):
    """A script in the catalog and with the options of ``session``, which learns nothing of it."""

    def __init__(self, session: Session) -> None:
        vars(self).update(vars(session))
        self._planner = session.planner.isolated_copy(dry=True)
        self._catalog, self.options = self._planner.catalog, dict(self._planner.options)
        self._planner.options = self.options
        self._client = copy(session._client)
        self._client._planner = self._planner
        self._set, self._files_run = None, []
        self._selected = False
        self._planned: list[Planned] = []
        self._errors: list[SqlStreamError] = []
        # What was said of the options of a table, and is not said again wherever it is used.
        self._reported: set[str] = set()
        # Tables and views whose declarations are wrong: that they are not there is no error more.
        self.undeclared: set[str] = set()

    def checked(self, statement: StatementText) -> Checked:
        """What a statement declares and plans, and its errors, which have their places in its text or in the file that they are of."""
        self._planned, self._errors = [], []
        tree = parse(statement.text)
        self._mending(tree, statement.text, lambda node: list(self._carry_out(node, statement)))
        if isinstance(tree, ast.CreateTable | ast.CreateView) and self._catalog.get(self._catalog.path(ast.parts(tree.this))) is None:
            self.undeclared.add(tree.this.name)
        table = self._declared(tree)
        if table is not None and isinstance(tree, ast.CreateTable):
            wrong, right = declared_errors(table, self._planner.environment(), tree)
            if wrong:
                self._catalog.put(right)
            self._reported.update(e.message for e in wrong)
            self._errors += wrong
        return Checked(tree, () if self._errors else tuple(self._planned), table, tuple(self._errors))

    def run(self, script: str, name: str | None = None) -> Iterator[Outcome]:
        """What SOURCE and EXECUTE QUERY run."""
        planned = self._planned
        for statement in split(script):
            before = len(self._errors)
            try:
                tree = parse(statement.text)
                self._mending(tree, statement.text, lambda node, statement=statement: list(self._carry_out(node, statement)))  # type: ignore[misc]
            except SqlStreamError as error:
                self._errors.append(error)
            for made in self._errors[before:]:
                made.located(self._masked(script), name, statement.start)
        self._planned = planned
        yield from ()

    def _carry_out(self, tree: exp.Expr, statement: StatementText) -> Iterator[Outcome]:
        needs = _NEEDS.get(type(tree), Needs.NOTHING)
        if needs is Needs.RUN or (needs is Needs.RESULT and self._selected):
            return
        yield from super()._carry_out(tree, statement)

    # --- in the place of what runs ------------------------------------------------------------------------------------

    def _query(self, node: exp.Expr) -> Outcome:
        self._selected = True
        self._planned.append(self._planner.planned(node, self._planner.environment()))
        return results.Done()

    def _submit(self, inserts: tuple[exp.Expr, ...], text: str) -> Outcome:
        for node in inserts:
            self._mending(node, None, self._plan)
        return results.Done()

    def _plan(self, node: exp.Expr) -> None:
        self._planned.append(self._planner.planned(node, self._planner.environment()))

    def _explain_upgrade(self, node: exp.Expr, text: str) -> Outcome:
        return self._explain(node, text)

    def _explain(self, node: exp.Expr, text: str) -> Outcome:
        inner = node.this
        return self._submit(tuple(inner.expressions if isinstance(inner, ast.StatementSet) else [inner]), text)

    def _run_job(self, planned: tuple[Planned, ...], env: Any, text: str) -> Outcome:
        self._planned += planned
        return results.Done()

    def _declared(self, tree: exp.Expr) -> Table | None:
        if not isinstance(tree, ast.CreateTable):
            return None
        try:
            relation = self._catalog.get(self._catalog.path(ast.parts(tree.this)))
        except SqlStreamError:  # it is among the errors
            return None
        return relation if isinstance(relation, Table) else None

    # --- one error after the other ------------------------------------------------------------------------------------

    def _mending(self, tree: exp.Expr, text: str | None, attempt: Callable[[exp.Expr], Any]) -> None:
        """Attempt ``tree``; behind an error again, with a NULL in the place of the clause. An error of the whole may come of that, and ends it."""
        node, mended = tree, 0
        while len(self._errors) < _MOST_ERRORS:
            planned = len(self._planned)
            try:
                attempt(node)
                return
            except SqlStreamError as error:
                del self._planned[planned:]
                missing = isinstance(error.at, exp.Table) and error.at.name in self.undeclared
                if error.message in self._reported or missing:
                    return
                if error.option is not None:
                    self._reported.add(error.message)
                    error.at = next((o for o in node.find_all(ast.OptionDef) if o.this.name == error.option), error.at)
                places = [offset_of(e.at) for e in self._errors]
                if mended and (error.offset is None or error.offset == offset_of(node) or _encloses(error, places)):
                    return
                self._errors.append(error)
                if error.location is not None:
                    return
                if not mended:  # the tree is its reader's
                    node = parse(text) if text is not None else tree.copy()
                mended += 1
                if not mend(node, error):
                    return


def _encloses(error: SqlStreamError, places: Iterable[int | None]) -> bool:
    """Whether what ``error`` is about is, or holds, what stands for one of ``places`` by now."""
    return any(at is not None and (at == error.offset or (isinstance(error.at, exp.Expr) and _covers(error.at, at))) for at in places)


def mend(tree: exp.Expr, error: SqlStreamError) -> bool:
    """Put a NULL in the place of the smallest clause of ``tree`` that ``error`` is about; whether there is one."""
    at = error.offset
    if at is None:
        return False
    clauses = [c for s in tree.find_all(exp.Select) for c in _clauses(s) if _covers(c, at)]
    if not clauses:
        return False
    clause = min(clauses, key=length_of)
    parent = clause.parent
    if isinstance(parent, exp.Select):
        name = clause.alias_or_name
        clause.replace(exp.alias_(exp.Null(), name, quoted=True) if name else exp.Null())
    elif isinstance(parent, exp.Tuple | exp.Group | exp.Order) and len(parent.expressions) > 1:
        clause.pop()
    else:
        clause.replace(exp.Boolean(this=True))
    return True


def _clauses(select: exp.Select) -> Iterator[exp.Expr]:
    """The columns of a SELECT, and the conditions of WHERE and HAVING that AND holds together."""
    yield from select.expressions
    for key in ("where", "having"):
        if (clause := select.args.get(key)) is not None:
            yield from (clause.this.flatten() if isinstance(clause.this, exp.And) else [clause.this])


def _covers(clause: exp.Expr, at: int) -> bool:
    begin = offset_of(clause)
    return begin is not None and begin <= at < begin + length_of(clause)


def declared_errors(table: Table, env: Any, tree: exp.Expr) -> tuple[list[SqlStreamError], Table]:
    """What is wrong with the options of a table, each at the option, and the table without these options."""
    if not table.connector:
        return [], table
    written: Mapping[str, exp.Expr] = {o.this.name: o for o in (tree.options if isinstance(tree, ast.CreateTable) else [])}
    errors: list[SqlStreamError] = []
    options = dict(table.options)
    while len(errors) < _MOST_ERRORS:
        try:
            usable(replace(table, options=options), env, tree.this)
            return errors, replace(table, options=options)
        except SqlStreamError as error:
            key = error.option or _named(error.message, options)
            error.at = written.get(key, error.at)
            errors.append(error)
            # Without these there is nothing to check.
            if key == "connector" or key.endswith("format") or options.pop(key, None) is None:
                break
    return errors, table


def _named(message: str, options: Mapping[str, str]) -> str:
    """The option whose key, or else whose value, a message has in quotes."""
    by_value = {v: k for k, v in options.items()}
    return next((k for k in options if f"'{k}'" in message), next((by_value[v] for v in by_value if v and f"'{v}'" in message), ""))


class JobsPreview(DryRun):
    """A script of which each job is compared with the one that has stopped under its name. ``seen``: what would become of each."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.seen: list[Preview] = []

    run = Session.run
    _submit = Session._submit

    def _explain(self, node: exp.Expr, text: str) -> Outcome:
        for one in node.this.expressions if isinstance(node.this, ast.StatementSet) else [node.this]:
            self._plan(one)
        return results.Done()

    def _run_job(self, planned: tuple[Planned, ...], env: Any, text: str) -> Outcome:
        sinks, name, how = self._job(planned, env, text)
        if sinks:
            self.seen.append(self._jobs.preview(sinks, name, how, [one.folder for one in self.seen]))
        return results.Done()
