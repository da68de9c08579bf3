"""What is said of jobs: those of the server, and those that other processes of the project have."""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.control.status import Status
from sqlstream.runtime.monitor.reporting.families import FAMILIES
from sqlstream.server.answers import NotThere

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sqlstream.runtime.jobs.job import Job
    from sqlstream.runtime.jobs.jobs import Jobs
    from sqlstream.runtime.monitor.metrics import JobMetrics
    from sqlstream.runtime.monitor.reporting.families import Reported

# The states of Flink's tasks: a job's operators are shown as one task for each sink, which is in the state of the job.
_TASK_STATES = ("CANCELED", "CANCELING", "CREATED", "DEPLOYING", "FAILED", "FINISHED", "INITIALIZING", "RECONCILING", "RUNNING", "SCHEDULED")
_OF_TASKS = {"RESTARTING": "SCHEDULED", "SUSPENDED": "CANCELED", "FAILING": "FAILED", "CANCELLING": "CANCELING"}
_OVER = ("CANCELED", "FAILED", "FINISHED", "SUSPENDED")


@dataclass(frozen=True)
class Shown:
    """A job as it is shown. Times are seconds since 1970; ``ended`` is None while it runs. ``metrics`` are those of a job of this process."""

    id: str
    name: str
    state: str
    started: float
    ended: float | None
    error: str | None
    sinks: tuple[str, ...]
    metrics: JobMetrics | None = None
    streaming: bool = True

    @property
    def now(self) -> float:
        return time.time() if self.ended is None else self.ended


def shown(jobs: Jobs) -> Iterator[Shown]:
    """All jobs of the project: first the server's, in the order in which they were submitted."""
    own = list(jobs)
    ids, folders = {job.id for job in own}, {job.folder.parent for job in own if job.lives}
    yield from map(_own, own)
    yield from _elsewhere(jobs, ids, folders)


def find(jobs: Jobs, id_: str) -> Shown:
    """The job of this id. Raises NotThere."""
    found = next((job for job in shown(jobs) if job.id == id_), None)
    if found is None:
        raise NotThere(f"Job {id_} not found")
    return found


def _own(job: Job) -> Shown:
    metrics = job.metrics
    written = None if job.lives else Status.read(job.folder.parent)
    ended = None if job.lives else job.started if written is None or written.id != job.id else written.written
    return Shown(job.id, job.name, metrics.status, job.started, ended, metrics.error, tuple(job.sink_names), metrics, job.streaming)


def _elsewhere(jobs: Jobs, ids: set[str], folders: set[Any]) -> Iterator[Shown]:
    for record in registry.records(jobs.folders.jobs):
        if record.id and record.id not in ids and record.path not in folders:
            since = 0.0 if record.status is None else record.status.since
            written = since if record.status is None else record.status.written
            state = record.state
            yield Shown(record.id, record.name, state, since, written if state in _OVER else None, record.error, (record.name,))


# --- as Flink's interface has it --------------------------------------------------------------------------------------


def overview(job: Shown) -> dict[str, Any]:
    """A job in the list of all."""
    return {
        "jid": job.id,
        "name": job.name,
        "start-time": _ms(job.started),
        "end-time": -1 if job.ended is None else _ms(job.ended),
        "duration": _ms(job.now - job.started),
        "state": job.state,
        "last-modification": _ms(job.now if job.ended is not None else job.started),
        "tasks": {"running": 0, **_tasks(job, lower=True)},
        "pending-operators": 0,
        "job-type": "STREAMING" if job.streaming else "BATCH",
    }


def details(job: Shown) -> dict[str, Any]:
    """All of a job."""
    general = overview(job)
    return {
        "jid": job.id,
        "name": general["name"],
        "isStoppable": job.streaming and job.ended is None,
        "state": job.state,
        "job-type": general["job-type"],
        "start-time": general["start-time"],
        "end-time": general["end-time"],
        "duration": general["duration"],
        "maxParallelism": -1,
        "now": _ms(time.time()),
        "timestamps": {job.state: _ms(job.ended or job.started)},
        "vertices": [_vertex(job, number) for number in range(len(job.sinks))],
        "status-counts": _tasks(job),
        "plan": plan(job),
        "pending-operators": 0,
    }


def plan(job: Shown) -> dict[str, Any]:
    """The plan of a job: a node for each sink."""
    same = {"parallelism": 1, "operator": "", "operator_strategy": "", "optimizer_properties": {}}
    nodes = [{"id": vertex_id(job, number), "description": f"Sink: {name}", **same} for number, name in enumerate(job.sinks)]
    return {"jid": job.id, "name": job.name, "type": "STREAMING" if job.streaming else "BATCH", "nodes": nodes}


def exceptions(job: Shown) -> dict[str, Any]:
    """Why a job has failed."""
    entries = []
    if job.error is not None:
        entries.append({"exceptionName": "JobFailed", "stacktrace": job.error, "timestamp": _ms(job.now), "concurrentExceptions": []})
    return {
        "root-exception": job.error,
        "timestamp": _ms(job.now) if job.error is not None else None,
        "all-exceptions": [],
        "truncated": False,
        "exceptionHistory": {"entries": entries, "truncated": False},
    }


def checkpoints(job: Shown) -> dict[str, Any]:
    """How many micro-batches of a job have ended: each is a checkpoint."""
    queries = () if job.metrics is None else job.metrics.queries
    done = sum(query.batches for query in queries)
    last, took = max(((query.batch_ended, query.batch_ms or 0) for query in queries if query.batch_ended is not None), default=(None, 0))
    size = None if job.metrics is None else job.metrics.state_bytes
    completed = None
    if done and last is not None:
        completed = {
            "@class": "completed", "id": done, "status": "COMPLETED", "is_savepoint": False, "checkpoint_type": "CHECKPOINT",
            "trigger_timestamp": last - took, "latest_ack_timestamp": last, "state_size": size or 0, "end_to_end_duration": took,
            "num_subtasks": len(job.sinks), "num_acknowledged_subtasks": len(job.sinks), "tasks": {}, "discarded": False,
        }  # fmt: skip
    counts = {"restored": 0, "total": done, "in_progress": 0, "completed": done, "failed": 0}
    return {
        "counts": counts,
        "latest": {"completed": completed, "savepoint": None, "failed": None, "restored": None},
        "history": [completed] if completed else [],
    }


def named_metrics(job: Shown, reported: Reported | None, vertex: str | None, asked: Collection[str] | None) -> list[dict[str, str]]:
    """The metrics of a job, or of its ``vertex``, by Flink's names: those that are ``asked`` for, with their values; None for the names of all.
    Of a job of another process there are none. Raises NotThere.
    """
    vertices = [vertex_id(job, number) for number in range(len(job.sinks))]
    if vertex is not None and vertex not in vertices:
        raise NotThere(f"Vertex {vertex} not found in job {job.id}")
    if reported is None:
        return []
    task = None if vertex is None else reported.tasks[vertices.index(vertex)]
    found = _of_job(reported) if task is None else _of_task(reported, task)
    return [{"id": name} if asked is None else {"id": name, "value": f"{value:.15g}"} for name, value in found if asked is None or name in asked]


def _of_job(reported: Reported) -> Iterator[tuple[str, float]]:
    start = "flink_jobmanager_job_"
    for family in FAMILIES:
        if family.name.startswith(start):
            yield from ((family.name.removeprefix(start), value) for _, value in family.samples(reported) if value is not None)


def _of_task(reported: Reported, task: str) -> Iterator[tuple[str, float]]:
    start = "flink_taskmanager_job_task_operator_"
    for family in FAMILIES:
        if family.name.startswith(start):
            for (of, operator, number, *more), value in family.samples(reported):
                if of == task and value is not None:
                    name = family.name.removeprefix(start).removeprefix("KafkaSourceReader_topic_partition_" if more else "")
                    where = ["KafkaSourceReader", "topic", more[0], "partition", more[1]] if more else []
                    yield ".".join([number, re.sub(r"\W", "_", operator), *where, name]), value


def cluster(jobs: list[Shown], slots: int, version: str) -> dict[str, Any]:
    """The overview of all."""
    states = Counter(job.state for job in jobs)
    running = states["RUNNING"] + states["RESTARTING"] + states["INITIALIZING"]
    return {
        "taskmanagers": 1,
        "slots-total": slots,
        # Jobs share them here; with Flink each has one at least.
        "slots-available": max(0, slots - running),
        "jobs-running": running,
        "jobs-finished": states["FINISHED"],
        "jobs-cancelled": states["CANCELED"],
        "jobs-failed": states["FAILED"],
        "flink-version": version,
        "flink-commit": "",
    }


def vertex_id(job: Shown, number: int) -> str:
    """The id of what writes a sink of a job."""
    return hashlib.md5(f"{job.name}/{job.sinks[number]}/{number}".encode(), usedforsecurity=False).hexdigest()


def _vertex(job: Shown, number: int) -> dict[str, Any]:
    query = None if job.metrics is None or number >= len(job.metrics.queries) else job.metrics.queries[number]
    task = _OF_TASKS.get(job.state, job.state)
    return {
        "id": vertex_id(job, number),
        "name": f"Sink: {job.sinks[number]}",
        "maxParallelism": 1,
        "parallelism": 1,
        "status": task,
        "start-time": _ms(job.started),
        "end-time": -1 if job.ended is None else _ms(job.ended),
        "duration": _ms(job.now - job.started),
        "tasks": {state: int(state == task) for state in _TASK_STATES},
        "metrics": {
            "read-records": 0 if query is None else query.rows_in,
            "read-records-complete": query is not None,
            "write-records": 0 if query is None else query.rows_out or 0,
            "write-records-complete": query is not None and query.rows_out is not None,
            "read-bytes": 0, "read-bytes-complete": False, "write-bytes": 0, "write-bytes-complete": False,
        },
    }  # fmt: skip


def _tasks(job: Shown, *, lower: bool = False) -> dict[str, int]:
    """How many tasks of a job are in each state."""
    task, number = _OF_TASKS.get(job.state, job.state), len(job.sinks)
    counts = {state.lower() if lower else state: number * (state == task) for state in _TASK_STATES}
    return {"total": number, **counts} if lower else counts


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
