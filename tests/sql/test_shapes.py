"""What the binder, the planner and the catalog find in a tree: classes, arguments, places."""

from __future__ import annotations

import pytest
from sqlglot import exp

from sqlstream.core.errors import offset_of
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax import ast
from sqlstream.sql.syntax.calls import CALLS as CALLS_OF_FUNCTIONS
from sqlstream.sql.syntax.calls import call_args, call_name, is_call

from .conftest import SCRIPTS, placed


def expression(sql: str) -> exp.Expr:
    return parse(f"SELECT {sql} FROM t").expressions[0].unalias()


def shape(node: exp.Expr) -> str:
    """``node`` as operators before their operands."""
    match node:
        case exp.Column() | exp.Literal() | exp.Identifier() | exp.Null() | exp.Boolean() | exp.Var():
            return node.sql("flink")
        case exp.Paren():
            return shape(node.this)
        case _ if is_call(node):
            return f"{call_name(node)}({', '.join(shape(e) for e in call_args(node))})"
    inner = [v for v in node.args.values() if v is not None and v is not True and v is not False]
    flat = [x for v in inner for x in (v if isinstance(v, list) else [v])]
    return f"({type(node).__name__} {' '.join(shape(x) if isinstance(x, exp.Expr) else str(x) for x in flat)})"


# As Flink's parser groups them.
PRECEDENCE = {
    "a = b IS NULL": "(Is (EQ a b) NULL)",
    "a IS NULL = b": "(EQ (Is a NULL) b)",
    "NOT a = b": "(Not (EQ a b))",
    "NOT a IS NULL": "(Not (Is a NULL))",
    "NOT NOT a": "(Not (Not a))",
    "a = b LIKE c": "(EQ a (Like b c))",
    "a LIKE b = c": "(EQ (Like a b) c)",
    "a = b IN (1, 2)": "(EQ a (In b 1 2))",
    "a IN (1) = TRUE": "(EQ (In a 1) TRUE)",
    "a = b IS DISTINCT FROM c": "(NullSafeNEQ (EQ a b) c)",
    "a + b IS NOT DISTINCT FROM c + d": "(NullSafeEQ (Add a b) (Add c d))",
    "a || b + c": "(Add (DPipe a b) c)",
    "a + b || c": "(Add a (DPipe b c))",
    "a * b || c": "(DPipe (Mul a b) c)",
    "-a * b": "(Mul (Neg a) b)",
    "-a[1]": "(Neg (Bracket a 1))",
    "- a IS NULL": "(Is (Neg a) NULL)",
    "a = b = c": "(EQ (EQ a b) c)",
    "a - b - c": "(Sub (Sub a b) c)",
    "a / b * c % d": "(Mod (Mul (Div a b) c) d)",
    "a < b + c * d": "(LT a (Add b (Mul c d)))",
    "a BETWEEN 1 AND 2 AND c": "(And (Between a 1 2) c)",
    "a BETWEEN 1 AND 2 = TRUE": "(EQ (Between a 1 2) TRUE)",
    "a AND NOT b OR c": "(Or (And a (Not b)) c)",
    "a OR b AND c": "(Or a (And b c))",
    "a LIKE b ESCAPE c || d": "(Escape (Like a b) (DPipe c d))",
    "a NOT IN (1) AND b": "(And (Not (In a 1)) b)",
    "a NOT LIKE b": "(Not (Like a b))",
    "a IS NOT UNKNOWN": "(Not (Is a NULL))",
    "INTERVAL '1' DAY * 2": "(Mul (IntervalLiteral 1 DAY) 2)",
    "f(x).y[1].z": "(Dot (Bracket (Dot f(x) y) 1) z)",
}


@pytest.mark.parametrize(("sql", "wanted"), PRECEDENCE.items())
def test_precedence(sql: str, wanted: str) -> None:
    assert shape(expression(sql)) == wanted


CALLS = {
    "f()": "f()",
    "Sum(a)": "Sum(a)",
    "db.f(a)": "db.f(a)",
    "COUNT(*)": "COUNT((Star ))",
    "COUNT(DISTINCT a, b)": "COUNT((Distinct a b))",
    "COUNT(ALL a)": "COUNT(a)",
    "IF(a, b, c)": "IF(a, b, c)",
    "LEFT(a, 1)": "LEFT(a, 1)",
    "SUBSTRING(a FROM 2 FOR 3)": "SUBSTRING(a, 2, 3)",
    "EXTRACT(DAYS FROM a)": "EXTRACT(DAY, a)",
    "TRIM(a)": "TRIM(a)",
    "TRIM('x' FROM a)": "TRIM(BOTH, 'x', a)",
    "TRIM(LEADING FROM a)": "TRIM(LEADING, ' ', a)",
    "POSITION('x' IN a || b)": "POSITION('x', (DPipe a b))",
    "OVERLAY(a PLACING b FROM 1)": "OVERLAY(a, b, 1)",
    "CEILING(a TO HOUR)": "CEIL(a, HOUR)",
    "TIMESTAMPADD(SQL_TSI_DAY, 1, a)": "TIMESTAMPADD(DAY, 1, a)",
    "TIMESTAMPDIFF(SECOND, a, b)": "TIMESTAMPDIFF(SECOND, a, b)",
    "CURRENT_TIMESTAMP": "CURRENT_TIMESTAMP()",
    "CURRENT_DATE()": "CURRENT_DATE()",
    "ROW(1, 2)": "ROW(1, 2)",
    "(1, 2)": "(Tuple 1 2)",
    "ARRAY[1]": "ARRAY(1)",
    "MAP['a', 1]": "MAP('a', 1)",
    "f(A => 1)": "f((NamedArgument A 1))",
    "JSON_EXISTS(a, '$')": "JSON_EXISTS(a, '$')",
    "JSON_VALUE(a, '$' NULL ON EMPTY)": "JSON_VALUE(a, '$', NULL, ON, EMPTY)",
    "JSON_OBJECT('a': 1, KEY 'b' VALUE 2)": "JSON_OBJECT(KEY, 'a', VALUE, 1, KEY, 'b', VALUE, 2)",
    "'a'\n'b'": "'ab'",
    ".5": ".5",
    "5.": "5",
    "U&'\\263A\\\\'": "'☺\\'",
    "U&'!263A!!' UESCAPE '!'": "'☺!'",
    "E'\\u0041\\n\\''": "'A\n'''",
}


@pytest.mark.parametrize(("sql", "wanted"), CALLS.items())
def test_calls_and_literals(sql: str, wanted: str) -> None:
    assert shape(expression(sql)) == wanted


def test_columns_and_fields() -> None:
    column = expression("a.b.c.d.e")
    assert isinstance(column, exp.Dot)
    assert [p.name for p in column.this.parts] == ["a", "b", "c", "d"]
    assert expression("`A`").name == "A"
    star = expression("s.t.*")
    assert isinstance(star.this, exp.Star)
    assert (star.args["table"].name, star.args["db"].name) == ("t", "s")


def test_time_literals_keep_their_text() -> None:
    literal = expression("TIMESTAMP '2026-01-31 10:11:12.123'")
    assert isinstance(literal, ast.TimeLiteral)
    assert (literal.args["kind"], literal.args["this"]) == ("TIMESTAMP", "2026-01-31 10:11:12.123")
    interval = expression("INTERVAL -'1-2' YEARS TO MONTH")
    assert [interval.args.get(k) for k in ("this", "unit", "to", "negative")] == ["1-2", "YEAR", "MONTH", True]


def test_windows_of_over() -> None:
    window = expression("SUM(a) OVER (w PARTITION BY b ORDER BY c DESC ROWS BETWEEN 5 PRECEDING AND CURRENT ROW)")
    assert (window.args["alias"].name, shape(window.args["partition_by"][0])) == ("w", "b")
    order = window.args["order"].expressions[0]
    assert (order.args["desc"], order.args["nulls_first"]) == (True, False)
    spec = window.args["spec"].args
    assert (spec["kind"], spec["start"].name, spec["start_side"], spec["end"]) == ("ROWS", "5", "PRECEDING", "CURRENT ROW")


def item(sql: str) -> exp.Expr:
    return parse(f"SELECT * FROM {sql}").args["from_"].this


def test_table_with_all() -> None:
    table = item("c.d.t /*+ OPTIONS('a' = 'b') */ FOR SYSTEM_TIME AS OF o.ts AS x (p, q)")
    assert ast.parts(table) == ("c", "d", "t")
    option = table.args["hints"][0].expressions[0]
    assert (option.this.name, option.expression.name) == ("a", "b")
    assert shape(table.args["system_time"].expression) == "o.ts"
    assert (table.alias, [c.name for c in table.args["alias"].columns]) == ("x", ["p", "q"])


@pytest.mark.parametrize(
    "sql",
    [
        "TABLE(Tumble(TABLE t, DESCRIPTOR(c), INTERVAL '1' HOUR)) AS w",
        "TUMBLE(TABLE t, DESCRIPTOR(c), INTERVAL '1' HOUR) w",
    ],
)
def test_window_functions(sql: str) -> None:
    function = item(sql)
    assert isinstance(function, ast.TableFunction)
    assert (function.name.upper(), function.alias) == ("TUMBLE", "w")
    data, time, size = function.expressions
    assert (type(data), data.this.name) == (ast.TableArgument, "t")
    assert [c.name for c in time.expressions] == ["c"]
    assert size.args["unit"] == "HOUR"


@pytest.mark.parametrize("columns", ["(a, b)", "a, b"])
def test_partitioned_table_argument(columns: str) -> None:
    data = item(f"TABLE(SESSION(TABLE t PARTITION BY {columns}, DESCRIPTOR(c), INTERVAL '1' HOUR))").expressions[0]
    assert [c.name for c in data.args["partition"]] == ["a", "b"]


def test_named_arguments() -> None:
    names = [a.this for a in item("HOP(DATA => TABLE t, `OFFSET` => INTERVAL '1' DAY)").expressions]
    assert names == ["DATA", "OFFSET"]


def test_joins() -> None:
    sql = "SELECT * FROM a LEFT OUTER JOIN b ON TRUE NATURAL JOIN c FULL JOIN d USING (x, y) CROSS JOIN e, f"
    found = [tuple(j.args.get(k) or None for k in ("side", "kind", "method")) for j in parse(sql).args["joins"]]
    assert found == [
        ("LEFT", None, None),
        (None, None, "NATURAL"),
        ("FULL", None, None),
        (None, "CROSS", None),
        (None, None, None),
    ]


def test_lateral_and_unnest() -> None:
    joins = parse("SELECT * FROM t, LATERAL TABLE(f(x)) AS a (b), LATERAL (SELECT 1) AS c, UNNEST(r) WITH ORDINALITY AS d (e, n)").args["joins"]
    function, query, unnest = (j.this for j in joins)
    assert (type(function), function.args["lateral"]) == (ast.TableFunction, True)
    assert (type(query), query.alias) == (exp.Lateral, "c")
    assert (unnest.args["offset"], [c.name for c in unnest.args["alias"].columns]) == (True, ["e", "n"])


def test_match_recognize() -> None:
    pattern = "PATTERN (A B+? C{2,3} D{2,}? E{,3} F{4} G* H?)"
    match = item(f"t MATCH_RECOGNIZE (ORDER BY ts AFTER MATCH SKIP TO LAST B {pattern} DEFINE A AS A.x > 1) AS m")
    assert isinstance(match, ast.MatchRecognize)
    found = [(v.name, v.args["low"], v.args.get("high"), bool(v.args.get("reluctant"))) for v in match.args["pattern"]]
    assert found == [
        ("A", 1, 1, False), ("B", 1, None, True), ("C", 2, 3, False), ("D", 2, None, True), ("E", 0, 3, False), ("F", 4, 4, False),
        ("G", 0, None, False), ("H", 0, 1, False),
    ]  # fmt: skip
    assert (match.args["after"], match.args["after_variable"].name, match.alias) == ("TO LAST", "B", "m")


def test_intersect_binds_more_tightly() -> None:
    tree = parse("SELECT a FROM t UNION ALL SELECT b FROM u INTERSECT SELECT c FROM v")
    assert (type(tree), type(tree.expression)) == (exp.Union, exp.Intersect)
    assert (tree.args["distinct"], tree.expression.args["distinct"]) == (False, True)


def test_a_parenthesis_that_begins_with_a_query() -> None:
    assert isinstance(expression("((SELECT 1) + 1)").this, exp.Add)
    assert isinstance(expression("((SELECT 1) UNION (SELECT 2))"), exp.Subquery)
    assert len(expression("(SELECT 1) IN ((SELECT 1), 2)").expressions) == 2
    joined = item("((SELECT 1) AS a JOIN (SELECT 2) AS b ON TRUE)")
    assert len(joined.this.args["joins"]) == 1


PLACES = (
    "SELECT §a FROM t", "SELECT a, §`b c` FROM t", "SELECT 1, §'x'", "SELECT 1, §15", "SELECT §f(a)", "SELECT §CAST(a AS INT)",
    "SELECT §COUNT(*)", "SELECT §CURRENT_DATE", "SELECT §TIMESTAMP 'x'", "SELECT §INTERVAL '1' DAY", "SELECT §(a, b)", "SELECT §-1",
    "SELECT §NULL", "SELECT §TRUE", "SELECT §CASE WHEN a THEN b END", "SELECT §X'1F'", "SELECT §*", "SELECT §a + b", "SELECT §a.b[1]",
    "SELECT §(SELECT 1)", "SELECT §EXISTS (SELECT 1)", "SELECT §E'a'", "SELECT §ARRAY[1]", "SELECT §JSON_VALUE(a, '$')",
)  # fmt: skip


@pytest.mark.parametrize("marked", PLACES)
def test_places(marked: str) -> None:
    sql, offset = placed(marked)
    found = [offset_of(e) for e in parse(sql).expressions]
    assert found[-1] == offset


def test_every_leaf_has_a_place() -> None:
    lost = set()
    for path in SCRIPTS.glob("*.sql"):
        for statement in split(path.read_text()):
            tree = parse(statement.text)
            for node in tree.find_all(exp.Identifier, *CALLS_OF_FUNCTIONS, exp.Column, exp.Literal, exp.DataType, ast.TimeLiteral):
                if isinstance(node.parent, exp.DataType | exp.DataTypeParam | exp.ColumnDef | exp.CommentColumnConstraint):
                    continue  # the parts of a type, which has the place
                at = offset_of(node)
                if at is None:
                    lost.add((type(node).__name__, node.sql("flink"), statement.text[:30]))
                elif isinstance(node, exp.Identifier):
                    assert statement.text[at:].lstrip("`").startswith(node.name.replace("`", "``"))
    # Values that stand for nothing in the text, and numbers of buckets.
    assert {text for _, text, _ in lost} <= {"' '", "3", "4"}
