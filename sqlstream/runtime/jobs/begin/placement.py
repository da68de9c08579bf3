"""Where a job that is submitted stands: new, gone on with, or another than the one that stopped under its name; told before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.core.job_names import short_name
from sqlstream.core.spark_releases import INSTALLED
from sqlstream.plan.upgrade import Verdict, judge, other_code, record, rows, table, verdict_on
from sqlstream.runtime.jobs.begin import savepoints
from sqlstream.runtime.jobs.begin.digests import digest
from sqlstream.runtime.jobs.folder import locks
from sqlstream.runtime.jobs.folder.generations import (
    STARTED,
    Damaged,
    Generation,
    JobFolder,
    damaged,
    find,
    folder_of,
    lacking,
    other_plan,
    stopped,
    unused,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from sqlstream.core.storage import Place
    from sqlstream.plan.nodes import Sink
    from sqlstream.plan.upgrade import PlanRecord, SinkRecord


_NEW = "is new: it begins where the options of its sources say."
_FIRST = "Its first micro-batch was interrupted: if no sink has rows of it, nothing is refused, and the job begins where that one began."


@dataclass(frozen=True)
class Placement:
    """A job with the plan ``digest`` in the folder ``home``. ``last``: the latest generation there, ``before``: that which it could go on with.

    ``same``: whether ``last`` is of the same plan, and nothing of it is lost by other code of functions; ``changed``: whether there is something else
    to go on with, be it only where its sources began. ``offsets``: from where topics are to be read instead; ``code``: the functions in Python whose
    code is another than that of ``before``.
    """

    home: JobFolder
    digest: str
    last: Generation | None
    before: Generation | None
    same: bool
    changed: bool
    offsets: Mapping[str, str]
    code: tuple[str, ...] = ()

    @property
    def continues(self) -> bool:
        """Whether the job goes on where it stopped."""
        return self.same and self.last is not None and self.last.is_open

    @property
    def number(self) -> int:
        """That of its version."""
        version = None if self.last is None else self.last.version
        return 1 if version is None else version.number + (not self.same)


def placement(home: JobFolder, plan: str, sinks: tuple[Sink, ...], zone: str, taken: Collection[Place], *, streaming: bool) -> Placement:
    """Where a job stands whose folder is ``home``; ``plan``: the digest of its sinks in this time zone; ``taken``: the folders of others."""
    last = home.latest()
    same = last is not None and last.runs(plan)
    before = other_plan(home, taken) if last is None else last
    old = None if before is None or before.version is None else before.version.plan
    code: tuple[str, ...] = ()
    if before is not None and old is not None and old.functions:
        now = record(sinks, zone, old.known)
        code = other_code(old, now)
        if code and same and before.is_open and streaming and before.has_read:
            same = not judge(old, now).lost
    changed = before is not None and before.is_open and not same and streaming and before.has_begun
    offsets = before.offsets if before is not None and before.is_open and streaming else {}
    return Placement(home, plan, last, before, same, changed, offsets, code)


def beside(home: JobFolder, now: PlanRecord, taken: Collection[Place]) -> str | None:
    """That a job which has stopped, not that of ``home``, reads and writes what the plan ``now`` does: one whose tables were called otherwise, as its
    name says; None where there is none.
    """
    for name, old in stopped(home.path.parent, (home.path, *taken)):
        if any(_alike(a, b) for a in old.sinks for b in now.sinks):
            hint = f"SET 'pipeline.name' = '{name}' resumes with the state of that one."
            return f"Job '{short_name(name)}', which has stopped, has read and written there: its rows may be written again. {hint}"
    return None


def _alike(a: SinkRecord, b: SinkRecord) -> bool:
    read = {place for source in a.sources for place in source.places}
    return bool(a.place) and a.place == b.place and any(place in read for source in b.sources for place in source.places)


@dataclass(frozen=True)
class Preview:
    """What would become of a job, in lines: what is ``said``, the ``table`` of its ``parts`` (see ``rows``), which modes of
    ``execution.upgrade-mode`` would do (``outcome``), and what is said ``then``. ``folder``: its own; ``verdict``: on what it has kept, None where
    that is not asked. ``damaged``: that is not all there. ``refused``: its submission would be, for what would be lost.
    """

    folder: Place
    said: tuple[str, ...]
    verdict: Verdict | None = None
    parts: tuple[tuple[str, ...], ...] = ()
    table: tuple[str, ...] = ()
    outcome: str | None = None
    then: tuple[str, ...] = ()
    damaged: bool = False
    refused: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it for a terminal."""
        return (*self.said, *self.table, *filter(None, [self.outcome]), *self.then)

    @property
    def loses(self) -> bool:
        """Whether it could not go on with all that is kept."""
        return self.damaged or (self.verdict is not None and bool(self.verdict.lost))


def preview(
    jobs: Place, sinks: tuple[Sink, ...], name: str, zone: str, taken: Collection[Place], masked: Callable[[str], str] = str, *, streaming: bool,
    recovery: Place | None = None, spark: str = INSTALLED,
) -> Preview:  # fmt: skip
    """What would become of a job that is submitted now, as if it did not run already; ``jobs`` is the folder of all, ``recovery`` the savepoint with
    which it would begin, ``spark`` the release of Spark on which it would run. Raises ValidationError where there is none.
    """
    if recovery is not None and (seen := _of_savepoint(jobs, sinks, name, zone, taken, masked, recovery)) is not None:
        return seen
    if not any(jobs.glob("*/job.json")):
        home = unused(jobs, name, taken)
        return Preview(home.path, (f"Job '{short_name(home.name)}' {_NEW}",))
    plan = digest(sinks, zone)
    own = folder_of(jobs, name)
    try:
        home = find(jobs, sinks, name, plan, zone, taken)
        own = home.path
        home.check_whole()
        at = placement(home, plan, sinks, zone, taken, streaming=streaming)
        if streaming and at.before is not None and (at.continues or at.changed):
            _check_parts(home, at.before)
    except Damaged as error:
        return Preview(own, (error.message, *filter(None, [error.hint])), damaged=True)
    job, number = f"Job '{short_name(at.home.name)}'", at.number
    other = _on_other_spark(at.before, spark) if streaming else ()
    if at.last is None and at.before is None:
        alike = beside(at.home, record(sinks, zone), taken) if streaming else None
        return Preview(at.home.path, (f"{job} {_NEW}", *([alike] if alike else [])))
    if at.continues and at.last is not None:
        but = f", but for {', '.join(f'{topic} ({where})' for topic, where in at.offsets.items())}" if at.offsets else ""
        code = f" Its state of earlier rows comes from the earlier code of {', '.join(at.code)}." if at.code else ""
        goes_on = f"{job} resumes where it stopped{but}: it is unchanged, version {number}.{code}"
        return Preview(at.home.path, (goes_on, *other, *_unknown(at.last)))
    if not at.changed:
        ended = at.last is not None and not at.last.is_open
        why = "the one before has ended" if ended else "the one before runs in batch mode, or has processed nothing"
        return Preview(at.home.path, (f"{job} begins anew, as version {number}: {why}.",))
    assert at.before is not None
    # One that runs may have processed what its offsets don't say yet: they are written down when it is stopped.
    if not at.before.has_read and locks.holder(at.home.path) is None:
        return Preview(at.home.path, (f"{job} begins as version {number}, where the one before, which has processed nothing, would have begun.",))
    old = None if at.before.version is None else at.before.version.plan
    if old is None:
        return Preview(at.home.path, (f"{job} has changed, and its state is of an earlier release, which another plan can't use.",))
    verdict = verdict_on(old, sinks, zone)
    changed = f"{job} has changed, and would be version {number}."
    kept = f"If it resumes with the state of version {number - 1} ({at.before.folder}):"
    first = () if at.before.has_committed else (_FIRST,)
    return _judged(at.home.path, (changed, kept), verdict, masked, (*first, *other))


def _on_other_spark(before: Generation | None, spark: str) -> tuple[str, ...]:
    """What is to be said of checkpoints that another release of Spark has written: how its operators keep state is not known without it."""
    of = INSTALLED if before is None or before.version is None or before.version.spark is None else before.version.spark
    if before is None or of == spark:
        return ()
    return (f"It ran on Spark {of}: on Spark {spark} it resumes with all of its state, or is refused before anything happens.",)


def _check_parts(home: JobFolder, last: Generation) -> None:
    """Raises Damaged where a checkpoint lacks a part. Those of a job that runs change meanwhile."""
    if locks.holder(home.path) is None:
        for checkpoint in last.folder.glob("checkpoint/*"):
            if (what := lacking(last.folder, checkpoint.name)) is not None:
                raise damaged(home.name, what)


def _unknown(last: Generation) -> Iterator[str]:
    """What only tables know: no table is asked here."""
    for started in last.folder.glob(f"{STARTED}/*"):
        checkpoint = last.folder / "checkpoint" / started.name
        if not any(checkpoint.glob("offsets/[0-9]*")):
            yield f"The checkpoint {checkpoint} has no micro-batch: where its table has one, the job is refused when it starts."


def _of_savepoint(
    jobs: Place, sinks: tuple[Sink, ...], name: str, zone: str, taken: Collection[Place], masked: Callable[[str], str], recovery: Place
) -> Preview | None:
    """What would become of a job that begins with a savepoint; None where it has done so, and goes on by now."""
    saved = savepoints.read(recovery)
    home = find(jobs, sinks, name, digest(sinks, zone), zone, taken)
    last, version = home.latest(), saved.generation.version
    if (last is not None and last.is_open and last.savepoint == saved.id) or version is None or version.plan is None:
        return None
    verdict = verdict_on(version.plan, sinks, zone, saved=True)
    begins = f"Job '{short_name(home.name)}' would begin with the savepoint '{saved.folder}' of job '{short_name(saved.job)}':"
    return _judged(home.path, (begins,), verdict, masked)


def _judged(folder: Place, said: tuple[str, ...], verdict: Verdict, masked: Callable[[str], str], then: tuple[str, ...] = ()) -> Preview:
    """A preview with a verdict, and what follows from it."""
    lines = masked("\n".join(table(verdict))).split("\n")
    parts = tuple(tuple(map(masked, row)) for row in rows(verdict))
    return Preview(folder, said, verdict, parts, tuple(lines), _outcome(verdict), then)


def _outcome(verdict: Verdict) -> str:
    unless = "would be refused, unless 'execution.state-recovery.ignore-unclaimed-state' is 'true'"
    if verdict.offsets_lost:
        return f"'execution.upgrade-mode' = 'last-state' {unless}, and so would 'stateless'."
    if verdict.lost:
        return f"'execution.upgrade-mode' = 'last-state' {unless}; 'stateless' resumes with offsets alone."
    return "'execution.upgrade-mode' = 'last-state' resumes with all of it."
