"""What is fed to the jobs, from a seed, and which rows have to come out: a model in Python that knows nothing of sqlstream."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from confluent_kafka import Producer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Rows: TypeAlias = "Counter[tuple[int, ...]]"

KEYS, PARTITIONS = 40, 3
STEP_MS = 200  # of event time between two events
DELAY_MS, GAP_MS = 1_000, 4_100
# So that no time is the edge of a window; neither is the gap a multiple of the step.
_EVENT_MS, _RATE_MS = 37, 11


@dataclass(frozen=True)
class Event:
    id: int
    k: int
    v: int
    ts: int


@dataclass(frozen=True)
class Rate:
    k: int
    price: int
    ts: int


class Load:
    """Events in three partitions by key, each in the order of time, as lines of files as well; rates of the keys in a topic of changes."""

    def __init__(self, seed: int, lines: Path) -> None:
        self.events: list[Event] = []
        self.rates: list[Rate] = []
        self._chance = random.Random(seed)
        self._lines = lines
        lines.mkdir(parents=True)

    def send(self, bootstrap: str, count: int) -> None:
        """Send ``count`` further events; returns when the broker has them, each once."""
        producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 5, "log_level": 0})
        failed: list[object] = []
        begun = len(self.events)

        def send(topic: str, key: int, partition: int, value: Event | Rate) -> None:
            heard = lambda error, _: failed.append(error) if error else None
            producer.produce(topic, json.dumps(vars(value)), json.dumps({"k": key}), partition, on_delivery=heard)

        for n in range(begun, begun + count):
            # Some keys come more often than others.
            if self._chance.random() < 0.3:
                rate = Rate(self._chance.randrange(KEYS), n, n * STEP_MS + _RATE_MS)
                self.rates.append(rate)
                send("rates", rate.k, 0, rate)
            k = min(self._chance.randrange(KEYS), self._chance.randrange(KEYS))
            event = Event(n, k, self._chance.randrange(100), n * STEP_MS + _EVENT_MS)
            self.events.append(event)
            send("events", k, k % PARTITIONS, event)
        try:
            left = producer.flush(60)
        except SystemError as error:
            # What confluent-kafka makes of a signal whose handler raises.
            raise KeyboardInterrupt from error
        if left or failed:
            raise RuntimeError(f"the broker has not taken all events: {failed}")
        part = self._lines / f".{begun}"
        part.write_text("".join(json.dumps(vars(e)) + "\n" for e in self.events[begun:]))
        part.rename(self._lines / f"{begun}.json")

    @property
    def watermark(self) -> int:
        """That of the events: the least over the partitions."""
        latest = {e.k % PARTITIONS: e.ts for e in self.events}
        return min(latest.values()) - DELAY_MS if len(latest) == PARTITIONS else -1

    # Per shape, all rows of its sink, up to what has been sent.

    def copies(self) -> Rows:
        return Counter((e.id, e.k, e.v) for e in self.events)

    def odd(self) -> Rows:
        return Counter((e.id, e.k, e.v) for e in self.events if e.id % 2)

    def totals(self) -> Rows:
        """By key how many events, and the sum of their values."""
        return Counter((k, len(own), sum(e.v for e in own)) for k, own in self._by_key().items())

    def sizes(self) -> Rows:
        """For each number of events how many keys have so many, and the sum of their values."""
        found: dict[int, tuple[int, int]] = {}
        for _, n, total in self.totals():
            keys, sums = found.get(n, (0, 0))
            found[n] = keys + 1, sums + total
        return Counter((n, *values) for n, values in found.items())

    def priced(self) -> Rows:
        """Each event with the rate of its key at its time."""
        if not self.rates:
            return Counter()
        until = min(self.watermark, self.rates[-1].ts - DELAY_MS)
        rows: Rows = Counter()
        prices: dict[int, int] = {}
        rates = iter([*self.rates, None])
        rate = next(rates)
        for e in self.events:
            while rate is not None and rate.ts <= e.ts:
                prices[rate.k] = rate.price
                rate = next(rates)
            if e.ts <= until and e.k in prices:
                rows[e.id, e.k, prices[e.k]] += 1
        return rows

    def sessions(self) -> Rows:
        """Key, first and last time, number of events, sum of values of each session that has ended."""
        rows: Rows = Counter()
        for k, own in self._by_key().items():
            for session in _sessions(own):
                if session[-1].ts + GAP_MS - 1 <= self.watermark:
                    rows[k, session[0].ts, session[-1].ts, len(session), sum(e.v for e in session)] += 1
        return rows

    def rises(self) -> Rows:
        """By key an event below 50 and the one behind it that is not."""
        rows: Rows = Counter()
        for k, own in self._by_key().items():
            for a, b in pairwise(own):
                if a.v < 50 <= b.v and b.ts <= self.watermark:
                    rows[k, a.id, b.id] += 1
        return rows

    def pairs(self) -> Rows:
        """Each event with its value once more, if that is not below 50."""
        return Counter((e.id, e.v, e.v if e.v >= 50 else -1) for e in self.events)

    def lows(self) -> Rows:
        """The events whose value is below 50."""
        return Counter((e.id, e.v) for e in self.events if e.v < 50)

    def best(self) -> Rows:
        """By key and place, from 1, the three events of the highest values."""
        found: Rows = Counter()
        for k, own in self._by_key().items():
            best = sorted(own, key=lambda e: (-e.v, e.id))[:3]
            found.update((k, n, e.id) for n, e in enumerate(best, 1))
        return found

    def newest(self) -> Rows:
        """By key the latest event."""
        return Counter((k, own[-1].id) for k, own in self._by_key().items())

    def _by_key(self) -> dict[int, list[Event]]:
        found: dict[int, list[Event]] = defaultdict(list)
        for e in self.events:
            found[e.k].append(e)
        return found


def _sessions(events: Iterable[Event]) -> list[list[Event]]:
    found: list[list[Event]] = []
    for e in events:
        if found and e.ts - found[-1][-1].ts < GAP_MS:
            found[-1].append(e)
        else:
            found.append([e])
    return found
