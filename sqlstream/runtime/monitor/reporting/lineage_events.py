"""What a job reads and writes, as events of OpenLineage: a job's plan goes in, objects of openlineage-python come out, without secrets.

This module needs that package, so it is imported when somebody is told.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from openlineage.client import facet_v2 as facets
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState

from sqlstream.connectors import find_connector
from sqlstream.core.depth import deeply
from sqlstream.core.secrets import is_secret, masked_value, places, without
from sqlstream.plan.lineage import Effect, lineage
from sqlstream.plan.nodes import Scan
from sqlstream.plan.properties import fields, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from sqlstream.connectors.base import Dataset
    from sqlstream.plan.lineage import Influences
    from sqlstream.plan.nodes import Sink
    from sqlstream.sql.tables import Table
    from sqlstream.sql.types import Type

_VERSION = metadata.version("sqlstream")
PRODUCER = f"urn:sqlstream:{_VERSION}"
# A shorter one could be any word.
_LEAST_SECRET = 4


@dataclass(frozen=True)
class Described:
    """A job as it is told of. ``sql`` is what submitted it, ``spark`` the version of Spark; ``project``: relative paths start there."""

    id: str
    name: str
    sinks: tuple[Sink, ...]
    streaming: bool
    sql: str
    namespace: str
    project: Path
    spark: str

    def run_id(self, attempt: int) -> str:
        """That of its first attempt is the job's own id."""
        own = UUID(self.id)
        return str(own if attempt == 0 else uuid5(own, str(attempt)))

    def event(self, state: RunState, attempt: int, at: float, error: str | None = None) -> RunEvent:
        """What is told when ``attempt`` to run the job comes into ``state``, ``at`` seconds since 1970."""
        run: dict[str, facets.RunFacet] = {
            "processing_engine": facets.processing_engine_run.ProcessingEngineRunFacet(
                version=self.spark, name="spark", openlineageAdapterVersion=_VERSION, producer=PRODUCER
            ),
            "externalQuery": facets.external_query_run.ExternalQueryRunFacet(externalQueryId=self.id, source="sqlstream", producer=PRODUCER),
        }
        if error is not None:
            run["errorMessage"] = facets.error_message_run.ErrorMessageRunFacet(
                message=self._hidden(error), programmingLanguage="SQL", producer=PRODUCER
            )
        inputs, outputs = self._datasets
        time = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
        made = Run(runId=self.run_id(attempt), facets=run)
        return RunEvent(eventTime=time, eventType=state, run=made, job=self._job, inputs=inputs, outputs=outputs, producer=PRODUCER)

    @property
    def _job(self) -> Job:
        kind = "STREAMING" if self.streaming else "BATCH"
        about: dict[str, facets.JobFacet] = {
            "jobType": facets.job_type_job.JobTypeJobFacet(processingType=kind, integration="SQLSTREAM", jobType="JOB", producer=PRODUCER),
            "sql": facets.sql_job.SQLJobFacet(query=self._hidden(self.sql), dialect="flink", producer=PRODUCER),
        }
        return Job(namespace=self.namespace, name=self.name, facets=about)

    def _hidden(self, text: str) -> str:
        return without(masked_value(text), self._secrets)

    @cached_property
    def _scans(self) -> tuple[Scan, ...]:
        return tuple(node for sink in self.sinks for node in walk(sink) if isinstance(node, Scan))

    @cached_property
    def _secrets(self) -> frozenset[str]:
        """What must not be in a text: values of the tables' options, which have those of the environment in them."""
        tables = [*(scan.table for scan in self._scans), *(sink.table for sink in self.sinks)]
        return frozenset(value for table in tables for value in _secrets(table.options) if len(value) >= _LEAST_SECRET)

    @cached_property
    def _datasets(self) -> tuple[list[InputDataset], list[OutputDataset]]:
        return deeply(lambda: (self._inputs(), self._outputs()))

    def _inputs(self) -> list[InputDataset]:
        read: dict[Dataset, dict[str, facets.schema_dataset.SchemaDatasetFacetFields]] = defaultdict(dict)
        for scan in self._scans:
            comments = _comments(scan.table)
            for dataset in self._names(scan.table):
                for f in fields(scan):
                    read[dataset].setdefault(f.name, _field(f.name, f.type, comments.get(f.name)))
        return [InputDataset(*dataset, facets={"schema": _schema(columns)}) for dataset, columns in read.items()]

    def _outputs(self) -> list[OutputDataset]:
        columns: dict[Dataset, dict[str, facets.schema_dataset.SchemaDatasetFacetFields]] = defaultdict(dict)
        origins: dict[Dataset, dict[str, Influences]] = defaultdict(dict)
        rows: dict[Dataset, Influences] = defaultdict(frozenset)
        for sink in self.sinks:
            of = lineage(sink)
            for dataset in self._names(sink.table):
                for column in sink.table.persisted:
                    columns[dataset].setdefault(column.name, _field(column.name, column.type, column.comment))
                    origins[dataset][column.name] = origins[dataset].get(column.name, frozenset()) | of.columns[column.name]
                rows[dataset] |= of.rows
        return [OutputDataset(*d, facets={"schema": _schema(columns[d]), **self._lineage(origins[d], rows[d])}) for d in columns]

    def _lineage(self, columns: Mapping[str, Influences], rows: Influences) -> Mapping[str, facets.DatasetFacet]:
        known = {name: facets.column_lineage_dataset.Fields(inputFields=read) for name, of in columns.items() if (read := self._read(of))}
        of_all = self._read(rows)
        if not known and not of_all:
            return {}
        return {"columnLineage": facets.column_lineage_dataset.ColumnLineageDatasetFacet(fields=known, dataset=of_all, producer=PRODUCER)}

    def _read(self, influences: Influences) -> list[facets.column_lineage_dataset.InputField]:
        """Fields of inputs, each with what it does."""
        effects: dict[tuple[Dataset, str], set[Effect]] = defaultdict(set)
        for origin, effect in influences:
            for dataset in self._names(origin.table):
                effects[dataset, ".".join(origin.column)].add(effect)
        return [
            facets.column_lineage_dataset.InputField(*dataset, field=field, transformations=[_transformation(e) for e in Effect if e in effects[key]])
            for key in sorted(effects)
            for dataset, field in [key]
        ]

    def _names(self, table: Table) -> tuple[Dataset, ...]:
        return find_connector(table.connector).datasets(table, self.project)


def _transformation(effect: Effect) -> facets.column_lineage_dataset.Transformation:
    return facets.column_lineage_dataset.Transformation(type="DIRECT" if effect.direct else "INDIRECT", subtype=effect.value)


def _schema(columns: Mapping[str, facets.schema_dataset.SchemaDatasetFacetFields]) -> facets.schema_dataset.SchemaDatasetFacet:
    made = list(columns.values())
    for place, column in enumerate(made, start=1):
        column.ordinal_position = place
    return facets.schema_dataset.SchemaDatasetFacet(fields=made, producer=PRODUCER)


def _field(name: str, type_: Type, comment: str | None = None) -> facets.schema_dataset.SchemaDatasetFacetFields:
    inside = [_field(n, child) for n, child in zip(type_.names, type_.children, strict=True)] if type_.root == "ROW" else []
    said = None if comment is None else masked_value(comment)
    return facets.schema_dataset.SchemaDatasetFacetFields(name=name, type=str(type_), description=said, fields=inside)


def _comments(table: Table) -> Mapping[str, str | None]:
    return {column.name: column.comment for column in table.columns}


def _secrets(options: Mapping[str, str]) -> Iterable[str]:
    for key, value in options.items():
        if is_secret(key):
            yield value
        yield from (value[begin:end] for begin, end in places(value, pairs=True))
