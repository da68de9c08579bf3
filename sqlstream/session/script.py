"""The whole way of a script: text in, outcomes out, one statement after the other."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sqlstream.core.characters import HALF, REPLACEMENT
from sqlstream.core.defects import defect
from sqlstream.core.depth import steps
from sqlstream.core.errors import NotSupported, SqlStreamError, SyntaxProblem
from sqlstream.core.patience import patiently
from sqlstream.runtime.jobs.script import script_of
from sqlstream.session.context import RunningStatement
from sqlstream.session.masked_text import refuse_masked
from sqlstream.session.statements import carried_out
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split, substitute
from sqlstream.sql.statements.table import sets_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.runtime.jobs.job import Locate
    from sqlstream.session.context import Context, User
    from sqlstream.session.results import Outcome
    from sqlstream.sql.statements.split import StatementText


def run_script(context: Context, script: str, name: str | None = None) -> Iterator[Outcome]:
    """Execute the statements of ``script``, lazily; errors carry their place in it, ``name`` is its file."""
    masked = context.secrets.masked
    _check_characters(script, name)
    script = _substituted(context, script, name)
    if not context.files:
        context.script = script_of(script) or name
        context.jobs.begin_script()
    for statement in split(script):
        located = partial(_located, context=context, script=script, name=name, statement=statement)
        try:
            for outcome in steps(_executed(context, statement, located)):
                yield replace(outcome, statement=outcome.statement or masked(statement.text))
        except SqlStreamError as error:
            raise located(error) from error.__cause__
        except Exception as error:
            died = context.engine.death(error)
            if died is None and (context.user.interrupted() or isinstance(error, BrokenPipeError)):
                raise
            raise located(died or defect(error, context.project)) from error


def run_init(context: Context, script: str, name: str | None = None) -> Iterator[Outcome]:
    """``run_script`` of an init file. Raises NotSupported, before anything is executed, for what does not only declare or set."""
    text = _substituted(context, script, name)
    for statement in split(text):
        try:
            if not sets_up(parse(statement)):
                raise NotSupported(
                    "An init file may hold only declarations and settings.", at=0, hint="Put the statement into the script that -f runs."
                )
        except SqlStreamError as error:
            raise _located(error, context=context, script=text, name=name, statement=statement) from error.__cause__
    yield from run_script(context, script, name)


def _check_characters(script: str, name: str | None) -> None:
    """Raises SyntaxProblem where a text holds what is no character, as a JSON that escapes half of one, or arguments that are not UTF-8."""
    if (half := HALF.search(script)) is not None:
        problem = SyntaxProblem("The text holds half of a surrogate pair, which is no character.", at=half.start())
        # No screen, and no answer of a server, could show it.
        raise problem.located(HALF.sub(REPLACEMENT, script), name, 0)


def _substituted(context: Context, script: str, name: str | None) -> str:
    """``script`` with the values of its variables."""
    try:
        return substitute(script, context.variables, strict=bool(context.variables))
    except SqlStreamError as error:
        raise error.located(context.secrets.masked(script), name, 0) from error.__cause__


def _executed(context: Context, statement: StatementText, locate: Locate) -> Iterator[Outcome]:
    node = parse(statement)
    refuse_masked(node, statement.text)
    context.user.interrupt.clear()
    if context.user.leaving:
        context.user.interrupt.set()
    context.reload_functions()
    yield from _patient(carried_out(node, context, RunningStatement(statement.text, locate)), context.user)
    context.journal.note(node, statement.text, context)


def _patient(outcomes: Iterator[Outcome], user: User) -> Iterator[Outcome]:
    """``outcomes``, for which answers from outside are waited for as ``user`` says."""
    while True:
        with patiently(user.interrupted, user.notify):
            outcome = next(outcomes, None)
        if outcome is None:
            return
        yield outcome


def _located(error: SqlStreamError, *, context: Context, script: str, name: str | None, statement: StatementText) -> SqlStreamError:
    """An error of ``statement``, with its place."""
    error.message = context.secrets.masked_message(error.message, statement.text)
    return error.located(context.secrets.masked(script), name, statement.start)
