"""Functions of JSON texts: Java methods that look into a text by the path library that Flink uses, and that write one by the same rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlstream.sql import types as t
from sqlstream.sql.functions.base import Function, Rendered, Spark, Types, listed, listed_values, not_null, nullable, packed
from sqlstream.sql.quoting import spark_string

if TYPE_CHECKING:
    from sqlstream.sql.types import Type

# What JSON_VALUE can return: the method's ending, and what stands for a default that is not asked for.
_RETURNING = {"VARCHAR": ("", "''"), "BOOLEAN": ("_boolean", "false"), "INT": ("_integer", "0"), "DOUBLE": ("_double", "0.0D")}


def _word(call: Rendered, index: int) -> str:
    return spark_string(call.values[index])


def _default(call: Rendered, index: int, absent: str) -> str:
    return f"CAST({call.args[index + 1]} AS {call.type.spark})" if call.values[index] == "DEFAULT" else absent


def _json_value(call: Rendered) -> str:
    """(text, path, a NULL of the type, what is done on empty, its default, what is done on error, its default)."""
    ending, absent = _RETURNING[call.type.root]
    empty, error = (f"{_word(call, i)}, {_default(call, i, absent)}" for i in (3, 5))
    return f"sqlstream_json_value{ending}({call.args[0]}, {call.args[1]}, {empty}, {error})"


def _check_value(types: Types, _: tuple[Any, ...]) -> str | None:
    if types[2].root not in _RETURNING:
        return f"Unsupported type '{types[2]}' for RETURNING in JSON_VALUE()."
    wrong = next((x for x in (types[4], types[6]) if not _is_default(x, types[2])), None)
    return f"A default of type {wrong.full} is not a {types[2]}: cast it." if wrong is not None else None


def _is_default(default: Type, returned: Type) -> bool:
    """Whether Flink takes such a default as a value of the type as it is."""
    match returned.root:
        case "VARCHAR":
            return default.is_string or default.is_integer or default.root in ("BOOLEAN", "NULL")
        case "DOUBLE":
            return default.is_numeric or default.root == "NULL"
    return default.root in (returned.root, "NULL")


def _json_query(call: Rendered) -> str:
    """(text, path, a NULL of the type, wrapper, what is done on empty, what is done on error)."""
    ending = "_array" if call.type.root == "ARRAY" else ""
    return f"sqlstream_json_query{ending}({call.args[0]}, {call.args[1]}, {', '.join(_word(call, i) for i in (3, 4, 5))})"


def _check_query(types: Types, values: tuple[Any, ...]) -> str | None:
    if not types[2].is_string and not (types[2].root == "ARRAY" and types[2].children[0].is_string):
        return f"Unsupported type '{types[2]}' for RETURNING in JSON_QUERY()."
    if types[2].root == "ARRAY" and "EMPTY OBJECT" in values[4:]:
        return "EMPTY OBJECT is not an array of strings."
    return None


def written(type_: Type) -> bool:
    """Whether a value of the type can be written as JSON."""
    if type_.root in ("DATE", "TIME") or type_.is_interval:
        return False
    if type_.root in ("MAP", "MULTISET") and not type_.children[0].is_string:
        return False
    return all(map(written, type_.children))


def _check_written(types: Types, _: tuple[Any, ...] = ()) -> str | None:
    wrong = next((x for x in types if not written(x)), None)
    return f"Type '{wrong}' is not scalar or cannot be converted into JSON." if wrong is not None else None


def _check_object(types: Types, _: tuple[Any, ...]) -> str | None:
    if any(not key.is_string for key in types[1::2]):
        return "The names of JSON_OBJECT are texts."
    if any(key.nullable for key in types[1::2]):
        return "A name of JSON_OBJECT must not be NULL: its type is nullable. Give it a value with COALESCE(name, '')."
    return _check_written(types[2::2])


def _json_string(call: Rendered) -> str:
    return f"sqlstream_json_string({packed(call.args, call.types)})"


def _constructor(name: str, empty: str) -> Spark:
    """(what becomes of NULLs, values or names and values in turn)."""

    def rendered(call: Rendered) -> str:
        if len(call.args) == 1:
            return f"'{empty}'"
        return f"sqlstream_{name}({packed(call.args[1:], call.types[1:])}, {str(call.values[0] == 'ABSENT').lower()})"

    return rendered


def _array_agg(value: str) -> Spark:
    return lambda call: f"concat('[', array_join({listed_values(call, value.format(call.args[0]))}, ','), ']')"


def _object_agg(absent: str) -> Spark:
    def rendered(call: Rendered) -> str:
        pairs = listed(call, f"named_struct('k', {call.args[0]}, 'v', {call.args[1]})")
        return f"sqlstream_json_object_of({pairs}, {absent})"

    return rendered


_JSON = t.Type("JSON")
_VALUE_PARAMS = ("string", "string", "any", "word", "any", "word", "any")
_QUERY_PARAMS = ("string", "string", "any", "word", "word", "word")

ROWS: tuple[Function, ...] = (
    Function("JSON_VALUE", _VALUE_PARAMS, lambda ts: ts[2].null(), _json_value, "A scalar inside a JSON text.", "JSON_VALUE('{\"a\": 1}', '$.a')", check=_check_value, words=(3, 5)),
    Function("JSON_QUERY", _QUERY_PARAMS, lambda ts: ts[2].null(), _json_query, "An object or array inside a JSON text.", "JSON_QUERY('{\"a\": [1, 2]}', '$.a')", check=_check_query, words=(3, 4, 5)),
    Function("JSON_EXISTS", ("string", "string", "word"), nullable(t.BOOLEAN), lambda c: f"sqlstream_json_exists({c.args[0]}, {c.args[1]}, {_word(c, 2)})", "Whether a JSON text has something at a path.", "JSON_EXISTS('{\"a\": 1}', '$.a')", words=(2,)),
    Function("JSON_STRING", ("any",), lambda ts: t.STRING.with_nullable(ts[0].nullable), _json_string, "A value as JSON.", "JSON_STRING(1)", check=_check_written),
    Function("JSON_ARRAY", ("word", "any*"), not_null(t.STRING), _constructor("json_array", "[]"), "A JSON array of the values.", "JSON_ARRAY(1, 'a')", check=lambda ts, _: _check_written(ts[1:]), words=(0,)),
    Function("JSON_OBJECT", ("word", "any*"), not_null(t.STRING), _constructor("json_object", "{}"), "A JSON object of names and values.", "JSON_OBJECT('a' VALUE 1)", check=_check_object, words=(0,)),
    Function("JSON", ("string",), nullable(t.STRING), "sqlstream_json({0})", "A text that goes into JSON_OBJECT or JSON_ARRAY as the JSON that it is.", "JSON_OBJECT('a' VALUE JSON('[1]'))"),
    Function("JSON_QUOTE", ("string",), lambda ts: t.STRING.with_nullable(ts[0].nullable), "sqlstream_json_quote({0})", "A text as a JSON string.", "JSON_QUOTE('a')"),
    Function("JSON_UNQUOTE", ("string",), lambda ts: t.STRING.with_nullable(ts[0].nullable), "sqlstream_json_unquote({0})", "A JSON string as a text.", "JSON_UNQUOTE('\"a\"')"),
)  # fmt: skip

OPERATORS: tuple[Function, ...] = (
    *(
        Function(f"IS JSON {kind}", ("string",), not_null(t.BOOLEAN), f"coalesce(sqlstream_is_json({{0}}, '{kind}'), false)", "Whether a text is JSON.", f"{example} IS JSON {kind}")
        for kind, example in (("VALUE", "'{}'"), ("OBJECT", "'{}'"), ("ARRAY", "'[1]'"), ("SCALAR", "'1'"))
    ),
    # What goes into another JSON text as it is: JSON(text), and the result of a JSON function.
    Function("JSON TEXT", ("string",), nullable(_JSON), "sqlstream_json({0})", "A text as the JSON that it is.", "JSON_ARRAY(JSON('[1]'))"),
    Function("JSON PART", ("string",), lambda ts: _JSON.with_nullable(ts[0].nullable), "{0}", "JSON inside of JSON.", "JSON_ARRAY(JSON_ARRAY(1))"),
)  # fmt: skip

_ARRAY_PARAMS, _OBJECT_PARAMS = ("string",), ("string", "string")
_COLLECTED = not_null(t.varchar(2000))

AGGREGATES: tuple[Function, ...] = (
    Function("JSON_ARRAYAGG", _ARRAY_PARAMS, _COLLECTED, _array_agg("{0}"), "A JSON array of the values.", "JSON_ARRAYAGG(x)", aggregate=True, ordered=True),
    Function("JSON_ARRAYAGG NULL ON NULL", _ARRAY_PARAMS, _COLLECTED, _array_agg("coalesce({0}, 'null')"), "A JSON array of the values, with NULLs.", "JSON_ARRAYAGG(x NULL ON NULL)", aggregate=True, ordered=True),
    Function("JSON_OBJECTAGG", _OBJECT_PARAMS, _COLLECTED, _object_agg("false"), "A JSON object of names and values.", "JSON_OBJECTAGG(KEY 'a' VALUE x)", aggregate=True, ordered=True),
    Function("JSON_OBJECTAGG ABSENT ON NULL", _OBJECT_PARAMS, _COLLECTED, _object_agg("true"), "A JSON object of names and values that are not NULL.", "JSON_OBJECTAGG(KEY 'a' VALUE x ABSENT ON NULL)", aggregate=True, ordered=True),
)  # fmt: skip
