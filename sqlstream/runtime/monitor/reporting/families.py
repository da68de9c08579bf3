"""What is told of jobs, as families of metrics: by Flink's names where Flink has the metric, as its reporter for Prometheus writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.core.counts import numbered
from sqlstream.runtime.jobs.machine import JobStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlstream.runtime.monitor.metrics import JobMetrics, Partition, QueryMetrics

# Values of a family's own labels, and the figure; one that is not known is left out.
Sample: TypeAlias = "tuple[tuple[str, ...], float | None]"


@dataclass(frozen=True)
class Reported:
    """A job that is told of. ``sinks``: what its queries write, by names of which none is there twice; ``dead_letters``: rows that it has left out
    and kept.
    """

    metrics: JobMetrics
    sinks: tuple[str, ...]
    dead_letters: int = 0

    @property
    def tasks(self) -> list[str]:
        """What Flink would call the tasks that its queries are."""
        return [f"Sink: {sink}" for sink in self.sinks]

    @property
    def queries(self) -> Iterator[tuple[str, QueryMetrics]]:
        """Its queries, each behind its task."""
        return zip(self.tasks, self.metrics.queries, strict=False)


@dataclass(frozen=True)
class Family:
    """A metric with its labels, behind those of the job. ``counts``: it only grows, and begins anew with the process."""

    name: str
    text: str
    samples: Callable[[Reported], Iterable[Sample]]
    labels: tuple[str, ...] = ()
    counts: bool = False


OF_JOB = ("job_id", "job_name")
_OPERATOR = ("task_name", "operator_name", "subtask_index")


def _job(value: Callable[[JobMetrics], float | None]) -> Callable[[Reported], Iterable[Sample]]:
    return lambda job: [((), value(job.metrics))]


def _sink(value: Callable[[QueryMetrics], float | None]) -> Callable[[Reported], Iterable[Sample]]:
    return lambda job: (((task, task, "0"), value(query)) for task, query in job.queries)


def _task(value: Callable[[QueryMetrics], float | None]) -> Callable[[Reported], Iterable[Sample]]:
    return lambda job: (((task,), value(query)) for task, query in job.queries)


def _rows_of_sources(job: Reported) -> Iterator[Sample]:
    for task, query in job.queries:
        # Those of the micro-batch that runs are not known by source.
        yield from (((task, f"Source: {i.name}", "0"), i.rows) for i in query.inputs)
        yield (task, task, "0"), query.rows_out


def _lag_of_sources(lag: Callable[[Sequence[Partition]], int]) -> Callable[[Reported], Iterable[Sample]]:
    def samples(job: Reported) -> Iterator[Sample]:
        for task, query in job.queries:
            yield from (((task, f"Source: {i.name}", "0"), lag(i.partitions)) for i in query.inputs if i.partitions)

    return samples


def _partitions(value: Callable[[Partition], int]) -> Callable[[Reported], Iterable[Sample]]:
    def samples(job: Reported) -> Iterator[Sample]:
        for task, query in job.queries:
            for one in query.inputs:
                for partition in one.partitions:
                    topic, _, number = partition.name.rpartition("-")
                    yield (task, f"Source: {one.name}", "0", topic, number), value(partition)

    return samples


def _watermarks(job: Reported) -> Iterator[Sample]:
    for task, query in job.queries:
        for name, timed in zip(numbered(f"Source: {t.table}" for t in query.timed), query.timed, strict=True):
            yield from (((task, name, str(number)), split.watermark) for number, split in enumerate(timed.splits))


def _state(value: Callable[..., float | None]) -> Callable[[Reported], Iterable[Sample]]:
    def samples(job: Reported) -> Iterator[Sample]:
        for task, query in job.queries:
            yield from (((task, state.name, str(number)), value(state)) for number, state in enumerate(query.states))

    return samples


def _phases(job: Reported) -> Iterator[Sample]:
    for task, query in job.queries:
        yield from (((task, phase), millis / 1000) for phase, millis in query.phases)


def _status(job: Reported) -> Iterator[Sample]:
    yield from (((status.value,), float(status.value == job.metrics.status)) for status in JobStatus)


_FLINKS_OPERATOR = "flink_taskmanager_job_task_operator_"
FAMILIES = (
    Family("flink_jobmanager_job_numRestarts", "How often the job was started again after a failure.", _job(lambda j: j.restarts)),
    Family("flink_jobmanager_job_numberOfCompletedCheckpoints", "Micro-batches that have ended.",
           _job(lambda j: sum(q.batches for q in j.queries))),
    Family("flink_jobmanager_job_lastCheckpointDuration", "How long the last micro-batch took, in milliseconds.", _job(lambda j: j.batch_ms)),
    Family("flink_jobmanager_job_lastCheckpointSize", "The state, in bytes.", _job(lambda j: j.state_bytes)),
    Family(f"{_FLINKS_OPERATOR}numRecordsIn", "Rows that have come out of a source, or into a sink.", _rows_of_sources, _OPERATOR),
    Family(f"{_FLINKS_OPERATOR}numRecordsOut", "Rows that were written.", _sink(lambda q: q.rows_out), _OPERATOR),
    Family("flink_taskmanager_job_task_numRecordsInPerSecond", "Rows read each second, over the last five.", _task(lambda q: q.rows_per_second),
           ("task_name",)),
    Family(f"{_FLINKS_OPERATOR}pendingRecords", "Records that wait in topics.", _lag_of_sources(lambda of: sum(p.lag for p in of)), _OPERATOR),
    Family(f"{_FLINKS_OPERATOR}KafkaSourceReader_KafkaConsumer_records_lag_max", "Records that wait in the partition with the most of them.",
           _lag_of_sources(lambda of: max(p.lag for p in of)), _OPERATOR),
    Family(f"{_FLINKS_OPERATOR}KafkaSourceReader_topic_partition_currentOffset", "The offset up to which a partition has been read.",
           _partitions(lambda p: p.read), (*_OPERATOR, "topic", "partition")),
    Family(f"{_FLINKS_OPERATOR}currentInputWatermark", "The watermark, in milliseconds since 1970.", _sink(lambda q: q.watermark), _OPERATOR),
    Family(f"{_FLINKS_OPERATOR}currentOutputWatermark", "The watermark of a partition of a source, in milliseconds since 1970.",
           _watermarks, _OPERATOR),
    Family(f"{_FLINKS_OPERATOR}numLateRecordsDropped", "Rows that came too late, and were dropped.", _sink(lambda q: q.late), _OPERATOR),
    Family("sqlstream_job_status", "1 for the status that the job has, else 0.", _status, ("status",)),
    Family("sqlstream_job_start_time_seconds", "When the job was started, in seconds since 1970.", _job(lambda j: j.started)),
    Family("sqlstream_job_falls_behind", "1 where more comes than is read: the least lag of the last whole minute has grown.",
           _job(lambda j: float(j.falls_behind))),
    Family("sqlstream_job_lag_records", "Records that wait in topics, of the query that is farthest behind.", _job(lambda j: j.lag)),
    Family("sqlstream_partition_lag_records", "Records that wait in a partition.", _partitions(lambda p: p.lag), (*_OPERATOR, "topic", "partition")),
    Family("sqlstream_rows_read", "Rows that were read, those of the running micro-batch included.", _task(lambda q: q.rows_in), ("task_name",),
           counts=True),
    Family("sqlstream_rows_written", "Rows that were written.", _task(lambda q: q.rows_out), ("task_name",), counts=True),
    Family("sqlstream_rows_late", "Rows that came too late, and were dropped.", _task(lambda q: q.late), ("task_name",), counts=True),
    Family("sqlstream_dead_letters", "Rows that were left out, and are kept.", lambda job: [((), job.dead_letters)], counts=True),
    Family("sqlstream_micro_batches", "Micro-batches that have ended.", _task(lambda q: q.batches), ("task_name",), counts=True),
    Family("sqlstream_micro_batch_phase_seconds", "How long a phase of the last micro-batch took; triggerExecution is all of it.", _phases,
           ("task_name", "phase")),
    Family("sqlstream_state_rows", "Rows that an operator keeps; 0 where Spark does not count them.", _state(lambda s: s.rows),
           ("task_name", "operator", "number")),
    Family("sqlstream_state_bytes", "Bytes that an operator keeps.", _state(lambda s: s.bytes), ("task_name", "operator", "number")),
    Family("sqlstream_last_read_time_seconds", "When rows were last read, in seconds since 1970.",
           _task(lambda q: None if q.last_input is None else q.last_input / 1000), ("task_name",)),
    Family("sqlstream_last_written_time_seconds", "When rows were last written, in seconds since 1970.",
           _task(lambda q: None if q.last_output is None else q.last_output / 1000), ("task_name",)),
    Family("sqlstream_brokers_silent", "1 where brokers of a topic do not answer.",
           _task(lambda q: float(any(b.silent is not None for b in q.brokers))), ("task_name",)),
)  # fmt: skip
# Of all jobs together.
RUNNING_JOBS = ("flink_jobmanager_numRunningJobs", "Jobs that run.")
