"""Types and refusals of expressions, against the record of real Flink and against tables. No JVM."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest

from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.sql.bind import Scope, ScopeColumn, bind, cast_to, common_type, implicitly_castable, to_text
from sqlstream.sql.expressions import AggregateCall, Call, Cast, ColumnRef, Literal
from sqlstream.sql.functions import CALLABLE, FUNCTIONS, find
from sqlstream.sql.spark_sql import render
from sqlstream.sql.syntax.calls import call_args, is_call
from tests.support import pace

from . import differences, grid, harness
from .recorder import records

RECORDS = [
    r for name in ("expressions.tsv", "aggregates.tsv", "grid.tsv", "grid_aggregates.tsv", "observed.tsv", "composed.tsv") for r in records(name)
]
RUNTIME = "fails while running"
NULL = "NULL"


def test_record_is_large() -> None:
    assert sum(1 for _, type_, _ in RECORDS if type_ != "!") > 7_000


def test_every_type_is_flinks() -> None:
    wrong = []
    for text, type_, _ in RECORDS:
        if type_ == "!" or differences.kind(text) in ("refused", "typed"):
            continue
        try:
            found = harness.bound(text).type.full
        except SqlStreamError as error:
            found = error.message
        if found != type_:
            wrong.append((text, found, type_))
    assert not wrong


def test_refused_here_is_refused() -> None:
    for text in differences.REFUSED:
        with pytest.raises(SqlStreamError):
            harness.bound(text)


def test_every_difference_is_one() -> None:
    for _, pattern, _ in differences.OF_THE_GRID:
        assert any(re.search(pattern, text) for text, _, _ in RECORDS), pattern
    for text, type_, _ in RECORDS:
        if differences.kind(text) == "refused" and type_ != "!":
            with pytest.raises(SqlStreamError):
                harness.bound(text)


def test_what_flink_refuses_is_refused() -> None:
    accepted = []
    for text, type_, texts in RECORDS:
        if type_ == "!" and texts != (RUNTIME,) and differences.kind(text) != "accepted" and "MiniCluster" not in str(texts[0]):
            try:
                harness.bound(text)
                accepted.append(text)
            except SqlStreamError:
                pass
    assert not accepted


def test_refusals_point_at_a_place_and_name_the_cause() -> None:
    for text, message, hint in (
        ("nosuch", "Column 'nosuch' not found in any table", None),
        ("t.dx", "Column 'dx' not found in table 't'", None),
        ("nosuch.i", "Table 'nosuch' not found", None),
        ("i + tS", "Column 'tS' not found in any table", "Did you mean 'ts'?"),
        ("UPER(s)", "No match found for function signature UPER(<CHARACTER>)", "Did you mean 'UPPER'?"),
        (
            "UPPER(i)",
            "Cannot apply 'UPPER' to arguments of type 'UPPER(<INTEGER>)'. Supported form(s): 'UPPER(<CHARACTER>)'",
            "UPPER takes: UPPER(STRING)",
        ),
        ("LOWER()", "Invalid number of arguments to function 'LOWER'. Was expecting 1 arguments", "LOWER takes: LOWER(STRING)"),
        (
            "i AND b",
            "Cannot apply 'AND' to arguments of type '<INTEGER> AND <BOOLEAN>'",
            "Both sides are conditions: compare what is none, as in x <> 0.",
        ),
        ("s = b", "Cannot apply '=' to arguments of type '<VARCHAR(2147483647)> = <BOOLEAN>'", "Cast one side to the type of the other."),
        ("i || i", "Cannot apply '||' to arguments of type '<INTEGER> || <INTEGER>'", "|| joins texts: CAST(x AS STRING) makes one of any value."),
        (
            "SUM(i) FILTER (WHERE b) OVER (ORDER BY ts)",
            "OVER must be applied to aggregate function",
            "Write the condition into the call: SUM(CASE WHEN condition THEN x END) OVER ..",
        ),
        ("ts - tu", "Cannot apply '-' to arguments of type '<TIMESTAMP(3)> - <TIMESTAMP(6)>'", "Use TIMESTAMPDIFF(unit, a, b)."),
        ("SUM(COUNT(*))", "Aggregate expressions cannot be nested", None),
        ("m[1]", "Cannot apply 'ITEM' to arguments of type 'ITEM(<(VARCHAR(2147483647), INTEGER) MAP>, <INTEGER>)'", None),
        ("ai[0]", "Array element access needs an index starting at 1 but was 0.", None),
        ("r.c", "Column 'r.c' not found in any table", None),
        ("CASE WHEN i THEN 1 END", "Expected a boolean type", None),
        ("UPPER(s) OVER (ORDER BY ts)", "OVER must be applied to aggregate function", None),
        ("i IN (SELECT 1)", "IN (sub-query) is supported in the select list, in WHERE, GROUP BY, HAVING, ON and VALUES, and not here.", None),
    ):
        with pytest.raises(SqlStreamError) as caught:
            harness.bound(text)
        assert caught.value.message == message, text
        assert hint is None or caught.value.hint == hint, text
        assert caught.value.offset is not None, text


def calls_of_any_number() -> list[str]:
    """Calls of every function with no argument, with one less and one more than in its example, with NULLs, and with arguments of other kinds."""
    found = []
    for name in sorted({*CALLABLE, *(f.name for f in FUNCTIONS if f.name.isidentifier())}):
        function = find(name)
        examples = [harness.expression(function.example)] if function is not None and function.example[:6] not in ("SELECT", "CREATE") else []
        given = [[grid.sql(e) for e in call_args(x)] for x in examples if is_call(x)]
        lists = [[], *([NULL] * n for n in (1, 2, 3)), ["i"], ["s", "s"], ["ai", "ai"], ["m"] * 3, ["ts"] * 9, ["DISTINCT i"], ["*"]]
        lists += [cut for args in given for cut in (args[:-1], args[1:], [*args, "1"], [*args, *args])]
        found += [f"{name}({', '.join(args)})" for args in lists]
    return list(dict.fromkeys(found))


def test_a_call_with_any_arguments_has_a_type_or_is_refused_at_its_place() -> None:
    for text in calls_of_any_number():
        try:
            assert harness.bound(text).type.full
        except SqlStreamError as error:
            assert error.offset is not None, text
            assert error.message, text
    for name in ("COALESCE", "GREATEST", "LEAST", "ARRAY_CONCAT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "GROUPING", "MAP_UNION", "ITEM"):
        with pytest.raises(ValidationError):
            harness.bound(f"{name}()")


def test_ambiguous_and_qualified_columns() -> None:
    int_, string = harness.type_of("INT"), harness.type_of("STRING")
    scope = Scope(
        (
            ScopeColumn("a", "id", ColumnRef(int_, "id")),
            ScopeColumn("a", "row", ColumnRef(harness.type_of("ROW<x INT, y ROW<z STRING>>"), "row")),
            ScopeColumn("b", "id", ColumnRef(string, "id0")),
        )
    )
    with pytest.raises(ValidationError, match="Column 'id' is ambiguous"):
        bind(harness.expression("id"), scope)
    assert bind(harness.expression("b.id"), scope) == ColumnRef(string, "id0")
    for text in ("`row`.y.z", "a.`row`.y.z"):
        assert to_text(bind(harness.expression(text), scope)) == "row.y.z"
        assert bind(harness.expression(text), scope).type == string


def test_a_function_of_the_scope_comes_first() -> None:
    upper = find("UPPER")
    assert upper is not None
    own = type(upper)("COUNT_CHAR", ("string", "string"), lambda _: harness.type_of("BIGINT"), "count_char({0}, {1})", "", "")
    scope = Scope(harness.SCOPE.columns, functions={"count_char": own})
    call = bind(harness.expression("count_char(s, 'o')"), scope)
    assert isinstance(call, Call)
    assert call.function is own
    assert render(call, "UTC") == "count_char(`s`, 'o')"


def test_implicit_casts_are_explicit() -> None:
    call = harness.bound("i + l")
    assert isinstance(call, Call)
    assert isinstance(call.args[0], Cast)
    assert call.args[0].type.root == "BIGINT"


def test_aggregates_are_found_inside_expressions() -> None:
    expr = harness.bound("SUM(i) FILTER (WHERE b) / COUNT(DISTINCT l)")
    calls = [e for e in expr.walk() if isinstance(e, AggregateCall)]
    assert [(c.function.name, c.distinct, c.filter is not None) for c in calls] == [("SUM", False, True), ("COUNT", True, False)]


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("INT", "BIGINT"), "BIGINT"),
        (("INT", "DECIMAL(10, 2)"), "DECIMAL(12, 2)"),
        (("DECIMAL(10, 2)", "DOUBLE"), "DOUBLE"),
        (("CHAR(2)", "CHAR(3)"), "VARCHAR(3)"),
        (("CHAR(2)", "CHAR(2)"), "CHAR(2)"),
        (("CHAR(2)", "STRING"), "STRING"),
        (("TIMESTAMP(3)", "TIMESTAMP(6)"), "TIMESTAMP(6)"),
        (("INT", "STRING"), None),
        (("INT", "BOOLEAN"), None),
        (("DATE", "TIMESTAMP(3)"), None),
        (("ARRAY<INT>", "ARRAY<BIGINT>"), "ARRAY<BIGINT>"),
    ],
)
def test_common_type(types: tuple[str, str], expected: str | None) -> None:
    found = common_type([harness.type_of(x) for x in types])
    assert (None if found is None else str(found)) == expected


@pytest.mark.parametrize(
    ("source", "targets"),
    [
        ("TINYINT", "INT BIGINT DECIMAL(10,2) FLOAT DOUBLE"),
        ("BIGINT", "DECIMAL(10,2) FLOAT DOUBLE"),
        ("DECIMAL(10,2)", "FLOAT DOUBLE"),
        ("DOUBLE", "DECIMAL(10,2)"),
        ("STRING", "VARCHAR(3)"),
        ("CHAR(3)", "STRING VARCHAR(3)"),
        ("BOOLEAN", ""),
        ("BYTES", ""),
        ("BINARY(2)", "BYTES"),
        ("DATE", ""),
        ("TIMESTAMP(3)", "DATE TIME TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP_LTZ(3)", "TIMESTAMP(3)"),
        ("ROW<a_INT>", "ROW<x_BIGINT>"),
        ("ROW<x_BIGINT>", ""),
        ("ARRAY<INT>", ""),
    ],
)
def test_what_insert_converts_is_what_flink_converts(source: str, targets: str) -> None:
    every = (
        "TINYINT INT BIGINT DECIMAL(10,2) FLOAT DOUBLE STRING CHAR(3) VARCHAR(3) BOOLEAN BYTES BINARY(2) DATE TIME TIMESTAMP(3) "
        "TIMESTAMP_LTZ(3) ARRAY<INT> ARRAY<STRING> ROW<a_INT> ROW<x_BIGINT>"
    ).split()
    read = {x: harness.type_of(x.replace("_INT", " INT").replace("_BIGINT", " BIGINT")) for x in every}
    assert [x for x in every if x != source and implicitly_castable(read[source], read[x])] == targets.split()


def test_cast_to_changes_nothing_that_is_right() -> None:
    column = ColumnRef(harness.type_of("INT"), "i")
    assert cast_to(column, harness.type_of("INT").not_null()) is column
    assert implicitly_castable(harness.type_of("INT"), harness.type_of("BIGINT"))
    assert not implicitly_castable(harness.type_of("STRING"), harness.type_of("INT"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0.908 * i", "(0.908 * i)"),
        ("COUNT(*)", "COUNT(*)"),
        ("COUNT(DISTINCT i) FILTER (WHERE b)", "COUNT(DISTINCT i) FILTER (WHERE b)"),
        ("s IS NOT NULL", "NOT(s IS NULL)"),
        ("EXTRACT(DAY FROM ts)", "EXTRACT(DAY, ts)"),
        ("FLOOR(ts TO DAY)", "FLOOR(ts TO DAY)"),
        ("(ts - tu) DAY TO SECOND", "(ts - tu) DAY"),
        ("ts - INTERVAL '5' SECOND", "(ts - INTERVAL '5' SECOND)"),
        ("CASE WHEN b THEN 'a' END", "CASE WHEN b THEN 'a' ELSE NULL END"),
        ("'it''s'", "'it''s'"),
    ],
)
def test_text(text: str, shown: str) -> None:
    assert to_text(harness.bound(text)) == shown


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("'a''b'", "'a\\'b'"),
        ("'a\\b'", "'a\\\\b'"),
        ("`i`", "`i`"),
        ("SPLIT_INDEX(u, '/', 3)", "sqlstream_split_index(`u`, '/', 3)"),
        ("SPLIT_INDEX(u, '.', 3)", "sqlstream_split_index(`u`, '.', 3)"),
        ("i / 2", "CAST((`i` div 2) AS INT)"),
        ("s LIKE 'a%'", "(`s` LIKE 'a%')"),
        ("2147483648", "2147483648L"),
        ("CAST(s AS STRING)", "`s`"),
        ("CURRENT_ROW_TIMESTAMP()", "sqlstream_current_row_timestamp()"),
        ("(ts - tu) DAY TO SECOND", "sqlstream_time_difference(`ts`, `tu`)"),
        ("CAST(v AS STRING)", "`v`"),
        ("TIMESTAMP '2020-01-01 00:00:00.5'", "TIMESTAMP '2020-01-01 00:00:00.500000'"),
    ],
)
def test_spark_text(text: str, sql: str) -> None:
    assert render(harness.bound(text), "UTC") == sql


def test_user_text_can_not_leave_its_quotes() -> None:
    hostile = "x' OR '1'='1\\' --"
    literal = render(Literal(harness.type_of("STRING"), hostile), "UTC")
    assert literal == "'x\\' OR \\'1\\'=\\'1\\\\\\' --'"
    assert render(ColumnRef(harness.type_of("INT"), "a`b"), "UTC") == "`a``b`"


def test_every_row_is_complete() -> None:
    names = [f.name for f in FUNCTIONS]
    assert len(names) == len(set(names))
    for function in FUNCTIONS:
        assert function.summary.endswith(".") and function.example, function.name
    for name in CALLABLE:
        assert find(name) is not None, name


CALLS = 70_000


def test_binding_is_fast() -> None:
    trees = [harness.expression(text) for text, type_, _ in RECORDS[:200] if type_ != "!"]

    def bound() -> None:
        for tree in trees:
            with suppress(SqlStreamError):
                bind(tree, harness.SCOPE)

    bound()
    assert CALLS / 2 < pace.calls(bound) < CALLS
