"""Runs a script without a terminal: statement after statement, then waits for the jobs that it submitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlstream.shell.foreground import Ending, Foreground, Terminated, close_in_order, result
from sqlstream.shell.runner import Runner, open_runner

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.shell.screen import Screen, Script
    from sqlstream.shell.session import ShellSession

EXIT_CODES = {Ending.DONE: 0, Ending.EXIT: 0, Ending.FAILED: 1, Ending.HINDERED: 1, Ending.INTERRUPTED: 130}


def run_script(
    open_session: Callable[[], ShellSession],
    script: Script,
    screen: Screen,
    *,
    init: Script | None = None,
    echo: bool = False,
    hindered: int = EXIT_CODES[Ending.HINDERED],
) -> int:
    """The exit code: 0, 1 after an error, ``hindered`` after one that may be over after a while, 130 after Ctrl-C, 143 after SIGTERM, 129 after
    SIGHUP.
    """
    foreground = Foreground()
    runner: Runner | None = None
    try:
        opened = result(foreground.submit(lambda: open_runner(open_session, screen, init, echo=echo)))
        if isinstance(opened, Ending):
            ending = opened
        else:
            runner = opened
            ending = _run(foreground, runner, script)
        return hindered if ending is Ending.HINDERED else EXIT_CODES[ending]
    except Terminated as end:
        return end.exit_code
    except KeyboardInterrupt:
        return EXIT_CODES[Ending.INTERRUPTED]
    finally:
        if runner:
            runner.leave()
            close_in_order(runner.session.close, runner.session.hurry)


def _run(foreground: Foreground, runner: Runner, script: Script) -> Ending:
    runner.end_with_failed_job()
    ending = foreground.run(lambda: runner.run(script), runner.interrupt)
    if ending in (Ending.FAILED, Ending.HINDERED, Ending.INTERRUPTED):
        return ending
    return foreground.run(runner.wait, runner.interrupt)
