"""The prompt as one edits in it: completion, colours, keys, history."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.layout.controls import SearchBufferControl
from prompt_toolkit.layout.processors import AfterInput
from prompt_toolkit.output.defaults import create_output
from prompt_toolkit.styles import DynamicStyle

from sqlstream.core.depth import deeply
from sqlstream.core.settings import COLOUR_SCHEMA
from sqlstream.shell.highlighting import SqlLexer, style
from sqlstream.shell.keys import key_bindings
from sqlstream.shell.screen import CONTINUATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History
    from prompt_toolkit.output import Output

    from sqlstream.shell.prompt_state import PromptState

NOTHING_FOUND = "   (nothing found)"


def prompt_session(history: History, state: PromptState, output: Output | None) -> PromptSession[str]:
    """The prompt of a shell."""
    prompts: PromptSession[str] = PromptSession(
        multiline=True,
        prompt_continuation=CONTINUATION,
        history=history,
        search_ignore_case=True,
        key_bindings=key_bindings(state),
        completer=SqlCompleter(state),
        complete_in_thread=True,
        auto_suggest=AutoSuggestFromHistory(),
        lexer=SqlLexer(lambda: state.session is not None),
        # The status bar continues while nobody types.
        refresh_interval=1,
        style=DynamicStyle(lambda: style(state.option(COLOUR_SCHEMA))),
        tempfile_suffix=".sql",
        # With stdout sent to a file the prompt goes where there is a terminal.
        output=output or (None if sys.stdout.isatty() else create_output(always_prefer_tty=True)),
    )

    def nothing_found() -> str:
        texts = [prompts.default_buffer.text, *history.get_strings()]
        return "" if is_found(prompts.search_buffer.text, texts) else NOTHING_FOUND

    for control in prompts.layout.find_all_controls():
        if isinstance(control, SearchBufferControl) and control.input_processors is not None:
            control.input_processors.append(AfterInput(nothing_found))
    return prompts


def is_found(wanted: str, texts: Iterable[str]) -> bool:
    """Whether a search for ``wanted`` ends at one of ``texts``."""
    return any(wanted.casefold() in text.casefold() for text in texts) or not wanted


class SqlCompleter(Completer):
    """prompt-toolkit's view of ``suggest``, called in a thread of its own."""

    def __init__(self, state: PromptState) -> None:
        self._live = state

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor.rstrip()
        if not complete_event.completion_requested and (not before or before.endswith(";")):
            return
        try:
            suggest = self._live.suggester
            if suggest is None:
                return
            suggestions = deeply(lambda: suggest(document.text, document.cursor_position))
        except Exception:  # what is wrong with completion must not stop one from typing
            return
        for one in suggestions:
            yield Completion(one.text, -one.length, display_meta=one.meta or one.kind)
