"""Functions of JSON texts. Paths are constants of names and indexes: what Spark's get_json_object reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlstream.sql import types as t
from sqlstream.sql.functions.base import Function, Rendered, Types, fixed, not_null, nullable, sql_string

if TYPE_CHECKING:
    from sqlstream.sql.types import Type

_PATH = re.compile(r"^\s*(?:lax\s+|strict\s+)?(\$(?:\.[A-Za-z_]\w*|\['[^']*'\]|\[\d+\])*)\s*$")
# What RETURNING takes, and how Spark reads it.
_RETURNING = {"INT": "INT", "DOUBLE": "DOUBLE", "BOOLEAN": "BOOLEAN"}
_NUMBER = r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_FRACTION = r"^-?\d+\.\d+(E-?\d+)?$"
_KEEP_NULLS = "map('ignoreNullFields', 'false')"
_NULL_TEXT = sql_string("null")


def _check_path(_: Types, values: tuple[Any, ...]) -> str | None:
    if not isinstance(values[1], str):
        return "The path must be a constant."
    return None if _PATH.match(values[1]) else f"The JSON path '{values[1]}' is not supported: use names and indexes, as $.a.b[0]."


def _path(call: Rendered) -> str:
    found = _PATH.match(call.values[1])
    assert found is not None
    return sql_string(found[1])


def _strict(call: Rendered) -> bool:
    return str(call.values[1]).strip().startswith("strict")


def _member(call: Rendered) -> str:
    return f"get_json_object({call.args[0]}, {_path(call)})"


def _shape(call: Rendered) -> str:
    return f"schema_of_variant(try_variant_get(try_parse_json({call.args[0]}), {_path(call)}))"


def _scalar(call: Rendered) -> str:
    """The text of a member that is no object and no array; one that begins like one is looked at again."""
    found = _member(call)
    complex_ = f"({_shape(call)} LIKE 'OBJECT%' OR {_shape(call)} LIKE 'ARRAY%')"
    return f"CASE WHEN left({found}, 1) NOT IN ('{{', '[') THEN {found} WHEN {found} IS NOT NULL AND NOT {complex_} THEN {found} END"


def _exact(found: str, call: Rendered) -> str:
    """``found`` with a fraction as it is written in the JSON: Spark reads it as a DOUBLE."""
    name = re.search(r"(?:\.(\w+)|\['([^']*)'\])$", _PATH.match(call.values[1])[1])  # type: ignore[index]
    key = f'"{re.escape(name[1] or name[2])}"\\s*:\\s*' if name else ""
    numbers = f"regexp_extract_all({call.args[0]}, {sql_string(key + _NUMBER)}, 1)"
    written = f"get(filter({numbers}, x -> CAST(x AS DOUBLE) = CAST({found} AS DOUBLE)), 0)"
    return f"if({found} RLIKE {sql_string(_FRACTION)}, coalesce({written}, {found}), {found})"


def _json_value(call: Rendered) -> str:
    """(text, path, a NULL of the type, what is on empty, its default, what is on error, its default)."""
    text = call.args[0]
    member = _scalar(call)
    found = _exact(member, call) if call.type.root == "VARCHAR" else f"try_cast({member} AS {call.type.spark})"
    empty, error = call.values[3], call.values[5]
    if "DEFAULT" not in (empty, error):
        return found
    # No text gives NULL. A text that is no JSON counts as empty in lax mode, as an error in strict mode.
    default = {"DEFAULT": call.args[4], "NULL": "NULL"}[empty]
    wrong = {"DEFAULT": call.args[6], "NULL": "NULL"}[error]
    missing = f"try_variant_get(try_parse_json({text}), {_path(call)}) IS NULL"
    if _strict(call):
        return f"CASE WHEN {text} IS NULL THEN NULL WHEN {missing} THEN {wrong} ELSE {found} END"
    return f"CASE WHEN {text} IS NULL THEN NULL WHEN {missing} THEN {default} ELSE coalesce({found}, {wrong}) END"


def _check_value(types: Types, values: tuple[Any, ...]) -> str | None:
    if "ERROR" in (values[3], values[5]):
        return "ERROR ON EMPTY and ERROR ON ERROR are not supported."
    if types[2].root not in ("VARCHAR", *_RETURNING):
        return f"RETURNING {types[2]} is not supported."
    return _check_path(types, values)


def _value_type(types: Types) -> Type:
    return types[2].null()


def _json_query(call: Rendered) -> str:
    found = _member(call)
    shaped = f"({_shape(call)} LIKE 'OBJECT%' OR {_shape(call)} LIKE 'ARRAY%')"
    return f"if(left({found}, 1) IN ('{{', '[') AND {shaped}, {found}, NULL)"


def _json_exists(call: Rendered) -> str:
    return f"if({call.args[0]} IS NULL, NULL, {_member(call)} IS NOT NULL)"


def json_text(text: str, type_: Type) -> str | None:
    """Spark SQL for a value as JSON; None where Spark writes it otherwise than Flink."""
    match type_.root:
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT" | "BOOLEAN" | "DOUBLE" | "FLOAT":
            return f"CAST({text} AS STRING)"
        case "DECIMAL" if type_.args[1] <= 6:
            return f"CAST({text} AS STRING)"
        case "CHAR" | "VARCHAR":
            return _bare(text)
        case "TIMESTAMP":
            return None
    return _bare(text) if _plain(type_) else None


def _plain(type_: Type) -> bool:
    simple = type_.root in ("TINYINT", "SMALLINT", "INT", "BIGINT", "BOOLEAN", "CHAR", "VARCHAR", "ARRAY", "MAP", "ROW")
    return simple and all(_plain(c) for c in type_.children)


def _bare(text: str) -> str:
    """A value's JSON: that of an array of it, without the brackets."""
    written = f"to_json(array({text}), {_KEEP_NULLS})"
    return f"if({text} IS NULL, NULL, substring({written}, 2, length({written}) - 2))"


def _check_written(types: Types, _: tuple[Any, ...]) -> str | None:
    wrong = next((x for x in types if x.root != "NULL" and json_text("", x) is None), None)
    return f"A value of type {wrong} as JSON is not supported." if wrong is not None else None


def _json_string(call: Rendered) -> str:
    return json_text(call.args[0], call.types[0]) or "NULL"


def _nulls(call: Rendered) -> tuple[bool, tuple[str, ...], Types]:
    """Whether NULLs are kept, and the arguments behind that word."""
    return call.values[0] == "NULL", call.args[1:], call.types[1:]


def _cell(text: str, type_: Type) -> str:
    return "CAST(NULL AS STRING)" if type_.root == "NULL" else json_text(text, type_) or "NULL"


def _json_array(call: Rendered) -> str:
    keep, args, types = _nulls(call)
    cells = ", ".join(_cell(a, x) for a, x in zip(args, types, strict=True))
    joined = f"array_join(array({cells}), ','{', ' + sql_string('null') if keep else ''})" if cells else "''"
    return f"concat('[', {joined}, ']')"


def _json_object(call: Rendered) -> str:
    keep, args, types = _nulls(call)
    pairs = []
    for key, value, type_ in zip(args[::2], args[1::2], types[1::2], strict=True):
        cell = _cell(value, type_)
        pairs.append(f"concat({_bare(key)}, ':', {f'coalesce({cell}, {_NULL_TEXT})' if keep else cell})")
    joined = f"array_join(array({', '.join(pairs)}), ',')" if pairs else "''"
    return f"concat('{{', {joined}, '}}')"


def _is_json(kind: str) -> str:
    parsed = "try_parse_json({0})"
    if kind == "VALUE":
        return f"({parsed} IS NOT NULL)"
    shape = f"schema_of_variant({parsed})"
    if kind == "SCALAR":
        return f"coalesce({shape} NOT LIKE 'OBJECT%' AND {shape} NOT LIKE 'ARRAY%', false)"
    return f"coalesce({shape} LIKE '{kind}%', false)"


_VALUE_PARAMS = ("string", "string", "any", "word", "any", "word", "any")

ROWS: tuple[Function, ...] = (
    Function("JSON_VALUE", _VALUE_PARAMS, _value_type, _json_value, "A scalar member of a JSON text.", "JSON_VALUE('{\"a\": 1}', '$.a')", check=_check_value, words=(3, 5)),
    Function("JSON_QUERY", ("string", "string"), nullable(t.STRING), _json_query, "An object or array inside a JSON text.", "JSON_QUERY('{\"a\": [1, 2]}', '$.a')", check=_check_path),
    Function("JSON_EXISTS", ("string", "string"), lambda ts: t.BOOLEAN.with_nullable(ts[0].nullable), _json_exists, "Whether a JSON text has a member.", "JSON_EXISTS('{\"a\": 1}', '$.a')", check=_check_path),
    Function("JSON_STRING", ("any",), fixed(t.STRING), _json_string, "A value as JSON.", "JSON_STRING(1)", check=_check_written),
    Function("JSON_ARRAY", ("word", "any*"), not_null(t.STRING), _json_array, "A JSON array of the values.", "JSON_ARRAY(1, 'a')", check=lambda ts, vs: _check_written(ts[1:], vs), words=(0,)),
    Function("JSON_OBJECT", ("word", "any*"), not_null(t.STRING), _json_object, "A JSON object of names and values.", "JSON_OBJECT('a' VALUE 1)", check=lambda ts, vs: _check_written(ts[1:], vs), words=(0,)),
    Function("JSON_UNQUOTE", ("string",), fixed(t.STRING), "if({0} RLIKE '^\".*\"$', coalesce(get_json_object(concat('[', {0}, ']'), '$[0]'), {0}), {0})", "A JSON string as a text.", "JSON_UNQUOTE('\"a\"')"),
    Function("JSON_QUOTE", ("string",), fixed(t.STRING), lambda c: _bare(c.args[0]), "A text as a JSON string.", "JSON_QUOTE('a')"),
)  # fmt: skip

OPERATORS: tuple[Function, ...] = tuple(
    Function(f"IS JSON {kind}", ("string",), not_null(t.BOOLEAN), _is_json(kind), "Whether a text is JSON.", f"{example} IS JSON {kind}")
    for kind, example in (("VALUE", "'{}'"), ("OBJECT", "'{}'"), ("ARRAY", "'[1]'"), ("SCALAR", "'1'"))
)
