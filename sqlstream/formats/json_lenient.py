"""Reading a record of json field by field, where errors are ignored: a field that can't be converted is NULL, as in Flink.

In: the text of a record that from_json marked as corrupt, or reads otherwise than Flink. Out: SQL for the array of its rows: one, or none
where the text is no object. Scalars are read as strings or variants and converted by Flink's rules.
"""

from __future__ import annotations

import re

from sqlstream.formats.base import Fields, literal, map_leaves, sql_map
from sqlstream.formats.json_types import CORRUPT, PARSER, Leaf, raw_struct, schema
from sqlstream.formats.numbers import FLOAT, INTEGER
from sqlstream.sql.types import Type, quote

_FLOAT_TEXT = r"^-?\d+\.\d+(E-?\d+)?$"
_NUMBER_TOKEN = r'"\s*:\s*(-?\d[\d.eE+-]*)'


def rows_of(text: str, fields: Fields) -> str:
    """SQL for the raw rows of ``text``."""
    parse = f"from_json({text}, {literal(schema(fields, _read_as))}, {sql_map(PARSER)})"
    leaf = _converter(text)
    cells = (f"{literal(n)}, {map_leaves('__p.' + quote(n), t, leaf)}" for n, t in fields)
    row = f"named_struct({', '.join(cells)})"
    struct = raw_struct(fields)
    # A corrupt record is an object with a field of another shape, or no JSON at all.
    whole = f"from_json({text}, 'MAP<STRING,STRING>', {sql_map({k: v for k, v in PARSER.items() if v != CORRUPT})})"
    broken = f"(__p.{CORRUPT} IS NOT NULL AND {whole} IS NULL)"
    # The lambda over an array of one is a LET: the text is parsed once.
    rows = f"transform(array({parse}), __p -> CASE WHEN {broken} THEN CAST(NULL AS {struct}) ELSE {row} END)"
    return f"if(startswith(ltrim({text}), '{{'), filter({rows}, __row -> __row IS NOT NULL), CAST(array() AS ARRAY<{struct}>))"


def _read_as(type_: Type) -> str:
    # A variant tells the number 1.5, which Flink cuts to the integer 1, from the string "1.5", which is an error.
    return "VARIANT" if type_.root in ("INT", "BIGINT", "DECIMAL") else "BINARY" if type_.is_binary else "STRING"


def _converter(text: str) -> Leaf:
    def leaf(x: str, type_: Type) -> str | None:
        target = type_.spark
        match type_.root:
            case "CHAR" | "VARCHAR":
                return _own_text(text, x)
            case "BOOLEAN":
                return f"(lower(trim({x})) = 'true')"
            case "TINYINT" | "SMALLINT":
                return f"if(trim({x}) RLIKE {literal(INTEGER)}, try_cast(trim({x}) AS {target}), NULL)"
            case "INT" | "BIGINT":
                kind, string = f"schema_of_variant({x})", f"trim(try_variant_get({x}, '$', 'string'))"
                number = f"try_variant_get({x}, '$', '{'BIGINT' if type_.root == 'BIGINT' else 'DOUBLE'}')"
                return (
                    f"CASE WHEN {kind} = 'STRING' THEN if({string} RLIKE {literal(INTEGER)}, try_cast({string} AS {target}), NULL)"
                    f" WHEN {kind} IN ('BIGINT', 'DOUBLE') OR {kind} LIKE 'DECIMAL%' THEN try_cast({number} AS {target}) END"
                )
            case "DECIMAL":
                return f"try_cast(trim(try_variant_get({x}, '$', 'string')) AS {target})"
            case "FLOAT" | "DOUBLE":
                return f"if(trim({x}) RLIKE {literal(FLOAT)}, try_cast(trim({x}) AS {target}), NULL)"
        return None

    return leaf


def _own_text(text: str, x: str) -> str | None:
    """SQL for a STRING: where it was a number, the token under the same name that is the same number. Elements have no name."""
    name = re.search(r"`((?:[^`]|``)+)`$", x)
    if name is None:
        return None
    key = '"' + re.escape(name[1].replace("``", "`"))
    tokens = f"regexp_extract_all({text}, {literal(key + _NUMBER_TOKEN)}, 1)"
    own = f"element_at(filter({tokens}, t -> try_cast(t AS DOUBLE) = try_cast({x} AS DOUBLE)), 1)"
    return f"if({x} RLIKE {literal(_FLOAT_TEXT)}, coalesce({own}, {x}), {x})"
