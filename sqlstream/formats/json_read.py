"""Reading json: Spark's from_json with Flink's coercions and failures.

Two ways, since errors that fail the job and errors that are ignored want different things of a record that from_json marks as corrupt:

- failing (Flink's default): its text is put right (``json_repair``) and read again. All of it is an expression that Spark compiles, and
  good records pay a few comparisons beyond from_json itself.
- ignoring: each field is converted by itself (``json_lenient``), by lambdas; Spark does not compile the operator that holds them.

In both an inline() gives the rows: a Generate keeps the optimizer from evaluating the parser once a filter and again, and from dropping the
check of records of which no column is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.formats.base import Encoded, Fields, literal, sql_map
from sqlstream.formats.json_lenient import rows_of
from sqlstream.formats.json_repair import comma_in_decimal, number_in_string, repaired
from sqlstream.formats.json_types import CORRUPT, PARSER, column, converter, failure, raw, raw_struct, schema
from sqlstream.sql.types import Type, quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TEXT = "__sqlstream_text"
_PARSED = "__sqlstream_json"
_ELEMENTS = {k: v for k, v in PARSER.items() if k != "columnNameOfCorruptRecord"}


def decode(record: Encoded, fields: Fields, *, standard: str, ignore: bool, complete: bool) -> DataFrame:
    """``record.frame`` with the columns of ``fields``. ``standard`` is how times are written, ``complete`` asks for every field."""
    from pyspark.sql import functions as F

    kept = [F.col(quote(c)) for c in record.frame.columns]
    frame = _elements(record)
    parsed = f"from_json({_TEXT}, {literal(schema(fields, raw))}, {sql_map(PARSER)})"
    frame = frame.select("*", F.expr(parsed).alias(_PARSED))
    fail = failure(_TEXT, record.origin)
    array = _ignoring(fields) if ignore else _failing(fields, fail("ARRAY<" + raw_struct(fields) + ">"), complete)
    if not ignore:
        again = f"from_json({repaired(_TEXT, fields)}, {literal(schema(fields, raw))}, {sql_map(PARSER)})"
        frame = frame.withColumn(_PARSED, F.expr(f"CASE WHEN {_suspect(fields)} THEN {again} ELSE {_PARSED} END"))
    names = [f"__sqlstream_json_{i}" for i in range(len(fields))]
    rows = frame.select(*kept, F.col(_TEXT), F.inline(F.expr(array)).alias(*names))
    convert = converter(standard, None if ignore else fail)
    return rows.select(*kept, *[column(x, t, convert).alias(n) for x, (n, t) in zip(names, fields, strict=True)])


def _elements(record: Encoded) -> DataFrame:
    """A row for each object of an array at the top, and for every other record; none for a record that is NULL."""
    from pyspark.sql import functions as F

    text = f"CAST({record.value} AS STRING)"
    split = f"coalesce(from_json({text}, 'ARRAY<STRING>', {sql_map(_ELEMENTS)}), array({text}))"
    elements = f"CASE WHEN startswith(ltrim({text}), '[') THEN {split} ELSE array({text}) END"
    return record.frame.select("*", F.explode(F.expr(elements)).alias(_TEXT)).where(f"{_TEXT} IS NOT NULL")


def _row(fields: Fields) -> str:
    return f"named_struct({', '.join(f'{literal(n)}, {_PARSED}.{quote(n)}' for n, _ in fields)})"


def _suspect(fields: Fields) -> str:
    """SQL: whether the record must be put right: it is corrupt, or Spark reads a scalar in it otherwise than Flink."""
    tests = [f"{_PARSED} IS NULL", f"{_PARSED}.{CORRUPT} IS NOT NULL"]
    if pattern := number_in_string(fields):
        # What from_json has made of a number begins with a digit or a minus, and has a point where it is not the number's own text.
        values = _strings(_PARSED, fields)
        looks = " OR ".join(f"({x} < ':' AND contains({x}, '.'))" for x in values)
        if looks:
            tests.append(f"(({looks}) AND {_TEXT} RLIKE {literal(pattern)})")
    if pattern := comma_in_decimal(fields):
        tests.append(f"(contains({_TEXT}, ',') AND {_TEXT} RLIKE {literal(pattern)})")
    return " OR ".join(tests)


def _strings(x: str, fields: Fields) -> list[str]:
    """SQL for every STRING that is in no collection."""
    found = []
    for name, type_ in fields:
        inner = f"{x}.{quote(name)}"
        if type_.is_string:
            found.append(inner)
        elif type_.root == "ROW":
            found += _strings(inner, tuple(zip(type_.names, type_.children, strict=True)))
    return found


def _failing(fields: Fields, fail: str, complete: bool) -> str:
    good = f"{_PARSED} IS NOT NULL AND {_PARSED}.{CORRUPT} IS NULL AND NOT startswith(ltrim({_TEXT}), '[')"
    if complete:
        good += f" AND NOT ({_missing(_TEXT, fields)})"
    return f"CASE WHEN {good} THEN array({_row(fields)}) ELSE {fail} END"


def _ignoring(fields: Fields) -> str:
    return f"CASE WHEN {_suspect(fields)} THEN {rows_of(_TEXT, fields)} ELSE array({_row(fields)}) END"


def _missing(text: str, fields: Fields, path: str = "$") -> str:
    """SQL: whether a record lacks one of ``fields``; a field that is null is there."""
    parts = []
    for name, type_ in fields:
        escaped = name.replace("\\", "\\\\").replace("'", "\\'")
        step = f"{path}['{escaped}']"
        found = f"variant_get(try_parse_json({text}), {literal(step)}, 'variant')"
        parts.append(f"{found} IS NULL")
        if type_.root == "ROW":
            inner = _missing(text, _fields(type_), step)
            parts.append(f"(startswith(schema_of_variant({found}), 'OBJECT') AND ({inner}))")
    return " OR ".join(parts)


def _fields(type_: Type) -> Fields:
    return tuple(zip(type_.names, type_.children, strict=True))
