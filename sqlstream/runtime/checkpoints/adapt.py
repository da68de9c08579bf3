"""Whether the state of one operator can be gone on with by another, wholly or in part: asked of their records alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlstream.runtime.checkpoints.records import OperatorRecord

# What Spark calls its own aggregate, and we ours.
_SPARKS, _AGGREGATE = "stateStoreSave", "KeyedAggregate"
_EXPIRES = ", which expires"
_GIVING = ", giving "
# The names of columns in a type: a state knows them by their places.
_NAMES = re.compile(r"(?<=[<,])[^<>:,()]+:")


def called(record: OperatorRecord) -> str:
    """What an operator is called: an aggregate as in plans, another of ours by what it keeps, another of Spark's as Spark calls it."""
    name = _operator(record.state) or record.kind
    return "GroupAggregate" if name in (_SPARKS, _AGGREGATE) else name


def why_not(old: OperatorRecord, new: OperatorRecord) -> str | None:
    """Why ``new`` can't go on with the state of ``old``, as the end of a sentence; None where it can."""
    if old.kind != new.kind or _operator(old.state) != _operator(new.state):
        return "it keeps something else in another way"
    if (_EXPIRES in old.state) != (_EXPIRES in new.state):
        return "its state did not expire, and is to expire now" if _EXPIRES in new.state else "its state expired, and is to be kept now"
    if old.stores != new.stores or _shape(old.state) != _shape(new.state):
        return "the columns or aggregates that it keeps are others"
    return None


def adapted(old: OperatorRecord, new: OperatorRecord, *, whole: bool) -> list[int | None] | None:
    """For each column that ``new`` keeps of a key that of ``old``, None for one that begins empty: of aggregates by the same keys, of which both have
    some. None where ``new`` can't go on with what ``old`` kept, ``whole``: with all of it."""
    if not (_same_groups(old, new) or _other_operator(old, new)) or not (old.aggregates and new.aggregates):
        return None
    shared = {aggregate for aggregate in new.aggregates if aggregate in old.aggregates and aggregate[0]}
    # One that can't be told from others may be any that is not there any more.
    unclear = any(not text for text, _ in (*old.aggregates, *new.aggregates))
    if not shared or ((whole or unclear) and shared != set(old.aggregates)):
        return None
    return _places(old, new)


def _places(old: OperatorRecord, new: OperatorRecord) -> list[int | None]:
    """For each column of ``new`` that of ``old`` which belongs to the same aggregate, None where that has none."""
    places: dict[tuple[str, tuple[str, ...]], int] = {}
    place = 0
    for aggregate in old.aggregates:
        places.setdefault(aggregate, place)
        place += len(aggregate[1])
    columns: list[int | None] = []
    for aggregate in new.aggregates:
        first = places.get(aggregate) if aggregate[0] else None
        columns += [None if first is None else first + i for i in range(len(aggregate[1]))]
    return columns


def exchanged(old: OperatorRecord, new: OperatorRecord) -> list[int | None] | None:
    """The same of an aggregate that was computed by Spark's own operator and is by ours, or the other way around: both keep the same buffers, and
    their places may be others. None where ``new`` can't go on with all that ``old`` kept.
    """
    same = set(old.aggregates) == set(new.aggregates) and new.aggregates and all(text for text, _ in new.aggregates)
    return _places(old, new) if same and _other_operator(old, new) else None


def _other_operator(old: OperatorRecord, new: OperatorRecord) -> bool:
    """Whether one is Spark's aggregate and the other ours, by the same keys."""
    ours = new if _operator(new.state) else old
    theirs = old if ours is new else new
    if _operator(ours.state) != _AGGREGATE or _EXPIRES in ours.state or theirs.kind != _SPARKS:
        return False
    # Before the keys ours has their hash.
    return _types(ours)[1:] == _types(theirs)


def _same_groups(old: OperatorRecord, new: OperatorRecord) -> bool:
    """Whether both are aggregates of the same operator, by the same keys."""
    if old.kind != new.kind or old.stores != new.stores or _operator(old.state) != _operator(new.state):
        return False
    if not _operator(new.state):
        return _keys(old.state) == _keys(new.state)
    alike = _types(old) == _types(new) and (_EXPIRES in old.state) == (_EXPIRES in new.state)
    return alike and _operator(new.state) == _AGGREGATE


def _types(record: OperatorRecord) -> list[str]:
    """Those of its keys."""
    keys = [] if record.table is None else json.loads(record.table["reader"]["keys"])["fields"]
    return [json.dumps(field["type"]) for field in keys]


def _keys(state: str) -> str:
    return state.partition(" keeps ")[0]


def _operator(state: str) -> str:
    """The first layout of a state of ours, without its version; nothing for one of Spark's."""
    return "" if state.startswith("by ") else state.partition(" ")[0]


def _shape(state: str) -> str:
    """What is kept, without layouts, which keep the versions that they began with, without what comes out, and without names."""
    types = state[state.index(" of ") :].rsplit(_GIVING, 1)[0] if _operator(state) and " of " in state else state
    return _NAMES.sub("", types)
