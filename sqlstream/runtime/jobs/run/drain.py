"""The end of a job's input: what has arrived is processed, and every open window closes."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core import storage
from sqlstream.plan.nodes import scans
from sqlstream.runtime.jobs.folder.generations import DRAINING, interrupted
from sqlstream.runtime.lower.context import END_OF_INPUT_MS

if TYPE_CHECKING:
    from sqlstream.runtime.jobs.job import Job
    from sqlstream.runtime.jobs.run.streams import Streams


def drain(job: Job, streams: Streams) -> None:
    """Run the queries once more, from where they are up to what their sources have now, and to the end of all time."""
    (job.folder / DRAINING).touch()
    streams.stop_between()
    if any(find_connector(scan.table.connector).reads_in_parts for sink in job.sinks for scan in scans(sink)):
        # The end must not come before the last part.
        streams.run_once()
    end_input(job)
    streams.run_once()


def end_input(job: Job) -> None:
    """Let time come to its end in all queries of the job, which start after this."""
    # What came may have been read already, but not its windows closed: only a new row makes Spark go on.
    control = job.folder / "control"
    if all(interrupted(checkpoint) is None for checkpoint in job.checkpoint.glob("*")):
        # No micro-batch reads those of before again.
        for ended in control.glob("end-*"):
            ended.unlink()
    storage.write(control / f"end-{uuid.uuid4().hex}", str(END_OF_INPUT_MS))
