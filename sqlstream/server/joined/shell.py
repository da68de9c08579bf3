"""The session of a joined shell, and what its shell says."""

from __future__ import annotations

import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlstream.core import settings
from sqlstream.core.defects import as_defects
from sqlstream.core.depth import deeply
from sqlstream.core.errors import SetupError, SqlStreamError, ValidationError
from sqlstream.core.lines import Passing, Waiting
from sqlstream.core.release import release
from sqlstream.runtime.monitor.figures import job_progress
from sqlstream.server.answers import BadRequest, text_of, texts_of
from sqlstream.server.joined import editor
from sqlstream.server.joined.script import Script, ShellFiles
from sqlstream.session.joined import PROTOCOL, wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.runtime.monitor.metrics import JobMetrics
    from sqlstream.server.joined.script import Send
    from sqlstream.server.server import Server
    from sqlstream.session.session import Session

# The options that the shell has to know, by their beginnings: what is shown, and how.
_SHOWN = ("sql-client.", "table.display.", "table.dml-sync", "execution.runtime-mode")
_WIDTH = 80
# So long the end of a session waits for its script.
_CLOSING_SECONDS = 10.0
_NOT_OPEN = "the session is not open"


class Shell:
    """What its shell says is heard by ``hear``; ``send`` sends to it, from any thread."""

    def __init__(self, server: Server, send: Send) -> None:
        self._server = server
        self._send = send
        self._session: Session | None = None
        self._width = _WIDTH
        self._scripts: dict[int, Script] = {}
        self._running: Script | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._changing = threading.Lock()

    @property
    def waits(self) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        """What takes a while, and has one answer."""
        return {
            "open": self._open, "suggest": self._suggest, "standing": self._standing, "again": self._again, "reasons": self._reasons,
            "set": self._set, "interrupt": self._interrupt, "findings": self._findings, "statement": self._statement, "verdicts": self._verdicts,
            "help": self._help, "save": self._save,
        }  # fmt: skip

    def hear(self, said: dict[str, Any]) -> None:
        """What is to be heard in the order in which it is said. Raises BadRequest."""
        match said.get("do"):
            case "run":
                self._run(said)
            case "alive":
                self._send({"id": _number(said, "id")})
            case "next" | "stop" | "reply":
                # The script may have ended.
                if (script := self._scripts.get(_number(said, "of"))) is not None:
                    match said["do"]:
                        case "next":
                            script.next()
                        case "stop":
                            script.stop()
                        case "reply":
                            script.reply(said)
            case other:
                raise BadRequest(f"'{other}' is nothing that is done here")

    def answer(self, said: dict[str, Any]) -> None:
        """Send the answer to what takes a while."""
        number = _number(said, "id") if "id" in said else 0
        try:
            with as_defects(self._server.project):
                answer = deeply(lambda: self.waits[said["do"]](said))
        except SqlStreamError as error:
            answer = {"error": wire.error_out(error)}
        if number:
            self._send({"id": number, **answer})

    # --- the session --------------------------------------------------------------------------------------------------

    def _open(self, said: dict[str, Any]) -> dict[str, Any]:
        if said.get("protocol") != PROTOCOL:
            hint = f"The server has the release {release()}, the shell {said.get('release')}. Install the server's."
            raise SetupError("The shell and the server do not understand each other.", hint=hint)
        with self._changing:
            if self._session is not None:
                raise ValidationError("The session is open already.")
            session = self._session = self._server.shell_session(
                texts_of(said, "options"), variables=texts_of(said, "variables"), interactive=said.get("interactive") is True,
                save=said.get("save") is True, keep_stopped=said.get("keep_stopped") is True, notify=self._notify, emit=self._emit,
                progress=self._progress, ask=self._confirmed if said.get("asks") is True else None, files=ShellFiles(self._script),
                width=lambda: self._width,
            )  # fmt: skip
            if self._closed:
                session.close()
        return {"options": self._options(), "project": str(self._server.project)}

    @property
    def session(self) -> Session:
        """The session. Raises ValidationError where none is open."""
        if self._session is None:
            raise ValidationError(_NOT_OPEN)
        return self._session

    def _options(self) -> dict[str, str]:
        return {key: value for key, value in self.session.options.items() if key.startswith(_SHOWN)}

    def close(self) -> None:
        """End what runs for the shell, but its jobs."""
        with self._changing:
            self._closed = True
        for script in list(self._scripts.values()):
            script.stop()
        if self._session is not None:
            self._session.interrupt(for_good=True)
            if self._thread is not None:
                self._thread.join(_CLOSING_SECONDS)
            self._session.close()

    # --- what the session says ----------------------------------------------------------------------------------------

    def _notify(self, line: str) -> None:
        kind = {"passing": isinstance(line, Passing), "waiting": isinstance(line, Waiting)}
        self._send({"id": 0, "say": "notify", "line": str(line), **kind})

    def _emit(self, line: str) -> None:
        self._send({"id": 0, "say": "emit", "line": line})

    def _progress(self, running: list[JobMetrics]) -> None:
        self._send({"id": 0, "say": "progress", "jobs": list(map(job_progress, running))})

    def _confirmed(self, question: str, interrupted: Callable[[], bool]) -> bool:
        return self._script().ask("confirm", interrupted, question=question) is True

    # --- scripts ------------------------------------------------------------------------------------------------------

    def _script(self) -> Script:
        assert self._running is not None
        return self._running

    def _run(self, said: dict[str, Any]) -> None:
        session, number, text = self._session, _number(said, "id"), text_of(said, "text")
        name, width = said.get("name"), said.get("width")
        if session is None:
            raise BadRequest(_NOT_OPEN)
        if not (name is None or isinstance(name, str)):
            raise BadRequest("name is a text")
        self._width = width if isinstance(width, int) and width > 0 else _WIDTH
        begin = session.initialize if said.get("init") is True else session.run
        script = Script(lambda message: self._send({"id": number, **message}), self._server.project, self._options, session.context.user.interrupted)
        before = self._thread
        self._scripts[number] = script

        def run() -> None:
            # One at a time.
            if before is not None:
                before.join()
            self._running = script
            try:
                script.run(begin(text, name))
            finally:
                self._scripts.pop(number, None)

        self._thread = threading.Thread(target=run, name=f"script-{number}", daemon=True)
        self._thread.start()

    def _interrupt(self, said: dict[str, Any]) -> dict[str, Any]:
        self.session.interrupt(for_good=said.get("for_good") is True)
        return {}

    # --- the prompt ---------------------------------------------------------------------------------------------------

    def _suggest(self, said: dict[str, Any]) -> dict[str, Any]:
        text = text_of(said, "text")
        cursor = max(0, min(_number(said, "cursor"), len(text)))
        return {"suggestions": wire.suggestions_out(self.session.suggester()(text, cursor))}

    def _standing(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"standing": wire.standing_out(self.session.standing())}

    def _again(self, _: dict[str, Any]) -> dict[str, Any]:
        figures = self._script().figures
        if figures is None:
            raise ValidationError("There are no figures.")
        return {"rows": wire.rows_out(figures.again())}

    def _reasons(self, _: dict[str, Any]) -> dict[str, Any]:
        stream = self._script().stream
        return {"reasons": [] if stream is None else list(stream.reasons())}

    def _set(self, said: dict[str, Any]) -> dict[str, Any]:
        key, value = text_of(said, "key"), text_of(said, "value")
        if not key.startswith(_SHOWN):
            raise ValidationError(f"'{key}' is set by SET.")
        settings.check(key, value)
        self.session.options[key] = value
        return {}

    # --- the editor of a page -----------------------------------------------------------------------------------------

    def _findings(self, said: dict[str, Any]) -> dict[str, Any]:
        return {"findings": [asdict(one) for one in editor.findings(self.session, text_of(said, "text"))]}

    def _statement(self, said: dict[str, Any]) -> dict[str, Any]:
        return {"place": editor.statement_at(text_of(said, "text"), _number(said, "cursor"))}

    def _verdicts(self, said: dict[str, Any]) -> dict[str, Any]:
        return asdict(editor.verdicts(self.session, text_of(said, "text")))

    def _help(self, said: dict[str, Any]) -> dict[str, Any]:
        return {"text": editor.help_about(self.session, text_of(said, "about"))}

    def _save(self, said: dict[str, Any]) -> dict[str, Any]:
        name, question, text = (text_of(said, part) for part in ("name", "question", "text"))
        return {"file": editor.save(self.session, name, question, text, overwrite=said.get("overwrite") is True)}


def _number(said: dict[str, Any], name: str) -> int:
    number = said.get(name)
    if not isinstance(number, int) or isinstance(number, bool):
        raise BadRequest(f"{name} is a number")
    return number
