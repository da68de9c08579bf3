"""The prompt's keys: keymap.py says which, this module what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, emacs_mode, has_completions, has_focus, has_selection, vi_navigation_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from sqlstream.session.keymap import KEYS
from sqlstream.shell.screen import CONTINUATION, PROMPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlstream.shell.prompt_state import PromptState

INDENTATION = "  "


def key_bindings(state: PromptState) -> KeyBindings:
    """What KEYS declares."""
    typing = has_focus(DEFAULT_BUFFER)
    modes = {
        "": typing,
        "emacs": typing & emacs_mode & ~has_selection,
        "vi": typing & vi_navigation_mode,
        "margin": typing & ~has_completions & _in_margin,
    }
    actions: dict[str, Callable[[KeyPressEvent], None]] = {
        "enter": lambda event: _enter(event, state),
        "run_statement": lambda event: _run_statement(event, state),
        "indent": lambda event: event.current_buffer.insert_text(INDENTATION),
        "unindent": _unindent,
        "open_editor": _open_editor,
        "change_mode": lambda event: state.change_mode(event.app),
    }
    bound = KeyBindings()
    bound.add(Keys.BracketedPaste, filter=typing)(_paste)
    for key in KEYS:
        for binding in key.bindings:
            bound.add(*binding.keys, filter=modes[binding.mode])(actions[key.action])
    return bound


@Condition
def _in_margin() -> bool:
    """Whether only space precedes the cursor, on a line after the first."""
    from prompt_toolkit.application import get_app

    document = get_app().current_buffer.document
    return document.cursor_position_row > 0 and not document.current_line_before_cursor.strip()


def _paste(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text(without_prompts(event.data.replace("\r\n", "\n").replace("\r", "\n")))


def without_prompts(pasted: str) -> str:
    """``pasted`` without the prompts of a session that it was copied from, which its first line begins with."""
    if not pasted.startswith(PROMPT):
        return pasted
    lines = pasted.split("\n")
    return "\n".join(line.removeprefix(PROMPT if line.startswith(PROMPT) else CONTINUATION) for line in lines)


def _enter(event: KeyPressEvent, state: PromptState) -> None:
    from sqlstream.sql.statements.split import is_complete, last_command

    buffer = event.current_buffer
    if buffer.complete_state and buffer.complete_state.current_completion:
        buffer.complete_state = None
    elif (command := last_command(buffer.text)) is not None:
        # As in psql: it runs, and what it interrupts can be written on.
        state.kept = Document(buffer.text[: -len(command)])
        buffer.history.append_string(command.strip())
        event.app.exit(result=command.strip())
    elif is_complete(buffer.text):
        buffer.validate_and_handle()
    else:
        line = buffer.document.current_line_before_cursor
        margin = line[: len(line) - len(line.lstrip())]
        buffer.insert_text("\n" + margin + (INDENTATION if line.rstrip().endswith("(") else ""))


def _run_statement(event: KeyPressEvent, state: PromptState) -> None:
    from sqlstream.sql.statements.split import split, statement_at

    buffer = event.current_buffer
    statement = statement_at(buffer.text, buffer.cursor_position)
    if statement is None:
        return
    if len(split(buffer.text)) == 1:
        buffer.validate_and_handle()
        return
    state.kept = buffer.document
    buffer.history.append_string(f"{statement.text};")
    event.app.exit(result=f"{statement.text};")


def _unindent(event: KeyPressEvent) -> None:
    buffer = event.current_buffer
    buffer.delete_before_cursor(min(len(INDENTATION), len(buffer.document.current_line_before_cursor)))


def _open_editor(event: KeyPressEvent) -> None:
    event.current_buffer.open_in_editor()
