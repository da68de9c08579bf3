"""What carries out a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from sqlstream.session.context import Context
from sqlstream.session.results import Outcome

# The node of a statement and the session come in; what it answers goes out, in one piece or in several. Raises SqlStreamError.
Handler: TypeAlias = Callable[[Any, Context], Outcome | Iterator[Outcome]]
