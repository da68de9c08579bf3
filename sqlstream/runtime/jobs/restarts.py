"""Restart strategies: after a failure that can heal, when a job is started again, or that it is given up. Flink's strategies, with its numbers.

In: the session's options; what has happened to the job so far; the clock. Out: the same with one more failure. Nothing here waits, or reads a clock.
Moments and durations are milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.core import settings
from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Restarts:
    """What has happened to a job. ``failures``: the moments of its latest failures, as many as the strategy counts; ``attempt``: how often it was
    started again since the backoff began anew, and ``count`` since it was submitted; ``due``: when it was, or is to be, started again after the
    latest failure, None where it is given up.
    """

    failures: tuple[int, ...] = ()
    attempt: int = 0
    count: int = 0
    due: int | None = None


@dataclass(frozen=True)
class NoRestart:
    """A job that fails has failed."""


@dataclass(frozen=True)
class FixedDelay:
    """So many times, each after the same time."""

    attempts: int
    delay: int


@dataclass(frozen=True)
class FailureRate:
    """As long as no more than so many failures come within an interval."""

    most: int
    interval: int
    delay: int


@dataclass(frozen=True)
class ExponentialDelay:
    """After a time that grows with each failure, up to ``longest``, and is the ``first`` one again when the job has run for ``reset`` without one.

    ``jitter``: by which part of it the time is made longer or shorter at random. ``attempts``: after so many of them the job is given up.
    """

    first: int
    longest: int
    multiplier: float
    reset: int
    jitter: float
    attempts: int


Strategy: TypeAlias = NoRestart | FixedDelay | FailureRate | ExponentialDelay


def strategy(options: Mapping[str, str]) -> Strategy:
    """The strategy that SET keys ask for. Raises ValidationError for a number that Flink refuses."""
    match settings.read(options, "restart-strategy.type").replace("-", ""):
        case "fixeddelay":
            return FixedDelay(_least(options, "fixed-delay.attempts", 0), _least(options, "fixed-delay.delay", 0))
        case "failurerate":
            return FailureRate(
                _least(options, "failure-rate.max-failures-per-interval", 1),
                _least(options, "failure-rate.failure-rate-interval", 1),
                _least(options, "failure-rate.delay", 0),
            )
        case "exponentialdelay":
            return _exponential(options)
    return NoRestart()


def _exponential(options: Mapping[str, str]) -> ExponentialDelay:
    first = _least(options, "exponential-delay.initial-backoff", 1)
    longest = _least(options, "exponential-delay.max-backoff", 1)
    if first > longest:
        raise _refused("exponential-delay.initial-backoff", f"{first} ms is more than 'restart-strategy.exponential-delay.max-backoff', {longest} ms")
    multiplier = _value(options, "exponential-delay.backoff-multiplier")
    if multiplier <= 1:
        raise _refused("exponential-delay.backoff-multiplier", f"{multiplier} is not greater than 1")
    jitter = _value(options, "exponential-delay.jitter-factor")
    if not 0 <= jitter <= 1:
        raise _refused("exponential-delay.jitter-factor", f"{jitter} is not between 0 and 1")
    reset = _least(options, "exponential-delay.reset-backoff-threshold", 1)
    return ExponentialDelay(first, longest, multiplier, reset, jitter, _least(options, "exponential-delay.attempts-before-reset-backoff", 1))


def _value(options: Mapping[str, str], key: str) -> float:
    return float(settings.read(options, f"restart-strategy.{key}"))


def _least(options: Mapping[str, str], key: str, least: int) -> int:
    value = int(settings.read(options, f"restart-strategy.{key}"))
    if value < least:
        raise _refused(key, f"{value} is less than {least}")
    return value


def _refused(key: str, why: str) -> ValidationError:
    return ValidationError(f"Invalid value for 'restart-strategy.{key}': {why}.")


def failed(how: Strategy, before: Restarts, now: int, chance: float) -> Restarts:
    """``before`` with a failure at ``now``. ``chance``: a random number, at least 0 and less than 1."""
    failures = (*before.failures, now)[-(how.most + 1 if isinstance(how, FailureRate) else 1) :]
    attempt, delay = before.attempt, None
    match how:
        case FixedDelay() if before.attempt < how.attempts:
            delay = how.delay
        case FailureRate() if sum(now - at <= how.interval for at in failures) <= how.most:
            delay = how.delay
        case ExponentialDelay():
            if before.due is None or now - before.due >= how.reset:
                attempt = 0
            if attempt < how.attempts:
                delay = _backoff(how, attempt, chance)
    if delay is None:
        return Restarts(failures, attempt, before.count)
    return Restarts(failures, attempt + 1, before.count + 1, now + delay)


def _backoff(how: ExponentialDelay, attempt: int, chance: float) -> int:
    try:
        backoff = min(how.first * how.multiplier**attempt, float(how.longest))
    except OverflowError:
        backoff = float(how.longest)
    return max(how.first, min(int(backoff + backoff * how.jitter * (2 * chance - 1)), how.longest))
