"""The grid of expressions that is made from the function table, and that of casts.

For each function its example; the same with each argument in turn replaced by samples of its kind (a column, NULL, edges, something wrong), with
one argument less and one more. For casts every source with every target, and texts that are read as other types.

CAST to STRING, by which the record shows values, hides differences between them: ``observed`` looks at results in other ways. ``composed`` calls
functions with what others give.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import SqlStreamError
from sqlstream.sql.expressions import Call
from sqlstream.sql.functions import FUNCTIONS, SCALAR
from sqlstream.sql.functions.aggregates import GROUPINGS, OVER_ONLY
from sqlstream.sql.sqlglot.dialect import Flink
from sqlstream.sql.syntax.calls import call_args, call_name, is_call

from . import differences, harness
from .recorder import records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.sql.expressions import Expr
    from sqlstream.sql.functions import Function

# By a type's root: columns of rows.json first (a value, NULL, an edge), then NULL, edges and what is of another kind.
_NUMBERS = ("i", "l", "n", "d", "CAST(NULL AS INT)", "0", "-1", "3", "100", "2147483647", "2.5", "-2.5e0", "'x'", "b")
_TIMES = (
    "ts", "tu", "lz", "dd", "tt", "CAST(NULL AS TIMESTAMP(3))", "TIMESTAMP '1969-12-31 23:59:59.999'", "TIMESTAMP '2026-10-25 02:30:00'",
    "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59'", "DATE '2024-12-30'", "CAST(TIMESTAMP '2026-10-25 01:30:00' AS TIMESTAMP_LTZ(3))", "i", "s",
)  # fmt: skip
_TEXTS = ("s", "u", "CAST(NULL AS STRING)", "''", "'Ünï 😀x'", "'  pad '", "'12'", "c", "i", "ai")
SAMPLES: dict[str, tuple[str, ...]] = {
    "INT": _NUMBERS, "BIGINT": (*_NUMBERS, "-9223372036854775807"), "DECIMAL": (*_NUMBERS, "-0.05", "12345678901234567890.5"),
    "DOUBLE": (*_NUMBERS, "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "f"),
    "CHAR": _TEXTS, "VARCHAR": _TEXTS, "BOOLEAN": ("b", "CAST(NULL AS BOOLEAN)", "TRUE", "FALSE", "1", "'true'"),
    "BINARY": ("bin", "CAST(NULL AS BYTES)", "X''", "X'00FFC3A4'", "s", "i"),
    "TIMESTAMP": _TIMES, "DATE": _TIMES, "TIME": ("tt", "TIME '23:59:59.999'", "s"),
    "ARRAY": ("ai", "ax", "CAST(NULL AS ARRAY<INT>)", "ARRAY[1, NULL, 2, 1]", "ARRAY[2.5, 1.0]", "ARRAY['b', 'a', NULL]", "ARRAY[ARRAY[1]]", "i", "m"),
    "MAP": ("m", "CAST(NULL AS MAP<STRING, INT>)", "MAP['a', 1, 'a', 2]", "MAP[1, CAST(NULL AS INT)]", "ai", "i"),
    "ROW": ("r", "ROW(1, 'b')"), "VARIANT": ("PARSE_JSON('{\"a\": [1, \"x\", null]}')", "PARSE_JSON('null')", "CAST(NULL AS VARIANT)", "s"),
    "NULL": ("i",),
}  # fmt: skip

# Their arguments are columns of a table.
OVER_TABLES = ("CURRENT_WATERMARK",)

SOURCES = (
    "y", "h", "i", "l", "n", "k", "f", "d", "b", "s", "c", "v", "p", "bin", "dd", "tt", "ts", "tu", "lz", "INTERVAL '1 02:03:04.005' DAY TO SECOND",
    "INTERVAL '2-10' YEAR TO MONTH", "ai", "ax", "m", "r", "ROW(1, TRUE)", "ARRAY[1.5, NULL]", "PARSE_JSON('12')", "PARSE_JSON('\"x\"')", "X'0A'", "CAST('a' AS CHAR(3))",
    "CAST('NaN' AS DOUBLE)", "CAST(1e20 AS DOUBLE)", "CAST(-1.5 AS DECIMAL(30, 20))", "TIMESTAMP '2026-10-25 02:30:00'", "CAST(NULL AS INT)",
)  # fmt: skip
TARGETS = (
    "CHAR(3)", "VARCHAR(3)", "STRING", "BOOLEAN", "BINARY(2)", "VARBINARY(2)", "BYTES", "TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL(5, 2)", "DECIMAL(38, 18)", "FLOAT",
    "DOUBLE", "DATE", "TIME", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)", "INTERVAL DAY TO SECOND(3)", "INTERVAL YEAR TO MONTH",
    "ARRAY<STRING>", "ARRAY<BIGINT>", "MAP<STRING, STRING>", "MULTISET<STRING>", "ROW<x STRING, y STRING>", "VARIANT",
)  # fmt: skip
PARSED = {
    ("TINYINT", "INT", "BIGINT", "DECIMAL(10, 2)", "DOUBLE", "FLOAT"): (
        "12", " 12 ", "+5", "-5", "1.7", "-1.7", "1e3", "", " ", "abc", "12a", "128", "99999999999", "9223372036854775808", "NaN", "Infinity", "-Infinity", "inf", "0x1F", ".5", "5.", "1_000", "1,000",
        "12345678901234567890.123", "00012", "1d", "1f", "--1",
    ),
    ("BOOLEAN",): ("t", "TRUE", "yes", "Y", "1", "2", "0", "off", "", " true ", "F", "no"),
    ("DATE",): ("2024-02-29", "2024-2-9", "2024-02-30", "2023-02-29", "2024-13-01", "2024-02-29 10:00:00", "10000-01-01", "-0001-01-01", "24-1-1", "2024-02", "2024", "", "2024/02/29", " 2024-02-29 ", "1582-10-10"),
    ("TIME", "TIME(3)"): ("10:11:12", "10:11", "10", "1:2:3", "10:11:12.345", "10:11:12.34567", "24:00:00", "23:59:60", "", "10:11:12Z", " 10:11:12", "2024-02-29 10:11:12"),
    ("TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)"): (
        "2024-02-29 10:11:12", "2024-02-29", "2024-02-29 10:11", "2024-02-29 10", "2024-02-29T10:11:12", "2024-02-29 10:11:12.1", "2024-02-29 10:11:12.123456", "2024-02-29 10:11:12Z",
        "2024-02-29 10:11:12+02:00", "2024-02-30 10:11:12", "2024-2-9 1:2:3", "2026-03-29 02:30:00", "2026-10-25 02:30:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999", "", "abc",
    ),
    ("BYTES", "BINARY(2)", "CHAR(3)", "VARCHAR(3)"): ("", "a", "abcd", "Ünï", "😀😀", "  x"),
}  # fmt: skip


def scalars() -> list[str]:
    """The calls of all scalar functions and operators, then the casts."""
    calls = [e for f in FUNCTIONS if not f.aggregate and f.deterministic and f.name not in OVER_TABLES for e in _calls(f)]
    return list(dict.fromkeys([*calls, *_casts()]))


def aggregates() -> list[str]:
    """The calls of all aggregate functions."""
    columns = ("i", "l", "h", "y", "d", "f", "n", "k", "s", "c", "b", "bin", "dd", "tt", "ts", "tu", "lz", "ai", "m", "r", "z", "z + 1e0")
    found = []
    for function in FUNCTIONS:
        if function.aggregate and function.name not in (*GROUPINGS, *OVER_ONLY):
            for column in columns:
                call = re.sub(r"\((x|s|\*)", f"({column}", function.example, count=1)
                distinct = call.replace("(", "(DISTINCT ", 1)
                found += [call, distinct, *([f"{call} FILTER (WHERE z = 0)", f"{distinct} FILTER (WHERE b)"] if column in ("i", "s") else [])]
    return list(dict.fromkeys(found))


# How the results of a type are looked at, and those of how many calls of a function.
_OBSERVED: dict[str, tuple[tuple[str, int], ...]] = {
    "ARRAY": (("CARDINALITY({})", 8), ("{}[1]", 4), ("{} IS NULL", 2)), "MAP": (("CARDINALITY({})", 8), ("MAP_KEYS({})[1]", 4), ("{} IS NULL", 2)),
    "VARCHAR": (("CHAR_LENGTH({})", 3), ("{} IS NULL", 1)), "CHAR": (("CHAR_LENGTH({})", 3), ("{} IS NULL", 1)),
}  # fmt: skip
_COMPOSITIONS = 3


def observed() -> list[str]:
    """Calls of the grid that have values in Flink, looked at through CARDINALITY, an element, CHAR_LENGTH and IS NULL."""
    found, times = [], Counter[tuple[str, str]]()
    for call, expr in _answered():
        for form, most in _OBSERVED.get(expr.type.root, (("{} IS NULL", 1),)):
            name = expr.function.name if isinstance(expr, Call) else "CAST"
            times[name, form] += 1
            if times[name, form] <= (most if name != "CAST" else 30):
                found.append(form.format(call if isinstance(expr, Call) and expr.function in SCALAR else f"({call})"))
    return list(dict.fromkeys(found))


def composed() -> list[str]:
    """Examples with calls of the grid as arguments, chosen at random, but the same ones each time."""
    pool: dict[str, list[str]] = {}
    for call, expr in _answered():
        pool.setdefault(_family(expr.type.root), []).append(call)
    found = []
    for function in FUNCTIONS:
        if function.aggregate or not function.deterministic or function.name in OVER_TABLES:
            continue
        chance = random.Random(function.name)
        example = harness.expression(function.example)
        slots = [slot for slot in _slots(example) if _family(_root(slot)) in pool]
        for slot in (chance.choice(slots) for _ in range(_COMPOSITIONS if slots else 0)):
            found.append(_with(example, slot, exp.Paren(this=harness.expression(chance.choice(pool[_family(_root(slot))])))))
    return list(dict.fromkeys(found))


def _answered() -> Iterator[tuple[str, Expr]]:
    """The calls of the record of the grid that have the same value here as in Flink, as far as CAST to STRING shows."""
    for call, type_, _ in records("grid.tsv"):
        if type_ != "!" and differences.kind(call) == "":
            yield call, harness.bound(call)


def _family(root: str) -> str:
    return {"CHAR": "VARCHAR", "BIGINT": "INT", "SMALLINT": "INT", "TINYINT": "INT", "FLOAT": "DOUBLE", "DECIMAL": "DOUBLE"}.get(root, root)


def _calls(function: Function) -> Iterator[str]:
    example = harness.expression(function.example)
    yield function.example
    for slot in _slots(example):
        for sample in SAMPLES.get(_root(slot), ()):
            yield _with(example, slot, harness.expression(sample))
    arguments = call_args(example)
    if is_call(example) and not any(isinstance(e, exp.Var) for e in arguments):
        name = call_name(example)
        if arguments:
            yield f"{name}({', '.join(sql(a) for a in arguments[:-1])})"
        yield f"{name}({', '.join([*(sql(a) for a in arguments), '1'])})"


def _slots(call: exp.Expression) -> list[exp.Expression]:
    """The arguments of a call that are values."""
    children = [c for value in call.args.values() for c in (value if isinstance(value, list) else [value])]
    return [c for c in children if isinstance(c, exp.Expression) and not isinstance(c, exp.Var | exp.Identifier | exp.If)]


def sql(node: exp.Expression) -> str:
    return node.sql(dialect=Flink)


def _root(value: exp.Expression) -> str:
    try:
        return harness.bound(sql(value)).type.root
    except SqlStreamError:
        return ""


def _with(call: exp.Expression, slot: exp.Expression, value: exp.Expression) -> str:
    copy = call.copy()
    number = next(i for i, c in enumerate(_slots(call)) if c is slot)
    _slots(copy)[number].replace(value)
    return sql(copy)


def _casts() -> Iterator[str]:
    for source in SOURCES:
        for target in TARGETS:
            yield f"TRY_CAST({source} AS {target})"
    for targets, texts in PARSED.items():
        for target in targets:
            for text in texts:
                yield f"TRY_CAST('{text}' AS {target})"
            yield f"CAST('{texts[0]}' AS {target})"
            yield f"CAST('wrong' AS {target})"
