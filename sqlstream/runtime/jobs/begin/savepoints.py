"""Savepoints: copies of all that a job has kept, with which this or another job begins.

A savepoint is a folder laid out as a generation of a job is: ``version.json``, ``operators``, ``inputs``, and ``checkpoint/<sink>``, each a
checkpoint of its own. ``savepoint.json``, with the hashes of all other files, is written last: a folder without it is none. While one is made or
deleted ``savepoint.unfinished`` says what the folder is.
"""

from __future__ import annotations

import json
import secrets
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.connectors.savepoint.contents import FILE, operators
from sqlstream.connectors.savepoint.hashes import UNFINISHED, check_whole, hashes
from sqlstream.core import storage
from sqlstream.core.errors import ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.runtime.checkpoints import base, derive, read_offsets
from sqlstream.runtime.jobs.begin.upgrades import read_record
from sqlstream.runtime.jobs.folder.generations import OPERATORS, Generation, sink_name, sink_names
from sqlstream.runtime.jobs.folder.versions import Version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.job import Job
    from sqlstream.runtime.jobs.run.work import Work

_LAYOUT = 1
# How often the checkpoint of a query that runs is copied before it is given up.
_TRIES = 5
_PRINTED = "STOP JOB 'id' WITH SAVEPOINT prints the path of one."


@dataclass(frozen=True)
class Savepoint:
    """The savepoint in ``folder``. ``id`` is its own wherever it is moved to; ``job`` the name of the job; ``created`` in seconds since 1970;
    ``files``: the SHA-256 of each file, by its path. ``drained``: all windows of the job were closed before.
    """

    folder: Place
    id: str
    job: str
    created: float
    drained: bool
    files: Mapping[str, str]

    @property
    def generation(self) -> Generation:
        """What was saved."""
        return Generation(self.folder, Version.read(self.folder))

    def check_whole(self, spark: SparkSession) -> None:
        """Read every file. Raises ValidationError where one is not as it was written."""
        check_whole(spark, self.folder, self.files)


def make(job: Job, work: Work, folder: Place, *, drained: bool, notify: Callable[[str], None]) -> Savepoint:
    """A savepoint of ``job``, which reads and writes ``work``, in a new folder below ``folder``: of all that is committed."""
    version = Version.read(job.folder)
    if version is None:
        raise ValidationError(f"There is nothing of job '{short_name(job.name)}' to save: {job.folder} is gone.")
    made = folder / f"{job.folder.parent.name}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
    storage.make(made)
    try:
        storage.write(made / UNFINISHED, "")
        for part in (OPERATORS, "inputs"):
            if (job.folder / part).exists():
                storage.copy(job.folder / part, made / part)
        for index, sink in enumerate(job.sinks):
            checkpoint = job.checkpoint / sink_name(index, sink)
            if not (checkpoint / "metadata").exists():
                continue
            _copy(job, work, index, checkpoint, made / "checkpoint" / sink_name(index, sink), notify)
        version.write(made)
        savepoint = Savepoint(made, uuid.uuid4().hex, job.name, time.time(), drained, hashes(work.spark, made))
        told = {name: getattr(savepoint, name) for name in ("id", "job", "created", "drained", "files")}
        storage.write(made / FILE, json.dumps({"layout": _LAYOUT, **told}, indent=1) + "\n")
        (made / UNFINISHED).unlink()
    except BaseException:
        with suppress(OSError):
            storage.delete(made)
        raise
    return savepoint


def _copy(job: Job, work: Work, index: int, checkpoint: Place, to: Place, notify: Callable[[str], None]) -> None:
    """Make the checkpoint ``to`` from that of a sink's query. Of one that runs, what is copied may be gone meanwhile: then it has come further."""
    sink = job.sinks[index]
    for left in reversed(range(_TRIES)):
        live = job.lives
        # What is being written while the job runs belongs to what comes after the savepoint.
        landed = partial(find_connector(sink.table.connector).landed, work.request(index))
        came = base(work.spark, storage.uri(checkpoint), (lambda query, batch: False) if live else landed)
        try:
            derive(work.spark, storage.uri(checkpoint), storage.uri(to), came.batch)
        except Exception:
            if not live or not left:
                raise
            continue
        if came.doubtful:
            notify(f"'{sink.table.path.name}' may have rows of the last micro-batch that the savepoint does not count: it was interrupted.")
        return


def below(folder: Place) -> list[tuple[Place, Savepoint | None]]:
    """The folders of savepoints in ``folder``, the oldest first; without a savepoint where its copy was not completed, or can't be read."""
    found: list[tuple[Place, Savepoint | None]] = []
    for each in sorted(p for p in folder.glob("*") if p.is_dir()):
        try:
            found.append((each, read(each)))
        except ValidationError:
            found.append((each, None))
    return sorted(found, key=lambda one: one[1].created if one[1] is not None else storage.modified(one[0]))


def exists(folder: Place) -> bool:
    """Whether there is a savepoint in ``folder``, also one that was not completed."""
    return any((folder / name).exists() for name in (UNFINISHED, FILE))


def drop(folder: Place) -> None:
    """Delete the savepoint in ``folder``, also one that was not completed. Raises ValidationError where there is none."""
    # A job's own folder has the same files.
    if not (folder / UNFINISHED).exists():
        read(folder)
        # What is left of it if this ends here is no savepoint any more.
        storage.write(folder / UNFINISHED, "")
    (folder / FILE).unlink(missing_ok=True)
    storage.delete(folder)


def describe(savepoint: Savepoint) -> Mapping[str, str]:
    """What DESCRIBE SAVEPOINT shows: how far each source was read, and each operator that keeps state, with the table that it is."""
    version = Version.read(savepoint.folder)
    assert version is not None and version.plan is not None
    path = savepoint.folder.absolute().as_uri()
    told = {
        "savepoint path": path,
        "job name": savepoint.job,
        "created": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(savepoint.created)),
        "drained": str(savepoint.drained).lower(),
        "version": str(version.number),
        "sqlstream": version.sqlstream,
        "files": str(len(savepoint.files)),
        "statement": version.sql,
    }
    for name in sink_names(savepoint.folder, len(version.plan.sinks)):
        record = read_record(savepoint.folder, name)
        offsets = savepoint.folder / "checkpoint" / name / "offsets" / "0"
        if record is None:
            continue
        if offsets.exists():
            told |= {f"{name}: {source}": offset for source, offset in read_offsets(offsets.read_text(), record.sources).items()}
    for kept in operators(savepoint.folder.absolute()):
        told[f"{kept.uid}: operator"] = f"{kept.kind}: {kept.text}"
        told[f"{kept.uid}: table"] = kept.declaration(path) if kept.columns else "what it keeps can't be read as a table"
    return told


def read(folder: Place) -> Savepoint:
    """The savepoint in this folder. Raises ValidationError where there is none, or one of a newer release."""
    try:
        told = json.loads((folder / FILE).read_text())
        layout = told.pop("layout")
        if layout > _LAYOUT:
            raise ValidationError(f"The savepoint in '{folder}' has layout {layout}, of a newer release: this one reads layouts up to {_LAYOUT}.")
        return Savepoint(folder, **told)
    except FileNotFoundError as error:
        unfinished = (folder / OPERATORS).exists() or (folder / "checkpoint").exists()
        why = f"it has no {FILE}, so that its copy was not completed" if unfinished else f"it has no {FILE}"
        raise ValidationError(f"There is no savepoint in '{folder}': {why}.", hint=_PRINTED) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValidationError(f"The savepoint in '{folder}' can't be read: {error}.", hint="Put it back from a copy.") from error
