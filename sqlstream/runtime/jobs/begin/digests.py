"""By what the same plan is found again."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sqlstream.plan.identity import all_options, signature

if TYPE_CHECKING:
    from sqlstream.plan.nodes import Sink


def digest(sinks: tuple[Sink, ...], zone: str) -> str:
    """What identifies the plan of a job, in the time zone ``zone``."""
    return _hash([zone, *(signature(s) for s in sinks)])


def first_digest(sinks: tuple[Sink, ...], zone: str) -> str:
    """The same, as folders of layout 1 are called after it."""
    return _hash([zone, *(signature(s, all_options) for s in sinks)])[:12]


def _hash(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
