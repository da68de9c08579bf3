"""The prompt as one edits in it: completion, colours, keys, history."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.output.defaults import create_output
from prompt_toolkit.styles import DynamicStyle

from sqlstream.settings import COLOUR_SCHEMA
from sqlstream.shell.highlighting import SqlLexer, style
from sqlstream.shell.keys import key_bindings
from sqlstream.shell.screen import CONTINUATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History
    from prompt_toolkit.output import Output

    from sqlstream.shell.prompt_state import PromptState


def prompt_session(history: History, state: PromptState, output: Output | None) -> PromptSession[str]:
    """The prompt of a shell."""
    return PromptSession(
        multiline=True,
        prompt_continuation=CONTINUATION,
        history=history,
        key_bindings=key_bindings(state),
        completer=SqlCompleter(state),
        complete_in_thread=True,
        auto_suggest=AutoSuggestFromHistory(),
        lexer=SqlLexer(lambda: state.session is not None),
        # The status bar goes on while nobody types.
        refresh_interval=1,
        style=DynamicStyle(lambda: style(state.option(COLOUR_SCHEMA))),
        tempfile_suffix=".sql",
        # With stdout sent to a file the prompt goes where there is a terminal.
        output=output or (None if sys.stdout.isatty() else create_output(always_prefer_tty=True)),
    )


class SqlCompleter(Completer):
    """prompt-toolkit's view of ``suggest``, called in a thread of its own."""

    def __init__(self, state: PromptState) -> None:
        self._live = state

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor.rstrip()
        if not complete_event.completion_requested and (not before or before.endswith(";")):
            return
        try:
            context = self._live.context
            if context is None:
                return
            from sqlstream.completion import suggest

            found = suggest(document.text, document.cursor_position, context)
        except Exception:  # what is wrong with completion must not stop one from typing
            return
        for one in found:
            yield Completion(one.text, -one.length, display_meta=one.meta or one.kind)
