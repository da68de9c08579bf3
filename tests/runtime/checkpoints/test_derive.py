"""A job stopped at any moment goes on with a checkpoint made from its own, with the rows of one that never stopped."""

from __future__ import annotations

import dataclasses
import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from sqlstream.runtime.checkpoints import CheckpointMapping, QueryRecord, Source, base, derive, mapped, query_record
from sqlstream.runtime.lower.context import Lowering
from sqlstream.runtime.lower.lowering import lower
from sqlstream.runtime.lower.native import in_update_mode
from tests.support.kept import Kept
from tests.support.state_cases import CASES, TIMED, Case, at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from tests.support.printing import PrintingJob

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("interpreted")]

TICKS = {"ticks": f"k STRING, n INT, {TIMED}"}
# Operators of Spark's own.
NATIVE = {
    "window": Case(
        TICKS,
        "k STRING, total INT, c BIGINT",
        "SELECT k, SUM(n), COUNT(*) FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end",
        (("ticks", (("a", 1, at(5)), ("b", 2, at(6)), (None, 3, at(7)))), ("ticks", (("a", 10, at(50)),))),
        (("ticks", (("a", 100, at(55)), ("z", 0, at(130))), ["+I[a, 111, 3]", "+I[b, 2, 1]", "+I[null, 3, 1]"]),),
    ),
    "window of all": Case(
        TICKS,
        "total INT, c BIGINT",
        "SELECT SUM(n), COUNT(DISTINCT k) FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end",
        (("ticks", (("a", 1, at(5)), ("b", 2, at(6)))),),
        (("ticks", (("a", 100, at(55)), ("z", 0, at(130))), ["+I[103, 2]"]),),
    ),
    "session": Case(
        TICKS,
        "k STRING, total INT",
        "SELECT k, SUM(n) FROM TABLE(SESSION(TABLE ticks PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end",
        (("ticks", (("a", 1, at(5)), ("b", 2, at(6)))), ("ticks", (("a", 10, at(13)),))),
        (("ticks", (("a", 100, at(20)), ("z", 0, at(130))), ["+I[a, 111]", "+I[b, 2]"]),),
    ),
    "distinct": Case(
        {"bids": "k STRING, n INT"},
        "k STRING, n INT",
        "SELECT DISTINCT k, n FROM bids",
        (("bids", (("a", 1), ("a", 1), (None, 2))),),
        (("bids", (("a", 1), (None, 2), ("a", 3)), ["+I[a, 3]"]),),
    ),
    "without state": Case(
        {"bids": "k STRING, n INT"},
        "k STRING, n INT",
        "SELECT k, n FROM bids WHERE n > 0",
        (("bids", (("a", 1), ("a", 0))),),
        (("bids", (("a", 7), ("a", -3)), ["+I[a, 7]"]),),
    ),
    "nothing yet": Case(
        {"bids": "k STRING, n INT"},
        "k STRING, c BIGINT",
        "SELECT k, COUNT(*) FROM bids GROUP BY k",
        (),
        (("bids", (("a", 7),), ["+I[a, 1]"]),),
    ),
    "two operators": Case(
        TICKS,
        "k STRING, n INT, c BIGINT",
        "SELECT k, n, COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM"
        " (SELECT k, n, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, n ORDER BY ts) AS r FROM ticks) WHERE r = 1)",
        (("ticks", (("a", 1, at(1)), ("a", 1, at(2)), ("a", 2, at(3)))),),
        (("ticks", (("a", 2, at(4)), ("a", 3, at(5)), ("z", 0, at(6))), ["+I[a, 2, 2]", "+I[a, 3, 3]"]),),
    ),
}
ALL = {**CASES, **NATIVE}


def frame_of(spark, job: PrintingJob) -> tuple[DataFrame, str]:
    """What the job's query is started with, planned once more, and its output mode."""
    sink = job.job.sinks[0]
    kept = job.job.folder / "inputs" / "0"
    to = Lowering(
        spark, streaming=True, batch=False, bounded=False, zone="UTC", project=job.project, state=kept,
        control=job.job.folder / "control", shared=kept.with_name("shared"), node_id=lambda node: type(node).__name__,
    )  # fmt: skip
    return lower(sink, to), "update" if in_update_mode(sink) else "append"


def before(case: Case, project: Path, engine) -> tuple[PrintingJob, Path]:
    """A job that has seen the first rows and stopped, and where its checkpoint has been moved to."""
    job = case.job(project, engine)
    for table, rows in case.before:
        job.feed(table, *rows)
    job.session.jobs.stop(job.job.id)
    moved = project / "moved"
    shutil.move(job.job.checkpoint, moved)
    return job, moved / checkpoint(job).name


def checkpoint(job: PrintingJob) -> Path:
    return job.job.checkpoint / "0_answers"


def goes_on(job: PrintingJob, case: Case) -> None:
    job.start()
    for table, rows, expected in case.after:
        assert job.feed(table, *rows) == expected


@dataclass(frozen=True)
class Stopped:
    """A job as it is after ``before``; ``kept`` is its project by then."""

    case: Case
    job: PrintingJob
    old: Path
    kept: Kept


@pytest.fixture(scope="module", params=ALL)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, engine) -> Iterator[Stopped]:
    case, project = ALL[request.param], tmp_path_factory.mktemp("made")
    job, old = before(case, project, engine)
    yield Stopped(case, job, old, Kept(project))
    job.close()


@pytest.fixture
def stopped(made: Stopped) -> Iterator[Stopped]:
    made.kept.put_back()
    yield made
    made.job.session.jobs.stop(made.job.job.id)


# What `test_planned_anew_in_three_partitions` copies into as many partitions as there were.
COPIED = ("window", "without state", "KeyedJoin", "KeyedAggregate")


@pytest.mark.parametrize("made", [name if name in COPIED else pytest.param(name, marks=pytest.mark.slow) for name in ALL], indirect=True)
def test_the_same_query(stopped: Stopped, engine) -> None:
    job, old = stopped.job, stopped.old
    last = base(engine.spark, str(old))
    assert not last.doubtful
    derive(engine.spark, str(old), str(checkpoint(job)), last.batch)
    assert json.loads((checkpoint(job) / "metadata").read_text()) != json.loads((old / "metadata").read_text())
    assert base(engine.spark, str(checkpoint(job))).batch == min(last.batch, 0)
    shutil.rmtree(old)
    goes_on(job, stopped.case)


@pytest.mark.parametrize("made", ["window", "without state"], indirect=True)
def test_in_three_partitions(stopped: Stopped, engine) -> None:
    job, old = stopped.job, stopped.old
    derive(engine.spark, str(old), str(checkpoint(job)), base(engine.spark, str(old)).batch, CheckpointMapping(partitions=3))
    shutil.rmtree(old)
    goes_on(job, stopped.case)


# The others keep what is copied in the same forms.
PARTED = (
    "window", "session", "distinct", "nothing yet", "two operators", "KeyedJoin", "KeyedRank", "KeyedAggregate", "TemporalJoin", "PatternMatch",
)  # fmt: skip


@pytest.mark.parametrize("made", [n if n in PARTED else pytest.param(n, marks=pytest.mark.slow) for n in ALL if n != "without state"], indirect=True)
def test_planned_anew_in_three_partitions(stopped: Stopped, engine) -> None:
    job, old = stopped.job, stopped.old
    frame, mode = frame_of(engine.spark, job)
    record = query_record(frame, mode)
    assert QueryRecord.from_json(record.to_json()) == record
    assert record.operators
    assert all(o.node is not None for o in record.operators), record
    same = {o.node: o.node for o in record.operators if o.node is not None}
    operators = mapped(record, record, same)
    assert all(number == kept for number, kept in operators.items())
    last = base(engine.spark, str(old)).batch
    mapping = CheckpointMapping([Source(name, name) for name in record.sources], operators, partitions=3)
    derive(engine.spark, str(old), str(checkpoint(job)), last, mapping, record=record, frame=frame, mode=mode)
    shutil.rmtree(old)
    goes_on(job, stopped.case)


def test_a_branch_is_added_and_a_source_renamed(tmp_path: Path, engine) -> None:
    """What another operator had is found by the node; the new one begins empty."""
    case = NATIVE["two operators"]
    job, old = before(case, tmp_path, engine)
    record = query_record(*frame_of(engine.spark, job))
    count = "SELECT k, n, COUNT(*) OVER (PARTITION BY k ORDER BY ts) FROM"
    wider = dataclasses.replace(
        case,
        inputs={"more": f"k STRING, n INT, {TIMED}", **case.inputs},
        query=f"{count} (SELECT k, n, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY ts) AS r FROM more) WHERE r = 1) "
        f"UNION ALL {case.query}",
    )
    job.close()
    # It is known of the other job only that it is of this name.
    shutil.rmtree(job.job.folder / "started")
    shutil.move(tmp_path / "ticks", tmp_path / "kept")
    other = wider.job(tmp_path, engine)
    try:
        other.session.jobs.stop(other.job.id)
        shutil.rmtree(tmp_path / "ticks")
        shutil.move(tmp_path / "kept", tmp_path / "ticks")
        frame, mode = frame_of(engine.spark, other)
        fresh = query_record(frame, mode)
        assert len(fresh.operators) == 4
        assert "more" in fresh.sources
        there = {(o.kind, o.state): o.operator for o in record.operators}
        taken: set[int] = set()
        operators: dict[int, int | None] = {}
        for operator in reversed(fresh.operators):
            found = there.get((operator.kind, operator.state))
            operators[operator.operator] = None if found in taken else found
            taken |= set() if found is None else {found}
        assert sorted(n for n in operators.values() if n is not None) == [0, 1]
        sources = [
            Source(name, name.removesuffix("_2") if name.removesuffix("_2") in record.sources and name != "control" else None)
            for name in fresh.sources
        ]
        last = base(engine.spark, str(old)).batch
        derive(engine.spark, str(old), str(checkpoint(other)), last, CheckpointMapping(sources, operators), record=record, frame=frame, mode=mode)
        other.start()
        other.feed("more", ("z", 9, at(20)))
        assert other.feed("ticks", *case.after[0][1], ("y", 0, at(21))) == [*case.after[0][2], "+I[z, 0, 1]"]
    finally:
        other.close()


def test_a_state_of_another_shape_is_refused(tmp_path: Path, engine) -> None:
    case = NATIVE["window"]
    job, old = before(case, tmp_path, engine)
    record = query_record(*frame_of(engine.spark, job))
    job.close()
    wider = dataclasses.replace(case, query=case.query.replace("COUNT(*)", "COUNT(*) + MAX(n)"))
    (tmp_path / "other").mkdir()
    other = wider.job(tmp_path / "other", engine)
    try:
        other.session.jobs.stop(other.job.id)
        frame, mode = frame_of(engine.spark, other)
        with pytest.raises(Exception, match="The state that is kept is of"):
            derive(
                engine.spark, str(old), str(tmp_path / "new"), base(engine.spark, str(old)).batch, CheckpointMapping(operators={0: 0}),
                record=record, frame=frame, mode=mode,
            )  # fmt: skip
        assert not (tmp_path / "new" / "metadata").exists()
    finally:
        other.close()


def test_a_source_reads_from_elsewhere(tmp_path: Path, engine) -> None:
    """Offsets are set: what was counted stays, and comes again."""
    case = Case({"bids": "k STRING, n INT"}, "k STRING, c BIGINT", "SELECT k, COUNT(*) FROM bids GROUP BY k", (("bids", (("a", 1),)),), ())
    job, old = before(case, tmp_path, engine)
    try:
        record = query_record(*frame_of(engine.spark, job))
        sources = [Source(name, name) if name != "bids" else Source(name) for name in record.sources]
        derive(engine.spark, str(old), str(checkpoint(job)), base(engine.spark, str(old)).batch, CheckpointMapping(sources), record=record)
        job.start()
        assert job.feed("bids", ("b", 1)) == ["+I[b, 1]", "+U[a, 2]", "-U[a, 1]"]
    finally:
        job.close()
