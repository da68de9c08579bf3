"""Calls are sqlglot's nodes where they mean the same, else nodes of our own; what was written can be read from each."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import UnsupportedError

from sqlstream.sql.functions import AGGREGATES, CALLABLE, SCALAR
from sqlstream.sql.functions.aggregates import OVER_ONLY
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax import calls
from sqlstream.sql.syntax.calls import COUNTERPARTS, Average, Builtin, BuiltinAggregate, call_args, call_name, is_call


def expression(sql: str) -> exp.Expr:
    return parse(f"SELECT {sql} FROM t").expressions[0].unalias()


# The node, what is called, the arguments in Flink's order.
NODES = {
    "SUM(x)": (exp.Sum, "SUM", ["x"]),
    "sum(DISTINCT x)": (exp.Sum, "sum", ["DISTINCT x"]),
    "COUNT(*)": (exp.Count, "COUNT", ["*"]),
    "COUNT(DISTINCT a, b)": (exp.Count, "COUNT", ["DISTINCT a, b"]),
    "AVG(x)": (Average, "AVG", ["x"]),
    "CHARACTER_LENGTH(x)": (exp.Length, "CHARACTER_LENGTH", ["x"]),
    "char_length(x)": (exp.Length, "char_length", ["x"]),
    "`upper`(x)": (exp.Upper, "upper", ["x"]),
    "POSITION('b' IN x)": (exp.StrPosition, "POSITION", ["'b'", "x"]),
    "TRIM(x)": (exp.Trim, "TRIM", ["x"]),
    "TRIM(LEADING 'a' FROM x)": (exp.Trim, "TRIM", ["LEADING", "'a'", "x"]),
    "EXTRACT(YEAR FROM x)": (exp.Extract, "EXTRACT", ["YEAR", "x"]),
    "SUBSTRING(x FROM 2 FOR 3)": (exp.Substring, "SUBSTRING", ["x", "2", "3"]),
    "SUBSTR(x, 2)": (exp.Substring, "SUBSTR", ["x", "2"]),
    "COALESCE(a, b, c)": (exp.Coalesce, "COALESCE", ["a", "b", "c"]),
    "IFNULL(a, b)": (exp.Coalesce, "IFNULL", ["a", "b"]),
    "LAG(a, 2)": (exp.Lag, "LAG", ["a", "2"]),
    "ARRAY[1, 2]": (exp.Array, "ARRAY", ["1", "2"]),
    "CURRENT_TIMESTAMP": (exp.CurrentTimestamp, "CURRENT_TIMESTAMP", []),
    # With other arguments, or another meaning, they are Flink's alone.
    "SUM(a, b)": (BuiltinAggregate, "SUM", ["a", "b"]),
    "COUNT()": (BuiltinAggregate, "COUNT", []),
    "SUBSTRING(x, 0)": (Builtin, "SUBSTRING", ["x", "0"]),
    "SUBSTRING(x, i)": (Builtin, "SUBSTRING", ["x", "i"]),
    "EXTRACT(DOW FROM x)": (Builtin, "EXTRACT", ["DOW", "x"]),
    "FLOOR(x TO DAY)": (Builtin, "FLOOR", ["x", "DAY"]),
    "REPLACE(x, '', 'y')": (Builtin, "REPLACE", ["x", "''", "'y'"]),
    "LISTAGG(x)": (BuiltinAggregate, "LISTAGG", ["x"]),
    "ARRAY_AGG(x) IGNORE NULLS": (BuiltinAggregate, "ARRAY_AGG", ["x IGNORE NULLS"]),
    "SUM(x) IGNORE NULLS": (exp.Sum, "SUM", ["x IGNORE NULLS"]),
    "DATE_FORMAT(x, 'y')": (Builtin, "DATE_FORMAT", ["x", "'y'"]),
    "TUMBLE_START(x, y)": (Builtin, "TUMBLE_START", ["x", "y"]),
    # The user's own.
    "my_sum(x)": (exp.Anonymous, "my_sum", ["x"]),
    "db.total(x)": (exp.Anonymous, "db.total", ["x"]),
}


@pytest.mark.parametrize("sql", NODES)
def test_nodes(sql: str) -> None:
    kind, name, args = NODES[sql]
    node = expression(sql)
    assert (type(node), call_name(node), [a.sql("flink") for a in call_args(node)]) == (kind, name, args)
    assert is_call(node)


@pytest.mark.parametrize("sql", NODES)
def test_written_as_it_was(sql: str) -> None:
    copy = expression(sql).copy()
    text = copy.sql("flink")
    assert (
        text.replace("`", "").upper()
        == sql.replace(" FROM 2 FOR 3", ", 2, 3").replace("`", "").replace("(x) IGNORE NULLS", "(x IGNORE NULLS)").upper()
    )
    assert call_name(expression(text)) == call_name(copy)


def test_every_aggregate_is_one_of_sqlglot() -> None:
    names = [f.name for f in AGGREGATES if f.name.isidentifier() and f.name not in OVER_ONLY]
    lost = [name for name in names if not isinstance(calls.call(name, [exp.column("x")]), exp.AggFunc)]
    assert lost == []
    found = parse("SELECT SUM(a) + COUNT(*), LISTAGG(DISTINCT b), UPPER(MAX(c)) FILTER (WHERE d > 0) FROM t HAVING AVG(e) > 1").find_all(exp.AggFunc)
    assert sorted(call_name(node) for node in found) == ["AVG", "COUNT", "LISTAGG", "MAX", "SUM"]


def test_no_built_in_function_is_anonymous() -> None:
    names = {*CALLABLE, *(f.name for f in (*SCALAR, *AGGREGATES) if f.name.isidentifier()), "TUMBLE", "FIRST", "SOURCE_WATERMARK"}
    assert [name for name in sorted(names) if isinstance(calls.call(name, [exp.column("x")]), exp.Anonymous)] == []


@pytest.mark.parametrize("row", COUNTERPARTS, ids=lambda row: f"{row.name}-{len(row.keys)}")
def test_arguments_come_back(row: calls.Counterpart) -> None:
    args: list[exp.Expr] = [exp.column(f"c{i}") for i in range(len(row.keys))]
    if row.when is not None:
        args = {"REPLACE": [exp.column("a"), exp.Literal.string("b"), exp.column("c")], "EXTRACT": [exp.Var(this="DAY"), exp.column("a")]}.get(
            row.name, [exp.column("a"), *(exp.Literal.number(2) for _ in args[1:])]
        )
    node = row.build(args)
    assert node is not None
    assert row.args(node) == args


def test_columns_named_as_functions_are_columns() -> None:
    assert isinstance(expression("`count`"), exp.Column)
    assert isinstance(expression("t.`sum`"), exp.Column)


@pytest.mark.parametrize("dialect", ["spark", "postgres", "duckdb", "snowflake"])
@pytest.mark.parametrize("sql", ["LISTAGG(x)", "SUBSTRING(x, 0)", "DATE_FORMAT(x, 'y')", "FIRST_VALUE(x)", "AVG(x)", "ROW(1, 2)", "DAYOFWEEK(x)"])
def test_other_dialects_refuse_what_only_flink_means(sql: str, dialect: str) -> None:
    with pytest.raises(UnsupportedError, match=sql.split("(")[0]):
        expression(sql).sql(dialect)


def test_an_average_of_known_type() -> None:
    average = expression("AVG(x)")
    average.this.type = "DOUBLE"
    assert average.sql("spark") == "AVG(x)"
    average.this.type = "INT"
    with pytest.raises(UnsupportedError, match="AVG"):
        average.sql("spark")


OTHERS = {
    "SELECT IFNULL(a, b), LENGTH(c), SUBSTR(d, 2)": "SELECT COALESCE(a, b), CHAR_LENGTH(c), SUBSTRING(d, 2)",
    "SELECT COUNT(DISTINCT a), AVG(b), COUNT(*)": "SELECT COUNT(DISTINCT a), AVG(b), COUNT(*)",
}


@pytest.mark.parametrize("sql", OTHERS)
def test_calls_of_other_dialects(sql: str) -> None:
    assert sqlglot.transpile(sql, read="spark", write="flink") == [OTHERS[sql]]
