"""Group windows, the older syntax: ``GROUP BY TUMBLE(time, size)`` with ``TUMBLE_START(time, size)`` in the select list.

In: a SELECT and the node it reads. Out: both rewritten to the window table-valued function of the same name and its columns.
"""

from __future__ import annotations

from sqlglot import exp

from sqlstream.core.errors import NotSupported, ValidationError
from sqlstream.plan.builder.windows import over_windows
from sqlstream.plan.naming import free_names
from sqlstream.plan.nodes import WINDOW_COLUMNS, WINDOW_END, WINDOW_START, WINDOW_TIME, Node, Window
from sqlstream.plan.time_attributes import time_attribute, why_none
from sqlstream.sql.bind import Scope, bind
from sqlstream.sql.expressions import ColumnRef
from sqlstream.sql.functions.windows import WINDOW_FUNCTIONS
from sqlstream.sql.generated_names import generated
from sqlstream.sql.literals import interval_millis
from sqlstream.sql.syntax.calls import calls, is_called
from sqlstream.sql.syntax.clauses import group_of, having_of

_WINDOWS = {function.name: function for function in WINDOW_FUNCTIONS if function.in_group_by}
_COLUMNS = {"START": WINDOW_START, "END": WINDOW_END, "ROWTIME": WINDOW_TIME, "PROCTIME": WINDOW_TIME}
_AUXILIARY = {f"{window}_{part}": window for window in _WINDOWS for part in _COLUMNS}


def group_window(select: exp.Select, node: Node, scope: Scope, zone: str) -> tuple[exp.Select, Node, tuple[str, ...]]:
    """``select`` over ``node`` without its group window, if it has one, and the names of the columns that this adds to ``node``: no column of
    ``scope`` has them. Raises ValidationError, NotSupported.
    """
    group = group_of(select)
    windows = [e for e in (group.expressions if group else ()) if is_called(e, *_WINDOWS)]
    if (other := next((w for w in windows if w != windows[0]), None)) is not None:
        raise NotSupported(
            "GROUP BY can have only one group window.", at=other, hint="Compute the other in a query of its own, and join the two by their keys."
        )
    call = windows[0] if windows else None
    names: tuple[str, ...] = ()
    if call is not None:
        window = _window(call, node, scope)
        names = tuple(free_names([generated(c) for c in WINDOW_COLUMNS], (c.name for c in scope.columns)))
        node = over_windows(node, window, zone)
    if call is None and not any(is_called(a, *_AUXILIARY) for a in calls(select)):
        return select, node, names
    called = dict(zip(WINDOW_COLUMNS, names, strict=False))
    select = select.copy()
    places = [*select.expressions, *filter(None, [having_of(select), group_of(select)])]
    for auxiliary in [a for place in places for a in calls(place) if is_called(a, *_AUXILIARY)]:
        name = auxiliary.name.upper()
        if call is None or _AUXILIARY[name] != call.name.upper() or auxiliary.expressions != call.expressions:
            function = _AUXILIARY[name]
            raise ValidationError(
                f"Call to auxiliary group function '{name}' must have matching call to group function '${function}' in GROUP BY clause",
                at=auxiliary,
                hint=f"GROUP BY {function}(..) with the same arguments.",
            )
        column = _column(called[_COLUMNS[name.rpartition("_")[2]]], auxiliary)
        if auxiliary in select.expressions:
            column = exp.alias_(column, f"EXPR${select.expressions.index(auxiliary)}", quoted=True)
        auxiliary.replace(column)
    rewritten = group_of(select)
    if call is not None and rewritten is not None:
        keys = [e for e in rewritten.expressions if e != call]
        rewritten.set("expressions", [*keys, *(_column(c, call) for c in names)])
    return select, node, names


def _column(name: str, at: exp.Expr) -> exp.Expr:
    column = exp.column(exp.to_identifier(name, quoted=True))
    column.meta.update(at.meta)
    return column


def _window(call: exp.Expr, node: Node, scope: Scope) -> Window:
    function = _WINDOWS[call.name.upper()]
    time, *lengths = call.expressions or [None]
    if len(lengths) != len(function.lengths):
        raise ValidationError(f"{function.name} takes a time attribute and {' and '.join(function.lengths).lower()}.", at=call)
    column = bind(time, scope)
    if not isinstance(column, ColumnRef) or time_attribute(node, column.name) is None:
        raise ValidationError(
            f"Window aggregate can only be defined over a time attribute column, but {column.type} encountered.",
            at=call,
            hint=why_none(node, column.name) if isinstance(column, ColumnRef) else "A function or cast of a time attribute is not one.",
        )
    size, slide = _millis(lengths[-1]), _millis(lengths[0])
    return Window(function, column.name, size, slide, keys=None if function.merges else ())


def _millis(node: exp.Expr) -> int:
    millis = interval_millis(node)
    if millis is None or millis <= 0:
        raise ValidationError("The length of a window is a positive INTERVAL of days to seconds.", at=node, hint="Write INTERVAL '1' MINUTE.")
    return millis
