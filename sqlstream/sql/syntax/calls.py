"""Calls of functions: which of sqlglot's nodes they are, and what Flink calls them.

A function that means the same as a class of sqlglot is a node of that class, by COUNTERPARTS; Flink's other functions are a Builtin or a
BuiltinAggregate, which no other dialect can write; a user's own is an exp.Anonymous. ``call_name`` and ``call_args`` give the call as it was
written, whatever its node: binding and plans read these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from sqlstream.sql.functions import AGGREGATES, FUNCTIONS
from sqlstream.sql.functions.aggregates import OVER_ONLY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Where sqlglot keeps the name of a function as it was written.
NAME_KEY = "flink_name"


class FlinkOnly(exp.Func):
    """A construct that other dialects can't write: sqlglot's generators ask what they don't know for the name of a function, and this has none."""

    @property
    def construct(self) -> str:
        """What messages call it."""
        return self.name.upper()

    @property
    def refusal(self) -> str:
        return f"{self.construct} of Flink SQL has no counterpart of the same meaning in this dialect."

    def sql_name(self) -> str:  # type: ignore[override]
        """Raises UnsupportedError."""
        raise UnsupportedError(self.refusal)


class Builtin(exp.Expression, FlinkOnly):
    """A call of a function of Flink's: ``this`` is its name as written."""

    arg_types = {"this": True, "expressions": False}
    is_var_len_args = True


class BuiltinAggregate(exp.Expression, FlinkOnly, exp.AggFunc):
    """A call of an aggregate function of Flink's."""

    arg_types = {"this": True, "expressions": False}
    is_var_len_args = True


class Average(exp.Avg):
    """AVG: of whole numbers it is a whole number, of DECIMALs it has Flink's scale. Other dialects have the same of DOUBLE."""

    def sql_name(self) -> str:  # type: ignore[override]
        """Raises UnsupportedError unless the argument's type is known to be DOUBLE or FLOAT."""
        operand = self.this.expressions[0] if isinstance(self.this, exp.Distinct) else self.this
        if operand.type is not None and operand.type.this in (exp.DType.DOUBLE, exp.DType.FLOAT):
            return "AVG"
        raise UnsupportedError("AVG of other types than DOUBLE has another result in this dialect; write AVG(CAST(x AS DOUBLE)).")


class Counterpart(NamedTuple):
    """A function and the class of sqlglot that means the same.

    ``keys``: where the node keeps the arguments, in Flink's order; the last takes the rest as a list if it ends in ``*``; an argument may be
    missing if its key ends in ``?``. ``flags`` are what the node has besides. ``when``: which arguments mean the same, where not all do.
    """

    name: str
    node: type[exp.Expr]
    keys: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    when: Callable[[Sequence[exp.Expr]], bool] | None = None

    def build(self, args: Sequence[exp.Expr]) -> exp.Expr | None:
        """The node, or None if these are other arguments."""
        plain = [key for key in self.keys if key[-1] not in "*?"]
        rest = self.keys[-1] if self.keys and self.keys[-1].endswith("*") else None
        if len(args) < len(plain) or (rest is None and len(args) > len(self.keys)) or (self.when is not None and not self.when(args)):
            return None
        fixed = self.keys[:-1] if rest else self.keys
        arguments: dict[str, Any] = {key.rstrip("?"): arg for key, arg in zip(fixed, args, strict=False)}
        if rest and len(args) > len(fixed):
            arguments[rest[:-1]] = list(args[len(fixed) :])
        return self.node(**arguments, **dict.fromkeys(self.flags, True))

    def args(self, node: exp.Expr) -> list[exp.Expr] | None:
        """The arguments of ``node``, None if it has others than Flink's function takes."""
        known = {key.rstrip("*?") for key in self.keys}
        if any(value for key, value in node.args.items() if key not in known and key not in self.flags):
            return None
        arguments: list[exp.Expr] = []
        for key in self.keys:
            value = node.args.get(key.rstrip("*?"))
            arguments += value if isinstance(value, list) else [value] if value is not None else []
        return arguments


def _whole(node: exp.Expr, least: int) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit() and int(node.name) >= least


def _from_start(args: Sequence[exp.Expr]) -> bool:
    """Whether a text is cut at a constant place: each dialect counts in its own way from 0 and from the end."""
    return _whole(args[1], 1) and all(_whole(a, 0) for a in args[2:])


_UNITS = ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE")
COUNTERPARTS: tuple[Counterpart, ...] = (
    Counterpart("COUNT", exp.Count, ("this",), ("big_int",)),
    Counterpart("SUM", exp.Sum, ("this",)),
    Counterpart("MIN", exp.Min, ("this",)),
    Counterpart("MAX", exp.Max, ("this",)),
    Counterpart("AVG", Average, ("this",)),
    Counterpart("GROUPING", exp.Grouping, ("expressions*",)),
    Counterpart("ROW_NUMBER", exp.RowNumber),
    Counterpart("RANK", exp.Rank),
    Counterpart("DENSE_RANK", exp.DenseRank),
    Counterpart("PERCENT_RANK", exp.PercentRank),
    Counterpart("CUME_DIST", exp.CumeDist),
    Counterpart("NTILE", exp.Ntile, ("this",)),
    Counterpart("LAG", exp.Lag, ("this", "offset?", "default?")),
    Counterpart("LEAD", exp.Lead, ("this", "offset?", "default?")),
    Counterpart("COALESCE", exp.Coalesce, ("this", "expressions*")),
    Counterpart("IFNULL", exp.Coalesce, ("this", "expressions*"), when=lambda args: len(args) == 2),
    Counterpart("NULLIF", exp.Nullif, ("this", "expression")),
    Counterpart("ABS", exp.Abs, ("this",)),
    # Of DOUBLE they are DOUBLE in Flink and a whole number in others: the same number.
    Counterpart("CEIL", exp.Ceil, ("this",)),
    Counterpart("FLOOR", exp.Floor, ("this",)),
    Counterpart("UPPER", exp.Upper, ("this",)),
    Counterpart("LOWER", exp.Lower, ("this",)),
    Counterpart("CHAR_LENGTH", exp.Length, ("this",)),
    Counterpart("CHARACTER_LENGTH", exp.Length, ("this",)),
    Counterpart("REVERSE", exp.Reverse, ("this",)),
    Counterpart("REPEAT", exp.Repeat, ("this", "times")),
    # An empty text to be replaced is found everywhere by Flink, nowhere by others.
    Counterpart("REPLACE", exp.Replace, ("this", "expression", "replacement"), when=lambda args: args[1].is_string and args[1].name != ""),
    Counterpart("SUBSTRING", exp.Substring, ("this", "start", "length?"), when=_from_start),
    Counterpart("SUBSTR", exp.Substring, ("this", "start", "length?"), when=_from_start),
    Counterpart("LEFT", exp.Left, ("this", "expression"), when=lambda args: _whole(args[1], 0)),
    Counterpart("RIGHT", exp.Right, ("this", "expression"), when=lambda args: _whole(args[1], 0)),
    Counterpart("TRIM", exp.Trim, ("this",)),
    Counterpart("TRIM", exp.Trim, ("position", "expression", "this")),
    Counterpart("POSITION", exp.StrPosition, ("substr", "this")),
    Counterpart("CONCAT", exp.Concat, ("expressions*",)),
    Counterpart("CONCAT_WS", exp.ConcatWs, ("expressions*",), ("coalesce",)),
    Counterpart("EXTRACT", exp.Extract, ("this", "expression"), when=lambda args: args[0].name in _UNITS),
    Counterpart("YEAR", exp.Year, ("this",)),
    Counterpart("MONTH", exp.Month, ("this",)),
    Counterpart("CURRENT_DATE", exp.CurrentDate),
    Counterpart("CURRENT_TIMESTAMP", exp.CurrentTimestamp),
    Counterpart("LOCALTIMESTAMP", exp.Localtimestamp),
    Counterpart("ARRAY", exp.Array, ("expressions*",)),
)
_BY_NAME: dict[str, tuple[Counterpart, ...]] = {}
_BY_CLASS: dict[type[exp.Expr], tuple[Counterpart, ...]] = {}
for _row in COUNTERPARTS:
    _BY_NAME[_row.name] = (*_BY_NAME.get(_row.name, ()), _row)
    _BY_CLASS[_row.node] = (*_BY_CLASS.get(_row.node, ()), _row)
_BY_CLASS[exp.Avg] = _BY_CLASS[Average]

_AGGREGATES = frozenset(f.name for f in AGGREGATES if f.name not in OVER_ONLY)
# Functions of Flink that are not in the functions' table: of group windows, of MATCH_RECOGNIZE, of watermarks.
_ELSEWHERE = (
    *(f"{window}{part}" for window in ("TUMBLE", "HOP", "SESSION") for part in ("", "_START", "_END", "_ROWTIME", "_PROCTIME")),
    *("FIRST", "LAST", "PREV", "NEXT", "CLASSIFIER", "MATCH_ROWTIME", "MATCH_PROCTIME", "SOURCE_WATERMARK"),
)
_BUILTINS = frozenset([*(f.name for f in FUNCTIONS if f.name.isidentifier()), "ARRAY", "MAP", "MULTISET", "ROW", "MOD", *_ELSEWHERE])
_OWN = (exp.Anonymous, Builtin, BuiltinAggregate)
CALLS: tuple[type[exp.Expr], ...] = (*_OWN, *_BY_CLASS)
_CALLS = frozenset(CALLS)


def call(name: str, args: Sequence[exp.Expr] = ()) -> exp.Expr:
    """The node of a call of ``name``, as written, with arguments in Flink's order."""
    upper = name.upper()
    for row in _BY_NAME.get(upper, ()):
        if (built := row.build(args)) is not None:
            built.meta[NAME_KEY] = name
            return built
    own = BuiltinAggregate if upper in _AGGREGATES else Builtin if upper in _BUILTINS else exp.Anonymous
    return own(this=name, expressions=list(args))


def is_call(node: object) -> bool:
    """Whether ``node`` calls a function: by its name and parentheses, not as an operator, CASE or CAST."""
    return type(node) in _CALLS


def calls(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The calls in ``tree``."""
    return (node for node in tree.walk() if type(node) in _CALLS)


def call_name(node: exp.Expr) -> str:
    """What ``node`` calls, as written; empty for what is not a call."""
    kind = type(node)
    if kind in _OWN:
        return str(node.this)
    rows = _BY_CLASS.get(kind)
    return str(node.meta_get(NAME_KEY) or rows[0].name) if rows else ""


def call_args(node: exp.Expr) -> list[exp.Expr]:
    """The arguments of a call in Flink's order; none of what is not a call."""
    if type(node) in _OWN:
        return list(node.expressions)
    return _args(node) or []


def _args(node: exp.Expr) -> list[exp.Expr] | None:
    name = call_name(node).upper()
    for row in _BY_CLASS.get(type(node), ()):
        if row.name == name and (arguments := row.args(node)) is not None:
            return arguments
    return None


def is_written(node: exp.Expr) -> bool:
    """Whether Flink has a function with just the arguments of ``node``, which another dialect may have made."""
    return type(node) in _OWN or _args(node) is not None


def is_called(node: object, *names: str) -> bool:
    """Whether ``node`` is a call of one of these functions, in upper case."""
    return isinstance(node, exp.Expr) and call_name(node).upper() in names and is_call(node)
