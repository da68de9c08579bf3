"""Reading json: Spark's from_json with Flink's coercions and failures.

In: records. Out: their rows. One typed from_json reads a record; what it marks as corrupt, or reads otherwise than Flink would, is read again
by Flink's rules (``json_exact``), in the same operator: Spark does not compile an operator that holds from_json into the ones around it, so that
each further one would copy every record once more.

An inline() above gives the rows: the optimizer can push no filter through it and so parse twice, and can't drop the check of records of
which no column is used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlstream.formats.base import Encoded, Fields, literal, sql_map
from sqlstream.formats.json_exact import missing, rows_of
from sqlstream.formats.json_types import CORRUPT, PARSER, column, converter, failure, named, raw, schema
from sqlstream.sql.types import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

    from sqlstream.sql.types import Type

_PARSED = "__sqlstream_json"
_EXACT = "__sqlstream_exact"


def decode(record: Encoded, fields: Fields, *, standard: str, ignore: bool, complete: bool) -> DataFrame:
    """``record.frame`` with the columns of ``fields``. ``standard`` is how times are written, ``complete`` asks for every field."""
    from pyspark.sql import functions as F

    text = f"CAST({record.value} AS STRING)"
    fail = None if ignore else failure(text, record.origin)
    kept = [F.col(quote(c)) for c in record.frame.columns]
    # One and the same expression wherever it stands: Spark evaluates it once.
    parsed = F.expr(f"from_json({text}, {literal(schema(fields, raw))}, {sql_map(PARSER)})")
    suspect = _suspect(parsed, text, fields)
    if complete:
        suspect = suspect | F.expr(missing(text, fields))
    exact = F.when(suspect, F.expr(rows_of(text, fields, fail, complete=complete)))
    row = f"named_struct({', '.join(f'{literal(n)}, {_PARSED}.{quote(n)}' for n, _ in fields)})"
    names = [f"__sqlstream_json_{i}" for i in range(len(fields))]
    rows = record.frame.select(*kept, parsed.alias(_PARSED), exact.alias(_EXACT)).select(
        *kept, F.inline(F.expr(f"CASE WHEN {_EXACT} IS NULL THEN array({row}) ELSE {_EXACT} END")).alias(*names)
    )
    convert = converter(standard, fail)
    return rows.select(*kept, *[column(x, t, convert).alias(n) for x, (n, t) in zip(names, fields, strict=True)])


def _suspect(parsed: Column, text: str, fields: Fields) -> Column:
    """Whether a record must be read again: it is corrupt, an array, or Spark reads a scalar in it otherwise than Flink."""
    from pyspark.sql import functions as F

    suspect = parsed.isNull() | parsed.getField(CORRUPT).isNotNull() | F.expr(f"startswith(ltrim({text}), '[')")
    if strings := _names(fields, lambda t: t.is_string):
        # from_json gives the number 1.50 as '1.5'. Such a value begins with a digit or a minus and has a point, which is quickly seen;
        # NULL-safe, since after NULL the slow pattern would be looked for as well.
        looks = F.lit(False)
        for value in _strings(parsed, fields):
            looks = looks | F.coalesce((value < ":") & value.contains("."), F.lit(False))
        pattern = rf'"(?:{"|".join(map(re.escape, strings))})"\s*:\s*-?\d'
        suspect = suspect | (looks & F.expr(f"{text} RLIKE {literal(pattern)}"))
    for name in _names(fields, lambda t: t.root == "DECIMAL"):
        # from_json drops a comma: "1,5" would be 15.
        quoted = " OR ".join(f"contains({text}, {literal(f'{_QUOTE}{name}{_QUOTE}:{space}{_QUOTE}')})" for space in ("", " "))
        pattern = rf'"{re.escape(name)}"\s*:\s*"[^",]*,'
        suspect = suspect | F.expr(f"({quoted}) AND {text} RLIKE {literal(pattern)}")
    return suspect


_QUOTE = '"'


def _names(fields: Fields, picked: Callable[[Type], bool]) -> list[str]:
    return sorted({n for n, t in named(fields) if picked(t)})


def _strings(row: Column, fields: Fields) -> list[Column]:
    """Every STRING that is in no collection."""
    found = []
    for name, type_ in fields:
        value = row.getField(name)
        if type_.is_string:
            found.append(value)
        elif type_.root == "ROW":
            found += _strings(value, tuple(zip(type_.names, type_.children, strict=True)))
    return found
