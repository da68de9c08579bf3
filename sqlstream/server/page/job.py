"""One job: what it does now, its plan, its past."""

from __future__ import annotations

import difflib
import json
import re
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlstream.connectors.kafka import skipped
from sqlstream.core.errors import ValidationError
from sqlstream.core.project_folder import ProjectFolder
from sqlstream.plan.nodes import scans
from sqlstream.plan.upgrade import differences
from sqlstream.runtime.jobs.begin import savepoints
from sqlstream.runtime.jobs.begin.upgrades import read_record
from sqlstream.runtime.jobs.control import registry
from sqlstream.runtime.jobs.folder.generations import sink_name
from sqlstream.runtime.monitor.history import PHASES, Point
from sqlstream.runtime.monitor.why import Reason, reasons
from sqlstream.server.answers import NotThere
from sqlstream.server.page.jobs import STARTING, JobRow, is_left, latest, row_of, row_of_record
from sqlstream.server.page.lately import Lately
from sqlstream.server.page.plan import PlanGraph, tree, waiting
from sqlstream.udf.declarations.left_out import letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlstream.runtime.checkpoints import QueryRecord
    from sqlstream.runtime.jobs.begin.savepoints import Savepoint
    from sqlstream.runtime.jobs.control.registry import JobRecord
    from sqlstream.runtime.jobs.folder.versions import Version
    from sqlstream.runtime.jobs.job import Job
    from sqlstream.runtime.jobs.machine import Failure
    from sqlstream.server.page.plan import Box
    from sqlstream.server.server import Server

# What needs files to be read is as old as this at most.
_SECONDS = 3.0
# So many of the newest rows that were left out are shown.
_MOST_LETTERS = 50


@dataclass(frozen=True)
class Part:
    """A part of what is known of a job, which has an address of its own."""

    name: str
    title: str


PARTS = (
    Part("sql", "SQL"),
    Part("plan", "Plan"),
    Part("checkpoints", "Checkpoints"),
    Part("savepoints", "Savepoints"),
    Part("versions", "Versions"),
    Part("exceptions", "Exceptions"),
    Part("rows", "Late and dead rows"),
    Part("log", "Log"),
)


@dataclass(frozen=True)
class VersionShown:
    """A version of a job; ``changes``: lines of a difference to the one before it; ``others``: what else is another, as far as it is known."""

    version: Version
    changes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Left:
    """A row that was left out: when, in seconds since 1970, which function failed for it or of which table it is, why, and itself as JSON."""

    time: float | None
    of: str
    why: str
    row: str


@dataclass
class JobShown:
    """A job as a page has it: ``job`` where this process has it, ``record`` in any case."""

    row: JobRow
    record: JobRecord
    job: Job | None = None
    reasons: Sequence[Reason] = ()
    boxes: Sequence[Box] = ()
    shown: str = PARTS[0].name
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def can_run(self) -> bool:
        """Whether it may be started: it does not run, and has not come to its end."""
        return self.row.state.word in ("stopped", "failed", "suspended")

    @property
    def zone(self) -> str | None:
        """That of the times in its reasons, where there are any: they are those of SQL."""
        return self.job.metrics.zone if self.job is not None and any(re.search(r"\d\d:\d\d", one.text) for one in self.reasons) else None

    @property
    def failed(self) -> float | None:
        """When it failed last, in seconds since 1970."""
        return self.failures[-1].at if self.failures else None

    @property
    def failures(self) -> Sequence[Failure]:
        """Its last ones, the newest one last."""
        if self.job is not None:
            return self.job.machine.state.failures
        return () if self.record.status is None else self.record.status.failures

    @property
    def starts(self) -> bool:
        """Whether it does not run yet, and is about to."""
        return self.row.state is STARTING

    @property
    def runs(self) -> bool:
        """Whether something may be asked of it."""
        return self.record.held and not self.starts

    @property
    def streams(self) -> bool:
        """Whether it has a state that can be saved."""
        return self.job is None or self.job.streaming


class JobPages:
    """What is said of single jobs; what does not change of one is made once."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._graphs: dict[str, list[PlanGraph]] = {}
        # By job and number of the sink; there is none before the query begins.
        self._records: dict[tuple[str, int], QueryRecord] = {}
        self._mores: Lately[tuple[str, str], dict[str, Any]] = Lately(_SECONDS)

    def find(self, name: str, shown: str) -> JobShown:
        """The job that is called so, and the part ``shown`` of what is known of it. Raises NotThere."""
        jobs = self._server.jobs
        try:
            record = registry.find(jobs.folders.jobs, name)
        except ValidationError as error:
            raise NotThere(error.message, hint=error.hint) from error
        job = latest(jobs).get(record.name)
        if job is None:
            row = row_of_record(record, self._server)
            page = JobShown(row, record, reasons=_why(record, row))
        else:
            page = JobShown(row_of(job, self._server), record, job, reasons(job.metrics, job.sinks, job.idle_ms), self._boxes(job))
        page.shown = shown if any(shown == part.name for part in PARTS) else PARTS[0].name
        page.more = self._mores.get((record.name, page.shown), lambda: dict(self._more(page)))
        return page

    def _boxes(self, job: Job) -> list[Box]:
        if job.id not in self._graphs:
            # Those of jobs that are gone are not needed any more.
            known = {each.id for each in self._server.jobs}
            self._graphs = {id_: graphs for id_, graphs in self._graphs.items() if id_ in known}
            self._records = {key: record for key, record in self._records.items() if key[0] in known}
            masked = self._server.jobs.masked(job)
            written = enumerate(zip(job.sink_names, job.sinks, strict=True))
            self._graphs[job.id] = [PlanGraph(number, name, sink, masked) for number, (name, sink) in written]
        queries = job.metrics.queries
        return [
            box
            for number, graph in enumerate(self._graphs[job.id])
            for box in graph.boxes(queries[number], self._record(job, number), runs=job.lives)
        ]

    def _record(self, job: Job, number: int) -> QueryRecord | None:
        """What the query of a sink keeps, where that is known."""
        if (job.id, number) not in self._records and job.streaming:
            found = read_record(job.folder, sink_name(number, job.sinks[number]))
            if found is None:
                return None
            self._records[job.id, number] = found
        return self._records.get((job.id, number))

    def _more(self, page: JobShown) -> Iterator[tuple[str, Any]]:
        """What the part that is shown needs, by its name in the template."""
        job, record = page.job, page.record
        match page.shown:
            case "sql":
                yield "sql", None if record.version is None else record.version.sql
            case "plan":
                yield "plan", None if job is None else tree(job.sinks, self._server.jobs.masked(job))
            case "checkpoints":
                yield "size", record.size()
                yield "progressed", record.progressed
                yield "folder", None if record.latest is None else str(record.latest.folder / "checkpoint")
                yield "queries", () if job is None else list(zip(job.sink_names, job.metrics.queries, strict=False))
            case "savepoints":
                yield "savepoints", self._savepoints(record.name)
            case "versions":
                yield "versions", list(reversed(list(_versions(record.versions()))))
            case "exceptions":
                yield "failures", list(reversed(page.failures))
            case "rows":
                sinks = () if job is None else zip(job.sink_names, job.sinks, job.metrics.queries, strict=False)
                yield "late", [(name, query.late) for name, sink, query in sinks if query.late or waiting(sink)]
                yield "skipped", {} if record.latest is None else skipped.known(record.latest.shared)
                yield "passed_over", _passed_over(job)
                yield "left", None if job is None else _left_out(ProjectFolder(self._server.project).dead_letters, job.runs)
            case "log":
                yield "log", self._server.said.of(record.name)

    def _savepoints(self, name: str) -> list[Savepoint]:
        try:
            folder = self._server.jobs.folders.savepoints
        except ValidationError:
            return []
        return [saved for _, saved in reversed(savepoints.below(folder)) if saved is not None and saved.job == name]

    def points(self, name: str, after: float) -> Points | None:
        """The points of a job's charts that came ``after`` a moment; None for none."""
        points = [p for p in self._server.history.of(name) if p.at > after]
        return Points(json.dumps(columns(points)), points[-1].at) if points else None


@dataclass(frozen=True)
class Points:
    """Points of charts as JSON, and the moment of the last one."""

    columns: str
    last: float


def columns(points: Sequence[Point]) -> dict[str, list[float | None]]:
    """Points as one list for each figure, by its name."""
    plain = (name for name in Point._fields if name != "phases")
    made: dict[str, list[float | None]] = {name: [getattr(point, name) for point in points] for name in plain}
    for place, phase in enumerate(PHASES):
        made[phase] = [None if point.phases is None else point.phases[place] for point in points]
    return made


def _why(record: JobRecord, row: JobRow) -> list[Reason]:
    """How a job has ended that no process has; of another one its row says all that is known here."""
    if record.held or row.state is STARTING or is_left(record):
        return []
    return [Reason(text, hint) for text, hint in record.why()]


def _versions(versions: Sequence[Version]) -> Iterator[VersionShown]:
    plans = [version.plan for version in versions]
    yield from map(VersionShown, versions[:1])
    for (before, version), (old, new) in zip(pairwise(versions), pairwise(plans), strict=True):
        lines = difflib.unified_diff(before.sql.splitlines(), version.sql.splitlines(), lineterm="", n=3)
        others = () if old is None or new is None else differences(old, new)
        yield VersionShown(version, tuple(line for line in lines if not line.startswith(("---", "+++"))), tuple(others))


def _passed_over(job: Job | None) -> list[str]:
    """The tables of which records that can't be read are left out without a word."""
    read = [] if job is None else [scan.table for sink in job.sinks for scan in scans(sink)]
    return sorted({table.path.name for table in read if _ignores(table.options)})


def _ignores(options: Mapping[str, str]) -> bool:
    return any(key.endswith(".ignore-parse-errors") and value.lower() == "true" for key, value in options.items())


def _left_out(folder: Path, runs: set[str]) -> list[Left]:
    """The newest rows that these queries have left out."""
    found: deque[Left] = deque(maxlen=_MOST_LETTERS)
    for file in sorted(folder.glob("*.jsonl")):
        for letter, _ in letters(file):
            if letter.get("query") in runs:
                row = json.dumps(letter.get("row"), ensure_ascii=False)
                found.append(Left(_seconds(letter.get("time")), str(letter.get("source")), str(letter.get("error", "")), row))
    return sorted(found, key=lambda left: left.time or 0, reverse=True)


def _seconds(time: object) -> float | None:
    """A time of ISO 8601 in seconds since 1970; None for anything else."""
    try:
        return datetime.fromisoformat(str(time)).timestamp()
    except ValueError:
        return None
