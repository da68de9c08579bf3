"""Rules look through nodes that pass rows on one by one, also those that they don't know: with one more of these anywhere, a plan stays the same."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from sqlstream.core.errors import NotSupported, SqlStreamError
from sqlstream.plan.explain import tree
from sqlstream.plan.lineage import lineage
from sqlstream.plan.nodes import Filter, Join, OneByOne, Over, Rank, Sink, Snapshot, TemporalJoin
from sqlstream.plan.properties import fields, walk, window_column, windowing
from sqlstream.plan.rules import rewrite
from sqlstream.plan.rules.project_merge import project_merge
from sqlstream.plan.rules.unread_columns import unread_columns
from sqlstream.plan.time_attributes import why_none
from sqlstream.plan.validate import validate
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.plan.lineage import Lineage
    from sqlstream.plan.nodes import Field, Node
    from sqlstream.session.session import Session

FOLDER = Path(__file__).with_name("rules")
# These rules end at what they don't know: the plan is right without them.
WITHOUT_LOSS = ("co_group", "filter_pushdown", "limit", "shared_scan", "tables")


@dataclass(frozen=True)
class Passed(OneByOne):
    """A node that no rule knows."""

    recorded: ClassVar = ("Passed", "input")

    def output(self) -> tuple[Field, ...]:
        return fields(self.input)

    def explain(self) -> tuple[str, ...]:
        return (type(self).__name__,)

    def reads(self) -> set[str]:
        return set()

    def lineage(self) -> Lineage:
        return lineage(self.input)


@dataclass(frozen=True)
class Sampled(Passed):
    """One that leaves rows out."""

    recorded: ClassVar = ("Sampled", "input")
    leaves_out: ClassVar = True


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "udfs").mkdir()
    shutil.copy(FOLDER / "words_and_folds.py", tmp_path / "udfs")
    return open_session(tmp_path, (FOLDER / "tables.sql").read_text())


def plain(session: Session, sql: str) -> Node:
    """The plan of ``sql`` before any rule."""
    return session.planner.planned(parse(sql), session.planner.environment()).logical


def with_one_more(node: Node, kind: type[OneByOne], above: type[Node] | None = None) -> Iterator[Node]:
    """``node`` with a ``kind`` at each place, or each above a node of ``above``, but not where it would be no plan: below what rules look for by itself."""
    if not isinstance(node, Sink | Snapshot) and isinstance(node, above or object):
        yield kind(node)
    for i, source in enumerate(node.inputs):
        if not isinstance(node, Snapshot) and not (isinstance(node, Filter) and isinstance(source, Join)):
            for other in with_one_more(source, kind, above):
                yield node.with_inputs((*node.inputs[:i], other, *node.inputs[i + 1 :]))


def without(node: Node) -> Node:
    """``node`` without those."""
    node = node.with_inputs(tuple(without(i) for i in node.inputs))
    return node.input if isinstance(node, Passed) else node


def merged(node: Node) -> str:
    """The tree, in which nothing is left of where those stood: they keep projections apart."""
    return tree(project_merge(unread_columns(project_merge(without(node)))))


def queries() -> Iterator[str]:
    for path in sorted(FOLDER.glob("*.sql")):
        if path.stem not in WITHOUT_LOSS:
            lines = ("" if line.startswith(("--:", "--=")) else line for line in path.read_text().splitlines())
            yield from (s.text for s in split("\n".join(lines)) if not s.text.startswith("SET"))


def test_a_plan_stays_the_same(session: Session) -> None:
    tried, refused = 0, 0
    for sql in queries():
        node = plain(session, sql)
        try:
            same = merged(rewrite(node))
        except SqlStreamError:
            refused += 1
            continue
        for other in with_one_more(node, Passed):
            tried += 1
            assert merged(rewrite(other)) == same, (sql, tree(other))
    assert tried > 300 and refused < 20


LAST = "SELECT who, n, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts DESC) AS r FROM clicks) WHERE r = 1"


def test_what_leaves_rows_out_keeps_numbers_below_it(session: Session) -> None:
    """Of the rows that it lets through not the last of each key is wanted, but those among them that are last."""
    for kind, recognized in ((Passed, True), (Sampled, False)):
        (above_numbers,) = with_one_more(plain(session, LAST), kind, Over)
        assert any(isinstance(n, Rank) for n in walk(rewrite(above_numbers))) is recognized


def test_what_leaves_rows_out_has_no_versions(session: Session) -> None:
    """A version that it leaves out would end the one before in no row of the join."""
    list(session.run(f"CREATE VIEW latest AS {LAST}"))
    sql = "SELECT c.n FROM clicks AS c JOIN latest FOR SYSTEM_TIME AS OF c.ts AS v ON c.who = v.who"
    joins = 0
    for other in with_one_more(plain(session, sql), Passed):
        joins += any(isinstance(n, TemporalJoin) for n in walk(rewrite(other)))
    assert joins > 3
    node = plain(session, sql)
    (snapshot,) = (n for n in walk(node) if isinstance(n, Snapshot))
    join = next(n for n in walk(node) if isinstance(n, Join))
    sampled = join.with_inputs((join.left, snapshot.with_inputs((Sampled(snapshot.input),))))
    with pytest.raises(NotSupported, match="versions of Sampled"):
        rewrite(sampled)


def test_what_leaves_rows_out_needs_the_row_before_an_update(session: Session) -> None:
    session_sql = "INSERT INTO counts SELECT who, COUNT(*) FROM clicks GROUP BY who"
    list(
        session.run(
            "CREATE TABLE counts (who STRING, n BIGINT, PRIMARY KEY (who) NOT ENFORCED) WITH ('connector' = 'jdbc', 'url' = 'jdbc:postgresql:x', 'table-name' = 'c')"
        )
    )
    node = plain(session, session_sql)
    for kind, upserts in ((Passed, True), (Sampled, False)):
        over = node.with_inputs((kind(node.inputs[0]),))
        assert ("UB" not in tree(rewrite(over))) is upserts


SESSION = "SELECT who, window_start AS s, window_end AS e, window_start AS again FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(ts), INTERVAL '1' HOUR))"


_COUNTS = "(SELECT {} FROM TABLE({}(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY who, window_start, window_end)"


@pytest.mark.parametrize(
    ("query", "column"),
    [
        (_COUNTS.format("window_start AS s, window_end AS e, COUNT(*) AS c", "TUMBLE"), "e"),
        (_COUNTS.format("window_start AS s, COUNT(*) AS c", "TUMBLE"), "s"),
        (_COUNTS.format("COUNT(*) AS c", "TUMBLE"), None),
        (f"SELECT s, e FROM ({SESSION}) GROUP BY who, s, e", "e"),
        (f"SELECT who, s FROM ({SESSION}) GROUP BY who, s, e", None),
        # Behind a join of windows the columns of a side that may be missing say nothing.
        *(
            (
                f"SELECT a.s AS l, b.s AS r FROM {(of := _COUNTS.format('who, window_start AS s, window_end AS e', 'TUMBLE'))} AS a"
                f" {kind} JOIN {of} AS b ON a.who = b.who AND a.s = b.s AND a.e = b.e",
                found,
            )
            for kind, found in (("INNER", "l"), ("LEFT", "l"), ("RIGHT", "r"), ("FULL", None))
        ),
        ("SELECT window_start FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR))", None),
    ],
)
def test_rows_come_in_the_order_in_which_windows_close(session: Session, query: str, column: str | None) -> None:
    assert window_column(rewrite(plain(session, query))) == column


def test_windows_and_times_pass(session: Session) -> None:
    windows = rewrite(
        plain(
            session,
            "SELECT who, window_start, window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY who, window_start, window_end",
        )
    )
    assert windowing(Passed(windows)) == windowing(windows) is not None
    assert window_column(Passed(windows)) == "window_end"
    cast = rewrite(plain(session, "SELECT CAST(ts AS STRING) AS t FROM clicks"))
    assert why_none(Passed(cast), "t") == why_none(cast, "t") != why_none(cast.inputs[0], "n")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT who, COUNT(*) FROM ({}) WHERE s > TIMESTAMP '2020-01-01 00:00:00' GROUP BY who, s, e",
        "SELECT who, MAX(again) FROM ({}) GROUP BY who, s, e",
        "SELECT who, COUNT(*) FROM ({}) GROUP BY who, s, e, again",
        "SELECT who, MAX(d) FROM (SELECT *, CAST(s AS DATE) AS d FROM ({})) GROUP BY who, s, e",
    ],
)
def test_bounds_of_a_session_are_not_read_below_its_aggregate(session: Session, query: str) -> None:
    """Also under another name."""
    with pytest.raises(NotSupported, match="bounds of a session"):
        plain(session, query.format(SESSION))


def test_what_passes_rows_on_may_stand_in_a_session(session: Session) -> None:
    node = plain(session, f"SELECT who, s, COUNT(*) FROM ({SESSION}) WHERE who <> '' GROUP BY who, s, e HAVING s > TIMESTAMP '2020-01-01 00:00:00'")
    for other in with_one_more(node, Passed):
        validate(rewrite(other), batch=False)
