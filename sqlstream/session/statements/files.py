"""Scripts in files: SOURCE, and the saved queries of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError
from sqlstream.session import queries
from sqlstream.session.statements.handler import placed
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


def source(node: ast.Source, context: Context) -> Iterator[Outcome]:
    """SOURCE: the statements of a file. Raises ValidationError where it can't be read."""
    with placed(node.this):
        path, text = context.user.files.read(node.this.name)
    yield from _run(path, text, node.this.name, node.this, context)


def execute_query(node: ast.ExecuteQuery, context: Context) -> Iterator[Outcome]:
    """EXECUTE QUERY: a saved query, with its parameters. Raises ValidationError."""
    query = queries.find(context.project, node.this.name, node.this)
    context.secrets.known.update(query.secrets(node.expressions))
    script = query.script(node.expressions, node)
    yield from _run(str(query.path.resolve()), script, f"queries/{query.path.name}", node.this, context)


def _run(path: str, text: str, name: str, at: exp.Expr, context: Context) -> Iterator[Outcome]:
    """The script of a file; none of the files that are running may run it again."""
    if path in (running := [p for p, _ in context.files]):
        circle = [shown for _, shown in context.files[running.index(path) :]]
        raise ValidationError(f"'{name}' runs itself: {' -> '.join([*circle, name])}.", at=at)
    context.files.append((path, name))
    try:
        yield from context.runs.script(context, text, name)
    finally:
        context.files.pop()


HANDLERS: Mapping[type[exp.Expr], Handler] = {ast.Source: source, ast.ExecuteQuery: execute_query}
