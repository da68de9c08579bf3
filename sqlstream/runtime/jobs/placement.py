"""Where a job that is submitted stands: new, gone on with, or another than the one that stopped under its name; told before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlstream.plan.upgrade import Verdict, table, verdict_on
from sqlstream.runtime.jobs.digests import digest
from sqlstream.runtime.jobs.folder import Generation, JobFolder, find, other_plan, unused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sqlstream.core.storage import Place
    from sqlstream.plan.nodes import Sink


_NEW = "is new: it begins where the options of its sources say."


@dataclass(frozen=True)
class Placement:
    """A job with the plan ``digest`` in the folder ``home``. ``last``: the latest generation there, ``before``: that which it could go on with.

    ``same``: whether ``last`` is of the same plan; ``changed``: whether there is something of another plan to go on with. ``offsets``: from where
    topics are to be read instead.
    """

    home: JobFolder
    digest: str
    last: Generation | None
    before: Generation | None
    same: bool
    changed: bool
    offsets: Mapping[str, str]

    @property
    def continues(self) -> bool:
        """Whether the job goes on where it stopped."""
        return self.same and self.last is not None and self.last.is_open

    @property
    def number(self) -> int:
        """That of its version."""
        return 1 if self.last is None else self.last.next_number(self.digest)


def placement(home: JobFolder, plan: str, taken: Collection[Place], *, streaming: bool) -> Placement:
    """Where a job with the plan of this digest stands, whose folder is ``home``; ``taken``: the folders of others."""
    last = home.latest()
    same = last is not None and last.runs(plan)
    before = other_plan(home, taken) if last is None else last
    changed = before is not None and before.is_open and not same and streaming and before.has_read
    offsets = before.offsets if before is not None and before.is_open and streaming else {}
    return Placement(home, plan, last, before, same, changed, offsets)


@dataclass(frozen=True)
class Preview:
    """What would become of a job. ``folder``: its own; ``verdict``: on what it has kept, None where that is not asked."""

    folder: Place
    lines: tuple[str, ...]
    verdict: Verdict | None = None

    @property
    def loses(self) -> bool:
        """Whether it could not go on with all that is kept."""
        return self.verdict is not None and bool(self.verdict.lost)


def preview(
    jobs: Place, sinks: tuple[Sink, ...], name: str, zone: str, taken: Collection[Place], masked: Callable[[str], str] = str, *, streaming: bool
) -> Preview:
    """What would become of a job that is submitted now, as if it did not run already; ``jobs`` is the folder of all."""
    if not any(jobs.glob("*/job.json")):
        home = unused(jobs, name, taken)
        return Preview(home.path, (f"Job '{home.name}' {_NEW}",))
    plan = digest(sinks, zone)
    at = placement(find(jobs, sinks, name, plan, zone, taken), plan, taken, streaming=streaming)
    job, number = f"Job '{at.home.name}'", at.number
    if at.last is None and at.before is None:
        return Preview(at.home.path, (f"{job} {_NEW}",))
    if at.continues:
        but = f", but for {', '.join(f'{topic} ({where})' for topic, where in at.offsets.items())}" if at.offsets else ""
        return Preview(at.home.path, (f"{job} goes on where it has stopped{but}: it is the same, version {number}.",))
    if not at.changed:
        ended = at.last is not None and not at.last.is_open
        why = "the one before has ended" if ended else "the one before runs in batch mode, or has processed nothing"
        return Preview(at.home.path, (f"{job} begins anew, as version {number}: {why}.",))
    assert at.before is not None
    old = None if at.before.version is None else at.before.version.plan
    if old is None:
        return Preview(at.home.path, (f"{job} has changed, and what it has kept is of an earlier release: another plan can't go on with it.",))
    verdict = verdict_on(old, sinks, zone)
    changed = f"{job} has changed, and would be version {number}."
    kept = f"If it went on with what version {number - 1} has kept ({at.before.folder}):"
    return Preview(at.home.path, (changed, kept, *masked("\n".join(table(verdict))).split("\n"), _outcome(verdict)), verdict)


def _outcome(verdict: Verdict) -> str:
    unless = "would be refused, unless 'execution.state-recovery.ignore-unclaimed-state' is 'true'"
    if verdict.offsets_lost:
        return f"'execution.upgrade-mode' = 'last-state' {unless}, and so would 'stateless'."
    if verdict.lost:
        return f"'execution.upgrade-mode' = 'last-state' {unless}; 'stateless' goes on with offsets alone."
    return "'execution.upgrade-mode' = 'last-state' goes on with all of it."
