"""From syntax to typed expressions: names found in the scope, functions in the table, implicit casts made explicit.

Whatever is not known here is refused at its place: nothing reaches Spark untyped.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import reduce
from itertools import chain, repeat
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError, did_you_mean
from sqlstream.sql import coercion, over
from sqlstream.sql import types as t
from sqlstream.sql.casts import castable
from sqlstream.sql.expressions import AggregateCall, Call, Cast, ColumnRef, Expr, FieldAccess, Keyword, Literal, OverCall, constant
from sqlstream.sql.functions import CALLABLE, OPERATORS, Function, elsewhere, find
from sqlstream.sql.functions.absent import absent
from sqlstream.sql.functions.aggregates import GROUPINGS, OVER_ONLY
from sqlstream.sql.functions.base import COLLECTIONS, CONVERTED, TARGETS, accepts
from sqlstream.sql.keys import require_key
from sqlstream.sql.literals import literal, number
from sqlstream.sql.syntax import ast, json_clauses
from sqlstream.sql.syntax.calls import call_args, call_name, is_call, is_called
from sqlstream.sql.syntax.clauses import branches, default_of, is_negated, is_symmetric, order_of, partition_of, value_of
from sqlstream.sql.syntax.data_types import flink_type
from sqlstream.sql.text import family_name, sql_name, to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlstream.sql.types import Type

common_type = coercion.common_type
implicitly_castable = coercion.implicitly_castable

_BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.DPipe: "||", exp.And: "AND", exp.Or: "OR",
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.NullSafeEQ: "IS NOT DISTINCT FROM",
}  # fmt: skip

# So many columns a hint names.
_MOST_NAMED = 10
# What to write instead.
IN_SUB_QUERY = "Compute the inner one in a sub-query, and use its column here."
ONE_TYPE = "CAST(x AS type) gives all of them one type."

# The parts of each syntax node that the binder reads; what else is set is refused.
_OPERANDS = ("this", "expression")
_ARGS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Column: ("this", "table", "db", "catalog"), exp.Between: ("this", "low", "high", "symmetric"), exp.In: ("this", "expressions"),
    exp.Like: ("this", "expression", "negate"), exp.Case: ("this", "ifs", "default"), exp.Cast: ("this", "to"),
    exp.TryCast: ("this", "to", "safe"),
    ast.TimeDifference: (*_OPERANDS, "unit", "to"),
    exp.DPipe: ("this", "expression", "safe"), exp.Bracket: ("this", "expressions"), exp.Tuple: ("expressions",), exp.Filter: _OPERANDS,
    exp.Div: (*_OPERANDS, "typed"), exp.Window: ("this", "partition_by", "order", "spec", "over"),
}  # fmt: skip
# Operators whose names look like those of functions.
_NOT_CALLED = {f.name for f in OPERATORS if f.name.isidentifier()} - {*CALLABLE}
# What the planner has replaced where it can be.
_SUB_QUERIES: dict[type[exp.Expr], str] = {
    exp.Subquery: "A scalar sub-query", exp.Select: "A scalar sub-query", exp.Exists: "EXISTS", exp.In: "IN (sub-query)",
}  # fmt: skip
# What is refused in an expression, and what to write instead.
_REFUSED: dict[type[exp.Expr], tuple[str, str]] = {
    exp.All: ("Comparison with ALL (sub-query) is not supported.", "Where the sub-query has rows, > ALL is > its MAX, and < ALL is < its MIN."),
    exp.Any: ("Comparison with ANY or SOME (sub-query) is not supported.", "= ANY is IN; > ANY is > the MIN of the sub-query, < ANY is < its MAX."),
    exp.WithinGroup: ("WITHIN GROUP is not supported.", "LISTAGG has the order in which rows come; PERCENTILE takes the value as its argument."),
    exp.Star: ("* stands for columns in a select list and in COUNT(*) only.", "Name the columns."),
    exp.RegexpLike: ("Flink SQL has no RLIKE.", "Write REGEXP(text, 'pattern'), or text SIMILAR TO 'pattern'."),
    exp.ILike: ("Flink SQL has no ILIKE.", "Write LOWER(text) LIKE 'pattern', the pattern in lower case."),
    exp.Alias: ("A name is given in the select list only.", "Leave AS out here, or name it in a sub-query."),
}


@dataclass(frozen=True)
class ScopeColumn:
    """A column that expressions can name: with its table's name or alias in front, or, but where ``qualified``, without."""

    qualifier: str | None
    name: str
    ref: ColumnRef
    qualified: bool = False


@dataclass(frozen=True)
class Scope:
    """What names mean in an expression. ``functions`` are the user's, by upper-case name, or as a path is written; ``database`` is the current
    one; ``outer`` is the scope around a sub-query; ``grouped``: aggregates are over groups, which have rows.
    """

    columns: tuple[ScopeColumn, ...]
    zone: str = "UTC"
    functions: Mapping[str, Function] = field(default_factory=dict)
    database: str = ""
    outer: Scope | None = None
    grouped: bool = False


def bind(node: exp.Expr, scope: Scope) -> Expr:
    """The typed expression that ``node`` is in ``scope``. Raises ValidationError, NotSupported."""
    written = literal(node)
    if written is not None:
        return written
    if is_call(node):
        if call_name(node).upper() in OVER_ONLY:
            hint = f"Write {call_name(node).upper()}(..) OVER (PARTITION BY key ORDER BY time)."
            raise ValidationError("OVER clause is necessary for window functions", at=node, hint=hint)
        return _function(node, scope)
    _refuse_unknown(node)
    match node:
        case exp.Paren():
            return bind(node.this, scope)
        case exp.Column():
            return _column(node, scope)
        case exp.Dot():
            return _dot(node, scope)
        case exp.Neg():
            if isinstance(node.this, exp.Literal) and not node.this.is_string:
                return number("-" + node.this.name, node)
            return _call("NEGATE", [bind(node.this, scope)], node)
        case exp.NullSafeNEQ():
            return _not(_call("IS NOT DISTINCT FROM", [bind(node.this, scope), bind(node.expression, scope)], node), node)
        case exp.EQ() | exp.NEQ() if _cells(node.this) and _cells(node.expression):
            return _rows_equal(node.this, node.expression, node, scope)
        case exp.Binary() if type(node) in _BINARY:
            return _call(_BINARY[type(node)], [bind(node.this, scope), bind(node.expression, scope)], node)
        case exp.Not():
            return _not(bind(node.this, scope), node)
        case exp.Is():
            return _is(node, scope)
        case exp.Between():
            return _between(node, scope)
        case exp.In() if _cells(node.this) and all(map(_cells, node.expressions)):
            return _joined("OR", [_rows_equal(node.this, e, node, scope) for e in node.expressions], node)
        case exp.In():
            return _call("IN", [bind(node.this, scope), *(bind(e, scope) for e in node.expressions)], node)
        case exp.Escape() if isinstance(node.this, exp.Like):
            return _like(node.this, scope, node.expression)
        case exp.Like():
            return _like(node, scope)
        case exp.SimilarTo():
            return _call("SIMILAR TO", [bind(node.this, scope), bind(node.expression, scope)], node)
        case exp.Escape() if isinstance(node.this, exp.SimilarTo):
            return _call("SIMILAR TO", [bind(node.this.this, scope), bind(node.this.expression, scope), bind(node.expression, scope)], node)
        case ast.TimeDifference():
            unit = Keyword(t.STRING.not_null(), node.args["unit"])
            return _call("- UNIT", [unit, bind(node.this, scope), bind(node.expression, scope)], node)
        case exp.Overlaps():
            return _overlaps(node, scope)
        case exp.Case():
            return _case(node, scope)
        case exp.Cast():
            return _cast(node, scope)
        case exp.Bracket():
            if len(node.expressions) != 1:
                raise ValidationError("An element is accessed by one index.", at=node)
            return _item(node, bind(node.this, scope), bind(node.expressions[0], scope))
        case exp.Tuple():
            return _call("ROW", [bind(e, scope) for e in node.expressions], node)
        case exp.Filter():
            return _filtered(node, scope)
        case exp.Window():
            return _over(node, scope)
    if type(node) in _SUB_QUERIES:
        raise _misplaced(node)
    problem, hint = _REFUSED.get(type(node), ("This is no expression of Flink SQL.", "HELP lists the functions and operators."))
    raise NotSupported(problem, at=node, hint=hint)


def _misplaced(node: exp.Expr) -> NotSupported:
    """The refusal of a sub-query."""
    problem = f"{_SUB_QUERIES[type(node)]} is supported in the select list, in WHERE, GROUP BY, HAVING, ON and VALUES, and not here."
    return NotSupported(problem, at=node, hint="Select it as a column in a sub-query of FROM.")


def _refuse_unknown(node: exp.Expr) -> None:
    """Refuse a part of ``node`` that nobody looks at."""
    known = _ARGS.get(type(node), _OPERANDS if isinstance(node, exp.Binary) else ("this",))
    for name, value in node.args.items():
        if value and name not in known and type(node) not in _REFUSED:
            if type(node) in _SUB_QUERIES:
                raise _misplaced(node)
            raise NotSupported(
                f"{name.strip('_').upper()} is not supported here.", at=value if isinstance(value, exp.Expr) else node, hint="Leave it out."
            )


def _column(node: exp.Column, scope: Scope) -> Expr:
    """``a``, ``t.a``, and fields of rows behind them: ``a.b``, ``t.a.b.c``."""
    names = [p.name for p in node.parts]
    resolved = _resolve(names, scope, node)
    if resolved is None:
        if names == ["PI"] or names == ["pi"]:
            return _call("PI", [], node)
        raise _unknown_column(names, scope, node)
    ref, rest = resolved
    for name in rest:
        ref = _field(ref, name, node)
    return ref


_NO_NULLS = "FILTER (WHERE x IS NOT NULL) leaves them out."
_NULLS = {
    **dict.fromkeys(("FIRST_VALUE", "LAST_VALUE"), "Leave it out: NULLs are no values to it."),
    **dict.fromkeys(("LAG", "LEAD", "NTH_VALUE"), "Leave the rows out in a sub-query: WHERE x IS NOT NULL."),
}


def _there_are(columns: Sequence[str]) -> str | None:
    """A hint that names the columns."""
    more = f" and {len(columns) - _MOST_NAMED} more" if len(columns) > _MOST_NAMED else ""
    return f"There are: {', '.join(columns[:_MOST_NAMED])}{more}." if columns else None


def _unknown_column(names: Sequence[str], scope: Scope, at: exp.Expr) -> ValidationError:
    tables = {c.qualifier: None for c in scope.columns if c.qualifier}
    if len(names) == 1:
        columns = [c.name for c in scope.columns]
        hint = _named_later(names[0], at) or _as_function(names[0]) or did_you_mean(names[0], [*columns, "DISTINCT"]) or _there_are(columns)
        # What stands outside a query, as in DESCRIPTOR or VALUES, has no FROM either.
        if hint is None and not columns and (select := at.find_ancestor(exp.Select)) is not None and not select.args.get("from_"):
            hint = "The query has no FROM."
        return ValidationError(f"Column '{names[0]}' not found in any table", at=at, hint=hint)
    if names[0] not in tables:
        if scope.outer is not None and any(c.qualifier == names[0] for c in scope.outer.columns):
            return _unknown_column(names, scope.outer, at)
        known = f"FROM has {', '.join(filter(None, tables))}." if tables else None
        return ValidationError(f"Table '{names[0]}' not found", at=at, hint=did_you_mean(names[0], tables) or known)
    others = [c.qualifier for c in scope.columns if c.qualifier and c.name == names[1]]
    hint = f"It is a column of {', '.join(dict.fromkeys(others))}." if others else None
    hint = hint or did_you_mean(names[1], [c.name for c in scope.columns if c.qualifier == names[0]])
    return ValidationError(f"Column '{names[1]}' not found in table '{names[0]}'", at=at, hint=hint)


def _named_later(name: str, at: exp.Expr) -> str | None:
    """A hint where ``name`` is one that the select list gives, which other clauses do not see."""
    select = at.find_ancestor(exp.Select)
    given = [i for i in select.expressions if isinstance(i, exp.Alias) and i.alias == name] if select is not None else []
    return f"SELECT gives '{name}' its name later: write its expression here, or select from a sub-query." if given else None


def _as_function(name: str) -> str | None:
    """A hint where ``name`` is that of a function which can be called without arguments, or one that means something in another dialect."""
    function = find(name)
    if function is not None and all(p.endswith("?") for p in function.params):
        return f"As a function: {name.upper()}()."
    return elsewhere.COLUMNS.get(name.upper())


def _resolve(names: Sequence[str], scope: Scope, at: exp.Expr) -> tuple[Expr, Sequence[str]] | None:
    plain = [c for c in scope.columns if c.name == names[0] and not c.qualified]
    qualified = [c for c in scope.columns if len(names) > 1 and c.qualifier == names[0] and c.name == names[1]]
    if qualified:
        return _only(qualified, names[1:], at).ref, names[2:]
    if plain:
        return _only(plain, names, at).ref, names[1:]
    return _resolve(names, scope.outer, at) if scope.outer is not None else None


def _only(columns: Sequence[ScopeColumn], names: Sequence[str], at: exp.Expr) -> ScopeColumn:
    if len({c.ref.name for c in columns}) > 1:
        tables = " or ".join(dict.fromkeys(f"{c.qualifier}.{c.name}" for c in columns if c.qualifier))
        hint = f"Write {tables}." if len({c.qualifier for c in columns}) > 1 and tables else None
        raise ValidationError(f"Column '{names[0]}' is ambiguous", at=at, hint=hint)
    return columns[0]


def _field(operand: Expr, name: str, at: exp.Expr) -> Expr:
    if operand.type.root != "ROW" or name not in operand.type.names:
        known = operand.type.names if operand.type.root == "ROW" else ()
        raise ValidationError(f"Column '{to_text(operand)}.{name}' not found in any table", at=at, hint=did_you_mean(name, known))
    inner = operand.type.children[operand.type.names.index(name)]
    return FieldAccess(inner.null() if operand.type.nullable else inner, operand, name)


def _dot(node: exp.Dot, scope: Scope) -> Expr:
    if not isinstance(node.expression, exp.Identifier):
        raise NotSupported("Only fields of rows are accessed with a point.", at=node, hint="An element of an array or a map is a[1] or m['key'].")
    parts: list[str] = []
    inner: exp.Expr = node
    while isinstance(inner, exp.Dot):
        parts.insert(0, inner.expression.name)
        inner = inner.this
    if isinstance(inner, exp.Column):
        names = [*(p.name for p in inner.parts), *parts]
        if (resolved := _resolve(names, scope, node)) is not None:
            ref, rest = resolved
            for name in rest:
                ref = _field(ref, name, node)
            return ref
    operand = bind(inner, scope)
    for name in parts:
        operand = _field(operand, name, node)
    return operand


def _not(operand: Expr, at: exp.Expr) -> Expr:
    return _call("NOT", [operand], at)


def _is(node: exp.Is, scope: Scope) -> Expr:
    operand = bind(node.this, scope)
    match node.expression:
        case exp.Null():
            return _call("IS NULL", [operand], node)
        case exp.Boolean(this=value):
            return _call("IS TRUE" if value else "IS FALSE", [operand], node)
        case exp.Column() as column if column.name.upper() == "UNKNOWN":
            if operand.type.root not in ("BOOLEAN", "NULL"):
                raise _mismatch(_builtin("IS TRUE"), [operand], node)
            return _call("IS NULL", [operand], node)
        case exp.JSON() as json if not json.args.get("unique"):
            kind = json.this if isinstance(json.this, str) else "VALUE"
            return _call(f"IS JSON {kind}", [operand], node)
    raise NotSupported(f"IS {node.expression.sql()} is not supported.", at=node, hint="IS takes NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM and JSON.")


def _like(node: exp.Like, scope: Scope, escape: exp.Expr | None = None) -> Expr:
    args = [bind(node.this, scope), bind(node.expression, scope), *([bind(escape, scope)] if escape is not None else [])]
    like = _call("LIKE", args, node)
    return _not(like, node) if is_negated(node) else like


def _joined(operator: str, conditions: Sequence[Expr], at: exp.Expr) -> Expr:
    return reduce(lambda whole, other: _call(operator, [whole, other], at), conditions)


def equal(left: Expr, right: Expr, at: exp.Expr, *, unknown: bool = False) -> Expr:
    """``left = right``; with ``unknown`` also TRUE where it is NULL. Raises ValidationError."""
    equality = _call("=", [left, right], at)
    return _not(_call("IS FALSE", [equality], at), at) if unknown and equality.type.nullable else equality


def _cells(node: exp.Expr) -> list[exp.Expr]:
    """What ``(a, b)`` and ``ROW(a, b)`` hold; nothing for other expressions."""
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    return call_args(node) if is_called(node, "ROW") else []


def _rows_equal(left: exp.Expr, right: exp.Expr, node: exp.Expr, scope: Scope) -> Expr:
    """``(a, b) = (c, d)``, field by field; ``<>`` where one of them differs, in NULL too."""
    pairs = list(zip(_cells(left), _cells(right), strict=False))
    if len(_cells(left)) != len(_cells(right)):
        raise ValidationError("Rows of different lengths are compared.", at=node)
    name = "IS NOT DISTINCT FROM" if isinstance(node, exp.NEQ) else "="
    both = _joined("AND", [_call(name, [bind(a, scope), bind(b, scope)], node) for a, b in pairs], node)
    return _not(both, node) if isinstance(node, exp.NEQ) else both


def _overlaps(node: exp.Overlaps, scope: Scope) -> Expr:
    """``(a, b) OVERLAPS (c, d)``: times, or a time and an interval; either may come first."""
    bounds = []
    for side in (node.this, node.expression):
        if not isinstance(side, exp.Tuple) or len(side.expressions) != 2:
            raise ValidationError("OVERLAPS compares two periods: (start, end) OVERLAPS (start, end).", at=side)
        start, end = (bind(e, scope) for e in side.expressions)
        if end.type.is_interval:
            end = _call("+", [start, end], side)
        ordered = _call("<=", [start, end], side)
        bounds.append((_choose(ordered, start, end, side), _choose(ordered, end, start, side)))
    (start, end), (other_start, other_end) = bounds
    return _joined("AND", [_call(">=", [end, other_start], node), _call(">=", [other_end, start], node)], node)


def _choose(condition: Expr, value: Expr, other: Expr, at: exp.Expr) -> Expr:
    return _call("CASE", [condition, value, other], at)


def _between(node: exp.Between, scope: Scope) -> Expr:
    sides = [bind(node.args[k], scope) for k in ("this", "low", "high")]
    types = coercion.ordered(tuple(s.type for s in sides))
    value, low, high = sides if types is None else map(cast_to, sides, types)

    def within(a: Expr, b: Expr) -> Expr:
        return _call("AND", [_call(">=", [value, a], node), _call("<=", [value, b], node)], node)

    return _call("OR", [within(low, high), within(high, low)], node) if is_symmetric(node) else within(low, high)


def _case(node: exp.Case, scope: Scope) -> Expr:
    subject = bind(node.this, scope) if node.args.get("this") else None
    conditions, values = [], []
    for branch in branches(node):
        condition = bind(branch.this, scope)
        conditions.append(condition if subject is None else _call("=", [subject, condition], branch))
        values.append(bind(value_of(branch), scope))
    default = default_of(node)
    values.append(bind(default, scope) if default is not None else Literal(t.NULL, None))
    for condition, branch in zip(conditions, branches(node), strict=True):
        if condition.type.root not in ("BOOLEAN", "NULL"):
            raise ValidationError("Expected a boolean type", at=branch)
    if common_type([v.type for v in values]) is None:
        raise ValidationError("Illegal mixing of types in CASE or COALESCE statement", at=node, hint=ONE_TYPE)
    return _call("CASE", [a for pair in zip(conditions, values, strict=False) for a in pair] + [values[-1]], node)


def _cast(node: exp.Cast, scope: Scope) -> Expr:
    safe = isinstance(node, exp.TryCast)
    operand = bind(node.this, scope)
    target = flink_type(node.to).with_nullable(operand.type.nullable or safe)
    if not castable(operand.type, target):
        hint = None
        if operand.type.is_numeric and target.is_timestamp:
            hint = "Use TO_TIMESTAMP_LTZ(x, 3), or FROM_UNIXTIME(x) for seconds."
        elif operand.type.is_timestamp and target.is_numeric:
            hint = "Use UNIX_TIMESTAMP(CAST(ts AS STRING)), or TIMESTAMPDIFF."
        elif operand.type.root == "VARIANT":
            hint = "Take scalars out of the JSON text, by JSON_VALUE(text, path RETURNING INTEGER)."
        raise ValidationError(f"Cast function cannot convert value of type {operand.type.full} to type {target}", at=node, hint=hint)
    # A cast takes the time attribute off a column, also one that changes nothing else.
    if operand.type == target and not operand.type.is_timestamp:
        return operand
    return Cast(target, operand, safe, at=node)


def _item(node: exp.Expr, operand: Expr, index: Expr) -> Expr:
    match operand.type.root:
        case "ARRAY" if index.type.is_integer and index.type.root != "BIGINT":
            if isinstance(index, Literal) and index.value < 1:
                raise ValidationError(f"Array element access needs an index starting at 1 but was {index.value}.", at=node)
            return _call("ITEM", [operand, cast_to(index, t.INT)], node)
        case "MAP" if coercion.comparison_type(index.type, operand.type.children[0]) is not None:
            return _call("ITEM", [operand, cast_to(index, operand.type.children[0])], node)
        case "VARIANT" if index.type.is_string or index.type.is_integer:
            if index.type.is_string and not isinstance(index, Literal):
                raise NotSupported("The name of a member of a VARIANT must be a constant.", at=node, hint="CASE chooses between constants.")
            return _call("ITEM", [operand, index if index.type.is_string else cast_to(index, t.INT)], node)
        case "ROW" if isinstance(index, Literal) and isinstance(index.value, int) and 0 < index.value <= len(operand.type.names):
            return _field(operand, operand.type.names[index.value - 1], node)
    raise _mismatch(_builtin("ITEM"), [operand, index], node)


def _filtered(node: exp.Filter, scope: Scope) -> Expr:
    call = bind(node.this, scope)
    if not isinstance(call, AggregateCall):
        raise ValidationError("FILTER must be applied to aggregate function", at=node)
    condition = bind(node.expression.this, scope)
    if condition.type.root != "BOOLEAN":
        raise ValidationError("FILTER clause must be a condition", at=node)
    if any(isinstance(e, AggregateCall) for e in condition.walk()):
        raise ValidationError("FILTER must not contain aggregate expression", at=node, hint=IN_SUB_QUERY)
    type_ = call.type.null() if call.function.null_of_none else call.type
    return replace(call, type=type_, filter=condition if call.filter is None else _call("AND", [call.filter, condition], node))


def function_named(node: exp.Expr, name: str, scope: Scope) -> Function | None:
    """The function, built in or the user's, that ``node`` calls; None where there is none. Raises SqlStreamError."""
    written = call_name(node)
    try:
        # The user's are compared in lower case, which is more than upper case undone: straße.
        return scope.functions.get(written if name == written.upper() else name) or (None if name in _NOT_CALLED else find(name))
    except SqlStreamError as error:  # what the user's module says of itself
        error.at = node if error.at is None else error.at
        raise


def _over(node: exp.Window, scope: Scope) -> Expr:
    if not is_call(node.this):
        instead = "Write the condition into the call: SUM(CASE WHEN condition THEN x END) OVER .." if isinstance(node.this, exp.Filter) else None
        raise ValidationError("OVER must be applied to aggregate function", at=node, hint=instead)
    # Its arguments may be aggregates of the groups that it is over.
    call = _function(node.this, scope, nested=True)
    if not isinstance(call, AggregateCall) or call.function.name in GROUPINGS:
        raise ValidationError("OVER must be applied to aggregate function", at=node)
    if any(isinstance(e, OverCall) for e in call.walk()):
        raise ValidationError("Aggregate expressions cannot be nested", at=node, hint=IN_SUB_QUERY)
    order = order_of(node)
    items = order.expressions if order is not None else []
    partition = [_of_window(e, scope, "PARTITION BY") for e in partition_of(node)]
    sorted_by = [_of_window(item.this, scope, "ORDER BY") for item in items]
    # Constants part and order nothing.
    varying = [i for i, e in enumerate(sorted_by) if not isinstance(e, Literal)]
    if items and not varying and call.function.over_only:
        problem = "The window rank function requires order by clause with non-constant fields."
        raise ValidationError(f"Over Agg: {problem} please re-check the over window statement.", at=order)
    chosen = varying or range(len(items))
    return OverCall(
        call.type,
        call,
        tuple(e for e in partition if not isinstance(e, Literal)),
        tuple(sorted_by[i] for i in chosen),
        tuple(bool(items[i].args.get("desc")) for i in chosen),
        tuple(bool(items[i].args.get("nulls_first")) for i in chosen),
        over.frame(node, call),
    )


def _of_window(node: exp.Expr, scope: Scope, clause: str) -> Expr:
    bound = bind(node, scope)
    if any(isinstance(e, OverCall) for e in bound.walk()):
        raise ValidationError(f"{clause} expression should not contain OVER clause", at=node, hint=IN_SUB_QUERY)
    require_key(bound.type, node, clause)
    return bound


def _function(node: exp.Expr, scope: Scope, *, nested: bool = False) -> Expr:
    written = call_name(node)
    name = written.upper()
    raw = call_args(node)
    distinct = bool(raw) and isinstance(raw[0], exp.Distinct)
    if distinct:
        raw = list(raw[0].expressions)
    if name in json_clauses.CALLS:
        name, raw = json_clauses.plain_call(name, raw, node)
    if name in ("FLOOR", "CEIL") and len(raw) == 2:
        name += " TO"
    function = function_named(node, name, scope)
    if function is not None and function.aggregate and len(raw) == 1 and isinstance(raw[0], exp.Star):
        raw = []
        if name != "COUNT":
            raise ValidationError(f"{name}(*) is not a call: only COUNT takes *.", at=node)
    elif name == "COUNT" and not raw:
        raise ValidationError("Invalid number of arguments to function 'COUNT'. Was expecting 1 arguments", at=node, hint="COUNT(*) counts rows.")
    skip_nulls = bool(raw) and isinstance(raw[0], exp.IgnoreNulls)
    if raw and isinstance(raw[0], exp.IgnoreNulls | exp.RespectNulls):
        if name != "ARRAY_AGG":
            raise ValidationError(f"Cannot specify IGNORE NULLS or RESPECT NULLS following '{name}'", at=node, hint=_NULLS.get(name, _NO_NULLS))
        if distinct and skip_nulls:
            raise NotSupported("DISTINCT with IGNORE NULLS is not supported: Flink keeps the NULL.", at=node, hint="FILTER (WHERE x IS NOT NULL).")
        raw[0] = raw[0].this
    if function is None and (missing := absent(name)) is not None:
        raise NotSupported(f"{name} is not supported: {missing.reason}", at=node, hint=missing.hint)
    if function is None:
        # The star of COUNT(*), the unit of a time, a type: none of them has a type.
        families = ", ".join(f"<{family_name(bind(e, scope).type)}>" for e in raw if not isinstance(e, exp.Var | exp.DataType | exp.Star))
        near = elsewhere.FUNCTIONS.get(name) or did_you_mean(name, (*CALLABLE, *scope.functions), "HELP FUNCTIONS")
        raise ValidationError(f"No match found for function signature {written}({families})", at=node, hint=near)
    if named := next((e for e in raw if isinstance(e, ast.NamedArgument)), None):
        # Flink's functions have no names for their arguments.
        message = f"No match found for function signature {written}({named.name} => ..)"
        raise ValidationError(message, at=named, hint=f"{name} takes: {function.signature}")
    args = [_argument(function, i, e, scope) for i, e in enumerate(raw)]
    if distinct and not function.aggregate:
        raise ValidationError(f"DISTINCT/ALL not allowed with {name} function", at=node)
    if (distinct or name == "COLLECT") and (wrong := next((a.type for a in args if not t.distinguished(a.type)), None)):
        raise NotSupported(
            f"{name} is not supported over values of type {wrong}: they can't be compared.",
            at=node,
            hint="Take a column of another type, or CAST it to STRING.",
        )
    if function.aggregate and not nested and any(isinstance(e, AggregateCall) for a in args for e in a.walk()):
        raise ValidationError("Aggregate expressions cannot be nested", at=node, hint=IN_SUB_QUERY)
    call = _call(name, args, node, function)
    if name == "CURRENT_DATABASE":
        return Literal(call.type, scope.database)
    if isinstance(call, AggregateCall):
        if not call.function.over_only and any(a.type.root == "NULL" for a in args):
            raise ValidationError("Illegal use of 'NULL'", at=node, hint="CAST(NULL AS ..)")
        present = _not(_call("IS NULL", [call.args[0]], node), node) if skip_nulls else None
        empty = function.null_of_none and (present is not None or not (scope.grouped or nested))
        return replace(call, type=call.type.null() if empty else call.type, distinct=distinct, filter=present)
    return call


def _argument(function: Function, index: int, node: exp.Expr, scope: Scope) -> Expr:
    if isinstance(node, exp.Var) and index in function.words:
        return Keyword(t.STRING.not_null(), node.name.upper())
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls | exp.Distinct | exp.Order | exp.Kwarg | exp.Var):
        raise NotSupported(f"{node.sql()} is no argument of {function.name}.", at=node, hint=f"{function.name} takes: {function.signature}")
    return bind(node, scope)


def _builtin(name: str) -> Function:
    function = find(name)
    assert function is not None, name
    return function


def _call(name: str, args: list[Expr], at: exp.Expr, function: Function | None = None) -> Expr:
    function = function or _builtin(name)
    required = sum(1 for p in function.params if p[-1] not in "?*")
    repeats = bool(function.params) and function.params[-1].endswith("*")
    if len(args) < required or (len(args) > len(function.params) and not repeats):
        if not repeats and required == len(function.params):
            message = f"Invalid number of arguments to function '{name}'. Was expecting {required} arguments"
            raise ValidationError(message, at=at, hint=f"{name} takes: {function.signature}")
        raise _mismatch(function, args, at)
    written = args
    values = tuple(constant(a) for a in args)
    if function.coerce is not None:
        targets = function.coerce(tuple(a.type for a in args))
        if targets is None:
            raise _mismatch(function, args, at)
        args = [cast_to(a, target) for a, target in zip(args, targets, strict=True)]
    converted = []
    for i, arg in enumerate(args):
        family = function.params[min(i, len(function.params) - 1)].rstrip("?*")
        if not accepts(family, arg.type):
            raise _mismatch(function, written, at)
        if arg.type.root == "NULL" and family in COLLECTIONS:
            raise ValidationError("Illegal use of 'NULL'", at=at, hint=f"CAST(NULL AS {'MAP<..>' if family == 'map' else 'ARRAY<..>'})")
        target = TARGETS.get(family)
        changes = target is not None and (arg.type.root == "NULL" or (family in CONVERTED and arg.type.root != target.root))
        converted.append(cast_to(arg, target) if changes and target is not None else arg)
    types = tuple(a.type for a in converted)
    if function.check is not None and (problem := function.check(types, values)) is not None:
        raise NotSupported(problem, at=at, hint=_instead(function, args, infix=False))
    result = function.sized(types, values) if function.sized is not None else function.returns(types)
    if function.aggregate:
        return AggregateCall(result, function, tuple(converted))
    return Call(result, function, tuple(converted), at=at)


def _mismatch(function: Function, args: Sequence[Expr], at: exp.Expr) -> ValidationError:
    name = function.name
    types = [f"<INTERVAL {a.text}>" if isinstance(a, Keyword) else f"<{sql_name(a.type)}>" for a in args]
    infix = len(args) == 2 and function in OPERATORS and name not in ("ITEM", "MOD", "LIKE")
    shown = f" {name} ".join(types) if infix else f"{name}({', '.join(types)})"
    message = f"Cannot apply '{name}' to arguments of type '{shown}'"
    if function not in OPERATORS:
        message += f". Supported form(s): {' '.join(function.forms)}"
    return ValidationError(message, at=at, hint=_instead(function, args, infix=infix))


def _instead(function: Function, args: Sequence[Expr], *, infix: bool) -> str:
    """What to write where ``function`` does not take ``args``."""
    name = function.name
    times = [a.type.is_timestamp or a.type.root == "DATE" for a in args]
    if infix and name == "-" and all(times):
        return "Use TIMESTAMPDIFF(unit, a, b)."
    if infix and name in ("+", "-") and any(times) and any(a.type.is_numeric for a in args):
        return f"Write time {name} INTERVAL '5' SECOND, or n * INTERVAL '1' SECOND for a computed one."
    if infix and any(times) and any(a.type.is_numeric for a in args):
        return "TO_TIMESTAMP_LTZ(x, 3) makes a time of milliseconds, TO_TIMESTAMP_LTZ(x, 0) of seconds."
    if infix and name == "||":
        return "|| joins texts: CAST(x AS STRING) makes one of any value."
    if infix and name in ("AND", "OR"):
        return "Both sides are conditions: compare what is none, as in x <> 0."
    if infix:
        return "Cast one side to the type of the other."
    if name == "COUNT" and len(args) > 1:
        return "SELECT DISTINCT the columns in a sub-query, and COUNT(*) its rows."
    if name == "TO_TIMESTAMP" and args and args[0].type.is_numeric:
        return "TO_TIMESTAMP_LTZ(x, 3) makes a time of milliseconds, TO_TIMESTAMP_LTZ(x, 0) of seconds."
    several = [a for a, family in zip(args, _families(function), strict=False) if family in ("any", "comparable", "ordered")]
    if len(several) > 1 and common_type([a.type for a in several]) is None:
        return ONE_TYPE
    return f"{name} takes: {function.signature}"


def _families(function: Function) -> Iterator[str]:
    """What each argument may be; a last one that repeats does so without an end."""
    families = [param.rstrip("?*") for param in function.params]
    return chain(families, repeat(families[-1]) if function.params and function.params[-1].endswith("*") else ())


def cast_to(expr: Expr, target: Type) -> Expr:
    """``expr`` as ``target``, its own nullability kept; itself where that changes nothing."""
    wanted = target.with_nullable(expr.type.nullable or expr.type.root == "NULL")
    if expr.type == wanted:
        return expr
    if isinstance(expr, Literal) and (converted := _converted(expr, wanted)) is not None:
        return converted
    return Cast(wanted, expr)


def _converted(known: Literal, target: Type) -> Literal | None:
    """A constant as one of ``target``, where it is the same value."""
    source, value = known.type, known.value
    if value is None:
        return Literal(target, None)
    same = source.is_string and target.root == "VARCHAR" and source.args[0] <= target.args[0]
    if source.is_integer and target.is_integer:
        same = t.INTEGERS.index(source.root) <= t.INTEGERS.index(target.root)
    if source.is_exact and target.root == "DECIMAL":
        digits, scale = coercion.as_decimal(source).args
        if digits - scale <= target.args[0] - target.args[1] and scale <= target.args[1]:
            return Literal(target, Decimal(value))
    return Literal(target, value) if same else None


__all__ = ["Scope", "ScopeColumn", "bind", "cast_to", "common_type", "implicitly_castable", "to_text"]
