"""A job's states: every event in every state, what threads do to it at once, and the drawing of it in the documentation."""

from __future__ import annotations

import re
import threading
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import JobFailed
from sqlstream.runtime.jobs.machine import LIVING, TRANSITIONS, Event, JobMachine, JobStatus, State
from sqlstream.runtime.jobs.restarts import Restarts

if TYPE_CHECKING:
    from collections.abc import Callable

ERROR = JobFailed("The broker does not answer.")
RESTARTS = Restarts((1,), 1, 1, 2)


def _stopped(machine: JobMachine) -> None:
    machine.stopping.set()
    machine.fail(ERROR)


# What makes each event happen.
MAKES: dict[Event, Callable[[JobMachine], object]] = {
    Event.HELD_BACK: lambda machine: machine.hold_back(),
    Event.REFUSED: lambda machine: machine.refuse(ERROR),
    Event.RETRIED: lambda machine: machine.retry(ERROR, RESTARTS),
    Event.STARTED: lambda machine: machine.started(),
    Event.FINISHED: lambda machine: machine.end(lambda: None),
    Event.GIVEN_UP: lambda machine: machine.fail(ERROR),
    Event.STOPPED: _stopped,
}


@pytest.mark.parametrize(("status", "event"), [*product(JobStatus, Event)], ids=lambda each: each.name)
def test_every_event_in_every_state(status: JobStatus, event: Event) -> None:
    machine = JobMachine(State(status))
    before, after = machine.state, TRANSITIONS[status].get(event)
    if after is None:
        with pytest.raises(RuntimeError, match=f"A job that is {status.value} can't be told that {event.value}"):
            MAKES[event](machine)
        assert machine.state == before
        return
    MAKES[event](machine)
    state = machine.state
    assert state.status is after
    assert (state.error is ERROR) is (event in (Event.REFUSED, Event.GIVEN_UP))
    assert (state.failure is ERROR) is (event is Event.RETRIED)
    assert [f.error for f in state.failures] == [ERROR.message] * (event in (Event.RETRIED, Event.GIVEN_UP))
    assert state.held_back is (event is Event.HELD_BACK)


def test_what_has_ended_stays_so() -> None:
    assert {status for status, events in TRANSITIONS.items() if not events} == {JobStatus.FINISHED, JobStatus.FAILED, JobStatus.CANCELED}
    assert LIVING == ("RUNNING", "RESTARTING")
    for status in JobStatus:
        machine = JobMachine(State(status))
        assert machine.ask() is machine.ask(drain=True) is State(status).lives
        assert (machine.stopping.is_set(), machine.draining.is_set()) == (State(status).lives,) * 2


def test_it_is_told_that_it_runs_again() -> None:
    machine = JobMachine()
    assert not machine.started()
    machine.retry(ERROR, RESTARTS)
    assert machine.started() and not machine.started()
    assert (machine.state.restarts, machine.state.failure) == (RESTARTS, ERROR)


def test_one_that_was_stopped_has_neither_finished_nor_failed() -> None:
    for end in (lambda m: m.end(lambda: pytest.fail("finished")), lambda m: m.fail(ERROR)):
        machine = JobMachine()
        assert machine.ask()
        end(machine)
        assert (machine.state.status, machine.state.error, machine.state.failures) == (JobStatus.CANCELED, None, ())


def test_one_that_can_not_write_down_that_it_has_finished_has_failed() -> None:
    machine = JobMachine()

    def full() -> None:
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        machine.end(full)
    assert machine.state.status is JobStatus.RUNNING
    machine.fail(ERROR)
    assert machine.state.status is JobStatus.FAILED


def test_nothing_is_asked_of_one_that_writes_down_that_it_has_finished() -> None:
    said: list[bool] = []
    machine = JobMachine()
    machine.end(lambda: said.append(machine.ask()))
    assert said == [False] and machine.state.status is JobStatus.FINISHED and not machine.stopping.is_set()


def test_stop_and_finish_at_once() -> None:
    """Whoever is told that a job is being stopped finds it so, and nobody is told that of one that has finished."""
    seen = set()
    for _ in range(300):
        machine, told, both = JobMachine(), [], threading.Barrier(2)

        def stop(machine: JobMachine = machine, told: list[bool] = told, both: threading.Barrier = both) -> None:
            both.wait()
            told.append(machine.ask())

        thread = threading.Thread(target=stop)
        thread.start()
        both.wait()
        machine.end(lambda: None)
        thread.join()
        assert machine.state.status is (JobStatus.CANCELED if told[0] else JobStatus.FINISHED)
        seen.add(told[0])
    assert seen


def test_a_folder_is_let_go_of_by_the_last_who_reads_it() -> None:
    machine, let_go = JobMachine(), []
    with machine.reading():
        with machine.reading():
            machine.unread(lambda: let_go.append(1))
        machine.unread(lambda: let_go.append(2))
        assert let_go == []
    machine.unread(lambda: let_go.append(3))
    assert let_go == [3]


def test_the_documentation_draws_it() -> None:
    page = Path(__file__).parents[3].joinpath("docs", "architecture.md").read_text("utf-8")
    drawn = {(a, e, b) for a, e, b in re.findall(r"^\| `(\w+)` \| (.+?) \| `(\w+)` \|$", page, re.M)}
    assert drawn == {(a.value, e.value, b.value) for a, events in TRANSITIONS.items() for e, b in events.items()}
