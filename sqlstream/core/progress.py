"""Progress: lines for the user that a next one replaces."""

from __future__ import annotations


class Passing(str):
    """A line about how far something is. A terminal shows it until the next line of any kind; elsewhere it is left out."""
