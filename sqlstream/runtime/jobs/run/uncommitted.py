"""What queries in real time have written after their last offsets: a file below the folder of the job for each that has begun to.

One that has died reads the same again, maybe in another order: what it wrote is taken back first, in whatever way the job goes on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core import storage
from sqlstream.core.job_names import short_name
from sqlstream.runtime.checkpoints.base import standing

if TYPE_CHECKING:
    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.job import Job
    from sqlstream.runtime.jobs.run.work import Work

_FOLDER = "uncommitted"
# By how much the clocks of brokers, drivers and executors may differ, in seconds.
_SKEW = 60.0


def mark(job: Job, index: int, name: str) -> None:
    """The query of a sink, whose checkpoint is called so, begins to write rows that are in no checkpoint."""
    places = find_connector((table := job.sinks[index].table).connector).places(table, written=True)
    said = {"checkpoint": f"{job.folder.name}/checkpoint/{name}", "places": places}
    storage.make(_folder(job))
    storage.write(_folder(job) / f"{job.folder.name}-{name}.json", json.dumps(said) + "\n")


def take_back(work: Work) -> None:
    """Take back what is in no checkpoint, of this generation of the job or of one before, into the tables that it writes."""
    job = work.job
    marks = {file: json.loads(file.read_text()) for file in _folder(job).glob("*.json")}
    for index, sink in enumerate(job.sinks):
        connector, home = find_connector(sink.table.connector), job.folder.parent
        places = list(connector.places(sink.table, written=True))
        found = {file: home / said["checkpoint"] for file, said in marks.items() if said["places"] == places}
        committed, since = {}, []
        for checkpoint in found.values():
            query, _, last = standing(work.spark, storage.uri(checkpoint))
            # Where it was never begun, or is gone, nothing was written that could be known.
            if query:
                committed[query] = last
                since.append(_begun(checkpoint, last) - _SKEW if last >= 0 else 0.0)
        if committed and (count := connector.take_back(work.request(index), committed, max(0.0, min(since)))):
            rows, are = (f"{count:,} rows", "are") if count > 1 else ("A row", "is")
            work.notify(f"Job '{short_name(job.name)}': {rows} of '{sink.table.path.name}' written after the last offsets {are} taken back.")
        for file in found:
            file.unlink(missing_ok=True)
            del marks[file]


def _begun(checkpoint: Place, batch: int) -> float:
    """When Spark began a micro-batch, in seconds since 1970: files have other times after a copy."""
    _, metadata, *_ = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
    return float(json.loads(metadata)["batchTimestampMs"]) / 1000


def _folder(job: Job) -> Place:
    return job.folder.parent / _FOLDER
