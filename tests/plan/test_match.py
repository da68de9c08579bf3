"""MATCH_RECOGNIZE without a JVM: patterns as automata, values of conditions and measures, what is refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SqlStreamError
from sqlstream.plan.builder.row_pattern import automaton, one_way
from sqlstream.plan.nodes import PatternVariable
from tests.support.sessions import optimized_plan

if TYPE_CHECKING:
    from sqlstream.session.session import Session

DECLARATIONS = """
CREATE TABLE ticks (item STRING, x INT NOT NULL, y BIGINT, p AS PROCTIME(), unread STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'ticks', 'properties.bootstrap.servers' = 'localhost:1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE ended (item STRING, x INT, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'ended', 'format' = 'json');
"""


def query(
    pattern: str = "A+ B", define: str = "A AS A.x < 3", measures: str = "A.x AS a", order: str = "ORDER BY ts", skip: str = "", by: str = "PARTITION BY item",
) -> str:  # fmt: skip
    return f"SELECT * FROM ticks MATCH_RECOGNIZE ({by} {order} MEASURES {measures} {skip} PATTERN ({pattern}) DEFINE {define}) AS m"


def variable(text: str) -> PatternVariable:
    """``A``, ``A{1,3}``, ``A{2,}?``: greedy without the question mark, where it varies."""
    name, low, high, reluctant = re.fullmatch(r"(\w)(?:\{(\d),?(\d?)\})?(\??)", text).groups()
    if low is None:
        return PatternVariable(name, 1, 1, greedy=False)
    most = (None if text.find(",") > 0 else int(low)) if not high else int(high)
    return PatternVariable(name, int(low), most, greedy=not reluctant and most != int(low))


def states(*pattern: str) -> list[str]:
    """Each state as its edges: ``B!A>0`` takes a row that is one of B and not of A and goes to 0, ``>1`` goes there without."""
    variables = tuple(variable(text) for text in pattern)
    names = [v.name for v in variables]
    return [
        " ".join(
            ("" if e.when is None else names[e.when]) + "".join(f"!{names[u]}" for u in e.unless) + f"{'>' if e.takes else '-'}{e.target}"
            for e in state.edges
        )
        for state in automaton(variables)
    ]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (["A", "B"], ["", "B>0", "A>1"]),
        (["A{1,}", "B"], ["", "B!A>0", "-1 A>2", "A>2"]),
        (["A{1,}?", "B"], ["", "B>0", "-1 A>2", "A>2"]),
        (["A{0,}", "B"], ["", "B!A>0", "-1 A>2", "A>2 -1"]),
        (["A{2,}", "B"], ["", "B!A>0", "-1 A>2", "A>2", "A>3"]),
        (["A{2}", "B"], ["", "B>0", "A>1", "A>2"]),
        (["A{1,3}", "B"], ["", "B!A>0", "A>1 -1", "A>2 -1", "A>3"]),
        (["A{0,2}?", "B"], ["", "B>0", "A>1 -1", "A>2 -1"]),
        (["A{1,}", "B{0,2}?", "C"], ["", "C>0", "B>1 -1", "B!A>2 !A-1", "-3 A>4", "A>4"]),
    ],
)
def test_automaton(pattern: list[str], expected: list[str]) -> None:
    assert states(*pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A B", True),
        ("A{1,} B", True),
        ("A{1,} B{2,} C{2}?", True),
        ("A{1,} B{2,} C{1,3}?", False),
        ("A{1,}? B{2} C", False),
        ("A{0,1}? B{0,1}? C", False),
    ],
)
def test_one_way(pattern: str, expected: bool) -> None:
    assert one_way(tuple(map(variable, pattern.split()))) is expected


PLANS = {
    "each value of the match is there once": (
        query(measures="A.x + LAST(A.x) AS a, FIRST(A.x + A.y, 1) AS b, LAST(y, 2) AS c"),
        "measures=[LAST(A.x, 0) AS $m0, FIRST(A.x, 1) AS $m1, FIRST(A.y, 1) AS $m2, LAST(*.y, 2) AS $m3]",
    ),
    "measures are computed above": (query(measures="A.x * 2 AS a, MATCH_ROWTIME() AS t"), "Calc(select=[item, ($m0 * 2) AS a, $match_time AS t]"),
    "conditions see the row itself": (
        query(define="A AS A.x < y AND FIRST(A.x) = x, B AS A.x < B.x AND COUNT(A.y) > 1"),
        "define=[A=((CAST(x AS BIGINT) < y) AND (FIRST(A.x, 0) = x)), B=((LAST(A.x, 0) < x) AND (COUNT(A.y) > 1))]",
    ),
    "a variable without a condition": (query("A+ B"), "define=[A=(x < 3)]"),
    "a condition of no variable of the pattern": (query(define="C AS C.x > 1"), "pattern=[A+ B], define=[]"),
    "quantifiers": (query("A{2,}? B{3} C? D*? E"), "pattern=[A{2,}? B{3} C? D*? E]"),
    "skip": (query(skip="AFTER MATCH SKIP TO B"), "after=[SKIP TO LAST B]"),
    "only what is read comes from below": (query(), "fields=[item, x, y, unread, ts]"),
    "rows have the columns that are read": (query(), "+- Calc(select=[item, x, ts]"),
    "an order of rows of one time": (query(order="ORDER BY ts, x DESC"), "orderBy=[ts ASC, x DESC]"),
    "no partition": (query(by=""), "Match(orderBy=[ts ASC]"),
    "a time attribute": (
        f"SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT * FROM ({query(measures='MATCH_ROWTIME() AS t')})), DESCRIPTOR(t), INTERVAL '1' HOUR)) "
        "GROUP BY window_start, window_end",
        "WindowAggregate(window=[TUMBLE(time_col=[t]",
    ),
    "an alias": (query().replace("SELECT *", "SELECT m.a"), "select=[$m0 AS a]"),
}  # fmt: skip


@pytest.mark.parametrize(("sql", "wanted"), PLANS.values(), ids=PLANS)
def test_plan(session: Session, sql: str, wanted: str) -> None:
    assert wanted in optimized_plan(session, sql)


REFUSALS = {
    "all rows": (query(skip="ALL ROWS PER MATCH"), "All rows per match mode is not supported."),
    "groups": (query("(A B)+ C"), "Group patterns are not supported."),
    "alternation": (query("A | B"), "Currently, CEP doesn't support branching patterns."),
    "permutation": (query("PERMUTE(A, B)"), "Currently, CEP doesn't support PERMUTE patterns."),
    "exclusion": (query("A {- B -} C"), "Currently, CEP doesn't support '{-' '-}' patterns."),
    "anchors": (query("^ A"), "^ in a PATTERN is not supported"),
    "SUBSET": (query().replace("DEFINE", "SUBSET U = (A, B) DEFINE"), "SUBSET is not supported."),
    "physical offsets": (query(define="A AS PREV(A.x) < 3"), "Flink does not support physical offsets within partition."),
    "CLASSIFIER": (query(measures="CLASSIFIER() AS c"), "Unsupported call: CLASSIFIER()"),
    "MATCH_NUMBER": (query(measures="MATCH_NUMBER() AS c"), "No match found for function signature MATCH_NUMBER()"),
    "greedy at the end": (query("A B+"), "Greedy quantifiers are not allowed as the last element of a Pattern yet."),
    "reluctant optional": (query("A?? B"), "Reluctant optional variables are not supported."),
    "reluctant {0,1}": (query("A{0,1}? B"), "Reluctant optional variables are not supported."),
    "optional behind greedy": (query("A+ B? C"), "Optional pattern cannot be preceded by greedy pattern"),
    "nothing": (query("A*?"), "Patterns that can produce empty matches are not supported."),
    "a variable twice": (query("A B A"), "Pattern variables must be unique."),
    "bounds": (query("A{3,2} B"), "The to should be a number greater than or equal to from: 3."),
    "no times": (query("A{0} B"), "The to should be a number greater than or equal to from: 1."),
    "no order": (query(order=""), "You must specify either rowtime or proctime for order by."),
    "no time": (query(order="ORDER BY x"), "You must specify either rowtime or proctime for order by as the first one."),
    "descending": (query(order="ORDER BY ts DESC"), "Primary sort order of a streaming table must be ascending on time."),
    "processing time": (query(order="ORDER BY p"), "in the order of processing time is not supported"),
    "partition by an expression": (query(by="PARTITION BY UPPER(item)"), "takes columns"),
    "skip to nothing": (query(skip="AFTER MATCH SKIP TO LAST Q"), "Unknown pattern 'Q'"),
    "another variable": (query(measures="C.x AS c"), "Table 'C' not found"),
    "no column": (query(measures="A.z AS c"), "Column 'z' not found in table 'A'"),
    "DISTINCT": (query(measures="COUNT(DISTINCT A.x) AS c"), "DISTINCT/ALL not allowed with COUNT"),
    "FILTER": (query(measures="SUM(A.x) FILTER (WHERE A.x > 1) AS c"), "Unsupported call: FILTER"),
    "two variables in an aggregate": (query(measures="SUM(A.x * B.x) AS c"), "Multiple pattern variables in 'SUM(A.x * B.x)'"),
    "two variables in LAST": (query(measures="LAST(A.x + B.x) AS c"), "Multiple pattern variables in 'LAST(A.x + B.x)'"),
    "nested": (query(measures="FIRST(LAST(A.x)) AS c"), "Cannot nest FIRST/LAST under LAST/FIRST"),
    "no variable in an aggregate": (query(measures="COUNT(1) AS c"), "No pattern variable specified in aggregate"),
    "no condition": (query(define="A AS A.x"), "DEFINE clause must be a condition"),
    "two conditions": (query(define="A AS x < 3, A AS x > 1"), "Pattern variable 'A' has already been defined"),
    "a name twice": (query(measures="A.x AS item"), "Columns ambiguously defined: {item}"),
    "months": (query().replace("DEFINE", "WITHIN INTERVAL '1' MONTH DEFINE"), "Only constant intervals with millisecond resolution"),
    "the time of another column": (query(measures="MATCH_ROWTIME(y) AS t"), "requires argument to be a row time attribute type, but is 'BIGINT'"),
    "a sub-query": (query(define="A AS A.x IN (SELECT 1)"), "Sub-queries and OVER are not supported in MATCH_RECOGNIZE."),
    "rows that change": (
        query().replace("ticks", "(SELECT item, MAX(x) AS x, MAX(ts) AS ts FROM ticks GROUP BY item)").replace("ORDER BY ts", "ORDER BY ts"),
        "You must specify either rowtime or proctime for order by as the first one.",
    ),
}


@pytest.mark.parametrize(("sql", "message"), REFUSALS.values(), ids=REFUSALS)
def test_refusal(session: Session, sql: str, message: str) -> None:
    with pytest.raises(SqlStreamError, match=re.escape(message)) as caught:
        optimized_plan(session, sql)
    assert caught.value.at is not None


def test_batch_mode_orders_by_any_timestamp(session: Session) -> None:
    list(session.run("SET 'execution.runtime-mode' = 'batch';"))
    assert "Match(partitionBy=[item], orderBy=[ts ASC]" in optimized_plan(session, query().replace("ticks", "ended"))
    with pytest.raises(SqlStreamError, match="You must specify time point for order by as the first one."):
        optimized_plan(session, query(order="ORDER BY x").replace("ticks", "ended"))
