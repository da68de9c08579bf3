"""Reading a record of json by Flink's own rules, for records that from_json marks as corrupt or reads otherwise than Flink.

In: a record's text. Out: SQL for the array of its rows: one for an object, several for an array of them. Scalars are read as strings or
variants and converted one by one; what can't be converted fails the job, or is NULL where errors are ignored. Made of lambdas: slow, but
only such records take this way.
"""

from __future__ import annotations

import re

from sqlstream.formats.base import Fields, literal, map_leaves, sql_map
from sqlstream.formats.json_types import CORRUPT, PARSER, Fail, Leaf, raw_struct, schema
from sqlstream.formats.numbers import DECIMAL, FLOAT, INTEGER
from sqlstream.sql.types import Type, quote

_ELEMENTS = {k: v for k, v in PARSER.items() if k != "columnNameOfCorruptRecord"}
_FLOAT_TEXT = r"^-?\d+\.\d+(E-?\d+)?$"
_NUMBER_TOKEN = r'"\s*:\s*(-?\d[\d.eE+-]*)'


def rows_of(text: str, fields: Fields, fail: Fail | None, *, complete: bool = False) -> str:
    """SQL for the raw rows of ``text``. ``fail`` is None where errors are ignored; ``complete`` asks for every field."""
    record = "__r"
    struct = raw_struct(fields)
    nothing = f"CAST(NULL AS {struct})"
    parse = f"from_json({record}, {literal(schema(fields, _read_as))}, {sql_map(PARSER)})"
    leaf = _converter(record, fail)
    cells = (f"{literal(n)}, {map_leaves('__p.' + quote(n), t, leaf)}" for n, t in fields)
    row = f"named_struct({', '.join(cells)})"
    # Not an object, or no JSON at all, or one with a field of another shape; only the last gives a row, where errors are ignored.
    broken = f"NOT startswith(ltrim({record}), '{{') OR __p.{CORRUPT} IS NOT NULL"
    if fail is None:
        broken += f" AND from_json({record}, 'MAP<STRING,STRING>', {sql_map(_ELEMENTS)}) IS NULL"
    elif complete:
        broken += f" OR {missing(record, fields)}"
    # The lambda over an array of one is a LET: the record is parsed once.
    one = f"transform(array({parse}), __p -> CASE WHEN {broken} THEN {fail(struct) if fail else nothing} ELSE {row} END)[0]"
    records = f"coalesce(from_json({text}, 'ARRAY<STRING>', {sql_map(_ELEMENTS)}), array({text}))"
    records = f"if(startswith(ltrim({text}), '['), {records}, array({text}))"
    rows = f"transform({records}, {record} -> if({record} IS NULL, {nothing}, {one}))"
    return f"filter({rows}, __row -> __row IS NOT NULL)"


def missing(text: str, fields: Fields, path: str = "$") -> str:
    """SQL: whether a record lacks one of ``fields``; a field that is null is there."""
    parts = []
    for name, type_ in fields:
        escaped = name.replace("\\", "\\\\").replace("'", "\\'")
        step = f"{path}['{escaped}']"
        found = f"variant_get(try_parse_json({text}), {literal(step)}, 'variant')"
        parts.append(f"{found} IS NULL")
        if type_.root == "ROW":
            inner = missing(text, tuple(zip(type_.names, type_.children, strict=True)), step)
            parts.append(f"startswith(schema_of_variant({found}), 'OBJECT') AND {inner}")
    return f"({' OR '.join(parts)})"


def _read_as(type_: Type) -> str:
    # A variant tells the number 1.5, which Flink cuts to the integer 1, from the string "1.5", which is an error.
    return "VARIANT" if type_.root in ("INT", "BIGINT", "DECIMAL") else "BINARY" if type_.is_binary else "STRING"


def _converter(record: str, fail: Fail | None) -> Leaf:
    def checked(value: str, null: str, target: str) -> str:
        """``value``, which is NULL for what can't be converted and for what is NULL."""
        return f"coalesce({value}, if({null}, NULL, {fail(target)}))" if fail else value

    def leaf(x: str, type_: Type) -> str | None:
        target = type_.spark
        string, kind = f"trim(try_variant_get({x}, '$', 'string'))", f"schema_of_variant({x})"
        match type_.root:
            case "CHAR" | "VARCHAR":
                return _own_text(record, x)
            case "BOOLEAN":
                return f"(lower(trim({x})) = 'true')"
            case "TINYINT" | "SMALLINT":
                value = f"if(trim({x}) RLIKE {literal(INTEGER)}, try_cast(trim({x}) AS {target}), NULL)"
                return checked(value, f"{x} IS NULL", target)
            case "INT" | "BIGINT":
                number = f"try_variant_get({x}, '$', '{'BIGINT' if type_.root == 'BIGINT' else 'DOUBLE'}')"
                value = (
                    f"CASE WHEN {kind} = 'STRING' THEN if({string} RLIKE {literal(INTEGER)}, try_cast({string} AS {target}), NULL)"
                    f" WHEN {kind} IN ('BIGINT', 'DOUBLE') OR {kind} LIKE 'DECIMAL%' THEN try_cast({number} AS {target}) END"
                )
                return checked(value, f"{x} IS NULL OR {kind} = 'VOID'", target)
            case "DECIMAL":
                # What has too many digits is NULL.
                number = f"{string} RLIKE {literal(DECIMAL)}"
                return checked(f"if({number}, try_cast({string} AS {target}), NULL)", f"{x} IS NULL OR {kind} = 'VOID' OR {number}", target)
            case "FLOAT" | "DOUBLE":
                value = f"if(trim({x}) RLIKE {literal(FLOAT)}, try_cast(trim({x}) AS {target}), NULL)"
                return checked(value, f"{x} IS NULL", target)
        return None

    return leaf


def _own_text(record: str, x: str) -> str | None:
    """SQL for a STRING: where it was a number, the token under the same name that is the same number. Elements have no name."""
    name = re.search(r"`((?:[^`]|``)+)`$", x)
    if name is None:
        return None
    key = '"' + re.escape(name[1].replace("``", "`"))
    tokens = f"regexp_extract_all({record}, {literal(key + _NUMBER_TOKEN)}, 1)"
    own = f"element_at(filter({tokens}, t -> try_cast(t AS DOUBLE) = try_cast({x} AS DOUBLE)), 1)"
    return f"if({x} RLIKE {literal(_FLOAT_TEXT)}, coalesce({own}, {x}), {x})"
