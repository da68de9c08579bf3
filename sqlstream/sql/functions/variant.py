"""Functions of VARIANT: a value with its own type, as JSON has it."""

from __future__ import annotations

from sqlstream.sql import types as t
from sqlstream.sql.functions.base import Function, Spark, nullable


def _parsed(method: str) -> Spark:
    return lambda call: f"{method}({call.args[0]}, {call.args[1] if len(call.args) > 1 else 'false'})"


ROWS: tuple[Function, ...] = (
    Function("PARSE_JSON", ("string", "boolean?"), lambda ts: t.VARIANT.with_nullable(any(x.nullable for x in ts)), _parsed("sqlstream_parse_json"), "A JSON text as a VARIANT.", "PARSE_JSON('{\"a\": 1}')"),
    Function("TRY_PARSE_JSON", ("string", "boolean?"), nullable(t.VARIANT), _parsed("sqlstream_try_parse_json"), "A JSON text as a VARIANT; NULL where it is none.", "TRY_PARSE_JSON('{\"a\": 1}')"),
)  # fmt: skip
