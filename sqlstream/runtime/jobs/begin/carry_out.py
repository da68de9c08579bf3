"""Carries out how a job begins: reads what is kept, asks, copies and writes what was decided."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core import storage
from sqlstream.core.errors import Declined, ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.core.spark_releases import INSTALLED, OPTION, running
from sqlstream.plan.upgrade import PlanRecord, record, verdict_on
from sqlstream.runtime.jobs.begin import savepoints
from sqlstream.runtime.jobs.begin.decide import Anew, Circumstances, Continue, Decision, GoOn, Recover, decide
from sqlstream.runtime.jobs.begin.digests import digest
from sqlstream.runtime.jobs.begin.placement import Placement, beside, placement
from sqlstream.runtime.jobs.begin.upgrades import check_checkpoint, is_written, upgrade, widen
from sqlstream.runtime.jobs.folder.generations import Generation, JobFolder, sink_name, sink_names
from sqlstream.runtime.jobs.folder.versions import Origin, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.job import Job, JobSettings
    from sqlstream.runtime.jobs.run.runner import JobRunner


class NotContinued(Declined):
    """The user does not want a job to go on with what is kept."""


@dataclass(frozen=True)
class Beginning:
    """That of ``job``, which ``runner`` is about to run: ``sql`` is its statement, without secrets; ``notify`` hears what the user should know."""

    job: Job
    runner: JobRunner
    settings: JobSettings
    sql: str
    notify: Callable[[str], None]

    def place(self, home: JobFolder, taken: Collection[Place]) -> bool:
        """Give the job the folder of its generation, in ``home``; whether that was begun before. ``taken``: the folders of others.

        Raises ValidationError where the job may not begin so.
        """
        home.check_whole()
        self._complete_what_was_begun(home)
        at = placement(home, self._plan, self.job.sinks, self.settings.zone, taken, streaming=self.settings.streaming)
        now = self._circumstances(at)
        if at.last is None and at.before is None and self.settings.streaming and (other := beside(home, self._record, taken)) is not None:
            self.notify(other)
        return self._carry_out(decide(now), at)

    def _complete_what_was_begun(self, home: JobFolder) -> None:
        """A drain, and the first version of a job that an earlier release began."""
        last = home.latest()
        if last is None:
            return
        if last.is_open and last.draining and last.runs(self._plan):
            if (other := self._other_spark(last)) is not None:
                hint = f"SET '{OPTION}' = '{other}' completes the drain."
                raise ValidationError(
                    f"Job '{short_name(self.job.name)}' was being drained on Spark {other}, and this is {running().name}.", hint=hint
                )
            if self._is_moved(last):
                raise ValidationError(
                    f"Job '{short_name(self.job.name)}' was moved while it was being drained.", hint="Complete the drain where it was before."
                )
            self.notify(f"Job '{short_name(self.job.name)}' ended while it was being drained: the drain is completed first ({last.folder}).")
            self.job.folder = last.folder
            self.runner.complete_drain()
        if last.version is None:
            # Before the folder says that its generations have versions.
            self._version(1).write(last.folder)

    def _circumstances(self, at: Placement) -> Circumstances:
        before, settings = at.before, self.settings
        return Circumstances(
            self.job.name, self.job.sinks, settings, at,
            saved=None if settings.recovery is None else savepoints.read(settings.recovery),
            moved=at.continues and settings.streaming and at.last is not None and self._is_moved(at.last),
            spark=None if at.last is None else self._other_spark(at.last),
            written=before is not None and at.changed and (before.has_committed or self._is_written(before)),
        )  # fmt: skip

    def _carry_out(self, decision: Decision, at: Placement) -> bool:
        """Whether the job goes on in a generation that was begun before."""
        if isinstance(decision, Recover):
            decision.saved.check_whole(self.runner.work.spark)
        elif isinstance(decision, GoOn) and decision.question is not None:
            assert self.settings.agrees is not None
            if not self.settings.agrees(decision.question):
                raise NotContinued(f"Job '{short_name(self.job.name)}' was not started.", hint=decision.declined)
        at.home.describe(self.job.sinks)
        if isinstance(decision, Continue):
            self._continue(decision)
            return True
        self.job.folder = at.home.next_generation()
        match decision:
            case Anew(notices, before):
                self._tell(notices)
                origin = None if before is None else Origin("from-start", int(before.folder.name))
            case GoOn(before):
                self._upgrade(decision)
                self._tell(decision.notices)
                origin = Origin(decision.mode, int(before.folder.name), before.savepoint, decision.verdict.lossy)
            case Recover(saved, goes_on):
                self._upgrade(goes_on)
                self.notify(f"Job '{short_name(self.job.name)}' begins with the savepoint '{saved.folder}'.")
                origin = Origin(goes_on.mode, savepoint=saved.id, lost=goes_on.verdict.lossy)
        self._version(at.number, origin).write(self.job.folder)
        return False

    def _tell(self, notices: Collection[str]) -> None:
        for notice in notices:
            self.notify(notice)

    def _continue(self, how: Continue) -> None:
        job, last = self.job, how.generation
        job.folder = last.folder
        if how.code:
            names = ", ".join(how.code)
            self.notify(
                f"The code of {names} has changed since job '{short_name(job.name)}' stopped: its state of earlier rows comes from the earlier code."
            )
        if last.version is not None and (how.code or last.version.folder is None):
            made = self._record.to_json(self.settings.masked) if how.code else last.version.record
            folder, project = self._places(last.folder)
            replace(last.version, record=made, folder=folder, project=project).write(last.folder)
        if self.settings.streaming:
            self._check_whole(last)
        self.notify(f"Job '{short_name(job.name)}' continues where it stopped ({job.folder}).")

    @cached_property
    def _record(self) -> PlanRecord:
        return record(self.job.sinks, self.settings.zone)

    @cached_property
    def _plan(self) -> str:
        """The digest of the job's plan."""
        return digest(self.job.sinks, self.settings.zone)

    def _version(self, number: int, origin: Origin | None = None) -> Version:
        folder, project = self._places(self.job.folder)
        return Version(
            number,
            self._plan,
            self.sql,
            origin=origin,
            record=self._record.to_json(self.settings.masked),
            folder=folder,
            project=project,
            spark=running().name,
        )

    def _places(self, generation: Place) -> tuple[str, str]:
        """Where the generation and the project are."""
        return storage.uri(generation), storage.uri(self.runner.work.project)

    def _is_moved(self, last: Generation) -> bool:
        """Whether the generation, or its project, was elsewhere when it last began."""
        known = last.version
        return known is not None and known.folder is not None and (known.folder, known.project) != self._places(last.folder)

    def _other_spark(self, last: Generation) -> str | None:
        """The release of Spark whose checkpoints the generation has, where this process runs on another one."""
        of = INSTALLED if last.version is None or last.version.spark is None else last.version.spark
        return None if of == running().name or not self.settings.streaming else of

    @contextmanager
    def _told_of_release(self, before: Generation) -> Iterator[None]:
        """What raises ValidationError also says which release of Spark goes on with what is kept, where this is another one."""
        try:
            yield
        except ValidationError as error:
            if (other := self._other_spark(before)) is not None:
                error.hint = f"SET '{OPTION}' = '{other}', before Spark starts, resumes it as it is. {error.hint or ''}".strip()
            raise

    def _check_whole(self, last: Generation) -> None:
        """Raises ValidationError where a checkpoint of the generation, of the same plan, lacks what its table or another part of it has."""
        for index, sink in enumerate(self.job.sinks):
            landed = partial(find_connector(sink.table.connector).landed, self.runner.work.request(index))
            check_checkpoint(self.job.name, self.runner.work.spark, last.folder, sink_name(index, sink), landed)

    def _is_written(self, before: Generation) -> bool:
        """Whether its first micro-batch, which was interrupted, may be in a sink."""
        if before.version is None or before.version.plan is None:
            return True
        names = sink_names(before.folder, len(before.version.plan.sinks))
        verdict = verdict_on(before.version.plan, self.job.sinks, self.settings.zone)
        return is_written(self.runner.work.spark, before.folder, names, self.job.sinks, verdict, self.runner.work.request)

    def _upgrade(self, how: GoOn) -> None:
        """Make the checkpoints of the job's generation from those of the one before."""
        job, work, before, verdict = self.job, self.runner.work, how.before, how.verdict
        assert before.version is not None and before.version.plan is not None
        was, here = before.version.project, storage.uri(work.project)
        storage.make(job.folder / "control")
        names = sink_names(before.folder, len(before.version.plan.sinks)), [sink_name(i, s) for i, s in enumerate(job.sinks)]
        keeping = [frozenset(n.id for n in sink.nodes if n.keeps_state) for sink in before.version.plan.sinks]
        with self._told_of_release(before):
            upgrade(
                job.name, work.spark, before.folder, job.folder, names, job.sinks, verdict, keeping, work.lowered, stateless=how.stateless,
                may_lose=how.loses, request=work.request, notify=self.notify, offsets=how.offsets,
                positions=partial(work.positions, how.offsets), sources_of=work.sources,
                moved=None if was is None or was == here else (was, here),
            )  # fmt: skip
        for match, now in zip(verdict.sinks, self._record.sinks, strict=True):
            if match.old is not None and match.stateful and before.version.plan.sinks[match.old].place == now.place:
                work.tell_if_gone(match.new)
        # Last: nothing but a refusal of its own can now keep the job from going on.
        widen(verdict, before.version.plan, job.sinks, work.request)
