"""What jobs and sessions keep is bounded: generations, writers' numbers in sinks, ends of inputs, logs, archives, what a kill has left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from sqlstream.core import kept
from sqlstream.core.errors import ValidationError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.runtime.engine import java_process, python_archives
from sqlstream.runtime.jobs.folder import retention
from sqlstream.runtime.jobs.folder.generations import JobFolder, interrupted
from sqlstream.runtime.jobs.folder.versions import Version
from sqlstream.runtime.queries import select
from tests.support.sessions import open_session, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

# Holds the lock of a file until it is killed.
HOLD = "import fcntl, sys, time; fcntl.flock(f := open(sys.argv[1]), fcntl.LOCK_SH); print('held', flush=True); time.sleep(60)"


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    folder = JobFolder(tmp_path / "a", "a")
    folder.path.mkdir()
    folder.describe(())
    return folder


def begin(folder: JobFolder) -> Path:
    generation = folder.next_generation()
    Version(1, "d", "INSERT").write(generation)
    return generation


def generations(folder: JobFolder) -> list[str]:
    return [g.folder.name for g in folder.generations()]


def test_the_last_generations_stay_with_their_numbers(folder: JobFolder) -> None:
    for number in range(25):
        generation = begin(folder)
        (generation / "checkpoint" / "0_a").mkdir(parents=True)
        (generation / "finished").touch(exist_ok=True)
        if number == 10:
            # As where the deletion was interrupted.
            (folder.path / "9" / "inputs").mkdir()
        retention.retain(folder, "run", lambda sink, writer: None)
    assert generations(folder) == [str(number) for number in range(6, 26)]
    assert sorted(p.parent.name for p in folder.path.glob("*/checkpoint")) == ["23", "24", "25"]
    assert {p.name for p in folder.path.glob("*/*")} == {"version.json", "finished", "checkpoint"}
    assert not any(g.is_open for g in folder.generations())
    assert begin(folder).name == "26"


def test_a_generation_that_never_began_is_deleted(folder: JobFolder) -> None:
    for name in ("1", "3", "5"):
        (folder.path / name / "checkpoint").mkdir(parents=True)
    for name in ("2", "4"):
        Version(1, "d", "INSERT").write(folder.path / name)
    retention.retain(folder, "run", lambda sink, writer: None)
    # What comes after the latest is being made.
    assert sorted(p.name for p in folder.path.iterdir()) == ["2", "4", "5", "job.json"]


def test_sinks_forget_the_writers_of_what_is_deleted(folder: JobFolder) -> None:
    for number in range(5):
        generation = begin(folder)
        for name, file, text in (("0_a", "metadata", {"id": f"q{number}"}), ("1_b", "write.json", [f"w{number}", 0, None])):
            (generation / "checkpoint" / name).mkdir(parents=True)
            (generation / "checkpoint" / name / file).write_text(json.dumps(text))
    forgotten: list[tuple[str, str]] = []
    retention.retain(folder, "run", lambda *what: forgotten.append(what))
    assert sorted(forgotten) == [("0_a", "q0"), ("0_a", "q1"), ("1_b", "w0"), ("1_b", "w1")]


def test_what_could_not_be_deleted_is_the_next_time(folder: JobFolder) -> None:
    for _ in range(4):
        begin(folder)
    (folder.path / "1" / "checkpoint" / "0_a").mkdir(parents=True)
    (folder.path / "1" / "checkpoint" / "0_a" / "metadata").write_text('{"id": "q"}')

    def refuse(sink: str, writer: str) -> None:
        raise OSError("the sink is away")

    with pytest.raises(OSError, match="is away"):
        retention.retain(folder, "run", refuse)
    assert generations(folder) == ["1", "2", "3", "4"]
    (folder.path / "1" / "inputs" / "half").mkdir(parents=True)
    retention.retain(folder, "run", lambda sink, writer: None)
    assert generations(folder) == ["1", "2", "3", "4"]
    assert [p.name for p in (folder.path / "1").iterdir()] == ["version.json"]


def test_what_earlier_runs_in_batch_mode_read(folder: JobFolder) -> None:
    inputs = begin(folder) / "inputs"
    for name in ("0", "shared", "a" * 32, "b" * 32):
        (inputs / name).mkdir(parents=True)
    retention.retain(folder, "b" * 32, lambda sink, writer: None)
    assert sorted(p.name for p in inputs.iterdir()) == ["0", "b" * 32, "shared"]


@pytest.mark.parametrize(("offsets", "commits", "expected"), [((), (), None), ((0,), (), 0), ((9, 10), (9,), 10), ((9, 10), (9, 10), None)])
def test_an_interrupted_micro_batch(tmp_path: Path, offsets: tuple[int, ...], commits: tuple[int, ...], expected: int | None) -> None:
    for log, numbers in (("offsets", offsets), ("commits", commits)):
        (tmp_path / log).mkdir()
        (tmp_path / log / ".10.crc").touch()
        for number in numbers:
            (tmp_path / log / str(number)).touch()
    assert interrupted(tmp_path) == expected


def test_the_log_of_a_jvm_is_put_aside_and_still_tells_of_its_death(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_process, "_LOOK_SECONDS", 0.05)
    # This one is not the JVM of the other tests.
    monkeypatch.setattr(java_process.JavaProcess, "latest", java_process.JavaProcess.latest)
    monkeypatch.setattr(kept.rotate, "__defaults__", (100, 3))
    for number in range(9):
        (tmp_path / f"hs_err_{number}.log").touch()
    (tmp_path / "jvm.log").write_text("x" * 90)
    said = "import time; print('y' * 50, flush=True); time.sleep(1); print('java.lang.OutOfMemoryError: heap', flush=True); raise SystemExit(3)"
    process = java_process.JavaProcess([sys.executable, "-c", said], dict(os.environ), tmp_path, lambda process: None)
    assert process.ended_within(30)
    assert process.death is not None
    assert "OutOfMemoryError: heap" in process.death.message
    assert (tmp_path / "jvm.log.1").read_text().startswith("x" * 90 + "y")
    assert len(list(tmp_path.glob("hs_err_*"))) == 5


def test_unpacked_archives_that_nobody_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_archives, "_held", held := [])
    file = tmp_path / "a.zip"
    place = ProjectFolder(tmp_path).archives
    holder = None
    for number in range(5):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("module.py", "x" * number)
        made = python_archives.unpacked({"python.archives": str(file)}, tmp_path)
        assert made is not None
        if number == 0:
            # Another process has it.
            holder = subprocess.Popen([sys.executable, "-c", HOLD, str(made.with_suffix(".lock"))], stdout=subprocess.PIPE)
            assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
            first = made
        held.pop().close()
    assert holder is not None
    assert {p.name for p in place.iterdir() if p.is_dir()} >= {first.name, made.name}
    assert len([p for p in place.iterdir() if p.is_dir()]) == 3
    assert (first / "a.zip" / "module.py").exists()
    holder.kill()
    holder.communicate()


def test_what_a_killed_process_has_left_of_a_select(tmp_path: Path) -> None:
    place = ProjectFolder(tmp_path).scratch
    mine = select._scratch(tmp_path)
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = place / mine.name.replace(str(os.getpid()), str(gone.pid), 1)
    elsewhere = place / f"select-{gone.pid}@another.host-x"
    left.mkdir()
    elsewhere.mkdir()
    again = select._scratch(tmp_path)
    assert sorted(place.iterdir()) == sorted([mine, again, elsewhere])


def test_how_many_checkpoints_are_kept_must_be_a_number(tmp_path: Path) -> None:
    session = open_session(
        tmp_path, "CREATE TABLE n (n INT) WITH ('connector' = 'datagen'); CREATE TABLE b (n INT) WITH ('connector' = 'blackhole');"
    )
    list(session.run("SET 'state.checkpoints.num-retained' = '0'"))
    with pytest.raises(ValidationError, match="must be at least 1"):
        list(session.run("EXPLAIN UPGRADE INSERT INTO b SELECT n FROM n"))


TABLES = """
CREATE TABLE numbers (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'numbers', 'format' = 'json');
CREATE TABLE live (n INT) WITH ('connector' = 'filesystem', 'path' = 'numbers', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE counts (n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'counts', 'format' = 'json');
CREATE TABLE copies (n INT) WITH ('connector' = 'filesystem', 'path' = 'copies', 'format' = 'json');
SET 'table.dml-sync' = 'true';
"""
COUNT = "INSERT INTO counts SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end"


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_a_job_that_is_run_every_day(tmp_path: Path, engine) -> None:
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / "1.json").write_text('{"n": 1, "ts": "2026-01-01 00:00:00"}\n')
    session = open_session(tmp_path, TABLES, engine=engine)
    for _ in range(6):
        list(session.run(COUNT))
    (job,) = {j.folder.parent for j in session.jobs}
    assert sorted(p.parent.name for p in job.glob("*/checkpoint")) == ["4", "5", "6"]
    assert sorted(p.parent.name for p in job.glob("*/version.json")) == ["1", "2", "3", "4", "5", "6"]
    assert len(list((tmp_path / "counts" / ".sqlstream").iterdir())) == 3
    rows = [line for file in (tmp_path / "counts").glob("part-*") for line in file.read_text().splitlines()]
    assert rows == ['{"n":1}'] * 6
    session.close()


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_ends_of_an_input_that_was_read_to_its_end_again_and_again(tmp_path: Path, engine) -> None:
    """As where each kill comes after the last micro-batch, and before the job is done."""
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / "1.json").write_text('{"n": 1, "ts": "2026-01-01 00:00:00"}\n')
    session = open_session(tmp_path, TABLES, engine=engine)
    for number in range(4):
        list(session.run(COUNT))
        (folder,) = {j.folder for j in session.jobs}
        (folder / "finished").unlink()
        assert len(list((folder / "control").iterdir())) == min(number, 1), number
    rows = [line for file in (tmp_path / "counts").glob("part-*") for line in file.read_text().splitlines()]
    assert rows == ['{"n":1}']
    session.close()


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_how_many_checkpoints_are_kept(tmp_path: Path, engine) -> None:
    (tmp_path / "numbers").mkdir()
    session = open_session(tmp_path, TABLES + "SET 'table.dml-sync' = 'false'; SET 'execution.checkpointing.num-retained' = '3';", engine=engine)
    before = engine.spark.conf.get("spark.sql.streaming.minBatchesToRetain")
    job = submit(session, "INSERT INTO copies SELECT n FROM live")
    assert engine.spark.conf.get("spark.sql.streaming.minBatchesToRetain") == before
    commits = job.checkpoint / "0_copies" / "commits"

    def ensure_it_lives() -> None:
        assert job.lives

    for number in range(9):
        (tmp_path / "numbers" / f"{number}.json").write_text(f'{{"n": {number}}}\n')
        until(lambda number=number: (commits / str(number)).exists(), every=0.01, meanwhile=ensure_it_lives)
    session.jobs.stop(job.id)
    assert len([p for p in commits.iterdir() if p.name.isdigit()]) <= 4
    session.close()
