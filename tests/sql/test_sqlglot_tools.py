"""sqlglot's tools over trees of the dialect: qualify, lineage, scope, diff, find_all."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import diff, exp
from sqlglot.diff import Insert, Keep, Remove
from sqlglot.errors import SqlglotError
from sqlglot.lineage import lineage
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import build_scope, traverse_scope

from sqlstream.sql.sqlglot.dialect import Flink
from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax import ast

ROOT = Path(__file__).parents[2]
SCHEMA = {
    "bids": {"item": "STRING", "price": "DECIMAL(10, 2)", "ts": "TIMESTAMP(3)"},
    "rates": {"currency": "STRING", "rate": "DOUBLE", "ts": "TIMESTAMP(3)"},
}


def tree(sql: str) -> exp.Expr:
    return sqlglot.parse_one(sql, read="flink")


def sources(sql: str, column: str) -> set[str]:
    """The columns of tables that ``column`` of a query comes from."""
    found = lineage(column, sql, schema=SCHEMA, dialect="flink")
    return {node.name for node in found.walk() if not node.downstream}


WINDOWED = (
    "SELECT window_start, item, SUM(price) AS total FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, item"
)
MATCHED = (
    "SELECT * FROM bids MATCH_RECOGNIZE (PARTITION BY item ORDER BY ts MEASURES LAST(A.price) AS p, COUNT(B.ts) AS n ONE ROW PER MATCH "
    "AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.price > 5, B AS price < LAST(A.price, 1)) AS m"
)
TEMPORAL = "SELECT b.price * r.rate AS v FROM bids AS b JOIN rates FOR SYSTEM_TIME AS OF b.ts AS r ON b.item = r.currency"
LINEAGE = {
    (WINDOWED, "total"): {"bids.price"},
    (WINDOWED, "window_start"): {"bids.ts"},
    ("SELECT w.* FROM TABLE(HOP(DATA => TABLE bids, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '1' SECOND, SIZE => INTERVAL '9' SECOND)) AS w", "item"): {"bids.item"},
    ("SELECT x FROM TABLE(CUMULATE((SELECT UPPER(item) AS x, ts FROM bids), DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '9' SECOND))", "x"): {"bids.item"},
    ("SELECT window_time FROM TABLE(SESSION(TABLE bids PARTITION BY (item), DESCRIPTOR(ts), INTERVAL '1' SECOND)) AS w", "window_time"): {"bids.ts"},
    (MATCHED, "p"): {"bids.price"},
    (MATCHED, "item"): {"bids.item"},
    (MATCHED, "n"): {"bids.ts"},
    (TEMPORAL, "v"): {"b.price", "r.rate"},
    ("SELECT item || w AS x FROM bids, LATERAL TABLE(split(item)) AS t(w)", "x"): {"bids.item"},
    ("SELECT rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY price) AS rn FROM bids) WHERE rn = 1", "rn"): {"bids.item", "bids.price"},
    ("WITH c AS (SELECT item AS i FROM bids /*+ OPTIONS('a'='b') */) SELECT i FROM c UNION ALL SELECT currency FROM rates", "i"): {"bids.item", "rates.currency"},
}  # fmt: skip


@pytest.mark.parametrize(("sql", "column"), LINEAGE)
def test_lineage(sql: str, column: str) -> None:
    assert sources(sql, column) == LINEAGE[sql, column]


QUALIFIED = {
    "SELECT x, y FROM bids MATCH_RECOGNIZE (PARTITION BY item ORDER BY ts MEASURES A.price AS p PATTERN (A) DEFINE A AS A.price > 1) AS m(x, y)": (
        "SELECT `m`.`x` AS `x`, `m`.`y` AS `y` FROM `bids` AS `bids` MATCH_RECOGNIZE (PARTITION BY item ORDER BY `ts` MEASURES `A`.`price` AS `y` "
        "PATTERN (`A`) DEFINE `A` AS `A`.`price` > 1) AS `m`(x, y)"
    ),
    "SELECT c, s FROM TABLE(SESSION(TABLE bids PARTITION BY (item), DESCRIPTOR(ts), INTERVAL '1' DAY)) AS w(a, b, c, s, e, t)": (
        "SELECT `w`.`c` AS `c`, `w`.`s` AS `s` FROM TABLE(SESSION((SELECT `bids`.`item`, `bids`.`price`, `bids`.`ts` FROM `bids` AS `bids`) "
        "PARTITION BY (item), DESCRIPTOR(`ts`), INTERVAL '1' DAY)) AS `w`(`a`, `b`, `c`, `s`, `e`, `t`)"
    ),
    "SELECT item, window_end FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' DAY)) AS w": (
        "SELECT `w`.`item` AS `item`, `w`.`window_end` AS `window_end` FROM TABLE(TUMBLE((SELECT `bids`.`item` AS `item`, `bids`.`price` AS `price`, "
        "`bids`.`ts` AS `ts` FROM `bids` AS `bids`), DESCRIPTOR(`ts`), INTERVAL '1' DAY)) AS `w`"
    ),
    MATCHED: (
        "SELECT `m`.`item` AS `item`, `m`.`p` AS `p`, `m`.`n` AS `n` FROM `bids` AS `bids` MATCH_RECOGNIZE (PARTITION BY item ORDER BY `ts` MEASURES "
        "LAST(`A`.`price`) AS `p`, COUNT(`B`.`ts`) AS `n` ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (`A`+ `B`) DEFINE "
        "`A` AS `A`.`price` > 5, `B` AS `price` < LAST(`A`.`price`, 1)) AS `m`"
    ),
    TEMPORAL: (
        "SELECT `b`.`price` * `r`.`rate` AS `v` FROM `bids` AS `b` JOIN `rates` FOR SYSTEM_TIME AS OF `b`.`ts` AS `r` ON `b`.`item` = `r`.`currency`"
    ),
}


@pytest.mark.parametrize("sql", QUALIFIED)
def test_qualify(sql: str) -> None:
    found = qualify(tree(sql), schema=SCHEMA, dialect="flink").sql("flink")
    assert found == QUALIFIED[sql]
    assert tree(found).sql("flink") == found


@pytest.mark.parametrize(
    "sql", ["SELECT nothing FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' DAY))", "SELECT m.price FROM (" + MATCHED + ") AS m"]
)
def test_columns_that_are_not_there(sql: str) -> None:
    with pytest.raises(SqlglotError, match="nothing|price"):
        qualify(tree(sql), schema=SCHEMA, dialect="flink")


def test_find_all() -> None:
    found = tree(WINDOWED)
    assert [t.name for t in found.find_all(exp.Table)] == ["bids"]
    assert {c.name for c in found.find_all(exp.Column)} == {"window_start", "item", "price", "ts"}
    assert [type(a) for a in tree(MATCHED).find_all(exp.AggFunc)] == [exp.Count]
    casts = tree("SELECT CAST(a AS ROW<x INT>), TRY_CAST(b AS DECIMAL(5, 2)) FROM t").find_all(exp.Cast)
    assert {c.to.this for c in casts} == {exp.DType.STRUCT, exp.DType.DECIMAL}


def test_scopes() -> None:
    scopes = traverse_scope(tree(WINDOWED))
    assert [sorted(s.sources) for s in scopes] == [["bids"], [""]]
    root = build_scope(tree(TEMPORAL))
    assert root is not None
    assert sorted(root.sources) == ["b", "r"]


def test_types() -> None:
    found = annotate_types(qualify(tree(WINDOWED), schema=SCHEMA, dialect="flink"), schema=SCHEMA, dialect="flink")
    assert [s.type.sql("flink") for s in found.selects if s.type is not None] == ["TIMESTAMP(3)", "STRING", "DECIMAL(10, 2)"]


def test_diff() -> None:
    changed = [e for e in diff(tree(WINDOWED), tree(WINDOWED.replace("SUM(price)", "MAX(price)")), dialect="flink") if isinstance(e, Insert | Remove)]
    assert [(type(e), type(e.expression)) for e in changed] == [(Remove, exp.Sum), (Insert, exp.Max)]
    same = diff(tree(MATCHED), tree(MATCHED), dialect="flink")
    assert all(isinstance(e, Keep) for e in same)


# --- over all queries that there are -----------------------------------------------------------------------------------


def statements(path: Path) -> list[exp.Expr]:
    found = []
    for piece in split(path.read_text()):
        try:
            found.append(tree(piece.text))
        except SqlglotError:
            continue
    return found


def queries(statement: exp.Expr) -> list[exp.Expr]:
    match statement:
        case exp.Query():
            return [statement]
        case ast.Insert() | ast.CreateView() | ast.CreateTable():
            return [statement.args["query"]] if isinstance(statement.args.get("query"), exp.Query) else []
        case ast.StatementSet() | ast.Explain():
            return [q for e in (*statement.expressions, *[x for x in [statement.this] if isinstance(x, exp.Expr)]) for q in queries(e)]
    return []


def columns(table: ast.CreateTable) -> dict[str, str]:
    """The columns of a table with their types, computed ones as texts."""
    found = {c.name: c.args["kind"].sql("flink") if c.args.get("kind") else "STRING" for c in table.args.get("columns") or []}
    return found or dict.fromkeys(table.args["query"].named_selects if table.args.get("query") else [], "STRING")


def declare(statement: exp.Expr, schema: dict[str, Any]) -> None:
    match statement:
        case ast.CreateTable():
            schema[statement.this.name] = columns(statement)
        case ast.CreateView():
            query = qualify(statement.args["query"].copy(), schema=dict(schema), dialect="flink")
            names = [c.name for c in statement.args.get("columns") or []] or query.named_selects
            schema[statement.this.name] = dict.fromkeys(names, "STRING")


@cache
def declared() -> dict[str, Any]:
    schema: dict[str, Any] = {}
    files = (*(ROOT / "catalog").glob("*.sql"), ROOT / "benchmarks/nexmark/queries/ddl.sql")
    for statement in sorted((s for file in files for s in statements(file)), key=lambda s: isinstance(s, ast.CreateView)):
        declare(statement, schema)
    return schema


SCRIPTS = sorted(
    [*(ROOT / "tests/goldens/scripts").glob("*.sql"), *(ROOT / "queries").glob("*.sql"), *(ROOT / "benchmarks/nexmark/queries").glob("*.sql")]
)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_queries_are_qualified_and_written_back(path: Path) -> None:
    schema = declared().copy()
    for statement in statements(path):
        declare(statement, schema)
        for query in queries(statement):
            text = query.sql("flink")
            assert tree(text) == query
            found = qualify(query.copy(), schema=dict(schema), dialect="flink", validate_qualify_columns=False)
            again = found.sql("flink")
            assert tree(again).sql("flink") == again
            assert {t.name for t in found.find_all(exp.Table)} == {t.name for t in query.find_all(exp.Table)}
            assert traverse_scope(found)


def test_it_is_a_dialect_of_sqlglot() -> None:
    assert isinstance(sqlglot.Dialect.get_or_raise("flink"), Flink)
