"""python.archives and python.executable on one machine: unpacked, found, refused. No Spark but in the last test."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from sqlstream.core.errors import SetupError, SqlStreamError, ValidationError
from sqlstream.runtime.engine.failures import start_error
from sqlstream.runtime.engine.python_archives import executable, unpacked
from sqlstream.runtime.engine.session import Engine, spark_conf
from sqlstream.session.session import Session


@pytest.fixture
def tar(tmp_path: Path) -> Path:
    path = tmp_path / "env.tar.gz"
    with tarfile.open(path, "w:gz") as out:
        for name, text, mode in (("libs/d.txt", "data", 0o644), ("bin/python", "#!/bin/sh\n", 0o755)):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(text), mode
            out.addfile(member, io.BytesIO(text.encode()))
    return path


def test_archives_are_unpacked_once(tar: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "tools.zip", "w") as out:
        info = zipfile.ZipInfo("run.sh")
        info.external_attr = 0o755 << 16
        out.writestr(info, "#!/bin/sh\n")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "x").write_text("x")
    options = {"python.archives": f"{tar}#env, {tmp_path / 'tools.zip'}, {tmp_path / 'plain'}#folder"}
    place = unpacked(options, tmp_path)
    assert place is not None
    assert place.parent == tmp_path / ".sqlstream" / "archives"
    assert (place / "env" / "libs" / "d.txt").read_text() == "data"
    assert (place / "folder" / "x").read_text() == "x"
    assert [(place / p).stat().st_mode & stat.S_IXUSR != 0 for p in ("tools.zip/run.sh", "env/bin/python", "env/libs/d.txt")] == [True, True, False]
    assert executable(options | {"python.executable": "env/bin/python"}, place) == str(place / "env" / "bin" / "python")
    before = (place / "env").stat().st_mtime_ns
    assert unpacked(options, tmp_path) == place
    assert (place / "env").stat().st_mtime_ns == before
    assert [p for p in place.parent.iterdir() if p.is_dir()] == [place]
    os.utime(tar, (1, 1))
    assert unpacked(options, tmp_path) != place
    assert unpacked({}, tmp_path) is None


def test_nothing_is_written_outside(tmp_path: Path) -> None:
    evil = tmp_path / "evil.tar"
    with tarfile.open(evil, "w") as out:
        out.addfile(tarfile.TarInfo("../../../../outside.txt"))
    linked = tmp_path / "linked.tar"
    with tarfile.open(linked, "w") as out:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        out.addfile(link)
        out.addfile(tarfile.TarInfo("link/outside.txt"))
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as zipped:
        zipped.writestr("../../../../outside.txt", "x")
    for archive in (evil, linked):
        with pytest.raises(ValidationError, match=rf"The archive '{archive}' cannot be unpacked \(python.archives\): "):
            unpacked({"python.archives": str(archive)}, tmp_path)
    unpacked({"python.archives": str(tmp_path / "evil.zip")}, tmp_path)
    assert [p for p in tmp_path.rglob("outside.txt") if ".sqlstream" not in p.parts] == []
    assert [p.name for p in (tmp_path / ".sqlstream" / "archives").glob(".unpacking-*")] == []
    with pytest.raises(ValidationError, match="would be unpacked outside its folder"):
        unpacked({"python.archives": f"{evil}#../x"}, tmp_path)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"python.archives": "nofile.tar.gz#env"}, "There is no file 'nofile.tar.gz' (python.archives)."),
        ({"python.archives": "nofile.tar.gz", "spark.master": "spark://localhost:1"}, "There is no file 'nofile.tar.gz' (python.archives)."),
        ({"python.archives": "hdfs://x/a.zip"}, "'hdfs://x/a.zip' is not a file on this machine (python.archives)."),
        ({"python.executable": "env/bin/python"}, "There is no program 'env/bin/python' (python.executable)."),
    ],
)
def test_what_is_not_there_is_told_before_spark_starts(
    options: dict[str, str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlstream.runtime.engine.session.require_java", lambda: pytest.fail("Spark was started"))
    with pytest.raises(SqlStreamError) as raised:
        getattr(Engine(tmp_path, lambda: options, print), "spark")  # noqa: B009
    assert raised.value.message.startswith(problem)


def test_a_broken_archive(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(b"no archive")
    with pytest.raises(ValidationError, match="cannot be unpacked"):
        unpacked({"python.archives": str(tmp_path / "a.tar.gz")}, tmp_path)


def test_only_executors_are_sent_archives() -> None:
    assert "spark.archives" not in spark_conf({"python.archives": "a.zip"}, [])
    for master in ("spark://localhost:7077", "local-cluster[1,1,1024]"):
        assert spark_conf({"python.archives": "a.zip#env", "spark.master": master}, [])["spark.archives"] == "a.zip#env"


def test_why_spark_did_not_start(tmp_path: Path) -> None:
    stack = (
        "An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.\n: org.apache.spark.SparkException: failed\n"
        "\tat org.apache.spark.X.y(X.scala:1)\nCaused by: java.nio.file.NoSuchFileException: /x/env.zip\n\tat java.base/z\n\t... 3 more\n"
    )
    found = start_error(Exception(stack), tmp_path)
    assert found.message == "Spark did not start: NoSuchFileException: /x/env.zip"
    assert found.hint == f"See spark.log and jvm.log in {tmp_path}."
    assert start_error(Exception(stack.split("Caused")[0]), tmp_path).message == "Spark did not start: SparkException: failed"
    assert start_error(RuntimeError(), tmp_path).message == "Spark did not start: RuntimeError"
    assert isinstance(found, SetupError)


def test_what_workers_are_started_with_is_given_before(tmp_path: Path) -> None:
    engine = SimpleNamespace(started=False)
    session = Session(tmp_path, notify=lambda line: None, engine=engine)  # type: ignore[arg-type]
    list(session.run("SET 'python.executable' = 'python3'"))
    engine.started = True
    list(session.run("SET 'python.executable' = 'python3'"))
    for key, flag in (("python.executable", "-pyexec"), ("python.archives", "-pyarch")):
        with pytest.raises(ValidationError) as raised:
            list(session.run(f"SET '{key}' = 'other'"))
        assert raised.value.message == f"'{key}' can no longer be set: Spark has started."
        assert raised.value.hint == f"Set it before the first query, or with {flag}, or in sqlstream.toml."
    for reset in ("RESET 'python.executable'", "RESET"):
        with pytest.raises(ValidationError, match=r"'python.executable' can no longer be set"):
            list(session.run(reset))
    assert session.options["python.executable"] == "python3"


def test_what_spark_was_started_with_is_told(tmp_path: Path) -> None:
    engine = SimpleNamespace(started=False)
    session = Session(tmp_path, options={"spark.a": "1"}, notify=lambda line: None, engine=engine)  # type: ignore[arg-type]
    engine.started = True
    told = ("A new value of 'spark.a' has no effect: Spark has started. Set it with -D, or in sqlstream.toml.",)
    for statement, notices in (("SET 'spark.a' = '1'", ()), ("SET 'spark.a' = '2'", told), ("RESET 'spark.a'", told), ("RESET", ())):
        assert [o.notices for o in session.run(statement)] == [notices]


@pytest.mark.spark
def test_functions_stand_beside_archives(tar: Path, tmp_path: Path) -> None:
    """In a process of its own: workers are started with a session's Spark."""
    script = f'#!/bin/sh\nexport MARK=archive\nexec {sys.executable} "$@"\n'
    with tarfile.open(tmp_path / "env2.tar", "w") as out:
        member = tarfile.TarInfo("bin/python")
        member.size, member.mode = len(script), 0o755
        out.addfile(member, io.BytesIO(script.encode()))
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "f.py").write_text(
        "import os\nfrom sqlstream.udf import udf\n@udf\ndef read(x: str) -> str:\n    return open(x).read() + ' ' + os.environ['MARK']\n"
    )
    flags = ["-pyarch", f"{tar}#env", "-pyarch", "env2.tar#env2", "-pyexec", "env2/bin/python", "--master", "local[1]", "--output", "json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-m", "sqlstream", *flags, "-e", "SET 'execution.runtime-mode' = 'batch'; SELECT read('env/libs/d.txt') AS r"],
        capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
    )  # fmt: skip
    assert '{"r": "data archive"}' in done.stdout, done.stdout + done.stderr
