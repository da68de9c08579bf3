"""A script that runs for a joined shell: its outcomes, and their rows, go out one piece after the other as they are asked for."""

from __future__ import annotations

import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlstream.core.changelog import Change, RowKind
from sqlstream.core.defects import defect
from sqlstream.core.errors import SqlStreamError
from sqlstream.server.rows import MOST_ROWS, WaitingRows
from sqlstream.session import results
from sqlstream.session.context import Interrupted
from sqlstream.session.joined import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlstream.session.results import Figures, Outcome

    Send: TypeAlias = "Callable[[dict[str, Any]], None]"

# A file goes in pieces of so many bytes.
_PIECE = 1_000_000
# So often it is looked whether a question is still to be answered.
_LOOK_SECONDS = 0.1


class Script:
    """``begin`` gives its outcomes; ``send`` sends to the shell. The thread that runs it waits until it is asked for the next piece."""

    def __init__(self, send: Send, project: Path, shown_options: Callable[[], dict[str, str]], interrupted: Callable[[], bool]) -> None:
        self._send = send
        self._project = project
        self._options = shown_options
        self._interrupted = interrupted
        # What the shell says: True asks for the next piece, False for none any more.
        self._asked: SimpleQueue[bool] = SimpleQueue()
        self._replies: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._ended = threading.Event()
        self.figures: Figures | None = None
        self.stream: results.Stream | None = None

    # --- what the shell says ------------------------------------------------------------------------------------------

    def next(self) -> None:
        """The next piece is asked for."""
        self._asked.put(True)

    def reply(self, said: dict[str, Any]) -> None:
        """The answer to what was asked."""
        self._replies.put(said)

    def stop(self) -> None:
        """Nothing more is asked for, and no question answered."""
        self._ended.set()
        self._asked.put(False)
        self._replies.put(None)

    # --- the thread of the script -------------------------------------------------------------------------------------

    def run(self, outcomes: Iterator[Outcome]) -> None:
        """Carry the script out, and send what comes of it."""
        try:
            while self._is_asked():
                outcome = next(outcomes, None)
                if outcome is None:
                    self._send({"over": True})
                    return
                self.figures = outcome if isinstance(outcome, results.Figures) else self.figures
                self._send({"outcome": wire.outcome_out(outcome), "options": self._options()})
                if isinstance(outcome, results.Stream):
                    self._stream(outcome)
                elif isinstance(outcome, results.Rows):
                    self._rows(outcome)
        except Interrupted:
            self._send({"interrupted": True})
        except SqlStreamError as error:
            self._send({"error": wire.error_out(error)})
        except Exception as error:
            # What a cancelled call to Spark raises says no more.
            self._send({"interrupted": True} if self._interrupted() else {"error": wire.error_out(defect(error, self._project))})
        finally:
            if (close := getattr(outcomes, "close", None)) is not None:
                close()
            self._ended.set()

    def _is_asked(self) -> bool:
        return not self._ended.is_set() and self._asked.get()

    def _rows(self, outcome: results.Rows) -> None:
        for start in range(0, len(outcome.rows), MOST_ROWS):
            if not self._is_asked():
                return
            piece = outcome.rows[start : start + MOST_ROWS]
            self._send(wire.changes_out([Change(RowKind.INSERT, row) for row in piece]))
        if self._is_asked():
            self._send({"over": True})

    def _stream(self, outcome: results.Stream) -> None:
        """Its rows as they come. Raises the error that ended them."""
        changed = threading.Condition(threading.RLock())
        waiting = WaitingRows(changed)
        failed: list[BaseException] = []

        def read() -> None:
            try:
                for change in outcome.changes:
                    waiting.put(change, self._ended.is_set)
                    if self._ended.is_set():
                        return
            except BaseException as error:  # raised again where it is waited for
                failed.append(error)
            finally:
                with changed:
                    waiting.complete = True
                    changed.notify_all()

        reader = threading.Thread(target=read, name="rows", daemon=True)
        self.stream = outcome
        reader.start()
        try:
            while self._is_asked():
                with changed:
                    while not (waiting or waiting.complete):
                        changed.wait()
                    rows = waiting.take()
                if not rows:
                    if failed:
                        raise failed[0]
                    self._send({"over": True})
                    return
                self._send(wire.changes_out(rows))
        finally:
            self.stream = None
            if reader.is_alive():
                outcome.stop()
                with changed:
                    changed.notify_all()
                reader.join()

    # --- what the script asks -----------------------------------------------------------------------------------------

    def ask(self, what: str, interrupted: Callable[[], bool] = lambda: False, **more: Any) -> Any:
        """What the shell answers. Raises its error, and Interrupted where it has gone or the statement is to end."""
        self._send({"ask": what, **more})
        return self._reply(interrupted)

    def _reply(self, interrupted: Callable[[], bool] = lambda: False) -> Any:
        while not (interrupted() or self._ended.is_set()):
            try:
                said = self._replies.get(timeout=_LOOK_SECONDS)
            except Empty:
                continue
            if said is None:
                raise Interrupted
            if "error" in said:
                raise wire.error_in(said["error"])
            return said["value"]
        raise Interrupted

    def write(self, name: str, path: Path, *, overwrite: bool) -> None:
        """Send the file ``path``, which the shell keeps under ``name``. Raises its error."""
        self.ask("write", name=name, overwrite=overwrite)
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                self._send({"piece": piece.hex()})
                self._reply()
        self._send({"piece": ""})
        self._reply()


class ShellFiles:
    """The files of the machine that the shell runs on. ``script`` gives the script that runs."""

    def __init__(self, script: Callable[[], Script]) -> None:
        self._script = script

    def read(self, name: str) -> tuple[str, str]:
        """See Files."""
        path, text = self._script().ask("read", name=name)
        return str(path), str(text)

    @contextmanager
    def new(self, name: str, *, overwrite: bool) -> Iterator[Path]:
        """See Files."""
        with tempfile.TemporaryDirectory(prefix="sqlstream-export-") as folder:
            path = Path(folder) / "file"
            yield path
            self._script().write(name, path, overwrite=overwrite)

    def shown(self, name: str) -> str:
        """See Files."""
        return str(self._script().ask("shown", name=name))
