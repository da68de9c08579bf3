"""A join of rows of the same window is a window join: it emits rows when the window closes.

Join(condition: a.window_start = b.window_start AND a.window_end = b.window_end AND ..)      WindowJoin(window, keys, condition: ..)
+- a over windows                                                                        ->  +- a with window_time
+- b over windows                                                                            +- b with window_time
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.plan import make
from sqlstream.plan.naming import without_names
from sqlstream.plan.nodes import WINDOW_END, WINDOW_START, Join, Named, Node, Project, WindowJoin
from sqlstream.plan.properties import field, fields, windowing
from sqlstream.plan.rules.window_time import with_window_time
from sqlstream.sql.expressions import Call, ColumnRef, Expr


def window_join(node: Node) -> Node:
    """The window join that ``node`` is, or ``node`` itself."""
    if type(node) is not Join:
        return node
    left, right = windowing(node.left), windowing(node.right)
    if left is None or right is None or _shape(left.window) != _shape(right.window):
        return node
    names = [{f.name for f in fields(side)} for side in node.inputs]
    keys, rest = [], []
    bounds: dict[str, tuple[str, str]] = {}
    for condition in make.conjuncts(node.condition):
        pair = _equal_columns(condition, *names)
        roles = {left.columns.get(pair[0]), right.columns.get(pair[1])} if pair else set()
        if pair and len(roles) == 1 and (role := roles.pop()) is not None:
            bounds.setdefault(role, pair)
        elif pair:
            keys.append(pair)
        else:
            rest.append(condition)
    if not {WINDOW_START, WINDOW_END} <= bounds.keys():
        return node
    source, time = with_window_time(node.left)
    target, other_time = with_window_time(node.right)
    # Only the columns with the window's time, which may be new, can have the same name on both sides.
    place = [f.name for f in fields(target)].index(other_time)
    target = without_names(target, [f.name for f in fields(source)])
    other_time = fields(target)[place].name
    edges = (bounds[WINDOW_START], bounds[WINDOW_END])
    joined = WindowJoin(source, target, node.kind, make.all_of(rest), left.window, tuple(keys), (time, other_time), edges)
    names_above = [f.name for f in fields(node)]
    if [f.name for f in fields(joined)] == names_above:
        return joined
    return Project(joined, tuple(Named(name, make.ref(field(joined, name))) for name in names_above))


def _equal_columns(condition: Expr, left: set[str], right: set[str]) -> tuple[str, str] | None:
    """The columns of the left and of the right that ``condition`` compares for equality."""
    if not (isinstance(condition, Call) and condition.function.name == "="):
        return None
    a, b = condition.args
    if not (isinstance(a, ColumnRef) and isinstance(b, ColumnRef)) or not a.type.same(b.type):
        return None
    if a.name in left and b.name in right:
        return a.name, b.name
    return (b.name, a.name) if b.name in left and a.name in right else None


def _shape(window: object) -> object:
    """What joined windows must have in common: all but the names of columns."""
    return replace(window, time="", keys=())  # type: ignore[type-var]
