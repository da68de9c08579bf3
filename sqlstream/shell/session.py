"""What the shell needs of a session: one of this process, or one that a server has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping, Sequence
    from pathlib import Path

    from sqlstream.core.errors import SqlStreamError
    from sqlstream.session.completion import Suggestion
    from sqlstream.session.results import Outcome
    from sqlstream.session.standing import Standing


class ShellSession(Protocol):
    """See ``sqlstream.session.session.Session``, and ``sqlstream.session.joined.session.JoinedSession``."""

    @property
    def project(self) -> Path: ...

    @property
    def options(self) -> MutableMapping[str, str]: ...

    def run(self, script: str, name: str | None = None) -> Iterator[Outcome]: ...

    def initialize(self, script: str, name: str | None = None) -> Iterator[Outcome]: ...

    def interrupt(self, *, for_good: bool = False) -> None: ...

    def wait(self) -> None: ...

    def on_failure(self, hear: Callable[[SqlStreamError], None]) -> None: ...

    def suggester(self) -> Callable[[str, int], Sequence[Suggestion]]: ...

    def standing(self) -> Standing: ...

    def start_spark(self) -> None: ...

    def close(self) -> None: ...

    def hurry(self) -> None: ...
