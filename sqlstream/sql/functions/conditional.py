"""Functions that choose among their arguments, or test one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlstream.sql import types as t
from sqlstream.sql.coercion import common_type, compared
from sqlstream.sql.functions.base import Function, Rendered, Spark, Types, not_null, nullable
from sqlstream.sql.quoting import spark_string

if TYPE_CHECKING:
    from sqlstream.sql.types import Type


def same(types: Types) -> Types | None:
    """All arguments brought to their common type."""
    common = common_type(types)
    return None if common is None else tuple(common.with_nullable(x.nullable) for x in types)


def _merged(types: Types) -> Types | None:
    """As ``same``, but FLOAT and DOUBLE meet in DOUBLE."""
    wide = next((x for x in types if x.root == "DOUBLE"), None)
    return same(tuple(wide.with_nullable(x.nullable) if wide is not None and x.root == "FLOAT" else x for x in types))


def _same_behind(types: Types) -> Types | None:
    rest = same(types[1:])
    return None if rest is None or rest[0].children else (types[0], *rest)


def _equal(types: Types) -> Types | None:
    """Two that compare; numbers as they are, so that the first's type stays."""
    return types if all(x.is_numeric for x in types) else compared(types)


def _if_any_null(types: Types) -> Type:
    return types[0].with_nullable(any(x.nullable for x in types))


def _if_all_null(types: Types) -> Type:
    return types[0].with_nullable(all(x.nullable for x in types))


def _extreme(name: str) -> Spark:
    def render(call: Rendered) -> str:
        if len(call.args) == 1:
            return call.args[0]
        nulls = " OR ".join(f"{a} IS NULL" for a, type_ in zip(call.args, call.types, strict=True) if type_.nullable)
        extreme = f"{name}({', '.join(call.args)})"
        return f"if({nulls}, NULL, {extreme})" if nulls else extreme

    return render


def _tested(what: str, kind: str = "") -> Spark:
    """A test of a text's characters; whatever is of a type of the ``kind`` passes it, NULL too, and nothing else does."""

    def render(call: Rendered) -> str:
        if call.types[0].is_string:
            return f"coalesce(sqlstream_is_{what}({call.args[0]}), false)"
        return "true" if kind and getattr(call.types[0], kind) else "false"

    return render


# Texts in back-ticks are names of fields.
_SHORT = re.compile(r"`(?:[^`]|``)*`|\bSTRING\b|\bBYTES\b")
_LONG = {"STRING": f"VARCHAR({t.MAX_LENGTH})", "BYTES": f"VARBINARY({t.MAX_LENGTH})"}


def _type_name(call: Rendered) -> str:
    name = call.types[0].full
    return spark_string(_SHORT.sub(lambda m: _LONG.get(m[0], m[0]), name) if call.values[1:] == (True,) else name)


def _check_flag(types: Types, values: tuple[Any, ...]) -> str | None:
    return "The second argument of TYPEOF must be TRUE or FALSE." if len(types) > 1 and not isinstance(values[1], bool) else None


def _coalesce(call: Rendered) -> str:
    """As Flink, which asks no argument behind one whose type is NOT NULL."""
    sure = next((i for i, type_ in enumerate(call.types) if not type_.nullable), len(call.args))
    return f"coalesce({', '.join(call.args[: sure + 1])})"


_SURE = not_null(t.BOOLEAN)

ROWS: tuple[Function, ...] = (
    Function("TYPEOF", ("any", "boolean?"), nullable(t.STRING), _type_name, "The name of a value's type, with the lengths of STRING and BYTES where the second is TRUE.", "TYPEOF(1)", check=_check_flag),
    # The binder puts the name in its place.
    Function("CURRENT_DATABASE", (), not_null(t.STRING), "current_database()", "The name of the current database.", "CURRENT_DATABASE()"),
    Function("COALESCE", ("any", "any*"), _if_all_null, _coalesce, "The first that is not NULL.", "COALESCE(CAST(NULL AS INT), 2, 0)", coerce=same),
    Function("IFNULL", ("any", "any"), _if_all_null, _coalesce, "The second where the first is NULL.", "IFNULL(CAST(NULL AS INT), 0)", coerce=_merged),
    Function("NULLIF", ("comparable", "comparable"), lambda ts: ts[0].null(), "nullif({0}, {1})", "NULL where both are equal.", "NULLIF(5, 0)", coerce=_equal),
    Function("IF", ("boolean", "any", "any"), lambda ts: ts[1].with_nullable(any(x.nullable for x in ts)), "if({0}, {1}, {2})", "The second where the first holds, else the third.", "IF(1 > 0, 'x', 'y')", coerce=_same_behind),
    Function("GREATEST", ("ordered", "ordered*"), _if_any_null, _extreme("greatest"), "The greatest; NULL where one is NULL.", "GREATEST(1, 2)", coerce=_merged),
    Function("LEAST", ("ordered", "ordered*"), _if_any_null, _extreme("least"), "The least; NULL where one is NULL.", "LEAST(1, 2)", coerce=_merged),
    Function("IS_ALPHA", ("number or string",), _SURE, _tested("alpha"), "Whether all characters are letters.", "IS_ALPHA('abc')"),
    Function("IS_DIGIT", ("number or string",), _SURE, _tested("digit", "is_integer"), "Whether all characters are digits.", "IS_DIGIT('123')"),
    Function("IS_DECIMAL", ("number or string",), _SURE, _tested("decimal", "is_numeric"), "Whether it reads as a number.", "IS_DECIMAL('1.5')"),
)  # fmt: skip
