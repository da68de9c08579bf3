"""Changed jobs: what goes on, with the rows of before and after, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from sqlstream.core import storage
from sqlstream.core.errors import JobFailed, SqlStreamError, ValidationError
from sqlstream.runtime.jobs.begin import upgrades
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.run.runner import JobRunner
from tests.support.edited import COUNT

if TYPE_CHECKING:
    from tests.support.edited import Project

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]


# What is counted by COUNT before, and what each statement counts when these rows have come: (1, a, 1), (2, b, 5) | (3, a, 1), (4, a, 5).
COUNTED = {
    "a filter below": ("INSERT INTO counted SELECT item, COUNT(*) FROM bids WHERE price > 2 GROUP BY item;", [("a", "2"), ("b", "1")]),
    "a column": ("INSERT INTO counted SELECT item, n * 10 FROM (SELECT item, COUNT(*) AS n FROM bids GROUP BY item);", [("a", "30"), ("b", "1")]),
}  # fmt: skip


@pytest.mark.parametrize(("changed", "expected"), COUNTED.values(), ids=COUNTED)
def test_counts_go_on(project: Project, changed: str, expected: list[tuple]) -> None:
    project.feed("bids", (1, "a", 1), (2, "b", 5))
    project.run(COUNT)
    project.feed("bids", (3, "a", 1), (4, "a", 5))
    with pytest.raises(ValidationError, match="has changed"):
        project.run(changed)
    project.set("last-state")
    project.run(changed)
    assert project.table("counted") == expected
    assert "it resumes where it stopped, with its state" in project.said[-1]


def test_a_sink_may_have_any_name(project: Project) -> None:
    list(project.session.run("CREATE TABLE `a.b ä` LIKE counted;"))
    project.feed("bids", (1, "a", 1), (2, "b", 5))
    project.run(COUNT.replace("counted", "`a.b ä`"))
    project.feed("bids", (3, "a", 1), (4, "a", 5))
    project.set("last-state")
    project.run(COUNTED["a column"][0].replace("counted", "`a.b ä`"))
    assert project.table("a.b ä") == COUNTED["a column"][1]


def test_a_renamed_view_changes_nothing(project: Project) -> None:
    list(project.session.run("CREATE VIEW v AS SELECT item FROM bids; CREATE VIEW w AS SELECT item FROM bids;"))
    project.feed("bids", (1, "a", 1))
    project.run("INSERT INTO counted SELECT item, COUNT(*) FROM v GROUP BY item;")
    project.feed("bids", (2, "a", 1))
    project.run("INSERT INTO counted SELECT item, COUNT(*) FROM w GROUP BY item;")
    assert project.table("counted") == [("a", "2")]


def test_a_renamed_table_goes_on(project: Project) -> None:
    project.feed("bids", (1, "a", 1), (2, "a", 5))
    project.run(COUNT)
    project.set("last-state")
    list(project.session.run("ALTER TABLE bids RENAME TO `offers ü`;"))
    project.feed("bids", (3, "a", 1))
    project.run(COUNT.replace("bids", "`offers ü`"))
    assert project.table("counted") == [("a", "3")]
    # Another place is another table.
    list(project.session.run("ALTER TABLE `offers ü` RENAME TO bids; ALTER TABLE bids SET ('path' = 'asks');"))
    list(project.session.run("CREATE TABLE others LIKE bids;"))
    with pytest.raises(ValidationError, match="offers ü +lost +it is no longer read"):
        project.run(COUNT.replace("bids", "others"))


def test_without_state_the_offsets_go_on(project: Project) -> None:
    project.feed("bids", (1, "a", 1), (2, "b", 1))
    project.run(COUNT)
    project.feed("bids", (3, "a", 1))
    project.set("stateless")
    project.run(COUNTED["a filter below"][0].replace("price > 2", "price > 0"))
    assert project.table("counted") == [("a", "1"), ("b", "1")]


def test_another_window_loses_its_state(project: Project) -> None:
    window = "INSERT INTO counted SELECT item, COUNT(*) FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '{}' SECOND) GROUP BY item, window_start, window_end;"
    project.feed("bids", (1, "a", 1))
    project.run(window.format(10))
    project.set("last-state")
    with pytest.raises(ValidationError, match=r"WindowAggregate.* lost  no operator of the new plan has the same state"):
        project.run(window.format(20))
    project.feed("bids", (12, "b", 1))
    project.run(window.format(10))
    assert project.table("counted") == [("a", "1")]
    project.may_lose()
    project.feed("bids", (45, "c", 1))
    project.run(window.format(20))
    # The row of b was in the state that was left behind.
    assert project.table("counted") == [("a", "1")]


@pytest.mark.parametrize("release", ["this", "an earlier"])
def test_a_condition_that_is_pushed_through_a_window_keeps_it_open(project: Project, release: str) -> None:
    """Spark's optimizer puts the aggregate in the place of the condition: its state is that of the aggregate."""
    window = (
        "SELECT item, COUNT(*) AS n FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY item, window_start, window_end "
        "HAVING item <> '{}'"
    )
    project.feed("bids", (1, "a", 1), (2, "b", 5))
    job = project.submit(f"INSERT INTO counted {window.format('x')};")
    project.session.jobs.stop(job.id)
    (record,) = (job.folder / "operators").glob("*.json")
    told = json.loads(record.read_text())
    (sink,) = json.loads((job.folder / "version.json").read_text())["record"]["sinks"]
    keeping = [node["id"] for node in sink["nodes"] if node["keeps_state"]]
    assert [operator["node"] for operator in told["operators"]] == keeping
    if release == "an earlier":
        told["operators"][0]["node"] = next(node["id"] for node in reversed(sink["nodes"]) if not node["keeps_state"])
        record.write_text(json.dumps(told))
    project.feed("bids", (3, "a", 1), (12, "c", 1))
    project.set("last-state")
    project.run(f"INSERT INTO counted {window.format('b')};")
    assert project.table("counted") == [("a", "2")]


def test_a_filter_above_a_window_keeps_it_open(project: Project) -> None:
    window = "SELECT item, COUNT(*) AS n FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY item, window_start, window_end"
    project.feed("bids", (1, "a", 1))
    project.run(f"INSERT INTO counted {window};")
    project.set("last-state")
    project.feed("bids", (2, "a", 1), (3, "b", 1))
    project.feed("bids", (15, "z", 1))
    project.run(f"INSERT INTO counted SELECT item, n FROM ({window}) WHERE n > 1;")
    assert project.table("counted") == [("a", "2")]


def test_a_joins_other_condition_meets_rows_that_come(project: Project) -> None:
    join = "INSERT INTO pairs SELECT b.id, a.id FROM bids AS b JOIN asks AS a ON b.item = a.item AND b.price {} a.price;"
    project.feed("bids", (1, "a", 5))
    project.run(join.format(">"))
    project.set("last-state")
    project.feed("asks", (2, "a", 7), (3, "a", 3))
    project.run(join.format("<"))
    assert project.table("pairs") == [("1", "2")]
    assert project.said[-1].count("with its state") == 1


def test_a_longer_time_to_live_keeps_state(project: Project) -> None:
    count = "INSERT INTO counted SELECT /*+ STATE_TTL('bids' = '{}') */ item, COUNT(*) FROM bids GROUP BY item;"
    project.feed("bids", (1, "a", 1))
    project.run(count.format("1 d"))
    project.feed("bids", (2, "a", 1))
    project.set("last-state")
    project.run(count.format("2 d"))
    assert project.table("counted") == [("a", "2")]


def test_appended_rows_are_not_written_twice(on_delta: Project) -> None:
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids;")
    on_delta.set("last-state")
    on_delta.feed("bids", (2, "b", 1))
    on_delta.run("INSERT INTO copied SELECT id, UPPER(item) FROM bids;")
    assert on_delta.table("copied") == [("1", "a"), ("2", "B")]
    on_delta.feed("bids", (3, "c", 1))
    # And back: a third generation.
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids;")
    assert on_delta.table("copied") == [("1", "a"), ("2", "B"), ("3", "c")]
    (job,) = (on_delta.path / ".sqlstream" / "jobs").iterdir()
    assert sorted(p.name for p in job.iterdir() if p.name.isdigit()) == ["1", "2", "3"]


def test_a_sink_of_another_type_is_refused_and_the_earlier_goes_on(on_delta: Project) -> None:
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run(COUNT)
    on_delta.set("last-state")
    list(on_delta.session.run("ALTER TABLE counted MODIFY n DECIMAL(38, 0);"))
    with pytest.raises(ValidationError, match="column 'n' is BIGINT in it"):
        on_delta.run(COUNT)
    list(on_delta.session.run("ALTER TABLE counted MODIFY n BIGINT; RESET 'execution.upgrade-mode';"))
    on_delta.feed("bids", (2, "a", 1))
    on_delta.run(COUNT)
    assert on_delta.table("counted") == [("a", "2")]
    assert any("continues where it stopped" in said for said in on_delta.said)


@pytest.mark.parametrize("kept", [True, False])
def test_a_first_micro_batch_that_was_interrupted_counts_if_its_sink_has_it(on_delta: Project, kept: bool) -> None:
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids;")
    (commit,) = on_delta.path.rglob("commits/0")
    commit.unlink()
    commit.with_name(".0.crc").unlink()
    if not kept:
        # As if it had not come so far.
        for file in (on_delta.path / "copied").iterdir():
            shutil.rmtree(file) if file.is_dir() else file.unlink()
    changed = "INSERT INTO copied SELECT id, UPPER(item) FROM bids;"
    if kept:
        with pytest.raises(ValidationError, match="has changed"):
            on_delta.run(changed)
        on_delta.set("last-state")
    on_delta.feed("bids", (2, "b", 1))
    on_delta.run(changed)
    assert on_delta.table("copied") == [("1", "a" if kept else "A"), ("2", "B")]


def test_another_branch_begins_where_its_options_say(project: Project) -> None:
    project.feed("bids", (1, "a", 1))
    project.feed("asks", (7, "x", 1))
    project.run("INSERT INTO copied SELECT id, item FROM bids;")
    project.set("last-state")
    project.feed("bids", (2, "b", 1))
    project.run("INSERT INTO copied SELECT id, item FROM asks UNION ALL SELECT id, item FROM bids;")
    assert project.table("copied") == [("1", "a"), ("2", "b"), ("7", "x")]
    project.feed("asks", (8, "y", 1))
    project.feed("bids", (3, "c", 1))
    # A source less, and its place in the offsets with it.
    with pytest.raises(ValidationError, match="asks +lost +it is no longer read: its offsets are discarded"):
        project.run("INSERT INTO copied SELECT id, UPPER(item) FROM bids;")
    project.may_lose()
    project.run("INSERT INTO copied SELECT id, UPPER(item) FROM bids;")
    assert project.table("copied") == [("1", "a"), ("2", "b"), ("3", "C"), ("7", "x")]


def test_a_second_sink_gets_what_comes(project: Project) -> None:
    project.feed("bids", (1, "a", 1))
    project.run(COUNT)
    project.set("last-state")
    project.feed("bids", (2, "a", 1))
    project.run(f"EXECUTE STATEMENT SET BEGIN INSERT INTO copied SELECT id, item FROM bids; {COUNT} END;")
    assert project.table("counted") == [("a", "2")]
    assert project.table("copied") == [("2", "a")]


def test_a_micro_batch_that_the_sink_has_counts(on_delta: Project) -> None:
    """As a kill between the sink's commit and that of the checkpoint leaves it."""
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids;")
    on_delta.feed("bids", (2, "b", 1))
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids;")
    (checkpoint,) = on_delta.path.glob(".sqlstream/jobs/job/1/checkpoint/*")
    last = max((p for p in (checkpoint / "commits").iterdir() if p.name.isdigit()), key=lambda p: int(p.name))
    last.unlink()
    on_delta.feed("bids", (3, "c", 1))
    on_delta.set("last-state")
    on_delta.run("INSERT INTO copied SELECT id, UPPER(item) FROM bids;")
    assert [r[0] for r in on_delta.table("copied")] == ["1", "2", "3"]


def test_a_version_that_does_not_start_has_failed(project: Project, monkeypatch) -> None:
    project.feed("bids", (1, "a", 1))
    project.run(COUNT)
    project.set("last-state")
    edited = "INSERT INTO counted SELECT item, n * 10 FROM (SELECT item, COUNT(*) AS n FROM bids GROUP BY item);"

    def start(self: JobRunner, *, resumed: bool) -> None:
        raise JobFailed("The state can't be loaded.")

    with monkeypatch.context() as patched:
        patched.setattr(JobRunner, "start", start)
        with pytest.raises(JobFailed, match="can't be loaded"):
            project.run(edited)
    (record,) = registry.records(project.session.jobs.folders.jobs)
    assert (record.state, record.error, record.version.number) == ("FAILED", "The state can't be loaded.", 2)
    # What it was to go on with is there.
    project.feed("bids", (2, "a", 1))
    project.run(edited)
    assert project.table("counted") == [("a", "20")]
    assert registry.records(project.session.jobs.folders.jobs)[0].state == "CANCELED"


def test_what_is_read_from_elsewhere_begins_there(project: Project) -> None:
    project.feed("bids", (1, "a", 1))
    project.run("INSERT INTO copied SELECT id, item FROM bids;")
    list(project.session.run("ALTER TABLE bids SET ('path' = 'asks');"))
    project.feed("asks", (2, "b", 1))
    with pytest.raises(ValidationError) as refused:
        project.run("INSERT INTO copied SELECT id, item FROM bids;")
    assert re.search(r"source +\S+bids +new +it is read from another place", refused.value.message)


SUMS = "INSERT INTO sums SELECT item, {} FROM bids GROUP BY item;"


def test_aggregates_are_added_beside_others_change_places_and_go(project: Project) -> None:
    project.feed("bids", (1, "a", 1), (2, "b", 5), (3, "a", 2))
    project.run(SUMS.format("COUNT(*), SUM(price * 2), CAST(NULL AS INT)"))
    project.feed("bids", (4, "a", 3), (5, "c", 4))
    added = SUMS.format("COUNT(*), SUM(price * 2), MAX(price)")
    with pytest.raises(ValidationError) as refused:
        project.run(added)
    assert "kept in part" in refused.value.message and "MAX(price) starts with new rows" in refused.value.message
    project.set("last-state")
    project.run(added)
    assert any("is kept: MAX(price) starts" in said for said in project.said)
    assert project.table("sums") == [("a", "3", "12", "3"), ("b", "1", "10", None), ("c", "1", "8", "4")]
    list(project.session.run("SET 'spark.sql.shuffle.partitions' = '5';"))
    # In another order, one that was renamed, and one forgotten.
    project.feed("bids", (6, "b", 1), (7, "a", 1))
    fewer = "INSERT INTO sums SELECT item, m, s, 0 FROM (SELECT item, SUM(price * 2) AS s, COUNT(*) AS m FROM bids GROUP BY item);"
    with pytest.raises(ValidationError, match=r"lost +the value of MAX\(price\) is discarded"):
        project.run(fewer)
    project.may_lose()
    project.run(fewer)
    assert project.table("sums") == [("a", "4", "14", "0"), ("b", "2", "12", "0"), ("c", "1", "8", "4")]


def test_aggregates_of_one_function_are_told_apart(project: Project) -> None:
    project.feed("bids", (1, "a", 1), (2, "b", 5))
    project.run(SUMS.format("COUNT(*), SUM(price), CAST(NULL AS INT)"))
    project.set("last-state")
    project.feed("bids", (3, "a", 3))
    project.run(SUMS.format("COUNT(*), SUM(id), SUM(price)"))
    assert project.table("sums") == [("a", "2", "3", "4"), ("b", "1", "5", None)]
    project.feed("bids", (4, "a", 10))
    project.may_lose()
    project.run(SUMS.format("COUNT(*), COUNT(price), SUM(price)"))
    assert project.table("sums") == [("a", "3", "1", "14"), ("b", "1", "5", None)]


def test_another_aggregate_of_the_same_columns_is_another(project: Project) -> None:
    project.feed("bids", (1, "a", 1))
    project.run(SUMS.format("COUNT(*), SUM(price * 2), 0"))
    project.set("last-state")
    for lost in (
        "COUNT(*) FILTER (WHERE price > 0), SUM(price * 3), 0",
        "SUM(price), SUM(price * 2 + 1), 0",
        "COUNT(DISTINCT price), COUNT(price), 0",
    ):
        with pytest.raises(ValidationError, match="lost|can't be kept"):
            project.run(SUMS.format(lost))
    # One of two goes on: the other begins.
    project.feed("bids", (2, "a", 10))
    project.may_lose()
    project.run(SUMS.format("COUNT(*), SUM(price * 3), 0"))
    assert project.table("sums") == [("a", "2", "30", "0")]


def test_an_aggregate_of_some_rows_is_another(project: Project) -> None:
    project.feed("bids", (1, "a", 1), (2, "a", 5), (3, "a", 6))
    project.run(SUMS.format("COUNT(*) FILTER (WHERE price > 2), SUM(price), 0"))
    project.set("last-state")
    project.may_lose()
    project.feed("bids", (4, "a", 1))
    project.run(SUMS.format("COUNT(*), SUM(price), 0"))
    assert project.table("sums") == [("a", "1", "13", "0")]
    project.feed("bids", (5, "a", 1))
    project.run(SUMS.format("COUNT(*), SUM(price), SUM(price) FILTER (WHERE price < 2)"))
    assert project.table("sums") == [("a", "2", "14", "1")]


def test_an_aggregate_is_added_to_windows(project: Project) -> None:
    windows = (
        "INSERT INTO by_minute SELECT item, {} FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY item, window_start, window_end;"
    )
    project.feed("bids", (1, "a", 1), (2, "b", 5))
    project.run(windows.format("COUNT(*), CAST(0 AS BIGINT)"))
    project.set("last-state")
    project.feed("bids", (3, "a", 7))
    project.run(windows.format("COUNT(*), SUM(CAST(price AS BIGINT))"))
    project.feed("bids", (30, "z", 0))
    project.run(windows.format("COUNT(*), SUM(CAST(price AS BIGINT))"))
    assert project.table("by_minute") == [("a", "2", "7"), ("b", "1", None)]


def test_a_delta_table_gets_the_columns_that_are_declared_besides(on_delta: Project) -> None:
    on_delta.feed("bids", (1, "a", 7), (2, "b", 5))
    both = "EXECUTE STATEMENT SET BEGIN INSERT INTO copied SELECT id, {}item FROM bids; INSERT INTO counted SELECT item, COUNT(*){} FROM bids GROUP BY item; END;"
    on_delta.run(both.format("", ""))
    declared = """
        DROP TABLE copied; CREATE TABLE copied (id INT, `préis` {}, item {})
        WITH ('connector' = 'delta', 'table-path' = 'copied');
        DROP TABLE counted; CREATE TABLE counted (item STRING, n BIGINT, note STRING, PRIMARY KEY (item) NOT ENFORCED)
        WITH ('connector' = 'delta', 'table-path' = 'counted');
    """
    wider = both.format("price, ", ", 'new'")
    on_delta.set("last-state")
    on_delta.feed("bids", (3, "a", 9))
    for price, item, why in (("INT NOT NULL", "STRING", "no value there"), ("INT", "INT", "column 'item' is STRING in it, and INT here")):
        list(on_delta.session.run(declared.format(price, item)))
        refused = wider.replace("item FROM", "CAST(item AS INT) FROM") if item == "INT" else wider.replace("price,", "COALESCE(price, 0),")
        with pytest.raises(ValidationError, match=why):
            on_delta.run(refused)
    list(on_delta.session.run(declared.format("INT", "STRING")))
    with pytest.raises(ValidationError, match=r"columns are added: préis"):
        list(on_delta.session.run("RESET 'execution.upgrade-mode';"))
        on_delta.run(wider)
    on_delta.set("last-state")
    on_delta.run(wider)
    assert on_delta.table("copied") == [("1", None, "a"), ("2", None, "b"), ("3", "9", "a")]
    assert on_delta.table("counted") == [("a", "2", "new"), ("b", "1", None)]
    # A column less is refused: Delta would leave it NULL in silence.
    list(on_delta.session.run("DROP TABLE copied;"))
    list(on_delta.session.run("CREATE TABLE copied (id INT, item STRING) WITH ('connector' = 'delta', 'table-path' = 'copied');"))
    with pytest.raises(ValidationError, match="is only in it"):
        on_delta.run(both.format("", ", 'new'"))


def test_back_to_an_earlier_statement_goes_on_with_the_state_of_the_latest(project: Project) -> None:
    project.feed("bids", (1, "a", 1))
    project.run(COUNT)
    project.set("last-state")
    filtered = COUNT.replace("GROUP", "WHERE price > 2 GROUP")
    project.feed("bids", (2, "a", 5), (3, "a", 1))
    project.run(filtered)
    project.feed("bids", (4, "a", 1))
    project.run(COUNT)
    # 1 by the first, 2 by the second, 4 by the first again: what came under the second is neither lost nor counted twice.
    assert project.table("counted") == [("a", "3")]
    assert sorted(p.name for p in (project.path / ".sqlstream" / "jobs" / "job").iterdir() if p.name.isdigit()) == ["1", "2", "3"]


def test_an_upgrade_that_ended_midway_is_made_anew(project: Project, monkeypatch) -> None:
    project.feed("bids", (1, "a", 1), (2, "b", 5))
    project.run(COUNT)
    project.set("last-state")
    changed = COUNT.replace("COUNT(*)", "COUNT(*) + 0")
    derive = upgrades.derive

    def killed(*args: object, **more: object) -> None:
        derive(*args, **more)
        raise OSError("the machine is off")

    with monkeypatch.context() as patched:
        patched.setattr(upgrades, "derive", killed)
        # As kill -9 does it: nothing is tidied up.
        patched.setattr(storage.shutil, "rmtree", lambda *a, **k: None)
        with pytest.raises(SqlStreamError, match="the machine is off"):
            project.run(changed)
    half = project.path / ".sqlstream" / "jobs" / "job" / "2"
    assert (half / "checkpoint").exists() and not (half / "version.json").exists()
    project.feed("bids", (3, "a", 1))
    project.run(changed)
    assert (half / "version.json").exists()
    assert project.table("counted") == [("a", "2"), ("b", "1")]


def test_several_edits_at_once(project: Project) -> None:
    """A filter, an aggregate, a UNION ALL branch, a second sink and a longer life, in one step."""
    project.feed("bids", (1, "a", 1), (2, "b", 5))
    first = "INSERT INTO sums SELECT item, COUNT(*), CAST(0 AS BIGINT), 0 FROM bids GROUP BY item;"
    project.run(first)
    project.set("last-state")
    project.feed("bids", (3, "a", 4), (4, "a", 1))
    project.feed("asks", (9, "b", 7), (8, "c", 0))
    project.run("""
        EXECUTE STATEMENT SET BEGIN
        INSERT INTO sums SELECT item, COUNT(*), SUM(CAST(price AS BIGINT)), 0 FROM (
            SELECT item, price FROM bids WHERE price > 2 UNION ALL SELECT item, price FROM asks WHERE price > 2) GROUP BY item;
        INSERT INTO copied SELECT id, item FROM bids;
        END;""")
    assert project.table("sums") == [("a", "2", "4", "0"), ("b", "2", "7", "0")]
    assert project.table("copied") == [("3", "a"), ("4", "a")]
