"""Where a job goes on reading a topic: offsets that are asked for, topics that are created again, records that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from sqlstream.connectors.kafka.offsets import cluster
from sqlstream.connectors.kafka.positions import offsets_of
from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs.machine import JobStatus
from tests.support.sessions import open_session, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "spec", ["", "newest", "timestamp=", "timestamp=yesterday", "timestamp=9999999999999999999999", "partition:0", "partition:0,offset:-1", ";"]
)
def test_what_says_no_offsets_is_refused_without_a_broker(spec: str) -> None:
    with pytest.raises(ValidationError, match="says no offsets") as caught:
        offsets_of(spec, "t", None)  # type: ignore[arg-type]
    assert "partition:0,offset:42" in str(caught.value.hint)


class Topic:
    """A topic of its own, and a job that prints what comes."""

    def __init__(self, project: Path, engine, broker, name: str, discovery: str) -> None:
        self.name, self.broker, self.engine = name, broker, engine
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        self.shown: list[str] = []
        table = f"'connector' = 'kafka', 'topic' = '{name}', 'properties.bootstrap.servers' = '{broker.bootstrap}', 'format' = 'raw', "
        table += f"'scan.startup.mode' = 'earliest-offset', 'scan.topic-partition-discovery.interval' = '{discovery}'"
        declared = f"CREATE TABLE t (v STRING) WITH ({table}); CREATE TABLE p (v STRING) WITH ('connector' = 'print');"
        self.session = open_session(project, declared, engine=engine, emit=self.shown.append)

    def start(self, sql: str = "SET 'pipeline.name' = 'reader'; INSERT INTO p SELECT v FROM t") -> None:
        self.job = submit(self.session, sql)

    def send(self, *values: str, partitions: int = 1) -> None:
        self.broker.produce(self.name, list(values), partitions=partitions)

    def create_again(self, *values: str) -> None:
        self.admin.delete_topics([self.name])[self.name].result()
        # The name is free a moment later.
        until(lambda: self.name not in self.broker.broker.topics())
        self.send(*values)

    def remove_before(self, offset: int) -> None:
        place = TopicPartition(self.name, 0, offset)
        self.admin.delete_records([place])[place].result()


@pytest.fixture
def topic(tmp_path: Path, engine, broker, request):
    made = Topic(tmp_path, engine, broker, f"positions-{abs(hash(request.node.name))}", getattr(request, "param", "1 s"))
    yield made
    made.session.close()


@pytest.mark.spark
@pytest.mark.kafka
def test_offsets_are_looked_up(spark, broker) -> None:
    broker.topic("looked", 2)
    broker.broker.produce("looked", [f"k\t{n}" for n in range(5)], "\t")
    with cluster(spark, {"bootstrap.servers": broker.bootstrap}) as kafka:
        latest = offsets_of("latest", "looked", kafka)
        full = next(number for number, offset in latest.items() if offset)
        assert latest == {full: 5, 1 - full: 0} and offsets_of(" EARLIEST ", "looked", kafka) == {0: 0, 1: 0}
        assert offsets_of(f"partition:{full},offset:3", "looked", kafka) == {full: 3}
        assert offsets_of("timestamp=0", "looked", kafka) == {0: 0, 1: 0}
        assert offsets_of("timestamp=2001-01-31T08:00:00Z", "looked", kafka)[full] == 0
        assert offsets_of("timestamp=2999-01-31 08:00:00", "looked", kafka, "Europe/Berlin") == latest
        with pytest.raises(ValidationError, match=f"Partition {full} .* has no offset 6: it can resume from 0 to 5"):
            offsets_of(f"partition:{full},offset:6", "looked", kafka)
        with pytest.raises(ValidationError, match="has no partition 2: it has 2"):
            offsets_of("partition:2,offset:0", "looked", kafka)
        with pytest.raises(ValidationError, match="does not exist"):
            offsets_of("latest", "nowhere", kafka)


@pytest.mark.spark
@pytest.mark.kafka
def test_a_topic_that_is_created_again_while_the_job_is_stopped(topic: Topic) -> None:
    topic.send("a")
    topic.start()
    until(lambda: topic.shown == ["+I[a]"])
    list(topic.session.run(f"STOP JOB '{topic.job.id}'"))
    topic.create_again("b", "c")
    with pytest.raises(ValidationError, match="was deleted and created again since the job began") as caught:
        topic.start()
    assert str(caught.value.hint).startswith(f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'earliest')")
    assert topic.shown == ["+I[a]"]
    list(topic.session.run(f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'earliest')"))
    topic.start()
    until(lambda: topic.shown == ["+I[a]", "+I[b]", "+I[c]"])
    # It goes on from there, and is told of the next one.
    list(topic.session.run(f"STOP JOB '{topic.job.id}'"))
    topic.send("d")
    topic.start()
    until(lambda: topic.shown == ["+I[a]", "+I[b]", "+I[c]", "+I[d]"])
    list(topic.session.run(f"STOP JOB '{topic.job.id}'"))
    topic.create_again("e")
    with pytest.raises(ValidationError, match="was deleted and created again"):
        topic.start()


@pytest.mark.spark
@pytest.mark.kafka
def test_a_job_goes_on_from_offsets_that_are_set(topic: Topic) -> None:
    topic.send("a", "b", "c")
    with pytest.raises(ValidationError, match="does not exist"):
        list(topic.session.run("ALTER JOB 'reader' SET OFFSETS ('x' = 'latest')"))
    topic.start()
    until(lambda: len(topic.shown) == 3)
    with pytest.raises(ValidationError, match="is running"):
        list(topic.session.run("ALTER JOB 'reader' SET OFFSETS ('x' = 'latest')"))
    list(topic.session.run(f"STOP JOB '{topic.job.id}'"))
    with pytest.raises(ValidationError, match="'newest' says no offsets"):
        list(topic.session.run(f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'newest')"))
    list(topic.session.run("ALTER JOB 'reader' SET OFFSETS ('elsewhere' = 'latest')"))
    with pytest.raises(ValidationError, match="The job reads no topic 'elsewhere'"):
        topic.start()
    list(topic.session.run("ALTER JOB 'reader' SET OFFSETS ()"))
    list(topic.session.run(f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'partition:0,offset:9')"))
    with pytest.raises(ValidationError, match="has no offset 9: it can resume from 0 to 3"):
        topic.start()
    list(topic.session.run("ALTER JOB 'reader' SET OFFSETS ()"))
    topic.send("d")
    topic.start()
    until(lambda: len(topic.shown) == 4)
    list(topic.session.run(f"STOP JOB '{topic.job.id}'"))
    list(topic.session.run(f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'partition:0,offset:2')"))
    (told,) = topic.session.run("EXPLAIN UPGRADE INSERT INTO p SELECT v FROM t")
    assert f"but for {topic.name} (partition:0,offset:2)" in told.rows[0][0]
    topic.start()
    until(lambda: topic.shown[4:] == ["+I[c]", "+I[d]"])
    list(topic.session.run(f"STOP JOB '{topic.job.id}'"))
    # Once, and not again.
    topic.start()
    topic.send("e")
    until(lambda: topic.shown[6:] == ["+I[e]"])


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.parametrize("topic", ["1 s", "0 s"], indirect=True)
def test_a_topic_that_is_created_again_while_the_job_runs(topic: Topic) -> None:
    """Records of the new one are not read at offsets of the old one, also where nothing looks for partitions."""
    topic.send("a")
    topic.start()
    until(lambda: topic.shown == ["+I[a]"])
    topic.create_again("b", "c", "d")
    until(lambda: not topic.job.lives)
    assert topic.job.status is JobStatus.FAILED
    assert "SET OFFSETS" in str(topic.job.error.hint), topic.job.error
    assert topic.shown == ["+I[a]"]
    list(topic.session.run(f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'earliest')"))
    topic.start()
    until(lambda: topic.shown == ["+I[a]", "+I[b]", "+I[c]", "+I[d]"], said=lambda: (topic.shown, topic.job.error))


COUNT = "SET 'pipeline.name' = 'reader'; INSERT INTO p SELECT CAST(COUNT(*) AS STRING) FROM t"


@pytest.mark.spark
@pytest.mark.kafka
def test_state_goes_on_with_other_offsets_unless_it_is_told_to_begin_empty(topic: Topic) -> None:
    topic.send("a", "b", "c")
    topic.start(COUNT)
    until(lambda: topic.shown and topic.shown[-1][2:] == "[3]")
    list(topic.session.run(f"STOP JOB '{topic.job.id}'; ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'timestamp=2001-01-31 08:00:00')"))
    topic.start(COUNT)
    until(lambda: topic.shown[-1][2:] == "[6]")
    list(topic.session.run(f"STOP JOB '{topic.job.id}'; SET 'execution.upgrade-mode' = 'stateless'"))
    list(topic.session.run(f"ALTER JOB 'reader' SET OFFSETS ('elsewhere' = 'latest'); ALTER JOB 'reader' SET OFFSETS ();"
                           f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'partition:0,offset:1')"))  # fmt: skip
    topic.start(COUNT)
    until(lambda: topic.shown[-1][2:] == "[2]")


@pytest.mark.spark
@pytest.mark.kafka
def test_of_a_topic_that_is_created_again_all_partitions_are_said(topic: Topic) -> None:
    topic.send("a", "b", partitions=2)
    topic.start()
    until(lambda: len(topic.shown) == 2)
    list(topic.session.run(f"STOP JOB '{topic.job.id}'"))
    topic.admin.delete_topics([topic.name])[topic.name].result()
    until(lambda: topic.name not in topic.broker.broker.topics())
    topic.send("c", "d", "e", partitions=2)
    list(topic.session.run(f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'partition:1,offset:0')"))
    with pytest.raises(ValidationError, match="what was read of its partition 0 says nothing of the new one"):
        topic.start()
    list(topic.session.run(f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'partition:1,offset:0;partition:0,offset:0')"))
    topic.start()
    until(lambda: sorted(topic.shown[2:]) == ["+I[c]", "+I[d]", "+I[e]"])


@pytest.mark.spark
@pytest.mark.kafka
def test_all_that_read_a_topic_go_on_from_the_same_offsets(topic: Topic, monkeypatch: pytest.MonkeyPatch) -> None:
    both = """SET 'pipeline.name' = 'reader'; EXECUTE STATEMENT SET BEGIN
        INSERT INTO p SELECT CONCAT(a.v, b.v) FROM t AS a JOIN t AS b ON a.v = b.v; INSERT INTO p SELECT v FROM t; END"""
    topic.send("a")
    topic.start(both)
    until(lambda: sorted(topic.shown) == ["+I[a]", "+I[aa]"])
    list(topic.session.run(f"STOP JOB '{topic.job.id}'; ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'latest')"))
    looked = []

    def sent_meanwhile(*asked: object) -> dict[int, int]:
        looked.append(offsets_of(*asked))  # type: ignore[arg-type]
        topic.send("b")
        return looked[-1]

    topic.send("not read")
    monkeypatch.setattr("sqlstream.connectors.kafka.positions.offsets_of", sent_meanwhile)
    topic.start(both)
    until(lambda: sorted(topic.shown[2:]) == ["+I[b]", "+I[bb]"])
    assert looked == [{0: 2}]


@pytest.mark.spark
@pytest.mark.kafka
def test_records_that_are_gone(topic: Topic) -> None:
    topic.send("a")
    topic.start()
    until(lambda: topic.shown == ["+I[a]"])
    list(topic.session.run(f"STOP JOB '{topic.job.id}'"))
    topic.send("b", "c")
    topic.remove_before(2)
    topic.start()
    until(lambda: not topic.job.lives)
    assert topic.job.status is JobStatus.FAILED and topic.shown == ["+I[a]"]
    assert "Kafka has no records where the job resumes reading" in topic.job.error.message
    assert "ALTER JOB 'reader' SET OFFSETS" in str(topic.job.error.hint)
    list(topic.session.run(f"ALTER JOB 'reader' SET OFFSETS ('{topic.name}' = 'earliest')"))
    topic.start()
    until(lambda: topic.shown == ["+I[a]", "+I[c]"])
