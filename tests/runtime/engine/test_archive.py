"""The archive of the JVM's classes: its place, its build by one process, and a JVM that uses it, or does without."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from sqlstream.cli import archiving
from sqlstream.core import jars, sealed
from sqlstream.core.errors import JobFailed, SetupError
from sqlstream.runtime.engine import archive, jvm
from sqlstream.runtime.java import jar, libraries

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = jars.cache_dir()
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def class_path(tmp_path: Path) -> list[Path]:
    path = tmp_path / "a.jar"
    path.write_bytes(b"1")
    return [path]


def test_its_name_is_of_the_java_and_the_jars(cache: Path, class_path) -> None:
    before = archive.archive_path(class_path)
    assert before.parent == cache and archive.archive_path(class_path) == before
    class_path[0].write_bytes(b"12")
    assert archive.archive_path(class_path) != before


@pytest.mark.parametrize(("value", "enabled", "builds"), [(None, True, True), ("off", False, False), ("no-build", True, False)])
def test_the_variable_that_turns_it_off(value: str | None, enabled: bool, builds: bool, monkeypatch) -> None:
    monkeypatch.delenv(archive.SWITCH) if value is None else monkeypatch.setenv(archive.SWITCH, value)
    assert (archive.enabled(), archive.builds()) == (enabled, builds)


def test_one_waits_for_another_that_builds_it(cache: Path, monkeypatch) -> None:
    monkeypatch.setattr(os, "nice", lambda by: by)
    target = cache / "classes-1.jsa"
    monkeypatch.setattr(archiving, "_run", lambda project, part, base: part.write_bytes(b"classes"))
    with (cache / "classes.lock").open("a") as other, ThreadPoolExecutor(1) as pool:
        fcntl.flock(other, fcntl.LOCK_EX)
        built = pool.submit(archiving.build, target, wait=True)
        with pytest.raises(TimeoutError):
            built.result(0.2)
        fcntl.flock(other, fcntl.LOCK_UN)
        assert built.result(60) and target.exists()


def test_one_process_builds_it(cache: Path, monkeypatch) -> None:
    ran: list[Path] = []

    def run(project: Path, part: Path, base: Path | None) -> None:
        ran.append(part)
        part.write_bytes(b"classes")

    monkeypatch.setattr(archiving, "_run", run)
    monkeypatch.setattr(os, "nice", lambda by: by)
    target = cache / "classes-3.jsa"
    with (cache / "classes.lock").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not archiving.build(target)
    (cache / ".classes-killed").mkdir()
    for number in (1, 2):
        (cache / f"classes-{number}.jsa").write_bytes(b"old")
        os.utime(cache / f"classes-{number}.jsa", (number, number))
    assert archiving.build(target) and target.read_bytes() == b"classes"
    assert not archiving.build(target), "there is one"
    assert len(ran) == 1 and ran[0].parent != cache, "it is moved into its place when it is whole"
    assert sorted(p.name for p in cache.glob("*.jsa")) == ["classes-2.jsa", "classes-3.jsa"]
    assert not list(cache.glob(".classes-*"))


DUMPS = """#!/bin/sh
for option in "$@"; do case "$option" in -XX:SharedArchiveFile=*) echo classes >"${option#*=}" ;; esac; done
"""


def test_a_java_without_an_archive_of_its_own_classes_gets_one(cache: Path, tmp_path: Path, monkeypatch) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(DUMPS)
    java.chmod(0o755)
    (tmp_path / "jdk" / "release").write_text('JAVA_VERSION="21.0.8"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setattr(os, "nice", lambda by: by)
    bases: list[Path | None] = []
    monkeypatch.setattr(archiving, "_run", lambda project, part, base: (bases.append(base), part.write_bytes(b"x")))
    one = cache / "classes-1.jsa"
    assert archiving.build(one) and archive.is_intact(one)
    (base,) = bases
    assert base is not None and base.parent == cache and base.read_text() == "classes\n"
    base.unlink()
    assert not archive.is_intact(one), "it stands upon another"
    assert archiving.build(one) and archive.is_intact(one)
    archive.remove(one)
    assert not list(cache.glob("classes-*"))
    own = tmp_path / "jdk" / "lib" / "server" / "classes.jsa"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"own")
    assert archiving.build(one) and bases[-1] is None and not list(cache.glob("*.base"))


def test_a_jvm_that_writes_none_is_an_error(cache: Path, monkeypatch) -> None:
    monkeypatch.setattr(archiving, "_run", lambda project, part, base: None)
    monkeypatch.setattr(os, "nice", lambda by: by)
    with pytest.raises(SetupError, match="did not write an archive"):
        archiving.build(cache / "classes-1.jsa")


class Hanging:
    """An engine and its session, whose JVM answers when it was killed."""

    def __init__(self, *_: object, **__: object) -> None:
        self.killed = threading.Event()

    def kill(self) -> None:
        self.killed.set()

    def run(self, script: str) -> None:
        assert self.killed.wait(30)
        raise JobFailed("Spark's JVM was killed.")


def test_a_jvm_that_hangs_is_ended(cache: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(archiving, "LIMIT_SECONDS", 0.2)
    monkeypatch.setattr(os, "nice", lambda by: by)
    hanging = Hanging()
    monkeypatch.setattr(archiving, "Engine", lambda *_: hanging)
    monkeypatch.setattr(archiving, "Session", lambda *_, **__: hanging)
    with pytest.raises(SetupError, match="did not write an archive of its classes within"):
        archiving.build(cache / "classes-1.jsa")
    (java := tmp_path / "java").write_text("#!/bin/sh\nexec sleep 60\n")
    java.chmod(0o755)
    monkeypatch.setattr(archiving, "require_java", lambda: java)
    with pytest.raises(SetupError, match="did not write an archive of its classes within"):
        archiving._dump(tmp_path / "part", tmp_path / "base")


def test_a_cache_that_cannot_be_written_has_none(tmp_path: Path) -> None:
    archive.build_later(tmp_path / "no such folder" / "classes-1.jsa")
    assert not (tmp_path / "no such folder").exists()


def test_two_sessions_that_end_at_once(cache: Path, monkeypatch) -> None:
    started = []
    monkeypatch.setattr(archiving, "_run", lambda project, part, base: (started.append(1), time.sleep(0.5), part.write_bytes(b"x")))
    monkeypatch.setattr(os, "nice", lambda by: by)
    both = [threading.Thread(target=archiving.build, args=(cache / "classes-1.jsa",)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(started) == 1


def test_the_jvm_starts_without_one_that_it_does_not_start_with(tmp_path: Path) -> None:
    one = tmp_path / "classes-1.jsa"
    asked: list[list[str]] = []

    def start(options: list[str]) -> str:
        asked.append(options)
        if len(options) > 1:
            raise SetupError("Spark's JVM did not start.")
        return "gateway"

    assert archive.started(start, ["-Da=b"], one) == "gateway" and asked == [["-Da=b"]], "there is none"
    one.write_bytes(b"no archive")
    assert archive.started(start, ["-Da=b"], one) == "gateway" and len(asked) == 2, "nobody knows that it is whole"
    sealed.seal(one)
    # Of a Java that has brought none, the archive that it stands upon is beside it.
    base = archive.base_of(one)
    if base is not None:
        base.write_bytes(b"no archive")
        sealed.seal(base)
    assert archive.started(start, ["-Da=b"], one) == "gateway"
    assert [len(options) for options in asked] == [1, 1, 5, 1]
    assert not one.exists()


# With less to run than usual.
BUILD = """
import sys
from pathlib import Path
from sqlstream.cli import archiving
archiving.WORKLOAD = "SELECT 'a' || 'b' AS x; CREATE TABLE t (n INT) WITH ('connector' = 'delta', 'table-path' = 't'); SELECT n FROM t;"
assert archiving.build(Path(sys.argv[1]))
"""
# It leaves no process behind that builds one.
SESSION = """
import sys
from sqlstream.cli import main as cli
from sqlstream.runtime.engine import archive
archive.build_later = lambda archive: None
sys.exit(cli.main(["--project", sys.argv[1], "-D", "spark.driver.extraJavaOptions=-Xlog:class+load=info:file=" + sys.argv[2],
                   "-D", "execution.runtime-mode=batch", "-e", "SELECT 'a' || 'b' AS x"]))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch) -> Path:
    """A real archive, in a cache of its own."""
    real = jars.cache_dir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = jars.cache_dir()
    folder.mkdir(parents=True)
    for path in real.iterdir():
        if path.suffix in (".jar", ".sha256"):
            (folder / path.name).symlink_to(path)
    place = archive.archive_path(jvm.class_path(libraries(), [*jars.ensure("spark"), jar(print)]))
    subprocess.run([sys.executable, "-c", BUILD, str(place)], check=True, capture_output=True)
    assert place.stat().st_size > 10_000_000
    return place


def answered(project: Path, log: Path) -> str:
    """The log of the classes that the JVM of a session with archives loads. The session answers, and says nothing of archives."""
    environment = {**os.environ, archive.SWITCH: "on"}
    command = [sys.executable, "-c", SESSION, str(project), str(log)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert "ab" in done.stdout and "CDS" not in done.stdout + done.stderr and "archive" not in done.stdout + done.stderr
    return log.read_text()


@pytest.mark.spark
@pytest.mark.slow
def test_a_real_one_is_built_and_used(place: Path, tmp_path: Path) -> None:
    used = answered(tmp_path, tmp_path / "with.log")
    assert used.count("source: shared objects file (top)") > 5_000
    assert "io.delta" in "".join(line for line in used.splitlines() if "shared objects file (top)" in line)


@pytest.mark.spark
@pytest.mark.slow
def test_a_corrupt_one_is_no_harm(place: Path, tmp_path: Path) -> None:
    with place.open("r+b") as file:
        file.truncate(place.stat().st_size // 2)
    assert "shared objects file (top)" not in answered(tmp_path, tmp_path / "cut.log")
    sealed.seal(place)
    assert "shared objects file (top)" not in answered(tmp_path, tmp_path / "crashing.log")
    assert not place.exists(), "the JVM does not start with it"
