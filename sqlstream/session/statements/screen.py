"""HELP, CLEAR and QUIT, and what is accepted or refused as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import NotSupported
from sqlstream.runtime.monitor.figures import short_name
from sqlstream.session import results
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


def help_(node: ast.Help, context: Context) -> Outcome:
    """HELP."""
    from sqlstream.session.help import text

    return results.Text(lines=text(node.this or "", context.planner.functions().rows(), at=node))


def clear(_node: ast.Clear, _context: Context) -> Outcome:
    """CLEAR."""
    return results.Cleared()


def leave(_node: ast.Quit, context: Context) -> Outcome:
    """QUIT."""
    left = [] if context.owns_jobs else [short_name(job.name) for job in context.jobs if job.lives]
    go_on = "1 job goes on" if len(left) == 1 else f"{len(left)} jobs go on"
    return results.Exit(notices=(f"{go_on} at the server: {', '.join(left)}.",) if left else ())


def accept(node: ast.AcceptedWithoutEffect, _context: Context) -> Outcome:
    """What Flink has and sqlstream does not need."""
    return results.Done(notices=(f"{node.args['kind']} has no effect: {node.args['this']}",))


def refuse(node: ast.Unsupported, _context: Context) -> Outcome:
    """What Flink has and sqlstream has not. Raises NotSupported."""
    raise NotSupported(f"{node.args['kind']} is not supported: {node.args['this']}", at=node, hint=node.hint)


HANDLERS: Mapping[type[exp.Expr], Handler] = {
    ast.Help: help_,
    ast.Clear: clear,
    ast.Quit: leave,
    ast.AcceptedWithoutEffect: accept,
    ast.Unsupported: refuse,
}
