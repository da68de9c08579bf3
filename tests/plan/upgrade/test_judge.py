"""Verdicts on changed plans, without Spark: what is kept, what is lost, and that nothing is claimed in doubt."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.plan.upgrade import Fate, Known, PlanRecord, SinkRecord, SourceRecord, differences, judge, record, table, verdict_on
from sqlstream.plan.upgrade.record import SCHEMA
from sqlstream.sql.statements.parsing import parse
from tests.plan.test_identity import SCRIPT
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

TABLES = """
CREATE TABLE bids (id INT, item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE asks (id INT, item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE fixed (id INT, item STRING) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
CREATE TABLE out_ (a STRING, b BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE other (a STRING, b BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE keyed (a STRING, b BIGINT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'keyed');
"""
COUNT = "SELECT item, COUNT(*) FROM bids GROUP BY item"
WINDOW = "SELECT item, COUNT(*) FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '{}' SECOND) GROUP BY item, window_start, window_end"
JOIN = "SELECT b.item, CAST(a.id AS BIGINT) FROM bids AS b {} JOIN asks AS a ON b.{} = a.{} AND b.price {} a.price"


@pytest.fixture
def plans(tmp_path: Path):
    return Plans(tmp_path)


class Plans:
    """The records of INSERTs over ``TABLES``, and of what is declared ``before``."""

    def __init__(self, folder: Path) -> None:
        self.session = open_session(folder, TABLES)

    def sinks(self, *queries: str, into=("out_", "other"), before: str = ""):
        list(self.session.run(before))
        inserts = [parse(f"INSERT INTO {sink} {query}") for sink, query in zip(into, queries, strict=False)]
        return tuple(self.session.planner.planned(i, self.session.planner.environment()).plan for i in inserts)

    def __call__(self, *queries: str, into=("out_", "other"), before: str = "") -> PlanRecord:
        found = record(self.sinks(*queries, into=into, before=before), "UTC")
        # As it is kept.
        assert PlanRecord.from_json(json.loads(json.dumps(found.to_json()))) == found
        return found


def fates(verdict, what: str) -> list[str]:
    return sorted(part.fate.value for part in verdict.parts if part.what == what)


KEPT = {
    "a filter below": (COUNT, COUNT.replace("GROUP", "WHERE price > 1 GROUP")),
    "another name": (COUNT, f"SELECT i, n FROM ({COUNT}) AS t (i, n)"),
    "something above": (COUNT, f"SELECT i, n + 1 FROM ({COUNT}) AS t (i, n)"),
    "a filter above a window": (WINDOW.format(5), f"SELECT * FROM ({WINDOW.format(5)}) AS t (i, n) WHERE n > 1"),
    "another condition": (JOIN.format("", "item", "item", "<"), JOIN.format("", "item", "item", ">")),
    "a longer life": (
        COUNT.replace("SELECT", "SELECT /*+ STATE_TTL('bids' = '1 d') */"),
        COUNT.replace("SELECT", "SELECT /*+ STATE_TTL('bids' = '2 d') */"),
    ),
}
# Aggregates before and after, what is said of those that go on, and of those that are forgotten.
IN_PART = {
    "an aggregate is added": ("COUNT(*)", "COUNT(*), MAX(price * 2)", "MAX((price * 2)) starts with new rows", []),
    "two are added": ("COUNT(*)", "MIN(id), COUNT(*), MAX(id)", "MIN(id), MAX(id) start with new rows", []),
    "one goes": ("COUNT(*), MAX(price), MAX(id)", "MAX(id), COUNT(*)", "the others keep their state", ["the value of MAX(price) is discarded"]),
    "they change places": ("COUNT(*), MAX(price)", "MAX(price), COUNT(*)", "its aggregates are in another order", []),
    "expressions are told apart": (
        "MAX(price * 2), MAX(id * 2)", "MAX(id * 2), MAX(price * 3)", "MAX((price * 3)) starts with new rows",
        ["the value of MAX((price * 2)) is discarded"],
    ),
    "and their conditions": (
        "COUNT(*), MAX(id) FILTER (WHERE price > 1)", "COUNT(*), MAX(id) FILTER (WHERE price > 2)",
        "MAX(id) FILTER (WHERE (price > 2)) starts with new rows",
        ["the value of MAX(id) FILTER (WHERE (price > 1)) is discarded"],
    ),
}  # fmt: skip
LOST = {
    "a key": (COUNT, COUNT.replace("item", "CAST(price AS STRING)")),
    "a window": (WINDOW.format(5), WINDOW.format(6)),
    "an aggregate": (COUNT, COUNT.replace("COUNT(*)", "MAX(id)")),
    "a join's key": (JOIN.format("", "item", "item", "<"), JOIN.format("", "id", "id", "<")),
    "a kind of join": (JOIN.format("", "item", "item", "<"), JOIN.format("LEFT", "item", "item", "<")),
    "a life that ends": (COUNT, COUNT.replace("SELECT", "SELECT /*+ STATE_TTL('bids' = '1 d') */")),
    "all of it": (COUNT, "SELECT item, CAST(id AS BIGINT) FROM bids"),
    "columns that change places": (JOIN.format("", "item", "item", "<"), JOIN.format("", "item", "item", "<").replace("b.item, CAST(a.id", "b.item, CAST(b.id")),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), KEPT.values(), ids=KEPT)
def test_state_that_is_kept(plans, old: str, new: str) -> None:
    verdict = judge(plans(old), plans(new))
    assert (fates(verdict, "state"), fates(verdict, "source")[:1]) == (["kept"], ["kept"]), table(verdict)
    assert not verdict.lost and not verdict.sinks[0].loses


@pytest.mark.parametrize(("old", "new"), LOST.values(), ids=LOST)
def test_state_that_is_lost(plans, old: str, new: str) -> None:
    verdict = judge(plans(old), plans(new))
    assert "lost" in fates(verdict, "state") and "kept" not in fates(verdict, "state"), table(verdict)
    assert verdict.lost and verdict.sinks[0].loses


def test_a_plan_keeps_all_of_itself(plans, tmp_path: Path) -> None:
    declared, statement = re.fullmatch(r"(.*?)((?:EXPLAIN|INSERT).*);\s*", SCRIPT, re.S).groups()
    client = open_session(tmp_path, declared)
    records = [record((planned.plan,), "UTC") for planned in client.planner.plans(parse(statement))]
    for each in records:
        verdict = judge(each, each)
        assert {part.fate for part in verdict.parts} == {Fate.KEPT}, table(verdict)
        assert all(n.id in verdict.sinks[0].nodes for n in each.sinks[0].nodes)
        assert verdict.sinks[0].sources == {s.name: s.name for s in each.sinks[0].sources}


def scanned(*branches: str) -> PlanRecord:
    """A sink that reads one table so often, each time with another branch above."""
    names = ["bids", "bids_2", "bids_3"]
    sources = tuple(SourceRecord("bids", name, ("same",), branch, "datagen") for name, branch in zip(names, branches, strict=False))
    return PlanRecord((SinkRecord("out_", True, (), sources, (), ()),))


def test_of_two_scans_of_a_table_each_goes_on_with_its_own() -> None:
    assert judge(scanned("x", "y"), scanned("y", "x")).sinks[0].sources == {"bids": "bids_2", "bids_2": "bids"}
    assert judge(scanned("x", "x"), scanned("x", "x")).sinks[0].sources == {"bids": "bids", "bids_2": "bids_2"}
    for other in (scanned("x", "z"), scanned("x"), scanned("x", "y", "y")):
        verdict = judge(scanned("x", "y"), other)
        assert verdict.lost and "it is read more than once" in table(verdict)[0]


def test_two_aggregates_that_are_alike_are_not_told_apart(plans) -> None:
    twice = f"{COUNT.replace('GROUP', 'WHERE price > {} GROUP')} UNION ALL {COUNT.replace('GROUP', 'WHERE price > {} GROUP')}"
    old = plans(twice.format(1, 2))
    assert fates(judge(old, plans(twice.format(2, 1))), "state") == ["kept"]
    # One of them is known by all of it, and so is the other then.
    assert fates(judge(old, plans(twice.format(1, 3))), "state") == ["kept", "kept"]
    assert fates(judge(old, plans(twice.format(3, 4))), "state") == ["lost", "new"]

    assert "several operators are alike" in next(part.why for part in judge(old, plans(twice.format(3, 4))).lost)


_TAKEN = "it retracts rows by all of their values, and the new plan computes other values"
PAIRS = "SELECT i, n FROM (SELECT item AS i, m AS n FROM (SELECT id, MAX(item) AS item, COUNT(*) AS m FROM bids {} GROUP BY id)) AS t {}"
LARGEST = "SELECT CAST(n AS STRING), COUNT(*) FROM ({}) AS u GROUP BY n"
# An aggregate over rows that are taken back, and the same above other rows: whether it goes on.
TAKEN_BACK = {
    "below what holds the rows": (PAIRS.format("", ""), PAIRS.format("WHERE price > 1", ""), []),
    "above it all": (PAIRS.format("", ""), PAIRS.format("", ""), []),
    "a filter between": (PAIRS.format("", ""), PAIRS.format("", "WHERE i > 'a'"), [_TAKEN]),
    "another value between": (PAIRS.format("", ""), PAIRS.format("", "").replace("m AS n", "m + 1 AS n"), [_TAKEN]),
}


@pytest.mark.parametrize(("before", "after", "lost"), TAKEN_BACK.values(), ids=TAKEN_BACK)
def test_rows_are_taken_back_from_what_has_them(plans, before: str, after: str, lost: list[str]) -> None:
    verdict = judge(plans(LARGEST.format(before)), plans(LARGEST.format(after)))
    assert [part.why for part in verdict.lost if "retracts rows by all" in part.why] == lost, table(verdict)
    assert bool(verdict.lost) == bool(lost)


def test_two_queries_into_one_table_are_told_apart(plans) -> None:
    other = "SELECT item, CAST({} AS BIGINT) FROM bids WHERE price > 1"
    verdict = judge(plans(COUNT, other.format(1), into=("out_", "out_")), plans(COUNT, other.format(2), into=("out_", "out_")))
    assert [(part.name.rpartition(".")[2], "its query has changed" in part.why) for part in verdict.parts if part.what == "sink"] == [
        ("out_", False), ("out_ (2)", True),
    ]  # fmt: skip
    (only,) = [part.why for part in judge(plans(COUNT), plans(COUNT.replace("COUNT(*)", "COUNT(id)"))).parts if part.what == "sink"]
    assert "its query has changed" not in only


def test_nothing_begins_empty_above_rows_that_were_counted(plans) -> None:
    counted = "SELECT item, COUNT(DISTINCT id) AS n FROM bids GROUP BY item"
    verdict = judge(plans(counted), plans(LARGEST.format(counted)))
    assert [part.why for part in verdict.lost] == ["it would start empty, and get retractions of rows that it never had"]
    assert not judge(plans("SELECT item, CAST(id AS BIGINT) FROM bids"), plans(COUNT)).lost


def test_an_outer_joins_condition_is_what_its_rows_came_by(plans) -> None:
    for kind, lost in (("", False), ("LEFT", True), ("FULL", True)):
        verdict = judge(plans(JOIN.format(kind, "item", "item", "<")), plans(JOIN.format(kind, "item", "item", ">")))
        assert bool(verdict.lost) == lost, kind


JOINED = "SELECT b.item, CAST(a.id + b.id AS BIGINT) FROM {} ON b.item = a.item"
BRANCHES = "SELECT item, n FROM (SELECT item, COUNT(*) AS n FROM {} GROUP BY item) UNION ALL SELECT item, CAST(id AS BIGINT) FROM {}"
THREE = "SELECT b.item, CAST(b.id + c.id + d.id AS BIGINT) FROM l AS b JOIN {} AS c ON b.item = c.item JOIN {} AS d ON d.item = b.item"
# Statements, and whether what they keep goes on: not above a table whose rows went elsewhere before.
EXCHANGED = {
    "sides": (JOINED.format("l AS b JOIN r AS a"), JOINED.format("r AS b JOIN l AS a"), False),
    "sides with their names": (JOINED.format("l AS b JOIN r AS a"), JOINED.format("r AS a JOIN l AS b"), False),
    "sides of two joins": (THREE.format("r", "r2"), THREE.format("r2", "r"), False),
    "branches": (BRANCHES.format("l", "r"), BRANCHES.format("r", "l"), False),
    "a filter below a side": (JOINED.format("l AS b JOIN r AS a"), JOINED.format("l AS b JOIN (SELECT * FROM r WHERE price > 1) AS a"), True),
    "a table beside a side": (JOINED.format("l AS b JOIN r AS a"), JOINED.format("l AS b JOIN (TABLE r UNION ALL TABLE r2) AS a"), True),
}


@pytest.mark.parametrize(("before", "after", "kept"), EXCHANGED.values(), ids=EXCHANGED)
def test_state_is_not_taken_for_that_of_another_table(plans, before: str, after: str, kept: bool) -> None:
    table_of = "CREATE TABLE {0} (id INT, item STRING, price INT) WITH ('connector' = 'filesystem', 'path' = '{0}', 'format' = 'json', {1});"
    stream = "'source.monitor-interval' = '1 s'"
    verdict = judge(plans(before, before="".join(table_of.format(name, stream) for name in ("l", "r", "r2"))), plans(after))
    why = [part.why for part in verdict.lost]
    assert all("no rows of its new inputs" in each for each in why) and bool(why) != kept, table(verdict)


def test_a_first_filter_above_a_count_needs_more_of_it(plans) -> None:
    (lost,) = (
        part for part in judge(plans(COUNT, into=("keyed",)), plans(f"SELECT i, n FROM ({COUNT}) AS t (i, n) WHERE n < 3", into=("keyed",))).lost
    )
    assert "its state needs other types, or more values" in lost.why


def test_what_was_made_in_another_time_zone_is_lost(plans) -> None:
    old, copied = plans(COUNT), plans("SELECT item, CAST(id AS BIGINT) FROM bids")
    (lost,) = judge(replace(old, zone="Asia/Tokyo"), old).lost
    assert "depend on the time zone 'Asia/Tokyo'" in lost.why
    # Nothing is known of one that an earlier release has recorded.
    assert not judge(replace(old, zone=""), old).lost and not judge(replace(copied, zone="Asia/Tokyo"), copied).lost


def test_how_rows_are_taken_changes_nothing_of_what_is_kept(plans) -> None:
    distinct = "SELECT item, COUNT(DISTINCT id) FROM bids GROUP BY item"
    assert not judge(plans(distinct), plans(f"SELECT i, n FROM ({distinct}) AS t (i, n) WHERE n > 1")).lost


@pytest.mark.parametrize(("sink", "told"), [("keyed", True), ("other", False)])
def test_what_a_key_was_given_stays_until_it_comes_again(plans, sink: str, told: bool) -> None:
    old, new = (plans(f"{COUNT} HAVING SUM(price) < {most}", into=(sink,)) for most in (15, 5))
    (why,) = (part.why for part in judge(old, new).parts if part.what == "sink")
    assert ("existing rows stay as they are" in why) == told
    (why,) = (part.why for part in judge(old, old).parts if part.what == "sink")
    assert "by its key" not in why and "stay as they are" not in why


def of_sinks(verdict) -> list[tuple[str, str]]:
    return [(part.fate.value, part.why) for part in verdict.parts if part.what == "sink"]


def test_a_sink_is_known_by_its_place(plans) -> None:
    old = plans(COUNT, COUNT, into=("keyed", "out_"))
    list(plans.session.run("CREATE TABLE again LIKE keyed;"))
    renamed = judge(old, plans(COUNT, COUNT, into=("out_", "again")))
    assert [match.old for match in renamed.sinks] == [1, 0] and not renamed.lost
    assert "nothing is written twice; it was called default_catalog.default_database.keyed" in str(of_sinks(renamed))
    moved = plans(COUNT, COUNT, into=("keyed", "out_"), before="ALTER TABLE keyed SET ('table-path' = 'elsewhere');")
    assert of_sinks(judge(old, moved))[0] == ("new", "it is another place, which gets new rows only")
    # A job that shares no place with that of before is another job, whatever its tables are called.
    alone = judge(plans(COUNT, into=("keyed",)), plans(COUNT, into=("keyed",), before="ALTER TABLE keyed SET ('table-path' = 'far');"))
    assert of_sinks(alone) == [("lost", "the job writes to none of its earlier places: earlier rows are not there")]


@pytest.mark.parametrize("screen", ["print", "blackhole"])
def test_a_sink_that_keeps_nothing_is_nowhere(plans, screen: str) -> None:
    shown = plans(COUNT, into=("keyed",), before=f"CREATE TEMPORARY TABLE keyed (a STRING, b BIGINT) WITH ('connector' = '{screen}');")
    assert of_sinks(judge(shown, shown)) == [("kept", "it gets new rows only: it does not store earlier ones")]
    kept = plans(COUNT, into=("keyed",), before="DROP TEMPORARY TABLE keyed;")
    for old, new in ((shown, kept), (kept, shown)):
        assert judge(old, new).moved and judge(old, new).offsets_lost
    # Of records of an earlier release it is not known where they are.
    (sink,) = shown.sinks
    assert not judge(replace(shown, sinks=(replace(sink, key=None),)), kept).moved


def test_a_savepoint_goes_into_any_sink(plans) -> None:
    old, new = plans(COUNT, into=("keyed",)), plans(COUNT, into=("out_",))
    assert not judge(old, new).sinks[0].stateful
    saved = judge(old, new, saved=True)
    assert saved.sinks[0].old == 0 and saved.sinks[0].nodes and not saved.lost


def test_another_primary_key_is_told(plans) -> None:
    old = plans(COUNT, into=("keyed",))
    keyed = "CREATE TABLE keyed (a STRING, b BIGINT, PRIMARY KEY ({}) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'keyed');"
    both = judge(old, plans(COUNT, into=("keyed",), before=f"DROP TABLE keyed; {keyed.format('a, b')}"))
    assert of_sinks(both) == [("lost", "its PRIMARY KEY was (a): existing rows are identified by the earlier key")]
    assert both.offsets_lost, "rows that come twice, or change, would not replace those that are there"
    assert not judge(old, plans(COUNT, into=("keyed",), before=f"DROP TABLE keyed; {keyed.format('a')}")).lost


TOPIC = "CREATE TABLE {} (item STRING, price INT) WITH ('connector' = 'kafka', {}, 'properties.bootstrap.servers' = 'b:1', 'properties.group.id' = 'g', 'format' = 'json');"
# What a table reads before and after, and what becomes of its offsets: those that are lost.
TOPICS = {
    "the same": ("'topic' = 't'", "'topic' = 't'", [], "reading resumes at its offsets"),
    "another option": ("'topic' = 't'", "'topic' = 't', 'json.ignore-parse-errors' = 'true'", [],
                      "reading resumes at its offsets; 'json.ignore-parse-errors' is set otherwise than before"),
    "another start": ("'topic' = 't'", "'topic' = 't', 'scan.startup.mode' = 'latest-offset'", [],
                     "reading resumes at its offsets; 'scan.startup.mode' is set otherwise than before"),
    "one more": ("'topic' = 't'", "'topic' = 'u;t'", [], "reading resumes at its offsets; 'topic' is set otherwise than before"),
    "one less": ("'topic' = 't;u'", "'topic' = 't'", ["Kafka topic u is no longer read: its offsets are discarded"],
                "reading resumes at its offsets; 'topic' is set otherwise than before"),
    "a pattern": ("'topic' = 't1;t2'", "'topic-pattern' = 't.'", [], "reading resumes at its offsets; 'topic', 'topic-pattern' are set otherwise than before"),
    "one of Java's alone": ("'topic' = 't1'", r"'topic-pattern' = '\p{Lower}1'", ["its earlier place is no longer read: its offsets are discarded"],
                            "it is read from another place: reading starts where its options say"),
    "another": ("'topic' = 't'", "'topic' = 'u'", ["its earlier place is no longer read: its offsets are discarded"],
                "it is read from another place: reading starts where its options say"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after", "lost", "goes_on"), TOPICS.values(), ids=TOPICS)
def test_a_source_is_known_by_its_topics(plans, before: str, after: str, lost: list[str], goes_on: str) -> None:
    count = "SELECT item, COUNT(*) FROM s GROUP BY item"
    old = plans(count, before=TOPIC.format("s", before))
    new = plans(count, before=f"DROP TABLE s; {TOPIC.format('s', after)}")
    verdict = judge(old, new)
    assert [part.why for part in verdict.lost] == lost, table(verdict)
    assert next(part.why for part in verdict.parts if part.what == "source") == goes_on
    assert verdict.sinks[0].fewer == (frozenset({"s"}) if lost and goes_on.startswith("reading resumes at its offsets") else frozenset())


def test_what_reads_the_same_twice_is_told_apart_also_with_other_options(plans) -> None:
    twice = "SELECT item, COUNT(*) FROM {} WHERE price > 1 GROUP BY item UNION ALL SELECT item, SUM(price) FROM {} GROUP BY item"
    old = plans(twice.format("s", "s"), before=TOPIC.format("s", "'topic' = 't'"))
    edited = plans(twice.format("s", "s"), before="ALTER TABLE s SET ('json.ignore-parse-errors' = 'true', 'scan.micro-batch.max-records' = '9');")
    (told,) = [part.why for part in judge(old, edited).parts if part.what == "source"]
    assert told == "reading resumes at its offsets; 'json.ignore-parse-errors' is set otherwise than before"
    assert differences(old, edited) == ["table default_catalog.default_database.s: 'json.ignore-parse-errors' is set otherwise than before"]
    assert differences(old, replace(old, zone="Asia/Tokyo")) == ["'table.local-time-zone' is 'Asia/Tokyo' and was 'UTC'"]
    assert differences(old, old) == []
    assert judge(old, edited).sinks[0].sources == {"s": "s", "s_2": "s_2"}
    other = TOPIC.format("r", "'topic' = 't'")
    two = plans(twice.format("r", "s"), before=other)
    three = plans(twice.format("r", "s"), before="ALTER TABLE r SET ('json.ignore-parse-errors' = 'true');")
    assert judge(two, three).sinks[0].sources == {"r": "r", "s": "s"}


def test_a_record_of_an_earlier_release_is_compared_as_it_knew_places(plans) -> None:
    sinks = plans.sinks(COUNT)
    kept = record(sinks, "UTC", Known.OPTIONS)
    of_it = kept.to_json()
    del of_it["known"]
    for sink in of_it["sinks"]:
        del sink["key"], sink["options"]
        for source in sink["sources"]:
            (source["place"],) = source.pop("places")
            source["reads"] = "reads"
            del source["connector"], source["options"]
    read = PlanRecord.from_json(json.loads(json.dumps(of_it)))
    assert read.known is Known.OPTIONS
    assert {part.fate for part in verdict_on(read, sinks, "UTC").parts} == {Fate.KEPT}
    assert verdict_on(read, plans.sinks(COUNT, before="ALTER TABLE bids SET ('rows-per-second' = '5');"), "UTC").lost


def test_sinks_are_known_by_their_tables(plans) -> None:
    old, both = plans(COUNT), plans("SELECT item, CAST(id AS BIGINT) FROM bids", COUNT, into=("other", "out_"))
    verdict = judge(old, both)
    assert [(m.old, m.stateful) for m in verdict.sinks] == [(0, False), (0, True)]
    assert verdict.sinks[0].sources == {"bids": "bids"} and not verdict.lost
    assert judge(both, old).lost[-1].why == "it is no longer written"
    elsewhere = judge(old, plans(COUNT, "SELECT item, CAST(id AS BIGINT) FROM asks"))
    assert elsewhere.sinks[1].old is None


def test_a_table_from_elsewhere_begins_there(plans) -> None:
    old = plans(COUNT)
    verdict = judge(old, plans(COUNT, before="ALTER TABLE bids SET ('rows-per-second' = '5');"))
    assert verdict.sinks[0].sources == {}
    assert "other options generate its rows, which start over" in table(verdict)[0]
    assert [part.why for part in verdict.lost] == ["its rows are no longer generated: their number is discarded"]


def test_tables_that_were_read_once_must_be_the_same(plans) -> None:
    joined = "SELECT b.item, CAST(f.id AS BIGINT) FROM bids AS b JOIN fixed AS f ON b.item = f.item"
    assert not judge(plans(joined), plans(f"{joined} WHERE b.price > 1")).lost
    assert judge(plans(joined), plans(joined.replace("JOIN fixed", "JOIN (SELECT * FROM fixed WHERE id > 1)"))).lost


@pytest.mark.parametrize(("old", "new", "why", "forgotten"), IN_PART.values(), ids=IN_PART)
def test_aggregates_that_share_some_calls_are_kept_in_part(plans, old: str, new: str, why: str, forgotten: list[str]) -> None:
    def made(calls: str, window: str = "") -> PlanRecord:
        of = "TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' SECOND)" if window else "bids"
        calls = [f"{call} AS c{i}" for i, call in enumerate(re.split(r", (?=M|C)", calls))]
        names = ", ".join(f"CAST(c{i} AS STRING)" for i in range(len(calls)))
        return plans(f"SELECT CONCAT_WS(',', item, {names}), 1 FROM (SELECT item, {', '.join(calls)} FROM {of} GROUP BY item{window}) AS t")

    for window in ("", ", window_start, window_end"):
        verdict = judge(made(old, window), made(new, window))
        assert [part.why for part in verdict.in_part] == [why] and [part.why for part in verdict.lost] == forgotten, table(verdict)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT item, {} FROM (SELECT item, MAX(id) AS id, id AS n FROM bids GROUP BY item, id) AS t GROUP BY item",
        "SELECT item, {}, COUNT(DISTINCT price) AS d FROM bids GROUP BY item",
        "SELECT /*+ STATE_TTL('bids' = '1 d') */ item, {} FROM bids GROUP BY item",
    ],
    ids=["rows are taken back", "values are counted", "it expires"],
)
def test_aggregates_that_are_not_told_apart_are_lost(plans, query: str) -> None:
    def made(*calls: str) -> PlanRecord:
        aggregates = ", ".join(f"{call} AS c{i}" for i, call in enumerate(calls))
        shown = " + ".join(f"c{i}" for i in range(len(calls)))
        return plans(f"SELECT item, CAST({shown} AS BIGINT) FROM ({query.format(aggregates)}) AS t")

    verdict = judge(made("COUNT(*)"), made("COUNT(*)", "SUM(id)"))
    assert verdict.lost and not verdict.in_part, table(verdict)


def test_aggregates_by_another_expression_or_above_other_changes_are_lost(plans) -> None:
    by = "SELECT CAST(p AS STRING), n FROM (SELECT price * {} AS p, COUNT(*) AS n, {} AS m FROM bids GROUP BY price * {}) AS t"
    assert fates(judge(plans(by.format(2, "MIN(id)", 2)), plans(by.format(3, "MAX(id)", 3))), "state").count("lost") == 1


def test_an_aggregate_of_another_type_forgets(plans) -> None:
    query = "SELECT k, CAST(n + s AS BIGINT) FROM (SELECT item AS k, COUNT(*) AS n, SUM(price) AS s FROM m GROUP BY item)"
    declared = "CREATE TABLE m (item STRING, price {}) WITH ('connector' = 'filesystem', 'path' = 'm', 'format' = 'json', 'source.monitor-interval' = '1 s');"
    old = plans(query, before=declared.format("INT"))
    verdict = judge(old, plans(query, before=f"DROP TABLE m; {declared.format('BIGINT')}"))
    assert [part.why for part in verdict.lost] == ["the value of SUM(price), which is of another type or other values now, is discarded"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "SELECT item, COUNT(price) FROM bids GROUP BY item", "SELECT item, COUNT(DISTINCT price) FROM bids GROUP BY item",
            "select was [item, COUNT(price) AS EXPR$1], and is [item, COUNT(DISTINCT price) AS EXPR$1]",
        ),
        (
            "SELECT b.item, CAST(a.id AS BIGINT) FROM bids b JOIN asks a ON b.item = a.item AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' MINUTE",
            "SELECT b.item, CAST(a.id AS BIGINT) FROM bids b JOIN asks a ON b.item = a.item AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '2' MINUTE",
            "and is [",
        ),
        (WINDOW.format(5), WINDOW.format(6), "and is [TUMBLE"),
    ],
)  # fmt: skip
def test_what_of_an_operator_is_another_is_told(plans, old: str, new: str, told: str) -> None:
    (lost,) = (part for part in judge(plans(old), plans(new)).lost if part.what == "state")
    assert lost.why.startswith("no operator of the new plan has the same state; ")
    assert told in lost.why, lost.why


MODULE = """
from sqlstream.udf import udf
from shared import RATE

@udf
def times(n: int) -> int:
    return scaled(n) + RATE

def scaled(n):
    return n * 10

@udf
def unrelated(n: int) -> int:
    return n
"""


def by_code(folder: Path, text: str, *queries: str, rate: str = "RATE = 1") -> PlanRecord:
    (folder / "udfs").mkdir(exist_ok=True)
    (folder / "udfs" / "shared.py").write_text(rate)
    (folder / "udfs" / "numbers_of.py").write_text(text)
    return Plans(folder)(*queries)


RETRACTING = (
    "SELECT CAST(times(CAST(n AS INT)) AS STRING), COUNT(*) FROM (SELECT item, COUNT(*) AS n FROM bids GROUP BY item) GROUP BY times(CAST(n AS INT))"
)
APPENDING = "SELECT CAST(times(price) AS STRING), COUNT(*) FROM bids GROUP BY times(price)"


@pytest.mark.parametrize(
    ("changed", "rate"),
    [
        (MODULE.replace("n * 10", "n * 100"), "RATE = 1"),
        (MODULE.replace("scaled(n) + RATE", "scaled(n) - RATE"), "RATE = 1"),
        (MODULE, "RATE = 2"),
        (MODULE.replace("from shared import RATE", "import shared as s").replace("RATE", "s.RATE"), "RATE = 1"),
    ],
    ids=["what it uses", "itself", "what it imports", "how it imports"],
)
def test_rows_are_not_taken_back_by_other_code(tmp_path: Path, changed: str, rate: str) -> None:
    old = by_code(tmp_path, MODULE, RETRACTING, APPENDING)
    new = by_code(tmp_path, changed, RETRACTING, APPENDING, rate=rate)
    lost = judge(old, new).lost
    assert "it retracts rows by all of their values, and the code of TIMES has changed" in [part.why for part in lost]
    assert len(fates(judge(old, new), "state")) == 4 and fates(judge(old, new), "state").count("kept") == 2
    # Rows that only come are counted as they came.
    assert fates(judge(by_code(tmp_path, MODULE, APPENDING), by_code(tmp_path, changed, APPENDING, rate=rate)), "state") == ["kept"]
    # A record of an earlier release knows nothing of code.
    assert judge(replace(old, functions={}), new).lost == ()


@pytest.mark.parametrize(
    "same",
    [
        MODULE,
        f"# A comment\n{MODULE}".replace("return n * 10", '"""Docs."""\n    return (n\n        * 10)'),
        MODULE.replace("return n\n", "return n + 7\n"),
        MODULE + "\nprint('loaded')\n",
    ],
    ids=["nothing", "layout", "another function", "what runs beside"],
)
def test_what_a_function_does_not_use_is_none_of_its_code(tmp_path: Path, same: str) -> None:
    old = by_code(tmp_path, MODULE, RETRACTING)
    assert old.functions.keys() == {"TIMES"}
    assert by_code(tmp_path, same, RETRACTING).functions == old.functions


def test_the_planners_columns_are_told_as_what_they_stand_for(tmp_path: Path) -> None:
    texts = [node.text for node in by_code(tmp_path, MODULE, RETRACTING).sinks[0].nodes if node.keeps_state]
    assert not any("$py" in text for text in texts), texts
    assert any("groupBy=[TIMES(CAST(CAST(n AS INT) AS BIGINT))]" in text for text in texts), texts


def test_a_record_says_its_schema(tmp_path: Path) -> None:
    kept = json.loads(json.dumps(PlanRecord(()).to_json()))
    assert kept["schema"] == SCHEMA
    with pytest.raises(ValidationError, match=f"has schema {SCHEMA + 1}, of a newer release: this one reads schemas up to {SCHEMA}"):
        PlanRecord.from_json({**kept, "schema": SCHEMA + 1})
    del kept["schema"]
    assert PlanRecord.from_json(kept).sinks == ()
