"""When a query that keeps state in real time is so far behind that micro-batches, which fold the changes of a row, catch up sooner."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlstream.runtime.monitor.metrics import QueryMetrics

# Fewer records that wait, or such that are read within so many seconds, are not worth the two or three seconds of a change.
_MOST_RECORDS = 100_000
_SECONDS = 10.0
# Of a rate that is known.
_RATE_MS = 3_000
# How long micro-batches run at least; twice as long each time that the query is behind again soon, for it has more to do than it can in real time.
_LEAST_SECONDS, _MOST_SECONDS = 5.0, 640.0
_SOON_SECONDS = 600.0


class Backlog:
    """What waits for the queries of a job. ``worked_off``: by micro-batches, now."""

    def __init__(self) -> None:
        self.worked_off = False
        self._rate = 0.0
        self._least = _LEAST_SECONDS
        # When micro-batches may end at the earliest, and when they last did.
        self._until = 0.0
        self._ended = float("-inf")

    def turns(self, queries: Sequence[QueryMetrics], now: float) -> bool:
        """Whether the mode is to change, by the figures of those that keep state; it is noted. ``now``: seconds, of a clock that only goes on."""
        if self.worked_off:
            if now < self._until or any(_waiting(q) > max(_MOST_RECORDS / 10, self._rate) for q in queries):
                return False
            self._ended = now
        else:
            behind = [q for q in queries if q.real_time and _is_behind(q)]
            if not behind:
                return False
            self._rate = min(q.rows_per_second for q in behind)
            self._least = min(2 * self._least, _MOST_SECONDS) if now - self._ended < _SOON_SECONDS else _LEAST_SECONDS
            self._until = now + self._least
        self.worked_off = not self.worked_off
        return True


def _is_behind(query: QueryMetrics) -> bool:
    rate = query.rows_per_second
    return rate > 0 and query.recent[-1][0] - query.recent[0][0] >= _RATE_MS and _waiting(query) > max(_MOST_RECORDS, _SECONDS * rate)


def _waiting(query: QueryMetrics) -> int:
    """Records that no micro-batch has done which has ended: one that runs may do long with what it has read."""
    return sum(p.planned_lag for i in query.inputs for p in i.partitions)
