"""Jobs that fail and are started again: what is behind it goes away and comes back; they are stopped, drained and given up meanwhile."""

from __future__ import annotations

import io
import threading
import time
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.runtime.jobs.control.status import Status
from sqlstream.runtime.jobs.machine import JobStatus
from sqlstream.shell.screen import Screen, Script
from sqlstream.shell.script import run_script
from tests.support.postgres import PASSWORD, Postgres
from tests.support.sessions import feed, open_session, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.jobs.job import Job
    from sqlstream.session.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.timeout(180)]

TABLES = """
CREATE TABLE numbers (id INT, word STRING, arrived AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'numbers', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE copies (id INT, word STRING) WITH ('connector' = 'filesystem', 'path' = 'copies', 'format' = 'json');
CREATE TABLE stored (id INT PRIMARY KEY NOT ENFORCED, word STRING)
WITH ('connector' = 'jdbc', 'url' = '{url}', 'table-name' = '{table}', 'username' = 'app', 'password' = '{password}');
CREATE TABLE shown (id INT, word STRING) WITH ('connector' = 'print');
"""
BOTH = "EXECUTE STATEMENT SET BEGIN INSERT INTO stored SELECT id, word FROM numbers; INSERT INTO shown SELECT id, word FROM numbers; END"


@pytest.fixture(scope="module")
def database():
    started = Postgres()
    started.start()
    yield started
    started.remove()


class World:
    """A project with a table of files, one of a database, and a session."""

    def __init__(self, project: Path, engine, database: Postgres, name: str) -> None:
        self.project, self.engine, self.database, self.table = project, engine, database, f"stored_{abs(hash(name))}"
        self.shown: list[str] = []
        self.told: list[str] = []
        self.fed = 0
        (project / "numbers").mkdir()
        database.run(f"CREATE TABLE {self.table} (id INT PRIMARY KEY, word VARCHAR(5))")
        self.sql = TABLES.format(url=database.url, table=self.table, password=PASSWORD.replace("'", "''"))
        self.session = self.open()

    def open(self) -> Session:
        return open_session(self.project, self.sql, engine=self.engine, emit=self.shown.append, notify=self.told.append)

    def run(self, sql: str) -> list:
        return run(self.session, sql)

    def submit(self, sql: str) -> Job:
        return submit(self.session, sql)

    def feed(self, word: str = "w") -> None:
        self.fed += 1
        feed(self.project / "numbers", {"id": self.fed, "word": word})

    def copied(self) -> list[str]:
        return sorted(line for p in (self.project / "copies").glob("part-*") for line in p.read_text().splitlines())

    def stored(self) -> list[int]:
        return [int(str(row[0])) for row in self.database.run(f"SELECT id FROM {self.table} ORDER BY id")]


@pytest.fixture
def world(tmp_path: Path, engine, database, request):
    database.start() if database._process is None else None
    world = World(tmp_path, engine, database, request.node.name)
    yield world
    world.session.close()


def test_a_database_that_comes_back(world: World) -> None:
    world.run("SET 'restart-strategy.exponential-delay.initial-backoff' = '200 ms';")
    job = world.submit(BOTH)
    other = world.submit("INSERT INTO copies SELECT id, word FROM numbers")
    world.feed()
    until(lambda: world.stored() == [1] and world.shown == ["+I[1, w]"], said=lambda: world.told)
    world.database.stop()
    world.feed()
    again = "with the same error at the same place, micro-batch 1 of 'stored': it may not be over by itself."
    until(lambda: any(f"has failed 5 times {again}" in line for line in world.told), said=lambda: world.told)
    until(lambda: job.status is JobStatus.RESTARTING)
    assert other.status is JobStatus.RUNNING and other.restarts.count == 0
    (jobs,) = world.run("SHOW JOBS EXTENDED")
    status, restarts, error = (next(row for row in jobs.rows if row[0] == job.id)[i] for i in (2, 4, 6))
    assert status == "RESTARTING" and int(restarts) >= 3 and error.startswith(f"restart {restarts} at ") and "refused" in error
    (described,) = world.run(f"DESCRIBE JOB '{job.id}'")
    facts = dict(described.rows)
    assert facts["status"] == "RESTARTING" and "next restart" in facts and "refused" in facts["last error"]
    (why,) = world.run(f"EXPLAIN JOB '{job.id}'")
    assert "started again by itself" in str(why.rows)
    assert again in str(why.rows)
    world.database.start()
    until(lambda: world.stored() == [1, 2] and job.status is JobStatus.RUNNING, said=lambda: world.told)
    until(lambda: world.shown == ["+I[1, w]", "+I[2, w]"])
    world.feed()
    until(lambda: world.stored() == [1, 2, 3])
    until(lambda: job.sampled().rows_in == 6, said=lambda: job.sampled())
    assert any("runs again, from its checkpoint" in line for line in world.told)
    assert PASSWORD not in str(world.told)
    # What it has met is known still, in another process too.
    world.session.jobs.stop(job.id)
    status = Status.read(job.folder.parent)
    assert status is not None and len(status.failures) == job.restarts.count
    assert all("refused" in failure.error and job.started < failure.at < time.time() for failure in status.failures)


def test_stopped_while_it_waits_and_submitted_again(world: World) -> None:
    world.run("SET 'restart-strategy.exponential-delay.initial-backoff' = '1 min'")
    job = world.submit(BOTH)
    world.database.stop()
    world.feed()
    until(lambda: job.status is JobStatus.RESTARTING)
    began = time.monotonic()
    world.run(f"STOP JOB '{job.id}'")
    assert job.status is JobStatus.CANCELED and time.monotonic() - began < 30
    world.database.start()
    again = world.submit(BOTH)
    assert again.folder == job.folder
    until(lambda: world.stored() == [1])


def test_drained_while_it_waits(world: World) -> None:
    world.run("SET 'restart-strategy.exponential-delay.initial-backoff' = '20 s'")
    job = world.submit(BOTH)
    world.database.stop()
    world.feed()
    until(lambda: job.status is JobStatus.RESTARTING)
    world.database.start()
    world.feed()
    began = time.monotonic()
    world.session.jobs.stop(job.id, drain=True)
    assert job.status is JobStatus.FINISHED and time.monotonic() - began < 15, "it does not wait for its restart"
    assert world.stored() == [1, 2] and sorted(world.shown) == ["+I[1, w]", "+I[2, w]"]


def test_a_drain_goes_on_when_what_it_needs_comes_back(world: World) -> None:
    job = world.submit(BOTH)
    world.database.stop()
    world.feed()
    until(lambda: job.status is JobStatus.RESTARTING)
    drain = threading.Thread(target=lambda: world.session.jobs.stop(job.id, drain=True))
    drain.start()
    until(lambda: job.restarts.count >= 3)
    world.database.start()
    drain.join(60)
    assert job.status is JobStatus.FINISHED and world.stored() == [1]


def test_given_up_as_the_strategy_says(world: World) -> None:
    world.run("SET 'restart-strategy.type' = 'fixeddelay'; SET 'restart-strategy.fixed-delay.attempts' = '2'")
    world.run("SET 'restart-strategy.fixed-delay.delay' = '100 ms'")
    job = world.submit(BOTH)
    world.database.stop()
    world.feed()
    with pytest.raises(JobFailed, match="refused"):
        world.session.wait()
    assert job.status is JobStatus.FAILED and job.restarts.count == 2
    assert any("is given up after 2 restarts" in line for line in world.told)
    world.database.start()
    again = world.submit(BOTH)
    until(lambda: world.stored() == [1])
    assert again.folder == job.folder


@pytest.mark.parametrize(
    "insert",
    ["INSERT INTO copies SELECT id / (id - id), word FROM numbers", "INSERT INTO stored SELECT id, word FROM numbers",
     "INSERT INTO copies SELECT CAST(word AS INT), word FROM numbers"],
    ids=["division", "too long for the database", "cast"],
)  # fmt: skip
def test_a_bad_record_fails_at_once(world: World, insert: str) -> None:
    job = world.submit(insert)
    world.feed("too long a word")
    until(lambda: not job.lives)
    assert job.status is JobStatus.FAILED and job.restarts.count == 0, world.told


def test_a_script_goes_on_and_an_interrupt_ends_it(world: World) -> None:
    world.run("SET 'restart-strategy.exponential-delay.initial-backoff' = '1 min'")
    screen, codes = Screen(io.StringIO(), io.StringIO()), []
    script = threading.Thread(target=lambda: codes.append(run_script(lambda: world.session, Script(BOTH, "s.sql"), screen)))
    script.start()
    until(lambda: [j.status for j in world.session.jobs] == [JobStatus.RUNNING])
    world.database.stop()
    world.feed()
    until(lambda: [j.status for j in world.session.jobs] == [JobStatus.RESTARTING])
    assert not codes
    began = time.monotonic()
    world.session.interrupt()
    script.join(30)
    # What Ctrl-C does beside this is the exit code 130.
    assert codes == [0] and time.monotonic() - began < 10
    assert [j.status for j in world.session.jobs] == [JobStatus.CANCELED] and "[ERROR]" not in screen.err.getvalue()


def test_numbers_that_are_refused_are_so_at_the_insert(world: World) -> None:
    world.run("SET 'restart-strategy.exponential-delay.jitter-factor' = '2'")
    with pytest.raises(ValidationError, match="2.0 is not between 0 and 1"):
        world.submit("INSERT INTO copies SELECT id, word FROM numbers")


def test_a_lookup_in_a_database_that_comes_back(world: World) -> None:
    world.database.run(f"INSERT INTO {world.table} SELECT i, 'v' || i FROM generate_series(1, 5) AS i")
    job = world.submit("INSERT INTO copies SELECT n.id, s.word FROM numbers AS n JOIN stored FOR SYSTEM_TIME AS OF n.arrived AS s ON s.id = n.id")
    world.feed()
    until(lambda: world.copied() == ['{"id":1,"word":"v1"}'])
    world.database.stop()
    world.feed()
    until(lambda: job.restarts.count >= 2, said=lambda: world.told)
    world.database.start()
    until(lambda: world.copied() == ['{"id":1,"word":"v1"}', '{"id":2,"word":"v2"}'], said=lambda: world.told)
