"""All that is wrong with a statement: after an error in a clause the rest is planned with a NULL in its place, so that one mistake hides no other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlstream.core.errors import SqlStreamError, length_of, offset_of
from sqlstream.plan.builder.usable import usable
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlstream.plan.planned import Planned
    from sqlstream.sql.tables import Table

# Of one statement; behind so many there is nothing to learn.
_MOST_ERRORS = 20


@dataclass
class Findings:
    """What planning a script without running it has shown: of the statement that is looked at, its plans and errors."""

    planned: list[Planned] = field(default_factory=list)
    errors: list[SqlStreamError] = field(default_factory=list)
    # Messages about the options of a table, which are not repeated wherever it is used.
    reported: set[str] = field(default_factory=set)
    # Tables and views whose declarations are wrong: that they are not there is no error more.
    undeclared: set[str] = field(default_factory=set)

    def attempt(self, tree: exp.Expr, text: str | None, plan: Callable[[exp.Expr], Any]) -> None:
        """Call ``plan`` of ``tree``; after an error again, with a NULL in the place of the clause.

        An error of the whole may come of that, and ends it. ``text`` is that of ``tree`` where it is a whole statement.
        """
        node, mended = tree, 0
        while len(self.errors) < _MOST_ERRORS:
            planned = len(self.planned)
            try:
                plan(node)
                return
            except SqlStreamError as error:
                del self.planned[planned:]
                missing = isinstance(error.at, exp.Table) and error.at.name in self.undeclared
                if error.message in self.reported or missing:
                    return
                if error.option is not None:
                    self.reported.add(error.message)
                    error.at = next((o for o in node.find_all(ast.OptionDef) if o.this.name == error.option), error.at)
                places = [offset_of(e.at) for e in self.errors]
                if mended and (error.offset is None or error.offset == offset_of(node) or _encloses(error, places)):
                    return
                self.errors.append(error)
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
            left_out = table.options.keys() - options.keys()
            # That those are missing is no mistake of the table's.
            if error.option in left_out or any(f"'{key}'" in error.message for key in left_out):
                break
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
