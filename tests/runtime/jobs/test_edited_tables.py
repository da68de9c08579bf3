"""Tables of a job that has run are edited: what is read and written where it was goes on, whatever else is declared of it."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs.machine import JobStatus
from tests.support.edited import Project
from tests.support.sessions import rows, run, submit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.spark, pytest.mark.kafka, pytest.mark.usefixtures("interpreted")]
BOTH = """EXECUTE STATEMENT SET BEGIN
INSERT INTO copied SELECT id, item FROM src; INSERT INTO counted SELECT 'all', COUNT(*) FROM src GROUP BY id > 0 OR TRUE;
END;"""


class Topics(Project):
    """A project whose job copies the rows of topics, and counts them."""

    def __init__(self, path: Path, engine, broker) -> None:
        self.broker, self.own = broker, uuid.uuid4().hex
        self.first, self.second = f"first-{self.own}", f"second-{self.own}"
        for topic in (self.first, self.second):
            broker.topic(topic)
        place = f"'topic' = '{self.first}', 'properties.bootstrap.servers' = '{broker.bootstrap}'"
        declared = f"CREATE TABLE src (id INT, item STRING, price INT, at_ STRING) WITH ('connector' = 'kafka', {place}, 'format' = 'json'"
        super().__init__(path, engine, more=f"{declared}, 'scan.startup.mode' = 'earliest-offset');")
        self.set("last-state")

    def send(self, *ids: int, topic: str | None = None, partition: int = 0) -> None:
        self.broker.send(topic or self.first, *((partition, None, f'{{"id":{i},"item":"x"}}') for i in ids))

    def edit(self, options: str) -> None:
        run(self.session, f"ALTER TABLE src SET ({options});")

    def has(self, *ids: int) -> None:
        """All rows were copied and counted once, in tables of any name."""
        assert sorted(int(row[0]) for row in self.table("copied")) == sorted(ids)
        assert self.table("counted") == [("all", str(len(ids)))]


@pytest.fixture
def topics(tmp_path: Path, engine, broker) -> Iterator[Topics]:
    made = Topics(tmp_path, engine, broker)
    yield made
    made.session.close()


# What is edited at once, between two runs; tests of options have each alone.
EDITS = [
    "'json.ignore-parse-errors' = 'true', 'json.timestamp-format.standard' = 'ISO-8601', 'scan.topic-partition-discovery.interval' = '2 s'",
    "'scan.startup.mode' = 'latest-offset', 'properties.group.id' = 'another', 'properties.fetch.min.bytes' = '2'",
    "'topic' = '{second};{first}'",
]  # fmt: skip


def test_offsets_and_state_go_on_whatever_is_edited_of_a_topic(topics: Topics) -> None:
    topics.send(1, 2)
    topics.run(BOTH)
    sent = [1, 2]
    for number, edit in enumerate(EDITS, 3):
        # What comes while the job is stopped is in no sink twice, and not left out where reading would begin at the end.
        topics.send(number)
        sent.append(number)
        topics.edit(edit.format(first=topics.first, second=topics.second))
        topics.run(BOTH)
        topics.has(*sent)
    topics.send(100, topic=topics.second)
    topics.run(BOTH)
    topics.has(*sent, 100)


def test_a_topic_that_is_read_besides_begins_at_its_first_record(topics: Topics) -> None:
    topics.send(1)
    topics.edit("'scan.startup.mode' = 'latest-offset'")
    topics.run(BOTH)
    topics.send(2, topic=topics.second)
    topics.edit(f"'topic' = '{topics.first};{topics.second}'")
    topics.run(BOTH)
    assert topics.table("copied") == [("2", "x")]


def test_what_has_written_nothing_begins_where_it_would_have(topics: Topics) -> None:
    """Where its options said at the first start; nobody has to say that it may go on."""
    copy = "INSERT INTO copied SELECT id, item FROM src;"
    run(topics.session, "RESET 'execution.upgrade-mode';")
    topics.edit(f"'topic' = '{topics.first};{topics.second}'")
    topics.send(1)
    job = submit(topics.session, copy.replace("id,", "1 / (id - 1),"))
    assert job.done.wait(60) and job.status is JobStatus.FAILED
    topics.send(2, topic=topics.second)
    topics.edit(f"'topic' = '{topics.first}', 'scan.startup.mode' = 'latest-offset', 'json.ignore-parse-errors' = 'true'")
    topics.said.clear()
    topics.run(copy)
    assert topics.table("copied") == [("1", "x")]
    assert "begins where the one before began, which has finished no micro-batch" in topics.said[0]


def test_a_topic_that_is_read_no_more_is_refused_and_the_other_goes_on(topics: Topics) -> None:
    topics.edit(f"'topic' = '{topics.first};{topics.second}'")
    topics.send(1)
    topics.send(2, topic=topics.second)
    topics.run(BOTH)
    topics.edit(f"'topic' = '{topics.first}'")
    topics.send(3)
    topics.send(4, topic=topics.second)
    with pytest.raises(ValidationError, match=f"source +\\S+src +lost +Kafka topic {topics.second} is no longer read"):
        topics.run(BOTH)
    topics.may_lose()
    topics.run(BOTH)
    topics.has(1, 2, 3)
    run(topics.session, "RESET 'execution.state-recovery.ignore-unclaimed-state'; ALTER TABLE src RESET ('topic');")
    topics.edit(f"'topic-pattern' = '(first|second)-{topics.own}'")
    topics.run(BOTH)
    assert ("4", "x") in topics.table("copied") and len(topics.table("copied")) == 5, "from its beginning: what was known of it was forgotten"


def test_a_topic_of_another_cluster_is_found_by_its_id_whatever_else_is_edited(topics: Topics) -> None:
    topics.send(1)
    topics.run(BOTH)
    (known,) = topics.path.glob(".sqlstream/jobs/job/*/inputs/shared/src-*.topics")
    known.write_text(json.dumps({topics.first: "that of another cluster"}))
    topics.edit("'json.ignore-parse-errors' = 'true'")
    with pytest.raises(ValidationError, match="was deleted and created again since the job began"):
        topics.run(BOTH)


def test_a_table_of_files_is_its_folder(on_delta: Project) -> None:
    copy = "INSERT INTO copied SELECT id, item FROM bids;"
    on_delta.set("last-state")
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run(copy)
    for number, edit in enumerate(
        ("'json.ignore-parse-errors' = 'true'", "'source.path.regex-pattern' = '.*json'", "'source.monitor-interval' = '2 s'"), 2
    ):
        on_delta.feed("bids", (number, "a", 1))
        run(on_delta.session, f"ALTER TABLE bids SET ({edit});")
        on_delta.run(copy)
        assert on_delta.table("copied") == [(str(n), "a") for n in range(1, number + 1)]


def test_a_renamed_sink_goes_on(on_delta: Project) -> None:
    on_delta.set("last-state")
    on_delta.feed("bids", (1, "a", 1), (2, "b", 1))
    on_delta.run("INSERT INTO counted SELECT item, COUNT(*) FROM bids GROUP BY item;")
    run(on_delta.session, "ALTER TABLE counted RENAME TO again;")
    on_delta.feed("bids", (3, "a", 1))
    on_delta.run("INSERT INTO again SELECT item, COUNT(*) FROM bids GROUP BY item;")
    assert on_delta.table("again") == [("a", "2"), ("b", "1")]


def test_a_job_that_is_called_after_its_renamed_sink_is_told_of_the_one_before(on_delta: Project) -> None:
    copy = "INSERT INTO copied SELECT id, item FROM bids;"
    run(on_delta.session, "SET 'pipeline.name' = '';")
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run(copy)
    before = "insert-into_default_catalog.default_database.copied"
    run(on_delta.session, "ALTER TABLE copied RENAME TO again;")
    told = "Job 'copied', which has stopped, has read and written there: its rows may be written again."
    ((seen,),) = rows(on_delta.session, f"EXPLAIN UPGRADE {copy.replace('copied', 'again')}")
    assert told in seen
    on_delta.said.clear()
    on_delta.run(copy.replace("copied", "again"))
    assert on_delta.said == [f"{told} SET 'pipeline.name' = '{before}' resumes with the state of that one."]
    assert on_delta.table("again") == [("1", "a"), ("1", "a")]
    # One that reads other tables is no concern of it.
    on_delta.said.clear()
    run(on_delta.session, "CREATE TABLE third (id INT, item STRING) WITH ('connector' = 'delta', 'table-path' = 'copied');")
    on_delta.run("INSERT INTO third SELECT id, item FROM asks;")
    assert on_delta.said == []


def test_a_path_may_be_spelt_otherwise(on_delta: Project) -> None:
    copy = "INSERT INTO copied SELECT id, item FROM bids;"
    on_delta.set("last-state")
    for number, (source, sink) in enumerate((("bids", "copied"), ("./bids/", "copied/"), (".//bids", "./copied")), 1):
        on_delta.feed("bids", (number, "a", 1))
        run(on_delta.session, f"ALTER TABLE bids SET ('path' = '{source}'); ALTER TABLE copied SET ('table-path' = '{sink}');")
        on_delta.run(copy)
    assert on_delta.table("copied") == [(str(n), "a") for n in (1, 2, 3)]


def test_a_job_that_writes_nowhere_where_it_did_is_another(on_delta: Project) -> None:
    """Two scripts whose sinks have one name, and so have their jobs."""
    on_delta.set("last-state")
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids;")
    run(on_delta.session, "DROP TABLE copied; CREATE TABLE copied (id INT, item STRING) WITH ('connector' = 'delta', 'table-path' = 'elsewhere');")
    for mode in ("last-state", "stateless"):
        on_delta.set(mode)
        with pytest.raises(ValidationError, match="copied +lost +the job writes to none of its earlier places") as refused:
            on_delta.run("INSERT INTO copied SELECT id, item FROM bids;")
        assert "SET 'pipeline.name' makes it another job" in str(refused.value.hint)
    run(on_delta.session, "SET 'pipeline.name' = 'another';")
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids;")
    assert on_delta.table("copied") == [("1", "a")]


def test_a_savepoint_goes_into_another_sink(on_delta: Project) -> None:
    on_delta.feed("bids", (1, "a", 1), (2, "b", 1))
    job = on_delta.submit("INSERT INTO counted SELECT item, COUNT(*) FROM bids GROUP BY item;")
    ((saved,),) = rows(on_delta.session, f"STOP JOB '{job.id}' WITH SAVEPOINT;")
    on_delta.feed("bids", (3, "a", 1))
    declared = "CREATE TABLE fresh (item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'fresh');"
    run(on_delta.session, f"{declared} SET 'pipeline.name' = 'fresh'; SET 'execution.state-recovery.path' = '{saved}';")
    into = "INSERT INTO fresh SELECT item, COUNT(*) FROM bids GROUP BY item;"
    ((seen,),) = rows(on_delta.session, f"EXPLAIN UPGRADE {into}")
    assert seen.startswith("Job 'fresh' would begin with the savepoint") and "resumes with all of it" in seen
    on_delta.run(into)
    assert on_delta.table("fresh") == [("a", "2")]
    ((seen,),) = rows(on_delta.session, f"EXPLAIN UPGRADE {into}")
    assert seen.startswith("Job 'fresh' resumes where it stopped")
