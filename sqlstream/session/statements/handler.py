"""What carries out a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlstream.core.errors import SqlStreamError
from sqlstream.session.context import Context
from sqlstream.session.results import Outcome

if TYPE_CHECKING:
    from sqlglot import exp

# The node of a statement and the session come in; what it answers goes out, in one piece or in several. Raises SqlStreamError.
Handler: TypeAlias = Callable[[Any, Context], Outcome | Iterator[Outcome]]


@contextmanager
def placed(at: exp.Expr) -> Iterator[None]:
    """Errors that are raised meanwhile are about ``at``, but for those that have a place."""
    try:
        yield
    except SqlStreamError as error:
        error.at = at if error.at is None else error.at
        raise
