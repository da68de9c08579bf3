"""Plans and refusals, without a JVM."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import NotSupported, SqlStreamError, ValidationError
from sqlstream.plan.builder import queries as build
from sqlstream.plan.differences import differences
from sqlstream.plan.explain import tree
from sqlstream.plan.properties import fields
from sqlstream.plan.rules import rewrite
from sqlstream.plan.state import unbounded_state
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import optimized_plan

if TYPE_CHECKING:
    from sqlstream.session.session import Session

DECLARATIONS = """
CREATE TABLE clicks (who STRING, n INT, price DECIMAL(10, 2), place ROW<city STRING, zip ROW<code STRING>>, ts TIMESTAMP(3), twice AS n * 2,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json',
      'scan.startup.mode' = 'earliest-offset');
CREATE TABLE ended WITH ('scan.bounded.mode' = 'latest-offset') LIKE clicks;
CREATE TABLE plain (id BIGINT NOT NULL, name STRING) WITH ('connector' = 'delta', 'table-path' = 'plain');
CREATE TABLE keyed (id BIGINT, name STRING, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'keyed');
CREATE TABLE strict (id INT NOT NULL, at_ TIMESTAMP(3)) WITH ('connector' = 'blackhole');
CREATE TABLE lines (id BIGINT, name STRING) WITH ('connector' = 'print');
CREATE TABLE nothing (id BIGINT, name STRING) WITH ('connector' = 'blackhole');
CREATE TABLE files (who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'f', 'format' = 'json');
CREATE VIEW newest AS SELECT who, n, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts DESC) AS r FROM clicks) WHERE r = 1;
CREATE VIEW casts AS SELECT CAST(ts AS TIMESTAMP(2)) AS t2 FROM clicks;
CREATE VIEW people AS SELECT who AS name, ts, n FROM clicks WHERE who IS NOT NULL;
"""


WINDOWS = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
PLANS = {
    "projection": ("SELECT who, n + 1 FROM clicks", "Calc(select=[who, (n + 1) AS EXPR$1], changelogMode=[I])"),
    "unnamed columns count positions": ("SELECT n, n + 1, who, 'x' FROM clicks", "EXPR$1, who, 'x' AS EXPR$3"),
    "a name that comes twice": ("SELECT n, n FROM clicks", "Calc(select=[n, n AS n0]"),
    "nested rows": ("SELECT place.city, c.place.zip.code FROM clicks AS c", "place.city AS city, place.zip.code AS code"),
    "a star expands in declared order": ("SELECT * FROM clicks", "select=[who, n, price, place, ts, (n * 2) AS twice]"),
    "a row's star": ("SELECT (place).* FROM clicks", "place.city AS city, place.zip AS zip"),
    "a watermark that nothing waits for is left out": ("SELECT ts FROM clicks", "TableSourceScan"),
    "by the time of a table that is all there": (
        "SELECT who, COUNT(*) OVER (PARTITION BY who ORDER BY ts ROWS 3 PRECEDING) FROM files",
        "OverAggregate(partitionBy=[who], orderBy=[ts ASC]",
    ),
    "ordered by the time of a table that is all there": ("SELECT who FROM files ORDER BY ts, who", "Sort(orderBy=[$order0 ASC, who ASC]"),
    "ordered by what is not selected": ("SELECT who AS n FROM clicks ORDER BY clicks.n * 2 DESC, n LIMIT 2", "orderBy=[$order0 DESC, n ASC]"),
    "ordered by an expression of a name": ("SELECT who, n AS m FROM clicks ORDER BY -m LIMIT 2", "AS $order0]"),
    "ordered by an aggregate": ("SELECT who FROM clicks GROUP BY who ORDER BY COUNT(*) DESC LIMIT 2", "orderBy=[$order0 DESC]"),
    "ordered by a column of one side": (
        "SELECT a.n, b.n FROM clicks AS a JOIN people AS b ON a.who = b.name ORDER BY b.n LIMIT 2",
        "orderBy=[$order0 ASC]",
    ),
    "the first row by time stays it": (
        "SELECT who FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts) AS k FROM clicks) WHERE k = 1",
        "Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[who], orderBy=[ts ASC], changelogMode=[I])",
    ),
    "the first row by time and more may change": (
        "SELECT who FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts, n) AS k FROM clicks) WHERE k = 1",
        "orderBy=[ts ASC, n ASC], changelogMode=[I,UB,UA])",
    ),
    "group aggregate": ("SELECT who, COUNT(*) FROM clicks GROUP BY who", "GroupAggregate(groupBy=[who], select=[who, COUNT(*) AS"),
    "a group aggregate updates": ("SELECT who, COUNT(*) FROM clicks GROUP BY who", "changelogMode=[I,UB,UA]"),
    "an outer join": (
        "SELECT * FROM clicks AS a LEFT JOIN people AS b ON a.who = b.name",
        "Join(joinType=[LeftOuterJoin], where=[(who = name)], changelogMode=[I,UB,UA,D])",
    ),
    "union": ("SELECT n FROM clicks UNION SELECT n FROM people", "GroupAggregate(groupBy=[n], select=[n], changelogMode=[I])"),
    "intersect": (
        "SELECT n FROM clicks INTERSECT SELECT n FROM people",
        "Join(joinType=[LeftSemiJoin], where=[(n IS NOT DISTINCT FROM n0)], changelogMode=[I])",
    ),
    "except": ("SELECT n FROM clicks EXCEPT SELECT n FROM people", "GroupAggregate(groupBy=[n], select=[n], changelogMode=[I,UB,UA,D])"),
    "a top-n": (
        "SELECT who, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY n DESC) AS k FROM clicks) WHERE k <= 3",
        "Rank(rankRange=[rankStart=1, rankEnd=3], partitionBy=[who], orderBy=[n DESC], changelogMode=[I,UB,UA,D])",
    ),
    "a deduplication": (
        "SELECT who, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts DESC) AS k FROM clicks) WHERE k = 1",
        "partitionBy=[who], orderBy=[ts DESC], changelogMode=[I,UB,UA])",
    ),
    "an order with a limit": (
        "SELECT n FROM clicks ORDER BY n DESC LIMIT 2",
        "Rank(rankRange=[rankStart=1, rankEnd=2], orderBy=[n DESC], changelogMode=[I,UB,UA,D])",
    ),
    "a limit of updates": (
        "SELECT COUNT(*) FROM clicks GROUP BY who LIMIT 2 OFFSET 1",
        "Rank(rankRange=[rankStart=2, rankEnd=3], changelogMode=[I,UB,UA,D])",
    ),
    "a semi join": (
        "SELECT who FROM clicks WHERE who IN (SELECT name FROM people)",
        "Join(joinType=[LeftSemiJoin], where=[(who = name)], changelogMode=[I])",
    ),
    "state that expires": (
        "SELECT /*+ STATE_TTL('c' = '1 d') */ c.n FROM clicks AS c JOIN people AS p ON c.n = p.n",
        "stateTtl=[1 d, default]",
    ),
    "updates by a primary key that changes": ("INSERT INTO keyed SELECT 1, CAST(COUNT(*) AS STRING) FROM clicks", "changelogMode=[I,UB,UA])"),
    "updates without a known key": (
        "INSERT INTO keyed SELECT COUNT(*), 'x' FROM clicks GROUP BY who",
        "Rank(rankRange=[rankStart=1, rankEnd=1], partitionBy=[name], changelogMode=[I,UB,UA,D])",
    ),
    "updates by primary key": ("INSERT INTO keyed SELECT COUNT(*), who FROM clicks GROUP BY who", "changelogMode=[I,UA]"),
    "a total under a constant key": ("INSERT INTO keyed SELECT COUNT(*), 'all' FROM clicks WHERE n > 1", "changelogMode=[I,UB,UA]"),
    "distinct": ("SELECT DISTINCT who FROM clicks", "GroupAggregate(groupBy=[who], select=[who], changelogMode=[I])"),
    "window aggregate": (
        "SELECT who, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY who, window_start, window_end",
        "WindowAggregate(groupBy=[who], window=[TUMBLE(time_col=[ts], size=[1 h])]",
    ),
    "without the outer TABLE, arguments by name": (
        "SELECT window_end, COUNT(*) FROM HOP(DATA => TABLE people, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '1' MINUTE, SIZE => INTERVAL '2' MINUTE) "
        "GROUP BY window_start, window_end",
        "window=[HOP(time_col=[ts], size=[2 min], slide=[1 min])]",
    ),
    "a window over a sub-query of a window function": (
        "SELECT w, COUNT(*) FROM (SELECT window_start AS w, window_end AS e, n FROM TABLE(TUMBLE(TABLE people, DESCRIPTOR(ts), INTERVAL '1' DAY)) "
        "WHERE n > 1) GROUP BY w, e",
        "WindowAggregate(window=[TUMBLE(time_col=[ts], size=[1 d])]",
    ),
    "grouped by one bound only it is an ordinary aggregate": (
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start",
        "GroupAggregate(groupBy=[window_start]",
    ),
    "window function without aggregate": (
        "SELECT who, window_start FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR))",
        "WindowTableFunction(window=[TUMBLE(",
    ),
    "named windows": (
        "SELECT SUM(n) OVER v, COUNT(*) OVER v * 2 FROM clicks WINDOW w AS (PARTITION BY who), v AS (w ORDER BY ts ROWS 2 PRECEDING)",
        "OverAggregate(partitionBy=[who], orderBy=[ts ASC], window=[ ROWS BETWEEN 2 PRECEDING AND CURRENT ROW], select=[SUM(n) AS $over0, COUNT(*) AS",
    ),
    "an aggregate of a group's aggregate": (
        "SELECT who, SUM(SUM(n)) OVER (PARTITION BY who ORDER BY window_time) FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR) "
        "GROUP BY who, window_start, window_end, window_time",
        "window=[ RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW]",
    ),
    "order by time keeps the watermark": ("SELECT who, ts FROM clicks ORDER BY ts, who DESC", "TemporalSort(orderBy=[ts ASC, who DESC]"),
    "union all": ("SELECT n FROM clicks UNION ALL SELECT CAST(n AS BIGINT) FROM people", "CAST(n AS BIGINT)"),
    "with": ("WITH a AS (SELECT who AS w FROM clicks), b (x) AS (SELECT w FROM a) SELECT x FROM b", "who AS x"),
    "a natural join": (
        "SELECT * FROM plain NATURAL JOIN (SELECT name, n FROM people)",
        "Calc(select=[name, id, n], changelogMode=[I])\n+- Join(joinType=[InnerJoin], where=[(name = name0)]",
    ),
    "the only column of VALUES": ("SELECT v FROM (VALUES (1), (2)) AS v", "tuples=[[{ 1 }, { 2 }]]"),
    "a correlated Top-N": (
        "SELECT who, l.name FROM clicks, LATERAL (SELECT name, n FROM people AS p WHERE p.n = clicks.n ORDER BY p.n + 1 DESC LIMIT 2 OFFSET 1) AS l",
        "rankRange=[rankStart=2, rankEnd=3], partitionBy=[n]",
    ),
    "joins by a row to the left": (
        "SELECT who, l.name FROM clicks, LATERAL (SELECT p.name FROM people AS p WHERE p.n = clicks.n AND p.n > 1) AS l",
        "Join(joinType=[InnerJoin], where=[($c0 = n)]",
    ),
    "values of a row and elements": (
        "SELECT who, x FROM clicks CROSS JOIN UNNEST(ARRAY[n, twice]) AS t (x)",
        "Correlate(invocation=[UNNEST(ARRAY(n, twice))], select=[x], joinType=[INNER], changelogMode=[I])",
    ),
    "a hint without effect": (
        "SELECT /*+ BROADCAST(c) */ c.who FROM clicks AS c JOIN people AS p ON c.n = p.n",
        "Join(joinType=[InnerJoin], where=[(n = n0)], changelogMode=[I])",
    ),
    "values": ("SELECT x + 1 FROM (VALUES (1), (2)) AS t(x)", "Values(tuples=[[{ 1 }, { 2 }]]"),
    "insert casts": ("INSERT INTO plain SELECT n, who FROM clicks", "Sink(table=[default_catalog.default_database.plain], fields=[id, name]"),
    "insert with columns": ("INSERT INTO lines (name) SELECT who FROM clicks", "select=[NULL AS id, who AS name]"),
    "insert of updates into print": ("INSERT INTO lines SELECT COUNT(*), who FROM clicks GROUP BY who", "changelogMode=[I,UB,UA]"),
    "an aggregate of updates over windows": (
        f"SELECT who, MAX(c) FROM (SELECT who, COUNT(*) AS c FROM {WINDOWS} GROUP BY window_start, window_end, who) GROUP BY who",
        "GroupAggregate(groupBy=[who], select=[who, MAX(c) AS EXPR$1], changelogMode=[I,UB,UA])",
    ),
    "having over updates": ("SELECT who FROM clicks GROUP BY who HAVING COUNT(*) > 1", "Calc(where=[($agg0 > 1)], changelogMode=[I,UB,UA])"),
    "an aggregate of an aggregate": ("SELECT MAX(c) FROM (SELECT COUNT(*) AS c FROM clicks GROUP BY who)", "changelogMode=[I,UB,UA,D])"),
    "updates into a sink that takes them by key": ("INSERT INTO nothing SELECT COUNT(*), who FROM clicks GROUP BY who", "changelogMode=[I,UA])"),
}


@pytest.mark.parametrize(("sql", "wanted"), PLANS.values(), ids=PLANS)
def test_plan(session: Session, sql: str, wanted: str) -> None:
    assert wanted in optimized_plan(session, sql)


def test_no_watermark_without_a_window(session: Session) -> None:
    assert "WatermarkAssigner" not in optimized_plan(session, "SELECT ts FROM clicks")
    windowed = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE people, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end"
    assert "WatermarkAssigner(rowtime=[ts]" in optimized_plan(session, windowed)


# Statement, words of the message, the text at which the error points.
REFUSALS = {
    "unknown column": ("SELECT nope FROM clicks", "Column 'nope' not found in any table", "nope"),
    "unknown table": ("SELECT * FROM nope", "Object 'nope' not found", "nope"),
    "unknown function": ("SELECT NOPE(n) FROM clicks", "No match found for function signature NOPE", "NOPE(n)"),
    "bang equal": ("SELECT n FROM clicks WHERE n != 1", "Bang equal '!=' is not allowed under the current SQL conformance level", "!= 1"),
    "no letter of Flink's": ("SELECT n AS 한 FROM clicks", "Lexical error at line 1, column 21.", "한"),
    "no digit": ("SELECT n FROM clicks WHERE n = 2²", 'Encountered: "²" (178)', "²"),
    "wrong arguments": ("SELECT UPPER(1, 2) FROM clicks", "UPPER", "UPPER(1"),
    "where is no condition": ("SELECT n FROM clicks WHERE n", "WHERE clause must be a condition", "n"),
    "aggregate in where": ("SELECT n FROM clicks WHERE COUNT(*) > 1", "Aggregate expression is illegal in WHERE clause", "COUNT"),
    "not grouped": ("SELECT who, n FROM clicks GROUP BY who", "Expression 'n' is not being grouped", "n "),
    "nested aggregates": ("SELECT SUM(COUNT(*)) FROM clicks", "Aggregate expressions cannot be nested", "SUM"),
    "ambiguous types": ("SELECT CASE WHEN n > 1 THEN 1 ELSE ROW(1) END FROM clicks", "Illegal mixing of types", "CASE"),
    "an impossible cast": ("SELECT CAST(n AS TIMESTAMP(3)) FROM clicks", "Cast function cannot convert value of type INT", "CAST"),
    "window on no time attribute": (
        "SELECT * FROM TABLE(TUMBLE(TABLE casts, DESCRIPTOR(t2), INTERVAL '1' HOUR))",
        "The window function requires the timecol is a time attribute type",
        "DESCRIPTOR(t2)",
    ),
    "hop that does not fit": (
        "SELECT * FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '10' SECOND))",
        "integral multiple of slide",
        "TABLE(HOP",
    ),
    "a sub-query of several columns": ("SELECT (SELECT n, name FROM people) FROM clicks", "Cannot apply '$SCALAR_QUERY'", "(SELECT n, name"),
    "a limit and a comparison with the row around": (
        "SELECT (SELECT n FROM people AS p WHERE p.n > c.n ORDER BY n LIMIT 1) FROM clicks AS c",
        "can compare them with the outer row only by =",
        "c.n ORDER",
    ),
    "a select list without FROM that reads the row around": ("SELECT l.x FROM clicks AS c, LATERAL (SELECT c.n + 1) AS l (x)", "without FROM", "c.n"),
    "a star beside the row around": (
        "SELECT 1 FROM clicks AS c, LATERAL (SELECT *, c.n AS m FROM people) AS l",
        "SELECT * in a sub-query",
        "SELECT *",
    ),
    "a column of the row around beside an aggregate": (
        "SELECT (SELECT MAX(p.n) + c.n FROM people AS p) FROM clicks AS c",
        "Expression 'c.n' is not being grouped",
        "c.n",
    ),
    "HAVING that reads the row around": (
        "SELECT (SELECT MAX(p.n) FROM people AS p HAVING COUNT(*) > c.n) FROM clicks AS c",
        "can read the outer row in its select list and its WHERE",
        "c.n",
    ),
    "ON that reads the row around": (
        "SELECT 1 FROM clicks AS c, LATERAL (SELECT p.n FROM people AS p JOIN people AS q ON q.n = c.n) AS l",
        "can read the outer row in its select list and its WHERE",
        "c.n",
    ),
    "OVER beside the row around": (
        "SELECT 1 FROM clicks AS c, LATERAL (SELECT n, SUM(n) OVER (ORDER BY ts) AS s FROM people AS p WHERE p.n = c.n) AS l",
        "OVER in a sub-query that reads the outer row",
        "SUM(n) OVER",
    ),
    "OVER in IN beside the row around": (
        "SELECT 1 FROM clicks AS c WHERE n IN (SELECT SUM(n) OVER (ORDER BY ts) FROM people AS p WHERE p.n > c.n)",
        "OVER in a sub-query that reads the outer row",
        "SUM(n) OVER",
    ),
    "UNNEST in a value": (
        "SELECT (SELECT MAX(x) FROM UNNEST(ARRAY[c.who]) AS u (x)) FROM clicks AS c",
        "can read the outer row in its select list and its WHERE",
        "c.who]",
    ),
    "an aggregate over UNNEST": (
        "SELECT 1 FROM clicks AS c, LATERAL (SELECT MAX(x) FROM UNNEST(ARRAY[c.who]) AS u (x)) AS l",
        "selects columns",
        "MAX",
    ),
    "DISTINCT over UNNEST": (
        "SELECT 1 FROM clicks AS c, LATERAL (SELECT DISTINCT x FROM UNNEST(ARRAY[c.who]) AS u (x)) AS l",
        "nothing but WHERE",
        "DISTINCT",
    ),
    "a value computed over UNNEST": (
        "SELECT 1 FROM clicks AS c, LATERAL (SELECT x || 'a' FROM UNNEST(ARRAY[c.who]) AS u (x)) AS l",
        "selects columns",
        "x ||",
    ),
    "UNNEST compared with the row around": (
        "SELECT 1 FROM clicks AS c, LATERAL (SELECT x FROM UNNEST(ARRAY[c.who]) AS u (x) WHERE x = c.who) AS l",
        "can read the outer row in",
        "c.who",
    ),
    "a misspelt column in such a list": ("SELECT (SELECT MAX(nn) FROM people AS p WHERE p.n = c.n) FROM clicks AS c", "Column 'nn' not found", "nn"),
    "a misspelt column of the row around": (
        "SELECT (SELECT MAX(n) FROM people AS p WHERE p.n = c.nn) FROM clicks AS c",
        "Column 'nn' not found in table 'c'",
        "c.nn",
    ),
    "a misspelt column of a group that asks for the row around": (
        "SELECT (SELECT MAX(n) FROM people AS p WHERE p.nn = c.n) FROM clicks AS c",
        "Column 'nn' not found in table 'p'",
        "p.nn",
    ),
    "a misspelt column of the row around LATERAL": (
        "SELECT 1 FROM clicks AS c, LATERAL (SELECT n FROM people AS p WHERE p.n = c.nn) AS l",
        "Column 'nn' not found in table 'c'",
        "c.nn",
    ),
    "a sub-query in a sub-query that reads a row around both": (
        "SELECT n FROM clicks AS c WHERE EXISTS (SELECT 1 FROM people AS p WHERE p.n = c.n AND EXISTS (SELECT 1 FROM people AS q WHERE q.n = c.n))",
        "not in those of its own sub-queries",
        "c.n))",
    ),
    "a limit without order of the row around": (
        "SELECT * FROM clicks AS c, LATERAL (SELECT p.n FROM people AS p WHERE p.n = c.n LIMIT 1) AS l",
        "needs ORDER BY and LIMIT",
        "SELECT p.n",
    ),
    "a sub-query of the row around above an aggregate": (
        "SELECT who, (SELECT MAX(n) FROM people AS p WHERE p.n = c.n) FROM clicks AS c GROUP BY who",
        "Expression 'n' is not being grouped",
        "c.n) FROM clicks",
    ),
    "QUALIFY of groups": (
        "SELECT who, COUNT(*) AS c FROM clicks GROUP BY who QUALIFY ROW_NUMBER() OVER (ORDER BY who) = 1",
        "QUALIFY beside GROUP BY",
        "QUALIFY",
    ),
    "QUALIFY in a sub-query of the row around": (
        "SELECT (SELECT p.n FROM people AS p WHERE p.n = c.n QUALIFY ROW_NUMBER() OVER (ORDER BY p.name) = 1) AS best FROM clicks AS c",
        "OVER in a sub-query that reads the outer row",
        "ROW_NUMBER()",
    ),
    "IN of a call of OVER": (
        "SELECT ROW_NUMBER() OVER (ORDER BY ts) IN (SELECT n FROM people) AS f FROM clicks",
        "can't be asked of a call of OVER",
        "ROW_NUMBER() OVER",
    ),
    "a sub-query in an aggregate of a group window": (
        "SELECT SUM(n + (SELECT MAX(n) FROM people)) FROM clicks GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
        "not supported beside GROUP BY TUMBLE",
        "GROUP BY",
    ),
    "a group that an aggregate in EXISTS may lack": (
        "SELECT who FROM clicks WHERE EXISTS (SELECT COUNT(*) FROM people HAVING COUNT(*) > 1)",
        "that has HAVING or LIMIT",
        "EXISTS",
    ),
    "a limit on an aggregate in EXISTS that is a value": (
        "SELECT who, EXISTS (SELECT COUNT(*) FROM people LIMIT 0) AS e FROM clicks",
        "that has HAVING or LIMIT",
        "EXISTS",
    ),
    "an aggregate of no rows in IN": (
        "SELECT who FROM clicks AS c WHERE n IN (SELECT COUNT(*) FROM people AS p WHERE p.n = c.n)",
        "has a result for no rows, too",
        "n IN",
    ),
    "a sub-query in ON of a temporal join": (
        "SELECT c.n FROM clicks AS c JOIN newest FOR SYSTEM_TIME AS OF c.ts AS v ON v.who = c.who AND c.n > (SELECT MAX(n) FROM people)",
        "in ON of a temporal join",
        "v.who = c.who",
    ),
    "EXISTS in ON": ("SELECT c.n FROM clicks AS c JOIN people AS p ON p.n = c.n AND NOT EXISTS (SELECT 1 FROM people)", "in ON", "EXISTS"),
    "IN in ON": ("SELECT c.n FROM clicks AS c JOIN people AS p ON p.n = c.n AND c.n IN (SELECT n FROM people)", "in ON", "c.n IN"),
    "a sub-query in ON that reads a row": (
        "SELECT c.n FROM clicks AS c JOIN people AS p ON p.n = c.n AND c.n > (SELECT MAX(n) FROM people AS q WHERE q.n = c.n)",
        "in ON that reads the row around it",
        "p.n = c.n",
    ),
    "IN that is a value of two columns": (
        "SELECT (who, n) IN (SELECT name, n FROM people) FROM clicks",
        "where NULLs are possible",
        "(who, n)",
    ),
    "a right join of elements": ("SELECT * FROM clicks RIGHT JOIN UNNEST(ARRAY[n]) AS t (x) ON TRUE", "Unknown join type RIGHT", "RIGHT"),
    "elements of what is no collection": (
        "SELECT * FROM clicks, UNNEST(who) AS t (x)",
        "Cannot apply 'UNNEST' to arguments of type 'UNNEST(<",
        "UNNEST",
    ),
    "elements under a condition on the left": (
        "SELECT * FROM clicks LEFT JOIN UNNEST(ARRAY[n]) AS t (x) ON n = 1",
        "The condition of this LEFT JOIN reads the left side",
        "n = 1",
    ),
    "too many names of elements": (
        "SELECT * FROM clicks, UNNEST(ARRAY[n]) AS t (x, y)",
        "List of column aliases must have same degree as table",
        "t (x, y)",
    ),
    "a natural join of elements": (
        "SELECT * FROM clicks NATURAL JOIN UNNEST(ARRAY[n]) AS t (x)",
        "NATURAL JOIN and USING are not supported with UNNEST",
        "NATURAL",
    ),
    "USING of what is not there": ("SELECT * FROM clicks JOIN people USING (whom)", "Column 'whom' not found in any table", "whom"),
    "USING of types that can't be equal": (
        "SELECT * FROM clicks JOIN (SELECT place AS n FROM clicks) AS p USING (n)",
        "Cannot apply '='",
        "JOIN (SELECT",
    ),
    "an unqualified name of both": ("SELECT ts FROM clicks AS c JOIN people AS p USING (n)", "Column 'ts' is ambiguous", "ts"),
    "a hint about no table": (
        "SELECT /*+ BROADCAST(c, d) */ n FROM clicks AS c",
        "cannot match the name of input tables or views: \n`d` in `BROADCAST`",
        "BROADCAST",
    ),
    "a hint behind a table that nobody knows": ("SELECT n FROM clicks /*+ OPTION('a' = 'b') */", "OPTION should be registered", "OPTION"),
    "a hint that nobody knows": ("SELECT /*+ BROADCST(c) */ n FROM clicks AS c", "BROADCST should be registered", "BROADCST"),
    "a hint without tables": ("SELECT /*+ SHUFFLE_HASH */ n FROM clicks", "expecting at least one table or view", "SHUFFLE_HASH"),
    "a state's time that is none": ("SELECT /*+ STATE_TTL('clicks' = 'soon') */ n FROM clicks", "Invalid STATE_TTL hint value", "'clicks'"),
    "a state's time without a table": ("SELECT /*+ STATE_TTL(clicks) */ n FROM clicks", "only support key-value options", "STATE_TTL"),
    "state that expires beside windows": (
        f"SELECT /*+ STATE_TTL('w' = '1 d') */ COUNT(*) FROM (SELECT COUNT(*) AS c FROM {WINDOWS} GROUP BY window_start, window_end) AS w GROUP BY c",
        "State that expires, beside operators that wait for a time",
        "GROUP BY c",
    ),
    "two windows of OVER": (
        "SELECT SUM(n) OVER (ORDER BY ts), COUNT(*) OVER (PARTITION BY who ORDER BY ts) FROM clicks",
        "All aggregates must be computed on the same window",
        "SELECT",
    ),
    "OVER a window that ends behind the row": (
        "SELECT SUM(n) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM clicks",
        "An OVER window of a stream has no rows that FOLLOW",
        "SUM(n) OVER",
    ),
    "OVER in falling order": ("SELECT SUM(n) OVER (ORDER BY ts DESC) FROM clicks", "The window can only be ordered in ASCENDING mode", "SUM(n) OVER"),
    "OVER by no time": ("SELECT SUM(n) OVER (ORDER BY n) FROM clicks", "is only supported by a time attribute", "SUM(n) OVER"),
    "OVER a frame by no time": (
        "SELECT SUM(n) OVER (ORDER BY n ROWS 2 PRECEDING) FROM clicks",
        "Non-time attribute sort is not supported for bounded",
        "SUM(n) OVER",
    ),
    "OVER months": (
        "SELECT SUM(n) OVER (ORDER BY ts RANGE INTERVAL '1' MONTH PRECEDING) FROM clicks",
        "INTERVAL_YEAR_MONTH type is not allowed",
        "INTERVAL",
    ),
    "OVER no aggregate": ("SELECT UPPER(who) OVER (ORDER BY ts) FROM clicks", "OVER must be applied to aggregate function", "UPPER"),
    "OVER rows that change": (
        "SELECT SUM(c) OVER (ORDER BY p) FROM (SELECT who, COUNT(*) AS c, PROCTIME() AS p FROM clicks GROUP BY who)",
        "StreamPhysicalOverAggregate doesn't support consuming update changes which is produced by node GroupAggregate",
        "SUM(c) OVER",
    ),
    "a window that is not there": ("SELECT SUM(n) OVER w FROM clicks WINDOW v AS (ORDER BY ts)", "Window 'w' not found", "w"),
    "a window with two orders": ("SELECT SUM(n) OVER (w ORDER BY ts) FROM clicks WINDOW w AS (ORDER BY ts)", "ORDER BY not allowed in both", "SUM"),
    "a frame of LAG": ("SELECT LAG(n) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM clicks", "ROW/RANGE not allowed with RANK", "ROWS"),
    "LAG of a changing offset": ("SELECT LAG(n, n) OVER (ORDER BY ts) FROM clicks", "offset of LAG and LEAD must be a constant", "LAG"),
    "LEAD": ("SELECT LEAD(n) OVER (ORDER BY ts) FROM clicks", "LEAD Function is not supported in stream mode", "LEAD(n)"),
    "a rank": (
        "SELECT RANK() OVER (ORDER BY ts) FROM clicks",
        "RANK() over a stream would change with each row that comes.",
        "RANK()",
    ),
    "a row number alone": ("SELECT ROW_NUMBER() FROM clicks", "OVER clause is necessary for window functions", "ROW_NUMBER"),
    "a row number without order": (
        "SELECT ROW_NUMBER() OVER (PARTITION BY who) FROM clicks",
        "The window can only be ordered by a single time column",
        "ROW_NUMBER()",
    ),
    "a row number without limit": (
        "SELECT * FROM (SELECT who, ROW_NUMBER() OVER (PARTITION BY who ORDER BY n) AS k FROM clicks)",
        "is only supported by a time attribute",
        "ROW_NUMBER()",
    ),
    "a row number in WHERE": (
        "SELECT who FROM clicks WHERE ROW_NUMBER() OVER (ORDER BY n) = 1",
        "Windowed aggregate expression is illegal in WHERE clause",
        "ROW_NUMBER",
    ),
    "order by in streaming": ("SELECT n FROM clicks ORDER BY n", "Sort on a non-time-attribute field is not supported", "ORDER BY n"),
    "order by falling time": ("SELECT ts FROM clicks ORDER BY ts DESC", "Sort on a non-time-attribute field is not supported", "ORDER BY ts"),
    "union of different types": ("SELECT n FROM clicks UNION ALL SELECT place FROM clicks", "Type mismatch in column", "SELECT n FROM clicks UNION"),
    "group window over no time": (
        "SELECT COUNT(*) FROM clicks GROUP BY TUMBLE(ts + INTERVAL '1' SECOND, INTERVAL '1' HOUR)",
        "over a time attribute column",
        "TUMBLE",
    ),
    "auxiliary of another": (
        "SELECT TUMBLE_START(ts, INTERVAL '2' HOUR) FROM clicks GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
        "must have matching call to group function '$TUMBLE'",
        "TUMBLE_START",
    ),
    "auxiliary of none": ("SELECT HOP_END(ts, INTERVAL '2' HOUR) FROM clicks", "must have matching call", "HOP_END"),
    "cumulate of no multiple": (
        "SELECT * FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '2' HOUR, INTERVAL '5' HOUR))",
        "maxSize must be an integral multiple of step",
        "TABLE(CUMULATE",
    ),
    "session of rows": (
        "SELECT * FROM TABLE(SESSION(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR))",
        "SESSION needs an aggregate",
        "TABLE(SESSION",
    ),
    "session of other keys": (
        "SELECT COUNT(*) FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end",
        "PARTITION BY who must be grouped",
        "GROUP BY window_start",
    ),
    "bounds of a session below": (
        "SELECT COUNT(*) FROM TABLE(SESSION(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) WHERE window_start > ts GROUP BY window_start, window_end",
        "only be read above",
        "window_start > ts",
    ),
    "distinct of another function in a session": (
        "SELECT FIRST_VALUE(DISTINCT who) FROM TABLE(SESSION(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end",
        "DISTINCT",
        "GROUP BY",
    ),
    "the last of distinct values over a frame": (
        "SELECT LAST_VALUE(DISTINCT who) OVER (PARTITION BY who ORDER BY ts) FROM clicks",
        "DISTINCT",
        "LAST_VALUE",
    ),
    "the first of distinct values over a frame that moves": (
        "SELECT FIRST_VALUE(DISTINCT who) OVER (PARTITION BY who ORDER BY ts ROWS 1 PRECEDING) FROM clicks",
        "DISTINCT",
        "FIRST_VALUE",
    ),
    "updates into an append sink": (
        "INSERT INTO plain SELECT COUNT(*), who FROM clicks GROUP BY who",
        "doesn't support consuming update changes which is produced by node GroupAggregate(groupBy=[who]",
        "plain SELECT",
    ),
    "too few columns": ("INSERT INTO plain SELECT n FROM clicks", "Different number of columns", "SELECT"),
    "wrong type": ("INSERT INTO plain SELECT ts, who FROM clicks", "Incompatible types for sink column 'id' at position 0", "SELECT"),
    "unknown target column": ("INSERT INTO plain (id, nam) SELECT n, who FROM clicks", "Unknown target column 'nam'", "nam"),
    "a column that must not be NULL is missing": (
        "INSERT INTO plain (name) SELECT who FROM clicks",
        "does not allow NULLs",
        "INSERT INTO plain (name)",
    ),
    "insert into a source": ("INSERT INTO people SELECT 1", "is a view", "people"),
    "overwrite in streaming": (
        "INSERT OVERWRITE plain SELECT n, who FROM clicks",
        "INSERT OVERWRITE is only supported in batch mode",
        "INSERT OVERWRITE",
    ),
    "a misspelt option": ("SELECT * FROM clicks /*+ OPTIONS('scan.startup.mod' = 'x') */", "Unsupported options found for 'kafka'", "clicks /*+"),
}


@pytest.mark.parametrize(("sql", "message", "place"), REFUSALS.values(), ids=REFUSALS)
def test_refusal(session: Session, sql: str, message: str, place: str) -> None:
    with pytest.raises(SqlStreamError) as caught:
        list(session.run(f"EXPLAIN {sql}"))
    assert message in caught.value.message
    assert caught.value.location is not None
    pointed = caught.value.location.text[caught.value.location.column - 1 :]
    assert pointed.startswith(place), pointed


SAME_WINDOW = "a.window_start = b.window_start AND a.window_end = b.window_end"


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT n FROM clicks WHERE n > 1 UNION ALL SELECT n * 2 FROM people", "Expand("),
        (f"SELECT who FROM {WINDOWS} WHERE n > 1 UNION ALL SELECT who FROM {WINDOWS}", "WindowTableFunction("),
        (f"SELECT a.who FROM (SELECT * FROM {WINDOWS}) a JOIN (SELECT * FROM {WINDOWS}) b ON a.n = b.n AND {SAME_WINDOW}", "collects=[rows, rows]"),
        (
            f"SELECT a.who FROM (SELECT * FROM {WINDOWS}) a JOIN (SELECT window_start, window_end, n, COUNT(*) AS c FROM {WINDOWS} GROUP BY window_start, "
            f"window_end, n) b ON a.n = b.n AND {SAME_WINDOW}",
            "collects=[rows, aggregates]",
        ),
        (
            f"SELECT a.who FROM (SELECT DISTINCT window_start, window_end, who, n FROM {WINDOWS}) a JOIN (SELECT window_start, window_end, MAX(n) AS m "
            f"FROM {WINDOWS} GROUP BY window_start, window_end, who) b ON a.who = b.who AND {SAME_WINDOW}".replace("MAX(n)", "who, MAX(n)"),
            "collects=[distinct rows, aggregates]",
        ),
    ],
    ids=["union", "union of windows", "window join", "window join with an aggregate", "window join of distinct rows"],
)
def test_a_source_of_two_branches_is_scanned_once(session: Session, sql: str, wanted: str) -> None:
    found = optimized_plan(session, sql)
    assert wanted in found
    assert found.count("TableSourceScan") == 1, found


def test_a_join_by_what_a_side_aggregates_collects_its_rows(session: Session) -> None:
    most = f"SELECT window_start, window_end, MAX(n) AS m FROM {WINDOWS} GROUP BY window_start, window_end"
    found = optimized_plan(session, f"SELECT a.who FROM (SELECT * FROM {WINDOWS}) a JOIN ({most}) b ON a.n = b.m AND {SAME_WINDOW}")
    assert "collects=[rows, rows]" in found


def test_changes_are_shared_too(session: Session) -> None:
    counts = "SELECT who, COUNT(*) AS c FROM clicks GROUP BY who"
    assert optimized_plan(session, f"SELECT who, c FROM ({counts}) UNION ALL SELECT who, c + 1 FROM ({counts})").count("GroupAggregate") == 1


def test_a_group_window_twice_is_one(session: Session) -> None:
    window = "TUMBLE(ts, INTERVAL '1' HOUR)"
    once, twice = (optimized_plan(session, f"SELECT COUNT(*) FROM clicks GROUP BY {keys}") for keys in (window, f"{window}, {window}"))
    assert once == twice
    with pytest.raises(NotSupported, match="one group window"):
        optimized_plan(session, f"SELECT COUNT(*) FROM clicks GROUP BY {window}, {window}, SESSION(ts, INTERVAL '1' HOUR)")


def test_windows_on_processing_time_in_batch_mode(session: Session) -> None:
    list(
        session.run(
            "SET 'execution.runtime-mode' = 'batch'; CREATE TABLE few (n INT, p AS PROCTIME()) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
        )
    )
    with pytest.raises(NotSupported, match="Windows on processing time are not supported in batch mode"):
        list(session.run("EXPLAIN SELECT COUNT(*) FROM few GROUP BY TUMBLE(p, INTERVAL '1' HOUR)"))


def test_the_watermark_is_read_over_a_table_only(session: Session) -> None:
    with pytest.raises(NotSupported, match="CURRENT_WATERMARK above an aggregate"):
        list(
            session.run(
                f"EXPLAIN SELECT CURRENT_WATERMARK(window_time) FROM (SELECT window_time FROM {WINDOWS} GROUP BY window_start, window_end, window_time)"
            )
        )
    with pytest.raises(ValidationError, match="must be a rowtime attribute, but was 'TIMESTAMP"):
        list(session.run("EXPLAIN SELECT CURRENT_WATERMARK(CAST(ts AS TIMESTAMP(3))) FROM clicks"))


@pytest.mark.parametrize(
    "branch", ["SELECT CAST(RAND() * n AS INT) FROM clicks", "SELECT n FROM clicks /*+ OPTIONS('scan.startup.mode' = 'latest-offset') */"]
)
def test_sources_that_differ_are_scanned_each(session: Session, branch: str) -> None:
    assert optimized_plan(session, f"SELECT n FROM clicks UNION ALL {branch}").count("TableSourceScan") == 2


def test_what_has_lost_a_time_attribute_is_named(session: Session) -> None:
    window = "SELECT * FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(t), INTERVAL '1' HOUR))"
    for view, hint in {
        "SELECT CAST(ts AS TIMESTAMP(3)) AS t FROM clicks": "'t' is CAST(ts AS TIMESTAMP(3)): a function or cast of the time attribute 'ts' is not one.",
        "SELECT x AS t FROM (SELECT ts + INTERVAL '1' SECOND AS x FROM clicks WHERE n > 1)": "the time attribute 'ts' is not one",
        "SELECT ts AS t FROM clicks UNION ALL SELECT CAST(ts AS TIMESTAMP(3)) FROM clicks": "'t' is not a time attribute in every branch",
        "SELECT a.ts AS t FROM clicks AS a JOIN people AS b ON a.who = b.name": "'ts' comes out of a regular join",
        "SELECT ts AS t FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR))": "the time attribute 'window_time'",
        "SELECT TIMESTAMP '2026-01-01 00:00:00' AS t FROM clicks": "Declare WATERMARK FOR t",
    }.items():
        list(session.run(f"CREATE TEMPORARY VIEW lost AS {view}"))
        with pytest.raises(ValidationError) as caught:
            list(session.run("EXPLAIN " + window.format("lost")))
        assert hint in (caught.value.hint or ""), caught.value.hint
        list(session.run("DROP TEMPORARY VIEW lost"))


def test_hints_of_errors(session: Session) -> None:
    with pytest.raises(ValidationError) as caught:
        list(session.run("INSERT INTO plain SELECT COUNT(*) AS n, who AS name FROM clicks GROUP BY who"))
    assert caught.value.hint is not None and caught.value.hint.startswith("Declare PRIMARY KEY (name) NOT ENFORCED on the table")
    with pytest.raises(ValidationError) as caught:
        list(session.run("SELECT whoo FROM clicks"))
    assert caught.value.hint == "Did you mean 'who'?"
    with pytest.raises(ValidationError) as caught:
        list(session.run("SELECT * FROM clicks /*+ OPTIONS('scan.startup.mod' = 'x') */"))
    assert caught.value.hint is not None and "scan.startup.mode" in caught.value.hint


def test_an_unbounded_source_in_batch_mode(session: Session) -> None:
    list(session.run("SET 'execution.runtime-mode' = 'batch'"))
    with pytest.raises(ValidationError, match="in batch mode is not allowed. The table source is unbounded"):
        list(session.run("EXPLAIN SELECT n FROM clicks"))
    assert "Sort(orderBy=[n DESC]" in optimized_plan(
        session, "SELECT n FROM clicks /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */ ORDER BY n DESC"
    )


def test_hints_of_joins(session: Session) -> None:
    sql = "SELECT /*+ BROADCAST(p), STATE_TTL('c' = '1 d', 'p' = '0 s') */ c.n FROM plain AS c JOIN (plain AS p JOIN plain AS q ON p.id = q.id) ON c.id = p.id"
    list(session.run("SET 'execution.runtime-mode' = 'batch'"))
    found = optimized_plan(session, sql.replace("c.n ", "c.id "))
    assert "stateTtl=[1 d, default]" in found
    assert "stateTtl=[0 d, default], hints=[left=broadcast]" in found
    env = session.planner.environment()
    build.query(parse("SELECT /*+ MULTI_JOIN(plain) */ id FROM plain"), env)
    assert env.notices == ["The hint MULTI_JOIN has no effect."]


def test_a_join_that_is_read_by_name_hides_what_it_merged(session: Session) -> None:
    found = optimized_plan(session, "SELECT *, p.n AS pn FROM (SELECT who, n FROM clicks) AS c JOIN (SELECT n, name FROM people) AS p USING (n)")
    assert "Calc(select=[n, who, name, n0 AS pn]" in found


def test_options_hint_can_be_disabled(session: Session) -> None:
    list(session.run("SET 'table.dynamic-table-options.enabled' = 'false'"))
    with pytest.raises(ValidationError, match="OPTIONS"):
        list(session.run("EXPLAIN SELECT n FROM clicks /*+ OPTIONS('scan.startup.mode' = 'latest-offset') */"))


def test_a_view_keeps_time_attribute_and_columns(session: Session) -> None:
    (described,) = session.run("DESCRIBE people")
    assert [row[:2] for row in described.rows] == [("name", "STRING"), ("ts", "TIMESTAMP(3) *ROWTIME*"), ("n", "INT")]
    list(session.run("CREATE VIEW everything AS SELECT * FROM plain; ALTER TABLE plain ADD extra INT"))
    (described,) = session.run("DESCRIBE everything")
    assert [row[0] for row in described.rows] == ["id", "name"]


def test_a_statement_set_is_checked_statement_by_statement(session: Session) -> None:
    outcomes = list(session.run("BEGIN STATEMENT SET; INSERT INTO plain SELECT n, who FROM clicks;"))
    assert len(outcomes) == 2
    with pytest.raises(ValidationError, match="Only 'INSERT/CREATE TABLE AS' statement is allowed in Statement Set"):
        list(session.run("SELECT 1"))


def test_end_without_begin(session: Session) -> None:
    with pytest.raises(ValidationError, match="No Statement Set to submit"):
        list(session.run("END"))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT ts, ts FROM clicks", "[ts, ts0]"),
        ("SELECT ts AS a, ts AS b FROM clicks", "[a, b]"),
        ("SELECT a.ts, b.ts FROM clicks AS a JOIN clicks AS b ON a.n = b.n AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' HOUR", "[ts, ts0]"),
        ("SELECT ts, CAST(ts AS TIMESTAMP(3)) FROM clicks", None),
        ("SELECT ts, LOCALTIMESTAMP FROM clicks", None),
        ("SELECT a.ts, b.ts FROM clicks AS a JOIN versions FOR SYSTEM_TIME AS OF a.ts AS b ON a.who = b.who", None),
    ],
)
def test_rows_that_are_written_have_one_event_time(session: Session, query: str, names: str | None) -> None:
    versions = "SELECT who, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts DESC) AS k FROM clicks) WHERE k = 1"
    list(session.run(f"CREATE TABLE times (a TIMESTAMP(3), b TIMESTAMP(3)) WITH ('connector' = 'blackhole'); CREATE VIEW versions AS {versions}"))
    if names is None:
        list(session.run(f"EXPLAIN INSERT INTO times {query}"))
        return
    with pytest.raises(ValidationError, match=re.escape(f"more than one rowtime attribute column {names} for writing into table")) as refused:
        list(session.run(f"EXPLAIN INSERT INTO times {query}"))
    assert refused.value.hint == "CAST(ts AS TIMESTAMP(3)) is a regular one."


def test_a_topic_is_read_from_somewhere(session: Session) -> None:
    place = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json'"
    list(session.run(f"CREATE TABLE topic (n INT) WITH ({place})"))
    list(session.run("EXPLAIN INSERT INTO topic SELECT n FROM clicks"))
    for more in ("", " /*+ OPTIONS('properties.auto.offset.reset' = 'earliest') */"):
        with pytest.raises(ValidationError, match="Property group.id is required when using committed offset for offsets initializer") as refused:
            list(session.run(f"EXPLAIN SELECT n FROM topic{more}"))
        assert "'earliest-offset' reads all" in str(refused.value.hint)
    for more in ("'properties.group.id' = 'g'", "'scan.startup.mode' = 'latest-offset'"):
        list(session.run(f"EXPLAIN SELECT n FROM topic /*+ OPTIONS({more}) */"))


def test_refused_statements_say_why(session: Session) -> None:
    for sql in ("CREATE MODEL m WITH ('provider' = 'x')", "CALL p()", "EXECUTE PLAN 'x'", "CREATE MATERIALIZED TABLE t AS SELECT 1"):
        with pytest.raises(NotSupported, match=" is not supported: "):
            list(session.run(sql))


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT who, COUNT(*) FROM clicks GROUP BY who", ["GroupAggregate(groupBy=[who], "]),
        ("SELECT a.n FROM clicks AS a LEFT JOIN people AS b ON a.n = b.n", ["Join(joinType=[LeftOuterJoin], "]),
        ("SELECT n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY n) AS k FROM clicks) WHERE k = 1", ["Rank(rankRange=[rankStart=1, "]),
        (f"SELECT COUNT(*) FROM {WINDOWS} GROUP BY window_start, window_end", []),
        ("SELECT COUNT(*) FROM clicks", []),
        ("SELECT who, COUNT(*) FROM ended GROUP BY who", []),
    ],
)
def test_state_that_is_kept_for_ever_is_told(session: Session, sql: str, told: list[str]) -> None:
    env = session.planner.environment()
    found = unbounded_state(rewrite(build.query(parse(sql), env), env.settings.state_ttl))
    assert len(found) == len(told)
    assert all(kept.text.startswith(start) and "table.exec.state.ttl" in kept.bound for kept, start in zip(found, told, strict=True))
    list(session.run("SET 'table.exec.state.ttl' = '1 d'"))
    env = session.planner.environment()
    assert unbounded_state(rewrite(build.query(parse(sql), env), env.settings.state_ttl)) == []


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT CAST(CAST('2020-01-01 00:00:00.123456789' AS TIMESTAMP(9)) AS STRING) FROM clicks", ["TIMESTAMP(9)"]),
        ("SELECT n FROM clicks WHERE CAST(NULL AS ROW<a TIMESTAMP_LTZ(7)>) IS NULL", ["TIMESTAMP_LTZ(7)"]),
        ("SELECT CAST('2020-01-01 00:00:00' AS TIMESTAMP(6)) FROM clicks", []),
    ],
)
def test_digits_that_are_cut_off_are_told(session: Session, sql: str, names: list[str]) -> None:
    told = differences(build.query(parse(sql), session.planner.environment()))
    assert [text.partition(": of ")[2].partition(" the ")[0] for text in told] == names


def test_random_numbers_of_a_seed_are_told(session: Session) -> None:
    for sql, told in (("RAND(1)", 1), ("RAND()", 0), ("RAND_INTEGER(7, 10)", 1), ("RAND_INTEGER(10)", 0), ("RAND(1) + RAND(2)", 1)):
        assert len(differences(build.query(parse(f"SELECT {sql} FROM clicks"), session.planner.environment()))) == told, sql


def test_clocks_of_a_projection_read_the_time_of_the_row(session: Session) -> None:
    logical = build.query(parse("SELECT n, NOW(), CURRENT_DATE FROM clicks WHERE ts < CURRENT_TIMESTAMP"), session.planner.environment())
    lines = tree(rewrite(logical), modes=False).splitlines()
    assert lines[0] == "Calc(select=[n, NOW($now) AS EXPR$1, CURRENT_DATE($now) AS EXPR$2])"
    assert lines[1].endswith("CURRENT_ROW_TIMESTAMP() AS $now])")
    assert "CURRENT_TIMESTAMP" in lines[2]
    assert "$now" not in tree(rewrite(logical, batch=True))


@pytest.mark.parametrize(
    ("select", "nullable"),
    [
        ("SUM(id), AVG(id), MIN(id), LISTAGG(CAST(id AS STRING)), COUNT(id) FROM plain GROUP BY name", [False] * 5),
        (
            "SUM(id) FILTER (WHERE id > 1), STDDEV_POP(id), PERCENTILE(id, 0.5), MAX(name), SUM(id) + 1 FROM plain GROUP BY name",
            [True, False, True, True, False],
        ),
        ("SUM(id), FIRST_VALUE(id), LISTAGG(CAST(id AS STRING)), ARRAY_AGG(id) FROM plain", [True, True, False, False]),
        ("SUM(id), COUNT(*) FROM plain GROUP BY GROUPING SETS ((name), ())", [False, False]),
        (
            "SUM(id) OVER (ORDER BY name), LAG(id) OVER (ORDER BY name), SUM(SUM(id)) OVER (ORDER BY name) FROM plain GROUP BY id, name",
            [False, True, False],
        ),
        ("(SELECT MAX(id) FROM plain), MAX(id) FROM plain GROUP BY name", [True, False]),
    ],
)
def test_aggregates_over_groups_are_null_only_where_their_arguments_are(session: Session, select: str, nullable: list[bool]) -> None:
    list(session.run("SET 'execution.runtime-mode' = 'batch'"))
    found = fields(build.query(parse(f"SELECT {select}"), session.planner.environment()))
    assert [f.type.nullable for f in found] == nullable
