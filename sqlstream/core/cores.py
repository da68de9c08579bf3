"""How many processor cores this process may use."""

from __future__ import annotations

import os


def cores() -> int:
    """Those that the operating system lets it run on."""
    return len(os.sched_getaffinity(0))
