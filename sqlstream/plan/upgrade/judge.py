"""The verdict on a changed job: what goes on, what begins anew, what is lost."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlstream.plan.upgrade.record import NodeRecord, PlanRecord, SinkRecord, SourceRecord

# The name of an aggregate, in the text of its node.
_ALIAS = re.compile(r" AS [^,\]]+")


class Fate(Enum):
    """What becomes of a part of a job."""

    KEPT = "kept"
    IN_PART = "kept in part"
    NEW = "new"
    LOST = "lost"


@dataclass(frozen=True)
class Judged:
    """A part of a job, ``what`` (source, state, sink) and ``name``, with its fate and why."""

    what: str
    name: str
    fate: Fate
    why: str


@dataclass(frozen=True)
class SinkMatch:
    """How the sink with number ``new`` goes on. ``old``: that of before whose checkpoint it takes, None where it begins as its sources' options say.

    ``nodes``: ids of nodes with those of before whose state they take; ``sources``: the names of sources with those of before whose offsets they
    take; ``stateful``: whether the old one is this sink, so that state is taken at all; ``loses``: whether some of it is not. ``in_part``: the ids of
    nodes whose state is kept in part, each with whether all that was kept goes on, beside what begins.
    """

    new: int
    old: int | None
    nodes: Mapping[str, str]
    sources: Mapping[str, str]
    stateful: bool = True
    loses: bool = False
    in_part: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """All parts of a job, and how each of its sinks goes on."""

    parts: tuple[Judged, ...]
    sinks: tuple[SinkMatch, ...]

    @property
    def lost(self) -> tuple[Judged, ...]:
        """The state and the inputs that would be lost."""
        return tuple(part for part in self.parts if part.fate is Fate.LOST)

    @property
    def in_part(self) -> tuple[Judged, ...]:
        """The state of which a part goes on."""
        return tuple(part for part in self.parts if part.fate is Fate.IN_PART)


def judge(old: PlanRecord, new: PlanRecord) -> Verdict:
    """What becomes of a job with the plan ``old`` that goes on with the plan ``new``."""
    parts: list[Judged] = []
    matches: list[SinkMatch] = []
    left = list(range(len(old.sinks)))
    for number, sink in enumerate(new.sinks):
        before = next((i for i in left if old.sinks[i].table == sink.table), None)
        if before is None:
            matches.append(_begun(number, sink, old, parts))
            continue
        left.remove(before)
        elsewhere = old.zone if old.zone and old.zone != new.zone else None
        matches.append(_continued(number, sink, before, old.sinks[before], elsewhere, parts))
    parts += [Judged("sink", old.sinks[i].table, Fate.LOST, "nothing is written into it any more") for i in left]
    return Verdict(tuple(dict.fromkeys(parts)), tuple(matches))


def _begun(number: int, sink: SinkRecord, old: PlanRecord, parts: list[Judged]) -> SinkMatch:
    """A sink that was not there: it begins where another one that reads the same is."""
    for i, other in enumerate(old.sinks):
        sources = _sources(other, sink, {}, [])
        if len(sources) == len(sink.sources) and sink.sources and not sink.statics:
            parts.append(Judged("sink", sink.table, Fate.NEW, f"gets what comes from now on: it begins where '{other.table}' stopped"))
            return SinkMatch(number, i, {}, sources, stateful=False)
    parts.append(Judged("sink", sink.table, Fate.NEW, "reads its sources from where their options say"))
    return SinkMatch(number, None, {}, {})


def _continued(number: int, sink: SinkRecord, before: int, other: SinkRecord, zone: str | None, parts: list[Judged]) -> SinkMatch:
    """``zone``: that of the job before where it is another."""
    judged: list[Judged] = []
    if zone is None:
        nodes, in_part = _nodes(other.nodes, sink.nodes, frozenset(s.place for s in other.sources), judged)
    else:
        nodes, in_part = {}, {}
        why = f"what it holds may be by the days and hours of '{zone}', where 'table.local-time-zone' was before"
        judged += [Judged("state", node.text, Fate.LOST, why) for node in sink.nodes if node.keeps_state]
    parts += judged
    sources = _sources(other, sink, _renamed(other, sink), parts)
    if other.statics != sink.statics:
        parts.append(Judged("source", sink.table, Fate.LOST, "the tables that were read once, when the job began, are others now"))
    match = SinkMatch(number, before, nodes, sources, loses=any(part.fate is Fate.LOST for part in judged), in_part=in_part)
    added = [c for c in sink.columns if c not in other.columns]
    if sink.place and other.place and sink.place != other.place:
        parts.append(Judged("sink", sink.table, Fate.NEW, "it is written elsewhere: it gets what comes from now on"))
        return match
    told = ["nothing is written twice"]
    if not sink.appends and not other.appends and sink.nodes[-1].id != other.nodes[-1].id:
        told.append("a row that is there stays as the earlier statement wrote it until this one writes its key")
    if added:
        told.append(f"columns are added: {', '.join(added)}")
    parts.append(Judged("sink", sink.table, Fate.KEPT, "; ".join(told)))
    return match


def _nodes(
    old: Sequence[NodeRecord], new: Sequence[NodeRecord], read: Collection[str], parts: list[Judged]
) -> tuple[dict[str, str], dict[str, bool]]:
    """Which node goes on with the state of which: the same one, else one that keeps the same above other rows, or by another condition; and which
    of them with a part of it. ``read``: the places that the old plan read.
    """
    taken: dict[str, str] = {n.id: n.id for n in new if any(o.id == n.id for o in old)}
    parts += [Judged("state", n.text, Fate.KEPT, "nothing has changed") for n in new if n.keeps_state and n.id in taken]
    ways = (
        ("own", "what it holds was made of the rows that the earlier statement gave it"),
        ("layout", "what it holds meets the new condition only with rows that come from now on"),
    )
    for way, why in ways:
        free: dict[str, list[NodeRecord]] = defaultdict(list)
        for node in old:
            if node.keeps_state and node.id not in taken.values() and getattr(node, way):
                free[getattr(node, way)].append(node)
        for node in new:
            candidates = free[getattr(node, way)]
            # Of several that are alike nobody knows which is which.
            if node.keeps_state and len(candidates) == 1 and _alone(node, new, way, taken) and _goes_on(candidates[0], node, read):
                taken[node.id] = candidates.pop().id
                parts.append(Judged("state", node.text, Fate.KEPT, why))
    in_part = _in_part(old, new, taken, read, parts)
    for node in new:
        if node.keeps_state and node.id not in taken:
            above = any(holder in taken for holder in node.holders)
            why = "it begins empty, and rows that came before would be taken back from it" if above else "begins empty"
            parts.append(Judged("state", node.text, Fate.LOST if above else Fate.NEW, why))
    gone = [n for n in old if n.keeps_state and n.id not in taken.values()]
    parts += [Judged("state", n.text, Fate.LOST, _why_lost(n, [m for m in new if m.keeps_state and m.id not in taken], read)) for n in gone]
    return taken, in_part


def _goes_on(old: NodeRecord, new: NodeRecord, read: Collection[str]) -> bool:
    return _finds(old, new) and not _exchanged(old, new, read)


def _exchanged(old: NodeRecord, new: NodeRecord, read: Collection[str]) -> bool:
    """Whether an input of ``new`` reads none of what that of ``old`` did, and only what was read elsewhere in the plan: ``read`` are its places. The
    state has no rows of it.
    """
    return any(bool(now) and set(now) <= set(read) and set(now).isdisjoint(before) for before, now in zip(old.places, new.places, strict=False))


def _finds(old: NodeRecord, new: NodeRecord) -> bool:
    """Whether the rows that ``old`` was given are taken back from ``new`` as they were."""
    return Counter(old.takes) <= Counter(new.takes)


def _why_lost(old: NodeRecord, left: Sequence[NodeRecord], read: Collection[str]) -> str:
    """Why none of ``left`` goes on with what ``old`` keeps."""
    ways = ("own", "layout", "groups")
    alike = [n for n in left if any(getattr(n, way) and getattr(n, way) == getattr(old, way) for way in ways)]
    if any(not _finds(old, n) for n in alike):
        return "rows that it holds are taken back by all of their values, and the new plan makes them otherwise"
    if any(_exchanged(old, n, read) for n in alike):
        return "its inputs are others, which it has no rows of"
    if any(n.own == old.own or (n.layout and n.layout == old.layout) for n in alike):
        return "several are alike, and none is known from the others: change one, submit it, then the next"
    if any(_ALIAS.sub("", n.text) == _ALIAS.sub("", old.text) for n in left):
        return "it keeps more where its rows can be taken back, as by a filter above it, than where each takes the place of the last"
    return "no operator of the new plan keeps the same"


def _in_part(
    old: Sequence[NodeRecord], new: Sequence[NodeRecord], taken: dict[str, str], read: Collection[str], parts: list[Judged]
) -> dict[str, bool]:
    """Aggregates of the same groups that share some of their calls."""
    found = {}
    for node in new:
        if node.groups and node.id not in taken and _alone(node, new, "groups", taken):
            theirs = [o for o in old if o.groups == node.groups and o.id not in taken.values()]
            if len(theirs) == 1 and _goes_on(theirs[0], node, read) and (why := _shared(theirs[0], node)) is not None:
                taken[node.id] = theirs[0].id
                found[node.id] = dict(theirs[0].aggregates).keys() <= dict(node.aggregates).keys()
                parts.append(Judged("state", node.text, Fate.IN_PART, why))
    return found


def _shared(old: NodeRecord, new: NodeRecord) -> str | None:
    """What becomes of the aggregates that only one of both has; None where they share none."""
    before, after = dict(old.aggregates), dict(new.aggregates)
    if not before.keys() & after.keys():
        return None
    said = []
    if added := [text for call, text in after.items() if call not in before]:
        said.append(f"{', '.join(added)} begin{'s' if len(added) == 1 else ''} with the rows that come from now on")
    if gone := [text for call, text in before.items() if call not in after]:
        said.append(f"{', '.join(gone)} {'is' if len(gone) == 1 else 'are'} forgotten")
    return "; ".join(said) or "its aggregates change places"


def _alone(node: NodeRecord, new: Sequence[NodeRecord], field: str, taken: Mapping[str, str]) -> bool:
    like = {n.id for n in new if n.keeps_state and n.id not in taken and getattr(n, field) == getattr(node, field)}
    return like == {node.id}


def _sources(old: SinkRecord, new: SinkRecord, renamed: Mapping[str, str], parts: list[Judged]) -> dict[str, str]:
    """The names of the sources of ``new`` that go on with offsets of ``old``, with the names there. ``renamed`` as of ``_renamed``."""
    by_reads: dict[str, list[SourceRecord]] = defaultdict(list)
    for source in old.sources:
        by_reads[source.reads].append(source)
    found: dict[str, str] = {}
    for reads in dict.fromkeys(s.reads for s in new.sources):
        ours, theirs = [s for s in new.sources if s.reads == reads], by_reads.pop(renamed.get(reads, reads), [])
        table = ours[0].table
        kept = "its offsets go on" + (f": it was called {theirs[0].table}" if theirs and theirs[0].table != table else "")
        if len(ours) == len(theirs) == 1:
            found[ours[0].name] = theirs[0].name
            parts.append(Judged("source", table, Fate.KEPT, kept))
        elif not theirs:
            elsewhere = any(s.table == table for s in old.sources)
            begins = "it is read from elsewhere" if elsewhere else "it was not read before"
            parts.append(Judged("source", table, Fate.NEW, f"{begins}: it begins where its options say"))
        elif sorted(s.branch for s in ours) == sorted(s.branch for s in theirs):
            left = list(theirs)
            for source in ours:
                before = next(s for s in left if s.branch == source.branch)
                left.remove(before)
                found[source.name] = before.name
            parts.append(Judged("source", table, Fate.KEPT, kept))
        else:
            parts.append(Judged("source", table, Fate.LOST, "it is read more than once, and what is made of its rows has changed"))
    for gone in by_reads.values():
        if not any(s.table == gone[0].table for s in new.sources):
            parts.append(Judged("source", gone[0].table, Fate.LOST, "it is not read any more: its offsets are forgotten"))
    return found


def _renamed(old: SinkRecord, new: SinkRecord) -> dict[str, str]:
    """What tables read that have other names now, each with what it was called: of one place, and of no other."""
    gone, come = ({s.reads: s.place for s in of.sources if all(s.reads != o.reads for o in other.sources)} for of, other in ((old, new), (new, old)))
    places = Counter(gone.values()), Counter(come.values())
    return {
        ours: theirs
        for ours, place in come.items()
        for theirs, before in gone.items()
        if place and place == before and places[0][place] == places[1][place] == 1
    }
