"""Values of expressions on Spark, against the record of real Flink."""

from __future__ import annotations

import pytest

from sqlstream.plan import make
from sqlstream.sql.casts import display_sql, json_sql
from sqlstream.sql.spark_sql import render
from tests.support.floats import of_any_java

from . import differences, grid, harness
from .recorder import expressions, record, records

RUNTIME = "fails while running"
BATCH = 150
SCALARS = ("expressions.tsv", "grid.tsv", "observed.tsv", "composed.tsv")
AGGREGATES = ("aggregates.tsv", "grid_aggregates.tsv")


def wrong(spark, names: tuple[str, ...], aggregate: bool, count: int) -> list[tuple[str, list[str | None] | str, list[str | None]]]:
    """(expression, our texts or why there is none, Flink's) where both should have a value, and ours is another one."""
    asked = [(e, list(texts)) for name in names for e, type_, texts in records(name) if type_ != "!" and differences.kind(e) in ("", "typed")]
    assert len(asked) > count
    frame = harness.rows(spark)
    found = []
    for start in range(0, len(asked), BATCH):
        part = asked[start : start + BATCH]
        answers = evaluated(frame, [e for e, _ in part], aggregate)
        found += [(e, ours, texts) for (e, texts), ours in zip(part, answers, strict=True) if not same(e, ours, texts)]
    return found


def same(expression: str, ours: list[str | None] | str, texts: list[str | None]) -> bool:
    """A multiset's values have no order."""
    ours, texts = of_any_java(ours), of_any_java(texts)
    if not expression.startswith("COLLECT(") or isinstance(ours, str):
        return ours == texts
    return [sorted((text or "").strip("{}").split(", ")) for text in ours] == [sorted((text or "").strip("{}").split(", ")) for text in texts]


def evaluated(frame, expressions: list[str], aggregate: bool) -> list[list[str | None] | str]:
    """Our texts of each expression, or the problem with it."""
    try:
        columns = [f"{harness.shown(harness.bound(e))} AS c{i}" for i, e in enumerate(expressions)]
        if aggregate:
            rows = [frame.selectExpr(*columns).collect()[0], frame.where("z > 99").selectExpr(*columns).collect()[0]]
        else:
            rows = frame.selectExpr(*columns).collect()
        return [[row[i] for row in rows] for i in range(len(expressions))]
    except Exception as error:
        if len(expressions) == 1:
            return [str(error).splitlines()[0]]
        middle = len(expressions) // 2
        return evaluated(frame, expressions[:middle], aggregate) + evaluated(frame, expressions[middle:], aggregate)


@pytest.mark.spark
@pytest.mark.long
def test_scalars_are_flinks(interpreted) -> None:
    assert wrong(interpreted, SCALARS, False, 800) == []


@pytest.mark.spark
def test_aggregates_are_flinks(interpreted) -> None:
    assert wrong(interpreted, AGGREGATES, True, 60) == []


# Names that generated SQL has had for something of its own.
ODD = (
    "x", "e", "v", "a", "k", "i", "r", "w", "c0", "key", "value", "entry", "element", "pos", "col", "window", "session_window", "_1", "$f0", "o0", "t", "s", "n", "m2",
    "mean", "accumulator",
)  # fmt: skip


@pytest.mark.spark
def test_columns_of_any_name_are_the_users(interpreted) -> None:
    """Each call in whose SQL something is bound, over columns called so: Flink's record again."""
    frame = harness.rows(interpreted).toDF(*ODD)
    names = dict(zip(harness.TYPES, ODD, strict=True))
    answered = [
        (e, list(x), name in AGGREGATES)
        for name in (*SCALARS, *AGGREGATES)
        for e, type_, x in records(name)
        if type_ != "!" and differences.kind(e) in ("", "typed")
    ]
    binding = [(e, texts, aggregate) for e, texts, aggregate in answered if "->" in render(harness.bound(e), harness.ZONE)]
    assert len(binding) > 150
    for aggregate in (False, True):
        asked = [(e, texts) for e, texts, of_rows in binding if of_rows is aggregate]
        exprs = [make.renamed(harness.bound(e), names) for e, _ in asked]
        columns = [f"{harness.shown(expr)} AS c{i}" for i, expr in enumerate(exprs)]
        rows = frame.selectExpr(*columns).collect()
        rows = [rows[0], frame.where("mean > 99").selectExpr(*columns).collect()[0]] if aggregate else rows
        assert [(e, ours) for i, (e, texts) in enumerate(asked) if not same(e, ours := [row[i] for row in rows], texts)] == []


# As the client's tableau showed them.
DISPLAYED = {
    "X'1F00'": "x'1f00'", "ARRAY['a', NULL]": "[a, NULL]", "TRUE": "TRUE", "CAST(1.5 AS DOUBLE)": "1.5", "INTERVAL '1' DAY": "+1 00:00:00.000",
    "ROW(1, CAST(NULL AS INT))": "(1, NULL)", "MAP['a', 1]": "{a=1}", "TIMESTAMP '2020-01-01 00:00:00'": "2020-01-01 00:00:00",
    "TIME '10:11:12'": "10:11:12", "CAST('x' AS BYTES)": "x'78'", "CAST(NULL AS STRING)": None, "CAST('ab' AS CHAR(4))": "ab  ",
    "CAST(0.00000001 AS DECIMAL(20, 10))": "0.0000000100", "ARRAY[TRUE]": "[TRUE]", "ROW('a', TRUE, 1.0)": "(a, TRUE, 1.0)",
    "ARRAY[TIMESTAMP '2020-01-01 00:00:00.120']": "[2020-01-01 00:00:00.120]", "ARRAY[X'01']": "[x'01']", "CAST(1e20 AS DOUBLE)": "1.0E20",
    "CAST('2020-01-01 00:00:00.123' AS TIMESTAMP_LTZ(3))": "2020-01-01 00:00:00.123", "CAST(1 AS FLOAT)": "1.0",
}  # fmt: skip


def written(spark, texts, form) -> dict[str, str | None]:
    """The value of each expression as ``form``, a cast to text, writes it."""
    exprs = [harness.bound(text) for text in texts]
    columns = [f"{form(render(e, harness.ZONE), e.type, harness.ZONE)} AS c{i}" for i, e in enumerate(exprs)]
    return dict(zip(texts, spark.range(1).selectExpr(*columns).collect()[0], strict=True))


@pytest.mark.spark
def test_displayed_as_in_the_client(spark) -> None:
    assert written(spark, DISPLAYED, display_sql) == DISPLAYED


# A nested value as JSON; the last one is NULL.
AS_JSON = {
    "ARRAY['a, b', NULL, 'c\"']": '["a, b",null,"c\\\""]', "ARRAY[1, 2]": "[1,2]", "ARRAY[CAST(1.5 AS DECIMAL(10, 2))]": "[1.50]",
    "MAP['k', ARRAY[TRUE]]": '{"k":[true]}', "MAP[1, CAST(NULL AS INT)]": '{"1":null}', "ROW(1, 'x', CAST(NULL AS INT))": '{"EXPR$0":1,"EXPR$1":"x","EXPR$2":null}',
    "ARRAY[DATE '2020-01-01']": '["2020-01-01"]', "ARRAY[X'1F']": '["x\'1f\'"]', "ARRAY[ROW(1, MAP['a', 0.5])]": '[{"EXPR$0":1,"EXPR$1":{"a":0.5}}]',
    "ARRAY[TIMESTAMP '2020-01-01 00:00:00.120']": '["2020-01-01 00:00:00.120"]', "ARRAY[PARSE_JSON('{\"a\": [1]}')]": '[{"a":[1]}]',
    "CAST(NULL AS ARRAY<INT>)": None,
}  # fmt: skip


@pytest.mark.spark
def test_nested_values_as_json(spark) -> None:
    assert written(spark, AS_JSON, json_sql) == AS_JSON


@pytest.mark.spark
def test_what_fails_in_flink_fails(interpreted) -> None:
    frame = harness.rows(interpreted, local=True)
    asked = [e for name in SCALARS for e, type_, texts in records(name) if type_ == "!" and texts == (RUNTIME,) and differences.kind(e) != "accepted"]
    passed = []
    for text in asked:
        try:
            expr = harness.bound(text)
        except harness.REFUSALS:
            continue
        try:
            frame.selectExpr(harness.shown(expr)).collect()
            passed.append(text)
        except Exception as error:
            # It fails while it runs; what can't be planned would be a defect.
            assert type(error).__name__ not in ("AnalysisException", "ParseException"), f"{text}: {error}"[:500]
    assert passed == []


@pytest.mark.spark
@pytest.mark.parametrize("text", [
    "TIMESTAMPADD(DAY, 2147483647, ts)", "TIMESTAMPADD(YEAR, 8000, dd)", "TIMESTAMPADD(YEAR, -3000, ts)", "TIMESTAMPADD(HOUR, 9223372036854775807, lz)",
    "ts + INTERVAL '8000' YEAR(4)", "dd - INTERVAL '3000' YEAR(4)", "tu + i * 1000000 * INTERVAL '1' DAY", "dd + i * 1000000 * INTERVAL '1' DAY",
])  # fmt: skip
def test_a_time_beyond_four_digits_of_a_year_fails(interpreted, text: str) -> None:
    with pytest.raises(Exception, match="A time is beyond the years 0 to 9999"):
        harness.rows(interpreted, local=True).selectExpr(harness.shown(harness.bound(text))).collect()


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "aggregate"), [("expressions", False), ("aggregates", True)])
def test_record(name: str, aggregate: bool) -> None:
    """Renews the record: run with ``-m oracle``, then look at the difference."""
    record(expressions(f"{name}.sql"), f"{name}.tsv", aggregate=aggregate)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "aggregate"), [("grid", False), ("grid_aggregates", True)])
def test_record_grid(name: str, aggregate: bool) -> None:
    """Renews the record of the grid."""
    record(grid.aggregates() if aggregate else grid.scalars(), f"{name}.tsv", aggregate=aggregate)


@pytest.mark.oracle
@pytest.mark.parametrize("asked", [grid.observed, grid.composed])
def test_record_of_the_grids_results(asked) -> None:
    """Renews the records that are made of that of the grid, which is renewed first."""
    record(asked(), f"{asked.__name__}.tsv", aggregate=False)
