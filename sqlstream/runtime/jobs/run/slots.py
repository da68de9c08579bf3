"""The slots of Spark's for tasks that run as long as their job does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlstream.core.cores import cores
from sqlstream.core.errors import SetupError, ValidationError
from sqlstream.core.job_names import short_name

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from pyspark.sql import SparkSession

# How long a cluster has to give executors, or one in the place of another that has died. Spark waits as long before it begins with fewer
# (spark.scheduler.maxRegisteredResourcesWaitingTime).
_CLUSTER_SECONDS = 30.0
_LOOK_SECONDS = 0.2


def executor_slots(spark: SparkSession) -> int:
    """How many tasks run at once, on all executors that there are now; spark.default.parallelism says nothing of it."""
    context = spark.sparkContext._jsc.sc()
    return int(context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile()))


class Slots:
    """Those that a job may have. ``asked``: whether it has to run in real time; ``busy``: how many other jobs have for as long as they run.

    ``count`` gives all that there are now, ``local`` whether they are on one machine: it never has more. ``stopping`` ends each wait.
    """

    def __init__(
        self, count: Callable[[], int], busy: Callable[[], int], local: Callable[[], bool], stopping: threading.Event, *, asked: bool
    ) -> None:
        self._count = count
        self._busy = busy
        self._stopping = stopping
        self._asked = asked
        self._local = local
        # The most that there were.
        self._seen = 0

    def free(self) -> int:
        """How many there are for the job: on a cluster as soon as it has as many as before, but for a while only."""
        self._wait(lambda: self._count() >= max(self._seen, 1))
        self._seen = max(self._seen, count := self._count())
        return self._room(count)

    def suffice(self, tasks: int, job: str) -> bool:
        """Whether there is one for each of the ``tasks`` of ``job``.

        Raises where it has to run in real time, and there are too few: SetupError on a cluster, which may have more later, else ValidationError.
        """
        if self._asked:
            self._wait(lambda: tasks <= self._room(self._count()))
        slots = self._count()
        fits = tasks <= self._room(slots)
        if fits or not self._asked:
            return fits
        others = f", of which other jobs in real time have {taken}" if (taken := self._busy()) else ""
        message = (
            f"Real time needs a slot of Spark's for each task of job '{short_name(job)}' ({tasks}), and one for all else; there are {slots}{others}."
        )
        needed = taken + tasks + 1
        if self._local():
            raise ValidationError(message, hint=f"'spark.master' = 'local[{needed}]' gives so many on one machine: they mostly wait.")
        raise SetupError(message, hint=f"The executors need {needed} together: 'spark.executor.cores' and 'spark.executor.instances' say how many.")

    def _room(self, slots: int) -> int:
        """Of so many, those that the job may have: where nobody has asked for real time, one a core stays for others, or half of a cluster's."""
        left = 1 if self._asked else cores() if self._local() else (slots + 1) // 2
        return slots - self._busy() - left

    def _wait(self, enough: Callable[[], bool]) -> None:
        end = time.monotonic() + _CLUSTER_SECONDS
        while not (self._local() or enough() or self._stopping.is_set()) and time.monotonic() < end:
            self._stopping.wait(_LOOK_SECONDS)
