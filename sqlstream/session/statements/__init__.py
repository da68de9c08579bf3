"""What each statement does: a module by subject, whose table says which function is whose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlstream.core.errors import NotSupported
from sqlstream.session import results
from sqlstream.session.statements import declarations, files, jars, jobs, last_result, queries, savepoints, screen, show, topics
from sqlstream.session.statements import settings as settings_
from sqlstream.session.statements.questions import agreed
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context, RunningStatement
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler

_SUBJECTS = (queries, jobs, savepoints, declarations, show, settings_, files, jars, topics, last_result, screen)
HANDLERS: Mapping[type[exp.Expr], Handler] = {node: handler for subject in _SUBJECTS for node, handler in subject.HANDLERS.items()}


def carried_out(node: exp.Expr, context: Context, statement: RunningStatement) -> Iterator[Outcome]:
    """What the statement of ``node`` answers, which is ``statement`` in its script. Raises SqlStreamError."""
    if not context.runs.carries_out(node):
        return
    context.statement = statement
    if context.statement_set is not None and not isinstance(node, ast.EndStatementSet | ast.Quit):
        yield queries.add_to_set(node, context, context.statement_set)
    elif not agreed(node, context):
        yield results.Declined(notices=("Nothing was done.",))
    else:
        outcome = _handler(node)(node, context)
        yield from (outcome if isinstance(outcome, Iterator) else (outcome,))


def _handler(node: exp.Expr) -> Handler:
    for kind in type(node).__mro__:
        if kind in HANDLERS:
            return HANDLERS[kind]
    raise NotSupported("This statement is not supported.", at=node, hint="HELP lists those that are.")
