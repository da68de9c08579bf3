"""Whether the state of one operator can be gone on with by another: asked of their records alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlstream.runtime.checkpoints.records import OperatorRecord

_EXPIRES = ", which expires"
# The names of columns in a type: a state knows them by their places.
_NAMES = re.compile(r"(?<=[<,])[^<>:,()]+:")


def why_not(old: OperatorRecord, new: OperatorRecord) -> str | None:
    """Why ``new`` can't go on with the state of ``old``, as the end of a sentence; None where it can."""
    if old.kind != new.kind or _operator(old.state) != _operator(new.state):
        return "it keeps something else in another way"
    if (_EXPIRES in old.state) != (_EXPIRES in new.state):
        return "its state did not expire, and is to expire now" if _EXPIRES in new.state else "its state expired, and is to be kept now"
    if old.stores != new.stores or _shape(old.state) != _shape(new.state):
        return "the columns or aggregates that it keeps are others"
    return None


def _operator(state: str) -> str:
    """The first layout of a state of ours, without its version; nothing for one of Spark's."""
    return "" if state.startswith("by ") else state.partition(" ")[0]


def _shape(state: str) -> str:
    """What is kept, without layouts, which keep the versions that they began with, and without names."""
    types = state[state.index(" of ") :] if _operator(state) and " of " in state else state
    return _NAMES.sub("", types)
