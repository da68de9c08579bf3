"""Lines for the user that are more than text: those that a next one replaces, and those about a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.core.errors import SqlStreamError


class Passing(str):
    """A line about how far something is. A terminal shows it until the next line of any kind; elsewhere it is left out."""


class Waiting(Passing):
    """A line about what has not answered for a while: whoever waits can end that. It is also told where there is no terminal."""


class OfJob(str):
    """A line about a job, or a row that it prints. ``error``: what is the matter with it."""

    job: str
    error: SqlStreamError | None

    def __new__(cls, line: str, job: str, error: SqlStreamError | None = None) -> OfJob:
        made = super().__new__(cls, line)
        made.job, made.error = job, error
        return made


def of_job(tell: Callable[[str], None], job: str) -> Callable[[str], None]:
    """``tell``, each of whose lines is about ``job``."""
    return lambda line: tell(line if isinstance(line, OfJob | Passing) else OfJob(line, job))
