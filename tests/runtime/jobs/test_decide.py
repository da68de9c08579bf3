"""How a job begins is decided from what is known alone: no file is read, nobody is asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.plan.upgrade import record
from sqlstream.runtime.jobs.begin.decide import Anew, Circumstances, Continue, GoOn, Recover, decide
from sqlstream.runtime.jobs.begin.placement import Placement
from sqlstream.runtime.jobs.job import JobSettings
from sqlstream.sql.statements.parsing import parse
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from sqlstream.plan.nodes import Sink

DECLARED = """CREATE TABLE a (k STRING, n INT) WITH ('connector' = 'filesystem', 'path' = 'a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (k STRING, n INT) WITH ('connector' = 'filesystem', 'path' = 'b', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE o (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'delta', 'table-path' = 'o');"""
COUNTED = "INSERT INTO o SELECT k, COUNT(*) FROM a GROUP BY k"
FILTERED = "INSERT INTO o SELECT k, COUNT(*) FROM a WHERE n > 1 GROUP BY k"
SUMMED = "INSERT INTO o SELECT k, CAST(SUM(n) AS BIGINT) FROM a GROUP BY k"
OTHER = "INSERT INTO o SELECT k, COUNT(*) FROM b GROUP BY k"


@pytest.fixture
def planned(tmp_path: Path) -> Any:
    session = open_session(tmp_path, DECLARED)

    def of(sql: str) -> tuple[Sink, ...]:
        return (cast("Sink", session.planner.plans(parse(sql))[0].plan),)

    return of


def generation(sinks: tuple[Sink, ...] | None, **more: Any) -> Any:
    """What is kept of a job with this plan; of an earlier release without."""
    version = SimpleNamespace(number=1, plan=None if sinks is None else record(sinks, "UTC"))
    known = {"folder": "jobs/x/1", "is_open": True, "drained": False, "savepoint": None, "has_committed": True, "has_begun": True, **more}
    return SimpleNamespace(version=version, **known)


def now(sinks: tuple[Sink, ...], last: Any = None, *, same: bool = False, settings: dict[str, Any] | None = None, **more: Any) -> Circumstances:
    offsets, code = more.pop("offsets", {}), more.pop("code", ())
    at = Placement(cast("Any", None), "0", last, last, same, last is not None and last.is_open and not same, offsets, code)
    written = more.pop("written", last is not None and last.has_committed)
    return Circumstances("x", sinks, JobSettings("UTC", **(settings or {})), at, written=written, **more)


def refusal(circumstances: Circumstances) -> ValidationError:
    with pytest.raises(ValidationError) as raised:
        decide(circumstances)
    return raised.value


def test_a_new_job(planned: Any) -> None:
    assert decide(now(planned(COUNTED))) == Anew()


def test_the_same_job_continues(planned: Any) -> None:
    sinks = planned(COUNTED)
    last = generation(sinks)
    assert decide(now(sinks, last, same=True)) == Continue(last, ())
    assert decide(now(sinks, last, same=True, code=("F",))) == Continue(last, ("F",))


def test_one_that_has_ended_begins_anew(planned: Any) -> None:
    sinks = planned(COUNTED)
    assert decide(now(sinks, generation(sinks, is_open=False), same=True)) == Anew()
    decided = decide(now(sinks, generation(sinks, is_open=False, drained=True), same=True))
    assert isinstance(decided, Anew) and decided.before is None and "was drained: it starts anew" in decided.notices[0]


@pytest.mark.parametrize(("offsets", "moved", "says"), [({"t": "earliest"}, False, "has other offsets: it resumes where it stopped, but for t"),
                                                        ({}, True, "was moved: it resumes where it stopped, with its state")])  # fmt: skip
def test_the_same_job_from_elsewhere_goes_on_in_another_generation(planned: Any, offsets: dict[str, str], moved: bool, says: str) -> None:
    sinks = planned(COUNTED)
    decided = decide(now(sinks, generation(sinks), same=True, offsets=offsets, moved=moved))
    assert isinstance(decided, GoOn) and not decided.stateless and decided.offsets == offsets and says in decided.notices[0]


def test_a_changed_job_is_asked_how(planned: Any) -> None:
    before = generation(planned(COUNTED))
    changed = planned(FILTERED)
    error = refusal(now(changed, before))
    assert "has changed" in error.message and "'last-state' resumes with offsets and state" in str(error.hint)
    asked = decide(now(changed, before, settings={"agrees": lambda question: pytest.fail("asked")}))
    assert isinstance(asked, GoOn) and asked.loses and "Resume with that state?" in str(asked.question) and asked.declined == error.hint


@pytest.mark.parametrize(("mode", "stateless"), [("last-state", False), ("stateless", True)])
def test_a_changed_job_goes_on_as_it_was_said(planned: Any, mode: str, stateless: bool) -> None:
    before = generation(planned(COUNTED))
    decided = decide(now(planned(FILTERED), before, settings={"upgrade_mode": mode}))
    assert isinstance(decided, GoOn) and (decided.stateless, decided.mode, decided.loses, decided.question) == (stateless, mode, False, None)
    assert decided.notices[0].startswith("Job 'x' has changed: it resumes where it stopped, with")


def test_what_would_be_lost_is_refused_unless_it_may(planned: Any) -> None:
    before, changed = generation(planned(COUNTED)), planned(SUMMED)
    error = refusal(now(changed, before, settings={"upgrade_mode": "last-state"}))
    assert "It can't resume with all of that state" in error.message and "ignore-unclaimed-state" in str(error.hint)
    decided = decide(now(changed, before, settings={"upgrade_mode": "last-state", "may_lose": True}))
    assert isinstance(decided, GoOn) and decided.loses and decided.verdict.lost


def test_a_changed_job_from_its_start(planned: Any) -> None:
    before = generation(planned(COUNTED))
    decided = decide(now(planned(SUMMED), before, settings={"upgrade_mode": "from-start"}))
    assert isinstance(decided, Anew) and decided.before is before and "has changed: it starts anew" in decided.notices[0]


def test_what_has_written_nothing_loses_nothing(planned: Any) -> None:
    before = generation(planned(COUNTED), has_committed=False)
    decided = decide(now(planned(SUMMED), before))
    assert (
        isinstance(decided, GoOn) and decided.loses and "begins where the one before began, which has finished no micro-batch" in decided.notices[0]
    )
    assert "has changed" in refusal(now(planned(SUMMED), before, written=True)).message


def test_what_an_earlier_release_has_kept(planned: Any) -> None:
    before = generation(None)
    assert "is of an earlier release" in refusal(now(planned(COUNTED), before)).message
    assert isinstance(decide(now(planned(COUNTED), before, settings={"upgrade_mode": "from-start"})), Anew)
    assert isinstance(decide(now(planned(COUNTED), generation(None, has_committed=False))), Anew)


def savepoint(sinks: tuple[Sink, ...], **more: Any) -> Any:
    return SimpleNamespace(**{"id": "s", "job": "y", "folder": "savepoints/s", "drained": False, "generation": generation(sinks), **more})


def test_a_savepoint(planned: Any) -> None:
    sinks = planned(COUNTED)
    decided = decide(now(sinks, saved=savepoint(sinks)))
    assert isinstance(decided, Recover) and decided.goes_on.mode == "last-state" and decided.goes_on.question is None
    with_it = generation(sinks, savepoint="s")
    assert decide(now(sinks, with_it, same=True, saved=savepoint(sinks))) == Continue(with_it, ())
    assert isinstance(decide(now(sinks, generation(sinks, savepoint="other"), same=True, saved=savepoint(sinks))), Recover)


@pytest.mark.parametrize(("settings", "saved", "says"), [
    ({"upgrade_mode": "from-start"}, {}, "it can't be both"),
    ({"streaming": False}, {}, "A job in batch mode keeps no state"),
    ({}, {"drained": True}, "was drained before the savepoint"),
])  # fmt: skip
def test_a_savepoint_that_can_not_be_begun_with(planned: Any, settings: dict[str, Any], saved: dict[str, Any], says: str) -> None:
    sinks = planned(COUNTED)
    assert says in refusal(now(sinks, settings=settings, saved=savepoint(sinks, **saved))).message


def test_a_savepoint_of_another_job(planned: Any) -> None:
    error = refusal(now(planned(OTHER), saved=savepoint(planned(COUNTED)), settings={"may_lose": True}))
    assert "which shares nothing with job 'x'" in error.message
