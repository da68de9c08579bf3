"""A folder of another file system is held by one driver at a time: leases, and the logs of checkpoints, which none but their holder writes."""

from __future__ import annotations

import os
import socket
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError

from sqlstream.core import processes, storage
from sqlstream.core.errors import JobFailed, ValidationError
from sqlstream.core.java import classes
from sqlstream.core.storage import Hadoop, HadoopPath, StorageError
from sqlstream.runtime.jobs.folder import locks
from sqlstream.runtime.jobs.folder.generations import JobFolder
from sqlstream.runtime.jobs.folder.locks import Owner
from tests.support.waiting import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sqlstream.runtime.engine.session import Engine
    from tests.support.s3 import S3

pytestmark = pytest.mark.spark


@pytest.fixture(params=["hdfs", "s3"])
def folder(request: pytest.FixtureRequest, engine: Engine) -> HadoopPath:
    return HadoopPath(f"{request.getfixturevalue(f'{request.param}_folder')}/jobs/job ü", Hadoop(lambda: engine))


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of the machine that processes are taken to be on; leases are short."""
    name = ["here"]
    monkeypatch.setattr(processes, "machine", lambda: name[0])
    monkeypatch.setattr(locks, "LEASE_SECONDS", 3.0)
    monkeypatch.setattr(locks, "RENEW_SECONDS", 0.5)
    monkeypatch.setattr(locks, "_VALID_SECONDS", 1.0)
    return name


def entry(spark: SparkSession, folder: HadoopPath, number: int) -> None:
    """Write an entry of the log of a query's checkpoint, as Spark does."""
    assert spark._jvm is not None
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{folder}/1/checkpoint/0_t/offsets/{number}")
    streaming = spark._jvm.org.apache.spark.sql.execution.streaming.checkpointing
    files = streaming.CheckpointFileManager.create(path.getParent(), spark._jsparkSession.sessionState().newHadoopConf())
    files.mkdirs(path.getParent())
    out = files.createAtomic(path, False)
    out.write(bytearray(b"v1"))
    out.close()


def test_one_of_a_machine_is_refused_at_once(folder: HadoopPath) -> None:
    home = JobFolder(folder, "job")
    assert locks.holder(folder) is None and locks.last_holder(folder) is None
    with home.lock("run"):
        assert locks.holder(folder) == locks.last_holder(folder) != None  # noqa: E711
        with pytest.raises(ValidationError, match=f"Job 'job' is already running, in process {os.getpid()} on {socket.gethostname()}"):
            home.lock("other")
    assert locks.holder(folder) is None
    # It was let go of.
    home.lock("other").close()
    assert [p.name for p in (folder / "lease").glob("*.json")] == ["1.json", "2.json"]


def test_who_has_ended_on_this_machine_has_let_go(folder: HadoopPath, spark: SparkSession) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    owner = replace(_owner(), pid=ended.pid, jvm=ended.pid)
    assert classes(spark).storage.Lease.take(spark._jsparkSession, str(folder), 1, _json(owner), 60_000, 60_000) is not None
    assert locks.holder(folder) is None and locks.last_holder(folder) == owner
    JobFolder(folder, "job").lock().close()


def test_a_lease_that_is_not_renewed_ends(folder: HadoopPath, spark: SparkSession, elsewhere: list[str]) -> None:
    said: list[str] = []
    home = JobFolder(folder, "job")
    silent = classes(spark).storage.Lease.take(spark._jsparkSession, str(folder), 1, _json(_owner(host="far")), 60_000, 60_000)
    elsewhere[0] = "there"
    lock = home.lock("two", said.append)
    assert said in ([], ["Job 'job' was running in process 1 on far, which is not heard of: its lease ends in 3 s."])
    assert silent.isLost() is False  # It has not looked yet.
    # Where it comes back it writes nothing any more, once it has looked.
    assert lock.lost is False
    entry(spark, folder, 0)
    lock.close()


def test_a_service_that_overwrites_gives_no_lease(engine: Engine, spark: SparkSession, s3: S3) -> None:
    s3.known_to(spark)
    home = JobFolder(HadoopPath(f"{s3.bucket('heedless-of-leases')}/jobs/job", Hadoop(lambda: engine)), "job")
    with pytest.raises(StorageError, match="The service of s3a://heedless-of-leases overwrites what must be created only if it is absent"):
        home.lock("one")


def test_a_lease_that_is_renewed_goes_on(folder: HadoopPath, elsewhere: list[str]) -> None:
    home = JobFolder(folder, "job")
    with home.lock("one"):
        elsewhere[0] = "there"
        with pytest.raises(ValidationError, match="is already running, in process"):
            home.lock("two")


def test_who_has_lost_its_lease_writes_no_log(folder: HadoopPath, spark: SparkSession, elsewhere: list[str]) -> None:
    home = JobFolder(folder, "job")
    lock = home.lock("one")
    entry(spark, folder, 0)
    with pytest.raises(Py4JJavaError, match="already exist|AlreadyExists|conditional|412|Precondition"):
        entry(spark, folder, 0)
    storage.write(folder / "lease" / "2.json", "{}")
    try:
        until(lambda: lock.lost)
        with pytest.raises(Py4JJavaError, match="LEASE_LOST"):
            entry(spark, folder, 1)
        with pytest.raises(JobFailed, match="Job 'job' is run by another process now") as lost:
            lock.renew()
        assert not lost.value.heals
    finally:
        lock.close()
    assert not (folder / "1" / "checkpoint" / "0_t" / "offsets" / "1").exists()
    # What is another's is not let go of.
    assert not (folder / "lease" / "2.beat").exists()


def test_of_several_that_wait_one_has_it(folder: HadoopPath, spark: SparkSession) -> None:
    take = classes(spark).storage.Lease.take
    first = take(spark._jsparkSession, str(folder), 1, _json(_owner()), 60_000, 60_000)
    assert take(spark._jsparkSession, str(folder), 1, _json(_owner(host="b")), 60_000, 60_000) is None
    second = take(spark._jsparkSession, str(folder), 2, _json(_owner(host="b")), 60_000, 60_000)
    third = take(spark._jsparkSession, str(folder), 3, _json(_owner(host="c")), 60_000, 60_000)
    assert None not in (first, second, third)
    # That of one who has waited since before the second is gone by now, and not to be had again.
    assert take(spark._jsparkSession, str(folder), 1, _json(_owner(host="d")), 60_000, 60_000) is None
    assert sorted(p.name for p in (folder / "lease").glob("*.json")) == ["2.json", "3.json"]
    third.close()


def _owner(host: str = "here") -> Owner:
    return Owner(1, host, processes.machine(), 0, "run")


def _json(owner: Owner) -> str:
    import json
    from dataclasses import asdict

    return json.dumps(asdict(owner))
