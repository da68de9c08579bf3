"""What a script declares and never reads: tables, views, common table expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.lint.subject import Violation
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlstream.lint.subject import Subject

_USES = (exp.Query, ast.Insert, ast.StatementSet)


def check(subject: Subject) -> Iterator[Violation]:
    yield from _expressions(subject.tree)
    tree = subject.tree
    if not subject.local or not isinstance(tree, ast.CreateTable | ast.CreateView) or (tree.query is not None and _filled(tree)):
        return
    # A file of declarations alone is for others to use.
    if any(isinstance(later, _USES) for later in subject.later) and tree.this.name not in _named(subject.later):
        kind = "view" if isinstance(tree, ast.CreateView) else "table"
        yield Violation(tree.this, f"The {kind} '{tree.this.name}' is never used in this script", "remove it, or keep it in catalog/")


def _filled(tree: exp.Expr) -> bool:
    return isinstance(tree, ast.CreateTable)


def _expressions(tree: exp.Expr) -> Iterator[Violation]:
    for clause in tree.find_all(exp.With):
        read = _named([clause.parent] if clause.parent is not None else [])
        for cte in clause.expressions:
            if cte.alias not in read:
                yield Violation(cte.args["alias"], f"The query '{cte.alias}' of WITH is never read", "leave it out")


def _named(trees: Iterable[exp.Expr]) -> set[str]:
    return {table.name for tree in trees for table in tree.find_all(exp.Table)}
