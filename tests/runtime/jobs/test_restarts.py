"""Restart strategies: Flink's numbers, and when a job is given up. No JVM."""

from __future__ import annotations

import itertools

import pytest

from sqlstream.core.errors import ValidationError
from sqlstream.runtime.jobs.restarts import ExponentialDelay, FailureRate, FixedDelay, NoRestart, Restarts, failed, strategy

P = "restart-strategy."


def delays(how, moments: list[int], chance: float = 0.5) -> list[int | None]:
    """How long a job waits after each of the failures at ``moments``; None where it is given up."""
    states = itertools.accumulate(moments, lambda before, now: failed(how, before, now, chance), initial=Restarts())
    return [None if state.due is None else state.due - now for state, now in zip(list(states)[1:], moments, strict=True)]


def again_and_again(how, times: int, chance: float = 0.5) -> list[int | None]:
    """The same for a job that fails a second after each start."""
    state, now, waits = Restarts(), 0, []
    for _ in range(times):
        state = failed(how, state, now, chance)
        waits.append(None if state.due is None else state.due - now)
        if state.due is None:
            break
        now = state.due + 1000
    return waits


def test_the_default_is_flinks() -> None:
    how = strategy({})
    assert how == ExponentialDelay(1000, 60_000, 1.5, 3_600_000, 0.1, 2**31 - 1)
    assert again_and_again(how, 12) == [1000, 1500, 2250, 3375, 5062, 7593, 11390, 17085, 25628, 38443, 57665, 60000]


@pytest.mark.parametrize(
    ("type_", "kind"),
    [("none", NoRestart), ("off", NoRestart), ("DISABLE", NoRestart), ("fixed-delay", FixedDelay), ("fixeddelay", FixedDelay),
     ("failure-rate", FailureRate), ("failurerate", FailureRate), ("exponential-delay", ExponentialDelay), ("exponentialdelay", ExponentialDelay)],
)  # fmt: skip
def test_types_have_flinks_names(type_: str, kind: type) -> None:
    assert isinstance(strategy({f"{P}type": type_}), kind)


def test_none_gives_up_at_once() -> None:
    assert again_and_again(NoRestart(), 3) == [None]


def test_a_fixed_delay_has_so_many_attempts() -> None:
    assert strategy({f"{P}type": "fixed-delay"}) == FixedDelay(1, 1000)
    how = strategy({f"{P}type": "fixed-delay", f"{P}fixed-delay.attempts": "3", f"{P}fixed-delay.delay": "10 s"})
    assert again_and_again(how, 9) == [10_000, 10_000, 10_000, None]
    assert again_and_again(FixedDelay(0, 1000), 2) == [None]


def test_a_failure_rate_is_exceeded_within_its_interval_alone() -> None:
    assert strategy({f"{P}type": "failure-rate"}) == FailureRate(1, 60_000, 1000)
    how = FailureRate(2, 10_000, 500)
    assert delays(how, [0, 5000, 10_000]) == [500, 500, None]
    assert delays(how, [0, 5000, 10_001, 16_000, 20_000]) == [500, 500, 500, 500, None]


def test_the_backoff_is_the_first_one_again_after_a_time_without_failure() -> None:
    how = ExponentialDelay(1000, 60_000, 2.0, 30_000, 0.0, 2**31 - 1)
    # The times count from the restart on: the third failure is 30 s after that, the fourth a millisecond less.
    assert delays(how, [0, 2000, 4000 + 30_000, 35_000 + 29_999]) == [1000, 2000, 1000, 2000]


def test_attempts_count_until_the_backoff_is_reset() -> None:
    how = ExponentialDelay(1000, 60_000, 2.0, 30_000, 0.0, 2)
    assert again_and_again(how, 5) == [1000, 2000, None]
    assert delays(how, [0, 2000, 40_000, 42_000]) == [1000, 2000, 1000, 2000]


def test_jitter_stays_between_the_first_and_the_longest() -> None:
    how = ExponentialDelay(1000, 8000, 2.0, 3_600_000, 0.25, 2**31 - 1)
    assert again_and_again(how, 5, chance=0.0) == [1000, 1500, 3000, 6000, 6000]
    assert again_and_again(how, 5, chance=0.999999) == [1249, 2499, 4999, 8000, 8000]


def test_a_job_that_fails_for_years_overflows_nothing() -> None:
    state = failed(ExponentialDelay(1000, 60_000, 1.5, 3_600_000, 0.1, 2**31 - 1), Restarts((), 100_000, 100_000, 0), 10, 0.5)
    assert state.due == 60_010 and state.count == 100_001
    state = Restarts()
    for now in range(5000):
        state = failed(FixedDelay(2**31 - 1, 0), state, now, 0.5)
    assert state.failures == (4999,) and state.count == 5000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exponential-delay.initial-backoff": "2 min"}, "120000 ms is more than 'restart-strategy.exponential-delay.max-backoff', 60000 ms"),
        ({"exponential-delay.initial-backoff": "0 s"}, "0 is less than 1"),
        ({"exponential-delay.backoff-multiplier": "1"}, "1.0 is not greater than 1"),
        ({"exponential-delay.jitter-factor": "1.5"}, "1.5 is not between 0 and 1"),
        ({"type": "failure-rate", "failure-rate.max-failures-per-interval": "0"}, "0 is less than 1"),
        ({"type": "fixed-delay", "fixed-delay.attempts": "-1"}, "-1 is less than 0"),
    ],
)
def test_numbers_that_flink_refuses(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        strategy({P + key: value for key, value in options.items()})
