"""The clauses of JSON calls (``RETURNING INT``, ``DEFAULT 0 ON EMPTY``, ``ABSENT ON NULL``), brought to plain arguments.

The parser gives each word of a clause as a Var and a type as a TypeNode; the rows of functions/json take fixed positions.
"""

from __future__ import annotations

from sqlglot import exp

from sqlstream.errors import NotSupported
from sqlstream.sql import ast
from sqlstream.sql import types as t

CALLS = ("JSON_VALUE", "JSON_QUERY", "JSON_EXISTS", "JSON_ARRAY", "JSON_OBJECT")


def plain_arguments(name: str, raw: list[exp.Expr], at: exp.Expr) -> list[exp.Expr]:
    """The arguments of a JSON call without clauses, in the order that its row takes. Raises NotSupported for what it doesn't know."""
    if name == "JSON_VALUE":
        return _value(raw, at)
    if name in ("JSON_ARRAY", "JSON_OBJECT"):
        return _constructor(name, raw, at)
    for item in raw:
        if isinstance(item, exp.Var | ast.TypeNode):
            raise NotSupported(f"{item.name.upper() or 'RETURNING'} is not supported in {name}.", at=item if isinstance(item, exp.Var) else at)
    return raw


def _value(raw: list[exp.Expr], at: exp.Expr) -> list[exp.Expr]:
    values, rest = raw[:2], raw[2:]
    returning: exp.Expr = ast.TypeNode(this=t.STRING)
    on: dict[str, tuple[exp.Expr, exp.Expr]] = {"EMPTY": (_word("NULL"), exp.Null()), "ERROR": (_word("NULL"), exp.Null())}
    while rest:
        word = rest.pop(0)
        match word.name.upper() if isinstance(word, exp.Var) else "":
            case "RETURNING" if rest:
                returning = rest.pop(0)
            case "NULL" | "ERROR" | "DEFAULT" as action if len(rest) > 1:
                default = rest.pop(0) if action == "DEFAULT" else exp.Null()
                names = [rest.pop(0).name.upper() for _ in range(min(2, len(rest)))]
                if names[:1] != ["ON"] or names[1] not in on:
                    raise NotSupported("This clause of JSON_VALUE is not supported.", at=word)
                on[names[1]] = (_word(action), default)
            case _:
                raise NotSupported("This clause of JSON_VALUE is not supported.", at=word if isinstance(word, exp.Var) else at)
    return [*values, exp.Cast(this=exp.Null(), to=returning), *on["EMPTY"], *on["ERROR"]]


def _constructor(name: str, raw: list[exp.Expr], at: exp.Expr) -> list[exp.Expr]:
    """The word that says what becomes of NULLs, then the values, or keys and values in turn."""
    nulls = "NULL" if name == "JSON_OBJECT" else "ABSENT"
    values = list(raw)
    words = [v.name.upper() if isinstance(v, exp.Var) else "" for v in values[-3:]]
    if words[1:] == ["ON", "NULL"] and words[0] in ("NULL", "ABSENT"):
        nulls, values = words[0], values[:-3]
    plain = [v for v in values if not (isinstance(v, exp.Var) and v.name.upper() in ("KEY", "VALUE"))]
    for value in plain:
        if isinstance(value, exp.Var):
            raise NotSupported(f"{value.name} is not supported in {name}.", at=value)
        if isinstance(value, exp.Anonymous) and value.name.upper() in ("JSON", *CALLS[3:]):
            raise NotSupported(f"{value.name.upper()} inside of {name} is not supported.", at=value)
    return [_word(nulls), *plain]


def _word(text: str) -> exp.Var:
    return exp.Var(this=text)
