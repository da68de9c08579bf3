"""The last result once more: EXPORT as a file, PLOT as a chart."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from sqlstream.core.counts import counted
from sqlstream.core.errors import ValidationError
from sqlstream.session import export, plot, results
from sqlstream.session.statements.handler import placed
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


_AGAIN = "Run it again, or SELECT what does not fail."


def export_last(node: ast.Export, context: Context) -> Outcome:
    """EXPORT. Raises ValidationError."""
    last = _last(node, context)
    if last.failed:
        raise ValidationError("The last SELECT failed: it has not all of its rows.", at=node, hint=_AGAIN)
    files, name = context.user.files, node.this.name
    format_ = (node.format or PurePath(name).suffix[1:]).lower()
    if format_ not in export.FORMATS:
        hint = "Add FORMAT CSV, FORMAT JSON or FORMAT PARQUET."
        raise ValidationError(f"The name '{PurePath(name).name}' does not say which format to write.", at=node.this, hint=hint)
    with placed(node.this), files.new(name, overwrite=node.overwrite) as path:
        count = export.write(last, path, format_, context.planner.zone, lambda: context.engine.running)
    left = f"; {last.forgotten} earlier ones are no longer kept" if last.forgotten else ""
    return results.Done(notices=(f"{counted(count, 'row')} written to {files.shown(name)}{left}.",))


def plot_last(node: ast.Plot, context: Context) -> Outcome:
    """PLOT. Raises ValidationError."""
    last, by = _last(node, context), node.by
    if last.failed and not last.changes:
        raise ValidationError("The last SELECT failed before its first row: there is nothing to plot.", at=node, hint=_AGAIN)
    lines = plot.chart(last.columns, last.changes, node.this.name if node.this else None, by.name if by else None, context.user.width())
    return results.Text(lines="\n".join(lines))


def _last(at: exp.Expr, context: Context) -> export.LastResult:
    if context.last_result is None:
        raise ValidationError("There is no last result: no SELECT has run in this session.", at=at)
    return context.last_result


HANDLERS: Mapping[type[exp.Expr], Handler] = {ast.Export: export_last, ast.Plot: plot_last}
