"""Typed expressions as Flink SQL text, for EXPLAIN and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.sql.expressions import AggregateCall, Call, Cast, ColumnRef, Expr, FieldAccess, Keyword, Literal
from sqlstream.sql.generated_names import shown
from sqlstream.sql.quoting import flink_string

if TYPE_CHECKING:
    from sqlstream.sql.types import Type

_INFIX = ("+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "AND", "OR", "LIKE", "||", "IS NOT DISTINCT FROM")


_FAMILIES = {"BOOLEAN": "BOOLEAN", "DATE": "DATE", "TIME": "TIME", "ARRAY": "ARRAY", "MAP": "MAP", "MULTISET": "MULTISET", "NULL": "NULL"}


def family_name(type_: Type) -> str:
    """What messages about unknown functions call a type."""
    if type_.is_numeric:
        return "NUMERIC"
    if type_.is_string:
        return "CHARACTER"
    if type_.is_binary:
        return "BINARY"
    return "TIMESTAMP" if type_.is_timestamp else _FAMILIES.get(type_.root, str(type_))


def sql_name(type_: Type) -> str:
    """What messages about wrong arguments call a type: as the SQL standard does."""
    match type_.root:
        case "INT":
            return "INTEGER"
        case "VARCHAR" | "VARBINARY":
            return f"{type_.root}({type_.args[0]})"
        case "TIMESTAMP_LTZ":
            return f"TIMESTAMP_WITH_LOCAL_TIME_ZONE({type_.args[0]})"
        case "ARRAY" | "MULTISET":
            return f"{sql_name(type_.children[0])} {type_.root}"
        case "MAP":
            return f"({', '.join(map(sql_name, type_.children))}) MAP"
    return str(type_)


def to_text(expr: Expr) -> str:
    """``expr`` as one would write it."""
    match expr:
        case ColumnRef(name=name):
            return shown(name)
        case Literal():
            return _literal(expr)
        case Keyword(text=text):
            return text
        case Cast(operand=operand, type=type_, safe=safe):
            return f"{'TRY_CAST' if safe else 'CAST'}({to_text(operand)} AS {type_})"
        case FieldAccess(operand=operand, name=name):
            return f"{to_text(operand)}.{name}"
        case AggregateCall(function=function, args=args, distinct=distinct, filter=condition):
            inside = ", ".join(map(to_text, args)) or "*"
            suffix = f" FILTER (WHERE {to_text(condition)})" if condition is not None else ""
            return f"{function.name}({'DISTINCT ' if distinct else ''}{inside}){suffix}"
        case Call(function=function, args=args):
            return _call(function.name, args)
    raise TypeError(type(expr).__name__)


def _call(name: str, args: tuple[Expr, ...]) -> str:
    texts = [to_text(a) for a in args]
    match name:
        case _ if name in _INFIX and len(texts) == 2:
            return f"({texts[0]} {name} {texts[1]})"
        case "NOT":
            return f"NOT({texts[0]})"
        case "NEGATE":
            return f"-{texts[0]}"
        case "- UNIT":
            return f"({texts[1]} - {texts[2]}) {texts[0]}"
        case "IS NULL" | "IS TRUE" | "IS FALSE":
            return f"{texts[0]} {name}"
        case "IN":
            return f"{texts[0]} IN ({', '.join(texts[1:])})"
        case "ITEM":
            return f"{texts[0]}[{texts[1]}]"
        case "CASE":
            branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(texts[:-1:2], texts[1::2], strict=False))
            return f"CASE {branches} ELSE {texts[-1]} END"
        case "FLOOR TO" | "CEIL TO":
            return f"{name.split()[0]}({texts[0]} TO {texts[1]})"
    return f"{name}({', '.join(texts)})"


def _literal(expr: Literal) -> str:
    match expr.value:
        case None:
            return "NULL"
        case bool():
            return str(expr.value).upper()
        case str():
            return flink_string(expr.value)
        case bytes():
            return f"X'{expr.value.hex()}'"
        case int() if expr.type.root == "INTERVAL_MILLIS":
            return f"INTERVAL '{expr.value / 1000:g}' SECOND"
        case int() if expr.type.root == "INTERVAL_MONTHS":
            return f"INTERVAL '{expr.value}' MONTH"
    return f"{expr.type.root} '{expr.value}'" if expr.type.root in ("DATE", "TIME", "TIMESTAMP") else str(expr.value)
