"""CREATE, ALTER, DROP, USE and their like: what they declare is carried out on the catalog."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlstream.catalog.apply import APPLIED, apply
from sqlstream.catalog.project import user_function
from sqlstream.session import results
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


def declare(node: exp.Expression, context: Context) -> Outcome:
    """A declaration alone."""
    user = context.user
    notices = apply(context.catalog, node, context.planner.context(script=not user.interactive, save=user.save))
    return results.Done(notices=tuple(notices))


def create_function(node: ast.CreateFunction | ast.AlterFunction, context: Context) -> Outcome:
    """CREATE FUNCTION and ALTER FUNCTION. Raises the error of a function that is not there."""
    context.planner.check_function(user_function(node, context.catalog), node)
    return declare(node, context)


def create_table(node: ast.CreateTable, context: Context) -> Outcome:
    """CREATE TABLE; that with AS is a job as well."""
    declared = declare(node, context)
    if node.query is None:
        return declared
    outcome = context.runs.submit(context, (node,))
    return replace(outcome, notices=(*declared.notices, *outcome.notices))


HANDLERS: Mapping[type[exp.Expr], Handler] = {
    **dict.fromkeys(APPLIED, declare),
    ast.AlterFunction: create_function,
    ast.CreateFunction: create_function,
    ast.CreateTable: create_table,
}
