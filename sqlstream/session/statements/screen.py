"""HELP, CLEAR and QUIT, and what is accepted or refused as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import NotSupported
from sqlstream.core.job_names import short_name
from sqlstream.session import results
from sqlstream.session.statements import jobs, questions
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot import exp

    from sqlstream.runtime.jobs.job import Job
    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


def help_(node: ast.Help, context: Context) -> Outcome:
    """HELP."""
    from sqlstream.session.help import text

    return results.Text(lines=text(node.this or "", context.planner.functions().rows(), at=node), is_prose=True)


def clear(_node: ast.Clear, _context: Context) -> Outcome:
    """CLEAR."""
    return results.Cleared()


def leave(_node: ast.Quit, context: Context) -> Outcome:
    """QUIT; jobs that run go on at the server, are handed over to the background, or stop with the shell, as the user says. Raises what handing them
    over met.
    """
    running = [j for j in context.jobs if j.lives]
    if not context.owns_jobs:
        go_on = "1 job goes on" if len(running) == 1 else f"{len(running)} jobs go on"
        return results.Exit(notices=(f"{go_on} at the server: {', '.join(short_name(j.name) for j in running)}.",) if running else ())
    if running and context.user.ask is not None and not _left(running, context):
        return results.Declined(notices=("Nothing was done.",))
    return results.Exit()


def _left(running: Sequence[Job], context: Context) -> bool:
    """Whether the user wants to leave jobs that run; those that go on in the background do so now."""
    user = context.user
    able = [j for j in running if jobs.hindrance(j, context) is None]
    if able and user.agrees(questions.handing_over([short_name(j.name) for j in able])):
        for job in able:
            # Another one may have taken its time.
            if job.lives:
                name, log, stops = jobs.hand_over(job, context)
                user.notify(f"Job '{short_name(name)}' goes on in the background; its log is {log}, and {stops} stops it.")
    staying = [short_name(j.name) for j in running if j.lives]
    return not staying or (not user.interrupted() and user.agrees(questions.leaving(staying)))


def refuse(node: ast.Unsupported, _context: Context) -> Outcome:
    """What Flink has and sqlstream has not. Raises NotSupported."""
    raise NotSupported(f"{node.args['kind']} is not supported: {node.args['this']}", at=node, hint=node.hint)


HANDLERS: Mapping[type[exp.Expr], Handler] = {
    ast.Help: help_,
    ast.Clear: clear,
    ast.Quit: leave,
    ast.Unsupported: refuse,
}
