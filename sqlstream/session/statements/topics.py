"""Topics without tables: PEEK and INFER."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.catalog.apply import apply
from sqlstream.session import raw_topics, results
from sqlstream.sql.masking import masked_text
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


def peek(node: ast.Peek, context: Context) -> Outcome:
    """PEEK: the last records of a topic. Raises SqlStreamError."""
    return raw_topics.peeked(node, context.catalog, context.options, context.project)


def infer(node: ast.Infer, context: Context) -> Iterator[Outcome]:
    """INFER: the CREATE TABLE of a topic, and what that answers where it is saved. Raises SqlStreamError."""
    text = raw_topics.proposed(node, context.catalog, context.options, context.project)
    yield results.Text(lines=masked_text(text) + ";")
    user = context.user
    if node.save or (user.ask is not None and user.agrees("Save it to the project's catalog?")):
        notices = apply(context.catalog, parse(text), context.planner.context(script=False, save=True))
        yield results.Done(notices=tuple(notices))
    elif user.ask is not None:
        yield results.Declined(notices=("Nothing was saved.",))


HANDLERS: Mapping[type[exp.Expr], Handler] = {ast.Peek: peek, ast.Infer: infer}
