"""The sessions of clients: opened, found by their handles, closed when nobody uses them any more."""

from __future__ import annotations

import threading
import time
import uuid
from typing import TYPE_CHECKING

from sqlstream.core.errors import SqlStreamError, ValidationError
from sqlstream.server.answers import NotThere, told
from sqlstream.server.gateway.operations import Operation, Status, Turn, refuse_servers
from sqlstream.session.results import Stream
from sqlstream.sql.statements.split import split

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlstream.session.session import Session

# So long the end of a session waits for a statement of it.
_CLOSING_SECONDS = 10.0
_LOOK_SECONDS = 5.0
# So many operations of a session are known at most: who asks for more closes some.
MOST_OPERATIONS = 1_000


class ClientSession:
    """The session of a client, with the operations that it has asked for."""

    def __init__(self, handle: str, session: Session) -> None:
        self.handle = handle
        self.session = session
        self.used = time.monotonic()
        # It has no client who would use it, and ends by itself.
        self.alone = False
        self._turn = Turn(session)
        self._operations: dict[str, Operation] = {}
        self._lock = threading.Lock()
        self._closed = False

    def touch(self) -> None:
        """It is used: it stays for as long as an idle one does."""
        self.used = time.monotonic()

    def execute(self, statement: str, timeout_seconds: float | None = None, options: Mapping[str, str] | None = None) -> Operation:
        """Begin with a statement, for which ``options`` are set. Raises ValidationError where the session is closed or has too many operations."""
        operation = Operation(self._turn, statement, timeout_seconds, options or {})
        with self._lock:
            if self._closed:
                raise _no_session(self.handle)
            if len(self._operations) >= MOST_OPERATIONS:
                raise ValidationError(f"The session has {MOST_OPERATIONS:,} operations.", hint="Close those that are done with.")
            self._operations[operation.handle] = operation
        operation.start()
        return operation

    @property
    def operations(self) -> list[Operation]:
        """Those that are known."""
        with self._lock:
            return list(self._operations.values())

    def candidates(self, statement: str, position: int) -> list[str]:
        """What could be written at ``position`` of ``statement``, the likeliest first."""
        return [suggestion.text for suggestion in self.session.suggester()(statement, max(0, min(position, len(statement))))]

    def operation(self, handle: str) -> Operation:
        """The operation of this handle. Raises ValidationError."""
        with self._lock:
            found = self._operations.get(handle)
        if found is None:
            raise NotThere(f"Can not find the submitted operation in the OperationManager with the {handle}")
        return found

    def close_operation(self, handle: str) -> Status:
        """End an operation and forget it. Raises ValidationError."""
        operation = self.operation(handle)
        status = operation.close()
        with self._lock:
            self._operations.pop(handle, None)
        return status

    def close(self) -> None:
        """End what runs for the client, but its jobs."""
        with self._lock:
            self._closed = True
            operations = list(self._operations.values())
            self._operations.clear()
        for operation in operations:
            operation.close()
        for operation in operations:
            operation.await_end(_CLOSING_SECONDS)
        self.session.close()


class ClientSessions:
    """Those that are open, by their handles. ``open_session`` makes one of options; ``idle_seconds``: 0 means that they stay."""

    def __init__(
        self, open_session: Callable[[Mapping[str, str]], Session], notify: Callable[[str], None], *, idle_seconds: float, most: int
    ) -> None:
        self._open = open_session
        self._notify = notify
        self._idle_seconds = idle_seconds
        self._most = most
        self._sessions: dict[str, ClientSession] = {}
        self._lock = threading.Lock()

    @property
    def look_seconds(self) -> float:
        """How often somebody is to look for those that nobody uses."""
        return min(_LOOK_SECONDS, self._idle_seconds / 4 or _LOOK_SECONDS)

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, options: Mapping[str, str]) -> ClientSession:
        """A new session. Raises ValidationError for options that are wrong, and where there are too many sessions."""
        with self._lock:
            full = len(self._sessions) >= self._most
        if full:
            raise ValidationError(f"Failed to create session, the count of active sessions exceeds the max count: {self._most}")
        opened = ClientSession(str(uuid.uuid4()), self._open(options))
        with self._lock:
            self._sessions[opened.handle] = opened
        return opened

    def operations(self) -> list[Operation]:
        """The operations of all sessions."""
        with self._lock:
            sessions = list(self._sessions.values())
        return [operation for session in sessions for operation in session.operations]

    def deploy(self, script: str, options: Mapping[str, str]) -> str:
        """Run a script to its end in a session of its own, which has these options: its handle. Raises NotSupported, and what ``open`` does."""
        for piece in split(script):
            refuse_servers(piece)
        session = self.open(options)
        session.alone = True
        threading.Thread(target=self._run, args=(session, script), name=f"script-{session.handle}", daemon=True).start()
        return session.handle

    def _run(self, deployed: ClientSession, script: str) -> None:
        try:
            for outcome in deployed.session.run(script):
                if isinstance(outcome, Stream):
                    # Nobody reads its rows.
                    outcome.stop()
        except SqlStreamError as error:
            self._notify(f"The script of session {deployed.handle} has failed: {told(error)}")
        finally:
            self._closes(deployed.handle)

    def find(self, handle: str) -> ClientSession:
        """The open session of this handle, which is used now. Raises ValidationError."""
        with self._lock:
            found = self._sessions.get(handle)
        if found is None:
            raise _no_session(handle)
        found.touch()
        return found

    def close(self, handle: str) -> None:
        """Close the session of this handle. Raises ValidationError."""
        with self._lock:
            found = self._sessions.pop(handle, None)
        if found is None:
            raise _no_session(handle)
        found.close()

    def close_idle(self) -> list[str]:
        """Close those that nobody has used for too long; their handles."""
        if not self._idle_seconds:
            return []
        latest = time.monotonic() - self._idle_seconds
        with self._lock:
            idle = [handle for handle, session in self._sessions.items() if session.used < latest and not session.alone]
        return [handle for handle in idle if self._closes(handle)]

    def _closes(self, handle: str) -> bool:
        try:
            self.close(handle)
        except ValidationError:  # its client has closed it just now
            return False
        return True

    def close_all(self) -> None:
        """Close every session."""
        with self._lock:
            handles = list(self._sessions)
        for handle in handles:
            self._closes(handle)


def _no_session(handle: str) -> NotThere:
    return NotThere(f"Session '{handle}' does not exist.")
