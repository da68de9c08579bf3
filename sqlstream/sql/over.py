"""The windows of OVER in the syntax tree: named ones, and the frame of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import ValidationError
from sqlstream.sql.expressions import Frame
from sqlstream.sql.literals import interval_millis, number
from sqlstream.sql.syntax.clauses import order_of, window_name, windows_of

if TYPE_CHECKING:
    from sqlstream.sql.expressions import AggregateCall

_PARTS = ("partition_by", "order", "spec")


def with_named_windows(select: exp.Select) -> exp.Select:
    """``select`` with the windows of its WINDOW clause written behind OVER. Raises ValidationError."""
    declared = windows_of(select)
    named = {w.this.name: w for w in declared}
    if twice := next((w for w in declared if named[w.this.name] is not w), None):
        raise ValidationError("Duplicate window names not allowed", at=twice.this)
    if not any(window_name(w) for e in select.expressions for w in e.find_all(exp.Window)):
        return select
    written = select.copy()
    for item in written.expressions:
        for window in item.find_all(exp.Window):
            _complete(window, named)
    return written


def _complete(window: exp.Window, named: dict[str, exp.Window]) -> None:
    """Takes into ``window`` what it has of the one that it names."""
    seen: set[str] = set()
    while (alias := window_name(window)) is not None:
        base = named.get(alias.name)
        if base is None or alias.name in seen:
            raise ValidationError(f"Window '{alias.name}' not found", at=alias)
        seen.add(alias.name)
        for part in _PARTS:
            if base.args.get(part) and window.args.get(part):
                what = {"partition_by": "PARTITION BY", "order": "ORDER BY", "spec": "ROWS and RANGE"}[part]
                raise ValidationError(f"{what} not allowed in both base and referenced windows", at=window)
            if base.args.get(part):
                window.set(part, base.copy().args[part])
        window.set("alias", window_name(base))


def frame(window: exp.Window, call: AggregateCall) -> Frame:
    """The frame of ``call`` over ``window``; without one written, up to the current row, of an order, or else all rows. Raises ValidationError."""
    spec = window.args.get("spec")
    if spec is None:
        # Among rows of one place each has a number of its own.
        last = 0 if order_of(window) else None
        return Frame(call.function.name == "ROW_NUMBER", None, last)
    if call.function.over_only:
        raise ValidationError("ROW/RANGE not allowed with RANK, DENSE_RANK or ROW_NUMBER functions", at=spec)
    rows = spec.args["kind"] == "ROWS"
    return Frame(rows, _bound(spec, "start", rows), _bound(spec, "end", rows) if spec.args.get("end") else 0)


def _bound(spec: exp.WindowSpec, which: str, rows: bool) -> int | None:
    value = spec.args[which]
    if value == "CURRENT ROW":
        return 0
    if value == "UNBOUNDED":
        return None
    if rows:
        if not isinstance(value, exp.Literal) or value.is_string or not value.name.isdigit():
            raise ValidationError("The bound of a ROWS window is a number.", at=value)
        distance = int(number(value.name, value).value)
    else:
        millis = interval_millis(value)
        if millis is None:
            if isinstance(value, exp.Literal):
                raise ValidationError("Data Type mismatch between ORDER BY and RANGE clause", at=value, hint="RANGE takes an INTERVAL.")
            raise ValidationError("INTERVAL_YEAR_MONTH type is not allowed for window boundary", at=value)
        distance = millis
    return -distance if spec.args[f"{which}_side"] == "PRECEDING" else distance
