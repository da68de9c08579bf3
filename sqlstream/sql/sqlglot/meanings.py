"""What means the same in other dialects only for some operands: a division, AVG, a cast to text, LIKE with a backslash; what needs parentheses there.

In comes a tree that sqlglot's tools will have, out goes one in which such a node is of a class of its own, which no other dialect can write. Where
the types of the operands show that it means the same, ``annotate_types`` makes it sqlglot's plain node: at once for constants, with a schema for
columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from sqlstream.sql.sqlglot.relations import WindowColumn
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.calls import Average, FlinkOnly

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot.optimizer.annotate_types import TypeAnnotator

E = TypeVar("E", bound=exp.Expr)
_D = exp.DType
_WHOLE = frozenset({_D.TINYINT, _D.SMALLINT, _D.INT, _D.BIGINT})
_ORDER = (_D.TINYINT, _D.SMALLINT, _D.INT, _D.BIGINT)
_SMALL = _WHOLE - {_D.BIGINT}
_APPROXIMATE = frozenset({_D.FLOAT, _D.DOUBLE})
_FRACTIONS = frozenset({_D.DECIMAL, _D.FLOAT, _D.DOUBLE})
_TEXTS = frozenset({_D.CHAR, _D.VARCHAR, _D.TEXT})
_TIMES = frozenset({_D.TIMESTAMP, _D.TIMESTAMPNTZ, _D.TIMESTAMPLTZ})
_TYPES = "Types of columns are known after qualify and annotate_types with a schema."


class Uncertain(FlinkOnly):
    """What means the same for some operands, or in some dialects."""

    why = ""

    @property
    def refusal(self) -> str:
        return self.why


class Division(exp.Div, Uncertain):
    """``a / b``, which is a whole number if both are, and of DECIMALs has Flink's digits."""

    why = f"A division means the same in this dialect if one side is DOUBLE or FLOAT, or both are INT or smaller. {_TYPES}"


class TypedCast(exp.Cast, Uncertain):
    """A cast whose result depends on the type of its operand."""

    why = f"This CAST has another result in this dialect, or may have. {_TYPES}"


class TypedTryCast(exp.TryCast, Uncertain):
    """TRY_CAST: PostgreSQL has nothing like it, and sqlglot writes a plain cast there."""

    why = "TRY_CAST of Flink SQL has no counterpart of the same meaning in all dialects."


class TimeSum(exp.Add, Uncertain):
    """``time + INTERVAL ..``: of a DATE it is a DATE."""

    why = f"An INTERVAL is added to a TIMESTAMP in the same way in this dialect, to a DATE in another. {_TYPES}"


class TimeSubtraction(exp.Sub, Uncertain):
    """``time - INTERVAL ..``."""

    why = TimeSum.why


class PlainLike(exp.Like, Uncertain):
    """LIKE without ESCAPE and with a pattern in which there is, or may be, a backslash: an escape in other dialects."""

    why = "In LIKE without ESCAPE a backslash is an escape in other dialects: the pattern must be a constant without one."


class PlainILike(exp.ILike, Uncertain):
    """ILIKE."""

    why = "ILIKE is not translated."


class Regex(exp.SimilarTo, Uncertain):
    """SIMILAR TO."""

    why = "SIMILAR TO is not translated: regular expressions differ."


class OneBased(exp.Bracket, Uncertain):
    """``a[1]``, the first element of an array, NULL behind the last."""

    why = "Elements of arrays, maps and variants are not translated: what is not there is NULL in Flink."


class Elements(exp.Expression, Uncertain):
    """What UNNEST takes, if it counts WITH ORDINALITY, from 1, or stands in an outer join."""

    arg_types = {"this": True}
    why = "UNNEST is translated without ORDINALITY, and not in an outer join."


class CaseSensitiveName(exp.Identifier, Uncertain):
    """A name beside which there is another one that differs only in case."""

    @property
    def refusal(self) -> str:
        return f"The name {self.name} differs only in case from another one, which is the same name in other dialects. Rename one of them."


class Bytes(exp.HexString, exp.Func):
    """``X'0A'``, which is a string of bits in PostgreSQL: it has no UNHEX."""

    def sql_name(self) -> str:  # type: ignore[override]
        return "UNHEX"


_PLAIN: dict[type[exp.Expr], type[exp.Expr]] = {
    Division: exp.Div,
    TimeSum: exp.Add,
    TimeSubtraction: exp.Sub,
    TypedCast: exp.Cast,
    TypedTryCast: exp.TryCast,
    PlainLike: exp.Like,
    PlainILike: exp.ILike,
    OneBased: exp.Bracket,
    Regex: exp.SimilarTo,
    CaseSensitiveName: exp.Identifier,
}
UNCERTAIN = tuple(_PLAIN)


def _always(_node: exp.Expr) -> bool:
    return True


def _adds_interval(node: exp.Expr) -> bool:
    return any(isinstance(side, exp.Interval | ast.IntervalLiteral) for side in (node.this.unnest(), node.expression.unnest()))


def _may_escape(node: exp.Expr) -> bool:
    return not isinstance(node.parent, exp.Escape) and not (node.expression.is_string and "\\" not in node.expression.name)


def _is_special(node: exp.Unnest) -> bool:
    return bool(node.args.get("offset")) or (isinstance(node.parent, exp.Join) and bool(node.parent.side))


_CHECKS: dict[type[exp.Expr], tuple[type[exp.Expr], Callable[[Any], bool]]] = {
    exp.Div: (Division, _always),
    exp.Add: (TimeSum, _adds_interval),
    exp.Sub: (TimeSubtraction, _adds_interval),
    exp.Cast: (TypedCast, lambda node: not is_literal(node)),
    exp.TryCast: (TypedTryCast, _always),
    exp.Like: (PlainLike, _may_escape),
    exp.ILike: (PlainILike, _always),
    exp.SimilarTo: (Regex, _always),
    exp.Bracket: (OneBased, _always),
}
# A cast that was written as ``DATE '..'`` has this mark.
_LITERAL = "flink_literal"
_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")


def is_literal(node: exp.Expr) -> bool:
    """Whether a cast of sqlglot's is ``DATE '..'`` or ``TIMESTAMP '..'`` in Flink."""
    return bool(node.meta_get(_LITERAL))


def _time(node: ast.TimeLiteral) -> exp.Expr:
    kind, text = node.text("kind"), node.text("this")
    if kind == "TIME":
        return node
    made = exp.Cast(this=exp.Literal.string(text), to=exp.DataType(this=_D.DATE if kind == "DATE" else _D.TIMESTAMPNTZ))
    made.meta.update({**node.meta, _LITERAL: True})
    return made


def _interval(node: exp.Expr) -> exp.Expr:
    unit = node.text("unit")
    if unit not in _UNITS or any(node.args.get(key) is not None for key in ("to", "negative", "precision", "scale")):
        return node
    made = exp.Interval(this=exp.Literal.string(node.text("this")), unit=exp.Var(this=unit))
    made.meta.update(node.meta)
    return made


# Below AND, OR and NOT, operators bind otherwise in each dialect: Flink has ``||`` beside ``*``, Spark = within LIKE, PostgreSQL IS below =, and
# ``a NOT IN (1)`` is written ``NOT a IN (1)`` in all.
_PREDICATES = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Overlaps),
    *(exp.Is, exp.Between, exp.In, exp.Like, exp.ILike, exp.RegexpLike, exp.SimilarTo, exp.Escape),
)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg)
_CONCATENATION = (exp.DPipe, exp.Concat)
_BOUND = "flink_bound"


def _binds_otherwise(node: exp.Expr) -> bool:
    """Whether ``node`` is an operand that other dialects, without parentheses, may take to belong to another operator."""
    parent = node.parent
    if isinstance(parent, exp.Concat):  # || in some
        return isinstance(node, (exp.Not, exp.Connector, *_PREDICATES))
    if isinstance(node, (exp.Not, *_PREDICATES)):
        listed = node.arg_key == "expressions" or (isinstance(parent, exp.Escape) and node.arg_key == "this")
        return isinstance(parent, (*_PREDICATES, *_ARITHMETIC, exp.DPipe)) and not listed
    if isinstance(node, _CONCATENATION):
        return isinstance(parent, _ARITHMETIC)
    return isinstance(parent, exp.DPipe) and isinstance(node, _ARITHMETIC) and not isinstance(node, exp.Neg)


def _shape(paren: exp.Paren) -> tuple[object, object]:
    parent, inner = (_PLAIN.get(type(node), type(node)) for node in (paren.parent or exp.Null(), paren.this))
    return parent.__name__, inner.__name__


def is_needless(paren: exp.Paren) -> bool:
    """Whether other dialects alone need these parentheses; not where a tool has changed what they stand between."""
    return bool(paren.meta_get(_BOUND) == _shape(paren))


def _bound(node: exp.Expr) -> None:
    """Puts ``node`` into parentheses that Flink does not need."""
    paren = exp.Paren(this=exp.Null())
    node.replace(paren)
    paren.set("this", node)
    paren.meta[_BOUND] = _shape(paren)


def exact(tree: E) -> E:
    """``tree``, changed in place, in which no other dialect writes what means something else there."""
    for literal in list(tree.find_all(ast.TimeLiteral, ast.IntervalLiteral)):
        tree = _replaced(tree, literal, _time(literal) if isinstance(literal, ast.TimeLiteral) else _interval(literal))
    for hexadecimal in list(tree.find_all(exp.HexString)):
        made = Bytes(this=exp.Literal.string(hexadecimal.name))
        made.meta.update(hexadecimal.meta)
        tree = _replaced(tree, hexadecimal, made)
    for name in _differing_in_case(tree):
        tree = _replaced(tree, name, _as(name, CaseSensitiveName))
    for operand in list(filter(_binds_otherwise, tree.walk())):
        _bound(operand)
    for node in list(tree.walk()):
        if (check := _CHECKS.get(type(node))) is not None and check[1](node):
            tree = _replaced(tree, node, _as(node, check[0]))
    outer = [tree] if isinstance(tree, exp.Query | exp.Condition) else [q for q in tree.find_all(exp.Query) if q.find_ancestor(exp.Query) is None]
    for unnest in filter(_is_special, tree.find_all(exp.Unnest)):
        unnest.set("expressions", [Elements(this=e) for e in unnest.expressions])
    for node in outer:
        annotate_types(node, dialect="flink")
    return tree


def _differing_in_case(tree: exp.Expr) -> list[exp.Identifier]:
    names = list(tree.find_all(exp.Identifier))
    spellings: dict[str, set[str]] = {}
    for name in names:
        spellings.setdefault(name.name.lower(), set()).add(name.name)
    return [name for name in names if len(spellings[name.name.lower()]) > 1]


def certain(node: exp.Expr) -> exp.Expr:
    """``node``, one of UNCERTAIN, as sqlglot's own; its parent is the same."""
    made = _as(node, _PLAIN[type(node)], copy=True)
    made.parent = node.parent
    return made


def _as(node: exp.Expr, kind: type[exp.Expr], *, copy: bool = False) -> exp.Expr:
    args = node.copy().args if copy else dict(node.args)
    made = kind(**args)
    made.meta.update(node.meta)
    made.type = node.type if not isinstance(node, exp.Cast) else None
    return made


def _replaced(tree: E, node: exp.Expr, made: exp.Expr) -> E:
    if node is tree:
        return made  # type: ignore[return-value]
    node.replace(made)
    return tree


# --- types: what annotate_types asks -----------------------------------------------------------------------------------


def _kind(node: exp.Expr | None) -> exp.DType | None:
    """The type of ``node``, None where it is not known."""
    type_ = None if node is None else node.type
    return None if type_ is None or not isinstance(type_.this, exp.DType) or type_.this == _D.UNKNOWN else type_.this


def _division(annotator: TypeAnnotator, node: exp.Expr) -> exp.Expr:
    left, right = _kind(node.this), _kind(node.expression)
    # sqlglot writes a division of whole numbers by way of DOUBLE, which has not all values of BIGINT.
    if left in _SMALL and right in _SMALL:
        return _settled(annotator, node, exp.DataType(this=_D.INT))
    if left in _APPROXIMATE or right in _APPROXIMATE:
        return _settled(annotator, node, exp.DataType(this=_D.DOUBLE))
    return _typed(annotator, node, None)


def _time_sum(annotator: TypeAnnotator, node: exp.Expr) -> exp.Expr:
    time = next((side for side in (node.this, node.expression) if not isinstance(side.unnest(), exp.Interval)), None)
    if time is not None and not time.find(ast.IntervalLiteral) and _kind(time) in _TIMES and node.find(exp.Interval) is not None:
        return _settled(annotator, node, time.type)
    return _typed(annotator, node, None)


def _cast(annotator: TypeAnnotator, node: exp.Expr) -> exp.Expr:
    source, target = _kind(node.this), node.args["to"]
    if _same_cast(node.this, source, target):
        return _settled(annotator, node, target)
    return _typed(annotator, node, target)


def _same_cast(operand: exp.Expr, source: exp.DType | None, target: exp.DataType) -> bool:
    """Whether a cast of ``source`` to ``target`` gives the same in other dialects, or fails in all."""
    wanted: exp.DType = target.this
    # Whatever may be cast to these at all.
    if source is None or wanted in (_D.DOUBLE, _D.DATE):
        return wanted in (_D.DOUBLE, _D.DATE) and source != _D.TIMESTAMPLTZ
    if wanted in _TIMES:
        digits = int(target.expressions[0].name) if target.expressions else 6
        if digits < 6 and not (isinstance(operand, exp.Literal) and len(operand.name.partition(".")[2]) <= digits):
            return source == _D.DATE
        return wanted == _D.TIMESTAMPNTZ and source in (_D.DATE, _D.TIMESTAMPNTZ, *_TEXTS)
    match source:
        case _D.NULL:
            return wanted in (*_WHOLE, *_FRACTIONS, *_TEXTS, _D.BOOLEAN)
        case _ if source in _WHOLE:
            return wanted in _FRACTIONS or wanted == _D.TEXT or (wanted in _WHOLE and _ORDER.index(wanted) >= _ORDER.index(source))
        case _D.DECIMAL:
            return wanted in (*_FRACTIONS, _D.TEXT)
        case _D.DATE:
            return wanted == _D.TEXT
        case _D.BOOLEAN:
            return wanted == _D.BOOLEAN
        case _ if source in _TEXTS:
            return wanted in (*_WHOLE, *_FRACTIONS, _D.TEXT)
    return False


def _average(annotator: TypeAnnotator, node: exp.Expr) -> exp.Expr:
    kind = _kind(node.this)
    return _typed(annotator, node, exp.DataType(this=kind) if kind in (*_WHOLE, _D.FLOAT, _D.DOUBLE) else None)


def _literal(annotator: TypeAnnotator, node: exp.Expr) -> exp.Expr:
    if node.is_string:
        return _typed(annotator, node, exp.DataType(this=_D.VARCHAR))
    text = node.name.upper()
    kind = _D.DOUBLE if "E" in text else _D.DECIMAL if "." in text else _D.INT if int(text) < 2**31 else _D.BIGINT
    return _typed(annotator, node, exp.DataType(this=kind))


def _like_operand(annotator: TypeAnnotator, node: exp.Expr) -> exp.Expr:
    kind = _kind(node.this)
    return _typed(annotator, node, None if kind is None else exp.DataType(this=kind))


def _window_column(annotator: TypeAnnotator, node: exp.Expr) -> exp.Expr:
    ours = node.text("kind") != "window_time"
    size = exp.DataTypeParam(this=exp.Literal.number(3))
    return _typed(annotator, node, exp.DataType(this=_D.TIMESTAMPNTZ, expressions=[size]) if ours else node.this.type)


def _typed(annotator: TypeAnnotator, node: exp.Expr, type_: exp.DataType | None) -> exp.Expr:
    annotator._set_type(node, type_)
    return node


def _settled(annotator: TypeAnnotator, node: exp.Expr, type_: exp.DataType) -> exp.Expr:
    """``node`` as sqlglot's plain one, in its place."""
    if node.parent is None or type(node) is TypedTryCast or type(node) not in _PLAIN:
        return _typed(annotator, node, type_)
    made = _as(node, _PLAIN[type(node)])
    node.replace(made)
    return _typed(annotator, made, type_)


# What TypeAnnotator does at a node.
RESULTS: dict[type[exp.Expr], dict[str, Any]] = {
    Division: {"annotator": _division},
    exp.Div: {"annotator": _division},
    TimeSum: {"annotator": _time_sum},
    TimeSubtraction: {"annotator": _time_sum},
    TypedCast: {"annotator": _cast},
    TypedTryCast: {"annotator": _cast},
    Average: {"annotator": _average},
    exp.Literal: {"annotator": _literal},
    exp.Ceil: {"annotator": _like_operand},
    exp.Floor: {"annotator": _like_operand},
    WindowColumn: {"annotator": _window_column},
    PlainLike: {"returns": _D.BOOLEAN},
}
