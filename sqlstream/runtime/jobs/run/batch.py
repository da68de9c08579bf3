"""Sinks that are written once, all at once: of a static input, and all of a job in batch mode."""

from __future__ import annotations

import json
import uuid
from functools import partial
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core import storage
from sqlstream.core.depth import deeply
from sqlstream.core.java import activate
from sqlstream.plan.nodes import scans
from sqlstream.runtime.jobs.folder.generations import sink_name
from sqlstream.runtime.lower.inputs import input_state
from sqlstream.runtime.lower.lowering import lower
from sqlstream.runtime.queries.watch import BatchQuery

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    from sqlstream.runtime.jobs.run.work import Work


def run_batch(work: Work, sinks: Iterable[int]) -> None:
    """Write these sinks, one after the other, until the job is stopped."""
    job = work.job
    activate(work.spark)
    for index in sinks:
        if job.machine.stopping.is_set():
            return
        sink = job.sinks[index]
        name = sink_name(index, sink)
        work.letters.forget(name)
        frame = deeply(partial(_lowered, work, index))
        query = job.watches[index] = BatchQuery(work.spark, f"{job.id}/{index}", work.report, reads=bool(scans(job.sinks[index])))
        if job.machine.stopping.is_set():
            return
        write = work.write(index, frame, _version(work, index, frame))
        query.run(frame, partial(find_connector(sink.table.connector).write_batch, write))
        work.letters.write_batch(name)


def _lowered(work: Work, index: int) -> DataFrame:
    return lower(work.job.sinks[index], work.lowering(index, streaming=False))


def _version(work: Work, index: int, frame: DataFrame) -> tuple[str, int]:
    """An id that no other write ever gets, kept with the checkpoint, and how often the sink is written by it.

    A job that continues does not write again what is written. In batch mode it does unless the input is known to be the same, and what replaces
    all that is there in any case: it may be another's by now.
    """
    sink = work.job.sinks[index]
    path = work.job.checkpoint / sink_name(index, sink) / "write.json"
    writer, number, read = json.loads(path.read_text()) if path.exists() else (uuid.uuid4().hex, -1, None)
    if number >= 0 and work.settings.streaming:
        return writer, number
    reads = None if sink.overwrite else input_state(frame)
    if reads is None or read != reads:
        number += 1
        storage.write(path, json.dumps([writer, number, reads]))
    return writer, number
