"""File systems that are not this machine's: Hadoop's of HDFS and S3, against a real one of each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError

from sqlstream.runtime.engine.failures import job_error
from sqlstream.runtime.engine.own_jars import sets
from tests.support.remote import Remote
from tests.support.waiting import until

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[3]


def test_a_file_is_created_where_there_is_none(spark, remote_folder: str) -> None:
    files, place = Remote(spark, remote_folder), f"{remote_folder}/job ä %2F=1/lease"
    assert files.create(place, "one ä") and not files.create(place, "two")
    assert files.read(place) == "one ä" and files.names(f"{remote_folder}/job ä %2F=1") == ["lease"]


def test_one_of_many_creates_a_file(spark, remote_folder: str) -> None:
    files = Remote(spark, remote_folder)
    for number in range(5):
        made: list[str] = []
        barrier = threading.Barrier(4)

        def create(name: str, place: str = f"{remote_folder}/{number}", made: list[str] = made, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            if files.create(place, name):
                made.append(name)

        threads = [threading.Thread(target=create, args=(f"writer {n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [files.read(f"{remote_folder}/{number}")] == made


def test_who_closes_first_has_created_an_object(spark, s3) -> None:
    s3.known_to(spark)
    place = f"{s3.bucket('first')}/lease"
    files = Remote(spark, place)
    one, two = files.begin(place), files.begin(place)
    for stream, text in ((one, b"one"), (two, b"two")):
        stream.write(bytearray(text))
    two.close()
    with pytest.raises(Py4JJavaError):
        one.close()
    assert files.read(place) == "two"


@pytest.mark.parametrize("service", [pytest.param("hdfs.Hdfs", marks=pytest.mark.slow), "s3.S3"])
def test_services_end_with_whom_they_serve(service: str) -> None:
    module, name = service.split(".")
    code = f"from tests.support.{module} import {name}; import time; s = {name}(); s.start(); print(s.pid, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        pid = int(user.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        os.kill(user.pid, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{pid}").exists())


def test_only_who_speaks_of_s3_gets_its_classes() -> None:
    assert sets({}) == sets({"table.warehouse": "hdfs://h/x", "spark.hadoop.fs.azure.x": "s3a"}) == []
    for spoken in (
        {"table.warehouse": "s3a://b/x"},
        {"execution.checkpointing.dir": "s3://b"},
        {"spark.hadoop.fs.s3a.endpoint.region": "eu-central-1"},
    ):
        assert sets(spoken) == ["s3"]
    assert sets({"table.warehouse": "s3a://b/x", "pipeline.jars": "hadoop-aws-3.5.0.jar;bundle.jar"}) == []


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        ("java.lang.RuntimeException: java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found", "s3a://", "endpoint.region"),
        ('org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "gs"', '"gs"', "pipeline.jars"),
        ("java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem not found", "abfss://", "hadoop-azure"),
    ],
)  # fmt: skip
def test_a_file_system_without_classes_says_what_to_write(said: str, message: str, hint: str) -> None:
    error = job_error(RuntimeError(said))
    assert message in error.message and error.hint and hint in error.hint and not error.heals
