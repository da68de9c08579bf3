"""A window function over a node."""

from __future__ import annotations

from dataclasses import replace

from sqlstream.plan.naming import without_names
from sqlstream.plan.nodes import WINDOW_COLUMNS, Node, Window, WindowTvf
from sqlstream.plan.properties import fields


def over_windows(source: Node, window: Window, zone: str) -> WindowTvf:
    """``window`` over ``source``, whose columns that are called as those of a window get other names."""
    renamed = without_names(source, WINDOW_COLUMNS)
    names = dict(zip((f.name for f in fields(source)), (f.name for f in fields(renamed)), strict=True))
    keys = None if window.keys is None else tuple(names[k] for k in window.keys)
    return WindowTvf(renamed, replace(window, time=names[window.time], keys=keys), zone)
