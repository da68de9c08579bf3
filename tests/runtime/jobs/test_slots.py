"""How many slots a job in real time may have, while a cluster comes and goes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.runtime.jobs.run import slots as slots_module
from sqlstream.runtime.jobs.run.slots import Slots, executor_slots

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


def given(*counts: int) -> Callable[[], int]:
    """Each as it is asked for, the last one from then on."""
    left = list(counts)
    return lambda: left.pop(0) if len(left) > 1 else left[0]


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    monkeypatch.setattr(slots_module, "_CLUSTER_SECONDS", 0.5)
    monkeypatch.setattr(slots_module, "_LOOK_SECONDS", 0.01)
    return threading.Event()


def slots(count: Callable[[], int], stopping: threading.Event, *, asked: bool = True, local: bool = False, busy: int = 0) -> Slots:
    return Slots(count, lambda: busy, lambda: local, stopping, asked=asked)


def test_a_cluster_is_waited_for_until_its_executors_have_come(stopping: threading.Event) -> None:
    assert slots(given(0, 2, 4, 6), stopping).suffice(5, "j")
    assert slots(given(0, 0, 0, 8), stopping, asked=False).free() == 4


def test_an_executor_that_has_died_is_waited_for(stopping: threading.Event) -> None:
    auto = slots(given(8, 8, 4, 4, 8), stopping, asked=False)
    assert auto.free() == 4
    # Not with the two that half of the cluster leaves.
    assert auto.free() == 4


def test_a_cluster_that_stays_smaller_is_taken_as_it_is(stopping: threading.Event) -> None:
    auto = slots(given(8, 8, 4), stopping, asked=False)
    assert [auto.free(), auto.free()] == [4, 2]
    assert not auto.suffice(3, "j")


def test_too_few_on_a_cluster_may_be_over_later(stopping: threading.Event) -> None:
    with pytest.raises(
        SetupError, match=r"each task of job 'j' \(5\), and one for all else; there are 6, of which other jobs in real time have 2\."
    ) as raised:
        slots(given(6), stopping, busy=2).suffice(5, "j")
    assert raised.value.heals and "The executors need 8 together" in str(raised.value.hint)


def test_one_machine_has_no_more_later(stopping: threading.Event) -> None:
    counts = given(2, 8)
    with pytest.raises(ValidationError, match="there are 2") as raised:
        slots(counts, stopping, local=True).suffice(5, "j")
    assert "'local[6]'" in str(raised.value.hint) and not raised.value.heals


def test_a_job_that_is_stopped_waits_no_longer(stopping: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots_module, "_CLUSTER_SECONDS", 60.0)
    stopping.set()
    with pytest.raises(SetupError):
        slots(given(1), stopping).suffice(5, "j")


@pytest.mark.spark
def test_slots_are_those_that_the_master_has(spark: SparkSession) -> None:
    assert executor_slots(spark) == int(spark.sparkContext.master.removeprefix("local[").removesuffix("]"))
