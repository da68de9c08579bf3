"""SET and RESET: a session's options as rows, or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.core import settings
from sqlstream.core.errors import ValidationError
from sqlstream.core.secrets import masked_option
from sqlstream.plan.planner import check_option
from sqlstream.session import results
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from sqlstream.session.context import Context
    from sqlstream.session.results import Outcome
    from sqlstream.session.statements.handler import Handler

# What Spark is started with and a statement would miss, and the flags for it.
_STARTED_WITH = {"python.archives": "-pyarch", "python.executable": "-pyexec", "spark.version": "-D"}
# What a value means that one sets by a command of two letters.
_SAID = {
    (settings.EXPANDED, "on"): "Each row is shown by itself, a column on each line; \\x auto is as before.",
    (settings.EXPANDED, "off"): "Rows are shown as a table, however wide.",
    (settings.EXPANDED, "auto"): "Rows are shown as a table where it has room.",
}


def answer(node: ast.Set | ast.Reset, context: Context) -> Outcome:
    """SET and RESET, which goes back to the options that the session began with. Raises ValidationError, NotSupported."""
    options, initial = context.options, context.initial
    key, value = node.args.get("this"), node.args.get("expression")
    notices: list[str | None] = []
    if isinstance(node, ast.Reset):
        values = {k: initial.get(k) for k in ([key] if key is not None else [*options, *initial])}
        if key is not None and key not in options and (other := settings.misspelt(key)):
            notices.append(f"There is no option '{key}'; did you mean '{other}'?")
    elif key is None or value is None:
        return results.text_rows(("key", "value"), sorted((k, masked_option(k, v)) for k, v in options.items()))
    else:
        values = {key: value}
        notices += [check_option(key, value, node), _SAID.get((key, value.lower()))]
    if context.engine.started:
        notices += [_after_start(k, node) for k, v in values.items() if v != options.get(k)]
    for k, v in values.items():
        if v is None:
            options.pop(k, None)
        else:
            options[k] = v
    return results.Done(notices=tuple(filter(None, notices)))


def _after_start(key: str, node: ast.Set | ast.Reset) -> str | None:
    """The notice about a new value that Spark no longer reads, since it has started. Raises ValidationError where a statement would miss it."""
    if key in _STARTED_WITH:
        hint = f"Set it before the first query, or with {_STARTED_WITH[key]}, or in sqlstream.toml."
        raise ValidationError(f"'{key}' can no longer be set: Spark has started.", at=node, hint=hint)
    spark = key.startswith("spark.") or key == "pipeline.jars"
    return f"A new value of '{key}' has no effect: Spark has started. Set it with -D, or in sqlstream.toml." if spark else None


HANDLERS: Mapping[type[exp.Expr], Handler] = {ast.Set: answer, ast.Reset: answer}
