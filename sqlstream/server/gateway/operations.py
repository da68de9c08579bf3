"""One statement of a client: it is asked for, it runs, its results are fetched piece by piece, it is closed."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sqlstream.core import settings
from sqlstream.core.changelog import Change, RowKind
from sqlstream.core.defects import defect
from sqlstream.core.errors import NotSupported, SqlStreamError, SyntaxProblem, ValidationError
from sqlstream.server.options import NAMED_BY_SERVER, of_server
from sqlstream.server.rows import WaitingRows
from sqlstream.session import results
from sqlstream.session.context import Interrupted
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping

    from sqlstream.plan.nodes import Field
    from sqlstream.session.results import Outcome
    from sqlstream.session.session import Session
    from sqlstream.sql.statements.split import StatementText

# For so long an answer waits for rows of a query that runs.
_PATIENCE_SECONDS = 0.5
# So often a statement is interrupted that does not end.
_AGAIN_SECONDS = 0.5


class Status(Enum):
    """What becomes of an operation, in Flink's words."""

    INITIALIZED = "INITIALIZED"
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    CANCELED = "CANCELED"
    CLOSED = "CLOSED"
    ERROR = "ERROR"
    TIMEOUT = "TIMEOUT"

    @property
    def is_answered(self) -> bool:
        """Whether the statement has answered, or never will."""
        return self not in (Status.INITIALIZED, Status.PENDING, Status.RUNNING)

    @property
    def is_ended(self) -> bool:
        """Whether somebody has ended it: there are no results."""
        return self in (Status.CANCELED, Status.CLOSED, Status.TIMEOUT)


@dataclass(frozen=True)
class Result:
    """What a statement answers, but for its rows. ``kind``: SUCCESS where there is nothing but that."""

    columns: tuple[Field, ...]
    kind: str = "SUCCESS_WITH_CONTENT"
    query: bool = False
    job_id: str | None = None


@dataclass(frozen=True)
class Page:
    """A piece of a result: ``token`` asks for the next one; None where there is none."""

    result: Result
    changes: tuple[Change, ...]
    token: int | None


@dataclass
class _Rows:
    """The rows that wait for the client, and those that it was given last: it may ask for them again."""

    waiting: WaitingRows
    given: tuple[Change, ...] = ()
    token: int = 0


class Turn:
    """Whose statement a session runs: it has one at a time, in the order in which they were asked for."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._owner: Operation | None = None
        self._waiting: deque[Operation] = deque()
        self._changed = threading.Condition()

    def awaited_by(self, operation: Operation) -> None:
        """The turn of ``operation`` comes after those of all that wait now."""
        with self._changed:
            self._waiting.append(operation)

    @contextmanager
    def of(self, operation: Operation) -> Iterator[None]:
        """The turn of ``operation``, which waits for it."""
        with self._changed:
            if operation not in self._waiting:
                self._waiting.append(operation)
            self._changed.wait_for(lambda: self._owner is None and self._waiting[0] is operation)
            self._owner = self._waiting.popleft()
        try:
            yield
        finally:
            with self._changed:
                self._owner = None
                self._changed.notify_all()

    def interrupt(self, operation: Operation) -> bool:
        """Interrupt its statement; whether it had the turn. What begins just now does not hear of it: ask again."""
        with self._changed:
            if self._owner is not operation:
                return False
            self.session.interrupt()
            return True


class Operation:
    """A statement of a session. Its session gives it a turn; others wait until it has answered. It is FINISHED then: rows may still come."""

    def __init__(self, turn: Turn, statement: str, timeout_seconds: float | None, options: Mapping[str, str]) -> None:
        self.handle = str(uuid.uuid4())
        self.status = Status.PENDING
        self.error: SqlStreamError | None = None
        self._statement = statement
        self._turn = turn
        self._options = options
        self._result: Result | None = None
        self._stop: Callable[[], None] = lambda: None
        # Guards all of the above; told when rows have come, or gone.
        self._changed = threading.Condition(threading.RLock())
        self._rows = _Rows(WaitingRows(self._changed))
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._thread = threading.Thread(target=self._run, name=f"operation-{self.handle}", daemon=True)
        self._timer = None if timeout_seconds is None else threading.Timer(timeout_seconds, self._end, (Status.TIMEOUT,))

    @property
    def waiting(self) -> int:
        """How many rows wait for the client."""
        return len(self._rows.waiting)

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._turn.awaited_by(self)
        self._thread.start()
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    # --- the statement ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            outcomes = self._turn.session.run(self._statement)
            with self._turn.of(self):
                outcome = self._answer(outcomes) if self._becomes(Status.RUNNING) else None
            if self._timer is not None:
                self._timer.cancel()
            if outcome is not None:
                self._give(rows_of(outcome))
                if not self.status.is_ended:
                    with self._turn.of(self), _set(self._turn.session.options, self._options):
                        # What stands behind the query in a script of several statements.
                        deque(outcomes, maxlen=0)
            self._complete()
        except Interrupted:
            self._complete(Status.CANCELED)
        except SqlStreamError as error:
            self._complete(Status.ERROR, error)
        except Exception as error:
            self._complete(Status.ERROR, defect(error, self._turn.session.project))

    def _becomes(self, status: Status) -> bool:
        """Whether it is ``status`` now: nobody has ended it."""
        with self._changed:
            if not self.status.is_ended:
                self.status = status
            return self.status is status

    def _answer(self, outcomes: Iterator[Outcome]) -> Outcome | None:
        """What the statement answers; None where it was ended meanwhile. Of a script, as of EXECUTE QUERY, its first query does, else its end."""
        pieces = split(self._statement)
        if not pieces:
            raise SyntaxProblem('Encountered "<EOF>" at line 0, column 0.', at=0)
        if len(pieces) > 1:
            raise ValidationError("only single statement supported", hint="Send one statement after the other.")
        refuse_servers(pieces[0])
        outcome: Outcome = results.Done()
        with _set(self._turn.session.options, self._options):
            for outcome in outcomes:
                if isinstance(outcome, results.Stream):
                    break
        for notice in outcome.notices:
            self._turn.session.context.user.notify(notice)
        stop = outcome.stop if isinstance(outcome, results.Stream) else self._stop
        with self._changed:
            self._result, self._stop = result_of(outcome), stop
            goes_on = self._becomes(Status.FINISHED)
        if not goes_on:
            stop()
            return None
        self._tell()
        return outcome

    def _give(self, rows: Iterator[Change]) -> None:
        """Put rows by for the client, as many as wait at most."""
        waiting = self._rows.waiting
        for change in rows:
            first = waiting.put(change, lambda: self.status.is_ended)
            if self.status.is_ended:
                return
            if first:
                self._tell()

    def _complete(self, status: Status = Status.FINISHED, error: SqlStreamError | None = None) -> None:
        """There are no more rows."""
        with self._changed:
            if self._becomes(status):
                self.error = error
            self._rows.waiting.complete = True
        self._tell()

    # --- the client ---------------------------------------------------------------------------------------------------

    async def page(self, token: int) -> Page | None:
        """The piece of the result that ``token`` asks for; None where there is none yet. Raises the statement's error, ValidationError."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()
        with self._changed:
            self._waiters.append((loop, arrived))
        try:
            if not self._is_ready(token):
                with suppress(TimeoutError):
                    await asyncio.wait_for(arrived.wait(), _PATIENCE_SECONDS)
            return self._page(token)
        finally:
            with self._changed:
                self._waiters.remove((loop, arrived))

    def _is_ready(self, token: int) -> bool:
        with self._changed:
            rows = self._rows
            return bool(rows.waiting) or rows.waiting.complete or token != rows.token

    def _page(self, token: int) -> Page | None:
        with self._changed:
            if self.error is not None:
                raise self.error
            if self.status.is_ended:
                raise ValidationError(f"The operation {self.handle} has no results: it is {self.status.value}.")
            rows, result = self._rows, self._result
            if result is None:
                return None
            if token == rows.token - 1:
                return Page(result, rows.given, rows.token)
            if token != rows.token:
                expected = f"{rows.token} or {rows.token - 1}" if rows.token else "0"
                raise ValidationError(f"Expecting token to be {expected}, but found {token}.")
            if not rows.waiting:
                if rows.waiting.complete:
                    return Page(result, (), None)
                if not result.query:  # its rows are on their way
                    return None
            rows.given = rows.waiting.take()
            rows.token += 1
            return Page(result, rows.given, rows.token)

    def _tell(self) -> None:
        """Let those go on that wait for rows."""
        with self._changed:
            for loop, arrived in self._waiters:
                loop.call_soon_threadsafe(arrived.set)

    def cancel(self) -> Status:
        """End it, if it runs; what became of it."""
        return self._end(Status.CANCELED)

    def close(self) -> Status:
        """End it, if it runs, and forget its results."""
        self._end(Status.CLOSED)
        with self._changed:
            self.status = Status.CLOSED
            self._rows = _Rows(WaitingRows(self._changed, complete=True))
        return self.status

    def _end(self, status: Status) -> Status:
        with self._changed:
            before = self.status
            if self._rows.waiting.complete or before.is_ended:
                return before
            self.status = status
            self._changed.notify_all()
        self._stop()
        if before is Status.RUNNING:
            threading.Thread(target=self._interrupt, name=f"interrupt-{self.handle}", daemon=True).start()
        self._tell()
        return status

    def _interrupt(self) -> None:
        while self._turn.interrupt(self):
            self._thread.join(_AGAIN_SECONDS)

    def await_end(self, seconds: float) -> None:
        """Wait until its thread has ended."""
        self._thread.join(seconds)


_IN_A_SHELL = "Run it in a shell that has joined the server: sqlstream --endpoint URL."


def refuse_servers(piece: StatementText) -> None:
    """Refuses what reads files of the server's machine or writes them, and options that are the server's own."""
    try:
        node = parse(piece)
    except SqlStreamError:
        return  # the session says so, with its place
    problem: NotSupported | None = None
    if isinstance(node, ast.Source | ast.Export):
        problem = NotSupported(f"{node.key.upper()} is about files of the machine that the server runs on.", at=0, hint=_IN_A_SHELL)
    elif isinstance(node, ast.Jar) or (isinstance(node, ast.CreateFunction) and node.jars):
        problem = NotSupported("The jar is a file of the machine that the server runs on.", at=0, hint=NAMED_BY_SERVER)
    elif isinstance(node, ast.Plot):
        problem = NotSupported("PLOT draws the last result, which this client has, and the server has not.", at=0, hint=_IN_A_SHELL)
    elif isinstance(node, ast.Set) and isinstance(key := node.args.get("this"), str):
        problem = of_server(key)
    if problem is not None:
        raise problem.located(piece.text, None, 0)


@contextmanager
def _set(options: MutableMapping[str, str], more: Mapping[str, str]) -> Iterator[None]:
    """Meanwhile ``more`` are set, too. Raises ValidationError, NotSupported for one that can't be."""
    for key, value in more.items():
        if (problem := of_server(key)) is not None:
            raise problem
        settings.check(key, value)
    before = {key: options.get(key) for key in more}
    options.update(more)
    try:
        yield
    finally:
        for key, was in before.items():
            if was is not None:
                options[key] = was
            elif options.get(key) == more[key]:
                del options[key]


def result_of(outcome: Outcome) -> Result:
    """The result that Flink's gateway has for what a statement answers."""
    match outcome:
        case results.Stream(columns=columns):
            return Result(columns, query=True, job_id=uuid.uuid4().hex)
        case results.Rows(columns=columns):
            return Result(columns)
        case results.Submitted(job_id=job_id) | results.Completed(job_id=job_id) | results.HeldBack(job_id=job_id):
            return Result(results.text_columns(("job id",)), job_id=job_id)
        case results.Text():
            return Result(results.text_columns(("result",)))
        case results.Done():
            return Result(results.text_columns(("result",)), kind="SUCCESS")
    raise ValidationError("The statement is about the client that it is typed into.", hint="Type it there.")


def rows_of(outcome: Outcome) -> Iterator[Change]:
    """The rows of that result."""
    match outcome:
        case results.Stream(changes=changes):
            yield from changes
        case results.Rows(rows=rows, blank=blank):
            yield from (Change(RowKind.INSERT, tuple(cell or None for cell in row) if blank else row) for row in rows)
        case results.Submitted(job_id=job_id) | results.Completed(job_id=job_id) | results.HeldBack(job_id=job_id):
            yield Change(RowKind.INSERT, (job_id,))
        case results.Text(lines=lines):
            yield Change(RowKind.INSERT, (lines,))
        case _:
            yield Change(RowKind.INSERT, ("OK",))
