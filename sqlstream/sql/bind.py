"""From syntax to typed expressions: names found in the scope, functions in the table, implicit casts made explicit.

Whatever is not known here is refused at its place: nothing reaches Spark untyped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlstream.errors import NotSupported, ValidationError, did_you_mean
from sqlstream.sql import ast, coercion
from sqlstream.sql import types as t
from sqlstream.sql.casts import castable
from sqlstream.sql.expressions import AggregateCall, Call, Cast, ColumnRef, Expr, FieldAccess, Literal
from sqlstream.sql.functions import CALLABLE, OPERATORS, Function, find
from sqlstream.sql.functions.base import CONVERTED, TARGETS, accepts
from sqlstream.sql.literals import literal, number
from sqlstream.sql.text import to_text
from sqlstream.sql.types import Type

common_type = coercion.common_type
implicitly_castable = coercion.implicitly_castable

_BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.DPipe: "||", exp.And: "AND", exp.Or: "OR",
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.NullSafeEQ: "IS NOT DISTINCT FROM",
}  # fmt: skip


@dataclass(frozen=True)
class ScopeColumn:
    """A column that expressions can name: with its table's name or alias in front, or without."""

    qualifier: str | None
    name: str
    ref: ColumnRef


@dataclass(frozen=True)
class Scope:
    """What names mean in an expression. ``functions`` are those of the catalog, by upper-case name."""

    columns: tuple[ScopeColumn, ...]
    zone: str = "UTC"
    functions: Mapping[str, Function] = field(default_factory=dict)


def bind(node: exp.Expr, scope: Scope) -> Expr:
    """The typed expression that ``node`` is in ``scope``. Raises ValidationError, NotSupported."""
    constant = literal(node)
    if constant is not None:
        return constant
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
        case exp.NEQ() | exp.EQ() if isinstance(node.expression, exp.Subquery) or isinstance(node.this, exp.Subquery):
            raise NotSupported("Scalar sub-queries are not supported yet.", at=node)
        case exp.NullSafeNEQ():
            return _negated(_call("IS NOT DISTINCT FROM", [bind(node.this, scope), bind(node.expression, scope)], node), node, scope)
        case exp.Binary() if type(node) in _BINARY:
            return _call(_BINARY[type(node)], [bind(node.this, scope), bind(node.expression, scope)], node)
        case exp.Not():
            return _negated(bind(node.this, scope), node, scope)
        case exp.Is():
            return _is(node, scope)
        case exp.Between():
            return _between(node, scope)
        case exp.In():
            if node.args.get("query") or node.args.get("unnest"):
                raise NotSupported("IN (sub-query) is not supported yet.", at=node)
            return _call("IN", [bind(node.this, scope), *(bind(e, scope) for e in node.expressions)], node)
        case exp.Escape():
            inner = node.this
            return _call("LIKE", [bind(inner.this, scope), bind(inner.expression, scope), bind(node.expression, scope)], node)
        case exp.Like():
            return _call("LIKE", [bind(node.this, scope), bind(node.expression, scope)], node)
        case exp.Case():
            return _case(node, scope)
        case exp.TryCast() | exp.Cast():
            return _cast(node, scope)
        case exp.Bracket():
            if len(node.expressions) != 1:
                raise ValidationError("An element is accessed by one index.", at=node)
            return _item(node, bind(node.this, scope), bind(node.expressions[0], scope), scope)
        case exp.Tuple():
            return _call("ROW", [bind(e, scope) for e in node.expressions], node)
        case exp.Filter():
            return _filtered(node, scope)
        case exp.Window():
            raise NotSupported("OVER aggregation is not supported yet.", at=node)
        case exp.Subquery() | exp.Exists() | exp.Select():
            raise NotSupported("Sub-queries in expressions are not supported yet.", at=node)
        case exp.Anonymous():
            return _function(node, scope)
    raise NotSupported(f"{type(node).__name__} expressions are not supported.", at=node)


def _column(node: exp.Column, scope: Scope) -> Expr:
    """``a``, ``t.a``, and fields of rows behind them: ``a.b``, ``t.a.b.c``."""
    names = [p.name for p in node.parts]
    found = _resolve(names, scope)
    if found is None:
        known = [c.name for c in scope.columns] if len(names) == 1 else [f"{c.qualifier}.{c.name}" for c in scope.columns if c.qualifier]
        hint = did_you_mean(".".join(names), known)
        raise ValidationError(f"Column '{'.'.join(names)}' not found in any table", at=node, hint=hint)
    ref, rest = found
    for name in rest:
        ref = _field(ref, name, node)
    return ref


def _resolve(names: Sequence[str], scope: Scope) -> tuple[Expr, Sequence[str]] | None:
    plain = [c for c in scope.columns if c.name == names[0]]
    qualified = [c for c in scope.columns if len(names) > 1 and c.qualifier == names[0] and c.name == names[1]]
    if qualified:
        return _only(qualified, names).ref, names[2:]
    if plain:
        return _only(plain, names).ref, names[1:]
    return None


def _only(columns: Sequence[ScopeColumn], names: Sequence[str]) -> ScopeColumn:
    if len({c.ref.name for c in columns}) > 1:
        raise ValidationError(f"Column '{'.'.join(names)}' is ambiguous")
    return columns[0]


def _field(operand: Expr, name: str, at: exp.Expr) -> Expr:
    if operand.type.root != "ROW" or name not in operand.type.names:
        known = operand.type.names if operand.type.root == "ROW" else ()
        raise ValidationError(f"Column '{to_text(operand)}.{name}' not found in any table", at=at, hint=did_you_mean(name, known))
    inner = operand.type.children[operand.type.names.index(name)]
    return FieldAccess(inner.null() if operand.type.nullable else inner, operand, name)


def _dot(node: exp.Dot, scope: Scope) -> Expr:
    if not isinstance(node.expression, exp.Identifier):
        raise NotSupported("Only fields of rows are accessed with a point.", at=node)
    parts: list[str] = []
    inner: exp.Expr = node
    while isinstance(inner, exp.Dot):
        parts.insert(0, inner.expression.name)
        inner = inner.this
    if isinstance(inner, exp.Column):
        names = [*(p.name for p in inner.parts), *parts]
        if (found := _resolve(names, scope)) is not None:
            ref, rest = found
            for name in rest:
                ref = _field(ref, name, node)
            return ref
    operand = bind(inner, scope)
    for name in parts:
        operand = _field(operand, name, node)
    return operand


def _negated(operand: Expr, at: exp.Expr, scope: Scope) -> Expr:
    return _call("NOT", [operand], at)


def _is(node: exp.Is, scope: Scope) -> Expr:
    operand = bind(node.this, scope)
    match node.expression:
        case exp.Null():
            return _call("IS NULL", [operand], node)
        case exp.Boolean(this=value):
            return _call("IS TRUE" if value else "IS FALSE", [operand], node)
        case exp.Column() as column if column.name.upper() == "UNKNOWN":
            return _call("IS NULL", [operand], node)
    raise NotSupported(f"IS {node.expression.sql()} is not supported yet.", at=node)


def _between(node: exp.Between, scope: Scope) -> Expr:
    value, low, high = (bind(node.args[k], scope) for k in ("this", "low", "high"))

    def within(a: Expr, b: Expr) -> Expr:
        return _call("AND", [_call(">=", [value, a], node), _call("<=", [value, b], node)], node)

    return _call("OR", [within(low, high), within(high, low)], node) if node.args.get("symmetric") else within(low, high)


def _case(node: exp.Case, scope: Scope) -> Expr:
    subject = bind(node.this, scope) if node.args.get("this") else None
    conditions, values = [], []
    for branch in node.args["ifs"]:
        condition = bind(branch.this, scope)
        conditions.append(condition if subject is None else _call("=", [subject, condition], branch))
        values.append(bind(branch.args["true"], scope))
    default = node.args.get("default")
    values.append(bind(default, scope) if default is not None else Literal(t.NULL, None))
    type_ = common_type([v.type for v in values])
    if type_ is None:
        raise ValidationError("Illegal mixing of types in CASE or COALESCE statement", at=node)
    cast = [cast_to(v, type_) for v in values]
    args = [a for pair in zip(conditions, cast, strict=False) for a in pair] + [cast[-1]]
    for condition, branch in zip(conditions, node.args["ifs"], strict=True):
        if condition.type.root not in ("BOOLEAN", "NULL"):
            raise ValidationError("Expected a boolean type in WHEN", at=branch)
    return Call(type_, _builtin("CASE"), tuple(args))


def _cast(node: exp.Cast, scope: Scope) -> Expr:
    safe = isinstance(node, exp.TryCast)
    operand = bind(node.this, scope)
    target = ast.flink_type(node.args["to"]).with_nullable(operand.type.nullable or safe)
    if not castable(operand.type, target):
        hint = None
        if operand.type.is_numeric and target.is_timestamp:
            hint = "Use TO_TIMESTAMP_LTZ(x, 3), or FROM_UNIXTIME(x) for seconds."
        elif operand.type.is_timestamp and target.is_numeric:
            hint = "Use UNIX_TIMESTAMP(CAST(ts AS STRING)), or TIMESTAMPDIFF."
        raise ValidationError(f"Cast function cannot convert value of type {operand.type.full} to type {target}", at=node, hint=hint)
    if operand.type == target:
        return operand
    return Cast(target, operand, safe)


def _item(node: exp.Expr, operand: Expr, index: Expr, scope: Scope) -> Expr:
    match operand.type.root:
        case "ARRAY":
            if not index.type.is_integer:
                raise ValidationError("An array's index is an INTEGER.", at=node)
            if isinstance(index, Literal) and index.value < 1:
                raise ValidationError(f"Array element access needs an index starting at 1 but was {index.value}.", at=node)
            return _call("ITEM", [operand, cast_to(index, t.INT)], node)
        case "MAP":
            return _call("ITEM", [operand, cast_to(index, operand.type.children[0])], node)
        case "ROW" if isinstance(index, Literal) and isinstance(index.value, int) and 0 < index.value <= len(operand.type.names):
            return _field(operand, operand.type.names[index.value - 1], node)
    raise ValidationError(f"Cannot apply 'ITEM' to arguments of type 'ITEM(<{operand.type}>, <{index.type}>)'", at=node)


def _filtered(node: exp.Filter, scope: Scope) -> Expr:
    call = bind(node.this, scope)
    if not isinstance(call, AggregateCall):
        raise ValidationError("FILTER is for aggregate functions.", at=node)
    condition = bind(node.expression.this, scope)
    if condition.type.root != "BOOLEAN":
        raise ValidationError("FILTER expression must be of type BOOLEAN", at=node)
    return replace(call, filter=condition)


def _function(node: exp.Anonymous, scope: Scope) -> Expr:
    name = node.name.upper()
    raw = list(node.expressions)
    distinct = bool(raw) and isinstance(raw[0], exp.Distinct)
    if distinct:
        raw = list(raw[0].expressions)
    if name in ("FLOOR", "CEIL") and len(raw) == 2:
        name += " TO"
    function = scope.functions.get(name) or find(name)
    if function is not None and function.aggregate and len(raw) == 1 and isinstance(raw[0], exp.Star):
        raw = []
        if name != "COUNT":
            raise ValidationError(f"{name}(*) is no call: only COUNT takes *.", at=node)
    args = [Literal(t.STRING, e.name.upper()) if isinstance(e, exp.Var) else bind(e, scope) for e in raw]
    if function is None:
        types = ", ".join(f"<{a.type.full}>" for a in args)
        raise ValidationError(f"No match found for function signature {node.name}({types})", at=node, hint=did_you_mean(name, CALLABLE))
    if distinct and not function.aggregate:
        raise ValidationError(f"DISTINCT is for aggregate functions, which {name} is not.", at=node)
    if function.aggregate and any(isinstance(e, AggregateCall) for a in args for e in a.walk()):
        raise ValidationError("Aggregate expressions cannot be nested", at=node)
    call = _call(name, args, node, function)
    if isinstance(call, AggregateCall) and distinct:
        return replace(call, distinct=True)
    return call


def _builtin(name: str) -> Function:
    found = find(name)
    assert found is not None, name
    return found


def _call(name: str, args: list[Expr], at: exp.Expr, function: Function | None = None) -> Expr:
    function = function or _builtin(name)
    required = sum(1 for p in function.params if p[-1] not in "?*")
    repeats = bool(function.params) and function.params[-1].endswith("*")
    if len(args) < required or (len(args) > len(function.params) and not repeats):
        raise _mismatch(function, args, at)
    if function.coerce is not None:
        targets = function.coerce(tuple(a.type for a in args))
        if targets is None:
            raise _mismatch(function, args, at)
        args = [cast_to(a, target) for a, target in zip(args, targets, strict=True)]
    converted = []
    for i, arg in enumerate(args):
        family = function.params[min(i, len(function.params) - 1)].rstrip("?*")
        if i in function.words:
            converted.append(arg)
            continue
        if not accepts(family, arg.type):
            raise _mismatch(function, args, at)
        target = TARGETS.get(family)
        changes = target is not None and (arg.type.root == "NULL" or (family in CONVERTED and arg.type.root != target.root))
        converted.append(cast_to(arg, target) if changes and target is not None else arg)
    result = function.returns(tuple(a.type for a in converted))
    if function.aggregate:
        return AggregateCall(result, function, tuple(converted))
    return Call(result, function, tuple(converted))


def _mismatch(function: Function, args: Sequence[Expr], at: exp.Expr) -> ValidationError:
    name, types = function.name, [f"<{a.type.full}>" for a in args]
    if function in OPERATORS:
        shown = f" {name} ".join(types) if len(types) == 2 else f"{name}({', '.join(types)})"
        times = len(args) == 2 and all(a.type.is_timestamp or a.type.root == "DATE" for a in args)
        hint = "Use TIMESTAMPDIFF(unit, a, b)." if name == "-" and times else "Cast one side to the type of the other."
        return ValidationError(f"Cannot apply '{name}' to arguments of type '{shown}'", at=at, hint=hint if len(args) == 2 else None)
    return ValidationError(
        f"No match found for function signature {name}({', '.join(types)})", at=at, hint=f"{name} takes: {function.signature}"
    )


def cast_to(expr: Expr, target: Type) -> Expr:
    """``expr`` as ``target``, its own nullability kept; itself where that changes nothing."""
    wanted = target.with_nullable(expr.type.nullable)
    if expr.type == wanted or (expr.type.is_string and wanted.is_string and wanted.root == "VARCHAR" and expr.type.args[0] <= wanted.args[0]):
        return expr
    return Cast(wanted, expr)


__all__ = ["Scope", "ScopeColumn", "bind", "cast_to", "common_type", "implicitly_castable", "to_text"]
