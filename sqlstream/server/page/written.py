"""Numbers and times in the text of a page. Each has its plain value beside it, of which the browser makes what its language has."""

from __future__ import annotations

import time
from math import floor

from markupsafe import Markup

from sqlstream.core.counts import of_several
from sqlstream.runtime.monitor import figures

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_NONE = Markup('<span class="soft">-</span>')


def number(value: float | None) -> Markup:
    """A count, or a rate; a dash where it is not known."""
    if value is None:
        return _NONE
    text = f"{value:,.1f}" if isinstance(value, float) and 0 < value < 10 else f"{value:,.0f}"
    return Markup('<data value="{}" data-as="number">{}</data>').format(f"{value:.1f}" if isinstance(value, float) else value, text)


def counted(count: int, noun: str) -> Markup:
    """``1 row``, ``2,000 rows``."""
    return Markup("{} {}").format(number(count), of_several(count, noun))


def size_of(value: int | None) -> Markup:
    """Bytes."""
    return _NONE if value is None else Markup('<data value="{}" data-as="bytes">{}</data>').format(value, figures.size(value))


def length_of(seconds: float | None) -> Markup:
    """A length of time, in its largest unit."""
    return _NONE if seconds is None else Markup('<data value="{}" data-as="duration">{}</data>').format(f"{seconds:.1f}", _length(seconds))


def ago(at: float | None, now: float | None = None) -> Markup:
    """How long ago a moment was; the moment itself stands behind it. ``now``: the moment from which it is seen."""
    if at is None:
        return _NONE
    passed = (time.time() if now is None else now) - at
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(_iso(at), _length(passed))


def behind(at: float | None, now: float | None = None) -> Markup:
    """How far a watermark is behind the clock, or ahead of it; by its date where that is more than a year."""
    if at is None:
        return _NONE
    late = (time.time() if now is None else now) - at
    far = abs(late) > 366 * 86_400
    text = _text(at) if far else f"{_length(abs(late))} {'behind' if late >= 0 else 'ahead'}"
    return Markup('<time datetime="{0}" title="{0}"{1}>{2}</time>').format(_iso(at), Markup(' data-as="moment"') if far else "", text)


def moment(at: float | None) -> Markup:
    """A moment."""
    return _NONE if at is None else Markup('<time datetime="{}" data-as="moment">{}</time>').format(_iso(at), _text(at))


def _length(seconds: float) -> str:
    name, unit = next(((name, unit) for name, unit in _UNITS if seconds >= unit), ("s", 1))
    return f"{seconds:.1f} s" if unit == 1 and 0 < seconds < 10 else f"{seconds // unit:,.0f} {name}"


def _text(at: float) -> str:
    return figures.moment(floor(at) * 1000, "UTC")


def _iso(at: float) -> str:
    return f"{_text(at).replace(' ', 'T')}Z"
