"""The interactive shell: reads statements with prompt-toolkit, runs them in the foreground thread.

The prompt waits for nothing: the session is made, and Spark started, in the foreground thread while the first statement
is being typed.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output.defaults import create_output
from prompt_toolkit.patch_stdout import patch_stdout

from sqlstream.shell.foreground import Ending, Foreground, Terminated
from sqlstream.shell.screen import CONTINUATION, PROMPT, Screen, Script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from prompt_toolkit.history import History
    from prompt_toolkit.output import Output

    from sqlstream.session import Session
    from sqlstream.shell.runner import Runner

WELCOME = "sqlstream: Flink SQL on Spark. HELP; lists the statements, QUIT; ends the shell."
GOODBYE = "Exiting sqlstream..."


class OpeningFailed(Exception):
    """The session could not be made; its error has been printed."""


def run_shell(
    open_session: Callable[[], Session],
    screen: Screen,
    history: Path | None,
    *,
    init: Script | None = None,
    output: Output | None = None,
) -> int:
    """Read and run statements until QUIT or the end of input; the exit code comes back."""
    foreground = Foreground()
    prompts = _prompts(_history(history, screen), output)
    drawn = threading.Event()
    prompts.app.after_render += lambda _: drawn.set()
    opening = foreground.submit(lambda: _open(open_session, screen, init, drawn))
    try:
        screen.notify(WELCOME)
        _read_and_run(foreground, opening, screen, prompts)
        screen.info(GOODBYE)
        return 0
    except OpeningFailed:
        return 1
    except Terminated as end:
        return end.exit_code
    except KeyboardInterrupt:  # the second one during a statement
        screen.info(GOODBYE)
        return 130
    finally:
        if opening.done() and not opening.exception():
            opening.result().session.close()


def _open(open_session: Callable[[], Session], screen: Screen, init: Script | None, drawn: threading.Event) -> Runner:
    """A runner, with Spark on its way."""
    # The prompt comes first: imports, this one brings the planner along, would take turns with it.
    drawn.wait(1)
    from sqlstream.shell.runner import open_runner

    runner = open_runner(open_session, screen, init, echo=False)
    if runner is None:
        raise OpeningFailed
    runner.session.start_spark()
    return runner


def _read_and_run(foreground: Foreground, opening: Future[Runner], screen: Screen, prompts: PromptSession[str]) -> None:
    while True:
        try:
            text = _read(prompts, opening, screen)
        except EOFError:
            return
        if not text.strip():
            continue
        if _execute(foreground, opening, Script(text)) is Ending.EXIT:
            return
        screen.notify()


def _execute(foreground: Foreground, opening: Future[Runner], script: Script) -> Ending:
    def interrupt() -> None:
        if opening.done():
            opening.result().interrupt()

    return foreground.run(lambda: opening.result().run(script), interrupt)


def _read(prompts: PromptSession[str], opening: Future[Runner], screen: Screen) -> str:
    """The next text, whole statements as a rule; empty after Ctrl-C. Raises EOFError and OpeningFailed."""

    app = prompts.app

    def leave() -> None:
        if app.is_running:
            app.exit(exception=OpeningFailed)

    def abort(done: Future[Runner]) -> None:
        if done.exception() and app.loop:
            app.loop.call_soon_threadsafe(leave)

    if opening.done():
        opening.result()
    try:
        with _printing_above(screen):
            return prompts.prompt(PROMPT, pre_run=lambda: opening.add_done_callback(abort))
    except Terminated:
        raise
    except KeyboardInterrupt:
        return ""


def _history(path: Path | None, screen: Screen) -> History:
    """What was typed before. Statements may hold passwords, so the file is for its owner only."""
    try:
        if path:
            path.touch(mode=0o600)
            return FileHistory(path)
    except OSError as error:
        screen.notices([f"The history of this shell will not be kept: {error}"])
    return InMemoryHistory()


def _prompts(history: History, output: Output | None) -> PromptSession[str]:
    return PromptSession(
        multiline=True,
        prompt_continuation=CONTINUATION,
        history=history,
        key_bindings=_keys(),
        # With stdout sent to a file the prompt goes where there is a terminal.
        output=output or (None if sys.stdout.isatty() else create_output(always_prefer_tty=True)),
    )


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        from sqlstream.sql.statements import is_complete

        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys


@contextmanager
def _printing_above(screen: Screen) -> Iterator[None]:
    """While one types, lines appear above the prompt. The lock: no line may be on its way to a stream that goes."""
    patched = patch_stdout(raw=True)
    with screen.lock:
        patched.__enter__()
    try:
        yield
    finally:
        with screen.lock:
            patched.__exit__(None, None, None)
