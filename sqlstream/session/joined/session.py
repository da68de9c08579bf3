"""A session that a server has, as the shell uses one."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from sqlstream.core.errors import SqlStreamError
from sqlstream.core.lines import Passing, Waiting
from sqlstream.core.release import release
from sqlstream.runtime.monitor.figures import JobProgress
from sqlstream.session.context import Interrupted
from sqlstream.session.files import LocalFiles
from sqlstream.session.joined import PROTOCOL, wire
from sqlstream.session.joined.connection import Connection
from sqlstream.session.joined.named_files import NamedFiles
from sqlstream.session.results import Exit
from sqlstream.session.standing import Standing
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.statements.split import split
from sqlstream.sql.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sqlstream.core.changelog import Change
    from sqlstream.session.completion import Suggestion
    from sqlstream.session.context import Ask
    from sqlstream.session.joined.place import ServerPlace
    from sqlstream.session.results import Outcome

# So long the server may take to open a session: it reads the project's catalog.
_OPEN_SECONDS = 120
# The outcomes that have rows.
_WITH_ROWS = ("Stream", "Rows", "Figures", "Advice")


class JoinedSession:
    """A session of the server at a place. Its jobs go on when it ends."""

    def __init__(
        self,
        place: ServerPlace,
        project: Path,
        *,
        options: Mapping[str, str],
        variables: Mapping[str, str],
        interactive: bool,
        notify: Callable[[str], None],
        emit: Callable[[str], None],
        save: bool,
        ask: Ask | None,
        progress: Callable[[Sequence[JobProgress]], None],
        keep_stopped: bool,
        width: Callable[[], int],
    ) -> None:
        """See Session; ``project`` is the folder here, to which names of files are relative. Raises SqlStreamError."""
        self._project = project
        self._notify, self._emit, self._progress, self._ask, self._width = notify, emit, progress, ask, width
        self._files = LocalFiles(project)
        self._variables = dict(variables)
        self._interrupted = threading.Event()
        self._standing = Standing()
        self._standing_asked = False
        self._connection = Connection(place, self._hear)
        opened = self._connection.answer(
            "open", seconds=_OPEN_SECONDS, protocol=PROTOCOL, release=release(), options=dict(options), variables=dict(variables),
            interactive=interactive, save=save, asks=ask is not None, keep_stopped=keep_stopped,
        )  # fmt: skip
        self._options = _Options(self._connection, opened["options"])
        notify(f"This is a session of the server at {place.url}, which has the project {opened['project']}.")

    @property
    def project(self) -> Path:
        """The folder here."""
        return self._project

    @property
    def options(self) -> MutableMapping[str, str]:
        """Those of the session that are about what is shown; one that is set is set at the server."""
        return self._options

    # --- scripts ------------------------------------------------------------------------------------------------------

    def run(self, script: str, name: str | None = None) -> Iterator[Outcome]:
        """See Session."""
        return self._run(script, name, init=False)

    def initialize(self, script: str, name: str | None = None) -> Iterator[Outcome]:
        """See Session."""
        return self._run(script, name, init=True)

    def _run(self, script: str, name: str | None, *, init: bool) -> Iterator[Outcome]:
        self._interrupted.clear()
        if self._connection.is_over and _quits(script):
            yield Exit(notices=(self._connection.gone().message,))
            return
        running = _Running(self, self._connection, script, name, self._width(), NamedFiles(self._variables), init=init)
        try:
            while (said := running.next()) is not None:
                self._options.mirrored(said["options"])
                rows = _Rows(running, over=said["outcome"]["kind"] not in _WITH_ROWS)
                outcome = self._outcome(said["outcome"], rows)
                yield outcome
                rows.drain()
        finally:
            running.stop()

    def _outcome(self, said: dict[str, Any], rows: _Rows) -> Outcome:
        match said["kind"]:
            case "Stream":
                return wire.outcome_in(said, changes=iter(rows), stop=self.interrupt, reasons=self._reasons)
            case "Figures":
                return wire.outcome_in(said, rows=tuple(change.row for change in rows), again=self._again)
            case "Rows" | "Advice":
                return wire.outcome_in(said, rows=tuple(change.row for change in rows))
        return wire.outcome_in(said)

    def _again(self) -> tuple[tuple[str | None, ...], ...]:
        return tuple(map(wire.row_in, self._connection.answer("again")["rows"]))

    def _reasons(self) -> list[str]:
        return list(map(str, self._connection.answer("reasons")["reasons"]))

    def interrupt(self, *, for_good: bool = False) -> None:
        """See Session."""
        self._interrupted.set()
        with suppress(SqlStreamError):
            self._connection.say("interrupt", for_good=for_good)

    def wait(self) -> None:
        """Nothing: jobs go on at the server."""

    def on_failure(self, hear: Callable[[SqlStreamError], None]) -> None:
        """Nothing: a job that fails at the server ends nothing here."""

    # --- what the server asks -----------------------------------------------------------------------------------------

    def replied(self, asked: dict[str, Any], named: NamedFiles) -> dict[str, Any]:
        """The answer to what the server asks of the user, or of those files of the user's that are ``named``."""
        try:
            match asked["ask"]:
                case "confirm":
                    return {"value": self._ask is None or self._ask(asked["question"], self._interrupted.is_set)}
                case "read":
                    named.check_read(asked["name"])
                    path, text = self._files.read(asked["name"])
                    named.seen(text)
                    return {"value": (path, text)}
                case "shown":
                    return {"value": self._files.shown(asked["name"])}
        except SqlStreamError as error:
            return {"error": wire.error_out(error)}
        raise AssertionError(asked["ask"])

    def written(self, asked: dict[str, Any], named: NamedFiles, pieces: Iterator[bytes]) -> dict[str, Any]:
        """The answer to a file that comes in ``pieces``, if it is ``named``."""
        try:
            named.check_written(asked["name"], overwrite=asked["overwrite"])
            with self._files.new(asked["name"], overwrite=asked["overwrite"]) as path, path.open("wb") as file:
                for piece in pieces:
                    file.write(piece)
        except SqlStreamError as error:
            return {"error": wire.error_out(error)}
        return {"value": None}

    def _hear(self, said: dict[str, Any]) -> None:
        match said["say"]:
            case "notify":
                kind = Waiting if said["waiting"] else Passing if said["passing"] else str
                self._notify(kind(said["line"]))
            case "emit":
                self._emit(said["line"])
            case "progress":
                self._progress([JobProgress(*job) for job in said["jobs"]])

    # --- the prompt ---------------------------------------------------------------------------------------------------

    def suggester(self) -> Callable[[str, int], Sequence[Suggestion]]:
        """See Session."""
        return lambda text, cursor: wire.suggestions_in(self._connection.answer("suggest", text=text, cursor=cursor)["suggestions"])

    def standing(self) -> Standing:
        """How the session stood a moment ago: nobody waits for the server."""
        if not self._standing_asked:
            self._standing_asked = True
            try:
                self._connection.ask("standing", self._stands)
            except SqlStreamError:
                self._stands(None)
        return self._standing

    def _stands(self, said: dict[str, Any] | None) -> None:
        if said is None:
            self._standing = Standing("the server does not answer")
        else:
            self._connection.forget(said["id"])
            if "error" not in said:
                self._standing = wire.standing_in(said["standing"])
            self._standing_asked = False

    # --- beginning and end --------------------------------------------------------------------------------------------

    def start_spark(self) -> None:
        """Nothing: the server has it."""

    def close(self) -> None:
        """End the session: what runs for it ends, but its jobs."""
        self.interrupt(for_good=True)
        self._connection.close()

    def hurry(self) -> None:
        """See Session."""
        self._connection.cut_off()


def _quits(script: str) -> bool:
    """Whether it is a QUIT, and nothing else."""
    try:
        pieces = split(script)
        return len(pieces) == 1 and isinstance(parse(pieces[0]), ast.Quit)
    except SqlStreamError:
        return False


class _Running:
    """A script that runs at the server."""

    def __init__(
        self, session: JoinedSession, connection: Connection, script: str, name: str | None, width: int, named: NamedFiles, *, init: bool
    ) -> None:
        self._session, self._connection, self._named = session, connection, named
        named.seen(script)
        self._answers: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._id = connection.ask("run", self._answers.put, text=script, name=name, width=width, init=init)

    def next(self) -> dict[str, Any] | None:
        """The next outcome, or rows of one; None where there is no more. Raises SqlStreamError, Interrupted."""
        self._connection.say("next", of=self._id)
        while True:
            said = self._received()
            if "ask" in said:
                self._connection.say("reply", of=self._id, **self._reply(said))
            elif "error" in said:
                raise wire.error_in(said["error"])
            elif "interrupted" in said:
                raise Interrupted
            else:
                return None if said.get("over") else said

    def _reply(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["ask"] == "write":
            return self._session.written(asked, self._named, self._pieces())
        return self._session.replied(asked, self._named)

    def _pieces(self) -> Iterator[bytes]:
        """A file that comes: each piece is asked for."""
        while True:
            self._connection.say("reply", of=self._id, value=None)
            piece = self._received()["piece"]
            if not piece:
                return
            yield bytes.fromhex(piece)

    def _received(self) -> dict[str, Any]:
        said = self._answers.get()
        if said is None:
            raise self._connection.gone()
        return said

    def stop(self) -> None:
        """Nothing more is asked for: who waits is interrupted."""
        self._connection.forget(self._id)
        self._answers.put({"interrupted": True})
        with suppress(SqlStreamError):
            self._connection.say("stop", of=self._id)


class _Rows:
    """The rows of an outcome, which are asked for piece by piece. One thread reads them."""

    def __init__(self, running: _Running, *, over: bool) -> None:
        self._running = running
        self._waiting: deque[Change] = deque()
        self._over = over
        self._reading = threading.Lock()

    def __iter__(self) -> Iterator[Change]:
        return self

    def __next__(self) -> Change:
        with self._reading:
            while not self._waiting:
                if self._over:
                    raise StopIteration
                try:
                    said = self._running.next()
                except BaseException:
                    self._over = True
                    raise
                self._over = said is None
                self._waiting.extend(() if said is None else wire.changes_in(said))
            return self._waiting.popleft()

    def drain(self) -> None:
        """Read those to the end that nobody has read: what ended them has come to the end by then."""
        for _ in self:
            pass


class _Options(MutableMapping[str, str]):
    """Options as the server has them."""

    def __init__(self, connection: Connection, known: Mapping[str, str]) -> None:
        self._connection = connection
        self._known = dict(known)

    def mirrored(self, known: Mapping[str, str]) -> None:
        """They are so now."""
        self._known = dict(known)

    def __getitem__(self, key: str) -> str:
        return self._known[key]

    def __setitem__(self, key: str, value: str) -> None:
        self._connection.answer("set", key=key, value=value)
        self._known[key] = value

    def __delitem__(self, key: str) -> None:
        raise NotImplementedError("RESET does it")

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
