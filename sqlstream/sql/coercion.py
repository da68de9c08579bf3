"""Which types meet, and what comes of it: Flink's rules for common types, decimals and implicit casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql import types as t
from sqlstream.sql.types import Type

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_PRECISION = 38
MIN_SCALE = 6
_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}


def as_decimal(type_: Type) -> Type:
    """The DECIMAL that holds every value of an exact numeric type."""
    return type_ if type_.root == "DECIMAL" else t.decimal(_DIGITS[type_.root], 0)


def adjusted(precision: int, scale: int) -> Type:
    """DECIMAL(precision, scale), cut to 38 digits: the fraction gives way down to 6 digits."""
    if precision <= MAX_PRECISION:
        return t.decimal(precision, scale)
    whole = precision - scale
    return t.decimal(MAX_PRECISION, max(MAX_PRECISION - whole, min(scale, MIN_SCALE)))


def common_type(types: Sequence[Type]) -> Type | None:
    """The type that all of ``types`` convert to implicitly, as CASE, UNION and VALUES need; None where there is none."""
    known = [x for x in types if x.root != "NULL"]
    nullable = any(x.nullable for x in types) or len(known) < len(types)
    if not known:
        return t.NULL
    common: Type | None = known[0]
    for other in known[1:]:
        common = _common(common, other) if common is not None else None
    return common.with_nullable(nullable) if common is not None else None


def _common(a: Type, b: Type) -> Type | None:
    if a.same(b):
        return a
    if a.is_string and b.is_string:
        length = max(a.args[0], b.args[0])
        return t.char(length) if a.root == b.root == "CHAR" and a.args == b.args else t.varchar(length)
    if a.is_binary and b.is_binary:
        return Type("VARBINARY", (max(a.args[0], b.args[0]),))
    if a.is_numeric and b.is_numeric:
        return common_numeric(a, b)
    if a.is_timestamp and a.root == b.root:
        return Type(a.root, (max(a.args[0], b.args[0]),))
    if a.root == b.root == "TIME":
        return t.time(max(a.args[0], b.args[0]))
    if a.root == b.root and a.children and len(a.children) == len(b.children):
        children = [_common(x, y) for x, y in zip(a.children, b.children, strict=True)]
        if all(c is not None for c in children):
            nullables = [x.nullable or y.nullable for x, y in zip(a.children, b.children, strict=True)]
            return Type(a.root, a.args, tuple(c.with_nullable(n) for c, n in zip(children, nullables, strict=True) if c), a.names)
    return None


def common_numeric(a: Type, b: Type) -> Type:
    """The numeric type that holds both."""
    if a.is_integer and b.is_integer:
        return max((a, b), key=lambda x: t.INTEGERS.index(x.root))
    if a.is_approximate and b.is_approximate:
        # FLOAT + DOUBLE is FLOAT: both are of one precision, and the first wins.
        return a
    if a.is_approximate or b.is_approximate:
        wider = a if a.is_approximate else b
        return t.DOUBLE if "DECIMAL" in (a.root, b.root) else wider
    (p1, s1), (p2, s2) = as_decimal(a).args, as_decimal(b).args
    scale = max(s1, s2)
    whole = max(p1 - s1, p2 - s2)
    return t.decimal(min(MAX_PRECISION, whole + scale), min(scale, MAX_PRECISION - whole) if whole < MAX_PRECISION else 0)


def plus_type(a: Type, b: Type) -> Type:
    """The type of a + b and a - b."""
    if not _decimals(a, b):
        return common_numeric(a, b)
    (p1, s1), (p2, s2) = as_decimal(a).args, as_decimal(b).args
    scale = max(s1, s2)
    return adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)


def times_type(a: Type, b: Type) -> Type:
    """The type of a * b."""
    if not _decimals(a, b):
        return common_numeric(a, b)
    (p1, s1), (p2, s2) = as_decimal(a).args, as_decimal(b).args
    return adjusted(p1 + p2 + 1, s1 + s2)


def divide_type(a: Type, b: Type) -> Type:
    """The type of a / b: integers give integers."""
    if not _decimals(a, b):
        return common_numeric(a, b)
    (p1, s1), (p2, s2) = as_decimal(a).args, as_decimal(b).args
    scale = max(MIN_SCALE, s1 + p2 + 1)
    return adjusted(p1 - s1 + s2 + scale, scale)


def modulo_type(a: Type, b: Type) -> Type:
    """The type of a % b: that of b for integers."""
    if a.is_integer and b.is_integer:
        return b.with_nullable(True)
    if not _decimals(a, b):
        return common_numeric(a, b)
    (p1, s1), (p2, s2) = as_decimal(a).args, as_decimal(b).args
    scale = max(s1, s2)
    return adjusted(min(p1 - s1, p2 - s2) + scale, scale)


def _decimals(a: Type, b: Type) -> bool:
    return "DECIMAL" in (a.root, b.root) and a.is_exact and b.is_exact


# What INSERT converts to a type by itself, besides the type's own root; children of ROW, ARRAY and MAP pairwise.
_IMPLICIT: dict[str, tuple[str, ...]] = {
    "VARCHAR": ("CHAR",), "VARBINARY": ("BINARY",), "SMALLINT": t.INTEGERS[:1], "INT": t.INTEGERS[:2], "BIGINT": t.INTEGERS[:3],
    "DECIMAL": (*t.INTEGERS, "FLOAT", "DOUBLE"), "FLOAT": (*t.INTEGERS, "DECIMAL"), "DOUBLE": (*t.INTEGERS, "DECIMAL", "FLOAT"),
    "DATE": ("TIMESTAMP",), "TIME": ("TIMESTAMP",), "TIMESTAMP": ("TIMESTAMP_LTZ",), "TIMESTAMP_LTZ": ("TIMESTAMP",),
}  # fmt: skip


def implicitly_castable(source: Type, target: Type) -> bool:
    """Whether INSERT converts ``source`` to ``target`` by itself."""
    if source.root == "NULL":
        return True
    if source.root == target.root:
        return len(source.children) == len(target.children) and all(map(implicitly_castable, source.children, target.children))
    return source.root in _IMPLICIT.get(target.root, ())


def comparison_type(a: Type, b: Type) -> Type | None:
    """The type in which ``a`` and ``b`` are compared; None where they can't be, or where Flink's own answer is doubtful."""
    if (a.root == "DATE" and b.is_timestamp) or (b.root == "DATE" and a.is_timestamp):
        return None
    common = common_type([a, b])
    if common is not None:
        return common
    if a.is_timestamp and b.is_timestamp:
        return t.timestamp_ltz(max(a.args[0], b.args[0]))
    for text, other in ((a, b), (b, a)):
        if text.is_string and (other.is_timestamp or other.root in ("DATE", "TIME")):
            return other.null()
    return None


def compared(types: tuple[Type, ...]) -> tuple[Type, ...] | None:
    """Both sides of a comparison, or a value and a list, in the type in which they are compared."""
    if all(x.is_string for x in types):
        return types
    common: Type | None = types[0]
    for other in types[1:]:
        common = comparison_type(common, other) if common is not None else None
    return None if common is None else tuple(common.with_nullable(x.nullable) for x in types)


def ordered(types: tuple[Type, ...]) -> tuple[Type, ...] | None:
    """The sides of ``<`` and its like, or of BETWEEN. A text beside a number is one, a BIGINT where that has no scale; ``=`` refuses it."""
    if not (any(x.is_string for x in types) and any(x.is_numeric for x in types)):
        return compared(types)
    return compared(tuple(t.BIGINT.with_nullable(x.nullable) if x.is_string or x.is_integer else x for x in types))


def listed(types: tuple[Type, ...]) -> tuple[Type, ...] | None:
    """A value and a list. A list of texts, of numbers, for a number, a text, becomes what the value is."""
    value, *others = types
    known = [x for x in others if x.root != "NULL"]
    if (value.is_numeric and all(x.is_string for x in known)) or (value.null() == t.STRING and all(x.is_numeric for x in known)):
        return (value, *(value.with_nullable(x.nullable) for x in others))
    return compared(types)


_TIMES = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ")


def operands(types: tuple[Type, ...]) -> tuple[Type, ...] | None:
    """Both sides of an arithmetic operator on numbers; a DECIMAL and what stands beside it keep their own precisions."""
    a, b = types
    if a.root == "NULL" and b.is_numeric:
        a = b.null()
    elif b.root == "NULL" and a.is_numeric:
        b = a.null()
    if not (a.is_numeric and b.is_numeric):
        return None
    if (a.is_integer and b.is_integer) or a.is_approximate or b.is_approximate:
        common = common_numeric(a, b)
        return (common.with_nullable(a.nullable), common.with_nullable(b.nullable))
    return (a, b)


def modulo_operands(types: tuple[Type, ...]) -> tuple[Type, ...] | None:
    """Both sides of %: whole numbers keep their own types."""
    return types if all(x.is_integer for x in types) else operands(types)


def plus_operands(types: tuple[Type, ...]) -> tuple[Type, ...] | None:
    """Both sides of +: numbers, intervals of one kind, or a time and an interval."""
    a, b = types
    if (a.is_interval and b.root in _TIMES) or minus_fits(a, b):
        return types
    return operands(types)


def minus_operands(types: tuple[Type, ...]) -> tuple[Type, ...] | None:
    """Both sides of -: numbers, intervals of one kind, or an interval from a time."""
    return types if minus_fits(*types) else operands(types)


def minus_fits(a: Type, b: Type) -> bool:
    return b.is_interval and (a.root in _TIMES or a.root == b.root)


def times_operands(types: tuple[Type, ...]) -> tuple[Type, ...] | None:
    """Both sides of *: numbers, or an interval and a number."""
    a, b = types
    return types if (a.is_interval and b.is_numeric) or (a.is_numeric and b.is_interval) else operands(types)
