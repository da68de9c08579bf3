"""How a job that is submitted begins: anew, where it stopped, with what another version of it has kept, or with a savepoint.

In: what is known of it, and of what is kept. Out: a decision, or a refusal. Nothing is written or asked here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from sqlstream.core.errors import ValidationError
from sqlstream.core.job_names import short_name
from sqlstream.plan.upgrade import table, verdict_on

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlstream.plan.nodes import Sink
    from sqlstream.plan.upgrade import Verdict
    from sqlstream.runtime.jobs.begin.placement import Placement
    from sqlstream.runtime.jobs.begin.savepoints import Savepoint
    from sqlstream.runtime.jobs.folder.generations import Generation
    from sqlstream.runtime.jobs.job import JobSettings

_ANEW = "starts anew, without state, and reads its sources from where their options say"
_MODES = (
    "SET 'execution.upgrade-mode' = 'last-state' resumes with offsets and state, 'stateless' with offsets alone; 'from-start' starts over from where "
    "the options of its sources say, and rows in its sinks stay. SET 'pipeline.name' makes it another job. The earlier statement resumes where it "
    "stopped."
)
_FROM_START = "SET 'execution.upgrade-mode' = 'from-start' starts over from where the options of its sources say, and rows in its sinks stay."
_LOSING = (
    "SET 'execution.upgrade-mode' = 'stateless' resumes with offsets alone; 'execution.state-recovery.ignore-unclaimed-state' = 'true' discards what "
    "would be lost. SET 'pipeline.name' makes it another job. The earlier statement resumes where it stopped."
)
_LOSING_OFFSETS = (
    "SET 'execution.state-recovery.ignore-unclaimed-state' = 'true' discards what would be lost. SET 'pipeline.name' makes it another job. "
    "The earlier statement resumes where it stopped."
)
# It is more likely to be another script's, whose first rows would be left out.
_MOVED = (
    "SET 'pipeline.name' makes it another job, which begins where the options of its sources say. SET "
    "'execution.state-recovery.ignore-unclaimed-state' = 'true' discards what would be lost, and begins where the one before stopped. "
    "The earlier statement resumes where it stopped."
)
_NO_SAVEPOINT = "RESET 'execution.state-recovery.path' begins it without the savepoint."


@dataclass(frozen=True)
class Circumstances:
    """What is known of a job called ``name`` as it is submitted. ``at``: where it stands; ``saved``: the savepoint that its settings name.

    ``moved``: its folder, or its project, was elsewhere when it ran last; ``spark``: the release of Spark that it ran on, where it is another now.
    ``written``: it has changed, and rows of the one before may be in a sink.
    """

    name: str
    sinks: tuple[Sink, ...]
    settings: JobSettings
    at: Placement
    saved: Savepoint | None = None
    moved: bool = False
    spark: str | None = None
    written: bool = False

    @property
    def elsewhere(self) -> bool:
        """Whether its checkpoints have to be made anew though it has not changed."""
        return self.moved or self.spark is not None

    @property
    def first(self) -> bool:
        """Whether the job has changed, and the one before has written nothing: nothing of that can be lost but where it began."""
        return self.at.before is not None and self.at.changed and not self.written


@dataclass(frozen=True)
class Continue:
    """It goes on in its latest ``generation``; the code of these functions is another by now."""

    generation: Generation
    code: tuple[str, ...]


@dataclass(frozen=True)
class Anew:
    """It begins a generation without anything of another; ``notices`` say of what."""

    notices: tuple[str, ...] = ()
    # Of which version it was, where it has changed.
    before: Generation | None = None


@dataclass(frozen=True)
class GoOn:
    """It begins a generation with what ``before`` has kept, if the user agrees to the ``question``; ``declined`` is the hint where not.

    ``stateless``: with offsets alone, but for those of ``offsets``; ``loses``: what the verdict says is lost may be. ``notices`` tell how it went.
    """

    before: Generation
    verdict: Verdict
    stateless: bool
    loses: bool = False
    offsets: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    question: str | None = None
    declined: str = ""

    @property
    def mode(self) -> str:
        """As ``execution.upgrade-mode`` calls it."""
        return "stateless" if self.stateless else "last-state"


@dataclass(frozen=True)
class Recover:
    """It begins a generation with a savepoint."""

    saved: Savepoint
    goes_on: GoOn


Decision: TypeAlias = Continue | Anew | GoOn | Recover


def decide(now: Circumstances) -> Decision:
    """How the job begins. Raises ValidationError where it may not begin so, or where that has not been said."""
    at, settings = now.at, now.settings
    last, before = at.last, at.before
    # Submitted again, it goes on from where it is by now.
    if now.saved is not None and (last is None or not last.is_open or last.savepoint != now.saved.id):
        return _recover(now, now.saved)
    changed = _changed(now, before) if before is not None and at.changed else None
    if last is not None and at.continues and not at.offsets and not now.elsewhere:
        return Continue(last, at.code)
    drained = (f"Job '{short_name(now.name)}' was drained: it {_ANEW}.",) if last is not None and last.drained else ()
    if before is None:
        return Anew(drained)
    if at.continues and (at.offsets or now.elsewhere) and before.version is not None and before.version.plan is not None:
        verdict = verdict_on(before.version.plan, now.sinks, settings.zone)
        changed = GoOn(before, verdict, stateless=bool(at.offsets) and settings.upgrade_mode == "stateless", loses=_may_lose(settings))
    if changed is not None:
        return _with_notices(now, changed)
    if at.changed:
        return Anew((f"Job '{short_name(now.name)}' has changed: it {_ANEW}. The version before it stays in {before.folder}.",), before)
    return Anew(drained)


def _with_notices(now: Circumstances, how: GoOn) -> GoOn:
    """``how``, with what is said of it."""
    at = now.at
    lost = [part for part in how.verdict.lost if part.what == "source" or not how.stateless]
    kept = ("without state" if how.stateless else "with its state") + (", but for what is lost" if lost else "")
    but = f", but for {', '.join(at.offsets)}" if at.offsets else ""
    what = "has changed" if at.changed else "has other offsets" if at.offsets else "was moved" if now.moved else f"ran on Spark {now.spark}"
    where = "begins where the one before began, which has finished no micro-batch" if now.first else f"resumes where it stopped{but}, {kept}"
    notices = [f"Job '{short_name(now.name)}' {what}: it {where}. The version before it stays in {how.before.folder}."]
    notices += [now.settings.masked(f"Lost: the {part.what} {part.name}: {part.why}.") for part in lost]
    for part in () if how.stateless else how.verdict.in_part:
        notices.append(now.settings.masked(f"Part of the state of {part.name} is kept: {part.why}."))
    return replace(how, offsets=at.offsets, notices=tuple(notices))


def _may_lose(settings: JobSettings) -> bool:
    """Whether the job may go on without what is lost: a user who was asked has seen it."""
    return settings.may_lose or settings.agrees is not None


def _changed(now: Circumstances, before: Generation) -> GoOn | None:
    """How a changed job begins; None for anew. Raises ValidationError where that has not been said: it need not be where nothing is written yet."""
    settings = now.settings
    if settings.upgrade_mode == "from-start":
        return None
    old = None if before.version is None else before.version.plan
    if now.first:
        return None if old is None else GoOn(before, verdict_on(old, now.sinks, settings.zone), stateless=False, loses=True)
    changed = (
        f"Job '{short_name(now.name)}' has changed: the one that stopped under this name ({before.folder}) "
        "had another statement, or other declarations, settings or code of functions."
    )
    return _going_on(now, before, changed, settings.upgrade_mode, asks=settings.agrees is not None)


def refuses(mode: str | None, verdict: Verdict, *, may_lose: bool) -> bool:
    """Whether ``mode``, in which a job is to go on, forbids what would be lost."""
    lost = {"stateless": verdict.offsets_lost, "last-state": verdict.lost}.get(mode or "")
    return bool(lost) and not may_lose


def _going_on(now: Circumstances, before: Generation, changed: str, mode: str | None, *, asks: bool, saved: bool = False) -> GoOn:
    """How the job goes on with what ``before`` has kept, of another plan, as ``changed`` says. Raises ValidationError."""
    settings, old = now.settings, None if before.version is None else before.version.plan
    if old is None:
        raise ValidationError(
            f"{changed} The state of that one is of an earlier release, which another plan can't use.",
            hint="SET 'execution.upgrade-mode' = 'from-start' begins it anew; SET 'pipeline.name' makes it another job. "
            "The earlier statement resumes where it stopped.",
        )
    verdict = verdict_on(old, now.sinks, settings.zone, saved=saved)
    lines = settings.masked("\n".join(table(verdict)))
    losing = _MOVED if verdict.moved else _LOSING_OFFSETS if verdict.offsets_lost else _LOSING
    loses = _may_lose(settings)
    match mode:
        case "stateless" if not refuses(mode, verdict, may_lose=settings.may_lose):
            return GoOn(before, verdict, stateless=True, loses=loses)
        case "stateless":
            raise ValidationError(f"{changed} It can't resume where that one stopped:\n{lines}", hint=losing)
        case "last-state" if not refuses(mode, verdict, may_lose=settings.may_lose):
            return GoOn(before, verdict, stateless=False, loses=loses)
        case "last-state":
            raise ValidationError(f"{changed} It can't resume with all of that state:\n{lines}", hint=losing)
    modes = f"{_FROM_START} {losing}" if verdict.lost else _MODES
    if not asks:
        raise ValidationError(f"{changed} If it resumes with the state of that one:\n{lines}", hint=modes)
    asked = "Resume without what is lost?" if verdict.lost else "Resume with that state?"
    return GoOn(before, verdict, stateless=False, loses=loses, question=f"{changed}\n{lines}\n{asked}", declined=modes)


def _recover(now: Circumstances, saved: Savepoint) -> Recover:
    """How the job begins with a savepoint. Raises ValidationError."""
    settings = now.settings
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
            f"Job '{short_name(saved.job)}' was drained before the savepoint '{saved.folder}' was made: "
            "rows that belong into closed windows would be lost.",
            hint="SET 'execution.upgrade-mode' = 'stateless' resumes at its offsets, with empty state.",
        )
    other = f"Job '{short_name(now.name)}' is another one than that of job '{short_name(saved.job)}' in the savepoint '{saved.folder}'."
    goes_on = _going_on(now, saved.generation, other, "stateless" if stateless else "last-state", asks=False, saved=True)
    if not any(match.sources for match in goes_on.verdict.sinks):
        raise ValidationError(
            f"The savepoint '{saved.folder}' is of job '{short_name(saved.job)}', which shares nothing with job '{short_name(now.name)}'.",
            hint=_NO_SAVEPOINT,
        )
    return Recover(saved, goes_on)
