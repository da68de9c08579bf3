"""The clauses of JSON calls (``RETURNING INT``, ``DEFAULT 0 ON EMPTY``, ``ABSENT ON NULL``), brought to plain arguments.

The parser gives each word of a clause as a Var and a type as an exp.DataType; the rows of functions/json take fixed positions.
"""

from __future__ import annotations

from sqlglot import exp

from sqlstream.core.errors import ValidationError
from sqlstream.sql import types as t
from sqlstream.sql.syntax.calls import call_args, call_name, is_call, is_called
from sqlstream.sql.syntax.data_types import data_type

CONSTRUCTORS = ("JSON_ARRAY", "JSON_OBJECT")
AGGREGATES = ("JSON_ARRAYAGG", "JSON_OBJECTAGG")
CALLS = ("JSON_VALUE", "JSON_QUERY", "JSON_EXISTS", "JSON_STRING", "JSON", *CONSTRUCTORS, *AGGREGATES)


# What becomes of NULLs where it is not said.
_DEFAULTS = {"JSON_ARRAY": "ABSENT", "JSON_OBJECT": "NULL", "JSON_ARRAYAGG": "ABSENT", "JSON_OBJECTAGG": "NULL"}


def plain_call(name: str, raw: list[exp.Expr], at: exp.Expr) -> tuple[str, list[exp.Expr]]:
    """The row of a JSON call, and its arguments without clauses in the order that the row takes. Raises ValidationError."""
    match name:
        case "JSON_VALUE":
            returning, rest = _returning(raw[2:])
            on = _answers(rest)
            return name, [*raw[:2], _null_of(returning), *on["EMPTY"], *on["ERROR"]]
        case "JSON_QUERY":
            returning, rest = _returning(raw[2:])
            wrapper, rest = _wrapper(rest)
            on = _answers(rest)
            return name, [*raw[:2], _null_of(returning), _word(wrapper), on["EMPTY"][0], on["ERROR"][0]]
        case "JSON_EXISTS":
            return name, [*raw[:2], raw[2] if len(raw) > 2 else _word("FALSE")]
        case "JSON_STRING":
            return name, [_part(value, CONSTRUCTORS) for value in raw]
        case "JSON":
            hint = "Write JSON_OBJECT('a' VALUE JSON('[1]')), or JSON_ARRAY(JSON('[1]'))."
            message = "The JSON() function is currently only supported inside JSON_ARRAY() or as the VALUE param of JSON_OBJECT()."
            raise ValidationError(message, at=at, hint=hint)
    nulls, values = _on_null(raw)
    if name in AGGREGATES:
        values[-1:] = [_named(exp.Anonymous(this="JSON_STRING", expressions=[value]), value) for value in values[-1:]]
        return f"{name} {nulls} ON NULL" if nulls and nulls != _DEFAULTS[name] else name, values
    step = 2 if name == "JSON_OBJECT" else 1
    parts = [_part(value, ("JSON", *CONSTRUCTORS)) if (i + 1) % step == 0 else value for i, value in enumerate(values)]
    return name, [_word(nulls or _DEFAULTS[name]), *parts]


def _returning(rest: list[exp.Expr]) -> tuple[exp.Expr, list[exp.Expr]]:
    if rest and rest[0].name.upper() == "RETURNING":
        return rest[1], rest[2:]
    return data_type(t.STRING), rest


def _wrapper(rest: list[exp.Expr]) -> tuple[str, list[exp.Expr]]:
    """What follows WITH or WITHOUT, up to WRAPPER."""
    words = [word.name.upper() for word in rest]
    if "WRAPPER" not in words:
        return "WITHOUT", rest
    end = words.index("WRAPPER")
    if words[0] == "WITHOUT":
        return "WITHOUT", rest[end + 1 :]
    return "CONDITIONAL" if "CONDITIONAL" in words[:end] else "UNCONDITIONAL", rest[end + 1 :]


def _answers(rest: list[exp.Expr]) -> dict[str, tuple[exp.Expr, exp.Expr]]:
    """What is done on EMPTY and on ERROR, each with its default."""
    answers: dict[str, tuple[exp.Expr, exp.Expr]] = {"EMPTY": (_word("NULL"), exp.Null()), "ERROR": (_word("NULL"), exp.Null())}
    begin = 0
    for i, word in enumerate(rest):
        if isinstance(word, exp.Var) and word.name == "ON":
            default = rest[begin + 1] if rest[begin].name == "DEFAULT" else exp.Null()
            action = " ".join(w.name for w in rest[begin:i] if isinstance(w, exp.Var))
            answers[rest[i + 1].name] = (_word(action), default)
            begin = i + 2
    return answers


def _on_null(raw: list[exp.Expr]) -> tuple[str, list[exp.Expr]]:
    """What becomes of NULLs, if it is said; the values without the words between them."""
    words = [v.name.upper() if isinstance(v, exp.Var) else "" for v in raw[-3:]]
    said = words[0] if words[1:] == ["ON", "NULL"] else ""
    values = raw[:-3] if said else raw
    return said, [v for v in values if not (isinstance(v, exp.Var) and v.name.upper() in ("KEY", "VALUE"))]


def _part(value: exp.Expr, names: tuple[str, ...]) -> exp.Expr:
    """A value of a constructor: what one of these functions gives goes into the result as JSON."""
    inner = value
    # What Flink's planner takes away: a cast of a text to STRING, and COALESCE of what is never NULL.
    while isinstance(inner, exp.Paren) or (isinstance(inner, exp.Cast) and inner.to.this == exp.DType.TEXT) or _is_coalesce(inner):
        inner = call_args(inner)[0] if is_call(inner) else inner.this
    name = call_name(inner).upper()
    if name not in names:
        return value
    if name == "JSON":
        return _named(exp.Anonymous(this="JSON TEXT", expressions=call_args(inner)), inner)
    return _named(exp.Anonymous(this="JSON PART", expressions=[inner]), inner)


def _is_coalesce(node: exp.Expr) -> bool:
    return is_called(node, "COALESCE") and bool(call_args(node))


def _named(node: exp.Expr, like: exp.Expr) -> exp.Expr:
    node.meta.update(like.meta)
    return node


def _null_of(type_: exp.Expr) -> exp.Expr:
    return exp.Cast(this=exp.Null(), to=type_)


def _word(text: str) -> exp.Var:
    return exp.Var(this=text)
