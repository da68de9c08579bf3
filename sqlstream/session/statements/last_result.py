"""The last result once more: EXPORT as a file, PLOT as a chart."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError
from sqlstream.session import export, plot, results
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler


def export_last(node: ast.Export, context: Context) -> Outcome:
    """EXPORT. Raises ValidationError."""
    last = _last(node, context)
    path = context.project / Path(node.this.name).expanduser()
    format_ = (node.format or path.suffix[1:]).lower()
    if format_ not in export.FORMATS:
        raise ValidationError(
            f"The name '{path.name}' does not say which format to write.", at=node.this, hint="Add FORMAT CSV, FORMAT JSON or FORMAT PARQUET."
        )
    export.check_free(path, node.this, overwrite=node.overwrite)
    count = export.write(last, path, format_, context.planner.zone, lambda: context.engine.running)
    left = f"; {last.forgotten} earlier ones are no longer kept" if last.forgotten else ""
    return results.Done(notices=(f"{count} {'row' if count == 1 else 'rows'} written to {path}{left}.",))


def plot_last(node: ast.Plot, context: Context) -> Outcome:
    """PLOT. Raises ValidationError."""
    last, by = _last(node, context), node.by
    width = shutil.get_terminal_size().columns
    lines = plot.chart(last.columns, last.changes, node.this.name if node.this else None, by.name if by else None, width)
    return results.Text(lines="\n".join(lines))


def _last(at: exp.Expr, context: Context) -> export.LastResult:
    if context.last_result is None:
        raise ValidationError("There is no last result: no SELECT has run in this session.", at=at)
    return context.last_result


HANDLERS: Mapping[type[exp.Expr], Handler] = {ast.Export: export_last, ast.Plot: plot_last}
