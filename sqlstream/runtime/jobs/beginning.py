"""How a job that is submitted begins: anew, where it stopped, with what another version of it has kept, or with a savepoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from sqlstream.connectors import find_connector
from sqlstream.core import storage
from sqlstream.core.errors import ValidationError
from sqlstream.plan.upgrade import PlanRecord, Verdict, record, table, verdict_on
from sqlstream.runtime.jobs import savepoints
from sqlstream.runtime.jobs.digests import digest
from sqlstream.runtime.jobs.folder import Generation, JobFolder, sink_name, sink_names
from sqlstream.runtime.jobs.placement import Placement, beside, placement
from sqlstream.runtime.jobs.upgrades import check_checkpoint, is_written, upgrade, widen
from sqlstream.runtime.jobs.versions import Origin, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sqlstream.core.storage import Place
    from sqlstream.runtime.jobs.job import Job, JobSettings
    from sqlstream.runtime.jobs.runner import JobRunner
    from sqlstream.runtime.jobs.savepoints import Savepoint

_ANEW = "starts anew, without state, and reads its sources from where their options say"
_MODES = (
    "SET 'execution.upgrade-mode' = 'last-state' goes on with offsets and state, 'stateless' with offsets alone; 'from-start' begins anew from where "
    "the options of its sources say, and what is in its sinks stays. SET 'pipeline.name' makes it another job. The earlier statement continues "
    "where it stopped."
)
_FROM_START = "SET 'execution.upgrade-mode' = 'from-start' begins anew from where the options of its sources say, and what is in its sinks stays."
_LOSING = (
    "SET 'execution.upgrade-mode' = 'stateless' goes on with offsets alone; 'execution.state-recovery.ignore-unclaimed-state' = 'true' leaves behind "
    "what is lost. SET 'pipeline.name' makes it another job. The earlier statement continues where it stopped."
)
_LOSING_OFFSETS = (
    "SET 'execution.state-recovery.ignore-unclaimed-state' = 'true' leaves behind what is lost. SET 'pipeline.name' makes it another job. "
    "The earlier statement continues where it stopped."
)
# It is more likely to be another script's, whose first rows would be left out.
_MOVED = (
    "SET 'pipeline.name' makes it another job, which begins where the options of its sources say. SET "
    "'execution.state-recovery.ignore-unclaimed-state' = 'true' leaves behind what is lost, and begins where the one before stopped. "
    "The earlier statement continues where it stopped."
)
_AS_THEY_WERE: Mapping[str, str] = {}
_NO_SAVEPOINT = "RESET 'execution.state-recovery.path' begins it without the savepoint."


class Declined(ValidationError):
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
        job, settings, runner = self.job, self.settings, self.runner
        plan = digest(job.sinks, settings.zone)
        home.check_whole()
        last = home.latest()
        if last is not None and last.is_open and last.draining and last.runs(plan):
            if self._is_moved(last):
                raise ValidationError(f"Job '{job.name}' was moved while it was being drained.", hint="Complete the drain where it was before.")
            self.notify(f"Job '{job.name}' ended while it was being drained: the drain is completed first ({last.folder}).")
            job.folder = last.folder
            runner.complete_drain()
        if last is not None and last.version is None:
            # Before the folder says that its generations have versions.
            self._version(1, plan).write(last.folder)
        at = placement(home, plan, job.sinks, settings.zone, taken, streaming=settings.streaming)
        last, before = at.last, at.before
        # Of what has written nothing nothing can be lost but where it began.
        first = before is not None and at.changed and not before.has_committed and not self._is_written(before)
        if settings.recovery is not None:
            saved = savepoints.read(settings.recovery)
            # Submitted again, it goes on from where it is by now.
            if last is None or not last.is_open or last.savepoint != saved.id:
                self._recover(at, saved)
                return False
        if last is None and before is None and settings.streaming and (other := beside(home, self._record, taken)) is not None:
            self.notify(other)
        mode, verdict = self._verdict(before, first=first) if before is not None and at.changed else ("from-start", None)
        moved = at.continues and settings.streaming and last is not None and self._is_moved(last)
        if before is not None and at.continues and (at.offsets or moved) and before.version is not None and before.version.plan is not None:
            mode = "stateless" if at.offsets and settings.upgrade_mode == "stateless" else "last-state"
            verdict = verdict_on(before.version.plan, job.sinks, settings.zone)
        home.describe(job.sinks)
        if last is not None and at.continues and not at.offsets and not moved:
            job.folder = last.folder
            if at.code:
                names = ", ".join(at.code)
                self.notify(f"The code of {names} has changed since job '{job.name}' stopped: what it keeps of earlier rows is by the code before.")
            if last.version is not None and (at.code or last.version.folder is None):
                made = self._record.to_json(settings.masked) if at.code else last.version.record
                folder, project = self._places(last.folder)
                replace(last.version, record=made, folder=folder, project=project).write(last.folder)
            if settings.streaming:
                self._check_whole(last)
            self.notify(f"Job '{job.name}' continues where it stopped ({job.folder}).")
            return True
        if last is not None and last.drained:
            self.notify(f"Job '{job.name}' was drained: it {_ANEW}.")
        job.folder = home.next_generation()
        origin = None
        if before is not None and (at.changed or verdict is not None):
            origin = Origin(mode, int(before.folder.name), None if mode == "from-start" else before.savepoint)
            if verdict is None:
                self.notify(f"Job '{job.name}' has changed: it {_ANEW}. The version before it is kept ({before.folder}).")
            else:
                self._upgrade(before, verdict, stateless=mode == "stateless", may_lose=first, offsets=at.offsets)
                kept = "without state" if mode == "stateless" else "with its state"
                but = f", but for {', '.join(at.offsets)}" if at.offsets else ""
                what = "has changed" if at.changed else "has other offsets" if at.offsets else "was moved"
                where = "begins where the one before began, which has written nothing" if first else f"goes on where it stopped{but}, {kept}"
                self.notify(f"Job '{job.name}' {what}: it {where}. The version before it is kept ({before.folder}).")
                for part in verdict.in_part if mode == "last-state" else ():
                    self.notify(settings.masked(f"Of the state of {part.name} a part is kept: {part.why}."))
        self._version(at.number, plan, origin).write(job.folder)
        return False

    @cached_property
    def _record(self) -> PlanRecord:
        return record(self.job.sinks, self.settings.zone)

    def _version(self, number: int, plan: str, origin: Origin | None = None) -> Version:
        folder, project = self._places(self.job.folder)
        return Version(number, plan, self.sql, origin=origin, record=self._record.to_json(self.settings.masked), folder=folder, project=project)

    def _places(self, generation: Place) -> tuple[str, str]:
        """Where the generation and the project are."""
        return storage.uri(generation), storage.uri(self.runner.project)

    def _is_moved(self, last: Generation) -> bool:
        """Whether the generation, or its project, was elsewhere when it last began."""
        known = last.version
        return known is not None and known.folder is not None and (known.folder, known.project) != self._places(last.folder)

    def _recover(self, at: Placement, saved: Savepoint) -> None:
        """Begin a generation of the job with a savepoint."""
        job, settings = self.job, self.settings
        if settings.upgrade_mode == "from-start":
            raise ValidationError(
                "'execution.upgrade-mode' = 'from-start' begins a job anew, and 'execution.state-recovery.path' with a savepoint: it can't be both.",
                hint=f"SET 'execution.upgrade-mode' = 'last-state', or 'stateless'. {_NO_SAVEPOINT}",
            )
        stateless = settings.upgrade_mode == "stateless"
        if not settings.streaming:
            raise ValidationError("A job in batch mode keeps no state, and can't begin with a savepoint.", hint=_NO_SAVEPOINT)
        if saved.drained and not stateless:
            raise ValidationError(
                f"Job '{saved.job}' was drained before the savepoint '{saved.folder}' was made: rows that belong into closed windows would be lost.",
                hint="SET 'execution.upgrade-mode' = 'stateless' goes on with its offsets, and begins with empty state.",
            )
        saved.check_whole(self.runner.spark)
        mode, before = "stateless" if stateless else "last-state", saved.generation
        how = replace(settings, upgrade_mode=mode, agrees=None)
        _, verdict = replace(self, settings=how)._verdict(before, of=f"job '{saved.job}' in the savepoint '{saved.folder}'")
        if verdict is None or not any(match.sources for match in verdict.sinks):
            raise ValidationError(f"The savepoint '{saved.folder}' is of job '{saved.job}', which shares nothing with job '{job.name}'.",
                                  hint=_NO_SAVEPOINT)  # fmt: skip
        at.home.describe(job.sinks)
        job.folder = at.home.next_generation()
        self._upgrade(before, verdict, stateless=stateless)
        self.notify(f"Job '{job.name}' begins with the savepoint '{saved.folder}'.")
        self._version(at.number, at.digest, Origin(mode, savepoint=saved.id)).write(job.folder)

    def _check_whole(self, last: Generation) -> None:
        """Raises ValidationError where a checkpoint of the generation, of the same plan, lacks what its table or another part of it has."""
        for index, sink in enumerate(self.job.sinks):
            landed = partial(find_connector(sink.table.connector).landed, self.runner.request(index))
            check_checkpoint(self.job.name, self.runner.spark, last.folder, sink_name(index, sink), landed)

    def _is_written(self, before: Generation) -> bool:
        """Whether its first micro-batch, which was interrupted, may be in a sink."""
        if before.version is None or before.version.plan is None:
            return True
        names = sink_names(before.folder, len(before.version.plan.sinks))
        verdict = verdict_on(before.version.plan, self.job.sinks, self.settings.zone)
        return is_written(self.runner.spark, before.folder, names, self.job.sinks, verdict, self.runner.request)

    def _upgrade(
        self, before: Generation, verdict: Verdict, *, stateless: bool, may_lose: bool = False, offsets: Mapping[str, str] = _AS_THEY_WERE
    ) -> None:
        job, runner, settings = self.job, self.runner, self.settings
        assert before.version is not None and before.version.plan is not None
        was, here = before.version.project, storage.uri(runner.project)
        storage.make(job.folder / "control")
        names = sink_names(before.folder, len(before.version.plan.sinks)), [sink_name(i, s) for i, s in enumerate(job.sinks)]
        upgrade(
            job.name, runner.spark, before.folder, job.folder, names, job.sinks, verdict, runner.lowered, stateless=stateless,
            # A user who was asked has seen what is lost.
            may_lose=may_lose or settings.may_lose or settings.agrees is not None,
            request=runner.request, notify=self.notify, offsets=offsets,
            positions=partial(runner.positions, offsets), sources_of=runner.sources,
            moved=None if was is None or was == here else (was, here),
        )  # fmt: skip
        for match, now in zip(verdict.sinks, self._record.sinks, strict=True):
            if match.old is not None and match.stateful and before.version.plan.sinks[match.old].place == now.place:
                runner.tell_if_gone(match.new)
        # Last: nothing but a refusal of its own can now keep the job from going on.
        widen(verdict, before.version.plan, job.sinks, runner.request)

    def _verdict(self, before: Generation, of: str | None = None, *, first: bool = False) -> tuple[str, Verdict | None]:
        """How a changed job begins, and what becomes of its parts; None where it begins anew. Raises ValidationError where that has not been said:
        it need not be where ``first``, nothing is written yet.
        """
        job, settings = self.job, self.settings
        if settings.upgrade_mode == "from-start":
            return "from-start", None
        changed = (
            f"Job '{job.name}' is another one than that of {of}."
            if of is not None
            else (
                f"Job '{job.name}' has changed: the one that stopped under this name ({before.folder}) "
                "had another statement, or other declarations, settings or code of functions."
            )
        )
        old = None if before.version is None else before.version.plan
        if first:
            return ("from-start", None) if old is None else ("last-state", verdict_on(old, job.sinks, settings.zone))
        if old is None:
            raise ValidationError(
                f"{changed} What that one has kept is of an earlier release, and can't be gone on with by another.",
                hint="SET 'execution.upgrade-mode' = 'from-start' begins it anew; SET 'pipeline.name' makes it another job. "
                "The earlier statement continues where it stopped.",
            )
        verdict = verdict_on(old, job.sinks, settings.zone, saved=of is not None)
        lines = settings.masked("\n".join(table(verdict)))
        losing = _MOVED if verdict.moved else _LOSING_OFFSETS if verdict.offsets_lost else _LOSING
        match settings.upgrade_mode:
            case "stateless" if settings.may_lose or not verdict.offsets_lost:
                return "stateless", verdict
            case "stateless":
                raise ValidationError(f"{changed} It can't go on where that one stopped:\n{lines}", hint=losing)
            case "last-state" if settings.may_lose or not verdict.lost:
                return "last-state", verdict
            case "last-state":
                raise ValidationError(f"{changed} It can't go on with all that is kept:\n{lines}", hint=losing)
        modes = f"{_FROM_START} {losing}" if verdict.lost else _MODES
        if settings.agrees is None:
            raise ValidationError(f"{changed} If it went on with what that one has kept:\n{lines}", hint=modes)
        if settings.agrees(f"{changed}\n{lines}\nGo on with what is kept?"):
            return "last-state", verdict
        raise Declined(f"Job '{job.name}' was not started.", hint=modes)
