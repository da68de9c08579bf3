"""A question in the terminal. It waits in slices, for Ctrl-C goes to the main thread."""

from __future__ import annotations

import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.shell.screen import Screen

SLICE_SECONDS = 0.1


def confirmed(question: str, screen: Screen, interrupted: Callable[[], bool]) -> bool:
    """Whether the user says yes; anything else, Ctrl-C and the end of input are a no."""
    screen.notify(f"{question} [y/N]")
    while not interrupted():
        if select.select([sys.stdin], [], [], SLICE_SECONDS)[0]:
            return sys.stdin.readline().strip().lower() in ("y", "yes")
    return False
