"""Parts of what a stopped job has kept are gone: it is refused with what is missing, and no row is written twice or left out."""

from __future__ import annotations

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.machine import JobStatus
from tests.support.edited import COUNT
from tests.support.sessions import explained, run, submit
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.edited import Project

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]
BOTH = """EXECUTE STATEMENT SET BEGIN
INSERT INTO copied SELECT id, item FROM bids; INSERT INTO counted SELECT item, COUNT(*) FROM bids GROUP BY item;
END;"""


def _emptied(*names: str) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        for name in names:
            for file in (generation / "checkpoint" / "0_copied" / name).iterdir():
                file.unlink()

    return damage


def _last_offsets(generation: Path) -> None:
    offsets = generation / "checkpoint" / "0_copied" / "offsets"
    last = max((p for p in offsets.iterdir() if p.name.isdigit()), key=lambda p: int(p.name))
    last.unlink()
    (offsets / f".{last.name}.crc").unlink(missing_ok=True)


def _deleted(name: str) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        path = generation / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return damage


def _empty(name: str) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        (generation / name).write_text("")

    return damage


def _several(*damages: Callable[[Path], None]) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        for each in damages:
            each(generation)

    return damage


DAMAGES = {
    "offsets and commits": (_emptied("offsets", "commits"), "the checkpoint .*0_copied has no micro-batch, and its table has a later one"),
    "all that says that it has run": (
        _several(_emptied("offsets", "commits"), _deleted("started/0_copied")),
        "the checkpoint .*0_copied has no micro-batch, and its table has a later one",
    ),
    "a list of files": (
        _deleted("checkpoint/0_copied/sources"),
        "a list in .*0_copied/sources of the files that were read is missing, and the offsets name number",
    ),
    "offsets": (_last_offsets, "the offsets in the checkpoint .*0_copied end with micro-batch 1, and the commits in it end with micro-batch 2"),
    "its metadata": (
        _deleted("checkpoint/0_copied/metadata"),
        "the file 'metadata' of the checkpoint .*0_copied, by which tables know their writer, is missing",
    ),
    "a sink's checkpoint": (_deleted("checkpoint/1_counted"), "the checkpoint .*1_counted is missing"),
    "its version": (_deleted("version.json"), "version.json is missing, which says what was run there"),
    "all checkpoints": (_deleted("checkpoint"), "the checkpoint .*(0_copied|1_counted) is missing"),
    "its folder": (_deleted("."), "the folder .*/job/1 is missing"),
    "what it keeps": (_empty("operators/0_copied.json"), "the file .*/operators/0_copied.json is empty"),
    "what its last offsets say": (_empty("checkpoint/0_copied/offsets/2"), "the file .*/0_copied/offsets/2 is empty"),
    "what its last commit says": (_empty("checkpoint/0_copied/commits/2"), "the file .*/0_copied/commits/2 is empty"),
    "what its metadata say": (_empty("checkpoint/0_copied/metadata"), "the file .*/0_copied/metadata is empty"),
}


def test_what_is_damaged_is_refused(on_delta: Project) -> None:
    for number in (1, 2, 3):
        on_delta.feed("bids", (number, "a", 1))
        job = on_delta.submit(BOTH)
        on_delta.session.jobs.stop(job.id)
    whole = on_delta.path / "whole"
    shutil.copytree(job.folder, whole)
    on_delta.feed("bids", (4, "a", 1))
    changed = BOTH.replace("FROM bids;", "FROM bids WHERE id > 0;")
    for damage, said in DAMAGES.values():
        damage(job.folder)
        for mode, statement in (("last-state", BOTH), ("last-state", changed), ("stateless", changed)):
            on_delta.set(mode)
            with pytest.raises(ValidationError, match=said) as refused:
                on_delta.run(statement)
            assert "DROP JOB 'job' forgets the job" in str(refused.value.hint)
            kept = registry.find(on_delta.path / ".sqlstream" / "jobs", "job")
            assert (kept.state, kept.status.error) == ("FAILED", refused.value.message)
            # No table is asked what would become of it.
            told = explained(on_delta.session, f"UPGRADE {statement}")
            assert re.search(said, told) or (statement == changed) or "has no micro-batch" in said
        if damage is DAMAGES["offsets and commits"][0]:
            assert "0_copied has no micro-batch: where its table has one, the job is refused" in explained(on_delta.session, f"UPGRADE {BOTH}")
        shutil.rmtree(job.folder, ignore_errors=True)
        shutil.copytree(whole, job.folder)
    # What was put back goes on as if nothing had been.
    on_delta.run(BOTH)
    assert on_delta.table("copied") == [(str(n), "a") for n in (1, 2, 3, 4)]
    assert on_delta.table("counted") == [("a", "4")]
    # Of a state Spark sees it when it is read.
    shutil.rmtree(job.folder / "checkpoint" / "1_counted" / "state" / "0" / "0")
    on_delta.feed("bids", (5, "a", 1))
    failed = submit(on_delta.session, BOTH)
    assert failed.done.wait(60) and failed.status is JobStatus.FAILED
    assert failed.metrics.hint is not None and failed.metrics.hint.startswith("Put the job's folder back from a copy")


def test_a_folder_that_does_not_say_what_it_is_is_refused(on_delta: Project) -> None:
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run(COUNT)
    file = on_delta.path / ".sqlstream" / "jobs" / "job" / "job.json"
    whole = file.read_text()
    run(on_delta.session, "CREATE TABLE lines (item STRING, n BIGINT) WITH ('connector' = 'blackhole');")
    for damaged in ("", "[]", whole[:20]):
        file.write_text(damaged)
        for statement in (COUNT, COUNT.replace("FROM bids", "FROM bids WHERE id > 0")):
            with pytest.raises(ValidationError, match="job.json, which says what the folder is, can't be read") as refused:
                on_delta.run(statement)
            assert "DROP JOB 'job' forgets the job" in str(refused.value.hint)
            assert "can't be read" in explained(on_delta.session, f"UPGRADE {statement}")
        # It is nothing to others.
        run(on_delta.session, "SET 'pipeline.name' = 'job of another name';")
        on_delta.run(COUNT.replace("counted", "lines"))
        run(on_delta.session, "SET 'pipeline.name' = 'job';")
    file.write_text(whole)
    on_delta.feed("bids", (2, "a", 1))
    on_delta.run(COUNT)
    assert on_delta.table("counted") == [("a", "2")]


@pytest.mark.parametrize("statement", ["INSERT INTO copied SELECT id, item FROM bids", "INSERT INTO copied SELECT id, item FROM bids WHERE id > 0"])
def test_a_table_that_was_deleted_is_told(on_delta: Project, statement: str) -> None:
    on_delta.set("last-state")
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids")
    assert not [line for line in on_delta.said if "is not there" in line]
    shutil.rmtree(on_delta.path / "copied")
    on_delta.feed("bids", (2, "a", 1))
    on_delta.run(statement)
    told = "The table of 'copied', into which job 'job' has written, is not there: it is made anew, and gets the rows that come from now on."
    assert on_delta.said.count(told) == 1
    assert on_delta.table("copied") == [("2", "a")]


def test_a_table_that_is_deleted_while_a_job_writes_into_it_is_told(on_delta: Project) -> None:
    on_delta.feed("bids", (1, "a", 1))
    job = on_delta.submit("INSERT INTO copied SELECT id, item FROM bids")
    shutil.rmtree(on_delta.path / "copied")
    on_delta.feed("bids", (2, "b", 1))
    told = "The table of 'copied' was deleted while job 'job' ran: it is made anew, and has the rows since then."
    until(lambda: told in on_delta.said)
    assert [failure.error for failure in job.machine.state.failures] == [told]
    on_delta.session.jobs.stop(job.id)
    assert on_delta.said.count(told) == 1
    assert on_delta.table("copied") == [("2", "b")]


def test_a_table_that_is_deleted_while_a_job_updates_it_fails_the_job(on_delta: Project) -> None:
    on_delta.feed("bids", (1, "a", 1))
    job = on_delta.submit(COUNT)
    shutil.rmtree(on_delta.path / "counted")
    on_delta.feed("bids", (2, "b", 1))
    assert job.done.wait(60) and job.status is JobStatus.FAILED
    assert "is not a Delta table" in job.machine.state.failures[0].error
    assert job.metrics.hint is not None and job.metrics.hint.startswith("It was deleted. A job that writes into it makes it anew")


def test_a_table_whose_log_has_no_checksums_goes_on(on_delta: Project, spark) -> None:
    """As after a kill in the midst of its commit: Delta then reads all of the log, for a thread that has asked nothing of Spark before."""
    on_delta.feed("bids", (1, "a", 1))
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids")
    # Part of the log is in a checkpoint.
    path = on_delta.path / "copied"
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, str(path)).checkpoint()
    on_delta.feed("bids", (2, "a", 1))
    on_delta.run("INSERT INTO copied SELECT id, item FROM bids")
    for file in (path / "_delta_log").glob("*.crc"):
        file.unlink()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    on_delta.feed("bids", (3, "a", 1))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(on_delta.run, "INSERT INTO copied SELECT id, item FROM bids").result(100)
    assert on_delta.table("copied") == [("1", "a"), ("2", "a"), ("3", "a")]
