"""A verdict as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlstream.plan.upgrade.judge import Verdict

# Names are cut in the middle: aggregates of one group differ at their ends.
_WIDEST, _END = 70, 32


def rows(verdict: Verdict) -> list[tuple[str, str, str, str]]:
    """What, which, its fate, why; sources first, then state, then sinks."""
    order = ("source", "state", "sink")
    return [(p.what, p.name, p.fate.value, p.why) for p in sorted(verdict.parts, key=lambda p: order.index(p.what))]


def table(verdict: Verdict) -> list[str]:
    """The lines of a table of ``rows``."""
    shown = [(what, _short(name), fate, why) for what, name, fate, why in rows(verdict)]
    widths = [max((len(row[i]) for row in shown), default=0) for i in range(3)]
    return ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in shown]


def _short(name: str) -> str:
    return name if len(name) <= _WIDEST else f"{name[: _WIDEST - _END - 3]}...{name[-_END:]}"
