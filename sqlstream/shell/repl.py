"""The interactive shell: reads statements with prompt-toolkit, runs them in the foreground thread.

The prompt waits for nothing: the session is opened, and Spark started, in the foreground thread while the first statement
is being typed.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prompt_toolkit.patch_stdout import patch_stdout

from sqlstream.shell.editing import prompt_session
from sqlstream.shell.foreground import Ending, Foreground, Terminated, close_in_order, handled
from sqlstream.shell.history import open_history
from sqlstream.shell.prompt_state import PromptState
from sqlstream.shell.screen import PROMPT, Screen, Script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import Application
    from prompt_toolkit.output import Output

    from sqlstream.shell.foreground import Call
    from sqlstream.shell.runner import Runner
    from sqlstream.shell.session import ShellSession

WELCOME = """sqlstream: Flink SQL on Spark. HELP; lists the statements, QUIT; ends the shell.
\\infer TOPIC writes a table for a Kafka topic, HELP TUMBLE; shows how to count
it by time, \\plot draws the last result; \\? lists more."""
GOODBYE = "Exiting sqlstream..."
OPENING_SECONDS = 20
LEAVING_SECONDS = 3


class OpeningFailed(Exception):
    """The session could not be opened; its error has been printed."""


def run_shell(
    open_session: Callable[[], ShellSession],
    screen: Screen,
    history: Path | None,
    *,
    init: Script | None = None,
    output: Output | None = None,
) -> int:
    """Read and run statements until QUIT or the end of input; the exit code comes back."""
    foreground = Foreground()
    state = PromptState()
    prompts = prompt_session(open_history(history, screen), state, output)
    drawn = threading.Event()
    prompts.app.after_render += lambda _: drawn.set()
    prompts.app.before_render += lambda _: _tell(state.failures(), screen)
    opening = state.opening = foreground.submit(lambda: _open(open_session, screen, init, drawn))
    try:
        screen.notify(WELCOME)
        _read_and_run(foreground, opening, screen, prompts, state)
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
        # A thread that is cut off while it loads a library keeps the lock of that, and the process would never end.
        if opening.wait(OPENING_SECONDS) and not opening.exception():
            runner = opening.result()
            runner.leave()
            close_in_order(runner.session.close, runner.session.hurry)
            # A result on the whole screen gives the terminal back.
            foreground.submit(lambda: None).wait(LEAVING_SECONDS)


def _open(open_session: Callable[[], ShellSession], screen: Screen, init: Script | None, drawn: threading.Event) -> Runner:
    """A runner, with Spark on its way."""
    # The prompt comes first: imports, this one brings the planner along, would take turns with it.
    drawn.wait(1)
    from sqlstream.shell.runner import open_runner

    runner = open_runner(open_session, screen, init, echo=False)
    if isinstance(runner, Ending):
        raise OpeningFailed
    runner.session.start_spark()
    return runner


def _read_and_run(foreground: Foreground, opening: Call[Runner], screen: Screen, prompts: PromptSession[str], state: PromptState) -> None:
    asked = False
    while True:
        try:
            text = _read(prompts, opening, screen, state)
            asked = False
        except EOFError:
            # The second end of input in a row is no slip, or there is nobody to ask.
            if asked or state.session is None:
                return
            asked, text = True, "QUIT;"
        if not text.strip():
            continue
        if _execute(foreground, opening, Script(text)) is Ending.EXIT:
            return
        screen.notify()


def _tell(failures: list[str], screen: Screen) -> None:
    for failure in failures:
        screen.failure(failure)


def _execute(foreground: Foreground, opening: Call[Runner], script: Script) -> Ending:
    def interrupt() -> None:
        if opening.done():
            opening.result().interrupt()

    return foreground.run(lambda: opening.result().run(script), interrupt)


def _read(prompts: PromptSession[str], opening: Future[Runner], screen: Screen, state: PromptState) -> str:
    """The next text, whole statements as a rule; empty after Ctrl-C. Raises EOFError and OpeningFailed."""

    app = prompts.app

    def leave() -> None:
        if app.is_running:
            app.exit(exception=OpeningFailed)

    def settle() -> None:
        prompts.bottom_toolbar = state.toolbar()
        state.apply(app)

    def opened(done: Future[Runner]) -> None:
        if app.loop:
            app.loop.call_soon_threadsafe(leave if done.exception() else settle)

    if opening.done():
        opening.result()
    prompts.bottom_toolbar = state.toolbar()
    try:
        with _printing_above(screen), _terminated_in_order(app):
            return prompts.prompt(PROMPT, default=state.prompted() or "", pre_run=lambda: opening.add_done_callback(opened))
    except Terminated:
        raise
    except KeyboardInterrupt:
        return ""


@contextmanager
def _terminated_in_order(app: Application[str]) -> Iterator[None]:
    """SIGTERM and SIGHUP end the prompt through its event loop: raised anywhere in there, they can be lost. Raises Terminated."""
    terminated: Terminated | None = None

    def end() -> None:
        if app.is_running and not app.is_done and terminated is not None:
            app.exit(exception=terminated)

    def terminate(number: int, *_: object) -> None:
        nonlocal terminated
        terminated = Terminated(number)
        if app.loop is None:
            raise terminated
        app.loop.call_soon_threadsafe(end)

    with handled(terminate):
        yield
    if terminated is not None:
        raise terminated


@contextmanager
def _printing_above(screen: Screen) -> Iterator[None]:
    """While the user types, lines appear above the prompt. The lock: no line may be on its way to a stream that is replaced."""
    patched = patch_stdout(raw=True)
    with screen.prompting():
        with screen.lock:
            patched.__enter__()
        try:
            yield
        finally:
            with screen.lock:
                patched.__exit__(None, None, None)
