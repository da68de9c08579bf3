"""A query that keeps state in real time works a large backlog off by micro-batches."""

from __future__ import annotations

from dataclasses import replace

from sqlstream.runtime.jobs.run.backlog import Backlog
from sqlstream.runtime.monitor.metrics import Batch, Input, Partition, QueryMetrics


def figures(waiting: int, rate: int, *, real_time: bool = True, seconds: float = 4) -> QueryMetrics:
    """Those of a query that reads so many records a second, for as many seconds, and has so many before it."""
    recent = ((0, 0), (int(seconds * 1000), int(seconds * rate)))
    return QueryMetrics(inputs=(Input("topic", 0, (Partition("topic-0", 7, 7 + waiting),)),), recent=recent, real_time=real_time)


def test_what_takes_longer_than_a_change_of_modes() -> None:
    assert Backlog().turns([figures(1_000_000, 30_000)], 0)
    assert Backlog().turns([figures(0, 30_000), figures(1_000_000, 30_000)], 0)
    # It is read within ten seconds.
    assert not Backlog().turns([figures(290_000, 30_000)], 0)
    # Too few for two changes.
    assert not Backlog().turns([figures(50_000, 10)], 0)
    # By micro-batches already, or without figures yet.
    assert not Backlog().turns([figures(1_000_000, 30_000, real_time=False)], 0)
    assert not Backlog().turns([figures(1_000_000, 30_000, seconds=2)], 0)
    assert not Backlog().turns([figures(1_000_000, 0)], 0)
    assert not Backlog().turns([QueryMetrics(real_time=True), QueryMetrics()], 0)
    assert not Backlog().turns([], 0)


def test_it_goes_on_in_real_time_when_it_has_caught_up() -> None:
    backlog = Backlog()
    assert backlog.turns([figures(1_000_000, 30_000)], 100)
    assert backlog.worked_off
    by_batches = figures(31_000, 400_000, real_time=False)
    assert not backlog.turns([by_batches], 120)
    # What is read in real time within a second.
    caught_up = figures(29_000, 400_000, real_time=False)
    assert not backlog.turns([caught_up, by_batches], 121)
    assert not backlog.turns([caught_up], 104)
    assert backlog.turns([caught_up], 121)
    assert not backlog.worked_off
    assert not backlog.turns([figures(29_000, 30_000)], 122)


def test_what_a_micro_batch_has_read_still_waits() -> None:
    """One that is cut off is done again."""
    backlog = Backlog()
    assert backlog.turns([figures(1_000_000, 30_000)], 0)
    running = replace(figures(1_000_000, 400_000, real_time=False), batch=Batch(1_000_000, 1_000_000, 0, None, 4, 2))
    assert running.lag == 0
    assert not backlog.turns([running], 60)


def test_who_is_behind_again_soon_stays_longer() -> None:
    """With more to do than it can in real time it would change for ever."""
    backlog, now, stays = Backlog(), 0.0, []
    for _ in range(10):
        assert backlog.turns([figures(1_000_000, 30_000)], now)
        began = now
        while not backlog.turns([figures(0, 0, real_time=False)], now):
            now += 1
        stays.append(now - began)
        now += 60
    assert stays == [5, 10, 20, 40, 80, 160, 320, 640, 640, 640]
    now += 600
    assert backlog.turns([figures(1_000_000, 30_000)], now)
    assert backlog.turns([figures(0, 0, real_time=False)], now + 5)
