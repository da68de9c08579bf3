"""The verdict on a changed job: what goes on, what begins anew, what is lost."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from sqlstream.connectors import CONNECTORS, find_connector
from sqlstream.core.counts import numbered, of_several
from sqlstream.plan.upgrade.record import other_code, record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set

    from sqlstream.plan.nodes import Sink
    from sqlstream.plan.upgrade.record import NodeRecord, PlanRecord, SinkRecord, SourceRecord

# A part of the text of a node: its name, and what is in its brackets, which may have others.
_PART = re.compile(r"(\w+)=(\[(?:[^\[\]]|\[[^\[\]]*\])*\])")
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
    nodes whose state is kept in part, each with whether all that was kept goes on, beside what begins. ``fewer``: which of the sources read fewer
    places than before.
    """

    new: int
    old: int | None
    nodes: Mapping[str, str]
    sources: Mapping[str, str]
    stateful: bool = True
    loses: bool = False
    in_part: Mapping[str, bool] = field(default_factory=dict)
    fewer: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Verdict:
    """All parts of a job, and how each of its sinks goes on; ``moved``: none is written where it was; ``rekeyed``: one has another PRIMARY KEY."""

    parts: tuple[Judged, ...]
    sinks: tuple[SinkMatch, ...]
    moved: bool = False
    rekeyed: bool = False

    @property
    def lost(self) -> tuple[Judged, ...]:
        """The state and the inputs that would be lost."""
        return tuple(part for part in self.parts if part.fate is Fate.LOST)

    @property
    def offsets_lost(self) -> bool:
        """Whether it can't go on where that of before stopped: offsets are forgotten, or what they stand for is not in its tables."""
        return self.moved or self.rekeyed or any(part.what == "source" for part in self.lost)

    @property
    def in_part(self) -> tuple[Judged, ...]:
        """The state of which a part goes on."""
        return tuple(part for part in self.parts if part.fate is Fate.IN_PART)

    @property
    def lossy(self) -> bool:
        """Whether anything would be lost, a part of a state included."""
        return bool(self.lost or self.in_part)


def verdict_on(old: PlanRecord, sinks: tuple[Sink, ...], zone: str, *, saved: bool = False) -> Verdict:
    """What becomes of a job with the plan ``old`` that goes on with ``sinks``, in this time zone; ``saved`` as of ``judge``."""
    return judge(old, record(sinks, zone, old.known), saved=saved)


def judge(old: PlanRecord, new: PlanRecord, *, saved: bool = False) -> Verdict:
    """What becomes of a job with the plan ``old`` that goes on with the plan ``new``. ``saved``: it begins with a savepoint, which may go
    into other sinks."""
    parts: list[Judged] = []
    matches: list[SinkMatch] = []
    before = _sinks(old.sinks, new.sinks, saved=saved)
    elsewhere = old.zone if old.zone and old.zone != new.zone else None
    code = frozenset(other_code(old, new))
    moved = not saved and bool(before) and all(_moved(old.sinks[i], new.sinks[n]) for n, i in before.items())
    for number, (name, sink) in enumerate(zip(numbered(sink.table for sink in new.sinks), new.sinks, strict=True)):
        if number in before:
            other = old.sinks[before[number]]
            matches.append(_continued(number, sink, before[number], other, elsewhere, code, parts))
            written = _written(name, sink, other, moved=moved)
            if len(new.sinks) > 1 and sink.nodes[-2].id != other.nodes[-2].id:
                written = replace(written, why=f"{written.why}; its query has changed")
            parts.append(written)
        else:
            matches.append(_begun(number, name, sink, old, parts))
    gone = "it is no longer written"
    parts += [Judged("sink", sink.table, Fate.LOST, gone) for i, sink in enumerate(old.sinks) if i not in before.values()]
    rekeyed = any(_rekeyed(old.sinks[i], new.sinks[n]) for n, i in before.items())
    return Verdict(tuple(dict.fromkeys(parts)), tuple(matches), moved, rekeyed)


def _sinks(old: Sequence[SinkRecord], new: Sequence[SinkRecord], *, saved: bool) -> dict[int, int]:
    """The numbers of the new sinks that go on, each with that of which it does: of its name and place, of its place, of its name; of a savepoint also
    of its query, or what is left."""
    found: dict[int, int] = {}

    def go_on(alike: Callable[[SinkRecord, SinkRecord], bool]) -> None:
        for number, sink in enumerate(new):
            if number not in found:
                left = (i for i, other in enumerate(old) if i not in found.values() and alike(sink, other))
                if (before := next(left, None)) is not None:
                    found[number] = before

    go_on(lambda a, b: a.table == b.table and a.place == b.place)
    go_on(lambda a, b: bool(a.place) and a.place == b.place)
    go_on(lambda a, b: a.table == b.table)
    if saved:
        go_on(lambda a, b: a.nodes[-2].id == b.nodes[-2].id)
        if len(new) - len(found) == len(old) - len(found) == 1:
            go_on(lambda a, b: True)
    return found


def _moved(old: SinkRecord, new: SinkRecord) -> bool:
    # What is on a screen is nowhere; an earlier release kept neither key nor place.
    return (bool(old.place) or old.key is not None) and old.place != new.place


def _rekeyed(old: SinkRecord, new: SinkRecord) -> bool:
    """Whether rows that are there are known by another key."""
    return bool(new.place) and old.place == new.place and None not in (old.key, new.key) and old.key != new.key


def _begun(number: int, name: str, sink: SinkRecord, old: PlanRecord, parts: list[Judged]) -> SinkMatch:
    """A sink that was not there: it begins where another one that reads the same is."""
    for i, other in enumerate(old.sinks):
        sources, fewer = _sources(other, sink, [])
        if len(sources) == len(sink.sources) and sink.sources and not sink.statics:
            parts.append(Judged("sink", name, Fate.NEW, f"gets new rows only, from where '{other.table}' stopped"))
            return SinkMatch(number, i, {}, sources, stateful=False, fewer=fewer)
    parts.append(Judged("sink", name, Fate.NEW, "reads its sources from where their options say"))
    return SinkMatch(number, None, {}, {})


def _continued(number: int, sink: SinkRecord, before: int, other: SinkRecord, zone: str | None, code: Set[str], parts: list[Judged]) -> SinkMatch:
    """``zone``: that of the job before where it is another; ``code``: the functions whose code is another."""
    judged: list[Judged] = []
    if zone is None:
        read = frozenset(place for source in other.sources for place in source.places)
        nodes, in_part = _nodes(other.nodes, sink.nodes, read, code, judged)
    else:
        nodes, in_part = {}, {}
        why = f"its state may depend on the time zone '{zone}', which 'table.local-time-zone' was before"
        judged += [Judged("state", node.text, Fate.LOST, why) for node in sink.nodes if node.keeps_state]
    parts += judged
    sources, fewer = _sources(other, sink, parts)
    if other.statics != sink.statics:
        parts.append(Judged("source", sink.table, Fate.LOST, "other tables than before are read once, when the job begins"))
    loses = any(part.fate is Fate.LOST for part in judged)
    return SinkMatch(number, before, nodes, sources, loses=loses, in_part=in_part, fewer=fewer)


def _written(name: str, sink: SinkRecord, other: SinkRecord, *, moved: bool) -> Judged:
    """The fate of a sink that goes on as ``other``; ``moved``: the job writes nowhere where it did."""
    if _moved(other, sink):
        if moved:
            return Judged("sink", name, Fate.LOST, "the job writes to none of its earlier places: earlier rows are not there")
        return Judged("sink", name, Fate.NEW, "it is another place, which gets new rows only")
    if _rekeyed(other, sink):
        before = f"was ({', '.join(other.key or ())})" if other.key else "is new"
        return Judged("sink", name, Fate.LOST, f"its PRIMARY KEY {before}: existing rows are identified by the earlier key")
    told = ["nothing is written twice" if sink.place else "it gets new rows only: it does not store earlier ones"]
    if sink.table != other.table:
        told[0] += f"; it was called {other.table}"
    if not sink.appends and not other.appends and sink.nodes[-1].id != other.nodes[-1].id:
        told.append("existing rows stay as they are until this statement writes their key")
    if added := [c for c in sink.columns if c not in other.columns]:
        told.append(f"columns are added: {', '.join(added)}")
    told += _other_options(other, sink)
    return Judged("sink", name, Fate.KEPT, "; ".join(told))


def _nodes(
    old: Sequence[NodeRecord], new: Sequence[NodeRecord], read: Collection[str], code: Set[str], parts: list[Judged]
) -> tuple[dict[str, str], dict[str, bool]]:
    """Which node goes on with the state of which: the same one, else one that keeps the same above other rows, or by another condition; and which
    of them with a part of it. ``read``: the places that the old plan read.
    """
    taken: dict[str, str] = {n.id: n.id for n in new if any(o.id == n.id and _finds(o, n, code) for o in old)}
    parts += [Judged("state", n.text, Fate.KEPT, "nothing has changed") for n in new if n.keeps_state and n.id in taken]
    ways = (
        ("own", "its state was computed from rows of the earlier statement"),
        ("layout", "the new condition applies to new rows only"),
    )
    for way, why in ways:
        free: dict[str, list[NodeRecord]] = defaultdict(list)
        for node in old:
            if node.keeps_state and node.id not in taken.values() and getattr(node, way):
                free[getattr(node, way)].append(node)
        for node in new:
            candidates = free[getattr(node, way)]
            # Of several that are alike nobody knows which is which.
            if node.keeps_state and len(candidates) == 1 and _alone(node, new, way, taken) and _goes_on(candidates[0], node, read, code):
                taken[node.id] = candidates.pop().id
                parts.append(Judged("state", node.text, Fate.KEPT, why))
    in_part = _in_part(old, new, taken, read, code, parts)
    for node in new:
        if node.keeps_state and node.id not in taken:
            above = any(holder in taken for holder in node.holders)
            why = "it would start empty, and get retractions of rows that it never had" if above else "starts empty"
            parts.append(Judged("state", node.text, Fate.LOST if above else Fate.NEW, why))
    gone = [n for n in old if n.keeps_state and n.id not in taken.values()]
    parts += [Judged("state", n.text, Fate.LOST, _why_lost(n, [m for m in new if m.keeps_state and m.id not in taken], read, code)) for n in gone]
    return taken, in_part


def _goes_on(old: NodeRecord, new: NodeRecord, read: Collection[str], code: Set[str]) -> bool:
    return _finds(old, new, code) and not _exchanged(old, new, read)


def _exchanged(old: NodeRecord, new: NodeRecord, read: Collection[str]) -> bool:
    """Whether an input of ``new`` reads none of what that of ``old`` did, and only what was read elsewhere in the plan: ``read`` are its places. The
    state has no rows of it.
    """
    return any(bool(now) and set(now) <= set(read) and set(now).isdisjoint(before) for before, now in zip(old.places, new.places, strict=False))


def _finds(old: NodeRecord, new: NodeRecord, code: Set[str]) -> bool:
    """Whether the rows that ``old`` was given are taken back from ``new`` as they were; ``code``: the functions whose code is another."""
    return Counter(old.takes) <= Counter(new.takes) and not (old.takes and code & set(new.functions))


def _why_lost(old: NodeRecord, left: Sequence[NodeRecord], read: Collection[str], code: Set[str]) -> str:
    """Why none of ``left`` goes on with what ``old`` keeps."""
    ways = ("own", "layout", "groups")
    alike = [n for n in left if any(getattr(n, way) and getattr(n, way) == getattr(old, way) for way in ways)]
    if others := [name for n in alike if not _finds(old, n, code) and _finds(old, n, set()) for name in n.functions if name in code]:
        return f"it retracts rows by all of their values, and the code of {', '.join(dict.fromkeys(others))} has changed"
    if any(not _finds(old, n, code) for n in alike):
        return "it retracts rows by all of their values, and the new plan computes other values"
    if any(_exchanged(old, n, read) for n in alike):
        return "its state has no rows of its new inputs"
    if any(n.own == old.own or (n.layout and n.layout == old.layout) for n in alike):
        return "several operators are alike, and sqlstream can't tell which is which: change one, submit it, then the next"
    if any(_ALIAS.sub("", n.text) == _ALIAS.sub("", old.text) for n in left):
        return "its state needs other types, or more values, as for retractions by a filter above it"
    same_kind = [n for n in left if _kind(n.text) == _kind(old.text)]
    told = "no operator of the new plan has the same state"
    return told if len(same_kind) != 1 else f"{told}{_otherwise(old.text, same_kind[0].text)}"


def _kind(text: str) -> str:
    return text.partition("(")[0]


def _otherwise(old: str, new: str) -> str:
    """What of an operator, by its text, is another."""
    before, after = dict(_PART.findall(old)), dict(_PART.findall(new))
    # What is selected follows from the rest, but where there is nothing else.
    names = [name for name in after if before.get(name) != after[name]]
    names = [name for name in names if name != "select"] or names
    return "".join(f"; {name} was {before.get(name, 'not there')}, and is {after[name]}" for name in names)


def _in_part(
    old: Sequence[NodeRecord], new: Sequence[NodeRecord], taken: dict[str, str], read: Collection[str], code: Set[str], parts: list[Judged]
) -> dict[str, bool]:
    """Aggregates of the same groups that share some of their calls."""
    found = {}
    for node in new:
        if node.groups and node.id not in taken and _alone(node, new, "groups", taken):
            theirs = [o for o in old if o.groups == node.groups and o.id not in taken.values()]
            if len(theirs) == 1 and _goes_on(theirs[0], node, read, code) and dict(theirs[0].aggregates).keys() & dict(node.aggregates).keys():
                taken[node.id] = theirs[0].id
                found[node.id] = dict(theirs[0].aggregates).keys() <= dict(node.aggregates).keys()
                parts += _shared(theirs[0], node)
    return found


def _shared(old: NodeRecord, new: NodeRecord) -> Iterator[Judged]:
    """What becomes of aggregates that share some of their calls: of those that only one of both has."""
    before, after = dict(old.aggregates), dict(new.aggregates)
    added = [text for call, text in after.items() if call not in before]
    begin = f"{', '.join(added)} start{'s' if len(added) == 1 else ''} with new rows"
    same = "its aggregates are in another order" if before.keys() == after.keys() else "the others keep their state"
    yield Judged("state", new.text, Fate.IN_PART, begin if added else same)
    if gone := [text for call, text in before.items() if call not in after]:
        said = [f"{text}, which is of another type or other values now," if text in added else text for text in gone]
        what = f"the {of_several(len(gone), 'value')} of {', '.join(said)}"
        yield Judged("state", old.text, Fate.LOST, f"{what} {'is' if len(gone) == 1 else 'are'} discarded")


def _alone(node: NodeRecord, new: Sequence[NodeRecord], by: str, taken: Mapping[str, str]) -> bool:
    like = {n.id for n in new if n.keeps_state and n.id not in taken and getattr(n, by) == getattr(node, by)}
    return like == {node.id}


def _sources(old: SinkRecord, new: SinkRecord, parts: list[Judged]) -> tuple[dict[str, str], frozenset[str]]:
    """The names of the sources of ``new`` that go on with offsets of ``old``, with the names there; and which of them read fewer places."""
    found: dict[str, str] = {}
    fewer: set[str] = set()
    read: set[str] = set()
    for places in dict.fromkeys(s.places for s in new.sources):
        ours = [s for s in new.sources if s.places == places]
        theirs = [s for s in old.sources if any(_reads(ours[0], place) for place in s.places)]
        read.update(place for s in theirs for place in s.places if _reads(ours[0], place))
        tables = dict.fromkeys(s.table for s in ours)
        if not theirs:
            known = {s.table for s in old.sources}
            for table in tables:
                if table in known and _generates(ours[0]):
                    why = "other options generate its rows, which start over"
                else:
                    why = f"{'it is read from another place' if table in known else 'it was not read before'}: reading starts where its options say"
                parts.append(Judged("source", table, Fate.NEW, why))
            continue
        pairs = _pairs(ours, theirs)
        found |= {source.name: before.name for source, before in pairs}
        fewer |= {source.name for source, before in pairs if not all(_reads(source, place) for place in before.places)}
        for table in tables:
            called = {before.table for source, before in pairs if source.table == table}
            if called:
                told = "reading resumes at its offsets" + ("" if table in called else f"; it was called {min(called)}")
                others = (each for source, before in pairs if source.table == table for each in _other_options(before, source))
                parts.append(Judged("source", table, Fate.KEPT, "; ".join([told, *dict.fromkeys(others)])))
            else:
                parts.append(Judged("source", table, Fate.LOST, "it is read more than once, and its uses have changed"))
    for gone in old.sources:
        if left := [place for place in gone.places if place not in read]:
            parts.append(Judged("source", gone.table, Fate.LOST, _gone(gone, left, new)))
    return found, frozenset(fewer)


def differences(old: PlanRecord, new: PlanRecord) -> list[str]:
    """What is known to be another, beside statements: options of tables, the code of functions, the time zone."""
    before = {table.table: table for table in _tables(old)}
    found = [f"table {n.table}: {told}" for n in _tables(new) if n.table in before for told in _other_options(before[n.table], n)]
    found += [f"the code of function {name} has changed" for name in other_code(old, new)]
    if old.zone and old.zone != new.zone:
        found.append(f"'table.local-time-zone' is '{new.zone}' and was '{old.zone}'")
    return list(dict.fromkeys(found))


def _tables(plan: PlanRecord) -> Iterator[SourceRecord | SinkRecord]:
    for sink in plan.sinks:
        yield from sink.sources
        yield sink


def _other_options(old: SourceRecord | SinkRecord, new: SourceRecord | SinkRecord) -> Iterator[str]:
    """Which options of a table are set otherwise than before."""
    if old.options is None or new.options is None:
        return
    before, now = old.options, new.options
    if changed := sorted(f"'{key}'" for key in before.keys() | now.keys() if before.get(key) != now.get(key)):
        yield f"{', '.join(changed)} {'is' if len(changed) == 1 else 'are'} set otherwise than before"


def _gone(source: SourceRecord, left: Sequence[str], new: SinkRecord) -> str:
    """What of a source is not read any more, whose places that are ``left`` are in no source of ``new``."""
    stays = any(s.table == source.table for s in new.sources)
    if stays and _generates(source):
        return "its rows are no longer generated: their number is discarded"
    what = ", ".join(left) if len(left) < len(source.places) else "its earlier place" if stays else "it"
    return f"{what} is no longer read: its offsets are discarded"


def _generates(source: SourceRecord) -> bool:
    """Whether its rows are made; records of earlier releases don't say what reads them."""
    connector = CONNECTORS.usable(source.connector)
    return connector is not None and connector.generates


def _reads(source: SourceRecord, place: str) -> bool:
    return find_connector(source.connector).reads(place, source.places)


def _pairs(ours: Sequence[SourceRecord], theirs: Sequence[SourceRecord]) -> list[tuple[SourceRecord, SourceRecord]]:
    """Sources of the same places, each with that of before whose offsets it takes; none where nobody knows which is which."""
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    if sorted(s.branch for s in ours) == sorted(s.branch for s in theirs):
        return list(zip(sorted(ours, key=_branch), sorted(theirs, key=_branch), strict=True))
    tables = dict.fromkeys(s.table for s in ours)
    by_table = [([s for s in ours if s.table == table], [s for s in theirs if s.table == table]) for table in tables]
    return [pair for a, b in by_table for pair in _pairs(a, b)] if len(tables) > 1 else []


def _branch(source: SourceRecord) -> str:
    return source.branch
