"""Tables whose files are on HDFS or S3: written by jobs, read back, watched for new files."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError

from sqlstream.connectors.files.batches import write_batch
from sqlstream.connectors.files.folder import Folder
from sqlstream.core.errors import SqlStreamError
from tests.support.remote import Remote
from tests.support.s3 import KEY, SECRET
from tests.support.sessions import catch_up, open_session, rows, run, submit

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.runtime.jobs.job import Job

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

TABLES = """
CREATE TABLE bids (id INT, item STRING) WITH ('connector' = 'filesystem', 'path' = 'in/new bids ä=1', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE files (id INT, item STRING) PARTITIONED BY (item)
WITH ('connector' = 'filesystem', 'path' = 'out/files of ü % 日', 'format' = 'parquet');
CREATE TABLE lines (id INT, item STRING) WITH ('connector' = 'filesystem', 'path' = '{0}/lines here', 'format' = 'csv');
CREATE TABLE appended (id INT, item STRING) WITH ('connector' = 'delta', 'table-path' = 'out/appended é +');
CREATE TABLE counted (item STRING, n BIGINT, PRIMARY KEY (item) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = '{0}/counted');
"""
BELOW_OUT = {"files": "files of ü % 日", "appended": "appended é +"}
INSERTS = {
    "files": "INSERT INTO files SELECT id, item FROM bids;",
    "appended": "INSERT INTO appended SELECT id, item FROM bids;",
    "lines": "INSERT INTO lines SELECT id, item FROM bids;",
    "counted": "INSERT INTO counted SELECT item, COUNT(*) FROM bids GROUP BY item;",
}


class Project:
    """A project of this machine whose tables are elsewhere."""

    def __init__(self, path: Path, folder: str, engine, spark) -> None:
        self.folder = folder
        self.remote = Remote(spark, folder)
        self.feed(0)
        options = {"table.warehouse": folder, "table.dml-sync": "false"}
        self.session = open_session(path, TABLES.format(folder), options=options, engine=engine)

    def feed(self, first: int) -> None:
        rows = [f'{{"id": {i}, "item": "{"tea" if i % 2 else "käse / 1"}"}}\n' for i in range(first, first + 4)]
        self.remote.put(f"{self.folder}/in/new bids ä=1/{first}.json", "".join(rows))

    def begin(self, sql: str) -> Job:
        return submit(self.session, sql)

    def stop(self, job: Job) -> None:
        self.session.jobs.stop(job.id)

    def rows(self, table: str) -> list[tuple]:
        run(self.session, "SET 'execution.runtime-mode' = 'batch'")
        try:
            return sorted(rows(self.session, f"SELECT * FROM {table}"))
        finally:
            run(self.session, "SET 'execution.runtime-mode' = 'streaming'")


def bids(count: int) -> list[tuple[str, str]]:
    return sorted((str(i), "tea" if i % 2 else "käse / 1") for i in range(count))


@pytest.mark.long
@pytest.mark.parametrize(
    ("remote_folder", "tables"),
    [("s3", ("appended",)), *(pytest.param(kind, tuple(INSERTS), marks=pytest.mark.slow) for kind in ("s3", "hdfs"))],
    indirect=["remote_folder"],
)
def test_jobs_write_there_and_go_on(tmp_path: Path, engine, spark, remote_folder: str, tables: tuple[str, ...]) -> None:
    project = Project(tmp_path, remote_folder, engine, spark)
    inserts = f"EXECUTE STATEMENT SET BEGIN {' '.join(INSERTS[table] for table in tables)} END;"

    def check(count: int) -> None:
        for table in tables:
            assert project.rows(table) == (bids(count) if table != "counted" else [("käse / 1", str(count // 2)), ("tea", str(count // 2))])

    try:
        job = project.begin(inserts)
        catch_up(job)
        check(4)
        # New files of the source are found by a job that runs, and by one that goes on.
        project.feed(4)
        catch_up(job)
        project.stop(job)
        project.feed(8)
        job = project.begin(inserts)
        catch_up(job)
        project.stop(job)
        check(12)
        assert project.remote.names(f"{remote_folder}/out") == sorted(BELOW_OUT[table] for table in tables if table in BELOW_OUT)
        assert not [p for p in tmp_path.iterdir() if p.name in ("in", "out")]
    finally:
        project.session.close()


def test_a_crash_between_a_copy_and_its_source_doubles_nothing(spark, remote_folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, moves = Folder(spark, f"{remote_folder}/table ä"), []
    rename = Folder.move

    def stage(path: str) -> None:
        spark.range(8).repartition(4).write.json(path)

    def move(self: Folder, source: tuple[str, ...], target: tuple[str, ...]) -> None:
        moves.append(target)
        if len(moves) == 3:
            stream = self._system.create(self._path(*target))
            spark._jvm.org.apache.hadoop.io.IOUtils.copyBytes(self._system.open(self._path(*source)), stream, 1000, True)
            raise KeyboardInterrupt
        rename(self, source, target)

    monkeypatch.setattr(Folder, "move", move)
    with pytest.raises(KeyboardInterrupt):
        write_batch(folder, "writer", 0, stage)
    write_batch(folder, "writer", 0, stage)
    assert len(moves) == 5 and len(list(folder.files())) == 4
    assert sorted(r.id for r in spark.read.json(folder.path).collect()) == list(range(8))


def test_a_service_that_overwrites_is_refused(tmp_path: Path, engine, spark, s3) -> None:
    """It takes the condition under which a commit is created, and ignores it."""
    s3.known_to(spark)
    folder = s3.bucket("heedless-of-conditions")
    options = {"table.warehouse": folder, "execution.runtime-mode": "batch", "table.dml-sync": "true"}
    session = open_session(tmp_path, "CREATE TABLE t (id INT) WITH ('connector' = 'delta', 'table-path' = 't')", options=options, engine=engine)
    for _ in range(2):
        with pytest.raises(SqlStreamError, match=f"The service of {folder} overwrites what must be created only if it is absent") as refused:
            list(session.run("INSERT INTO t VALUES (1)"))
        assert "If-None-Match" in (refused.value.hint or "")
    status, objects = s3.request("GET", "/heedless-of-conditions?list-type=2")
    assert status == 200 and b"_delta_log/0" not in objects and b".tried-" not in objects
    session.close()


def test_a_commit_takes_no_others_place(spark, s3) -> None:
    s3.known_to(spark)
    conf, path = spark._jsc.hadoopConfiguration(), spark._jvm.org.apache.hadoop.fs.Path(f"{s3.bucket('commits')}/t/_delta_log/0.json")
    store = spark._jvm.org.apache.spark.sql.delta.storage.DelegatingLogStore(conf).getDelegate(path).logStoreImpl()
    assert store.getClass().getName() == "sqlstream.files.S3LogStore"

    def write(*lines: str, overwrite: bool = False) -> None:
        actions = spark._jvm.java.util.ArrayList()
        for line in lines:
            actions.add(line)
        store.write(path, actions.iterator(), overwrite, conf)

    def read() -> list[str]:
        lines = store.read(path, conf)
        found = []
        while lines.hasNext():
            found.append(lines.next())
        return found

    write("one", "ä")
    # Of the answer to the first try nothing was heard.
    write("one", "ä")
    with pytest.raises(Py4JJavaError, match=r"java\.nio\.file\.FileAlreadyExistsException: s3a://commits/t/_delta_log/0\.json"):
        write("two")
    assert read() == ["one", "ä"]
    write("three", overwrite=True)
    assert read() == ["three"]


SCRIPT = """
CREATE TABLE t (writer STRING, n INT) WITH ('connector' = 'delta', 'table-path' = 'lake/shared by two');
SET;
SHOW CREATE TABLE t;
"""


@pytest.mark.slow
def test_processes_write_into_one_table_on_s3(tmp_path: Path, s3, spark) -> None:
    bucket = s3.bucket("shared")
    secrets = {"spark.hadoop.fs.s3a.access.key": "${env:S3_KEY}", "spark.hadoop.fs.s3a.secret.key": "${env:S3_SECRET}"}
    options = {**s3.settings, **secrets, "execution.runtime-mode": "batch", "table.dml-sync": "true", "spark.master": "local[1]"}
    writers = {}
    for name in ("a", "b"):
        project = tmp_path / name
        project.mkdir()
        settings = "".join(f'"{k}" = "{v}"\n' for k, v in options.items())
        (project / "sqlstream.toml").write_text(f'warehouse = "{bucket.replace("s3a", "s3")}"\n[options]\n{settings}')
        inserts = "".join(f"INSERT INTO t VALUES ('{name}', {n});\n" for n in range(3))
        (project / "job.sql").write_text(SCRIPT + inserts)
        with (project / "said").open("wb") as said:
            writers[project] = subprocess.Popen(
                [sys.executable, "-m", "sqlstream", "--project", str(project), "-f", str(project / "job.sql")], stdin=subprocess.DEVNULL,
                stdout=said, stderr=said, env={**os.environ, "S3_KEY": KEY, "S3_SECRET": SECRET},
            )  # fmt: skip
    for project, writer in writers.items():
        assert writer.wait(300) == 0, (project / "said").read_text()
        for file in [p for p in project.rglob("*") if p.is_file()]:
            content = file.read_bytes()
            assert SECRET.encode() not in content and KEY.encode() not in content, file
    s3.known_to(spark)
    table = spark.read.format("delta").load(f"{bucket}/lake/shared by two")
    assert sorted((r.writer, r.n) for r in table.collect()) == [(name, n) for name in ("a", "b") for n in range(3)]
