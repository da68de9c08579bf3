"""Joins: FROM a JOIN b ON .., FROM a, b WHERE .., and IN and EXISTS in WHERE. A join of rows of the same window is a window join.

Join(condition: a.window_start = b.window_start AND a.window_end = b.window_end AND ..)      WindowJoin(window, keys, condition: ..)
+- a over windows                                                                        ->  +- a with window_time
+- b over windows                                                                            +- b with window_time
"""

from __future__ import annotations

from dataclasses import replace

from sqlstream.plan import make
from sqlstream.plan.build.interval_join import interval_join
from sqlstream.plan.build.lookup import conditioned
from sqlstream.plan.build.naming import apart
from sqlstream.plan.build.over import ranked
from sqlstream.plan.build.windowing import with_time
from sqlstream.plan.nodes import (
    NO_HINTS,
    WINDOW_END,
    WINDOW_START,
    Filter,
    Join,
    JoinHints,
    JoinKind,
    LookupJoin,
    Named,
    Node,
    Project,
    TemporalJoin,
    WindowJoin,
)
from sqlstream.plan.properties import field, fields, windowing
from sqlstream.sql.expressions import Call, ColumnRef, Expr


def joined(left: Node, right: Node, kind: JoinKind, condition: Expr | None, hints: JoinHints = NO_HINTS) -> Node:
    """The join of two nodes, whose columns' names differ."""
    if kind is JoinKind.INNER:
        left, right, rest = _pushed(left, right, make.conjuncts(condition))
        condition = make.all_of(rest)
    return interval_join(window_join(Join(left, right, kind, condition, hints=hints)))


def filtered(node: Node, condition: Expr | None) -> Node:
    """The rows of ``node`` for which ``condition``, if there is one, holds. Above an inner join it moves into it: FROM a, b WHERE .. is one."""
    if condition is None:
        return node
    if isinstance(node, TemporalJoin):
        return _above_temporal(node, make.conjuncts(condition))
    if isinstance(node, Join) and node.kind is JoinKind.INNER and not isinstance(node, WindowJoin):
        whole = make.all_of([*make.conjuncts(node.condition), *make.conjuncts(condition)])
        return joined(node.left, node.right, node.kind, whole, node.hints)
    if isinstance(node, LookupJoin) and node.kind is JoinKind.INNER:
        return lookup_joined(node, condition)
    return ranked(Filter(node, condition))


def _above_temporal(node: TemporalJoin, conditions: list[Expr]) -> Node:
    """The rows of ``node`` for which ``conditions`` hold: on the left before it is joined; on versions only after one was found."""
    names = {f.name for f in fields(node.left)}
    lefts = [c for c in conditions if make.columns(c) <= names]
    rest = make.all_of([c for c in conditions if c not in lefts])
    joined = replace(node, left=filtered(node.left, make.all_of(lefts)))
    return joined if rest is None else Filter(joined, rest)


def lookup_joined(node: LookupJoin, condition: Expr | None) -> Node:
    """The rows of ``node`` for which ``condition``, of its ON or above it, holds."""
    made, of_input = conditioned(node, make.conjuncts(condition))
    return replace(made, input=filtered(made.input, make.all_of(of_input)))


def _pushed(left: Node, right: Node, conditions: list[Expr]) -> tuple[Node, Node, list[Expr]]:
    """Both inputs with the conditions that read one of them only, and the others."""
    names = ({f.name for f in fields(left)}, {f.name for f in fields(right)})
    lefts: list[Expr] = []
    rights: list[Expr] = []
    rest: list[Expr] = []
    for condition in conditions:
        read = make.columns(condition)
        if read and read <= names[0]:
            lefts.append(condition)
        elif read and read <= names[1]:
            rights.append(condition)
        else:
            rest.append(condition)
    return filtered(left, make.all_of(lefts)), filtered(right, make.all_of(rights)), rest


def equal_columns(condition: Expr, left: set[str], right: set[str]) -> tuple[str, str] | None:
    """The columns, of the left and of the right input, that ``condition`` says are equal."""
    if not (isinstance(condition, Call) and condition.function.name == "="):
        return None
    a, b = condition.args
    if not (isinstance(a, ColumnRef) and isinstance(b, ColumnRef)) or not a.type.same(b.type):
        return None
    if a.name in left and b.name in right:
        return a.name, b.name
    return (b.name, a.name) if b.name in left and a.name in right else None


def window_join(join: Join) -> Node:
    """The window join that ``join`` is, or ``join`` itself."""
    one, other = windowing(join.left), windowing(join.right)
    if one is None or other is None or _shape(one.window) != _shape(other.window):
        return join
    left, right = ({f.name for f in fields(side)} for side in join.inputs)
    keys, rest = [], []
    bounds: dict[str, tuple[str, str]] = {}
    for condition in make.conjuncts(join.condition):
        pair = equal_columns(condition, left, right)
        roles = {one.columns.get(pair[0]), other.columns.get(pair[1])} if pair else set()
        if pair and len(roles) == 1 and (role := roles.pop()) is not None:
            bounds.setdefault(role, pair)
        elif pair:
            keys.append(pair)
        else:
            rest.append(condition)
    if not {WINDOW_START, WINDOW_END} <= bounds.keys():
        return join
    source, time = with_time(join.left)
    target, other_time = with_time(join.right)
    # Of the columns only those of the time, which may be new, can have one name.
    place = [f.name for f in fields(target)].index(other_time)
    target = apart(target, [f.name for f in fields(source)])
    other_time = fields(target)[place].name
    edges = (bounds[WINDOW_START], bounds[WINDOW_END])
    made = WindowJoin(source, target, join.kind, make.all_of(rest), one.window, tuple(keys), (time, other_time), edges)
    wanted = [f.name for f in fields(join)]
    if [f.name for f in fields(made)] == wanted:
        return made
    return Project(made, tuple(Named(name, make.ref(field(made, name))) for name in wanted))


def _shape(window: object) -> object:
    """What must be the same of windows that are joined: all but the columns."""
    return replace(window, time="", keys=())  # type: ignore[type-var]
